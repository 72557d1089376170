// absl::Status to grpc::Status.
#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace tidemark::service {

// The codes are the same numbers. Every error carries its details (proto/wire/error_details.h).
grpc::Status ToGrpc(const absl::Status& status);

}  // namespace tidemark::service
