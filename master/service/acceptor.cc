#include "master/service/acceptor.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "master/service/peer_limit.h"

namespace tidemark::service {
namespace {

// How often connections without a token are checked for using too much. At 30,000 calls a second,
// 150 calls pass in between.
constexpr int kReviewEveryMillis = 5;
// Keys of events above those of connections.
constexpr std::uint64_t kWakeKey = ~std::uint64_t{0};
constexpr std::uint64_t kListenerKey = std::uint64_t{1} << 63;
// The kernel gives up a connection whose data is not acknowledged for so long, as gRPC would ask.
constexpr unsigned kUnacknowledgedMillis = 30'000;

// Of a clock that is never set back.
absl::Time Now() {
  return absl::UnixEpoch() + absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

struct Peer {
  std::string name;  // a plain one
  std::string host;
  bool is_tcp = false;
};

std::string Text(int family, const void* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(family, address, text.data(), text.size());
  return text.data();
}

std::optional<Peer> PeerOf(int connection) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getpeername(connection, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return std::nullopt;
  }
  if (address.ss_family == AF_INET) {
    const auto& ip4 = reinterpret_cast<const sockaddr_in&>(address);
    const std::string host = Text(AF_INET, &ip4.sin_addr);
    return Peer{fmt::format("ipv4:{}:{}", host, ntohs(ip4.sin_port)), host, true};
  }
  if (address.ss_family != AF_INET6) return Peer{"unix:", "unix", false};
  auto& ip6 = reinterpret_cast<sockaddr_in6&>(address);
  const std::uint16_t port = ntohs(ip6.sin6_port);
  if (IN6_IS_ADDR_V4MAPPED(&ip6.sin6_addr)) {
    const std::string host = Text(AF_INET, &ip6.sin6_addr.s6_addr[12]);
    return Peer{fmt::format("ipv4:{}:{}", host, port), host, true};
  }
  const std::string name = fmt::format("ipv6:[{}]:{}", Text(AF_INET6, &ip6.sin6_addr), port);
  // A single customer of a provider has 2^64 addresses, so they count as one.
  std::memset(&ip6.sin6_addr.s6_addr[8], 0, 8);
  return Peer{name, Text(AF_INET6, &ip6.sin6_addr), true};
}

std::uint64_t BytesSent(int connection) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(connection, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  return info.tcpi_bytes_received;
}

const char* Words(CutReason reason) {
  switch (reason) {
    case CutReason::kTime:
      return "closed a connection of a stranger: out of time";
    case CutReason::kCalls:
      return "closed a connection of a stranger: too many calls";
    case CutReason::kBytes:
      return "closed a connection of a stranger: too many bytes";
    case CutReason::kRoom:
      return "closed a connection of a stranger: its host has the longest line, and all are full";
    case CutReason::kPace:
      return "closed a connection that went on calling far beyond limits.calls_per_second";
  }
  return "closed a connection";
}

}  // namespace

Acceptor::Acceptor(const ConnectionLimits& limits, bool calls_prove, Metrics& metrics, Log& log)
    : has_strangers_(limits.has_strangers),
      calls_prove_(calls_prove),
      metrics_(metrics),
      log_(log),
      table_(limits) {}

Acceptor::~Acceptor() { Stop(); }

absl::Status Acceptor::Listen(const std::string& address) {
  absl::StatusOr<ListenSockets> listen = service::Listen(address);
  if (!listen.ok()) return listen.status();
  listen_ = *std::move(listen);
  reserve_ = Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC));
  events_ = Descriptor(epoll_create1(EPOLL_CLOEXEC));
  wake_ = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (reserve_.is_open() && events_.is_open() && wake_.is_open()) return absl::OkStatus();
  return absl::UnavailableError(
      fmt::format("cannot listen on {}: {}", address, std::strerror(errno)));
}

void Acceptor::Attach(grpc::ServerBuilder& builder,
                      const std::shared_ptr<grpc::ServerCredentials>& credentials) {
  hand_over_.Attach(builder, credentials);
}

