#include "web/awaited_requests.h"

#include <sys/socket.h>

namespace tidemark::web {

void AwaitedRequests::Await(const void* connection, int socket, absl::Time now) {
  const std::lock_guard lock(mutex_);
  awaited_[connection] = {socket, now};
}

void AwaitedRequests::Forget(const void* connection) {
  const std::lock_guard lock(mutex_);
  awaited_.erase(connection);
}

void AwaitedRequests::EndThoseSince(absl::Time before) {
  const std::lock_guard lock(mutex_);
  for (const auto& [connection, awaited] : awaited_) {
    if (awaited.since <= before) shutdown(awaited.socket, SHUT_RDWR);
  }
}

}  // namespace tidemark::web
