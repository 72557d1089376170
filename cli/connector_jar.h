// The jar of one of Tidemark's connectors.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tidemark::cli {

// The absolute path of the connector of agent/`module`. InvalidArgument: it cannot be read, or
// lacks one of these classes, which the connector's settings name, so that every job that has them
// would fail; the message says what to do.
absl::StatusOr<std::string> FindJar(const std::string& jar, const std::string& module,
                                    const std::vector<std::string>& classes);

}  // namespace tidemark::cli
