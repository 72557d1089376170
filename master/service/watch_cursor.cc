#include "master/service/watch_cursor.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "proto/wire/field_error.h"

namespace tidemark::service {
namespace {

constexpr int kTokenBase = 16;

bool ParseNumber(const char* begin, const char* end, std::uint64_t& number) {
  const auto [parsed, error] = std::from_chars(begin, end, number, kTokenBase);
  return error == std::errc() && parsed == end;
}

std::string RunUidOf(const Snapshot& snapshot) { return snapshot.run_uid; }
std::string RunUidOf(const WorkflowSnapshot&) { return {}; }

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
    return next::wire::FieldError(
        "resume_token", "not one of this service; send the one of the last response, or none");
  }
  point.run = run;
  return point;
}

template <typename S>
void BasicWatchCursor<S>::Begin(const S& newest, std::uint64_t run) {
  begun_ = true;
  run_uid_ = RunUidOf(newest);
  const bool is_same_run = from_.run.value_or(run) == run && newest.sequence >= from_.sequence;
  const bool has_any = from_.sequence != 0;
  restarted_ = has_any && !is_same_run;
  tells_gaps_ = has_any && is_same_run;
  if (!is_same_run) from_.sequence = 0;
  from_.run = run;
  over_ = tells_gaps_ && newest.is_final() && newest.sequence == from_.sequence;
  Offer(newest);
}

template <typename S>
void BasicWatchCursor<S>::Offer(const S& snapshot) {
  const std::uint64_t known = next_ ? next_->sequence : from_.sequence;
  const bool is_of_run = begun_ && RunUidOf(snapshot) == run_uid_;
  if (is_of_run && snapshot.sequence > known) next_ = snapshot;
}

template <typename S>
typename BasicWatchCursor<S>::Update BasicWatchCursor<S>::Take() {
  Update update{.snapshot = *std::exchange(next_, std::nullopt)};
  if (tells_gaps_) update.skipped = update.snapshot.sequence - from_.sequence - 1;
  update.restarted = std::exchange(restarted_, false);
  tells_gaps_ = true;
  from_.sequence = update.snapshot.sequence;
  over_ = update.snapshot.is_final();
  update.resume_token = EncodeResumeToken(from_);
  return update;
}

template class BasicWatchCursor<Snapshot>;
template class BasicWatchCursor<WorkflowSnapshot>;

}  // namespace tidemark::service
