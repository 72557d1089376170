// Accepts connections and passes them to a gRPC server in the order of a ConnectionTable.
//
// The accept loop of gRPC 1.51 stops permanently when descriptors run out (CVE-2023-4785). gRPC
// also cannot limit unauthenticated clients before their calls cost memory (ADR 22). This loop
// keeps a spare descriptor, and a duplicate of each connection through which it can close the
// connection. Services see little of what an unauthenticated client sends, so the loop reads the
// amount from the kernel and from the HTTP/2 layer.
//
// Thread-safe. Between Serve() and Stop(), an Acceptor has one thread in addition to the threads of
// ConnectionFeed.
#pragma once

#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "master/service/connection_table.h"
#include "master/service/log.h"
#include "master/service/metrics.h"

namespace tidemark::service {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.Release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { Close(); }

  bool is_open() const { return fd_ >= 0; }
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }
  void Close() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

// The sockets on which a master listens.
struct ListenSockets {
  std::vector<Descriptor> sockets;  // non-blocking
  std::string address;              // as requested, with the assigned port
};

// Listens on host:port or unix:PATH, which CheckListenAddress() must have checked. A name may have
// several addresses; 0.0.0.0 and [::] accept IPv4 and IPv6. The socket of a dead process at PATH is
// replaced. Fails with Unavailable if no address can be bound. The message states the cause.
absl::StatusOr<ListenSockets> Listen(const std::string& address);

// Removes the socket of unix:PATH. Does nothing for other addresses.
void RemoveUnixSocket(const std::string& address);

// Passes connections to a gRPC server on its own threads.
//
// gRPC 1.51 first serves a connection on the thread that passes it to the server, and stays on
// that thread while the client sends data. In one test, a flood of calls blocked that thread for
// 0.4 s. Meanwhile, the same acceptor admits no other connection. This class therefore has several
// acceptors with one thread each.
//
// Thread-safe.
class ConnectionFeed {
 public:
  ConnectionFeed() = default;
  ~ConnectionFeed() { Stop(); }
  ConnectionFeed(const ConnectionFeed&) = delete;
  ConnectionFeed& operator=(const ConnectionFeed&) = delete;

  // Adds the acceptors to the server. Must be called once, before the server is built.
  void Attach(grpc::ServerBuilder& builder,
              const std::shared_ptr<grpc::ServerCredentials>& credentials);
  // Starts the threads. Must be called after the server has started.
  void Start();
  void Add(Descriptor connection);
  // Closes the connections that have not been passed on. Must be called before the server shuts
  // down. Idempotent.
  void Stop();

 private:
  void FeedTo(grpc::experimental::ExternalConnectionAcceptor& acceptor);

  std::vector<std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor>> acceptors_;
  std::vector<std::thread> threads_;

  std::mutex mutex_;  // Guards all members below.
  std::condition_variable changed_;
  std::deque<Descriptor> connections_;
  bool stopping_ = false;
};

class Acceptor {
 public:
  // If `calls_prove` is true, TLS has requested a certificate, so any call authenticates its
  // connection. `metrics` and `log` must outlive the acceptor.
  Acceptor(const ConnectionLimits& limits, bool calls_prove, Metrics& metrics, Log& log);
  ~Acceptor();  // calls Stop()
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  // Binds the address. Clients can then connect, but wait until Serve(). Fails like
  // service::Listen().
  absl::Status Listen(const std::string& address);
  const std::string& address() const { return listen_.address; }
  // Adds the acceptors to the server. Must be called before the server is built.
  void Attach(grpc::ServerBuilder& builder,
              const std::shared_ptr<grpc::ServerCredentials>& credentials);
  // Admits connections. Must be called after the server has started.
  void Serve();
  // Stops accepting and closes waiting connections. Must be called before the server shuts down.
  // Idempotent.
  void Stop();

  // Marks the connection of a peer (in gRPC's notation) as authenticated. Called when a call has
  // shown a valid token.
  void OnAuthenticated(const std::string& peer);
  // Closes the connection of a peer, since even rejecting its calls would cost too much.
  void CutOff(const std::string& peer);

 private:
  struct Socket {
    Descriptor descriptor;  // the server holds a duplicate after admission
    std::string peer;       // as returned by PlainPeer()
  };

  void Loop();
  void AcceptAll(int listener, absl::Time now);
  void Arrive(Descriptor connection, absl::Time now);
  void ReportOutOfDescriptors();
  void MeasureUnauthenticated();
  void Review(absl::Time now);
  void Admit(ConnectionId id);
  void Cut(ConnectionTable::Cut cut);
  void Close(ConnectionId id);
  void Watch(int descriptor, std::uint64_t key, std::uint32_t events, int operation) const;
  void Wake() const;

  const bool has_unauthenticated_;
  const bool calls_prove_;
  Metrics& metrics_;
  Log& log_;
  ListenSockets listen_;
  ConnectionFeed feed_;
  Descriptor reserve_;
  Descriptor events_;  // epoll
  Descriptor wake_;    // eventfd
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
  StartedCalls started_calls_;  // used only by the thread

  std::mutex mutex_;  // Guards all members below.
  ConnectionTable table_;
  std::uint64_t arrived_ = 0;
  absl::flat_hash_map<ConnectionId, Socket> sockets_;
  absl::flat_hash_map<std::string, ConnectionId> ids_;  // by peer
};

}  // namespace tidemark::service
