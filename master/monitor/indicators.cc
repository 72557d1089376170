#include "master/monitor/indicators.h"

#include "master/forecast/papers/papers.h"
#include "master/forecast/tidemark_indicator.h"

namespace tidemark::monitor {

std::vector<std::string> IndicatorNames() {
  std::vector<std::string> names = {"tidemark", "tidemark-without-signals"};
  for (std::string& method : papers::JobMethods()) names.push_back(std::move(method));
  return names;
}

std::unique_ptr<model::ProgressIndicator> MakeIndicator(const std::string& name) {
  using Signals = model::TidemarkIndicator::Signals;
  if (name == "tidemark") return std::make_unique<model::TidemarkIndicator>(name, Signals::kUsed);
  if (name == "tidemark-without-signals") {
    return std::make_unique<model::TidemarkIndicator>(name, Signals::kIgnored);
  }
  return papers::MakeJobMethod(name);
}

}  // namespace tidemark::monitor
