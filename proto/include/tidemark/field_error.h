// Which field of a request or plan is wrong, so that a program can tell fields apart.
//
//   const absl::Status status = tidemark::CheckPlan(plan);
//   const tidemark::WrongField wrong = tidemark::WrongFieldOf(status);
//   if (!wrong.path.empty()) Mark(wrong.path, wrong.description);
//
// A path goes from the message that was sent to the field, as in "jobs[2].after[0]". Over gRPC the
// same travels as a google.rpc.BadRequest.
// Thread-safe: functions of their arguments.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace tidemark {

// The payload of such a Status: the path.
inline constexpr char kFieldPayload[] = "tidemark/field";

// InvalidArgument "PATH: DESCRIPTION", such as "jobs[2].after[0]: unknown job prase; did you mean
// parse?", with the payload; what is not UTF-8 becomes '?'. An empty path is the whole request.
absl::Status FieldError(std::string_view path, std::string_view description);

// Path and description of the first field that is wrong.
struct WrongField {
  std::string path;
  std::string description;
};
// Empty of a Status that is none of the above.
WrongField WrongFieldOf(const absl::Status& status);

// The same error of a message that is the field `prefix` of the request; any other Status as it is.
absl::Status FieldErrorWithin(std::string_view prefix, const absl::Status& status);

}  // namespace tidemark
