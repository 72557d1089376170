// Keeps a stream to the master open while there is something to say: connects when the first
// event comes, gives a connection attempt two seconds, backs off from 100 ms to 30 s, resends
// what was not acknowledged.
//
// Belongs to the background thread. Never waits, but for Close().
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

// Waiting times between attempts: each twice the one before, shortened at random by up to a half so
// that the tasks of a cluster do not come back all at once.
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

// How long a cancelled call may take to end before we leave it to gRPC.
inline constexpr std::chrono::milliseconds kCancelTimeout{50};

class Connection {
 public:
  Connection(std::string address, ClientSecurity security, std::shared_ptr<Shared> shared);

  // Does what is due and says when to be called again, if nothing happens before.
  Instant Poll(Instant now);
  // The next Poll() does not wait for the end of a backoff: for a last attempt.
  void ForgetBackoff() { retry_at_ = Instant::min(); }
  // Breaks the call off, without waiting; Close() is still to come.
  void GiveUp();
  // Ends the stream, politely while there is time, and lets go of it in any case. Last call.
  void Close(Instant deadline);

 private:
  void Open(Instant now);
  Instant PollStream(Instant now);
  void NoteEnd(const grpc::Status& status, Instant now);

  void NoteNoChannel(const absl::Status& status, Instant now);

  const std::string address_;
  const ClientSecurity security_;
  const std::shared_ptr<Shared> shared_;
  // A new channel for each attempt, so that no backoff of gRPC's own gets in the way. The last one
  // stays until the next has taken over: see event_stream.h.
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<EventStream> stream_;
  bool given_up_ = false;  // the stream was cancelled and will end soon
  Instant connect_deadline_{};
  Instant retry_at_ = Instant::min();
  Backoff backoff_;
};

}  // namespace tidemark::agent
