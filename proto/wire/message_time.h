// Converts times and durations to and from messages.
#pragma once

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace tidemark::wire {

// `subject` describes the time and begins the error message, as in "attempt r-3: at".
absl::StatusOr<absl::Time> ParseTime(const google::protobuf::Timestamp& message,
                                     const std::string& subject);
// Both functions fail with InvalidArgument for values that the message type forbids.
// ParseDuration() also rejects negative durations.
absl::StatusOr<absl::Duration> ParseDuration(const google::protobuf::Duration& message,
                                             const std::string& subject);
absl::StatusOr<absl::Duration> ParseElapsed(const google::protobuf::Duration& message,
                                            const std::string& subject);

// Values outside the range of the message type become the nearest limit.
void EncodeTime(absl::Time time, google::protobuf::Timestamp& message);
void EncodeDuration(absl::Duration duration, google::protobuf::Duration& message);

}  // namespace tidemark::wire
