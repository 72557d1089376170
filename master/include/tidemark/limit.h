// Attaches the name of an exceeded limit to an error, so that programs can read it.
//
//   const absl::Status status = monitor.Apply(event);
//   if (tidemark::ExceededLimit(status) == "reduce_tasks") {
//     // This job is larger than the monitor allows: raise JobLimits::reduce_tasks_max.
//   }
//
// Over gRPC, the name is part of a google.rpc.ErrorInfo. docs/serve.md lists the limits.
// Thread-safe.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/cord.h"

namespace tidemark {

// Type URL of the payload with the limit's name, as in the settings of `tidemark serve`
// ("reduce_tasks" for limits.reduce_tasks).
inline constexpr char kLimitPayload[] = "tidemark/limit";

// Returns a ResourceExhausted error with that payload. `message` is human-readable and explains the
// correction.
inline absl::Status LimitExceeded(const std::string& limit, const std::string& message) {
  absl::Status status = absl::ResourceExhaustedError(message);
  status.SetPayload(kLimitPayload, absl::Cord(limit));
  return status;
}

// Returns the name of the exceeded limit, or an empty string if the Status names none.
inline std::string ExceededLimit(const absl::Status& status) {
  const auto limit = status.GetPayload(kLimitPayload);
  return limit ? std::string(*limit) : std::string();
}

}  // namespace tidemark
