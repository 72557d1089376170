// What to tell when a master does not answer as hoped.
#pragma once

#include <fmt/format.h>

#include <string>

#include "absl/status/status.h"

namespace tidemark::cli {

inline std::string DescribeMasterTrouble(const std::string& address, const absl::Status& status) {
  const std::string reason(status.message());
  if (!absl::IsUnavailable(status)) return fmt::format("the master at {}: {}", address, reason);
  return fmt::format(
      "no master answers at {} ({}); start one with `tidemark serve` or name another with --master",
      address, reason);
}

}  // namespace tidemark::cli
