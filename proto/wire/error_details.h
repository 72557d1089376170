// Details of a failed call for programs, in addition to the status code and message.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace tidemark::wire {

// Returns a serialized google.rpc.Status for the trailer grpc-status-details-bin. It contains a
// google.rpc.ErrorInfo with the domain "tidemark". The reason is LIMIT_EXCEEDED with the name of
// the `limit`, INVALID_FIELD with the BadRequest of a FieldError(), or otherwise the name of the
// status code. If `retry_after` is positive, the result also contains a google.rpc.RetryInfo.
// REQUIRES: !status.ok().
std::string EncodeErrorDetails(const absl::Status& status, const std::string& limit,
                               absl::Duration retry_after);

// Type URL of the payload in which a client stores this trailer in a Status.
inline constexpr char kErrorDetailsPayload[] = "grpc-status-details-bin";
// Returns the `retry_after` in that payload, or zero if the payload is missing or unreadable.
absl::Duration RetryAfterOf(const absl::Status& status);

}  // namespace tidemark::wire
