#include "master/service/acceptor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>

#include "absl/time/clock.h"
#include "master/service/gate.h"
#include "transport/listen_address.h"

namespace tidemark::service {

namespace {

// Returns a socket that listens on `address`. On failure, the result is closed, and errno is set.
// Port 0 is replaced by the assigned port.
Descriptor ListenAt(sockaddr* address, socklen_t size) {
  Descriptor listener(transport::OpenBound(address, size));
  if (!listener.is_open() || listen(listener.get(), SOMAXCONN) != 0) return {};
  getsockname(listener.get(), address, &size);
  return listener;
}

in_port_t& PortOf(sockaddr_storage& address) {
  return address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                       : reinterpret_cast<sockaddr_in&>(address).sin_port;
}

// Returns at least one socket. Replaces port 0 by the port that the first socket got.
absl::StatusOr<std::vector<Descriptor>> ListenAtHost(transport::HostPort& at) {
  const std::string address = fmt::format("{}:{}", at.host, at.port);
  absl::StatusOr<std::vector<sockaddr_storage>> names = transport::BindAddresses(address);
  if (!names.ok()) return names.status();
  std::vector<Descriptor> sockets;
  int error = EADDRNOTAVAIL;
  for (sockaddr_storage& name : *names) {
    PortOf(name) = htons(at.port);
    Descriptor socket = ListenAt(reinterpret_cast<sockaddr*>(&name), sizeof name);
    if (!socket.is_open()) {
      error = errno;
      continue;
    }
    at.port = ntohs(PortOf(name));
    sockets.push_back(std::move(socket));
  }
  if (sockets.empty()) return transport::CannotListen(address, error);
  return sockets;
}

}  // namespace

absl::StatusOr<ListenSockets> Listen(const std::string& address) {
  ListenSockets listen = {.address = address};
  if (const std::optional<std::string> path = transport::UnixPathOf(address)) {
    // If another process listens on the socket, it must not be replaced.
    if (absl::Status status = transport::CanListen(address); !status.ok()) return status;
    sockaddr_un name = {.sun_family = AF_UNIX};
    RemoveUnixSocket(address);
    path->copy(name.sun_path, sizeof name.sun_path - 1);
    listen.sockets.push_back(ListenAt(reinterpret_cast<sockaddr*>(&name), sizeof name));
    if (!listen.sockets.back().is_open()) return transport::CannotListen(address, errno);
    return listen;
  }
  std::optional<transport::HostPort> at = transport::ParseHostPort(address);
  if (!at) return transport::CannotListen(address, EINVAL);
  absl::StatusOr<std::vector<Descriptor>> sockets;
  const bool is_any = at->host == "0.0.0.0";
  if (is_any) {
    // An IPv6 socket accepts both protocols.
    transport::HostPort both = {.host = "[::]", .port = at->port};
    sockets = ListenAtHost(both);
    if (sockets.ok()) at->port = both.port;
  }
  if (!is_any || !sockets.ok()) sockets = ListenAtHost(*at);
  if (!sockets.ok()) return sockets.status();
  listen.sockets = *std::move(sockets);
  listen.address = fmt::format("{}:{}", at->host, at->port);
  return listen;
}

void RemoveUnixSocket(const std::string& address) {
  const std::optional<std::string> path = transport::UnixPathOf(address);
  struct stat facts {};
  if (path && lstat(path->c_str(), &facts) == 0 && S_ISSOCK(facts.st_mode)) unlink(path->c_str());
}

namespace {

constexpr int kAcceptors = 4;

}  // namespace

void ConnectionFeed::Attach(grpc::ServerBuilder& builder,
                            const std::shared_ptr<grpc::ServerCredentials>& credentials) {
  using Type = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  for (int i = 0; i < kAcceptors; ++i) {
    acceptors_.push_back(
        builder.experimental().AddExternalConnectionAcceptor(Type::FROM_FD, credentials));
  }
}

void ConnectionFeed::Start() {
  for (const auto& acceptor : acceptors_) {
    threads_.emplace_back([this, &acceptor] { FeedTo(*acceptor); });
  }
}

void ConnectionFeed::Add(Descriptor connection) {
  {
    const std::lock_guard lock(mutex_);
    connections_.push_back(std::move(connection));
  }
  changed_.notify_one();
}

void ConnectionFeed::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  connections_.clear();
}

void ConnectionFeed::FeedTo(grpc::experimental::ExternalConnectionAcceptor& acceptor) {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !connections_.empty(); });
    if (stopping_) return;
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
    connection.fd = connections_.front().Release();
    connections_.pop_front();
    lock.unlock();
    acceptor.HandleNewConnection(&connection);
    lock.lock();
  }
}

namespace {

// Interval between checks of unauthenticated connections against their limits. At 30,000 calls per
// second, 150 calls arrive in one interval.
constexpr int kReviewEveryMillis = 5;
// Keys of epoll events that are not connections. They are larger than any connection's key.
constexpr std::uint64_t kWakeKey = ~std::uint64_t{0};
constexpr std::uint64_t kListenerKey = std::uint64_t{1} << 63;
// After this long without acknowledged data, the kernel closes a connection. This is also gRPC's
// default.
constexpr unsigned kUnacknowledgedMillis = 30'000;

// Returns the monotonic time.
absl::Time Now() {
  return absl::UnixEpoch() + absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
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
      return "closed a connection that did not authenticate in time";
    case CutReason::kCalls:
      return "closed an unauthenticated connection: too many calls";
    case CutReason::kBytes:
      return "closed an unauthenticated connection: too many bytes";
    case CutReason::kRoom:
      return "closed an unauthenticated connection: the waiting queues are full, and its host has "
             "the longest";
    case CutReason::kPace:
      return "closed a connection whose call rate far exceeded limits.calls_per_second";
  }
  return "closed a connection";
}

}  // namespace

