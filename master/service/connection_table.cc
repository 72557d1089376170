#include "master/service/connection_table.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <grpc/grpc.h>
#include <grpc/support/alloc.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"

namespace tidemark::service {

namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

// gRPC numbers sockets shortly before it lists them, so a socket may be listed after sockets with
// higher numbers.
constexpr std::int64_t kLateBy = 100;

// Parses gRPC's JSON answer. Returns an empty value if there is no answer.
Struct Parse(char* json) {
  Struct message;
  if (json != nullptr) {
    const auto status = google::protobuf::util::JsonStringToMessage(json, &message);
    if (!status.ok()) message.Clear();
    gpr_free(json);
  }
  return message;
}

const Value& In(const Struct& message, const char* field) {
  const auto found = message.fields().find(field);
  return found == message.fields().end() ? Value::default_instance() : found->second;
}

// JSON represents 64-bit numbers as strings.
std::int64_t NumberIn(const Struct& message, const char* field) {
  std::int64_t number = 0;
  return absl::SimpleAtoi(In(message, field).string_value(), &number) ? number : 0;
}

}  // namespace

std::string PlainPeer(std::string peer) {
  const std::size_t open = peer.find("%5B");
  if (open == std::string::npos) return peer;
  peer.replace(open, 3, "[");
  const std::size_t close = peer.rfind("%5D");
  if (close == std::string::npos) return peer;
  peer.replace(close, 3, "]");
  const std::size_t zone = peer.find('%');
  if (zone < close) peer.erase(zone, close - zone);
  return peer;
}

void StartedCalls::RefreshServers() {
  server_ids_.clear();
  const Struct servers = Parse(grpc_channelz_get_servers(0));
  for (const Value& server : In(servers, "server").list_value().values()) {
    const Struct& ref = In(server.struct_value(), "ref").struct_value();
    server_ids_.push_back(NumberIn(ref, "serverId"));
  }
}

std::vector<std::uint64_t> StartedCalls::Of(const std::vector<std::string>& peers) {
  if (!std::ranges::all_of(peers, [&](const auto& peer) { return socket_ids_.contains(peer); })) {
    for (const std::int64_t id : server_ids_) FindNewSockets(id);
  }
  absl::flat_hash_map<std::string, std::int64_t> asked_for;
  std::vector<std::uint64_t> calls;
  for (const std::string& peer : peers) {
    calls.push_back(0);
    const auto id = socket_ids_.find(peer);
    if (id == socket_ids_.end()) continue;
    const Struct answer = Parse(grpc_channelz_get_socket(id->second));
    const Struct& data = In(In(answer, "socket").struct_value(), "data").struct_value();
    calls.back() = static_cast<std::uint64_t>(NumberIn(data, "streamsStarted"));
    asked_for.insert(*id);
  }
  socket_ids_ = std::move(asked_for);
  return calls;
}

void StartedCalls::FindNewSockets(std::int64_t server_id) {
  std::int64_t next = std::max<std::int64_t>(newest_socket_id_ - kLateBy, 0);
  for (bool end = false; !end;) {
    const Struct page = Parse(grpc_channelz_get_server_sockets(server_id, next, 0));
    const auto& sockets = In(page, "socketRef").list_value().values();
    for (const Value& socket : sockets) {
      const std::int64_t id = NumberIn(socket.struct_value(), "socketId");
      const std::string name = In(socket.struct_value(), "name").string_value();
      // The name contains the transport and the peer.
      socket_ids_[PlainPeer(name.substr(name.rfind(' ') + 1))] = id;
      newest_socket_id_ = std::max(newest_socket_id_, id);
      next = id + 1;
    }
    end = sockets.empty() || In(page, "end").bool_value();
  }
}

