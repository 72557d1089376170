// absl::Status to grpc::Status.
#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace tidemark::service {

// The codes are the same numbers. A refusal by a limit carries a google.rpc.ErrorInfo with the
// reason LIMIT_EXCEEDED and the limit's name.
grpc::Status ToGrpc(const absl::Status& status);

}  // namespace tidemark::service
