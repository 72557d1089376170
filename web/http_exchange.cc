#include "web/http_exchange.h"

#include <google/protobuf/util/json_util.h>

#include <map>

#include "proto/wire/message_json.h"
#include "tidemark/web/v1/web.pb.h"

namespace tidemark::web {
namespace {

struct Code {
  const char* name;
  int http_status;
};

Code CodeOf(grpc::StatusCode code) {
  static const auto* const kCodes = new std::map<grpc::StatusCode, Code>{
      {grpc::StatusCode::INVALID_ARGUMENT, {"INVALID_ARGUMENT", 400}},
      {grpc::StatusCode::UNAUTHENTICATED, {"UNAUTHENTICATED", 401}},
      {grpc::StatusCode::PERMISSION_DENIED, {"PERMISSION_DENIED", 403}},
      {grpc::StatusCode::NOT_FOUND, {"NOT_FOUND", 404}},
      {grpc::StatusCode::ALREADY_EXISTS, {"ALREADY_EXISTS", 409}},
      {grpc::StatusCode::FAILED_PRECONDITION, {"FAILED_PRECONDITION", 409}},
      {grpc::StatusCode::RESOURCE_EXHAUSTED, {"RESOURCE_EXHAUSTED", 429}},
      {grpc::StatusCode::UNIMPLEMENTED, {"UNIMPLEMENTED", 501}},
      {grpc::StatusCode::CANCELLED, {"UNAVAILABLE", 503}},
      {grpc::StatusCode::UNAVAILABLE, {"UNAVAILABLE", 503}},
      {grpc::StatusCode::DEADLINE_EXCEEDED, {"DEADLINE_EXCEEDED", 504}}};
  const auto found = kCodes->find(code);
  return found == kCodes->end() ? Code{"INTERNAL", 500} : found->second;
}

}  // namespace

std::string Json(const google::protobuf::Message& message) { return wire::MessageJson(message); }

absl::Status ParseJson(const std::string& untrusted, google::protobuf::Message& message) {
  const auto parsed = google::protobuf::util::JsonStringToMessage(untrusted, &message);
  if (parsed.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError("the body is not well formed: " +
                                    std::string(parsed.message()).substr(0, 200));
}

HttpAnswer JsonAnswer(const google::protobuf::Message& message) { return {.body = Json(message)}; }

std::string ProblemJson(const grpc::Status& status) {
  v1::Problem problem;
  problem.set_code(CodeOf(status.error_code()).name);
  problem.set_message(status.error_message());
  return Json(problem);
}

HttpAnswer ProblemAnswer(const grpc::Status& status) {
  return {.status = CodeOf(status.error_code()).http_status, .body = ProblemJson(status)};
}

HttpAnswer ProblemAnswer(const absl::Status& status) {
  return ProblemAnswer(
      grpc::Status(static_cast<grpc::StatusCode>(status.code()), std::string(status.message())));
}

}  // namespace tidemark::web
