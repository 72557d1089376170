// Lets calls in: who is it, has it asked too much already, and has its host room for another
// stream?
//
// Thread-safe.
#pragma once

#include <grpcpp/grpcpp.h>

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "master/service/acceptor.h"
#include "master/service/call_pace.h"
#include "master/service/clock.h"
#include "master/service/log.h"
#include "master/service/metrics.h"
#include "master/service/peer_limit.h"
#include "master/service/tokens.h"

namespace tidemark::service {

// A stream that was admitted; holds its place while it lasts.
struct AdmittedStream {
  Caller caller;
  PeerLimit::Place place;
};

class Gate {
 public:
  // Counts the time that answering takes, on the thread that answers.
  class Meter {
   public:
    Meter(Gate& gate, std::string key)
        : gate_(&gate), key_(std::move(key)), began_(ThreadCpuTime()) {}
    Meter(Meter&& other) noexcept
        : gate_(std::exchange(other.gate_, nullptr)),
          key_(std::move(other.key_)),
          began_(other.began_) {}
    Meter& operator=(Meter&&) = delete;
    ~Meter() {
      if (gate_ != nullptr) gate_->Charge(key_, ThreadCpuTime() - began_);
    }
    // The caller that these calls are counted for.
    const std::string& key() const { return key_; }

   private:
    Gate* gate_;
    std::string key_;
    absl::Duration began_;
  };
  // A query that was admitted.
  struct AdmittedCall {
    Caller caller;
    Meter meter;
  };

  // All must outlive the gate and its streams. `calls_per_second` of each caller (call_pace.h); 0:
  // no limit.
  Gate(const Tokens& tokens, Acceptor& acceptor, std::size_t streams_per_peer_max, Metrics& metrics,
       Log& log, double calls_per_second = 0)
      : tokens_(tokens),
        acceptor_(acceptor),
        peers_(streams_per_peer_max),
        metrics_(metrics),
        log_(log),
        pace_(calls_per_second),
        refused_(calls_per_second) {}

  // For the stream of an agent. Unauthenticated; ResourceExhausted: streams_per_peer.
  absl::StatusOr<AdmittedStream> Admit(const grpc::CallbackServerContext& context);
  // The same for a watcher; opening its stream is metered like a query. Also ResourceExhausted:
  // calls_per_second.
  struct AdmittedWatcher {
    AdmittedStream stream;
    Meter meter;
  };
  absl::StatusOr<AdmittedWatcher> AdmitWatcher(const grpc::CallbackServerContext& context);
  // For one query. Unauthenticated; ResourceExhausted: calls_per_second.
  absl::StatusOr<AdmittedCall> Ask(const grpc::CallbackServerContext& context);
  // Adds the time that a call of `key` took elsewhere.
  void Charge(const std::string& key, absl::Duration took) {
    pace_.Charge(key, took, clock_.Now());
  }

  // Counts and logs a refusal, and returns it.
  absl::Status Refuse(absl::Status status, const std::string& peer);

 private:
  absl::StatusOr<Caller> Identify(const grpc::CallbackServerContext& context);
  // Identified, and counted as one call; under which key.
  absl::StatusOr<std::pair<Caller, std::string>> Count(const grpc::CallbackServerContext& context);

  const Tokens& tokens_;
  Acceptor& acceptor_;  // learns who has shown no credentials yet
  PeerLimit peers_;
  Metrics& metrics_;
  Log& log_;
  const Clock clock_;
  CallPace pace_;
  CallPace refused_;  // by connection, those beyond pace_
};

}  // namespace tidemark::service
