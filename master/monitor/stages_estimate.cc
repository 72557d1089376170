#include "master/monitor/stages_estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string_view>

#include "master/forecast/dag/run_shape.h"
#include "master/forecast/dag/stages_application.h"
#include "master/forecast/dag/stages_now.h"
#include "master/monitor/stragglers.h"
#include "text/counted.h"

namespace tidemark::monitor {
namespace {

// What a tick has time for, so that other jobs need not wait for this one. A stage with tasks left
// takes about 25 us of processor time (update_bench), all others a fraction of that.
constexpr std::size_t kStagesLeftMax = 10'000;
constexpr std::size_t kStagesMax = 50'000;
constexpr std::size_t kEdgesMax = 1'000'000;
constexpr std::size_t kTasksMax = 500'000;  // they are sorted at every tick
// A stage with remaining tasks costs as much as visiting this many stages that have none: 46 us for
// one of 20 tasks, by replays of 1,000 stages.
constexpr std::size_t kStepsToPlace = 50;
// Seconds. Longer times are published as this.
constexpr double kLongest = 1e10;
// A note names so many stages of a cycle.
constexpr std::size_t kNamedMax = 8;

std::string TooMany(std::size_t count, std::string_view what, std::size_t most) {
  if (count <= most) return "";
  return fmt::format("the job has {} {}; the end of a job is predicted for at most {} of them",
                     count, what, most);
}

// Why there is no time for the job; or empty. O(stages).
std::string TooLarge(const model::JobRecord& state) {
  std::size_t tasks = 0;
  for (const auto& [number, stage] : state.stages) tasks += stage.tasks.size();
  for (std::string problem :
       {TooMany(state.stages.size(), "stages", kStagesMax),
        TooMany(state.edges + state.dropped_edges, "dependencies between stages", kEdgesMax),
        TooMany(tasks, "tasks", kTasksMax)}) {
    if (!problem.empty()) return problem;
  }
  return "";
}

std::string TasksWait(std::uint64_t tasks) {
  return fmt::format("{} {}", text::Counted(tasks, "task"), tasks == 1 ? "waits" : "wait");
}

// Returns why no task runs although tasks wait, or an empty text. Past runs (`has_history`) predict
// when the first task starts.
std::string NoExecutor(const workflow::WorkflowNow& seen, bool has_history) {
  const bool has_begun = std::ranges::any_of(
      seen.stages, [](const workflow::StageNow& stage) { return !stage.finished.empty(); });
  if (seen.idle_tasks == 0 || seen.executors > 0 || seen.are_slots_told || has_history) return "";
  const std::string wait =
      fmt::format("no end can be predicted: {} for executors", TasksWait(seen.idle_tasks));
  if (seen.gone_executors > 0) {
    return seen.gone_executors == 1
               ? fmt::format("{}, and the only one is gone", wait)
               : fmt::format("{}, and all {} of them are gone", wait, seen.gone_executors);
  }
  // Some engines report no executors at all.
  return has_begun ? "" : wait + ", and none has registered";
}

std::string CycleNote(const std::vector<std::uint32_t>& cycle) {
  const std::size_t others = cycle.size() - std::min(cycle.size(), kNamedMax);
  return fmt::format(
      "stages {}{} wait for each other in a cycle; all are taken to wait for lower numbers alone",
      fmt::join(std::span(cycle).first(cycle.size() - others), ", "),
      others > 0 ? fmt::format(" and {} others", others) : "");
}

// Those that are done keep their places, which others name as parents, and nothing else.
std::shared_ptr<const cost::StagesLeft> LeftOf(const workflow::WorkflowNow& seen,
                                               estimate::Application application,
                                               const cost::Draws& ends) {
  const auto slots = static_cast<std::uint64_t>(std::max(seen.slots, 1.0));
  for (std::size_t i = 0; i < application.stages.size(); ++i) {
    cost::StageLeft& stage = application.stages[i];
    stage.number = seen.stages[i].number;
    if (stage.work.pending == 0 && stage.work.running.empty()) stage.times = {};
    // What its executors have, also where others leave more to it.
    if (seen.are_slots_told) stage.work.at_once_max = std::min(stage.work.at_once_max, slots);
  }
  return std::make_shared<const cost::StagesLeft>(
      cost::StagesLeft{.stages = std::move(application.stages),
                       .ends = ends,
                       .warm_slots = seen.warm_slots,
                       .slots = seen.are_slots_told ? slots : 0,
                       .slots_per_executor = seen.slots_per_executor});
}

std::vector<const RunProfile*> HistoryOf(const model::JobRecord& state) {
  std::vector<const RunProfile*> history;
  for (const PastRun& run : state.past_runs) {
    if (!run.stages.stages.empty()) history.push_back(&run.stages);
  }
  return history;
}

// Removes the runs whose stages this run refutes; returns whether there were any.
bool DropOtherShapes(const model::JobRecord& state, const workflow::WorkflowNow& seen,
                     std::vector<const RunProfile*>& history) {
  const std::map<std::string, std::string> none;
  const auto& parameters = state.opened ? state.opened->parameters : none;
  return std::erase_if(history, [&](const RunProfile* run) {
           return !workflow::HasShapeOf(*run, seen.stages, run->parameters == parameters);
         }) > 0;
}

absl::Duration Length(double seconds) {
  return absl::Seconds(std::isfinite(seconds) ? std::clamp(seconds, 0.0, kLongest) : kLongest);
}

Range RangeOf(const estimate::Range& range) {
  return {
      .median = Length(range.median), .lower = Length(range.lower), .upper = Length(range.upper)};
}

StageProgress PredictionOf(const workflow::StageNow& stage,
                           const estimate::StageEstimate& estimate) {
  StageProgress prediction = {.id = {0, stage.number}, .is_critical = estimate.is_critical};
  if (stage.finished.empty() && stage.running.empty()) {
    prediction.starts_in = RangeOf(estimate.starts);
  }
  prediction.ends_in = RangeOf(estimate.ends);
  prediction.task_time = Length(estimate.task_time);
  return prediction;
}

// Numbers the groups that have not ended, and then all other stages as one; their names by number.
std::vector<std::string> NumberGroups(const model::JobRecord& state,
                                      const workflow::WorkflowNow& seen,
                                      estimate::Application& application) {
  std::vector<std::string> names;
  std::map<std::string_view, std::size_t> number_of;
  for (const auto& [name, group] : state.groups) {
    if (group.closed) continue;
    number_of.emplace(name, names.size());
    names.push_back(name);
  }
  if (names.empty()) return names;
  for (const workflow::StageNow& stage : seen.stages) {
    const auto opened = state.stages.find(stage.number);
    const auto found =
        number_of.find(opened == state.stages.end() ? stage.group : opened->second.opened.group);
    application.group_of_stage.push_back(found == number_of.end() ? names.size() : found->second);
  }
  return names;
}

// Tasks run, and none has ended.
bool HasJustBegun(const workflow::WorkflowNow& seen) {
  bool has_begun = false;
  for (const workflow::StageNow& stage : seen.stages) {
    if (!stage.finished.empty()) return false;
    has_begun |= !stage.running.empty();
  }
  return has_begun;
}

Basis BasisOf(const workflow::WorkflowNow& seen, bool has_history, double known_share) {
  if (!(known_share > 0)) return Basis::kGuess;
  const bool has_results = std::ranges::any_of(
      seen.stages, [](const workflow::StageNow& stage) { return !stage.finished.empty(); });
  return has_results || !has_history ? Basis::kThisRun : Basis::kEarlierRuns;
}

bool ByIndex(const workflow::RunningTask& a, const workflow::RunningTask& b) {
  return a.id.index < b.id.index;
}

// Running tasks whose times are known one by one.
void AddRunning(const workflow::WorkflowNow& seen, const estimate::Estimate& estimate,
                StagesEstimate& result) {
  for (std::size_t i = 0; i < seen.stages.size(); ++i) {
    const std::vector<workflow::RunningTask>& running = seen.stages[i].running;
    const std::vector<double>& ends = estimate.stages[i].task_ends;
    for (std::size_t n = 0; n < std::min(running.size(), ends.size()); ++n) {
      result.running.push_back(
          {.attempt = running[n].id, .seconds = ends[n], .stage = i, .place = n});
    }
  }
}

// Stages that do not exist yet: those from `there` on.
void AddExpected(const workflow::WorkflowNow& seen, std::size_t there, StagesEstimate& result) {
  for (std::size_t i = there; i < seen.stages.size(); ++i) {
    const workflow::StageNow& stage = seen.stages[i];
    StageInfo& info = result.expected.emplace_back();
    info = {.id = {0, stage.number},
            .name = stage.title.empty() ? stage.name : stage.title,
            .kind = StageKind::kGeneric,
            .group = stage.group};
    for (const std::size_t parent : stage.parents) {
      info.parents.push_back(seen.stages[parent].number);
    }
    std::sort(info.parents.begin(), info.parents.end());
  }
}

}  // namespace

bool IsOfStages(const model::JobRecord& state) {
  return workflow::HasOtherStages(state) || (state.stages.empty() && !HistoryOf(state).empty());
}

workflow::ForetoldRuns ForetellRuns(const model::JobRecord& state) {
  if (!state.opened) return {};
  return workflow::Foretell(HistoryOf(state), state.opened->parameters);
}

StagesEstimate EstimateStages(const model::JobRecord& state, absl::Time now,
                              workflow::StagesTracker& tracker,
                              const workflow::ForetoldRuns* foretold,
                              const cost::StagesLeft* by_key_groups) {
  StagesEstimate result;
  std::vector<const RunProfile*> history = HistoryOf(state);
  result.may_grow = state.has_late_stages && history.empty();
  result.problem = TooLarge(state);
  if (!result.problem.empty()) return result;
  workflow::WorkflowNow& seen = tracker.At(state, now);
  result.steps = tracker.steps();
  // The expected slots come from the newest run, not from the run with the nearest parameters:
  // slots depend on where an application runs, not on its parameters.
  double slots_before = history.empty() ? 0 : history.front()->slots;
  bool is_foretold = foretold != nullptr && !foretold->runs.empty();
  if (is_foretold) {
    history.clear();
    for (const RunProfile& run : foretold->runs) history.push_back(&run);
    result.remark = foretold->remark;
  }
  if (DropOtherShapes(state, seen, history) && history.empty()) {
    slots_before = 0;
    is_foretold = false;
    result.remark = "the past runs under this name had other stages and are ignored";
    result.may_grow = state.has_late_stages;
  }
  result.problem = NoExecutor(seen, !history.empty());
  if (!result.problem.empty()) return result;
  // Executors register one after the other, while the first of them run tasks.
  if (!seen.are_slots_told || HasJustBegun(seen)) {
    seen.slots = std::max(seen.slots, slots_before);
  }
  const std::size_t there = seen.stages.size();
  workflow::ExpectStages(history, seen);
  if (is_foretold) workflow::NoteDeviations(*foretold, seen.stages);
  std::size_t left = 0;
  for (const workflow::StageNow& stage : seen.stages) {
    ++result.steps;
    if (!stage.is_task_count_known) {
      result.problem = fmt::format(
          "no end can be predicted: how many tasks stage {} has is told neither by its engine nor "
          "by an earlier run",
          stage.number);
      return result;
    }
    left += stage.finished.size() < stage.tasks ? 1 : 0;
  }
  result.problem = TooMany(left, "stages with tasks left", kStagesLeftMax);
  if (!result.problem.empty()) return result;
  workflow::StagesOptions options;
  if (is_foretold) {
    options.common_deviation = std::hypot(options.common_deviation, foretold->repeats_deviation);
  }
  if (by_key_groups != nullptr) {
    options.by_key_groups = &by_key_groups->stages.front();
    for (workflow::StageNow& stage : seen.stages) {
      if (stage.number == options.by_key_groups->number) std::ranges::sort(stage.running, ByIndex);
    }
  }
  estimate::Application application =
      workflow::ApplicationOfStages(seen, history, workflow::ResourcingOf(seen), options);
  const std::vector<std::string> groups = NumberGroups(state, seen, application);
  const absl::StatusOr<estimate::Estimate> estimate = estimate::EstimateApplication(application);
  if (!seen.cycle.empty()) result.problem = CycleNote(seen.cycle);
  if (!estimate.ok()) {
    result.problem =
        fmt::format("no end can be predicted: {}", std::string(estimate.status().message()));
    return result;
  }
  result.steps += kStepsToPlace * estimate->stages_placed;
  if (estimate->end.upper >= schedule::kForever) return result;
  result.end = estimate->end;
  result.known_share = estimate->known_share;
  result.basis = BasisOf(seen, !history.empty(), result.known_share);
  for (std::size_t i = 0; i < estimate->stages.size(); ++i) {
    const estimate::StageEstimate& stage = estimate->stages[i];
    StageForecast& forecast = result.stages.emplace_back();
    if (i < there) forecast.stage = seen.stages[i].number;
    forecast.group = seen.stages[i].group;
    forecast.name = seen.stages[i].name;
    forecast.starts_in = absl::Seconds(stage.start);
    forecast.ends_in = absl::Seconds(stage.end);
    forecast.is_critical = stage.is_critical;
    const std::uint64_t tasks = seen.stages[i].tasks;
    if (i < there && seen.stages[i].finished.size() >= tasks) continue;
    StageProgress& prediction =
        result.predictions.emplace_back(PredictionOf(seen.stages[i], stage));
    if (i < there) continue;
    prediction.state = StageState::kExpected;
    prediction.tasks = tasks;
  }
  for (std::size_t k = 0; k < std::min(groups.size(), estimate->group_ends.size()); ++k) {
    result.group_ends.emplace(groups[k], RangeOf(estimate->group_ends[k]));
  }
  AddExpected(seen, there, result);
  result.named_tasks = FindStragglers(state, now, seen, *estimate);
  AddRunning(seen, *estimate, result);
  result.left = LeftOf(seen, std::move(application), estimate->ends);
  return result;
}

}  // namespace tidemark::monitor
