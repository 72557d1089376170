// What is wrong with settings each of which is allowed. A line for each fault, which begins with
// where the setting was set.
#pragma once

#include <string>
#include <vector>

#include "cli/config/serve_config.h"

namespace tidemark::cli {

// Between several of them. Pure.
std::vector<std::string> Conflicts(const ServeConfig& config);

// Files that have to be there when a master starts, and cannot be read.
std::vector<std::string> UnreadableFiles(const ServeConfig& config);

}  // namespace tidemark::cli
