// Converts messages to JSON (proto/wire/message_json.h), from JSON, and to HTTP responses.
#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"
#include "grpcpp/support/status.h"
#include "web/http_exchange.h"

namespace tidemark::web {

std::string Json(const google::protobuf::Message& message);
// Parses JSON into `message`. Returns InvalidArgument with the position of the fault.
absl::Status ParseJson(const std::string& untrusted, google::protobuf::Message& message);

HttpAnswer JsonAnswer(const google::protobuf::Message& message);
// Returns a Problem with the corresponding HTTP status, such as 404 for "NOT_FOUND".
HttpAnswer ProblemAnswer(const grpc::Status& status);
HttpAnswer ProblemAnswer(const absl::Status& status);
// Returns the body of such a response.
std::string ProblemJson(const grpc::Status& status);

}  // namespace tidemark::web
