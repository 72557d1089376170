#include "master/monitor/job_snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "master/model/evidence_loss.h"
#include "master/model/phases.h"
#include "master/model/saturating.h"
#include "master/model/silence.h"

namespace tidemark::monitor {
namespace {

// A task nobody heard of for this long is silent.
constexpr absl::Duration kSilence = absl::Seconds(10);

// Counts attempts that have failed, and finds why the last of them did.
class Failures {
 public:
  // At one instant the highest index decides, in whatever order tasks are heard of.
  void Add(std::uint32_t index, const model::AttemptLife& life) {
    if (life.state() != AttemptState::kFailed) return;
    ++count_;
    const std::pair at(life.ended_at().value_or(absl::InfinitePast()), index);
    if (life.failure.empty() || at < last_at_) return;
    last_at_ = at;
    last_ = &life.failure;
  }
  void Tell(next::StageProgress& stage) const {
    stage.failed_attempts = count_;
    if (last_ != nullptr) stage.failure = *last_;
  }

 private:
  std::uint64_t count_ = 0;
  std::pair<absl::Time, std::uint32_t> last_at_ = {absl::InfinitePast(), 0};
  const std::string* last_ = nullptr;
};

void AddFailures(std::span<const model::Task> tasks, next::StageProgress& stage) {
  Failures failures;
  for (const model::Task& task : tasks) {
    for (const auto& [number, attempt] : task.attempts) failures.Add(task.index, attempt.life);
  }
  failures.Tell(stage);
}

// A stage whose tasks are told by nothing but their lives.
next::StageProgress ProgressOf(const model::Stage& stage) {
  next::StageProgress progress = {.id = {0, stage.opened.stage}};
  std::optional<absl::Time> ended_at;
  for (const model::Task& task : stage.tasks) {
    progress.running_tasks += task.is_running() ? 1 : 0;
    progress.finished_tasks += task.is_finished() ? 1 : 0;
    for (const auto& [number, attempt] : task.attempts) {
      const auto started_at = attempt.life.started_at();
      if (started_at && (!progress.started_at || *started_at < *progress.started_at)) {
        progress.started_at = started_at;
      }
      const auto end = attempt.life.ended_at();
      if (attempt.life.is_finished() && end && (!ended_at || *end > *ended_at)) ended_at = end;
    }
  }
  progress.tasks = stage.opened.task_count.value_or(static_cast<std::uint32_t>(stage.tasks.size()));
  // One that is run again may have fewer tasks than before.
  progress.finished_tasks = std::min(progress.finished_tasks, progress.tasks);
  progress.running_tasks =
      std::min(progress.running_tasks, progress.tasks - progress.finished_tasks);
  const bool is_done = stage.opened.task_count && progress.finished_tasks == progress.tasks;
  progress.state = stage.opened.skipped  ? next::StageState::kSkipped
                   : is_done             ? next::StageState::kDone
                   : progress.started_at ? next::StageState::kRunning
                                         : next::StageState::kPending;
  if (is_done) progress.ended_at = ended_at;
  if (is_done || stage.opened.skipped) {
    progress.fraction_done = 1;
  } else if (progress.tasks > 0) {
    progress.fraction_done =
        static_cast<double>(progress.finished_tasks) / static_cast<double>(progress.tasks);
  }
  return progress;
}

// Of an opened stage; of one that nobody has opened, what MapReduce makes of it.
next::StageInfo InfoOf(const model::JobState& state, next::StageInfo info) {
  const auto stage = state.stages.find(info.id.stage);
  if (stage == state.stages.end()) return info;
  const StageOpened& opened = stage->second.opened;
  info.attempt = opened.attempt;
  if (!opened.name.empty()) info.name = opened.name;
  if (!opened.parents.empty()) info.parents = opened.parents;
  info.group = opened.group;
  info.pool = opened.pool;
  return info;
}

// Fetching what the maps wrote is a part of the reduce stage.
next::StageProgress ReduceStage(const model::JobState& state) {
  next::StageProgress stage = model::ReduceProgress(state);
  stage.shuffle = model::FetchProgress(state);
  const bool fetches = stage.shuffle->running_tasks > 0 || stage.shuffle->fraction_done > 0;
  if (stage.state == next::StageState::kPending && fetches) {
    stage.state = next::StageState::kRunning;
  }
  AddFailures(state.reduce_tasks(), stage);
  return stage;
}

// By number. Those of a MapReduce job, which it may have before they are opened, and all others.
void AddStages(const model::JobState& state, next::Snapshot& job) {
  if (state.has_map_stage()) {
    job.stage_infos.push_back(
        InfoOf(state, {.id = {0, kMapStage}, .name = "map", .kind = StageKind::kMap}));
    job.stages.push_back(model::MapProgress(state));
    AddFailures(state.map_tasks(), job.stages.back());
  }
  if (state.has_reduce_stage()) {
    next::StageInfo info = {.id = {0, kReduceStage}, .name = "reduce", .kind = StageKind::kReduce};
    if (state.has_map_stage()) info.parents = {kMapStage};
    job.stage_infos.push_back(InfoOf(state, std::move(info)));
    job.stages.push_back(ReduceStage(state));
  }
  for (const auto& [number, stage] : state.stages) {
    if (stage.is_map() || stage.is_reduce()) continue;
    const StageKind kind = stage.opened.kind;
    job.stage_infos.push_back(InfoOf(
        state,
        {.id = {0, number}, .kind = kind == StageKind::kUnknown ? StageKind::kGeneric : kind}));
    job.stages.push_back(ProgressOf(stage));
    AddFailures(stage.tasks, job.stages.back());
    job.info->kind = next::JobKind::kApplication;
  }
  const auto by_id = [](const auto& a, const auto& b) { return a.id < b.id; };
  std::sort(job.stage_infos.begin(), job.stage_infos.end(), by_id);
  std::sort(job.stages.begin(), job.stages.end(), by_id);
}

std::uint32_t SilentTasks(const model::JobState& state, absl::Time now) {
  std::uint32_t silent = 0;
  for (const auto& [number, stage] : state.stages) {
    for (const model::Task& task : stage.tasks) {
      for (const auto& [id, attempt] : task.attempts) {
        silent += attempt.life.is_running() && now - attempt.life.last_heard_at > kSilence ? 1 : 0;
      }
    }
  }
  return silent;
}

std::uint64_t DroppedPoints(const model::JobState& state) {
  std::uint64_t dropped = 0;
  for (const model::Task& task : state.reduce_tasks()) {
    for (const auto& [number, attempt] : task.attempts) {
      dropped = model::SaturatingAdd(dropped, attempt.reduce->dropped_points);
    }
  }
  return dropped;
}

next::Coverage CoverageAt(const model::JobState& state, absl::Time now) {
  next::Coverage coverage = {.newest_event_at = state.last_arrival_at == absl::InfinitePast()
                                                    ? now
                                                    : std::min(state.last_arrival_at, now),
                             .lost_envelopes = state.lost_envelopes,
                             .dropped_points = DroppedPoints(state),
                             .anomalies = state.anomalies,
                             .rejected_envelopes = state.rejected_envelopes,
                             .silent_tasks = SilentTasks(state, now)};
  for (const auto& [id, source] : state.sources) {
    coverage.dropped_events = model::SaturatingAdd(coverage.dropped_events, source.dropped_events);
  }
  const auto is_finished = [](const model::Task& task) { return task.is_finished(); };
  if (state.has_map_stage() && state.has_reduce_stage() &&
      std::ranges::any_of(state.map_tasks(), is_finished)) {
    coverage.map_profiles = model::MapProfilesKnown(state, now);
  }
  return coverage;
}

std::string DamageNote(const model::JobState& state) {
  const LogDamage& damage = state.log_damage;
  const std::string where =
      state.log_damage_places == 1
          ? fmt::format("at byte {}", damage.at)
          : fmt::format("in {} places, the first at byte {}", state.log_damage_places, damage.at);
  const bool is_one = damage.records == 1;
  return fmt::format(
      "the master's log of this job was damaged {}: about {} record{} lost ({} bytes); estimates "
      "are made without {}, with wider intervals",
      where, damage.records, is_one ? " was" : "s were", damage.bytes, is_one ? "it" : "them");
}

// What the fold gives reason to say, for people.
std::vector<std::string> NotesOf(const model::JobState& state) {
  std::vector<std::string> notes;
  if (state.log_damage_places > 0) notes.push_back(DamageNote(state));
  if (state.unknown_events > 0) {
    notes.push_back(
        fmt::format("{} report{} of a newer version of Tidemark {} not understood and left out; "
                    "update the master",
                    state.unknown_events, state.unknown_events == 1 ? "" : "s",
                    state.unknown_events == 1 ? "was" : "were"));
  }
  if (state.closed && state.closed->outcome == JobOutcome::kUnknown) {
    notes.push_back(
        "the job has ended, in a way that only a newer version of Tidemark knows; update the "
        "master");
  }
  if (state.unused_profiles > 0) {
    notes.push_back(fmt::format(
        "key groups of stages other than {} and {} are not estimated: {} profile{} left "
        "out",
        kMapStage, kReduceStage, state.unused_profiles,
        state.unused_profiles == 1 ? " was" : "s were"));
  }
  const model::Stage* const reduces = state.reduce_stage();
  if (reduces != nullptr && reduces->opened.is_grouping_opaque.value_or(false)) {
    notes.push_back(
        "a grouping comparator decides which keys form a key group, so none is known by its key");
  }
  if (const double scanned = state.keys.scanned_share(); scanned < 1) {
    notes.push_back(
        fmt::format("keys known for {} % of the map output; for the rest, only its size",
                    static_cast<int>(100 * scanned)));
  }
  return notes;
}

double PartOf(absl::Duration passed, absl::Duration left) {
  const double whole = absl::ToDoubleSeconds(passed + left);
  return whole > 0 ? absl::ToDoubleSeconds(passed) / whole : 0;
}

// The fractions at the bounds of what remains.
void AddBounds(absl::Duration elapsed, next::Estimate& estimate) {
  estimate.fraction_done_lower = estimate.fraction_done_upper = estimate.fraction_done;
  if (!estimate.remaining) return;
  if (const auto& upper = estimate.remaining->upper) {
    estimate.fraction_done_lower = PartOf(elapsed, *upper);
  }
  if (const auto& lower = estimate.remaining->lower) {
    estimate.fraction_done_upper = PartOf(elapsed, *lower);
  }
}

next::Basis BasisOf(const next::Snapshot& job, const model::JobState& state) {
  const bool has_begun = std::any_of(job.stages.begin(), job.stages.end(), [](const auto& stage) {
    return stage.started_at.has_value();
  });
  if (has_begun) return next::Basis::kThisRun;
  return state.past_runs.empty() ? next::Basis::kGuess : next::Basis::kEarlierRuns;
}

}  // namespace

void AddFacts(const model::JobState& state, const std::vector<std::string>& notes,
              next::Snapshot& job) {
  job.info = next::JobInfo{.name = state.opened->name,
                           .kind = next::JobKind::kMapReduce,
                           .engine = state.opened->engine,
                           .application_id = state.opened->application_id,
                           .user = state.opened->user,
                           .queue = state.opened->queue};
  job.started_at = state.started_at;
  AddStages(state, job);
  job.coverage = CoverageAt(state, job.at);
  if (job.state == next::JobState::kRunning) {
    const absl::Duration silence = model::SilentFor(state, job.at);
    if (silence > absl::ZeroDuration()) job.silent_since = job.at - silence;
  }
  job.notes = notes;
  for (std::string& note : NotesOf(state)) job.notes.push_back(std::move(note));
}

next::StageProgress* ReduceStageOf(next::Snapshot& job) {
  for (std::size_t i = 0; i < job.stages.size(); ++i) {
    const bool is_reduce =
        job.stages[i].id.stage == kReduceStage && job.stage_infos[i].kind == StageKind::kReduce;
    if (is_reduce) return &job.stages[i];
  }
  return nullptr;
}

// Those that are only expected have no number yet and are left out. REQUIRES: stages by number.
void AddForecasts(const std::vector<StageForecast>& forecasts, next::Snapshot& job) {
  for (const StageForecast& forecast : forecasts) {
    if (!forecast.stage) continue;
    const auto stage = std::lower_bound(
        job.stages.begin(), job.stages.end(), next::StageId{0, *forecast.stage},
        [](const next::StageProgress& one, const next::StageId& id) { return one.id < id; });
    const bool has_ended = stage == job.stages.end() || stage->state == next::StageState::kDone ||
                           stage->state == next::StageState::kSkipped;
    if (has_ended || stage->id.stage != *forecast.stage) continue;
    if (!stage->started_at) stage->starts_in = next::Range{.median = forecast.starts_in};
    stage->ends_in = next::Range{.median = forecast.ends_in};
    stage->is_critical = forecast.is_critical;
  }
}

void Complete(const model::JobState& state, std::optional<double> known_share,
              next::Snapshot& job) {
  AddBounds(job.elapsed(), job.estimate);
  for (next::Indicator& other : job.indicators) AddBounds(job.elapsed(), other.estimate);
  if (job.estimate.state == next::EstimateState::kValid) {
    job.estimate.basis = BasisOf(job, state);
    if (job.estimate.basis != next::Basis::kGuess) {
      job.estimate.known_share = known_share.value_or(1);
    }
  }
  job.counts = next::CountParts(job);
}

}  // namespace tidemark::monitor
