#include "master/service/progress_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "master/service/grpc_status.h"
#include "proto/wire/snapshot_codec.h"

namespace tidemark::service {
namespace {

constexpr std::size_t kPageSize = 100;
constexpr std::size_t kPageSizeMax = 1000;

// One subscription: the newest snapshot not yet sent and whether a write is in flight. The last
// snapshot of a job is final, so the newest one never hides it.
class WatchStream final : public grpc::ServerWriteReactor<v1::WatchJobResponse>, public Watcher {
 public:
  static WatchStream* Start(WatchHub& hub, const std::string& job_id, std::uint64_t after) {
    auto stream = std::shared_ptr<WatchStream>(new WatchStream(hub, job_id, after));
    stream->self_ = stream;  // lives until OnDone
    return stream.get();
  }

  // Subscribes before it looks, so that no snapshot falls between the newest one and the next.
  void Begin(const JobTable& jobs) {
    if (absl::Status status = hub_.Subscribe(job_id_, self_); !status.ok()) {
      return End(ToGrpc(status));
    }
    const absl::StatusOr<Snapshot> newest = jobs.Get(job_id_);
    if (!newest.ok()) return End(ToGrpc(newest.status()));
    Resume(*newest);
    Offer(*newest);
  }

  void Offer(const Snapshot& snapshot) override {
    const std::lock_guard lock(mutex_);
    const std::uint64_t known = pending_ ? pending_->sequence : sent_sequence_;
    if (ended_ || snapshot.sequence <= known) return;
    pending_ = snapshot;
    WriteNext();
  }

  void Close() override {
    End({grpc::StatusCode::UNAVAILABLE, "the master is shutting down; resume elsewhere or later"});
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    if (!ok) return EndLocked(grpc::Status::CANCELLED);
    if (pending_) return WriteNext();
    if (sent_final_) EndLocked(grpc::Status::OK);
  }
  void OnCancel() override { End(grpc::Status::CANCELLED); }
  void OnDone() override {
    hub_.Unsubscribe(job_id_, this);
    self_.reset();
  }

 private:
  WatchStream(WatchHub& hub, std::string job_id, std::uint64_t after)
      : hub_(hub), job_id_(std::move(job_id)), sent_sequence_(after), resumed_(after != 0) {}

  void Resume(const Snapshot& newest) {
    const std::lock_guard lock(mutex_);
    const bool has_all = newest.is_final() && newest.sequence == sent_sequence_;
    if (has_all && !writing_) return EndLocked(grpc::Status::OK);
    if (newest.sequence >= sent_sequence_) return;
    // A master that lost its memory counts from 1 again: its reader starts anew.
    sent_sequence_ = 0;
    resumed_ = false;
  }

  // REQUIRES: mutex_ is held.
  void WriteNext() {
    if (writing_ || ended_ || !pending_) return;
    response_.Clear();
    wire::EncodeSnapshot(*pending_, *response_.mutable_snapshot());
    if (resumed_) response_.set_skipped_snapshots(pending_->sequence - sent_sequence_ - 1);
    resumed_ = true;
    sent_sequence_ = pending_->sequence;
    sent_final_ = pending_->is_final();
    pending_.reset();
    writing_ = true;
    StartWrite(&response_);
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

  WatchHub& hub_;
  const std::string job_id_;
  std::shared_ptr<WatchStream> self_;
  std::mutex mutex_;  // guards all below
  std::uint64_t sent_sequence_;
  bool resumed_;  // whether a gap can be told
  bool sent_final_ = false;
  bool writing_ = false;
  bool ended_ = false;
  std::optional<Snapshot> pending_;
  v1::WatchJobResponse response_;  // of the write in flight
};

// Position in the list of jobs; empty: not a token of ours.
std::optional<std::size_t> ParsePageToken(const std::string& token) {
  if (token.empty()) return 0;
  std::size_t position = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), position);
  if (error != std::errc() || end != token.data() + token.size()) return std::nullopt;
  return position;
}

}  // namespace

grpc::ServerUnaryReactor* ProgressService::GetJob(grpc::CallbackServerContext* context,
                                                  const v1::GetJobRequest* request,
                                                  v1::GetJobResponse* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const absl::StatusOr<Snapshot> snapshot = jobs_.Get(request->job_id());
  if (snapshot.ok()) wire::EncodeSnapshot(*snapshot, *response->mutable_snapshot());
  reactor->Finish(ToGrpc(snapshot.status()));
  return reactor;
}

grpc::ServerUnaryReactor* ProgressService::ListJobs(grpc::CallbackServerContext* context,
                                                    const v1::ListJobsRequest* request,
                                                    v1::ListJobsResponse* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const std::optional<std::size_t> first = ParsePageToken(request->page_token());
  if (!first) {
    reactor->Finish({grpc::StatusCode::INVALID_ARGUMENT,
                     "page_token: not one of this master; start without one"});
    return reactor;
  }
  const std::size_t page_size = request->page_size() == 0
                                    ? kPageSize
                                    : std::min<std::size_t>(request->page_size(), kPageSizeMax);
  const std::vector<Snapshot> snapshots = jobs_.List();
  const std::size_t begin = std::min(*first, snapshots.size());
  const std::size_t end = std::min(begin + page_size, snapshots.size());
  for (std::size_t i = begin; i < end; ++i) {
    wire::EncodeSnapshot(snapshots[i], *response->add_snapshots());
  }
  if (end < snapshots.size()) response->set_next_page_token(fmt::to_string(end));
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

grpc::ServerWriteReactor<v1::WatchJobResponse>* ProgressService::WatchJob(
    grpc::CallbackServerContext*, const v1::WatchJobRequest* request) {
  WatchStream* stream = WatchStream::Start(hub_, request->job_id(), request->after_sequence());
  stream->Begin(jobs_);
  return stream;
}

}  // namespace tidemark::service
