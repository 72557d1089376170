#include "master/service/job_cursor.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "tidemark/field_error.h"

namespace tidemark::service {
namespace {

constexpr int kTokenBase = 16;

bool ParseNumber(const char* begin, const char* end, std::uint64_t& number) {
  const auto [parsed, error] = std::from_chars(begin, end, number, kTokenBase);
  return error == std::errc() && parsed == end;
}

}  // namespace

std::string EncodeResumeToken(const ResumePoint& point) {
  return fmt::format("{:x}-{:x}", point.run.value_or(0), point.sequence);
}

absl::StatusOr<ResumePoint> ParseResumeToken(const std::string& token) {
  const std::size_t dash = token.find('-');
  std::uint64_t run = 0;
  ResumePoint point;
  const char* const begin = token.data();
  if (dash == std::string::npos || !ParseNumber(begin, begin + dash, run) ||
      !ParseNumber(begin + dash + 1, begin + token.size(), point.sequence)) {
    return FieldError(
        "resume_token",
        "was not issued by this service; send the token of the last response, or none");
  }
  point.run = run;
  return point;
}

void JobCursor::Begin(std::shared_ptr<const Snapshot> newest, std::uint64_t run) {
  begun_ = true;
  const bool is_same_run = from_.run.value_or(run) == run && newest->sequence >= from_.sequence;
  const bool has_any = from_.sequence != 0;
  restarted_ = has_any && !is_same_run;
  counts_gaps_ = has_any && is_same_run;
  if (!is_same_run) from_.sequence = 0;
  from_.run = run;
  over_ = counts_gaps_ && newest->is_final && newest->sequence == from_.sequence;
  Offer(std::move(newest), run);
}

void JobCursor::Offer(std::shared_ptr<const Snapshot> snapshot, std::uint64_t run) {
  const std::uint64_t known = next_ != nullptr ? next_->sequence : from_.sequence;
  const bool is_of_run = begun_ && run == from_.run;
  if (is_of_run && snapshot->sequence > known) next_ = std::move(snapshot);
}

absl::Time JobCursor::next_at() const {
  if (next_ == nullptr) return absl::InfiniteFuture();
  return next_->is_final ? absl::InfinitePast() : taken_at_ + options_.interval_min;
}

JobCursor::Update JobCursor::Next(absl::Time now) {
  const std::shared_ptr<const Snapshot> taken = std::exchange(next_, nullptr);
  Update update{.published = taken};
  if (counts_gaps_) update.skipped = taken->sequence - from_.sequence - 1;
  update.restarted = std::exchange(restarted_, false);
  counts_gaps_ = true;
  from_.sequence = taken->sequence;
  over_ = taken->is_final;
  taken_at_ = now;
  update.resume_token = EncodeResumeToken(from_);
  if (options_.deltas) {
    update.base = sent_.lock();
    sent_ = taken;
  }
  return update;
}

}  // namespace tidemark::service
