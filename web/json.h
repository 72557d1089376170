// Messages as JSON (proto/wire/message_json.h), from JSON, and as HTTP answers.
#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"
#include "grpcpp/support/status.h"
#include "web/http_exchange.h"

namespace tidemark::web {

std::string Json(const google::protobuf::Message& message);
// InvalidArgument says where it is wrong.
absl::Status ParseJson(const std::string& untrusted, google::protobuf::Message& message);

HttpAnswer JsonAnswer(const google::protobuf::Message& message);
// A Problem: "NOT_FOUND" with 404, ...
HttpAnswer ProblemAnswer(const grpc::Status& status);
HttpAnswer ProblemAnswer(const absl::Status& status);
// Its body.
std::string ProblemJson(const grpc::Status& status);

}  // namespace tidemark::web
