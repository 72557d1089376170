#include "master/monitor/stages_estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "master/forecast/dag/stages_application.h"
#include "master/forecast/dag/stages_now.h"
#include "master/forecast/dag/workflow_state.h"
#include "master/monitor/stragglers.h"
#include "text/counted.h"

namespace tidemark::monitor {
namespace {

// Limits the time of a tick, so that other jobs need not wait. A stage with remaining tasks takes
// about 25 us of processor time (update_bench), and other stages a fraction of that.
constexpr std::size_t kStagesLeftMax = 10'000;
constexpr std::size_t kEstimatedStagesMax = 50'000;
constexpr std::size_t kEdgesMax = 1'000'000;
constexpr std::size_t kTasksMax = 500'000;  // Tasks are sorted at every tick.
// A stage with remaining tasks costs as much as visiting this many stages without remaining tasks.
// In replays of 1,000 stages, a stage of 20 tasks takes 46 us.
constexpr std::size_t kStepsToPlace = 50;
// Upper bound of published times, in seconds.
constexpr double kLongest = 1e10;
// Maximum number of stages that a note on a cycle names.
constexpr std::size_t kNamedMax = 8;

std::string TooMany(std::size_t count, std::string_view what, std::size_t most) {
  if (count <= most) return "";
  return fmt::format("the job has {} {}; a forecast supports at most {}", count, what, most);
}

// Returns why the job is too large to estimate, or an empty string. O(stages).
std::string TooLarge(const facts::JobRecord& state) {
  std::size_t tasks = 0;
  for (const auto& [number, stage] : state.stages) tasks += stage.tasks.size();
  for (std::string problem :
       {TooMany(state.stages.size(), "stages", kEstimatedStagesMax),
        TooMany(state.edges + state.dropped_edges, "dependencies between stages", kEdgesMax),
        TooMany(tasks, "tasks", kTasksMax)}) {
    if (!problem.empty()) return problem;
  }
  return "";
}

std::string TasksWait(std::uint64_t tasks) {
  return fmt::format("{} {}", text::Counted(tasks, "task"), tasks == 1 ? "waits" : "wait");
}

// Returns why no task runs although tasks wait, or an empty string. If there are past runs
// (`has_history`), they predict when the first task starts.
std::string NoExecutor(const dag::WorkflowNow& seen, bool has_history) {
  const bool has_begun = std::ranges::any_of(
      seen.stages, [](const dag::StageNow& stage) { return !stage.finished.empty(); });
  if (seen.idle_tasks == 0 || seen.executors > 0 || seen.are_slots_reported || has_history)
    return "";
  const std::string wait =
      fmt::format("cannot predict the end: {} for executors", TasksWait(seen.idle_tasks));
  if (seen.gone_executors > 0) {
    return seen.gone_executors == 1
               ? fmt::format("{}, and the only executor has exited", wait)
               : fmt::format("{}, and all {} executors have exited", wait, seen.gone_executors);
  }
  // Some engines report no executors at all.
  return has_begun ? "" : wait + ", and none has registered";
}

std::string CycleNote(const std::vector<std::uint32_t>& cycle) {
  const std::size_t others = cycle.size() - std::min(cycle.size(), kNamedMax);
  return fmt::format(
      "stages {}{} wait for each other in a cycle; the forecast ignores parents with higher "
      "numbers",
      fmt::join(std::span(cycle).first(cycle.size() - others), ", "),
      others > 0 ? fmt::format(" and {} others", others) : "");
}

// Returns the stages for other forecasts. Finished stages keep only their indexes, since other
// stages refer to them as parents.
std::shared_ptr<const durations::RemainingStages> LeftOf(const dag::WorkflowNow& seen,
                                                         dag::Application application,
                                                         const durations::Draws& ends) {
  const auto slots = static_cast<std::uint64_t>(std::max(seen.slots, 1.0));
  for (std::size_t i = 0; i < application.stages.size(); ++i) {
    durations::RemainingStage& stage = application.stages[i];
    stage.number = seen.stages[i].number;
    if (stage.work.pending == 0 && stage.work.running.empty()) stage.times = {};
    // The stage uses at most the slots of the job's executors, even if other jobs leave more slots
    // free.
    if (seen.are_slots_reported) stage.work.at_once_max = std::min(stage.work.at_once_max, slots);
  }
  return std::make_shared<const durations::RemainingStages>(
      durations::RemainingStages{.stages = std::move(application.stages),
                                 .ends = ends,
                                 .warm_slots = seen.warm_slots,
                                 .slots = seen.are_slots_reported ? slots : 0,
                                 .slots_per_executor = seen.slots_per_executor});
}

std::vector<const PastRun*> HistoryOf(const facts::JobRecord& state) {
  std::vector<const PastRun*> history;
  for (const PastRun& run : state.past_runs) {
    if (!run.stages.empty()) history.push_back(&run);
  }
  return history;
}

// Removes the past runs whose stages this run refutes, and sorts the others by contradictions.
// Returns whether any was removed.
bool DropOtherShapes(const facts::JobRecord& state, const dag::WorkflowNow& seen,
                     std::vector<const PastRun*>& history) {
  const std::map<std::string, std::string> none;
  const auto& parameters = state.opened ? state.opened->parameters : none;
  std::vector<std::pair<std::size_t, const PastRun*>> kept;
  for (const PastRun* run : history) {
    const auto contradictions =
        dag::ContradictionsOf(*run, seen.stages, run->parameters == parameters);
    if (contradictions) kept.emplace_back(*contradictions, run);
  }
  std::ranges::stable_sort(kept, {}, [](const auto& one) { return one.first; });
  const bool is_any_removed = kept.size() < history.size();
  history.clear();
  for (const auto& [contradictions, run] : kept) history.push_back(run);
  return is_any_removed;
}

absl::Duration Length(double seconds) {
  return absl::Seconds(std::isfinite(seconds) ? std::clamp(seconds, 0.0, kLongest) : kLongest);
}

Range RangeOf(const dag::SecondsRange& range) {
  return {
      .median = Length(range.median), .lower = Length(range.lower), .upper = Length(range.upper)};
}

StageProgress PredictionOf(const dag::StageNow& stage, const dag::StageEnds& estimate) {
  StageProgress prediction = {.id = {0, stage.number}, .is_critical = estimate.is_critical};
  if (stage.finished.empty() && stage.running.empty()) {
    prediction.starts_in = RangeOf(estimate.starts);
  }
  prediction.ends_in = RangeOf(estimate.ends);
  prediction.task_time = Length(estimate.task_time);
  return prediction;
}

// Numbers the open groups, and then all other stages as one group. Returns the names by number.
std::vector<std::string> NumberGroups(const facts::JobRecord& state, const dag::WorkflowNow& seen,
                                      dag::Application& application) {
  std::vector<std::string> names;
  std::map<std::string_view, std::size_t> number_of;
  for (const auto& [name, group] : state.groups) {
    if (group.closed) continue;
    number_of.emplace(name, names.size());
    names.push_back(name);
  }
  if (names.empty()) return names;
  for (const dag::StageNow& stage : seen.stages) {
    const auto opened = state.stages.find(stage.number);
    const auto found =
        number_of.find(opened == state.stages.end() ? stage.group : opened->second.opened.group);
    application.group_of_stage.push_back(found == number_of.end() ? names.size() : found->second);
  }
  return names;
}

// Returns true if tasks run and none has ended.
bool HasJustBegun(const dag::WorkflowNow& seen) {
  bool has_begun = false;
  for (const dag::StageNow& stage : seen.stages) {
    if (!stage.finished.empty()) return false;
    has_begun |= !stage.running.empty();
  }
  return has_begun;
}

// The half-width below the median, as a logarithm, grows by this factor times the unknown share of
// the remaining work. The guessed times of unknown stages are more often too long than too short.
// In a simulation from recorded predictions of tpch-live-no-history, the coverage with 0 is 0.82
// instead of 0.92.
constexpr double kUnknownBelow = 1.5;

// Returns `end` with a lower bound that allows for the unknown share of the remaining work.
dag::SecondsRange WithLowerBound(double known_share, dag::SecondsRange end) {
  const double below = 1 + kUnknownBelow * (1 - known_share);
  if (end.median > 0) end.lower = end.median * std::pow(end.lower / end.median, below);
  return end;
}

// Once a task has ended, its stage is evidence for later stages without results. The basis does not
// alternate between the stages.
Basis BasisOf(const dag::WorkflowNow& seen, bool has_history, double known_share) {
  const bool has_results = std::ranges::any_of(
      seen.stages, [](const dag::StageNow& stage) { return !stage.finished.empty(); });
  if (has_results) return Basis::kThisRun;
  if (!(known_share > 0)) return Basis::kGuess;
  return has_history ? Basis::kEarlierRuns : Basis::kThisRun;
}

bool ByIndex(const dag::RunningTask& a, const dag::RunningTask& b) {
  return a.id.index < b.id.index;
}

// Adds the running tasks with individual times.
void AddRunning(const dag::WorkflowNow& seen, const dag::ApplicationForecast& estimate,
                StagesEstimate& result) {
  for (std::size_t i = 0; i < seen.stages.size(); ++i) {
    const std::vector<dag::RunningTask>& running = seen.stages[i].running;
    const std::vector<double>& ends = estimate.stages[i].task_ends;
    for (std::size_t n = 0; n < std::min(running.size(), ends.size()); ++n) {
      result.running.push_back(
          {.attempt = running[n].id, .seconds = ends[n], .stage = i, .place = n});
    }
  }
}

// Adds the expected stages, which begin at index `there`.
void AddExpected(const dag::WorkflowNow& seen, std::size_t there, StagesEstimate& result) {
  for (std::size_t i = there; i < seen.stages.size(); ++i) {
    const dag::StageNow& stage = seen.stages[i];
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

bool IsOfStages(const facts::JobRecord& state) {
  return dag::HasOtherStages(state) || (state.stages.empty() && !HistoryOf(state).empty());
}

dag::AdjustedRuns AdjustPastRuns(const facts::JobRecord& state) {
  if (!state.opened) return {};
  return dag::AdjustRuns(HistoryOf(state), state.opened->parameters);
}

StagesEstimate EstimateStages(const facts::JobRecord& state, absl::Time now,
                              dag::StagesTracker& tracker, const dag::AdjustedRuns* adjusted_runs,
                              const durations::RemainingStages* by_key_groups) {
  StagesEstimate result;
  std::vector<const PastRun*> history = HistoryOf(state);
  result.may_grow = state.has_late_stages && history.empty();
  result.problem = TooLarge(state);
  if (!result.problem.empty()) return result;
  dag::WorkflowNow& seen = tracker.At(state, now);
  result.steps = tracker.steps();
  // The expected slots come from the newest run, not from the run with the nearest parameters,
  // since slots depend on where an application runs and not on its parameters.
  double slots_before = history.empty() ? 0 : history.front()->slots;
  bool is_adjusted = adjusted_runs != nullptr && !adjusted_runs->runs.empty();
  if (is_adjusted) {
    history.clear();
    for (const PastRun& run : adjusted_runs->runs) history.push_back(&run);
    result.remark = adjusted_runs->remark;
  }
  if (DropOtherShapes(state, seen, history) && history.empty()) {
    slots_before = 0;
    is_adjusted = false;
    result.remark = "the past runs with this name had different stages and are ignored";
    result.may_grow = state.has_late_stages;
  }
  result.problem = NoExecutor(seen, !history.empty());
  if (!result.problem.empty()) return result;
  // Executors register at different times, while the first executors already run tasks.
  if (!seen.are_slots_reported || HasJustBegun(seen)) {
    seen.slots = std::max(seen.slots, slots_before);
  }
  const std::size_t there = seen.stages.size();
  dag::AddExpectedStages(history, seen);
  if (is_adjusted) dag::SetDeviations(*adjusted_runs, seen.stages);
  std::size_t left = 0;
  for (const dag::StageNow& stage : seen.stages) {
    ++result.steps;
    if (!stage.is_task_count_known) {
      result.problem = fmt::format(
          "cannot predict the end: neither reports nor past runs contain the number of tasks in "
          "stage {}",
          stage.number);
      return result;
    }
    left += stage.finished.size() < stage.tasks ? 1 : 0;
  }
  result.problem = TooMany(left, "stages with remaining tasks", kStagesLeftMax);
  if (!result.problem.empty()) return result;
  dag::StagesOptions options;
  if (is_adjusted) {
    options.common_deviation =
        std::hypot(options.common_deviation, adjusted_runs->repeats_deviation);
  }
  if (by_key_groups != nullptr) {
    options.by_key_groups = &by_key_groups->stages.front();
    for (dag::StageNow& stage : seen.stages) {
      if (stage.number == options.by_key_groups->number) std::ranges::sort(stage.running, ByIndex);
    }
  }
  dag::Application application =
      dag::ApplicationOfStages(seen, history, dag::ResourcingOf(seen), options);
  const std::vector<std::string> groups = NumberGroups(state, seen, application);
  const absl::StatusOr<dag::ApplicationForecast> estimate = dag::ForecastApplication(application);
  if (!seen.cycle.empty()) result.problem = CycleNote(seen.cycle);
  if (!estimate.ok()) {
    result.problem =
        fmt::format("cannot predict the end: {}", std::string(estimate.status().message()));
    return result;
  }
  result.steps += kStepsToPlace * estimate->stages_placed;
  if (estimate->end.upper >= placement::kForever) return result;
  result.known_share = estimate->known_share;
  result.end = WithLowerBound(result.known_share, estimate->end);
  result.basis = BasisOf(seen, !history.empty(), result.known_share);
  for (std::size_t i = 0; i < estimate->stages.size(); ++i) {
    const dag::StageEnds& stage = estimate->stages[i];
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
    const double known = estimate->group_known_shares[k];
    result.group_ends.emplace(
        groups[k], GroupEnd{RangeOf(WithLowerBound(known, estimate->group_ends[k])), known});
  }
  AddExpected(seen, there, result);
  result.named_tasks = FindStragglers(state, now, seen, *estimate);
  AddRunning(seen, *estimate, result);
  result.left = LeftOf(seen, std::move(application), estimate->ends);
  return result;
}

}  // namespace tidemark::monitor
