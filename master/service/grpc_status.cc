#include "master/service/grpc_status.h"

#include <string>

#include "master/service/call_pace.h"
#include "proto/wire/error_details.h"
#include "tidemark/limit.h"

namespace tidemark::service {

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(status.code()), std::string(status.message()),
          wire::EncodeErrorDetails(status, ExceededLimit(status), RetryDelayOf(status))};
}

}  // namespace tidemark::service
