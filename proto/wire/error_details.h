// The details of a failed call for programs, in addition to its code and message.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace tidemark::wire {

// Returns a serialized google.rpc.Status for the trailer grpc-status-details-bin. It holds a
// google.rpc.ErrorInfo of domain "tidemark": reason LIMIT_EXCEEDED with the name of the `limit`,
// INVALID_FIELD with the BadRequest of a FieldError(), or else the name of the code. If
// `retry_after` is positive, it also holds a google.rpc.RetryInfo. REQUIRES: !status.ok().
std::string EncodeErrorDetails(const absl::Status& status, const std::string& limit,
                               absl::Duration retry_after);

// Type URL of the payload under which a client stores such a trailer in a Status.
inline constexpr char kErrorDetailsPayload[] = "grpc-status-details-bin";
// Returns the `retry_after` of that payload, or zero if it is missing or unreadable.
absl::Duration RetryAfterOf(const absl::Status& status);

}  // namespace tidemark::wire