Acceptor::Acceptor(const ConnectionLimits& limits, bool calls_prove, Metrics& metrics, Log& log)
    : has_unauthenticated_(limits.has_unauthenticated),
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
  feed_.Attach(builder, credentials);
}

void Acceptor::Serve() {
  started_calls_.RefreshServers();
  feed_.Start();
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
  feed_.Stop();
  if (!listen_.sockets.empty()) RemoveUnixSocket(listen_.address);
  listen_.sockets.clear();
  const std::lock_guard lock(mutex_);
  sockets_.clear();  // The server owns the duplicates.
}

void Acceptor::OnAuthenticated(const std::string& peer) {
  if (!has_unauthenticated_) return;
  const std::lock_guard lock(mutex_);
  const auto id = ids_.find(PlainPeer(peer));
  if (id != ids_.end() && table_.OnAuthenticated(id->second)) Wake();
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
      return table_.unauthenticated().empty() && table_.waiting() == 0 ? -1 : kReviewEveryMillis;
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

// Accepts at most kAtATime connections. The next round accepts more.
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
      // The connection was closed before it was accepted, or the kernel is temporarily short of
      // memory.
      if (errno == ENOBUFS || errno == ENOMEM) absl::SleepFor(absl::Milliseconds(10));
      continue;
    }
    ReportOutOfDescriptors();
    reserve_.Close();
    Descriptor(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)).Close();
    reserve_ = Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC));
    // Another thread took the descriptor. An immediate retry would also fail.
    if (!reserve_.is_open()) return absl::SleepFor(absl::Milliseconds(10));
  }
}

void Acceptor::ReportOutOfDescriptors() {
  log_.WarnRarely("out of file descriptors: closed a new connection", absl::Now());
  metrics_.connections_refused.fetch_add(1, std::memory_order_relaxed);
}

void Acceptor::Arrive(Descriptor connection, absl::Time now) {
  const std::optional<transport::Peer> peer = transport::PeerOf(connection.get());
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
    log_.WarnRarely("rejected a connection: too many connections from its host, or in total",
                    absl::Now(), "", {{"peer", HostOfPeer(peer->name)}});
    return;
  }
  Watch(connection.get(), static_cast<std::uint64_t>(id), EPOLLRDHUP, EPOLL_CTL_ADD);
  ids_[peer->name] = id;
  sockets_[id] = {std::move(connection), peer->name};
}

void Acceptor::MeasureUnauthenticated() {
  std::vector<ConnectionId> ids;
  std::vector<std::string> peers;
  {
    const std::lock_guard lock(mutex_);
    ids.assign(table_.unauthenticated().begin(), table_.unauthenticated().end());
    for (const ConnectionId id : ids) peers.push_back(sockets_[id].peer);
  }
  if (ids.empty()) return;
  const std::vector<std::uint64_t> calls = started_calls_.Of(peers);
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (calls_prove_ && calls[i] > 0) table_.OnAuthenticated(ids[i]);
    // No other thread closes connections, so the IDs are valid.
    table_.Sent(ids[i], BytesSent(sockets_[ids[i]].descriptor.get()), calls[i]);
  }
}

void Acceptor::Review(absl::Time now) {
  if (has_unauthenticated_) MeasureUnauthenticated();
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
    ReportOutOfDescriptors();
    return Close(id);
  }
  // The server now detects that the peer has closed the connection, and closes its duplicate.
  Watch(ours, static_cast<std::uint64_t>(id), 0, EPOLL_CTL_MOD);
  feed_.Add(std::move(theirs));
}

void Acceptor::Cut(ConnectionTable::Cut cut) {
  const auto found = sockets_.find(cut.id);
  if (found == sockets_.end()) return;  // The peer has already closed it.
  const Socket& socket = found->second;
  metrics_.connections_cut.fetch_add(1, std::memory_order_relaxed);
  log_.WarnRarely(Words(cut.reason), absl::Now(), "", {{"peer", HostOfPeer(socket.peer)}});
  const int descriptor = socket.descriptor.get();
  shutdown(descriptor, SHUT_RDWR);
  // Discard unread data, which the server would otherwise process.
  constexpr std::size_t kAtATime = std::size_t{1} << 20;
  while (recv(descriptor, nullptr, kAtATime, MSG_TRUNC | MSG_DONTWAIT) > 0) {
  }
  Close(cut.id);
}

void Acceptor::Close(ConnectionId id) {
  const auto socket = sockets_.find(id);
  if (socket == sockets_.end()) return;
  // Closing the descriptor does not remove it from epoll while the server holds a duplicate.
  Watch(socket->second.descriptor.get(), 0, 0, EPOLL_CTL_DEL);
  // The connection may have sent many bytes since the last check.
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
