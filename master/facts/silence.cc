#include "master/facts/silence.h"

#include <algorithm>

namespace tidemark::model {
namespace {

constexpr double kMissedReports = 3;
// Silence that has lasted for t lasts for longer than s more with probability t / (t + s)
// (Laplace), so that for 95 % so many times t must be allowed.
constexpr double kSilenceMore = 19;

absl::Duration LongestPause(const JobRecord& state) {
  const std::optional<absl::Duration> interval = state.report_gaps.typical();
  if (!interval) return kWithoutInterval;
  const absl::Duration pause = std::max(kMissedReports * *interval, kShortestSilence);
  const bool owes_report = std::ranges::any_of(state.stages, [](const auto& stage) {
    return std::ranges::any_of(stage.second.tasks, &Task::is_running);
  });
  return owes_report ? pause : std::max(pause, kWithoutInterval);
}

}  // namespace

absl::Duration SilentFor(const JobRecord& state, absl::Time now) {
  if (!state.opened || state.closed) return absl::ZeroDuration();
  const absl::Duration pause = now - state.last_arrival_at;
  // Nothing shorter is silence, and looking at every task is not for nothing.
  if (pause <= kShortestSilence) return absl::ZeroDuration();
  return pause > LongestPause(state) ? pause : absl::ZeroDuration();
}

absl::Time SilentSince(absl::Time heard_at, absl::Time listening_since, absl::Time now) {
  return std::min(std::max(heard_at, listening_since), now);
}

Range OpenedBySilence(const Range& left, absl::Duration unheard, absl::Duration silence) {
  return {.median = left.median,
          .lower = std::max(left.lower.value_or(left.median) - unheard, absl::ZeroDuration()),
          .upper = left.upper.value_or(left.median) + kSilenceMore * silence};
}

}  // namespace tidemark::model
