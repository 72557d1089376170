#include "master/monitor/job_snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "master/facts/evidence_loss.h"
#include "master/facts/phases.h"
#include "text/duration_text.h"
#include "tidemark/late_probability.h"

namespace tidemark::monitor {
namespace {

// Adds the failures and the processed input.
void AddTally(const facts::Stage& stage, StageProgress& progress) {
  facts::StageTally tally = facts::TallyOf(stage);
  progress.failed_attempts = tally.failed_attempts;
  // Complete() computes the rates.
  progress.throughput =
      ThroughputOf(tally.input_done.bytes, tally.input_done.records, absl::ZeroDuration());
  if (progress.failure.empty()) progress.failure = std::move(tally.failure);
}

// The state of a task in the newest attempt at its stage.
struct TaskState {
  bool is_of_newest = false;  // whether the newest attempt at the stage includes the task
  bool is_finished = false;
  bool is_running = false;
  double fraction_done = 0;  // processed share of the input while the task runs
};

TaskState StateOf(const facts::Task& task, const facts::Stage& stage, double records_per_byte,
                  const facts::BeyondSlots& beyond) {
  TaskState shown;
  for (auto at = task.attempts.lower_bound({stage.opened.attempt, 0}); at != task.attempts.end();
       ++at) {
    const facts::TaskAttempt& attempt = at->second;
    shown.is_of_newest = true;
    shown.is_finished |= attempt.life.is_finished();
    if (!attempt.life.is_running() || beyond.ended.contains(&attempt)) continue;
    shown.is_running = true;
    const auto fraction = stage.FractionDone(task, attempt, records_per_byte);
    shown.fraction_done = std::max(shown.fraction_done, fraction.value_or(0));
  }
  shown.is_running &= !shown.is_finished;
  return shown;
}

StageState StateOf(const facts::Stage& stage, const StageProgress& progress,
                   std::uint64_t given_up) {
  if (stage.is_skipped()) return StageState::kSkipped;
  if (stage.closed) {
    switch (stage.closed->outcome) {
      case JobOutcome::kSucceeded:
        return StageState::kDone;
      case JobOutcome::kFailed:
      case JobOutcome::kKilled:
        return StageState::kFailed;
      case JobOutcome::kUnknown:
        return StageState::kUnknownEnd;
    }
  }
  if (stage.opened.task_count && progress.finished_tasks + given_up >= progress.tasks) {
    return StageState::kDone;
  }
  return progress.started_at ? StageState::kRunning : StageState::kPending;
}

// Returns the progress of a stage whose tasks report only state changes and input.
StageProgress ProgressOf(const facts::Stage& stage, const facts::BeyondSlots& beyond) {
  StageProgress progress = {.id = {0, stage.opened.stage}};
  std::optional<absl::Time> ended_at;
  std::uint64_t seen = 0;
  std::uint64_t given_up = 0;
  double fractions = 0;  // summed over running tasks
  const double records_per_byte = stage.RecordsPerByte();
  for (const facts::Task& task : stage.tasks) {
    const TaskState shown = StateOf(task, stage, records_per_byte, beyond);
    seen += shown.is_of_newest ? 1 : 0;
    progress.running_tasks += shown.is_running ? 1 : 0;
    progress.finished_tasks += shown.is_finished ? 1 : 0;
    given_up += task.is_given_up() ? 1 : 0;
    if (shown.is_running) fractions += shown.fraction_done;
    for (const auto& [number, attempt] : task.attempts) {
      const auto started_at = attempt.life.started_at();
      if (started_at && (!progress.started_at || *started_at < *progress.started_at)) {
        progress.started_at = started_at;
      }
      const auto end = attempt.life.ended_at();
      if (attempt.life.is_finished() && end && (!ended_at || *end > *ended_at)) ended_at = end;
    }
  }
  // Tasks whose end was not reported may have started before the first reported start.
  const auto& opened_at = stage.opened.opened_at;
  if (progress.started_at && opened_at && facts::UnreportedTasks(stage) > 0) {
    progress.started_at = std::min(*progress.started_at, *opened_at);
  }
  progress.tasks = stage.opened.task_count.value_or(seen);
  // More tasks may be reported than the stage announced.
  progress.finished_tasks = std::min(progress.finished_tasks, progress.tasks);
  progress.running_tasks =
      std::min(progress.running_tasks, progress.tasks - progress.finished_tasks);
  given_up = std::min(given_up, progress.tasks - progress.finished_tasks);
  progress.state = StateOf(stage, progress, given_up);
  const bool is_skipped = progress.state == StageState::kSkipped;
  if (stage.closed && !is_skipped) {
    progress.running_tasks = 0;
    if (progress.state == StageState::kDone) progress.finished_tasks = progress.tasks - given_up;
    ended_at = stage.closed->at;
    progress.failure = stage.closed->message;
  }
  const bool is_done = progress.state == StageState::kDone;
  // An unknown end has no time, and an end is never before the start.
  if (is_done || progress.state == StageState::kFailed) {
    progress.ended_at = ended_at ? std::max(ended_at, progress.started_at) : std::nullopt;
  }
  if (is_done || is_skipped) {
    progress.fraction_done = 1;
  } else if (progress.tasks > 0) {
    const double done = static_cast<double>(progress.finished_tasks + given_up) + fractions;
    progress.fraction_done = std::min(done / static_cast<double>(progress.tasks), 1.0);
  }
  return progress;
}

// Returns `info`, completed by the facts about the stage. `stage` is null if it is not open.
StageInfo InfoOf(const facts::Stage* stage, StageInfo info) {
  if (stage == nullptr) return info;
  const StageOpened& opened = stage->opened;
  info.attempt = opened.attempt;
  if (!opened.name.empty()) info.name = opened.name;
  if (!opened.parents.empty()) info.parents = opened.parents;
  info.group = opened.group;
  info.pool = opened.pool;
  return info;
}

// Returns the reduce stage, which includes the shuffle.
StageProgress ReduceStage(const facts::JobRecord& state) {
  StageProgress stage = facts::ReduceProgress(state);
  stage.shuffle = facts::FetchProgress(state);
  AddTally(*state.reduce_stage(), stage);
  return stage;
}

// Adds the stages by number. The stages of a MapReduce job may be added before they are opened.
void AddStages(const facts::JobRecord& state, const facts::BeyondSlots& beyond, StageCounts& counts,
               Snapshot& job) {
  if (state.stages.empty()) return;  // The kind of the job is unknown.
  job.info->kind = JobKind::kMapReduce;
  if (state.has_map_stage()) {
    job.stage_infos.push_back(
        InfoOf(state.map_stage(), {.id = {0, kMapStage}, .name = "map", .kind = StageKind::kMap}));
    job.stages.push_back(facts::MapProgress(state));
    AddTally(*state.map_stage(), job.stages.back());
  }
  if (state.has_reduce_stage()) {
    StageInfo info = {.id = {0, kReduceStage}, .name = "reduce", .kind = StageKind::kReduce};
    if (state.has_map_stage()) info.parents = {kMapStage};
    job.stage_infos.push_back(InfoOf(state.reduce_stage(), std::move(info)));
    job.stages.push_back(ReduceStage(state));
  }
  job.stage_infos.reserve(state.stages.size());
  job.stages.reserve(state.stages.size());
  for (const auto& [number, stage] : state.stages) {
    if (stage.is_map() || stage.is_reduce()) continue;
    const StageKind kind = stage.opened.kind;
    job.stage_infos.push_back(InfoOf(
        &stage,
        {.id = {0, number}, .kind = kind == StageKind::kUnknown ? StageKind::kGeneric : kind}));
    job.stages.push_back(counts.Of(stage, beyond));
    job.info->kind = JobKind::kApplication;
  }
  const auto by_id = [](const auto& a, const auto& b) { return a.id < b.id; };
  if (std::is_sorted(job.stages.begin(), job.stages.end(), by_id)) return;
  std::sort(job.stage_infos.begin(), job.stage_infos.end(), by_id);
  std::sort(job.stages.begin(), job.stages.end(), by_id);
}

// Ends the running stages and tasks of a job that has ended. Both phases of a MapReduce job get the
// outcome of the job. An application may succeed without a stage that it has started, so the
// outcome of such a stage is unknown.
void EndStages(const facts::JobRecord& state, Snapshot& job) {
  for (StageProgress& stage : job.stages) {
    stage.running_tasks = 0;
    if (stage.shuffle) stage.shuffle->running_tasks = 0;
    if (stage.state != StageState::kRunning) continue;
    if (job.info->kind == JobKind::kApplication) {
      stage.state = StageState::kUnknownEnd;
      continue;
    }
    if (job.state != JobState::kSucceeded) {
      stage.state = StageState::kFailed;
      continue;
    }
    stage.state = StageState::kDone;
    const auto known = state.stages.find(stage.id.stage);
    const std::size_t given_up =
        known == state.stages.end() ? 0 : facts::TallyOf(known->second).given_up_tasks;
    stage.finished_tasks = stage.tasks - std::min<std::uint64_t>(stage.tasks, given_up);
    stage.fraction_done = 1;
  }
}

std::uint32_t SilentTasks(const facts::JobRecord& state, absl::Time now) {
  const absl::Time silent_from = now - facts::TaskSilence(state);
  std::uint32_t silent = 0;
  for (const auto& [number, stage] : state.stages) {
    if (facts::TallyOf(stage).running_attempts == 0) continue;
    for (const facts::Task& task : stage.tasks) {
      for (const auto& [id, attempt] : task.attempts) {
        silent += attempt.life.is_running() && attempt.life.last_report_at < silent_from ? 1 : 0;
      }
    }
  }
  return silent;
}

std::uint64_t DroppedPoints(const facts::JobRecord& state) {
  std::uint64_t dropped = 0;
  for (const facts::Task& task : state.reduce_tasks()) {
    for (const auto& [number, attempt] : task.attempts) {
      dropped = facts::SaturatingAdd(dropped, attempt.reduce->dropped_points);
    }
  }
  return dropped;
}

Coverage CoverageAt(const facts::JobRecord& state, const facts::BeyondSlots& beyond,
                    absl::Time now) {
  Coverage coverage = {.newest_event_at = state.last_arrival_at == absl::InfinitePast()
                                              ? now
                                              : std::min(state.last_arrival_at, now),
                       .lost_events = state.lost_events,
                       .dropped_points = DroppedPoints(state),
                       .anomalies = state.anomalies,
                       .rejected_events = state.rejected_events,
                       .silent_tasks = SilentTasks(state, now),
                       .missing_task_ends = facts::MissingTaskEnds(state),
                       .tasks_beyond_slots = beyond.count};
  for (const auto& [id, source] : state.sources) {
    coverage.dropped_events = facts::SaturatingAdd(coverage.dropped_events, source.dropped_events);
  }
  const auto is_finished = [](const facts::Task& task) { return task.is_finished(); };
  if (state.has_map_stage() && state.has_reduce_stage() &&
      std::ranges::any_of(state.map_tasks(), is_finished)) {
    coverage.map_profiles = facts::MapProfilesKnown(state, now);
  }
  return coverage;
}

std::string DamageNote(const facts::JobRecord& state) {
  const LogDamage& damage = state.log_damage;
  const std::string where =
      state.log_damage_places == 1
          ? fmt::format("at byte {}", damage.at)
          : fmt::format("in {} places, the first at byte {}", state.log_damage_places, damage.at);
  const bool is_one = damage.records == 1;
  return fmt::format(
      "the master's log of this job was damaged {}: about {} record{} lost ({} bytes); estimates "
      "therefore have wider intervals",
      where, damage.records, is_one ? " was" : "s were", damage.bytes);
}

std::size_t GivenUpTasks(const facts::JobRecord& state) {
  std::size_t count = 0;
  for (const auto& [number, stage] : state.stages) count += facts::TallyOf(stage).given_up_tasks;
  return count;
}

std::string ClockNote(const facts::ClockStep& step) {
  const bool is_forward = step.by > absl::ZeroDuration();
  return fmt::format(
      "the clock of source {} was set {} by {} at {} UTC; later times are moved {} by the same "
      "amount",
      step.source_id, is_forward ? "forward" : "back",
      text::DurationText(absl::AbsDuration(step.by)),
      absl::FormatTime("%Y-%m-%d %H:%M:%S", step.at, absl::UTCTimeZone()),
      is_forward ? "back" : "forward");
}

// Returns notes for users about `state`.
std::vector<std::string> NotesOf(const facts::JobRecord& state) {
  std::vector<std::string> notes;
  if (state.log_damage_places > 0) notes.push_back(DamageNote(state));
  if (state.opened && state.opened->workflow && !state.opened->workflow->rejected.empty()) {
    notes.push_back(state.opened->workflow->rejected);
  }
  if (state.last_clock_step) notes.push_back(ClockNote(*state.last_clock_step));
  if (state.unknown_events > 0) {
    notes.push_back(
        fmt::format("ignored {} report{} from a newer version of Tidemark; update the master",
                    state.unknown_events, state.unknown_events == 1 ? "" : "s"));
  }
  if (const std::size_t count = GivenUpTasks(state); count > 0) {
    notes.push_back(fmt::format("{} ended without success and will not run again",
                                count == 1 ? "1 task" : fmt::format("{} tasks", count)));
  }
  if (state.unused_profiles > 0) {
    notes.push_back(fmt::format(
        "key groups of stages other than {} and {} are not estimated: {} profile{} ignored",
        kMapStage, kReduceStage, state.unused_profiles,
        state.unused_profiles == 1 ? " was" : "s were"));
  }
  const facts::Stage* const reduces = state.reduce_stage();
  if (reduces != nullptr && reduces->opened.is_grouping_opaque.value_or(false)) {
    notes.push_back("keys do not identify key groups, because the job has a grouping comparator");
  }
  if (const double scanned = state.keys.scanned_share(); scanned < 1) {
    notes.push_back(
        fmt::format("keys known for {} % of the map output; for the rest, only the size is known",
                    static_cast<int>(100 * scanned)));
  }
  return notes;
}

// Pauses between the jobs of an application are usually shorter.
constexpr absl::Duration kIdleAfter = absl::Seconds(5);

// Returns the time since which an application has had no work, or nullopt if it had work until
// shortly before `known_at`, the time until which its state is known.
std::optional<absl::Time> IdleSince(const facts::JobRecord& state, const Snapshot& job,
                                    absl::Time known_at) {
  const bool is_open = std::ranges::any_of(
      state.groups, [](const auto& entry) { return !entry.second.closed.has_value(); });
  const bool is_application =
      job.info->kind == JobKind::kApplication || state.opened->engine == kSparkEngine;
  if (!is_application || is_open || !std::ranges::all_of(job.stages, HasEnded)) return std::nullopt;
  absl::Time since = state.started_at;
  for (const StageProgress& stage : job.stages) {
    since = std::max(since, stage.ended_at.value_or(since));
  }
  for (const auto& [name, group] : state.groups) {
    since = std::max(since, group.closed->at.value_or(since));
  }
  return known_at - since >= kIdleAfter ? std::optional(since) : std::nullopt;
}

// Precision of a predicted end. A job or group is overdue if it is past its predicted end by more
// than kOverdueAfter, and by more than this share of its run.
constexpr absl::Duration kOverdueAfter = absl::Seconds(2);
constexpr double kOverdueShare = 0.02;
// The median of a guess is at least this part of its upper bound. The first reduce tasks of an
// unknown job would otherwise be expected to end at once.
constexpr double kGuessedShare = 1 / (2 * durations::kRemainingUpperMax);

// Sets the fractions at the bounds of the remaining time, which enclose the published fraction.
void AddBounds(absl::Duration elapsed, Estimate& estimate) {
  estimate.fraction_done_lower = estimate.fraction_done_upper = estimate.fraction_done;
  if (!estimate.remaining) return;
  if (const auto& upper = estimate.remaining->upper) {
    estimate.fraction_done_lower = std::min(PartPassed(elapsed, *upper), estimate.fraction_done);
  }
  if (const auto& lower = estimate.remaining->lower) {
    estimate.fraction_done_upper = std::max(PartPassed(elapsed, *lower), estimate.fraction_done);
  }
}

// Widens the bounds of a job's parts by the same factors as the job's own bounds. These factors
// come from the record of the run, past runs, lost events and silence.
class Widening {
 public:
  Widening(const StagesEstimate& estimate, const Estimate& published) {
    const auto& left = published.remaining;
    if (!left) return;
    latest_ = left->upper;
    if (!estimate.end || !left->lower || !left->upper) return;
    const dag::SecondsRange& end = *estimate.end;
    below_ = Factor(left->median - *left->lower, end.median - end.lower);
    above_ = Factor(*left->upper - left->median, end.upper - end.median);
  }