ConnectionLimits LimitsFor(std::size_t descriptors_max, std::size_t descriptors_reserved,
                           std::uint64_t message_bytes_max, bool has_unauthenticated) {
  const std::size_t reserved = std::min(descriptors_reserved, descriptors_max / 4);
  const std::size_t room = (descriptors_max - reserved) / 2;
  ConnectionLimits limits = {.has_unauthenticated = has_unauthenticated, .connections_max = room};
  // If all callers are authenticated, a connection waits only until it is accepted.
  const std::size_t waiting_max =
      has_unauthenticated ? std::min<std::size_t>(room / 4, 1024) : room;
  limits.connections_per_host_max = has_unauthenticated ? room / 2 : room;
  limits.waiting_max = waiting_max;
  // Allowance for handshakes and headers, in addition to the message.
  limits.bytes_per_host_max = message_bytes_max + (std::uint64_t{1} << 20);
  return limits;
}

bool ConnectionTable::Arrive(ConnectionId id, const std::string& host, absl::Time now) {
  if (connections_.size() >= limits_.connections_max) return false;
  Host& of_host = hosts_[host];
  if (of_host.connections >= limits_.connections_per_host_max) return false;
  if (waiting_ >= limits_.waiting_max && !MakeRoomInLines(of_host.line.size(), now)) {
    return false;
  }
  ++of_host.connections;
  of_host.line.push_back(id);
  ++waiting_;
  connections_[id] = {.host = host, .since = now};
  return true;
}

// Cuts the newest connection of the longest line, if that line is then still at least as long as
// the other line.
bool ConnectionTable::MakeRoomInLines(std::size_t line_length, absl::Time now) {
  const auto longest = std::ranges::max_element(
      hosts_, {}, [](const auto& host) { return host.second.line.size(); });
  if (longest->second.line.size() <= line_length + 1) return false;
  displaced_.push_back(longest->second.line.back());
  Forget(displaced_.back(), now);
  return true;
}

void ConnectionTable::Sent(ConnectionId id, std::uint64_t bytes, std::uint64_t calls) {
  const auto found = connections_.find(id);
  if (found == connections_.end() || found->second.state != State::kUnauthenticated) return;
  Connection& connection = found->second;
  Host& host = hosts_[connection.host];
  bytes = std::max(bytes, connection.bytes);
  host.unauthenticated_bytes += bytes - connection.bytes;
  connection.bytes = bytes;
  connection.calls = std::max(calls, connection.calls);
}

bool ConnectionTable::OnAuthenticated(ConnectionId id) {
  const auto found = connections_.find(id);
  if (found == connections_.end() || found->second.state != State::kUnauthenticated) return false;
  LeaveUnauthenticated(id, found->second);
  found->second.state = State::kAuthenticated;
  Host& host = hosts_[found->second.host];
  const std::size_t earned_max =
      limits_.unauthenticated_per_host_max - limits_.unauthenticated_per_host_min;
  if (!host.line.empty()) host.earned = std::min(host.earned + 1, earned_max);
  return waiting_ > 0;
}

void ConnectionTable::Closed(ConnectionId id, absl::Time now) { Forget(id, now); }

ConnectionTable::Orders ConnectionTable::Review(absl::Time now) {
  Orders orders;
  CutUnauthenticated(now, orders);
  CutWaiting(now, orders);
  AdmitWaiting(now, orders);
  for (const ConnectionId id : std::exchange(displaced_, {})) {
    orders.cut.push_back({id, CutReason::kRoom});
  }
  for (auto& [name, host] : hosts_) {
    if (host.line.empty()) host.earned = 0;
  }
  std::erase_if(hosts_, [now](const auto& host) {
    return host.second.connections == 0 && host.second.stands_still_until <= now;
  });
  return orders;
}

