// Names the wrong field of a request or plan, for programs.
//
//   const absl::Status status = tidemark::CheckPlan(plan);
//   const tidemark::WrongField wrong = tidemark::WrongFieldOf(status);
//   if (!wrong.path.empty()) Mark(wrong.path, wrong.description);
//
// A path leads from the message that was sent to the field, as in "jobs[2].after[0]". Over gRPC it
// is part of a google.rpc.BadRequest. Thread-safe: functions of their arguments.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace tidemark {

// The payload of such a Status: the path.
inline constexpr char kFieldPayload[] = "tidemark/field";

// Returns InvalidArgument "PATH: DESCRIPTION" with the path as payload, such as "jobs[2].after[0]:
// unknown job prase; did you mean parse?". Invalid UTF-8 becomes '?'. An empty path is the whole
// request.
absl::Status FieldError(std::string_view path, std::string_view description);

// Path and description of the first wrong field.
struct WrongField {
  std::string path;
  std::string description;
};
// Returns an empty path for a Status that FieldError() did not make.
WrongField WrongFieldOf(const absl::Status& status);

// Returns the same error with `prefix` before its path. Any other Status stays as it is.
absl::Status FieldErrorWithin(std::string_view prefix, const absl::Status& status);

}  // namespace tidemark
