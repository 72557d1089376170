// All progress indicators by name: Tidemark's own and those of the papers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "master/forecast/progress_indicator.h"

namespace tidemark::monitor {

// Null for an unknown name.
std::unique_ptr<model::ProgressIndicator> MakeIndicator(const std::string& name);
// All names that MakeIndicator() knows.
std::vector<std::string> IndicatorNames();

}  // namespace tidemark::monitor
