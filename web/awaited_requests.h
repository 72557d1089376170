// Connections of which a whole request is awaited: who sends one byte after the other would hold
// one for ever.
//
// Thread-safe.
#pragma once

#include <map>
#include <mutex>

#include "absl/time/time.h"

namespace tidemark::web {

class AwaitedRequests {
 public:
  // A connection is there, or has been answered; its name is any pointer.
  void Await(const void* connection, int socket, absl::Time now);
  // The request is whole, or the connection is closed. Until then the socket must be open.
  void Forget(const void* connection);
  // Shuts down those that have been awaited since `before` or longer.
  void EndThoseSince(absl::Time before);

 private:
  struct Awaited {
    int socket = -1;
    absl::Time since;
  };
  std::mutex mutex_;  // guards the rest
  std::map<const void*, Awaited> awaited_;
};

}  // namespace tidemark::web
