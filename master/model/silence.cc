#include "master/model/silence.h"

#include <algorithm>

namespace tidemark::model {
namespace {

constexpr double kMissedReports = 3;
constexpr absl::Duration kShortestSilence = absl::Seconds(3);
constexpr absl::Duration kWithoutInterval = absl::Seconds(10);

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

}  // namespace tidemark::model
