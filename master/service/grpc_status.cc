#include "master/service/grpc_status.h"

#include <string>

#include "tidemark/limit.h"
#include "tidemark/rpc/v1/error_details.pb.h"

namespace tidemark::service {
namespace {

std::string DetailsOf(const absl::Status& status, const std::string& limit) {
  rpc::v1::ErrorInfo info;
  info.set_reason("LIMIT_EXCEEDED");
  info.set_domain("tidemark");
  (*info.mutable_metadata())["limit"] = limit;
  rpc::v1::Status details;
  details.set_code(static_cast<int>(status.code()));
  details.set_message(std::string(status.message()));
  google::protobuf::Any& any = *details.add_details();
  any.set_type_url("type.googleapis.com/google.rpc.ErrorInfo");
  any.set_value(info.SerializeAsString());
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
