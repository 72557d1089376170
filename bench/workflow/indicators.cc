#include "bench/workflow/indicators.h"

#include "master/papers/papers.h"

namespace tidemark::bench {
namespace {

Answer Tidemark(const Question& question) {
  const auto estimate = estimate::EstimateApplication(workflow::ApplicationOfStages(
      *question.now, question.history, *question.on, question.options));
  if (!estimate.ok()) return {};
  const estimate::Range& end = estimate->end;
  Answer answer = {.remaining = end.median, .lower = end.lower, .upper = end.upper};
  for (const auto& stage : estimate->stages) answer.stage_ends.push_back(stage.end);
  return answer;
}

}  // namespace

std::vector<std::string> IndicatorNames() {
  std::vector<std::string> names = papers::DagMethods();
  names.emplace_back("tidemark");
  return names;
}

Answer Ask(const std::string& indicator, const Question& question) {
  if (indicator == "tidemark") return Tidemark(question);
  papers::DagForecast forecast = papers::EstimateDag(indicator, {.stages = question.now->stages,
                                                                 .elapsed = question.now->elapsed,
                                                                 .history = question.history,
                                                                 .on = *question.on});
  return {.remaining = forecast.remaining, .stage_ends = std::move(forecast.stage_ends)};
}

}  // namespace tidemark::bench
