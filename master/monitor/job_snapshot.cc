#include "master/monitor/job_snapshot.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::monitor {
namespace {

// The enums of what is published are the others, in the same order, after their own first values.
static_assert(static_cast<int>(ForecastState::kFinal) + 1 ==
              static_cast<int>(next::EstimateState::kFinal));
static_assert(static_cast<int>(PhaseState::kDone) + 1 == static_cast<int>(next::StageState::kDone));
static_assert(static_cast<int>(JobState::kAbandoned) + 2 ==
              static_cast<int>(next::JobState::kAbandoned));

std::optional<next::Range> RangeOf(const Forecast& forecast) {
  if (!forecast.remaining) return std::nullopt;
  return next::Range{*forecast.remaining, forecast.remaining_lower, forecast.remaining_upper};
}

double PartOf(absl::Duration passed, absl::Duration left) {
  const double whole = absl::ToDoubleSeconds(passed + left);
  return whole > 0 ? absl::ToDoubleSeconds(passed) / whole : 0;
}

next::Estimate EstimateOf(const Forecast& forecast, absl::Duration elapsed) {
  next::Estimate estimate = {
      .state = static_cast<next::EstimateState>(static_cast<int>(forecast.state) + 1),
      .fraction_done = forecast.fraction_done,
      .fraction_done_lower = forecast.fraction_done,
      .fraction_done_upper = forecast.fraction_done,
      .remaining = RangeOf(forecast),
      .indicator = forecast.indicator};
  if (forecast.remaining_upper) {
    estimate.fraction_done_lower = PartOf(elapsed, *forecast.remaining_upper);
  }
  if (forecast.remaining_lower) {
    estimate.fraction_done_upper = PartOf(elapsed, *forecast.remaining_lower);
  }
  if (estimate.state == next::EstimateState::kFinal) estimate.basis = next::Basis::kDone;
  return estimate;
}

next::Indicator IndicatorOf(const Forecast& forecast, absl::Duration elapsed) {
  next::Indicator indicator = {.estimate = EstimateOf(forecast, elapsed),
                               .last_stage_fraction_done = forecast.reduce_fraction_done};
  if (const auto& from = forecast.evidence) {
    indicator.evidence = {from->own_neighbours, from->own_fit, from->other_neighbours,
                          from->other_fit, from->ratio};
  }
  return indicator;
}

next::StageProgress StageOf(const PhaseProgress& phase, std::uint32_t number) {
  return {.id = {0, number},
          .state = static_cast<next::StageState>(static_cast<int>(phase.state) + 1),
          .fraction_done = phase.fraction_done,
          .tasks = phase.task_count,
          .running_tasks = phase.running_task_count,
          .finished_tasks = phase.finished_task_count,
          .started_at = phase.started_at,
          .ended_at = phase.finished_at};
}

// The two stages of a MapReduce job, of which fetching is a part of the second.
void AddPhases(const std::vector<PhaseProgress>& phases, next::Snapshot& job) {
  std::optional<next::ShuffleProgress> shuffle;
  for (const PhaseProgress& phase : phases) {
    if (phase.phase == Phase::kMap) {
      job.stage_infos.push_back(
          {.id = {0, kMapStage}, .name = "map", .kind = next::StageKind::kMap});
      job.stages.push_back(StageOf(phase, kMapStage));
    } else if (phase.phase == Phase::kShuffle) {
      shuffle = next::ShuffleProgress{phase.fraction_done, phase.running_task_count,
                                      phase.finished_task_count};
    } else {
      next::StageInfo info = {
          .id = {0, kReduceStage}, .name = "reduce", .kind = next::StageKind::kReduce};
      if (!job.stages.empty()) info.parents = {kMapStage};
      job.stage_infos.push_back(std::move(info));
      next::StageProgress stage = StageOf(phase, kReduceStage);
      stage.shuffle = shuffle;
      const bool fetches = shuffle && (shuffle->running_tasks > 0 || shuffle->fraction_done > 0);
      if (stage.state == next::StageState::kPending && fetches) {
        stage.state = next::StageState::kRunning;
      }
      job.stages.push_back(std::move(stage));
    }
  }
}

void AddCoverage(const Snapshot& said, next::Snapshot& job) {
  const Coverage& from = said.coverage;
  next::Coverage& coverage = job.coverage.emplace();
  coverage = {.newest_event_at = said.at - from.data_age,
              .lost_envelopes = from.lost_envelopes,
              .dropped_events = from.dropped_events,
              .dropped_points = from.dropped_points,
              .anomalies = from.anomalies,
              .rejected_envelopes = from.rejected_envelopes,
              .silent_tasks = from.silent_tasks};
  const bool has_maps = !said.phases.empty() && said.phases.front().phase == Phase::kMap &&
                        said.phases.front().finished_task_count > 0;
  if (has_maps && job.stages.size() > 1) coverage.map_profiles = from.map_profiles;
  if (from.silent_for > absl::ZeroDuration()) job.silent_since = said.at - from.silent_for;
  job.notes = from.notes;
}

void AddErrors(const Snapshot& said, next::Snapshot& job) {
  for (const IndicatorError& from : said.errors) {
    next::IndicatorError error = {.indicator = from.indicator,
                                  .job_avg_points = from.job_avg_error_points,
                                  .job_max_points = from.job_max_error_points,
                                  .interval_coverage = from.interval_coverage};
    // A reduce phase without an update had errors of exactly zero.
    if (from.reduce_max_error_points != 0 || from.interval_coverage) {
      error.last_stage_avg_points = from.reduce_avg_error_points;
      error.last_stage_max_points = from.reduce_max_error_points;
    }
    job.errors.push_back(std::move(error));
  }
}

// Counts attempts that have failed, and finds why the last of them did.
class Failures {
 public:
  void Add(const model::AttemptLife& life) {
    if (life.state() != AttemptState::kFailed) return;
    ++count_;
    const absl::Time at = life.ended_at().value_or(absl::InfinitePast());
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
  absl::Time last_at_ = absl::InfinitePast();
  const std::string* last_ = nullptr;
};

void AddFailures(const std::vector<model::Task>& tasks, next::StageProgress& stage) {
  Failures failures;
  for (const model::Task& task : tasks) {
    for (const auto& [number, attempt] : task.attempts) failures.Add(attempt.life);
  }
  failures.Tell(stage);
}

next::StageInfo InfoOf(const StageOpened& opened) {
  next::StageInfo info = {.id = {0, opened.stage},
                          .attempt = opened.attempt,
                          .name = opened.name,
                          .parents = opened.parents,
                          .group = opened.group,
                          .pool = opened.pool};
  info.kind = opened.kind == StageKind::kMap      ? next::StageKind::kMap
              : opened.kind == StageKind::kReduce ? next::StageKind::kReduce
                                                  : next::StageKind::kGeneric;
  return info;
}

// A stage whose tasks are told by nothing but their lives.
next::StageProgress ProgressOf(const model::Stage& stage) {
  next::StageProgress progress = {.id = {0, stage.opened.stage}};
  std::optional<absl::Time> ended_at;
  std::uint32_t heard_of = 0;
  for (const model::Task& task : stage.tasks) {
    heard_of += task.attempts.empty() ? 0 : 1;
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
  progress.tasks = stage.opened.task_count.value_or(heard_of);
  // One that is run again may have fewer tasks than before.
  progress.finished_tasks = std::min(progress.finished_tasks, progress.tasks);
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

// The stages that were opened: those of a MapReduce job as AddPhases() has them, with their names.
void AddStages(const model::JobState& state, next::Snapshot& job) {
  const auto phases = static_cast<std::ptrdiff_t>(job.stage_infos.size());
  for (const auto& [number, stage] : state.stages) {
    next::StageInfo info = InfoOf(stage.opened);
    const auto end = job.stage_infos.begin() + phases;
    const auto known = std::find_if(job.stage_infos.begin(), end,
                                    [&](const auto& other) { return other.id == info.id; });
    if (known == end || !(stage.is_map() || stage.is_reduce())) {
      job.stage_infos.push_back(std::move(info));
      job.stages.push_back(ProgressOf(stage));
      job.info->kind = next::JobKind::kApplication;
      continue;
    }
    if (info.name.empty()) info.name = known->name;
    if (info.parents.empty()) info.parents = known->parents;
    *known = std::move(info);
  }
  for (next::StageProgress& stage : job.stages) {
    const auto opened = state.stages.find(stage.id.stage);
    if (opened != state.stages.end()) AddFailures(opened->second.tasks, stage);
  }
  const auto by_id = [](const auto& a, const auto& b) { return a.id < b.id; };
  std::sort(job.stage_infos.begin(), job.stage_infos.end(), by_id);
  std::sort(job.stages.begin(), job.stages.end(), by_id);
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

next::Basis BasisOf(const next::Snapshot& job, const model::JobState& state) {
  const bool has_begun = std::any_of(job.stages.begin(), job.stages.end(), [](const auto& stage) {
    return stage.started_at.has_value();
  });
  if (has_begun) return next::Basis::kThisRun;
  return state.past_runs.empty() ? next::Basis::kGuess : next::Basis::kEarlierRuns;
}

}  // namespace

void ShownStages::NeverBack(next::Snapshot& job) {
  for (std::size_t i = 0; i < job.stages.size(); ++i) {
    auto& [attempt, shown] = shown_[job.stages[i].id.stage];
    if (attempt != job.stage_infos[i].attempt) shown = 0;
    attempt = job.stage_infos[i].attempt;
    shown = job.stages[i].fraction_done = std::max(shown, job.stages[i].fraction_done);
  }
}

next::Snapshot JobSnapshot(const Snapshot& said) {
  next::Snapshot job = {
      .job_id = said.job_id, .run_uid = said.run_uid, .sequence = said.sequence, .at = said.at};
  job.state = static_cast<next::JobState>(static_cast<int>(said.state) + 2);  // after kQueued
  job.is_final = said.is_final();
  job.message = said.message;
  job.info = next::JobInfo{.name = said.job_name, .kind = next::JobKind::kMapReduce};
  job.started_at = said.started_at;
  if (said.is_final()) job.ended_at = said.started_at + said.elapsed;
  AddPhases(said.phases, job);
  if (!said.forecasts.empty()) job.estimate = EstimateOf(said.forecasts.front(), said.elapsed);
  for (std::size_t i = 1; i < said.forecasts.size(); ++i) {
    job.indicators.push_back(IndicatorOf(said.forecasts[i], said.elapsed));
  }
  if (const auto& last = said.straggler) {
    const AttemptId& id = last->attempt;
    next::NamedTask task = {.attempt = {id.stage, id.stage_attempt, id.index, id.attempt},
                            .host = last->host,
                            .explicit_groups_left = last->explicit_groups_left,
                            .heaviest_group_bytes = last->heaviest_group_bytes,
                            .heaviest_group_share = last->heaviest_group_share,
                            .in_heaviest_group = last->in_heaviest_group,
                            .reason = last->reason};
    if (last->remaining) task.remaining = next::Range{.median = *last->remaining};
    job.named_tasks.push_back(std::move(task));
  }
  AddCoverage(said, job);
  AddErrors(said, job);
  job.counts = next::CountParts(job);
  return job;
}

next::Snapshot JobSnapshot(const Snapshot& said, const model::JobState& state,
                           const StagesEstimate& stages) {
  next::Snapshot job = JobSnapshot(said);
  if (!state.opened) return job;
  job.info->engine = state.opened->engine;
  job.info->application_id = state.opened->application_id;
  job.info->user = state.opened->user;
  job.info->queue = state.opened->queue;
  AddStages(state, job);
  if (!said.is_final()) AddForecasts(stages.stages, job);
  if (job.estimate.state == next::EstimateState::kValid) {
    job.estimate.basis = BasisOf(job, state);
    if (job.estimate.basis != next::Basis::kGuess) {
      job.estimate.known_share = stages.end ? stages.known_share : 1;
    }
  }
  job.counts = next::CountParts(job);
  return job;
}

}  // namespace tidemark::monitor
