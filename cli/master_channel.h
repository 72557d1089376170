// What all clients of a master have in common.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tidemark/client_security.h"

namespace tidemark::cli {

// How long a question may take.
inline constexpr std::chrono::seconds kAnswerWithin{10};

// The codes are the same.
absl::Status FromGrpc(const grpc::Status& status);

// A channel that is back as soon as the master is and notices one that has vanished. Does not
// connect yet.
absl::StatusOr<std::shared_ptr<grpc::Channel>> MasterChannel(const std::string& address,
                                                             const ClientSecurity& security);

// Reads a stream of snapshots until it ends, `take` returns an error (which is returned), or `stop`
// is requested. `take` is called with each response.
template <typename Response, typename Stream, typename Take>
absl::Status ReadStream(grpc::ClientContext& context, Stream& stream, Take take) {
  absl::Status broken;
  Response response;
  while (stream.Read(&response)) {
    broken = take(response);
    if (broken.ok()) continue;
    context.TryCancel();
    break;
  }
  const grpc::Status status = stream.Finish();
  return broken.ok() ? FromGrpc(status) : broken;
}

}  // namespace tidemark::cli