  // Returns `range` with wider bounds. REQUIRES: it has bounds.
  Range Of(Range range) const {
    const absl::Duration lower = range.median - below_ * (range.median - *range.lower);
    const absl::Duration upper = range.median + above_ * (*range.upper - range.median);
    range.lower = std::max(lower, absl::ZeroDuration());
    range.upper = latest_ ? std::min(upper, std::max(*latest_, *range.upper)) : upper;
    return range;
  }
  std::optional<Range> Of(const std::optional<Range>& range) const {
    return range ? std::optional<Range>(Of(*range)) : std::nullopt;
  }

 private:
  static double Factor(absl::Duration shown, double estimated) {
    const double wider = absl::ToDoubleSeconds(shown) / estimated;
    return std::isfinite(wider) ? std::max(wider, 1.0) : 1;
  }

  // Factors on the distances of the bounds from the median; at least 1.
  double below_ = 1;
  double above_ = 1;
  // No part ends after its job, even if the job's end was almost certain before the widening.
  std::optional<absl::Duration> latest_;
};

}  // namespace

bool HasEnded(const StageProgress& stage) {
  return stage.state == StageState::kDone || stage.state == StageState::kSkipped ||
         stage.state == StageState::kFailed || stage.state == StageState::kUnknownEnd;
}

JobState StateAfter(JobOutcome outcome) {
  switch (outcome) {
    case JobOutcome::kSucceeded:
      return JobState::kSucceeded;
    case JobOutcome::kFailed:
      return JobState::kFailed;
    case JobOutcome::kKilled:
      return JobState::kKilled;
    case JobOutcome::kUnknown:
      break;
  }
  return JobState::kUnknownEnd;
}

const StageProgress& StageCounts::Of(const facts::Stage& stage, const facts::BeyondSlots& beyond) {
  OfStage& counted = of_stages_[stage.opened.stage];
  // While the stage runs, other stages also affect which attempts run beyond the slots.
  if (stage.closed && counted.revision == stage.revision) return counted.progress;
  counted.revision.reset();
  if (stage.closed) counted.revision = stage.revision;
  counted.progress = ProgressOf(stage, beyond);
  AddTally(stage, counted.progress);
  steps_ += stage.tasks.size();
  return counted.progress;
}

void AddFacts(const facts::JobRecord& state, absl::Time listening_since,
              const std::vector<std::string>& notes, StageCounts& counts, Snapshot& job) {
  job.info = JobInfo{.name = state.opened->name,
                     .engine = state.opened->engine,
                     .application_id = state.opened->application_id,
                     .user = state.opened->user,
                     .queue = state.opened->queue};
  job.started_at = state.started_at;
  job.deadline = state.opened->deadline;
  const facts::BeyondSlots beyond = facts::FindBeyondSlots(state, job.at);
  AddStages(state, beyond, counts, job);
  if (job.is_final) EndStages(state, job);
  job.coverage = CoverageAt(state, beyond, job.at);
  if (job.state == JobState::kRunning) {
    const absl::Time known_at = job.at - facts::SilentFor(state, job.at);
    if (known_at < job.at) {
      job.silent_since = facts::SilentSince(known_at, listening_since, job.at);
    }
    job.idle_since = IdleSince(state, job, known_at);
  }
  job.notes = notes;
  for (std::string& note : NotesOf(state)) job.notes.push_back(std::move(note));
}

StageProgress* ReduceStageOf(Snapshot& job) {
  return const_cast<StageProgress*>(facts::PhaseOf(job, StageKind::kReduce));
}

absl::Duration GraceAt(absl::Time now, absl::Time start) {
  return std::max(kOverdueAfter, kOverdueShare * (now - start));
}

void RaiseGuess(facts::EndPrediction& prediction) {
  if (!prediction.end || !prediction.upper) return;
  const absl::Duration least = kGuessedShare * (*prediction.upper - prediction.at);
  prediction.end = std::max(*prediction.end, prediction.at + least);
}

Estimate EstimateOf(const facts::EndPrediction& prediction, absl::Duration late,
                    absl::Duration grace) {
  Estimate estimate = {.state = EstimateState::kWarmingUp};
  if (!prediction.end) return estimate;
  const absl::Time now = prediction.at;
  if (now - *prediction.end > grace) {
    estimate.state = EstimateState::kOverdue;
    return estimate;
  }
  estimate.state = late > grace ? EstimateState::kOverdue : EstimateState::kValid;
  const auto left = [now](absl::Time end) { return std::max(end - now, absl::ZeroDuration()); };
  Range& remaining = estimate.remaining.emplace();
  remaining.median = left(*prediction.end);
  if (prediction.lower) remaining.lower = left(*prediction.lower);
  if (prediction.upper) remaining.upper = std::max(left(*prediction.upper), grace);
  return estimate;
}

// Counts the parts of a group.
struct GroupForecasts::Parts {
  double done = 0;  // sum of the fractions of its tasks
  double tasks = 0;
  std::uint64_t running_tasks = 0;
  std::uint64_t finished_tasks = 0;
  std::uint64_t ended = 0;   // finished tasks and ended stages
  std::uint32_t stages = 0;  // stages that have not been skipped
  absl::Time last_end = absl::InfinitePast();