void Acceptor::Serve() {
  begun_calls_.LookAtServers();
  hand_over_.Start();
  Watch(wake_.get(), kWakeKey, EPOLLIN, EPOLL_CTL_ADD);
  for (const Descriptor& listener : listen_.sockets) {
    Watch(listener.get(), kListenerKey | static_cast<unsigned>(listener.get()), EPOLLIN,
          EPOLL_CTL_ADD);
  }
  thread_ = std::thread([this] { Loop(); });
}

void Acceptor::Stop() {
  if (stopping_.exchange(true)) return;
  if (thread_.joinable()) {
    Wake();
    thread_.join();
  }
  hand_over_.Stop();
  if (!listen_.sockets.empty()) RemoveUnixSocket(listen_.address);
  listen_.sockets.clear();
  const std::lock_guard lock(mutex_);
  sockets_.clear();  // what the server has is its own
}

void Acceptor::BecameKnown(const std::string& peer) {
  if (!has_strangers_) return;
  const std::lock_guard lock(mutex_);
  const auto id = ids_.find(PlainPeer(peer));
  if (id != ids_.end() && table_.BecameKnown(id->second)) Wake();
}

void Acceptor::CutOff(const std::string& peer) {
  const std::lock_guard lock(mutex_);
  const auto id = ids_.find(PlainPeer(peer));
  if (id != ids_.end()) Cut({id->second, CutReason::kPace});
}

void Acceptor::Loop() {
  std::array<epoll_event, 64> events{};
  while (!stopping_) {
    const int timeout = [this] {
      const std::lock_guard lock(mutex_);
      return table_.strangers().empty() && table_.waiting() == 0 ? -1 : kReviewEveryMillis;
    }();
    const int count = epoll_wait(events_.get(), events.data(), events.size(), timeout);
    const absl::Time now = Now();
    for (int i = 0; i < count; ++i) {
      const std::uint64_t key = events[i].data.u64;
      if (key == kWakeKey) {
        eventfd_t ignored = 0;
        eventfd_read(wake_.get(), &ignored);
      } else if ((key & kListenerKey) != 0) {
        AcceptAll(static_cast<int>(key & ~kListenerKey), now);
      } else if ((events[i].events & (EPOLLHUP | EPOLLRDHUP)) != 0) {
        const std::lock_guard lock(mutex_);
        Close(ConnectionId(key));
      }
    }
    Review(now);
  }
}

// The rest is handled in the next round.
void Acceptor::AcceptAll(int listener, absl::Time now) {
  constexpr int kAtATime = 16;
  for (int i = 0; i < kAtATime; ++i) {
    Descriptor connection(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (connection.is_open()) {
      Arrive(std::move(connection), now);
      continue;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) return;
    if (errno != EMFILE && errno != ENFILE) {
      // It was closed before it was accepted; or the kernel is short of memory, which passes.
      if (errno == ENOBUFS || errno == ENOMEM) absl::SleepFor(absl::Milliseconds(10));
      continue;
    }
    TellOutOfDescriptors();
    reserve_.Close();
    Descriptor(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)).Close();
    reserve_ = Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC));
    // Another thread was faster; until it gives one back, to try again at once would be in vain.
    if (!reserve_.is_open()) return absl::SleepFor(absl::Milliseconds(10));
  }
}

void Acceptor::TellOutOfDescriptors() {
  log_.WarnRarely("out of descriptors: closed a new connection", absl::Now());
  metrics_.connections_refused.fetch_add(1, std::memory_order_relaxed);
}

void Acceptor::Arrive(Descriptor connection, absl::Time now) {
  const std::optional<Peer> peer = PeerOf(connection.get());
  if (!peer) return;
  if (peer->is_tcp) {
    const int yes = 1;
    setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    setsockopt(connection.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, &kUnacknowledgedMillis,
               sizeof kUnacknowledgedMillis);
  }
  const std::lock_guard lock(mutex_);
  const ConnectionId id{++arrived_};
  if (!table_.Arrive(id, peer->host, now)) {
    metrics_.connections_refused.fetch_add(1, std::memory_order_relaxed);
    log_.WarnRarely("refused a connection: too many of its host, or in all", absl::Now(), "",
                    {{"peer", HostOfPeer(peer->name)}});
    return;
  }
  Watch(connection.get(), static_cast<std::uint64_t>(id), EPOLLRDHUP, EPOLL_CTL_ADD);
  ids_[peer->name] = id;
  sockets_[id] = {std::move(connection), peer->name};
}

