// What a failed call says to programs, beside its code and message.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace tidemark::wire {

// A serialized google.rpc.Status for the trailer grpc-status-details-bin. It holds, of domain
// "tidemark", a google.rpc.ErrorInfo: reason LIMIT_EXCEEDED with the name of the `limit` if there
// is one, INVALID_FIELD together with the BadRequest of a FieldError(), otherwise the name of the
// code. Where `retry_after` is more than zero, a google.rpc.RetryInfo. REQUIRES: !status.ok().
std::string EncodeErrorDetails(const absl::Status& status, const std::string& limit,
                               absl::Duration retry_after);

// The payload of a Status under which a client keeps such a trailer as it came.
inline constexpr char kErrorDetailsPayload[] = "grpc-status-details-bin";
// Its `retry_after`; zero where there is none, or none that can be read.
absl::Duration RetryAfterOf(const absl::Status& status);

}  // namespace tidemark::wire
