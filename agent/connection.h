// Keeps a stream to the master open while there is something to say: connects when the first
// envelope comes, gives a connection attempt two seconds, backs off from 100 ms to 30 s, resends
// what was not acknowledged.
//
// Belongs to the background thread. Never waits, but for Close().
#pragma once

#include <memory>
#include <random>
#include <string>

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

class Connection {
 public:
  Connection(std::string address, std::shared_ptr<Shared> shared);

  // Does what is due and says when to be called again, if nothing happens before.
  Instant Poll(Instant now);
  // The next Poll() does not wait for the end of a backoff: for a last attempt.
  void ForgetBackoff() { retry_at_ = Instant::min(); }
  // Ends the stream, politely while there is time, and lets go of it in any case.
  void Close(Instant deadline);

 private:
  Instant PollStream(Instant now);
  void NoteEnd(const grpc::Status& status, Instant now);

  const std::string address_;
  const std::shared_ptr<Shared> shared_;
  std::shared_ptr<EventStream> stream_;
  bool given_up_ = false;  // the stream was cancelled and will end soon
  Instant connect_deadline_{};
  Instant retry_at_ = Instant::min();
  Backoff backoff_;
};

}  // namespace tidemark::agent
