// Attaches the path of a wrong field to an error, so that programs can read it.
//
//   const absl::Status status = tidemark::CheckPlan(plan);
//   const tidemark::WrongField wrong = tidemark::WrongFieldOf(status);
//   if (!wrong.path.empty()) Mark(wrong.path, wrong.description);
//
// A path leads from the message that was sent to the field, as in "jobs[2].after[0]". Over gRPC it
// is part of a google.rpc.BadRequest. Thread-safe. The functions share no state.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace tidemark {

// Type URL of the payload that holds the path.
inline constexpr char kFieldPayload[] = "tidemark/field";

// Returns an InvalidArgument error "PATH: DESCRIPTION" with the path as payload, such as
// "jobs[2].after[0]: unknown job prase; did you mean parse?". Invalid UTF-8 becomes '?'. An empty
// path means the whole request.
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
