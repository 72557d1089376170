// Who may connect: a place for everybody who has shown who he is, and little for strangers.
//
// A connection is a stranger until a call in it has shown a valid token or, where certificates are
// all that is asked for, until a call has come. Strangers are admitted to the server a few of each
// host at a time; the others of that host wait in a line, as descriptors that are not read. An
// admitted stranger has little time, few calls and few bytes to become known; one that takes more
// is cut, and the line of his host then stands still for a while. It also does, for a part of that
// while, by what he took, when a stranger leaves: connecting again gains nothing. A host is an
// address, or the first 64 bits of one in IPv6.
//
// Hundreds of tasks that start on one node come as strangers, too. So while a line lasts, each of
// its host that becomes known makes room for one more at a time; each that is cut halves that room.
// When all lines together are full, the newest of the longest makes way for who comes to a shorter.
//
// So what strangers of one host cost is bounded by what `strangers_per_host_min` connections can
// cost, up to `strangers_per_host_max` while others of that host become known; hosts do not wait
// for each other as long as there is room for strangers in all, and no connection that is known is
// ever touched.
//
// Pure: the caller has the sockets and the clock. Not thread-safe. Cost: Review() O(hosts +
// strangers), Closed() O(line) for one that waits, all else O(log hosts). Memory: one entry for
// each connection, and for each host that has one or whose line stands still.
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

// Of one connection; never used again.
enum class ConnectionId : std::uint64_t {};

struct ConnectionLimits {
  // Otherwise everybody is known.
  bool has_strangers = true;
  std::size_t connections_max = 0;           // in all
  std::size_t connections_per_host_max = 0;  // known ones too
  std::size_t waiting_max = 0;               // in all lines
  std::size_t strangers_max = 32;
  std::size_t strangers_per_host_min = 2;
  std::size_t strangers_per_host_max = 16;  // the more, the more of them become known
  // What the strangers of a host may have sent, together.
  std::uint64_t bytes_per_host_max = 0;
  // Calls that one of them may have begun: for who asks for the health of the master once a second,
  // or for its reflection. gRPC 1.51 takes some 20 kB for each.
  std::uint64_t calls_max = 20;
  // What a stranger who has left is taken to have sent for each call: one that comes and goes at
  // once is not seen calling.
  std::uint64_t bytes_per_unseen_call = 1024;
  // The time to become known; half a dozen round trips to the far side of the world take two
  // seconds.
  absl::Duration time_max = absl::Seconds(10);
  // The same while somebody waits for the place.
  absl::Duration time_max_if_awaited = absl::Seconds(1);
  // How long a line stands still after a stranger who took all the calls or bytes he may.
  absl::Duration penalty = absl::Seconds(2);
};

// What fits a process of `descriptors_max`, of which `descriptors_reserved` are for other things if
// that leaves three quarters to connections; each takes two. `message_bytes_max`: of the first
// call of a client, whose token is looked at when all of it has arrived.
ConnectionLimits LimitsFor(std::size_t descriptors_max, std::size_t descriptors_reserved,
                           std::uint64_t message_bytes_max, bool has_strangers);

enum class CutReason : std::uint8_t { kTime, kCalls, kBytes, kRoom, kPace };

class ConnectionTable {
 public:
  struct Cut {
    ConnectionId id;
    CutReason reason;
  };
  struct Orders {
    std::vector<ConnectionId> admit;  // to the server
    std::vector<Cut> cut;             // no longer in the table
  };

  explicit ConnectionTable(const ConnectionLimits& limits) : limits_(limits) {}

  // A new connection, which waits in its host's line. False: refused, there is no room for it.
  bool Arrive(ConnectionId id, const std::string& host, absl::Time now);
  // What a stranger has done until now, at least; nothing happens if it is none any more.
  void Sent(ConnectionId id, std::uint64_t bytes, std::uint64_t calls);
  // Whether that makes room for somebody who waits.
  bool BecameKnown(ConnectionId id);
  void Closed(ConnectionId id, absl::Time now);

  // Admits and cuts, by everything above and the time.
  Orders Review(absl::Time now);

  const absl::flat_hash_set<ConnectionId>& strangers() const { return strangers_; }  // admitted
  std::size_t waiting() const { return waiting_; }
  std::size_t size() const { return connections_.size(); }

 private:
  enum class State : std::uint8_t { kWaiting, kStranger, kKnown };
  struct Connection {
    std::string host;
    State state = State::kWaiting;
    absl::Time since;  // when it got into the state
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
  };
  struct Host {
    std::size_t connections = 0;
    std::size_t strangers = 0;
    std::size_t earned = 0;  // strangers that may be admitted beyond strangers_per_host_min
    std::uint64_t stranger_bytes = 0;
    std::deque<ConnectionId> line;
    absl::Time stands_still_until = absl::InfinitePast();
  };

  bool MakeRoomInLines(std::size_t line_length, absl::Time now);
  void CutStrangers(absl::Time now, Orders& orders);
  void CutWaiting(absl::Time now, Orders& orders);
  void AdmitWaiting(absl::Time now, Orders& orders);
  bool MayAdmit(const Host& host, absl::Time now) const;
  void EndBeingStranger(ConnectionId id, const Connection& connection);
  // Of a stranger who has not become known.
  void HoldUpLine(const Connection& connection, absl::Time now);
  void Forget(ConnectionId id, absl::Time now);

  const ConnectionLimits limits_;
  absl::flat_hash_map<ConnectionId, Connection> connections_;
  absl::flat_hash_set<ConnectionId> strangers_;
  std::map<std::string, Host> hosts_;
  std::size_t waiting_ = 0;
  std::vector<ConnectionId> displaced_;  // from their lines, since the last review
  std::string served_last_;              // the host from whose line somebody was admitted last
};

}  // namespace tidemark::service
