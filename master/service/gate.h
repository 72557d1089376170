// Lets calls in: who is it, and has its host room for another stream?
//
// Thread-safe.
#pragma once

#include <grpcpp/grpcpp.h>

#include "absl/status/statusor.h"
#include "master/service/acceptor.h"
#include "master/service/log.h"
#include "master/service/metrics.h"
#include "master/service/peer_limit.h"
#include "master/service/tokens.h"

namespace tidemark::service {

// A stream that was let in; holds its place while it lasts.
struct Guest {
  Caller caller;
  PeerLimit::Place place;
};

class Gate {
 public:
  // All must outlive the gate and its guests.
  Gate(const Tokens& tokens, Acceptor& acceptor, std::size_t streams_per_peer_max, Metrics& metrics,
       Log& log)
      : tokens_(tokens),
        acceptor_(acceptor),
        peers_(streams_per_peer_max),
        metrics_(metrics),
        log_(log) {}

  // For a stream. Unauthenticated; ResourceExhausted: streams_per_peer.
  absl::StatusOr<Guest> Admit(const grpc::CallbackServerContext& context);
  // For one question. Unauthenticated.
  absl::StatusOr<Caller> Identify(const grpc::CallbackServerContext& context);

  // Counts and logs a refusal, and returns it.
  absl::Status Refuse(absl::Status status, const std::string& peer);

 private:
  const Tokens& tokens_;
  Acceptor& acceptor_;  // is told who is a stranger
  PeerLimit peers_;
  Metrics& metrics_;
  Log& log_;
};

}  // namespace tidemark::service
