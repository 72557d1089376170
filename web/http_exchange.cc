#include "web/http_exchange.h"

#include <google/protobuf/util/json_util.h>

#include "proto/wire/message_json.h"
#include "tidemark/web/v1/web.pb.h"

namespace tidemark::web {
namespace {

struct Code {
  const char* name;
  int http_status;
};

Code CodeOf(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::INVALID_ARGUMENT:
      return {"INVALID_ARGUMENT", 400};
    case grpc::StatusCode::UNAUTHENTICATED:
      return {"UNAUTHENTICATED", 401};
    case grpc::StatusCode::PERMISSION_DENIED:
      return {"PERMISSION_DENIED", 403};
    case grpc::StatusCode::NOT_FOUND:
      return {"NOT_FOUND", 404};
    case grpc::StatusCode::ALREADY_EXISTS:
      return {"ALREADY_EXISTS", 409};
    case grpc::StatusCode::FAILED_PRECONDITION:
      return {"FAILED_PRECONDITION", 409};
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return {"RESOURCE_EXHAUSTED", 429};
    case grpc::StatusCode::UNIMPLEMENTED:
      return {"UNIMPLEMENTED", 501};
    case grpc::StatusCode::CANCELLED:
    case grpc::StatusCode::UNAVAILABLE:
      return {"UNAVAILABLE", 503};
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return {"DEADLINE_EXCEEDED", 504};
    default:
      return {"INTERNAL", 500};
  }
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
