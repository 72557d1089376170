#include "master/papers/papers.h"

#include <array>
#include <utility>

#include "master/papers/dag_methods.h"
#include "master/papers/linear_indicators.h"
#include "master/papers/nearest_fit_indicator.h"

namespace tidemark::papers {
namespace {

// Part of the past that the smoothed ratios keep; the papers name EWMA but no factor.
constexpr double kEwmaKeep = 0.9;

using Scope = RatioIndicator::Scope;
using JobMethod = std::unique_ptr<model::ProgressIndicator> (*)(std::string name);

template <Scope scope>
std::unique_ptr<model::ProgressIndicator> Ratio(std::string name) {
  return std::make_unique<RatioIndicator>(std::move(name), scope, 0);
}

template <Scope scope>
std::unique_ptr<model::ProgressIndicator> SmoothedRatio(std::string name) {
  return std::make_unique<RatioIndicator>(std::move(name), scope, kEwmaKeep);
}

constexpr std::array kJobMethods = {
    std::pair<absl::string_view, JobMethod>(
        "nearestfit",
        [](std::string) -> std::unique_ptr<model::ProgressIndicator> {
          return std::make_unique<NearestFitIndicator>();
        }),
    std::pair<absl::string_view, JobMethod>(
        "hadoop",
        [](std::string) -> std::unique_ptr<model::ProgressIndicator> {
          return std::make_unique<HadoopIndicator>();
        }),
    std::pair<absl::string_view, JobMethod>("jobratio", Ratio<Scope::kJob>),
    std::pair<absl::string_view, JobMethod>("taskratio", Ratio<Scope::kTask>),
    std::pair<absl::string_view, JobMethod>("jobratio-ewma", SmoothedRatio<Scope::kJob>),
    std::pair<absl::string_view, JobMethod>("taskratio-ewma", SmoothedRatio<Scope::kTask>)};

using DagMethod = DagForecast (*)(const DagNow& now);

constexpr std::array kDagMethods = {
    std::pair<absl::string_view, DagMethod>("tasks-done", TasksDone),
    std::pair<absl::string_view, DagMethod>("stage-weighted", StageWeighted),
    std::pair<absl::string_view, DagMethod>("critical-path", CriticalPath),
    std::pair<absl::string_view, DagMethod>("mean-times-waves", MeanTimesWaves),
    std::pair<absl::string_view, DagMethod>("alg1-median", Algorithm1Median),
    std::pair<absl::string_view, DagMethod>("alg1-mean", Algorithm1Mean),
    std::pair<absl::string_view, DagMethod>("alg1-fluid", Algorithm1Fluid),
    std::pair<absl::string_view, DagMethod>("alg2-normal", Algorithm2Normal),
    std::pair<absl::string_view, DagMethod>("alg2-empirical", Algorithm2Empirical)};

template <typename Methods>
std::vector<std::string> NamesOf(const Methods& methods) {
  std::vector<std::string> names;
  for (const auto& [name, method] : methods) names.emplace_back(name);
  return names;
}

}  // namespace

std::vector<std::string> JobMethods() { return NamesOf(kJobMethods); }

std::unique_ptr<model::ProgressIndicator> MakeJobMethod(absl::string_view name) {
  for (const auto& [known, make] : kJobMethods) {
    if (known == name) return make(std::string(name));
  }
  return nullptr;
}

std::vector<std::string> DagMethods() { return NamesOf(kDagMethods); }

DagForecast EstimateDag(absl::string_view method, const DagNow& now) {
  for (const auto& [known, estimate] : kDagMethods) {
    if (known == method) return estimate(now);
  }
  return {};
}

}  // namespace tidemark::papers
