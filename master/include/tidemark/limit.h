// Refusals by a limit say which one, so that a program can tell them apart.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/cord.h"

namespace tidemark {

// The payload of such a Status: the limit's name, as in the settings of `tidemark serve`
// ("reduce_tasks" for limits.reduce_tasks).
inline constexpr char kLimitPayload[] = "tidemark/limit";

// ResourceExhausted.
inline absl::Status LimitExceeded(const std::string& limit, const std::string& message) {
  absl::Status status = absl::ResourceExhaustedError(message);
  status.SetPayload(kLimitPayload, absl::Cord(limit));
  return status;
}

// The name of the limit; empty for any other Status.
inline std::string ExceededLimit(const absl::Status& status) {
  const auto limit = status.GetPayload(kLimitPayload);
  return limit ? std::string(*limit) : std::string();
}

}  // namespace tidemark
