#include "master/service/job_cursor.h"

#include <utility>

#include "proto/wire/snapshot_delta.h"

namespace tidemark::next::service {

void JobCursor::Begin(std::shared_ptr<const Snapshot> newest, std::uint64_t run) {
  begun_ = true;
  run_uid_ = newest->run_uid;
  const bool is_same_run = from_.run.value_or(run) == run && newest->sequence >= from_.sequence;
  const bool has_any = from_.sequence != 0;
  restarted_ = has_any && !is_same_run;
  tells_gaps_ = has_any && is_same_run;
  if (!is_same_run) from_.sequence = 0;
  from_.run = run;
  over_ = tells_gaps_ && newest->is_final && newest->sequence == from_.sequence;
  Offer(std::move(newest));
}

void JobCursor::Offer(std::shared_ptr<const Snapshot> snapshot) {
  const std::uint64_t known = next_ != nullptr ? next_->sequence : from_.sequence;
  const bool is_of_run = begun_ && snapshot->run_uid == run_uid_;
  if (is_of_run && snapshot->sequence > known) next_ = std::move(snapshot);
}

absl::Time JobCursor::next_at() const {
  if (next_ == nullptr) return absl::InfiniteFuture();
  return next_->is_final ? absl::InfinitePast() : taken_at_ + options_.interval_min;
}

JobCursor::Update JobCursor::Take(absl::Time now) {
  const std::shared_ptr<const Snapshot> taken = std::exchange(next_, nullptr);
  Update update{.snapshot = wire::WithView(*taken, options_.view)};
  if (tells_gaps_) update.skipped = taken->sequence - from_.sequence - 1;
  update.restarted = std::exchange(restarted_, false);
  tells_gaps_ = true;
  from_.sequence = taken->sequence;
  over_ = taken->is_final;
  taken_at_ = now;
  update.resume_token = tidemark::service::EncodeResumeToken(from_);
  if (options_.deltas) {
    Snapshot whole = std::exchange(update.snapshot, {});
    update.snapshot = wire::Delta(sent_, whole);
    sent_ = std::move(whole);
  }
  return update;
}

}  // namespace tidemark::next::service