void ConnectionTable::CutUnauthenticated(absl::Time now, Orders& orders) {
  const auto reason_to_cut = [&](const Connection& connection) -> std::optional<CutReason> {
    const Host& host = hosts_[connection.host];
    if (connection.calls > limits_.calls_max) return CutReason::kCalls;
    // If a host exceeds its limit, the connections that sent more than an equal share are cut.
    if (host.unauthenticated_bytes > limits_.bytes_per_host_max &&
        connection.bytes > limits_.bytes_per_host_max / host.unauthenticated) {
      return CutReason::kBytes;
    }
    const bool awaited = !host.line.empty() ||
                         (unauthenticated_.size() >= limits_.unauthenticated_max && waiting_ > 0);
    const absl::Duration time = now - connection.since;
    if (time > (awaited ? limits_.time_max_if_awaited : limits_.time_max)) return CutReason::kTime;
    return std::nullopt;
  };
  for (const ConnectionId id : unauthenticated_) {
    if (const auto reason = reason_to_cut(connections_[id])) orders.cut.push_back({id, *reason});
  }
  for (const Cut& cut : orders.cut) {
    hosts_[connections_[cut.id].host].earned /= 2;
    Forget(cut.id, now);
  }
}

void ConnectionTable::CutWaiting(absl::Time now, Orders& orders) {
  std::vector<ConnectionId> late;
  for (const auto& [name, host] : hosts_) {
    for (const ConnectionId id : host.line) {
      // All later connections are newer.
      if (now - connections_[id].since <= limits_.time_max) break;
      late.push_back(id);
    }
  }
  for (const ConnectionId id : late) {
    orders.cut.push_back({id, CutReason::kTime});
    Forget(id, now);
  }
}

bool ConnectionTable::MayAdmit(const Host& host, absl::Time now) const {
  if (host.line.empty()) return false;
  if (!limits_.has_unauthenticated) return true;
  return unauthenticated_.size() < limits_.unauthenticated_max &&
         host.unauthenticated < limits_.unauthenticated_per_host_min + host.earned &&
         host.stands_still_until <= now;
}

// Admits waiting connections, taking hosts in turn.
void ConnectionTable::AdmitWaiting(absl::Time now, Orders& orders) {
  std::size_t passed_over = 0;
  auto next = hosts_.upper_bound(served_last_);
  while (waiting_ > 0 && passed_over < hosts_.size()) {
    if (next == hosts_.end()) next = hosts_.begin();
    auto& [name, host] = *next;
    if (!MayAdmit(host, now)) {
      ++passed_over;
      ++next;
      continue;
    }
    passed_over = 0;
    const ConnectionId id = host.line.front();
    host.line.pop_front();
    --waiting_;
    Connection& connection = connections_[id];
    connection.state =
        limits_.has_unauthenticated ? State::kUnauthenticated : State::kAuthenticated;
    connection.since = now;
    if (limits_.has_unauthenticated) {
      ++host.unauthenticated;
      unauthenticated_.insert(id);
    }
    orders.admit.push_back(id);
    served_last_ = name;
    ++next;
  }
}

void ConnectionTable::LeaveUnauthenticated(ConnectionId id, const Connection& connection) {
  Host& host = hosts_[connection.host];
  --host.unauthenticated;
  host.unauthenticated_bytes -= connection.bytes;
  unauthenticated_.erase(id);
}

void ConnectionTable::PauseLine(const Connection& connection, absl::Time now) {
  const std::uint64_t calls =
      std::max(connection.calls, connection.bytes / limits_.bytes_per_unseen_call);
  const double part = static_cast<double>(calls) / static_cast<double>(limits_.calls_max);
  Host& host = hosts_[connection.host];
  host.stands_still_until =
      std::max(host.stands_still_until, now + std::min(part, 1.0) * limits_.penalty);
}

void ConnectionTable::Forget(ConnectionId id, absl::Time now) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  const Connection& connection = found->second;
  if (connection.state == State::kUnauthenticated) {
    LeaveUnauthenticated(id, connection);
    PauseLine(connection, now);
  }
  Host& host = hosts_[connection.host];
  if (connection.state == State::kWaiting) {
    std::erase(host.line, id);
    --waiting_;
  }
  --host.connections;
  connections_.erase(found);
}

}  // namespace tidemark::service