void Acceptor::LookAtStrangers() {
  std::vector<ConnectionId> ids;
  std::vector<std::string> peers;
  {
    const std::lock_guard lock(mutex_);
    ids.assign(table_.strangers().begin(), table_.strangers().end());
    for (const ConnectionId id : ids) peers.push_back(sockets_[id].peer);
  }
  if (ids.empty()) return;
  const std::vector<std::uint64_t> calls = begun_calls_.Of(peers);
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (calls_prove_ && calls[i] > 0) table_.BecameKnown(ids[i]);
    // Of those, none has been closed meanwhile: that is done by this thread.
    table_.Sent(ids[i], BytesSent(sockets_[ids[i]].descriptor.get()), calls[i]);
  }
}

void Acceptor::Review(absl::Time now) {
  if (has_strangers_) LookAtStrangers();
  const std::lock_guard lock(mutex_);
  const ConnectionTable::Orders orders = table_.Review(now);
  for (const ConnectionTable::Cut& cut : orders.cut) Cut(cut);
  for (const ConnectionId id : orders.admit) Admit(id);
  metrics_.connections = table_.size();
  metrics_.connections_waiting = table_.waiting();
}

void Acceptor::Admit(ConnectionId id) {
  const int ours = sockets_[id].descriptor.get();
  Descriptor theirs(fcntl(ours, F_DUPFD_CLOEXEC, 0));
  if (!theirs.is_open()) {
    TellOutOfDescriptors();
    return Close(id);
  }
  // From now on the server notices that the peer has closed it, and then shuts it down.
  Watch(ours, static_cast<std::uint64_t>(id), 0, EPOLL_CTL_MOD);
  hand_over_.Give(std::move(theirs));
}

void Acceptor::Cut(ConnectionTable::Cut cut) {
  const auto found = sockets_.find(cut.id);
  if (found == sockets_.end()) return;  // its client was faster
  const Socket& socket = found->second;
  metrics_.connections_cut.fetch_add(1, std::memory_order_relaxed);
  log_.WarnRarely(Words(cut.reason), absl::Now(), "", {{"peer", HostOfPeer(socket.peer)}});
  const int descriptor = socket.descriptor.get();
  shutdown(descriptor, SHUT_RDWR);
  // What has arrived and was not read yet is thrown away, or the server would go through it.
  constexpr std::size_t kAtATime = std::size_t{1} << 20;
  while (recv(descriptor, nullptr, kAtATime, MSG_TRUNC | MSG_DONTWAIT) > 0) {
  }
  Close(cut.id);
}

void Acceptor::Close(ConnectionId id) {
  const auto socket = sockets_.find(id);
  if (socket == sockets_.end()) return;
  // Closing does not do that while the server has a duplicate.
  Watch(socket->second.descriptor.get(), 0, 0, EPOLL_CTL_DEL);
  // It may have sent much since the last check.
  table_.Sent(id, BytesSent(socket->second.descriptor.get()), 0);
  table_.Closed(id, Now());
  const auto of_peer = ids_.find(socket->second.peer);
  if (of_peer != ids_.end() && of_peer->second == id) ids_.erase(of_peer);
  sockets_.erase(socket);
}

void Acceptor::Watch(int descriptor, std::uint64_t key, std::uint32_t events, int operation) const {
  epoll_event event = {.events = events, .data = {.u64 = key}};
  epoll_ctl(events_.get(), operation, descriptor, &event);
}

void Acceptor::Wake() const { eventfd_write(wake_.get(), 1); }

}  // namespace tidemark::service
