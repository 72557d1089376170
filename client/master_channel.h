// A connection to a master, and what went wrong on it.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tidemark/client_security.h"

namespace tidemark::client {

// The codes are the same.
absl::Status FromGrpc(const grpc::Status& status);

// A channel that is back as soon as the master is and notices one that has vanished. Does not
// connect yet.
absl::StatusOr<std::shared_ptr<grpc::Channel>> MasterChannel(const std::string& address,
                                                             const ClientSecurity& security);

}  // namespace tidemark::client
