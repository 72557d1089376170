// The jar of one of Tidemark's connectors.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tidemark::cli {

// Where the connector of agent/`module` is installed with the program; it may not be there.
std::string InstalledJar(const std::string& module);

// The absolute path of the connector of agent/`module`: `jar` or, if that is empty, the one that is
// installed. InvalidArgument: it cannot be read, or lacks one of these classes, without which every
// job that has the connector's settings would fail; the message says what to do.
absl::StatusOr<std::string> FindJar(const std::string& jar, const std::string& module,
                                    const std::vector<std::string>& classes);

}  // namespace tidemark::cli
