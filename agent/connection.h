// Keeps a stream to the master open while events wait. Connects at the first event, limits a
// connection attempt to two seconds, backs off from 100 ms to 30 s, and resends unacknowledged
// events.
//
// Belongs to the background thread. Only Close() blocks.
#pragma once

#include <memory>
#include <random>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "agent/event_stream.h"
#include "agent/monotonic.h"
#include "agent/shared.h"

namespace tidemark::agent {

// Computes the pauses between attempts. Each is twice the previous one, shortened at random by up
// to a half. The tasks of a cluster therefore do not reconnect at the same time.
class Backoff {
 public:
  explicit Backoff(std::uint64_t seed) : random_(seed) {}
  absl::Duration Next();
  void Reset() { next_ = kFirst; }

 private:
  static constexpr absl::Duration kFirst = absl::Milliseconds(100);
  static constexpr absl::Duration kMax = absl::Seconds(30);
  absl::Duration next_ = kFirst;
  std::mt19937_64 random_;
};

// The time that a cancelled call has to end before it is leaked.
inline constexpr std::chrono::milliseconds kCancelTimeout{50};

class Connection {
 public:
  Connection(std::string address, ClientSecurity security, std::shared_ptr<Shared> shared);

  // Performs the actions that are due. Returns the time of the next call if no other event occurs.
  Instant Poll(Instant now);
  // Makes the next Poll() skip the backoff, for a last attempt.
  void SkipBackoff() { retry_at_ = Instant::min(); }
  // Cancels the call without blocking. Close() must follow.
  void GiveUp();
  // Ends the stream, gracefully if time permits, and releases it in any case. Must be the last
  // call.
  void Close(Instant deadline);

 private:
  void Open(Instant now);
  Instant PollStream(Instant now);
  void NoteEnd(const grpc::Status& status, Instant now);

  void NoteNoChannel(const absl::Status& status, Instant now);

  const std::string address_;
  const ClientSecurity security_;
  const std::shared_ptr<Shared> shared_;
  // Each attempt has a new channel, so that the backoff of gRPC does not apply. The last channel
  // stays until the next one replaces it; see event_stream.h.
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<EventStream> stream_;
  bool given_up_ = false;  // the stream was cancelled and will end soon
  Instant connect_deadline_{};
  Instant retry_at_ = Instant::min();
  Backoff backoff_;
};

}  // namespace tidemark::agent
