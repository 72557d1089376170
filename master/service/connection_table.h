// Determines which connections a server admits: all authenticated connections, and a few
// unauthenticated ones.
//
// A connection is unauthenticated until one of its calls has shown a valid token or, if
// certificates suffice, until its first call. The server admits a few unauthenticated connections
// of each host at a time. Further connections of the host wait in a line, and their descriptors are
// not read. An admitted connection has limited time, calls and bytes to authenticate. If it exceeds
// a limit, it is cut and the line of its host pauses. The line also pauses after an unauthenticated
// connection closes, in proportion to its calls, so that reconnecting has no advantage. A host is
// an IPv4 address or the first 64 bits of an IPv6 address.
//
// Hundreds of tasks that start on one node are also unauthenticated at first. Therefore, while a
// host has a line, each of its connections that authenticates allows one more connection at a time.
// Each cut halves that allowance. When all lines together are full, the newest connection of the
// longest line is cut in favour of a shorter line.
//
// The cost of one host's unauthenticated connections is bounded by that of
// `unauthenticated_per_host_min` connections, or of `unauthenticated_per_host_max` connections
// while others of the host authenticate. Hosts do not wait for each other until the total limit is
// reached, and authenticated connections are never cut.
//
// Pure. The caller owns the sockets and the clock. Not thread-safe. Review() takes O(hosts +
// unauthenticated connections) time, Closed() takes O(line) time for a waiting connection, and all
// other operations take O(log hosts) time. Memory: one entry per connection, and per host that has
// a connection or a paused line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"

namespace tidemark::service {

// Counts the calls that each connection of a gRPC server has started, using gRPC's channelz. The
// HTTP/2 layer also counts calls that were reset immediately or have no message yet, which services
// and interceptors never see.
//
// Not thread-safe.

// Returns the key of a peer: gRPC's name for it without escapes and zones. Examples of gRPC's names
// are "ipv4:10.0.0.7:4711" and "ipv6:%5Bfe80::1%252%5D:4711".
std::string PlainPeer(std::string peer);

class StartedCalls {
 public:
  // Updates the list of servers of this process.
  void RefreshServers();
  // Returns the number of started calls of each peer, in order, or 0 for a peer in its handshake.
  // O(peers).
  std::vector<std::uint64_t> Of(const std::vector<std::string>& peers);

 private:
  void FindNewSockets(std::int64_t server_id);

  std::vector<std::int64_t> server_ids_;
  std::int64_t newest_socket_id_ = 0;
  absl::flat_hash_map<std::string, std::int64_t> socket_ids_;  // by peer
};

// Identifies one connection. Values are never reused.
enum class ConnectionId : std::uint64_t {};

struct ConnectionLimits {
  // If false, all connections count as authenticated.
  bool has_unauthenticated = true;
  std::size_t connections_max = 0;           // limit for all hosts together
  std::size_t connections_per_host_max = 0;  // includes authenticated connections
  std::size_t waiting_max = 0;               // waiting connections in all lines together
  std::size_t unauthenticated_max = 32;
  std::size_t unauthenticated_per_host_min = 2;
  // limit while connections of the host authenticate
  std::size_t unauthenticated_per_host_max = 16;
  // Bytes that the unauthenticated connections of a host may have sent in total.
  std::uint64_t bytes_per_host_max = 0;
  // Calls that one connection may start before it authenticates. The number suffices for health
  // checks once a second and for reflection. gRPC 1.51 takes about 20 kB per call.
  std::uint64_t calls_max = 20;
  // Bytes charged per call of a closed connection, since the calls of a connection that closes
  // immediately are not counted.
  std::uint64_t bytes_per_unseen_call = 1024;
  // Time to authenticate. Six round trips across the world take two seconds.
  absl::Duration time_max = absl::Seconds(10);
  // Time to authenticate while another connection of the host waits.
  absl::Duration time_max_if_awaited = absl::Seconds(1);
  // How long a line pauses after a connection has used all its calls or bytes.
  absl::Duration penalty = absl::Seconds(2);
};

// Returns the limits for a process with `descriptors_max` descriptors. Reserves
// `descriptors_reserved` of them for other purposes if three quarters then remain for connections,
// which take two each. `message_bytes_max` limits a client's first message, whose token is checked
// only after the whole message has arrived.
ConnectionLimits LimitsFor(std::size_t descriptors_max, std::size_t descriptors_reserved,
                           std::uint64_t message_bytes_max, bool has_unauthenticated);

enum class CutReason : std::uint8_t { kTime, kCalls, kBytes, kRoom, kPace };

class ConnectionTable {
 public:
  struct Cut {
    ConnectionId id;
    CutReason reason;
  };
  struct Orders {
    std::vector<ConnectionId> admit;  // connections to pass to the server
    std::vector<Cut> cut;             // connections that are no longer in the table
  };

  explicit ConnectionTable(const ConnectionLimits& limits) : limits_(limits) {}

  // Adds a new connection to the line of its host. Returns false if there is no space for it.
  bool Arrive(ConnectionId id, const std::string& host, absl::Time now);
  // Records lower bounds of the bytes that a connection has sent and of the calls that it has
  // started. Has no effect on authenticated connections.
  void Sent(ConnectionId id, std::uint64_t bytes, std::uint64_t calls);
  // Returns true if this allows a waiting connection to be admitted.
  bool OnAuthenticated(ConnectionId id);
  void Closed(ConnectionId id, absl::Time now);

  // Returns the connections to admit and to cut at this time.
  Orders Review(absl::Time now);

  const absl::flat_hash_set<ConnectionId>& unauthenticated() const { return unauthenticated_; }
  std::size_t waiting() const { return waiting_; }
  std::size_t size() const { return connections_.size(); }

 private:
  enum class State : std::uint8_t { kWaiting, kUnauthenticated, kAuthenticated };
  struct Connection {
    std::string host;
    State state = State::kWaiting;
    absl::Time since;  // time of the last state change
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
  };
  struct Host {
    std::size_t connections = 0;
    std::size_t unauthenticated = 0;
    // number of connections that may be admitted beyond unauthenticated_per_host_min
    std::size_t earned = 0;
    std::uint64_t unauthenticated_bytes = 0;
    std::deque<ConnectionId> line;
    absl::Time stands_still_until = absl::InfinitePast();
  };

  bool MakeRoomInLines(std::size_t line_length, absl::Time now);
  void CutUnauthenticated(absl::Time now, Orders& orders);
  void CutWaiting(absl::Time now, Orders& orders);
  void AdmitWaiting(absl::Time now, Orders& orders);
  bool MayAdmit(const Host& host, absl::Time now) const;
  void LeaveUnauthenticated(ConnectionId id, const Connection& connection);
  // Pauses the line after a connection that did not authenticate.
  void PauseLine(const Connection& connection, absl::Time now);
  void Forget(ConnectionId id, absl::Time now);

  const ConnectionLimits limits_;
  absl::flat_hash_map<ConnectionId, Connection> connections_;
  absl::flat_hash_set<ConnectionId> unauthenticated_;
  std::map<std::string, Host> hosts_;
  std::size_t waiting_ = 0;
  // connections removed from their lines since the last review
  std::vector<ConnectionId> displaced_;
  std::string served_last_;  // host whose line was served last
};

}  // namespace tidemark::service
