#include "master/model/indicators/linear_indicators.h"
#include "master/model/indicators/nearest_fit_indicator.h"
#include "master/model/indicators/progress_indicator.h"
#include "master/model/indicators/tidemark_indicator.h"

namespace tidemark::model {
namespace {

// Part of the past that the smoothed ratios keep; the papers name EWMA but no factor.
constexpr double kEwmaKeep = 0.9;

}  // namespace

std::vector<std::string> IndicatorNames() {
  return {"tidemark",      "tidemark-without-signals",
          "nearestfit",    "hadoop",
          "jobratio",      "taskratio",
          "jobratio-ewma", "taskratio-ewma"};
}

std::unique_ptr<ProgressIndicator> MakeIndicator(const std::string& name) {
  using Scope = RatioIndicator::Scope;
  using Signals = TidemarkIndicator::Signals;
  if (name == "tidemark") return std::make_unique<TidemarkIndicator>(name, Signals::kUsed);
  if (name == "tidemark-without-signals") {
    return std::make_unique<TidemarkIndicator>(name, Signals::kIgnored);
  }
  if (name == "nearestfit") return std::make_unique<NearestFitIndicator>();
  if (name == "hadoop") return std::make_unique<HadoopIndicator>();
  if (name == "jobratio") return std::make_unique<RatioIndicator>(name, Scope::kJob, 0);
  if (name == "taskratio") return std::make_unique<RatioIndicator>(name, Scope::kTask, 0);
  if (name == "jobratio-ewma")
    return std::make_unique<RatioIndicator>(name, Scope::kJob, kEwmaKeep);
  if (name == "taskratio-ewma") {
    return std::make_unique<RatioIndicator>(name, Scope::kTask, kEwmaKeep);
  }
  return nullptr;
}

}  // namespace tidemark::model
