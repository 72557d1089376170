// Attaches the path of a wrong field to an error, so that programs can read the path.
//
//   const absl::Status status = tidemark::CheckPlan(plan);
//   const tidemark::WrongField wrong = tidemark::WrongFieldOf(status);
//   if (!wrong.path.empty()) Mark(wrong.path, wrong.description);
//
// A path leads from the message that was sent to the field, as in "jobs[2].after[0]". Over gRPC,
// the path is part of a google.rpc.BadRequest. Thread-safe, since the functions share no state.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace tidemark {

// Type URL of the payload that contains the path.
inline constexpr char kFieldPayload[] = "tidemark/field";

// Returns an InvalidArgument error "PATH: DESCRIPTION" with the path as payload, such as
// "jobs[2].after[0]: unknown job prase; did you mean parse?". Replaces invalid UTF-8 by '?'. An
// empty path denotes the whole request.
absl::Status FieldError(std::string_view path, std::string_view description);

// The path and the description of the first wrong field.
struct WrongField {
  std::string path;
  std::string description;
};
// Returns an empty path if FieldError() did not create the status.
WrongField WrongFieldOf(const absl::Status& status);

// Returns the same error with `prefix` before its path. Returns any other status unchanged.
absl::Status FieldErrorWithin(std::string_view prefix, const absl::Status& status);

}  // namespace tidemark
