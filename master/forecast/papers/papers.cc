#include "master/forecast/papers/papers.h"

#include "master/forecast/papers/linear_indicators.h"
#include "master/forecast/papers/nearest_fit.h"

namespace tidemark::papers {
namespace {

// Weight of the past in the smoothed ratios. [NF] mentions the EWMA but no factor. Chosen by hand.
constexpr double kEwmaKeep = 0.9;

}  // namespace

std::vector<std::string> JobMethods() {
  return {"nearestfit",    "hadoop",         "jobratio", "taskratio",
          "jobratio-ewma", "taskratio-ewma", "fit"};
}

std::unique_ptr<forecast::ProgressIndicator> MakeJobMethod(const std::string& name) {
  using Scope = RatioIndicator::Scope;
  const auto ratio = [&name](Scope scope, double keep) {
    return std::make_unique<RatioIndicator>(name, scope, keep);
  };
  if (name == "nearestfit") return std::make_unique<NearestFitIndicator>();
  if (name == "fit") {
    return std::make_unique<NearestFitIndicator>(name, NearestFitOptions{.is_fit_only = true});
  }
  if (name == "hadoop") return std::make_unique<HadoopIndicator>();
  if (name == "jobratio") return ratio(Scope::kJob, 0);
  if (name == "taskratio") return ratio(Scope::kTask, 0);
  if (name == "jobratio-ewma") return ratio(Scope::kJob, kEwmaKeep);
  if (name == "taskratio-ewma") return ratio(Scope::kTask, kEwmaKeep);
  return nullptr;
}

}  // namespace tidemark::papers
