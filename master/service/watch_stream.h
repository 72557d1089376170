// A stream of snapshots to one watcher over gRPC, of a job or of a workflow: its cursor and whether
// a write is in flight.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "master/service/gate.h"
#include "master/service/grpc_status.h"
#include "master/service/metrics.h"
#include "master/service/watch_cursor.h"
#include "master/service/watch_hub.h"
#include "proto/wire/snapshot_codec.h"
#include "proto/wire/workflow_codec.h"

namespace tidemark::service {

inline void EncodeWatched(const Snapshot& snapshot, v1::Snapshot& message) {
  wire::EncodeSnapshot(snapshot, message);
}
inline void EncodeWatched(const WorkflowSnapshot& snapshot, v1::WorkflowSnapshot& message) {
  wire::EncodeWorkflowSnapshot(snapshot, message);
}

// S: what is watched; Response: the message of its stream.
template <typename S, typename Response>
class BasicWatchStream final : public grpc::ServerWriteReactor<Response>, public BasicWatcher<S> {
 public:
  static BasicWatchStream* Start(BasicWatchHub<S>& hub, Metrics& metrics, AdmittedStream admitted,
                                 const std::string& id, const ResumePoint& from) {
    auto stream = std::shared_ptr<BasicWatchStream>(
        new BasicWatchStream(hub, metrics, std::move(admitted), id, from));
    stream->self_ = stream;  // lives until OnDone
    return stream.get();
  }

  // Subscribes before it looks, and lets nothing be offered while it does, so that no snapshot
  // falls between the newest one and the next. `look` gives a StatusOr of a view with `newest` and
  // `run`.
  template <typename Look>
  void Begin(Look look) {
    if (absl::Status status = hub_.Subscribe(id_, self_); !status.ok()) {
      return End(ToGrpc(status));
    }
    const std::lock_guard lock(mutex_);
    const auto view = look();
    if (!view.ok()) return EndLocked(ToGrpc(view.status()));
    cursor_.Begin(view->newest, view->run);
    GoOn();
  }

  void Offer(const S& snapshot) override {
    const std::lock_guard lock(mutex_);
    // The token may have been withdrawn meanwhile.
    if (absl::Status allowed = stream_.caller.Check(Right::kRead, id_); !allowed.ok()) {
      return EndLocked(ToGrpc(allowed));
    }
    cursor_.Offer(snapshot);
    GoOn();
  }

  void Close() override {
    End({grpc::StatusCode::UNAVAILABLE, "the master is shutting down; resume elsewhere or later"});
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    if (!ok) return EndLocked(grpc::Status::CANCELLED);
    GoOn();
  }
  void OnCancel() override { End(grpc::Status::CANCELLED); }
  void OnDone() override {
    hub_.Unsubscribe(id_, this);
    self_.reset();
  }

 private:
  BasicWatchStream(BasicWatchHub<S>& hub, Metrics& metrics, AdmittedStream admitted, std::string id,
                   const ResumePoint& from)
      : hub_(hub),
        metrics_(metrics),
        id_(std::move(id)),
        stream_(std::move(admitted)),
        cursor_(from) {}

  // Writes what is next, or ends after the final snapshot. REQUIRES: mutex_ is held.
  void GoOn() {
    if (writing_ || ended_) return;
    if (cursor_.has_next()) {
      const auto update = cursor_.Take();
      response_.Clear();
      EncodeWatched(update.snapshot, *response_.mutable_snapshot());
      response_.set_skipped_snapshots(update.skipped);
      response_.set_restarted(update.restarted);
      response_.set_resume_token(update.resume_token);
      metrics_.snapshots_skipped.fetch_add(update.skipped, std::memory_order_relaxed);
      writing_ = true;
      this->StartWrite(&response_);
    } else if (cursor_.is_over()) {
      EndLocked(grpc::Status::OK);
    }
  }

  void End(grpc::Status status) {
    const std::lock_guard lock(mutex_);
    EndLocked(std::move(status));
  }
  // REQUIRES: mutex_ is held.
  void EndLocked(grpc::Status status) {
    if (std::exchange(ended_, true)) return;
    this->Finish(std::move(status));
  }

  BasicWatchHub<S>& hub_;
  Metrics& metrics_;
  const std::string id_;
  std::shared_ptr<BasicWatchStream> self_;
  std::mutex mutex_;  // guards all below
  AdmittedStream stream_;
  BasicWatchCursor<S> cursor_;
  bool writing_ = false;
  bool ended_ = false;
  Response response_;  // of the write in flight
};

// A subscription that is not accepted.
template <typename Response>
class RefusedWatch final : public grpc::ServerWriteReactor<Response> {
 public:
  explicit RefusedWatch(const absl::Status& status) { this->Finish(ToGrpc(status)); }
  void OnDone() override { delete this; }
};

// Where a watcher goes on from. InvalidArgument: not a token of this service.
inline absl::StatusOr<ResumePoint> WatchFrom(std::uint64_t after_sequence,
                                             const std::string& resume_token) {
  if (!resume_token.empty()) return ParseResumeToken(resume_token);
  return ResumePoint{.sequence = after_sequence};
}

}  // namespace tidemark::service
