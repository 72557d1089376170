// Reads a whole file, unpacking .zst and .gz.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace tidemark::bench {

// Returns NotFound, DataLoss (contents that do not match the suffix), ResourceExhausted (more than
// 2 GiB unpacked).
absl::StatusOr<std::string> ReadUnpacked(const std::string& path);

}  // namespace tidemark::bench
