// Times and durations to and from their messages, and the words for what is wrong with one.
#pragma once

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace tidemark::wire {

// `subject` says whose time it is and leads the message of the error: "attempt r-3: at".
absl::StatusOr<absl::Time> ParseTime(const google::protobuf::Timestamp& message,
                                     const std::string& subject);
// Refuses what the message type forbids; a negative duration is only refused by the second one.
absl::StatusOr<absl::Duration> ParseDuration(const google::protobuf::Duration& message,
                                             const std::string& subject);
absl::StatusOr<absl::Duration> ParseElapsed(const google::protobuf::Duration& message,
                                            const std::string& subject);

// What the message types cannot hold (infinities, far years) becomes their nearest limit.
void EncodeTime(absl::Time time, google::protobuf::Timestamp& message);
void EncodeDuration(absl::Duration duration, google::protobuf::Duration& message);

}  // namespace tidemark::wire
