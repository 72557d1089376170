#include "master/monitor/stages_estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "master/workflow/match_stages.h"
#include "master/workflow/stages_application.h"
#include "master/workflow/stages_now.h"

namespace tidemark::monitor {
namespace {

// Stages with tasks left that a tick has time for, so that other jobs need not wait for this one:
// each takes about 25 us of processor time (update_bench).
constexpr std::size_t kStagesMax = 10'000;

std::vector<const RunProfile*> HistoryOf(const model::JobState& state) {
  std::vector<const RunProfile*> history;
  for (const PastRun& run : state.past_runs) {
    if (!run.stages.stages.empty()) history.push_back(&run.stages);
  }
  return history;
}

// Of the stages that the estimate adds to those there are: what earlier runs call them.
std::vector<std::string> ExpectedNames(const workflow::WorkflowNow& seen,
                                       const std::vector<const RunProfile*>& history) {
  if (history.empty()) return {};
  const std::vector<StageProfile>& before = history.front()->stages;
  std::vector<bool> is_there(before.size());
  for (const auto match : workflow::MatchStages(seen.stages, *history.front())) {
    if (match) is_there[*match] = true;
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!is_there[i]) names.push_back(before[i].name);
  }
  return names;
}

}  // namespace

bool IsOfStages(const model::JobState& state) {
  return workflow::HasOtherStages(state) || (state.stages.empty() && !HistoryOf(state).empty());
}

StagesEstimate EstimateStages(const model::JobState& state, absl::Time now) {
  const std::vector<const RunProfile*> history = HistoryOf(state);
  workflow::WorkflowNow seen = workflow::StagesNow(state, now);
  if (seen.slots == 0 && !history.empty()) seen.slots = history.front()->slots;
  StagesEstimate result;
  const auto left = static_cast<std::size_t>(std::count_if(
      seen.stages.begin(), seen.stages.end(),
      [](const workflow::StageNow& stage) { return stage.finished.size() < stage.tasks; }));
  if (left > kStagesMax) {
    result.problem = fmt::format(
        "{} stages have tasks left; the end of a job is predicted for at most {} of them", left,
        kStagesMax);
    return result;
  }
  const estimate::Application application =
      workflow::ApplicationOfStages(seen, history, workflow::ResourcingOf(seen), {});
  const absl::StatusOr<estimate::Estimate> estimate = estimate::EstimateApplication(application);
  if (!seen.cycle.empty()) {
    result.problem = fmt::format(
        "stages {} wait for each other in a cycle; all are taken to wait for lower numbers alone",
        fmt::join(seen.cycle, ", "));
  }
  if (!estimate.ok()) {
    result.problem =
        fmt::format("no end can be predicted: {}", std::string(estimate.status().message()));
    return result;
  }
  if (estimate->end.upper >= schedule::kForever) return result;
  result.end = estimate->end;
  const std::vector<std::string> expected = ExpectedNames(seen, history);
  for (std::size_t i = 0; i < estimate->stages.size(); ++i) {
    const estimate::StageEstimate& stage = estimate->stages[i];
    StageForecast& forecast = result.stages.emplace_back();
    if (i < seen.stages.size()) {
      forecast.stage = seen.stages[i].number;
      forecast.name = seen.stages[i].name;
    } else {
      forecast.name = expected[i - seen.stages.size()];
    }
    forecast.starts_in = absl::Seconds(stage.start);
    forecast.ends_in = absl::Seconds(stage.end);
    forecast.is_critical = stage.is_critical;
  }
  return result;
}

}  // namespace tidemark::monitor
