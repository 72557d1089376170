// What is wrong with settings each of which is allowed. A line for each fault, which begins with
// where the setting was set.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "serve/config/serve_config.h"

namespace tidemark::cli {

// Between several of them. Those whose keys are in `wrong` have a default in the place of what was
// meant: of them nothing is said. Pure.
std::vector<std::string> Conflicts(const ServeConfig& config, const std::set<std::string>& wrong);

// Files that have to be there when a master starts, and cannot be read.
std::vector<std::string> UnreadableFiles(const ServeConfig& config);

// CheckAlerts() of them, unless a setting that it looks at is in `wrong`.
std::vector<std::string> AlertFaults(const ServeConfig& config, const std::set<std::string>& wrong);

}  // namespace tidemark::cli
