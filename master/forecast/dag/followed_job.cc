#include "master/forecast/dag/followed_job.h"

#include <algorithm>
#include <utility>

#include "master/facts/evidence_loss.h"
#include "tidemark/event.h"

namespace tidemark::dag {
namespace {

TasksLeft LeftOf(const StageProgress* stage) {
  if (stage == nullptr || stage->state == StageState::kDone) return {};
  const std::uint64_t begun = stage->running_tasks + stage->finished_tasks;
  return {.pending = stage->tasks > begun ? stage->tasks - begun : 0,
          .running = stage->running_tasks};
}

bool IsOfStages(const Snapshot& snapshot) {
  const StageProgress* const map = PhaseOf(snapshot, StageKind::kMap);
  const StageProgress* const reduce = PhaseOf(snapshot, StageKind::kReduce);
  return std::ranges::any_of(snapshot.stages, [&](const StageProgress& stage) {
    return &stage != map && &stage != reduce;
  });
}

TasksLeft LeftOfAll(const Snapshot& snapshot) {
  TasksLeft all;
  for (const StageProgress& stage : snapshot.stages) {
    if (stage.state == StageState::kSkipped) continue;
    const TasksLeft left = LeftOf(&stage);
    all.pending += left.pending;
    all.running += left.running;
  }
  return all;
}

// Returns the share of the remaining time that precedes the reduce phase, according to the pace of
// the map phase.
double MapShareOf(const Snapshot& snapshot, double remaining) {
  const StageProgress* const map = PhaseOf(snapshot, StageKind::kMap);
  if (map == nullptr || map->state == StageState::kDone || remaining <= 0) return 0;
  if (map->fraction_done <= 0 || !map->started_at) return 0.5;
  const double elapsed = absl::ToDoubleSeconds(snapshot.at - *map->started_at);
  const double left = elapsed * (1 - map->fraction_done) / map->fraction_done;
  return std::clamp(left / remaining, 0.0, 1.0);
}

bool IsForecast(const Estimate& estimate) {
  return estimate.state == EstimateState::kValid && estimate.remaining.has_value();
}

std::optional<RunningForecast> ForecastOf(const Snapshot& snapshot, absl::Duration silence,
                                          absl::Time now) {
  if (!IsForecast(snapshot.estimate)) return std::nullopt;
  const Range& remaining = *snapshot.estimate.remaining;
  // The snapshot may be older than `now`.
  const absl::Duration age = std::max(now - snapshot.at, absl::ZeroDuration());
  const auto seconds = [&](absl::Duration left) {
    return std::max(absl::ToDoubleSeconds(left - age), 0.0);
  };
  RunningForecast running = {.remaining = seconds(remaining.median)};
  running.lower = std::min(seconds(remaining.lower.value_or(remaining.median)), running.remaining);
  // The open end of a silent job widens the bounds of the workflow (OpenBySilence()). In the draws,
  // it would also raise the median.
  const absl::Duration upper =
      facts::UpperBeforeSilence(remaining.upper.value_or(remaining.median), silence);
  running.upper = std::max(seconds(upper), running.remaining);
  running.map_share = MapShareOf(snapshot, running.remaining);
  running.is_guess = snapshot.estimate.basis == Basis::kGuess;
  return running;
}

}  // namespace

bool FollowedJob::is_over() const {
  return facts.state == ChildState::kSucceeded || facts.state == ChildState::kFailed ||
         facts.state == ChildState::kCancelled;
}

bool FollowedJob::is_waiting() const {
  return facts.state == ChildState::kPending || facts.state == ChildState::kAwaited ||
         facts.state == ChildState::kRetryable;
}

absl::Time FollowedJob::last_report_at() const {
  // An abandoned job has stopped reporting.
  const bool is_given_up = newest != nullptr && newest->state == JobState::kAbandoned;
  if (is_given_up || is_silent()) {
    const auto last_event = newest->coverage ? newest->coverage->newest_event_at : std::nullopt;
    return last_event.value_or(newest->silent_since.value_or(absl::InfinitePast()));
  }
  if (!is_running()) return facts.ended_at.value_or(absl::InfinitePast());
  return newest == nullptr ? facts.started_at.value_or(absl::InfinitePast()) : newest->at;
}

absl::Duration FollowedJob::Silence() const {
  if (!is_running() || !is_silent()) return absl::ZeroDuration();
  return std::max(newest->at - last_report_at(), absl::ZeroDuration());
}

double InputBytes(const JobProfile& run) { return run.map_tasks * run.split_bytes; }

double OutputBytes(const JobProfile& run) {
  const double mapped = InputBytes(run) * run.map_selectivity;
  return run.reduce_tasks > 0 ? mapped * run.reduce_selectivity : mapped;
}

double FollowedJob::OutputGrowth(double input_growth) const {
  if (profile == nullptr || runs.empty()) return input_growth;
  const double past = OutputBytes(runs.front());
  const double present = OutputBytes(*profile);
  return past > 0 && present > 0 ? present / past : input_growth;
}

void FollowedJob::Observe(std::shared_ptr<const Snapshot> snapshot,
                          std::shared_ptr<const durations::RemainingStages> stages_left,
                          bool may_be_retried) {
  if (is_waiting()) {
    facts.expected = would_take;
    facts.started_at = snapshot->started_at;
    facts.state = ChildState::kRunning;
    shown = {};
  }
  newest = std::move(snapshot);
  left = std::move(stages_left);
  if (!newest->is_final) return;
  // The job's own timestamps are more precise than the workflow's observations.
  if (newest->started_at) facts.started_at = newest->started_at;
  facts.ended_at = newest->ended_at.value_or(newest->at);
  if (newest->state == JobState::kSucceeded) {
    facts.state = ChildState::kSucceeded;
    return;
  }
  ++facts.failed_attempts;
  facts.message = newest->message;
  facts.state = may_be_retried ? ChildState::kRetryable : ChildState::kFailed;
}

void FollowedJob::ReleaseRun() {
  newest.reset();
  left.reset();
  profile.reset();
  runs.clear();
  known.reset();
  stage_runs.reset();
}

Basis FollowedJob::BasisOf(const PlannedJob& planned) const {
  if (is_over()) return Basis::kDone;
  const Basis before = planned.profile || !runs.empty() ? Basis::kEarlierRuns : Basis::kGuess;
  const bool is_forecast = newest != nullptr && IsForecast(newest->estimate);
  return is_forecast ? std::max(before, newest->estimate.basis) : before;
}

const JobEstimate& FollowedJob::Expected(const PlannedJob& planned, const Cluster& cluster,
                                         double data_factor) const {
  EstimateInput input = {planned.input_bytes, planned.map_task_count, cluster.slots,
                         cluster.nodes,       cluster.node,           data_factor};
  if (!known || known->of != input) {
    known = KnownEstimate{input, EstimateJobTasks(planned, runs, cluster, data_factor)};
  }
  return known->expected;
}

LiveJob FollowedJob::At(absl::Time now, const PlannedJob& planned, const Cluster& cluster,
                        double data_factor) const {
  LiveJob live = {.is_over = is_over(), .is_running = is_running()};
  if (live.is_over) {
    if (facts.started_at && facts.ended_at) {
      live.took = std::max(absl::ToDoubleSeconds(*facts.ended_at - *facts.started_at), 0.0);
    }
    return live;
  }
  live.expected = Expected(planned, cluster, data_factor);
  if (!planned.profile) live.expected.stages = WithData(stage_runs, data_factor);
  live.is_of_stages = ran_stages && !planned.profile;
  if (live.is_running) {
    live.elapsed = std::max(absl::ToDoubleSeconds(now - facts.started_at.value_or(now)), 0.0);
    if (newest != nullptr) {
      live.is_of_stages = IsOfStages(*newest);
      if (live.is_of_stages) {
        live.map = LeftOfAll(*newest);
      } else {
        live.map = LeftOf(PhaseOf(*newest, StageKind::kMap));
        live.reduce = LeftOf(PhaseOf(*newest, StageKind::kReduce));
      }
      live.forecast = ForecastOf(*newest, Silence(), now);
      // Past runs, which the workflow may have under another name, are better evidence than a
      // guess.
      if (live.forecast && live.forecast->is_guess && live.expected.is_known) live.forecast.reset();
      // The tasks of a silent job may have ended since its last report.
      if (!is_silent()) live.left = left;
      live.left_age = std::max(absl::ToDoubleSeconds(now - newest->at), 0.0);
    }
  } else {
    live.lag = lag;
    if (awaited_since) {
      live.awaited = std::max(absl::ToDoubleSeconds(now - *awaited_since), 0.0);
    }
  }
  return live;
}

}  // namespace tidemark::dag
