#include "client/master_channel.h"

#include "absl/strings/cord.h"
#include "proto/wire/error_details.h"
#include "transport/channel.h"

namespace tidemark::client {

absl::Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  absl::Status error(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  if (!status.error_details().empty()) {
    error.SetPayload(wire::kErrorDetailsPayload, absl::Cord(status.error_details()));
  }
  return error;
}

absl::StatusOr<std::shared_ptr<grpc::Channel>> MasterChannel(const std::string& address,
                                                             const ClientSecurity& security) {
  grpc::ChannelArguments arguments;
  // Ignores HTTP proxy settings, which are not meant for masters.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // Reconnects soon after the master returns.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 200);
  // Also limits the time of a connection attempt.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 2000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2000);
  // Detects a host that has vanished without closing its connections.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  return transport::MakeChannel(address, security, arguments);
}

}  // namespace tidemark::client
