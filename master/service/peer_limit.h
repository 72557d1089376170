// How many calls one host may have open at a time.
//
// Thread-safe. O(1). Memory: one entry for each host with an open call.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

namespace tidemark::service {

// The host of a peer as gRPC writes it: "ipv4:10.0.0.7:4711" is "ipv4:10.0.0.7"; all clients of a
// unix socket are one.
std::string HostOfPeer(const std::string& peer);

class PeerLimit {
 public:
  // Holds the place of one call.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept
        : limit_(std::exchange(other.limit_, nullptr)), host_(std::move(other.host_)) {}
    Place& operator=(Place&& other) noexcept {
      std::swap(limit_, other.limit_);
      std::swap(host_, other.host_);
      return *this;
    }
    ~Place() {
      if (limit_ != nullptr) limit_->Leave(host_);
    }

   private:
    friend class PeerLimit;
    Place(PeerLimit* limit, std::string host) : limit_(limit), host_(std::move(host)) {}
    PeerLimit* limit_ = nullptr;
    std::string host_;
  };

  // Must outlive all places it has given.
  explicit PeerLimit(std::size_t calls_max) : calls_max_(calls_max) {}

  // ResourceExhausted: streams_per_peer.
  absl::StatusOr<Place> Enter(const std::string& peer);
  std::size_t calls() const;

 private:
  void Leave(const std::string& host);

  const std::size_t calls_max_;
  mutable std::mutex mutex_;  // guards all below
  std::size_t calls_ = 0;
  absl::flat_hash_map<std::string, std::size_t> calls_of_;
};

}  // namespace tidemark::service
