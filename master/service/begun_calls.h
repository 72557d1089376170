// How many calls each connection of a gRPC server has begun, as its HTTP/2 layer counts them: also
// calls that were reset at once, and those whose message has not arrived, which no service and no
// interceptor sees. It is what gRPC tells in its channelz.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace tidemark::service {

// The name that gRPC gives to a peer, "ipv4:10.0.0.7:4711" or "ipv6:%5Bfe80::1%252%5D:4711", in the
// form by which connections are found: without escapes and zones.
std::string PlainPeer(std::string peer);

class BegunCalls {
 public:
  // Reads the servers that this process has now.
  void LookAtServers();
  // For each peer, in order, the number of calls begun; 0 also while its handshake is under way.
  // O(peers), however many others are connected.
  std::vector<std::uint64_t> Of(const std::vector<std::string>& peers);

 private:
  void FindNewSockets(std::int64_t server_id);

  std::vector<std::int64_t> server_ids_;
  std::int64_t newest_socket_id_ = 0;
  absl::flat_hash_map<std::string, std::int64_t> socket_ids_;  // of peers asked for, and new ones
};

}  // namespace tidemark::service
