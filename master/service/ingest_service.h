// IngestService for a JobTable: reads events, acknowledges them, and sends control messages to
// agents.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/time/time.h"
#include "master/service/clock.h"
#include "master/service/gate.h"
#include "master/service/job_table.h"
#include "master/service/metrics.h"
#include "tidemark/v1/ingest_service.grpc.pb.h"
#include "transport/turn_queue.h"

namespace tidemark::service {

// Settings that agents receive when they connect.
struct AgentControl {
  absl::Duration flush_interval = absl::Seconds(1);
  std::uint32_t lambda = 2000;
};

// A stream that ends when the master shuts down.
class ClosableStream {
 public:
  // Ends the stream once its pending answers are written, and reads no more.
  virtual void Close() = 0;

 protected:
  ~ClosableStream() = default;
};

// The open streams of a service. Thread-safe.
class OpenStreams {
 public:
  // Returns false after CloseAll().
  bool Add(ClosableStream* stream, std::weak_ptr<ClosableStream> owner) {
    const std::lock_guard lock(mutex_);
    if (!is_closed_) streams_.emplace(stream, std::move(owner));
    return !is_closed_;
  }
  void Remove(ClosableStream* stream) {
    const std::lock_guard lock(mutex_);
    streams_.erase(stream);
  }
  void CloseAll() {
    std::map<ClosableStream*, std::weak_ptr<ClosableStream>> streams;
    {
      const std::lock_guard lock(mutex_);
      is_closed_ = true;
      streams.swap(streams_);
    }
    for (const auto& [stream, owner] : streams) {
      if (const auto open = owner.lock()) open->Close();
    }
  }

 private:
  std::mutex mutex_;  // Guards all members.
  std::map<ClosableStream*, std::weak_ptr<ClosableStream>> streams_;
  bool is_closed_ = false;
};

// Reads messages as bytes, so that the journal can store the received bytes without encoding them
// again.
class IngestService final
    : public v1::IngestService::WithRawCallbackMethod_StreamEvents<v1::IngestService::Service> {
 public:
  // All arguments but `control` must outlive the service. Two threads, as many as gRPC has on a
  // small host, process events that wait for their turn.
  IngestService(JobTable& jobs, const Clock& clock, Gate& gate, Metrics& metrics,
                AgentControl control)
      : jobs_(jobs), clock_(clock), gate_(gate), metrics_(metrics), control_(control) {}

  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* StreamEvents(
      grpc::CallbackServerContext* context) override;

  // Ends all streams, and rejects new ones. Agents send unacknowledged events again.
  void CloseAll() { streams_.CloseAll(); }
  // Stops processing events that wait for their turn. Must be called after all streams have ended.
  void Stop() { turns_.Stop(); }

 private:
  JobTable& jobs_;
  const Clock& clock_;
  Gate& gate_;
  Metrics& metrics_;
  const AgentControl control_;
  OpenStreams streams_;
  transport::TurnQueue turns_{2};
};

}  // namespace tidemark::service
