#include "master/service/connection_table.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace tidemark::service {

ConnectionLimits LimitsFor(std::size_t descriptors_max, std::size_t descriptors_reserved,
                           std::uint64_t message_bytes_max, bool has_strangers) {
  const std::size_t reserved = std::min(descriptors_reserved, descriptors_max / 4);
  const std::size_t room = (descriptors_max - reserved) / 2;
  ConnectionLimits limits = {.has_strangers = has_strangers, .connections_max = room};
  // Where every caller is known, none waits for longer than it takes to be accepted.
  const std::size_t waiting_max = has_strangers ? std::min<std::size_t>(room / 4, 1024) : room;
  limits.connections_per_host_max = has_strangers ? room / 2 : room;
  limits.waiting_max = waiting_max;
  // Beside the message: handshakes and headers.
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

// Sends away the newest of the longest line, if that leaves it no shorter than the other becomes.
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
  if (found == connections_.end() || found->second.state != State::kStranger) return;
  Connection& connection = found->second;
  Host& host = hosts_[connection.host];
  bytes = std::max(bytes, connection.bytes);
  host.stranger_bytes += bytes - connection.bytes;
  connection.bytes = bytes;
  connection.calls = std::max(calls, connection.calls);
}

bool ConnectionTable::BecameKnown(ConnectionId id) {
  const auto found = connections_.find(id);
  if (found == connections_.end() || found->second.state != State::kStranger) return false;
  EndBeingStranger(id, found->second);
  found->second.state = State::kKnown;
  Host& host = hosts_[found->second.host];
  const std::size_t earned_max = limits_.strangers_per_host_max - limits_.strangers_per_host_min;
  if (!host.line.empty()) host.earned = std::min(host.earned + 1, earned_max);
  return waiting_ > 0;
}

void ConnectionTable::Closed(ConnectionId id, absl::Time now) { Forget(id, now); }

ConnectionTable::Orders ConnectionTable::Review(absl::Time now) {
  Orders orders;
  CutStrangers(now, orders);
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

void ConnectionTable::CutStrangers(absl::Time now, Orders& orders) {
  const auto reason_to_cut = [&](const Connection& connection) -> std::optional<CutReason> {
    const Host& host = hosts_[connection.host];
    if (connection.calls > limits_.calls_max) return CutReason::kCalls;
    // Of those that together sent too much, the ones that sent more than their share.
    if (host.stranger_bytes > limits_.bytes_per_host_max &&
        connection.bytes > limits_.bytes_per_host_max / host.strangers) {
      return CutReason::kBytes;
    }
    const bool awaited =
        !host.line.empty() || (strangers_.size() >= limits_.strangers_max && waiting_ > 0);
    const absl::Duration time = now - connection.since;
    if (time > (awaited ? limits_.time_max_if_awaited : limits_.time_max)) return CutReason::kTime;
    return std::nullopt;
  };
  for (const ConnectionId id : strangers_) {
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
      if (now - connections_[id].since <= limits_.time_max) break;  // those behind came later
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
  if (!limits_.has_strangers) return true;
  return strangers_.size() < limits_.strangers_max &&
         host.strangers < limits_.strangers_per_host_min + host.earned &&
         host.stands_still_until <= now;
}

// One of each host in turn.
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
    connection.state = limits_.has_strangers ? State::kStranger : State::kKnown;
    connection.since = now;
    if (limits_.has_strangers) {
      ++host.strangers;
      strangers_.insert(id);
    }
    orders.admit.push_back(id);
    served_last_ = name;
    ++next;
  }
}

void ConnectionTable::EndBeingStranger(ConnectionId id, const Connection& connection) {
  Host& host = hosts_[connection.host];
  --host.strangers;
  host.stranger_bytes -= connection.bytes;
  strangers_.erase(id);
}

void ConnectionTable::HoldUpLine(const Connection& connection, absl::Time now) {
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
  if (connection.state == State::kStranger) {
    EndBeingStranger(id, connection);
    HoldUpLine(connection, now);
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
