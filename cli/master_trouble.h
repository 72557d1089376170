// What to tell when a master does not answer as hoped.
#pragma once

#include <fmt/format.h>

#include <string>

#include "absl/status/status.h"

namespace tidemark::cli {

// gRPC wraps what the system said into layers of its own words; the system's come last.
inline std::string ReasonOf(const absl::Status& status) {
  const std::string message(status.message());
  const std::size_t last = message.rfind(": ");
  const bool is_wrapped = message.find("last error") != std::string::npos;
  return is_wrapped && last != std::string::npos ? message.substr(last + 2) : message;
}

inline std::string DescribeMasterTrouble(const std::string& address, const absl::Status& status) {
  if (!absl::IsUnavailable(status)) {
    return fmt::format("the master at {}: {}", address, ReasonOf(status));
  }
  return fmt::format(
      "no master answers at {} ({}); start one with `tidemark serve` or name another with --master",
      address, ReasonOf(status));
}

}  // namespace tidemark::cli
