#include "master/service/grpc_status.h"

#include <string>

#include "master/service/call_pace.h"
#include "proto/wire/message_time.h"
#include "tidemark/limit.h"
#include "tidemark/rpc/v1/error_details.pb.h"

namespace tidemark::service {
namespace {

void AddDetail(const char* type, const google::protobuf::Message& detail,
               rpc::v1::Status& details) {
  google::protobuf::Any& any = *details.add_details();
  any.set_type_url(std::string("type.googleapis.com/google.rpc.") + type);
  any.set_value(detail.SerializeAsString());
}

std::string DetailsOf(const absl::Status& status, const std::string& limit) {
  rpc::v1::ErrorInfo info;
  info.set_reason("LIMIT_EXCEEDED");
  info.set_domain("tidemark");
  (*info.mutable_metadata())["limit"] = limit;
  rpc::v1::Status details;
  details.set_code(static_cast<int>(status.code()));
  details.set_message(std::string(status.message()));
  AddDetail("ErrorInfo", info, details);
  if (const absl::Duration delay = RetryDelayOf(status); delay > absl::ZeroDuration()) {
    rpc::v1::RetryInfo retry;
    wire::EncodeDuration(delay, *retry.mutable_retry_delay());
    AddDetail("RetryInfo", retry, details);
  }
  return details.SerializeAsString();
}

}  // namespace

grpc::Status ToGrpc(const absl::Status& status) {
  const auto code = static_cast<grpc::StatusCode>(status.code());
  const std::string limit = ExceededLimit(status);
  if (limit.empty()) return {code, std::string(status.message())};
  return {code, std::string(status.message()), DetailsOf(status, limit)};
}

}  // namespace tidemark::service
