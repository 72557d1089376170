// IngestService for a JobTable: reads events, acknowledges them, and sends control messages to
// agents.
#pragma once

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

  // Stops processing events that wait for their turn. Must be called after all streams have ended.
  void Stop() { turns_.Stop(); }

 private:
  JobTable& jobs_;
  const Clock& clock_;
  Gate& gate_;
  Metrics& metrics_;
  const AgentControl control_;
  transport::TurnQueue turns_{2};
};

}  // namespace tidemark::service
