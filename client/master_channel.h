// Channels to a master, and their errors.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tidemark/client_security.h"

namespace tidemark::client {

// Converts a status and keeps its code.
absl::Status FromGrpc(const grpc::Status& status);

// Returns a channel that reconnects quickly and detects a vanished master. Does not connect yet.
absl::StatusOr<std::shared_ptr<grpc::Channel>> MasterChannel(const std::string& address,
                                                             const ClientSecurity& security);

}  // namespace tidemark::client
