#include "master/facts/evidence_loss.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "master/facts/phases.h"

namespace tidemark::facts {
namespace {

constexpr double kMissedReports = 3;
// A silence of length t lasts for more than s longer with probability t / (t + s) (Laplace). The
// median of s is t, and its 95th percentile is this multiple of t.
constexpr double kSilenceMore = 19;
// Limits the widening. Even an interval ten times as wide shows that the end is unknown. Chosen by
// hand.
constexpr double kWidestFactor = 10;
// Maximum delay between a map task's end and its profile, which different senders report. Ten times
// the agents' default flush interval. Chosen by hand.
constexpr absl::Duration kProfileDelayMax = absl::Seconds(10);
// If more attempts than slots run for this long, an attempt must have ended without a report.
// Chosen by hand; fetching results takes a few seconds at most.
constexpr absl::Duration kLateReport = absl::Seconds(10);

absl::Duration LongestPause(const JobRecord& state) {
  const std::optional<absl::Duration> interval = state.report_gaps.typical();
  if (!interval) return kSilenceWithoutInterval;
  const absl::Duration pause = std::max(kMissedReports * *interval, kShortestSilence);
  const bool owes_report = std::ranges::any_of(state.stages, [](const auto& stage) {
    return std::ranges::any_of(stage.second.tasks, &Task::is_running);
  });
  return owes_report ? pause : TaskSilence(state);
}

// Returns lost / (lost + kept), or 0 if nothing is lost.
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
  // Records of a damaged log also appear as sequence gaps once their sources report again.
  auto lost = static_cast<double>(std::max(state.lost_events, state.log_damage.records));
  for (const auto& [id, source] : state.sources) lost += static_cast<double>(source.dropped_events);
  lost += static_cast<double>(MissingTaskEnds(state));
  return Share(lost, static_cast<double>(state.taken_events));
}

bool MayStillSendItsProfile(const Task& task, absl::Time now) {
  const TaskAttempt* finished = task.finished_attempt();
  return finished != nullptr &&
         now - finished->life.ended_at().value_or(absl::InfinitePast()) <= kProfileDelayMax;
}

const SlotLoad& LoadOf(const JobRecord& state, const Stage& stage, const TaskAttempt& attempt) {
  return attempt.counted_in == SlotPool::kExecutor ? state.executors[*attempt.executor].load
                                                   : stage.load;
}

}  // namespace

absl::Duration TaskSilence(const JobRecord& state) {
  const std::optional<absl::Duration> interval = state.report_gaps.typical();
  return std::max(kMissedReports * interval.value_or(absl::ZeroDuration()),
                  kSilenceWithoutInterval);
}

absl::Duration SilentFor(const JobRecord& state, absl::Time now) {
  if (!state.opened || state.closed) return absl::ZeroDuration();
  const absl::Duration pause = now - state.last_arrival_at;
  if (pause <= kShortestSilence) return absl::ZeroDuration();  // Avoids visiting every task.
  return pause > LongestPause(state) ? pause : absl::ZeroDuration();
}

absl::Time SilentSince(absl::Time reported_at, absl::Time listening_since, absl::Time now) {
  return std::min(std::max(reported_at, listening_since), now);
}

Range WidenForSilence(const Range& left, absl::Duration unreported, absl::Duration silence,
                      absl::Duration listened) {
  const absl::Duration median = std::max(left.median, listened);
  const absl::Duration upper = left.upper.value_or(left.median) + kSilenceMore * silence;
  return {.median = median,
          .lower = std::max(left.lower.value_or(left.median) - unreported, absl::ZeroDuration()),
          .upper = std::max(upper, median)};
}

absl::Duration UpperBeforeSilence(absl::Duration upper, absl::Duration silence) {
  return upper - kSilenceMore * silence;
}

double MissingEvidenceShare(const JobRecord& state) {
  return 1 - (1 - LostPoints(state)) * (1 - LostEvents(state));
}

EndPrediction WidenForLoss(double missing_share, const EndPrediction& prediction) {
  EndPrediction widened = prediction;
  if (missing_share <= 0 || !prediction.end) return widened;
  const double factor = missing_share >= 1
                            ? kWidestFactor
                            : std::min(kWidestFactor, 1 / std::sqrt(1 - missing_share));
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

std::uint64_t UnreportedTasks(const Stage& stage) {
  if (!stage.closed || stage.closed->attempt > 0 || stage.tasks.empty()) return 0;
  const JobOutcome outcome = stage.closed->outcome;
  if (outcome != JobOutcome::kSucceeded && outcome != JobOutcome::kUnknown) return 0;
  const std::uint64_t tasks = stage.opened.task_count.value_or(0);
  return tasks - std::min<std::uint64_t>(stage.finished_tasks, tasks);
}

std::uint64_t MissingTaskEnds(const JobRecord& state) {
  std::uint64_t missing = 0;
  for (const auto& [number, stage] : state.stages) {
    missing += stage.closed ? UnreportedTasks(stage) : TallyOf(stage).lost_tasks;
  }
  return missing;
}

BeyondSlots FindBeyondSlots(const JobRecord& state, absl::Time now) {
  using Running = std::pair<absl::Time, const TaskAttempt*>;
  struct Pool {
    std::size_t surplus = 0;
    std::vector<Running> inactive;
  };
  BeyondSlots beyond;
  absl::flat_hash_map<const SlotLoad*, Pool> pools;
  const auto examine = [&](const SlotLoad& load, std::uint32_t slots) {
    if (!load.HasBeenOverFor(kLateReport, now) || load.running <= slots) return;
    pools[&load].surplus = load.running - slots;
    beyond.count += load.running - slots;
  };
  for (const Executor& executor : state.executors) examine(executor.load, executor.opened.slots);
  for (const auto& [number, stage] : state.stages) {
    if (!stage.closed) examine(stage.load, stage.opened.slots.value_or(0));
  }
  if (pools.empty()) return beyond;
  for (const auto& [number, stage] : state.stages) {
    if (stage.closed) continue;
    for (const Task& task : stage.tasks) {
      for (const auto& [id, attempt] : task.attempts) {
        if (attempt.counted_in == SlotPool::kNone || now - attempt.active_at < kLateReport)
          continue;
        const auto pool = pools.find(&LoadOf(state, stage, attempt));
        if (pool == pools.end()) continue;
        pool->second.inactive.emplace_back(attempt.life.started_at().value_or(absl::InfinitePast()),
                                           &attempt);
      }
    }
  }
  for (auto& [load, pool] : pools) {
    const auto by_start = [](const Running& a, const Running& b) { return a.first < b.first; };
    std::ranges::stable_sort(pool.inactive, by_start);
    for (std::size_t i = 0; i < std::min(pool.surplus, pool.inactive.size()); ++i) {
      beyond.ended.insert(pool.inactive[i].second);
    }
  }
  return beyond;
}

bool MayHaveEnded(const JobRecord& state, const Stage& stage, const TaskAttempt& attempt,
                  absl::Time now) {
  if (attempt.active_at <= state.last_gap_at) return true;
  if (attempt.counted_in == SlotPool::kNone && !attempt.executor) return false;
  const SlotLoad& load = attempt.counted_in == SlotPool::kNone
                             ? state.executors[*attempt.executor].load
                             : LoadOf(state, stage, attempt);
  return load.HasBeenOverFor(SlotLoad::kOverlap, now) || attempt.active_at <= load.over_until;
}

}  // namespace tidemark::facts
