// absl::Status to grpc::Status.
#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace tidemark::service {

// The codes are the same numbers. Every error carries its details (proto/wire/error_details.h).
grpc::Status ToGrpc(const absl::Status& status);

// A stream that is refused ends at once. `Reactor`: grpc::ServerWriteReactor<...> or the like.
template <typename Reactor>
class RefusedStream final : public Reactor {
 public:
  explicit RefusedStream(const absl::Status& status) { this->Finish(ToGrpc(status)); }
  void OnDone() override { delete this; }
};

}  // namespace tidemark::service
