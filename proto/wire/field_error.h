// A field of a request that is wrong, by its path.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace tidemark::next::wire {

// The payload of such a Status: a serialized google.rpc.BadRequest, to be sent as it is.
inline constexpr char kBadRequestPayload[] = "type.googleapis.com/google.rpc.BadRequest";

// InvalidArgument "PATH: DESCRIPTION", such as "jobs[2].after[0]: unknown job prase; did you mean
// parse?", with the payload. An empty path is the whole request.
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

}  // namespace tidemark::next::wire
