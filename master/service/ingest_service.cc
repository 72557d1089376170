#include "master/service/ingest_service.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "master/service/grpc_status.h"

namespace tidemark::service {
namespace {

// More refused envelopes than this wait for one response only as a count of their sequence.
constexpr int kRejectionsMax = 100;
// One stream may relay for so many sources; each costs a little memory while it lasts.
constexpr std::size_t kSourcesPerStreamMax = 10'000;
// Envelopes with a longer id are refused; the answer names none.
constexpr std::size_t kSourceIdBytesMax = 128;

// One stream: a read buffer, one response in flight, and what to say next.
class IngestStream final
    : public grpc::ServerBidiReactor<v1::StreamEventsRequest, v1::StreamEventsResponse> {
 public:
  IngestStream(JobTable& jobs, const AgentControl& control) : jobs_(jobs), control_(control) {
    StartRead(&request_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return EndWhenAnswered();
    const v1::Envelope& envelope = request_.envelope();
    const absl::Status taken = jobs_.Ingest(envelope, absl::Now());
    if (!Answer(envelope, taken)) {
      return End({grpc::StatusCode::RESOURCE_EXHAUSTED, "too many sources on one stream"});
    }
    StartRead(&request_);
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    if (ok) WriteNext();
    if (reads_over_ && !writing_) EndLocked(grpc::Status::OK);
  }

  void OnDone() override { delete this; }

 private:
  struct Source {
    v1::StreamEventsResponse next;
    bool has_news = false;
    bool greeted = false;
    std::uint64_t named_group_bytes_min = 0;  // as told last
  };

  bool Answer(const v1::Envelope& envelope, const absl::Status& taken) {
    const std::uint64_t named = jobs_.SmallestExplicitBytes(envelope.job_id());
    const bool has_id = envelope.source_id().size() <= kSourceIdBytesMax;
    const std::string source_id = has_id ? envelope.source_id() : "";
    const std::lock_guard lock(mutex_);
    if (sources_.size() >= kSourcesPerStreamMax && !sources_.contains(source_id)) return false;
    Source& source = sources_[source_id];
    source.has_news = true;
    source.next.set_source_id(source_id);
    source.next.set_accepted_sequence(
        std::max(source.next.accepted_sequence(), envelope.sequence()));
    if (!taken.ok() && source.next.rejections_size() < kRejectionsMax) {
      v1::Rejection& rejection = *source.next.add_rejections();
      rejection.set_sequence(envelope.sequence());
      rejection.set_code(static_cast<int>(taken.code()));
      rejection.set_reason(std::string(taken.message()));
    }
    Steer(named, source);
    WriteNext();
    return true;
  }

  // REQUIRES: mutex_ is held.
  void Steer(std::uint64_t named_group_bytes_min, Source& source) {
    if (!std::exchange(source.greeted, true)) {
      v1::Control& control = *source.next.mutable_control();
      const std::int64_t nanos = absl::ToInt64Nanoseconds(control_.flush_interval);
      control.mutable_flush_interval()->set_seconds(nanos / 1'000'000'000);
      control.mutable_flush_interval()->set_nanos(static_cast<int>(nanos % 1'000'000'000));
      control.set_lambda(control_.lambda);
    }
    if (named_group_bytes_min == source.named_group_bytes_min) return;
    source.named_group_bytes_min = named_group_bytes_min;
    source.next.mutable_control()->set_named_group_bytes_min(named_group_bytes_min);
  }

  // REQUIRES: mutex_ is held.
  void WriteNext() {
    if (writing_ || ended_) return;
    for (auto& [id, source] : sources_) {
      if (!source.has_news) continue;
      response_ = std::exchange(source.next, {});
      source.has_news = false;
      writing_ = true;
      StartWrite(&response_);
      return;
    }
  }

  // The source has said all it will; it still wants its acknowledgements.
  void EndWhenAnswered() {
    const std::lock_guard lock(mutex_);
    reads_over_ = true;
    WriteNext();
    if (!writing_) EndLocked(grpc::Status::OK);
  }

  void End(grpc::Status status) {
    const std::lock_guard lock(mutex_);
    EndLocked(std::move(status));
  }
  // REQUIRES: mutex_ is held.
  void EndLocked(grpc::Status status) {
    if (std::exchange(ended_, true)) return;
    Finish(std::move(status));
  }

  JobTable& jobs_;
  const AgentControl& control_;
  v1::StreamEventsRequest request_;  // of the read in flight
  std::mutex mutex_;                 // guards all below
  bool writing_ = false;
  bool reads_over_ = false;
  bool ended_ = false;
  v1::StreamEventsResponse response_;  // of the write in flight
  std::map<std::string, Source> sources_;
};

}  // namespace

grpc::ServerBidiReactor<v1::StreamEventsRequest, v1::StreamEventsResponse>*
IngestService::StreamEvents(grpc::CallbackServerContext*) {
  return new IngestStream(jobs_, control_);
}

}  // namespace tidemark::service