  void Add(const StageProgress& stage) {
    done += stage.fraction_done * static_cast<double>(stage.tasks);
    tasks += static_cast<double>(stage.tasks);
    running_tasks += stage.running_tasks;
    finished_tasks += stage.finished_tasks;
    ended += stage.finished_tasks + (HasEnded(stage) ? 1 : 0);
    stages += stage.state == StageState::kSkipped ? 0 : 1;
    last_end = std::max(last_end, stage.ended_at.value_or(last_end));
  }
};

namespace {

// Returns the group that users wait for, or "" if there is no group. Running groups with stages
// come first, since other running groups may only contain them.
template <typename Parts>
std::string HeadlineOf(const Snapshot& job, const std::map<std::string_view, Parts>& parts) {
  const Group* headline = nullptr;
  const auto rank = [&](const Group& group) {
    const bool is_running = group.state == JobState::kRunning;
    const absl::Time at = is_running ? group.started_at.value_or(job.at)
                                     : group.ended_at.value_or(absl::InfinitePast());
    const bool has_stages = parts.at(group.group).stages > 0;
    return std::tuple(!is_running, is_running && !has_stages,
                      is_running ? at - absl::UnixEpoch() : absl::UnixEpoch() - at);
  };
  for (const Group& group : job.groups) {
    if (headline == nullptr || rank(group) < rank(*headline)) headline = &group;
  }
  return headline == nullptr ? "" : headline->group;
}

}  // namespace

void GroupForecasts::AddTo(const facts::JobRecord& state, const StagesEstimate& estimate,
                           absl::Time now, absl::Duration listened, Snapshot& job) {
  std::map<std::string_view, Parts> parts;
  for (const auto& [name, group] : state.groups) parts[name];
  for (const StageProgress& stage : job.stages) {
    const auto opened = state.stages.find(stage.id.stage);
    if (opened == state.stages.end()) continue;
    const auto of_group = parts.find(opened->second.opened.group);
    if (of_group != parts.end()) of_group->second.Add(stage);
  }
  for (const StageInfo& planned : estimate.expected) {
    const auto of_group = parts.find(planned.group);
    if (of_group != parts.end()) ++of_group->second.stages;
  }
  job.groups.reserve(state.groups.size());
  for (const auto& [name, group] : state.groups) {
    const Parts& of_group = parts[name];
    Group& shown = job.groups.emplace_back();
    shown.group = name;
    shown.name = group.opened.name;
    shown.started_at = group.opened.opened_at;
    // The end of the job does not show how the group ended.
    shown.state = group.closed   ? StateAfter(group.closed->outcome)
                  : job.is_final ? JobState::kUnknownEnd
                                 : job.state;
    const double by_tasks = of_group.tasks > 0 ? of_group.done / of_group.tasks : 0;
    shown.fraction_done =
        shown.state == JobState::kSucceeded ? 1 : std::min(by_tasks, dag::kRunningFractionMax);
    if (shown.state == JobState::kSucceeded) of_groups_.erase(name);
    const auto before = of_groups_.find(name);
    if (before != of_groups_.end()) shown.fraction_done = before->second.shown.fraction_done();
    if (!group.closed) continue;
    shown.message = group.closed->message;
    shown.ended_at = std::max(group.closed->at, shown.started_at);
  }
  if (job.is_final) return;
  // If no past run predicts the end of the application, people wait for its running query.
  if (estimate.may_grow && !job.idle_since) job.headline_group = HeadlineOf(job, parts);
  if (!job.headline_group.empty()) job.estimate_raised.reset();
  if (job.headline_group != headline_) headline_record_ = {};
  headline_ = job.headline_group;
  for (Group& group : job.groups) {
    if (group.state == JobState::kRunning) {
      Forecast(estimate, now, listened, parts[group.group], job, group);
    }
  }
}

void GroupForecasts::Forecast(const StagesEstimate& estimate, absl::Time now,
                              absl::Duration listened, const Parts& parts, Snapshot& job,
                              Group& group) {
  const auto known = estimate.group_ends.find(group.group);
  const bool is_any_left =
      known != estimate.group_ends.end() && known->second.ends_in.median > absl::ZeroDuration();
  if (estimate.stages.empty()) return;
  const bool is_headline = group.group == headline_;
  OfGroup& of_group = of_groups_[group.group];
  const absl::Time start = group.started_at.value_or(now);
  const absl::Duration grace = GraceAt(now, start);
  facts::EndPrediction prediction = {.at = now};
  if (is_any_left) {
    const Range range = is_headline ? known->second.ends_in
                                    : Widening(estimate, job.estimate).Of(known->second.ends_in);
    prediction = {.at = now,
                  .end = now + range.median,
                  .lower = now + *range.lower,
                  .upper = now + *range.upper};
    if (is_headline) {
      prediction = headline_record_.Widen(prediction, durations::kWiden,
                                          durations::IntervalRecord::Moves::kLater);
    }
  }
  const bool is_known = is_any_left && known->second.known_share > 0;
  group.basis = !estimate.may_grow                     ? job.estimate.basis
                : parts.finished_tasks > 0 || is_known ? Basis::kThisRun
                                                       : Basis::kGuess;
  if (group.basis == Basis::kGuess) RaiseGuess(prediction);
  // A wrong guess does not make a group late.
  const facts::EndPrediction due =
      group.basis == Basis::kGuess ? facts::EndPrediction{.at = now} : prediction;
  absl::Duration late = of_group.overdue.LateBy(due, parts.ended, grace);
  // A group whose known stages have all ended is late since then.
  if (!is_any_left && parts.last_end > absl::InfinitePast()) late = now - parts.last_end;
  prediction = durations::OpenedByLateness(prediction, late, grace);
  Estimate shown = EstimateOf(prediction, late, grace);
  shown.basis = group.basis;
  const RaiseCause cause = parts.running_tasks == 0                 ? RaiseCause::kUnknown
                           : shown.state == EstimateState::kOverdue ? RaiseCause::kOverdue
                                                                    : RaiseCause::kSlowerTasks;
  std::optional<EstimateRaised> raised;
  if (group.started_at) raised = of_group.shown.Show(now - start, parts.stages, cause, shown);
  // The interval of the job already contains the silence, and other groups inherit its width.
  if (is_headline && job.silent_since && shown.remaining) {
    shown.remaining = facts::WidenForSilence(*shown.remaining, job.at - now,
                                             std::max(job.at - now, listened), listened);
    of_group.shown.ShowSilent(job.at - start, shown);
  }
  group.estimate_state = shown.state;
  group.ends_in = shown.remaining;
  if (!group.started_at) return;
  if (is_headline && !job.silent_since) job.estimate_raised = raised;
  group.fraction_done = shown.fraction_done;
}

void AddForecasts(const StagesEstimate& estimate, Snapshot& job) {
  const Widening widening(estimate, job.estimate);
  const std::size_t there = job.stages.size();
  // Expected stages are omitted if the engine uses their numbers for its own stages.
  const bool has_room = job.stages.empty() || job.stages.back().id.stage < kExpectedStages;
  auto stage = job.stages.begin();
  for (const StageProgress& predicted : estimate.predictions) {
    if (predicted.state == StageState::kExpected) break;
    while (stage != job.stages.end() && stage->id < predicted.id) ++stage;
    if (stage == job.stages.end()) break;
    if (HasEnded(*stage) || stage->id != predicted.id) continue;
    if (!stage->started_at) stage->starts_in = widening.Of(predicted.starts_in);
    stage->ends_in = widening.Of(predicted.ends_in);
    // The stage has outlasted its forecast, so its end is unknown.
    if (stage->ends_in && stage->ends_in->upper <= absl::ZeroDuration()) stage->ends_in.reset();
    stage->task_time = predicted.task_time;
    stage->is_critical = predicted.is_critical;
  }
  if (!has_room) return;
  for (const StageProgress& predicted : estimate.predictions) {
    if (predicted.state != StageState::kExpected) continue;
    StageProgress& expected = job.stages.emplace_back(predicted);
    expected.starts_in = widening.Of(predicted.starts_in);
    expected.ends_in = widening.Of(predicted.ends_in);
  }
  job.stage_infos.insert(job.stage_infos.end(), estimate.expected.begin(), estimate.expected.end());
  const auto by_id = [](const auto& a, const auto& b) { return a.id < b.id; };
  std::sort(job.stages.begin() + static_cast<std::ptrdiff_t>(there), job.stages.end(), by_id);
  std::sort(job.stage_infos.begin() + static_cast<std::ptrdiff_t>(there), job.stage_infos.end(),
            by_id);
}

void EndPartsWithJob(Snapshot& job) {
  const auto end = [&](auto& part) {
    for (std::optional<absl::Time>* at : {&part.started_at, &part.ended_at}) {
      if (*at) *at = std::min(*at, job.ended_at);
    }
  };
  for (StageProgress& stage : job.stages) end(stage);
  for (Group& group : job.groups) end(group);
}

void Complete(std::optional<double> known_share, Snapshot& job) {
  // The stage counts as started even if the attempt that fetched is lost.
  if (StageProgress* const reduce = ReduceStageOf(job); reduce && reduce->shuffle) {
    const bool has_begun = reduce->shuffle->running_tasks > 0 ||
                           reduce->shuffle->fraction_done > 0 || reduce->failed_attempts > 0;
    if (reduce->state == StageState::kPending && has_begun) {
      reduce->state = StageState::kRunning;
    }
  }
  // An unsuccessful job keeps the bounds of its last estimate.
  if (!job.is_final || job.state == JobState::kSucceeded) AddBounds(job.elapsed(), job.estimate);
  for (Indicator& other : job.indicators) AddBounds(job.elapsed(), other.estimate);
  const Basis basis = job.estimate.basis;
  if (basis == Basis::kEarlierRuns || basis == Basis::kThisRun) {
    job.estimate.known_share = known_share.value_or(1);
  }
  job.counts = CountParts(job);
  for (StageProgress& stage : job.stages) {
    // Without the end of an ended stage, its rate is unknown.
    const bool has_times = stage.started_at && (stage.ended_at || !HasEnded(stage));
    if (!stage.throughput || !has_times) continue;
    const absl::Time until = stage.ended_at.value_or(job.ended_at.value_or(job.at));
    stage.throughput = ThroughputOf(stage.throughput->bytes_done, stage.throughput->records_done,
                                    until - *stage.started_at);
  }
  job.throughput = ThroughputOfStages(job);
  if (job.deadline) job.late_probability = LateProbability(job, *job.deadline);
}

}  // namespace tidemark::monitor
