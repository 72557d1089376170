// An IngestService that records events and responds as configured.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proto/wire/parse_event.h"
#include "tidemark/event.h"
#include "tidemark/v1/ingest_service.grpc.pb.h"

namespace tidemark::agent {

// Sufficient for any working agent.
inline constexpr std::chrono::seconds kPatience{60};

// One event of a batch.
struct SentEvent {
  std::uint64_t sequence = 0;
  v1::Event body;
};

// Returns the response to an event, or nullopt without one.
using Answer = std::function<std::optional<v1::StreamEventsResponse>(const SentEvent& sent)>;

inline std::optional<v1::StreamEventsResponse> Acknowledge(const SentEvent& sent) {
  v1::StreamEventsResponse response;
  response.set_accepted_sequence(sent.sequence);
  return response;
}

inline std::optional<v1::StreamEventsResponse> NoResponse(const SentEvent&) { return std::nullopt; }

// Returns the number of key groups in the bins of these profiles.
inline std::uint64_t CountGroups(const std::vector<ReduceProfile>& profiles) {
  std::uint64_t groups = 0;
  for (const ReduceProfile& profile : profiles) {
    for (const GroupBin& bin : profile.bins) groups += bin.count;
  }
  return groups;
}

// All received events, including those from before restarts of the server.
class Record {
 public:
  // Called for each event, in order. Repeated events are counted but not stored.
  void Add(const v1::Source& source, const v1::StreamEventsRequest& batch, const SentEvent& sent) {
    const absl::StatusOr<Event> event =
        wire::ParseEvent({.job_id = source.job_id(),
                          .run_uid = source.run_uid(),
                          .source_id = source.source_id(),
                          .sequence = sent.sequence,
                          .sent_at = absl::FromUnixNanos(batch.sent_at()),
                          .dropped_events = batch.dropped_events(),
                          .body = sent.body.SerializeAsString()},
                         absl::UnixEpoch());
    const std::lock_guard lock(mutex_);
    if (!event.ok()) invalid_.push_back(event.status().ToString());
    const bool fresh = sent_.emplace(sent.sequence, sent.body).second;
    if (!fresh) ++repeated_;
    if (fresh && event.ok()) events_.push_back(*event);
    changed_.notify_all();
  }

  // Returns true when the condition is true for the events received so far.
  bool WaitFor(const std::function<bool(const std::vector<Event>&)>& condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return condition(events_); });
  }

  std::vector<Event> events() const {
    const std::lock_guard lock(mutex_);
    return events_;
  }
  std::map<std::uint64_t, v1::Event> sent() const {
    const std::lock_guard lock(mutex_);
    return sent_;
  }
  std::vector<std::string> invalid() const {
    const std::lock_guard lock(mutex_);
    return invalid_;
  }
  std::uint64_t repeated() const {
    const std::lock_guard lock(mutex_);
    return repeated_;
  }

  // Returns the bodies of one kind, in order of arrival.
  template <typename Body>
  std::vector<Body> all() const {
    std::vector<Body> bodies;
    for (const Event& event : events()) {
      if (const auto* body = std::get_if<Body>(&event.body)) bodies.push_back(*body);
    }
    return bodies;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // The members below are guarded by mutex_.
  std::vector<Event> events_;
  std::map<std::uint64_t, v1::Event> sent_;
  std::vector<std::string> invalid_;
  std::uint64_t repeated_ = 0;
};

class RecordingServer final : private v1::IngestService::CallbackService {
 public:
  RecordingServer(Record& record, Answer answer) : record_(record) { Start(std::move(answer)); }
  ~RecordingServer() override { Stop(); }

  // Starts the server. Returns false if its port is in use.
  bool Start(Answer answer) {
    answer_ = std::move(answer);
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address(), grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    return server_ != nullptr;
  }
  // Closes all connections.
  void Stop() {
    if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
    server_.reset();
  }

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  using Reactor = grpc::ServerBidiReactor<v1::StreamEventsRequest, v1::StreamEventsResponse>;

  // Reads one batch, responds, and then reads the next batch.
  class Stream final : public Reactor {
   public:
    explicit Stream(RecordingServer& server) : server_(server) { StartRead(&request_); }

   private:
    void OnReadDone(bool ok) override {
      if (!ok) return Finish(grpc::Status::OK);
      if (request_.sources_size() > 0) source_ = request_.sources(0);
      for (int i = 0; i < request_.events_size(); ++i) {
        const SentEvent sent = {request_.first_sequence() + i, request_.events(i)};
        server_.record_.Add(source_, request_, sent);
        if (auto answer = server_.answer_(sent)) answers_.push_back(*std::move(answer));
      }
      WriteNext();
    }
    void OnWriteDone(bool ok) override {
      if (!ok) return Finish(grpc::Status::OK);
      answers_.pop_front();
      WriteNext();
    }
    void WriteNext() { answers_.empty() ? StartRead(&request_) : StartWrite(&answers_.front()); }
    void OnDone() override { delete this; }

    RecordingServer& server_;
    v1::Source source_;
    v1::StreamEventsRequest request_;
    std::deque<v1::StreamEventsResponse> answers_;
  };

  Reactor* StreamEvents(grpc::CallbackServerContext*) override { return new Stream(*this); }

  Record& record_;
  Answer answer_;
  int port_ = 0;  // 0 selects a free port
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace tidemark::agent
