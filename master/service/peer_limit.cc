#include "master/service/peer_limit.h"

#include <fmt/format.h>

#include "tidemark/limit.h"

namespace tidemark::service {

std::string HostOfPeer(const std::string& peer) {
  if (peer.starts_with("unix")) return "unix";
  const std::size_t colon = peer.rfind(':');
  return colon == std::string::npos ? peer : peer.substr(0, colon);
}

absl::StatusOr<PeerLimit::Place> PeerLimit::Enter(const std::string& peer) {
  std::string host = HostOfPeer(peer);
  const std::lock_guard lock(mutex_);
  std::size_t& calls = calls_of_[host];
  if (calls >= calls_max_) {
    return LimitExceeded(
        "streams_per_peer",
        fmt::format("{}: this master allows at most {} streams per host", host, calls_max_));
  }
  ++calls;
  ++calls_;
  return Place(this, std::move(host));
}

void PeerLimit::Leave(const std::string& host) {
  const std::lock_guard lock(mutex_);
  --calls_;
  const auto entry = calls_of_.find(host);
  if (--entry->second == 0) calls_of_.erase(entry);
}

std::size_t PeerLimit::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

}  // namespace tidemark::service
