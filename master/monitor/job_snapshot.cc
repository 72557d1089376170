#include "master/monitor/job_snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "master/facts/evidence_loss.h"
#include "master/facts/phases.h"
#include "text/duration_text.h"

namespace tidemark::monitor {
namespace {

// A task without a report for this long is silent.
constexpr absl::Duration kSilence = absl::Seconds(10);
// The engine whose applications are known by their name before their first stage.
constexpr std::string_view kSpark = "spark";

// Counts failed attempts, and finds the reason of the last failure.
class Failures {
 public:
  // If several attempts fail at the same time, the highest index counts, regardless of the order of
  // the reports.
  void Add(std::uint32_t index, const facts::AttemptLife& life) {
    if (life.state() != AttemptState::kFailed) return;
    ++count_;
    const std::pair at(life.ended_at().value_or(absl::InfinitePast()), index);
    if (life.failure.empty() || at < last_at_) return;
    last_at_ = at;
    last_ = &life.failure;
  }
  void AddTo(StageProgress& stage) const {
    stage.failed_attempts = count_;
    if (last_ != nullptr && stage.failure.empty()) stage.failure = *last_;
  }

 private:
  std::uint64_t count_ = 0;
  std::pair<absl::Time, std::uint32_t> last_at_ = {absl::InfinitePast(), 0};
  const std::string* last_ = nullptr;
};

void AddFailures(std::span<const facts::Task> tasks, StageProgress& stage) {
  Failures failures;
  for (const facts::Task& task : tasks) {
    for (const auto& [number, attempt] : task.attempts) failures.Add(task.index, attempt.life);
  }
  failures.AddTo(stage);
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
  AddFailures(state.reduce_tasks(), stage);
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
    AddFailures(state.map_tasks(), job.stages.back());
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
        known == state.stages.end() ? 0 : known->second.given_up_task_count();
    stage.finished_tasks = stage.tasks - std::min<std::uint64_t>(stage.tasks, given_up);
    stage.fraction_done = 1;
  }
}

std::uint32_t SilentTasks(const facts::JobRecord& state, StageCounts& counts, absl::Time now) {
  std::uint32_t silent = 0;
  for (const auto& [number, stage] : state.stages) {
    if (!counts.HasRunningAttempts(stage)) continue;
    for (const facts::Task& task : stage.tasks) {
      for (const auto& [id, attempt] : task.attempts) {
        silent += attempt.life.is_running() && now - attempt.life.last_report_at > kSilence ? 1 : 0;
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
                    StageCounts& counts, absl::Time now) {
  Coverage coverage = {.newest_event_at = state.last_arrival_at == absl::InfinitePast()
                                              ? now
                                              : std::min(state.last_arrival_at, now),
                       .lost_events = state.lost_events,
                       .dropped_points = DroppedPoints(state),
                       .anomalies = state.anomalies,
                       .rejected_events = state.rejected_events,
                       .silent_tasks = SilentTasks(state, counts, now),
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
      "do not use {} and have wider intervals",
      where, damage.records, is_one ? " was" : "s were", damage.bytes, is_one ? "it" : "them");
}

std::size_t GivenUpTasks(const facts::JobRecord& state) {
  std::size_t count = 0;
  for (const auto& [number, stage] : state.stages) count += stage.given_up_task_count();
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

// Returns the time since which an application has had no work, or nullopt if it has work.
std::optional<absl::Time> IdleSince(const facts::JobRecord& state, const Snapshot& job) {
  const bool is_open = std::ranges::any_of(
      state.groups, [](const auto& entry) { return !entry.second.closed.has_value(); });
  const bool is_application =
      job.info->kind == JobKind::kApplication || state.opened->engine == kSpark;
  if (!is_application || is_open || !std::ranges::all_of(job.stages, HasEnded)) return std::nullopt;
  absl::Time since = state.started_at;
  for (const StageProgress& stage : job.stages) {
    since = std::max(since, stage.ended_at.value_or(since));
  }
  for (const auto& [name, group] : state.groups) {
    since = std::max(since, group.closed->at.value_or(since));
  }
  return job.at - since >= kIdleAfter ? std::optional(since) : std::nullopt;
}

// Below this known share, an application whose end has no bounds shows no bounds of its progress.
constexpr double kKnownShareMin = 0.5;

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

bool StageCounts::HasRunningAttempts(const facts::Stage& stage) const {
  // Once the kind of these stages is known, Of() does not count them.
  if (stage.is_map() || stage.is_reduce()) return true;
  const auto counted = of_stages_.find(stage.opened.stage);
  return counted == of_stages_.end() || counted->second.has_running_attempts;
}

const StageProgress& StageCounts::Of(const facts::Stage& stage, const facts::BeyondSlots& beyond) {
  OfStage& counted = of_stages_[stage.opened.stage];
  // While the stage runs, other stages also affect which attempts run beyond the slots.
  if (stage.closed && counted.revision == stage.revision) return counted.progress;
  counted.revision.reset();
  if (stage.closed) counted.revision = stage.revision;
  counted.progress = ProgressOf(stage, beyond);
  AddFailures(stage.tasks, counted.progress);
  counted.has_running_attempts = std::ranges::any_of(stage.tasks, [](const facts::Task& task) {
    return std::ranges::any_of(task.attempts,
                               [](const auto& entry) { return entry.second.life.is_running(); });
  });
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
  job.coverage = CoverageAt(state, beyond, counts, job.at);
  if (job.state == JobState::kRunning) {
    const absl::Duration silence = facts::SilentFor(state, job.at);
    if (silence > absl::ZeroDuration()) {
      job.silent_since = facts::SilentSince(job.at - silence, listening_since, job.at);
    }
  }
  if (!job.is_final) job.idle_since = IdleSince(state, job);
  job.notes = notes;
  for (std::string& note : NotesOf(state)) job.notes.push_back(std::move(note));
}

StageProgress* ReduceStageOf(Snapshot& job) {
  return const_cast<StageProgress*>(facts::PhaseOf(job, StageKind::kReduce));
}

void AddGroups(const facts::JobRecord& state, const StagesEstimate& estimate, absl::Time now,
               std::map<std::string, dag::ShownProgress>& shown_groups, Snapshot& job) {
  struct Sum {
    double done = 0;  // sum of the fractions of its tasks
    double tasks = 0;
  };
  std::map<std::string_view, Sum> sums;
  for (const auto& [name, group] : state.groups) sums[name];
  const auto sum_of = [&](std::uint32_t stage) {
    const auto opened = state.stages.find(stage);
    return opened == state.stages.end() ? sums.end() : sums.find(opened->second.opened.group);
  };
  for (const StageProgress& stage : job.stages) {
    const auto sum = sum_of(stage.id.stage);
    if (sum == sums.end()) continue;
    sum->second.done += stage.fraction_done * static_cast<double>(stage.tasks);
    sum->second.tasks += static_cast<double>(stage.tasks);
  }
  const Widening widening(estimate, job.estimate);
  job.groups.reserve(state.groups.size());
  for (const auto& [name, group] : state.groups) {
    const Sum& sum = sums[name];
    Group& shown = job.groups.emplace_back();
    shown.group = name;
    shown.name = group.opened.name;
    shown.started_at = group.opened.opened_at;
    // The end of the job does not show how the group ended.
    shown.state = group.closed   ? StateAfter(group.closed->outcome)
                  : job.is_final ? JobState::kUnknownEnd
                                 : job.state;
    const double by_tasks = sum.tasks > 0 ? sum.done / sum.tasks : 0;
    shown.fraction_done =
        shown.state == JobState::kSucceeded ? 1 : std::min(by_tasks, dag::kRunningFractionMax);
    if (shown.state == JobState::kSucceeded) shown_groups.erase(name);
    const auto before = shown_groups.find(name);
    if (before != shown_groups.end()) shown.fraction_done = before->second.fraction_done();
    if (group.closed) {
      shown.message = group.closed->message;
      shown.ended_at = std::max(group.closed->at, shown.started_at);
      continue;
    }
    if (job.is_final) continue;
    const auto ends_in = estimate.group_ends.find(name);
    const bool is_any_left =
        ends_in != estimate.group_ends.end() && ends_in->second.median > absl::ZeroDuration();
    if (is_any_left) shown.ends_in = widening.Of(ends_in->second);
    // If further stages may appear, the group may end as late as the job.
    if (is_any_left && estimate.may_grow && job.estimate.remaining) {
      shown.ends_in->upper = std::max(shown.ends_in->upper, job.estimate.remaining->upper);
    }
    if (estimate.stages.empty() || !shown.started_at) continue;
    // Between its jobs, all known parts of a group have ended, but the group continues.
    Estimate of_group = {.basis = job.estimate.basis};
    if (is_any_left) of_group.remaining = ends_in->second;
    shown_groups[name].Show(now - *shown.started_at, /*stages=*/0, RaiseCause::kUnknown, of_group);
    shown.fraction_done = of_group.fraction_done;
  }
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

void KeepBounds(std::optional<double> known_share, absl::Duration elapsed, Estimate& estimate) {
  AddBounds(elapsed, estimate);
  const bool is_open = estimate.remaining && !estimate.remaining->upper;
  if (is_open && known_share && *known_share < kKnownShareMin) {
    estimate.fraction_done_lower = 0;
    estimate.fraction_done_upper = dag::kRunningFractionMax;
  }
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
  if (!job.is_final || job.state == JobState::kSucceeded) {
    AddBounds(job.elapsed(), job.estimate);
    for (Indicator& other : job.indicators) AddBounds(job.elapsed(), other.estimate);
  }
  const Basis basis = job.estimate.basis;
  if (basis == Basis::kEarlierRuns || basis == Basis::kThisRun) {
    job.estimate.known_share = known_share.value_or(1);
  }
  job.counts = CountParts(job);
  if (job.deadline) job.late_probability = LateProbability(job, *job.deadline);
}

}  // namespace tidemark::monitor
