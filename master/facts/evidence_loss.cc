#include "master/facts/evidence_loss.h"

#include <algorithm>
#include <cmath>

#include "master/facts/missing_ends.h"

namespace tidemark::model {
namespace {

// Taste: an interval ten times as wide says "unknown" well enough.
constexpr double kWidestFactor = 10;
// The end of a map task and its profile come from different senders. Taste: ten times as long as
// agents wait to send by default.
constexpr absl::Duration kProfileOnItsWay = absl::Seconds(10);

// lost / (lost + kept); 0 of nothing.
double Share(double lost, double kept) { return lost > 0 ? lost / (lost + kept) : 0; }

double LostPoints(const JobRecord& state) {
  double dropped = 0;
  double done = 0;
  for (const Task& task : state.reduce_tasks()) {
    for (const auto& [number, attempt] : task.attempts) {
      const auto groups = static_cast<double>(attempt.reduce->groups_done);
      dropped += std::min(static_cast<double>(attempt.reduce->dropped_points), groups);
      done += groups;
    }
  }
  return Share(dropped, done - dropped);
}

double LostEvents(const JobRecord& state) {
  // Records of a damaged log show as gaps, too, once their sources are heard again.
  auto lost = static_cast<double>(std::max(state.lost_events, state.log_damage.records));
  for (const auto& [id, source] : state.sources) lost += static_cast<double>(source.dropped_events);
  lost += static_cast<double>(MissingTaskEnds(state));
  return Share(lost, static_cast<double>(state.taken_events));
}

bool MayStillSendItsProfile(const Task& task, absl::Time now) {
  const TaskAttempt* finished = task.finished_attempt();
  return finished != nullptr &&
         now - finished->life.ended_at().value_or(absl::InfinitePast()) <= kProfileOnItsWay;
}

}  // namespace

double LostShare(const JobRecord& state) {
  return 1 - (1 - LostPoints(state)) * (1 - LostEvents(state));
}

EndPrediction WidenedFor(double lost_share, const EndPrediction& prediction) {
  EndPrediction widened = prediction;
  if (lost_share <= 0 || !prediction.end) return widened;
  const double factor =
      lost_share >= 1 ? kWidestFactor : std::min(kWidestFactor, 1 / std::sqrt(1 - lost_share));
  const absl::Time end = *prediction.end;
  if (prediction.lower) widened.lower = end - factor * (end - *prediction.lower);
  if (prediction.upper) widened.upper = end + factor * (*prediction.upper - end);
  return widened;
}

double MapProfilesKnown(const JobRecord& state, absl::Time now) {
  const std::size_t known = state.keys.profile_count();
  std::size_t missing = state.map_profiles_missing;
  if (missing == 0) return known > 0 ? 1 : 0;
  for (const Task& task : state.map_tasks()) {
    if (task.profile_missing && !state.closed && MayStillSendItsProfile(task, now)) --missing;
  }
  if (missing == 0) return 1;
  return static_cast<double>(known) / static_cast<double>(known + missing);
}

}  // namespace tidemark::model
