// Accepts connections and hands them to a gRPC server, as a ConnectionTable says.
//
// The accept loop is ours because that of gRPC 1.51 ends for good when descriptors run out
// (CVE-2023-4785), and because gRPC has no means against strangers that works before their calls
// cost memory (ADR 25). This one keeps a descriptor in reserve, keeps a second descriptor of each
// connection to cut it by, and asks the kernel and the HTTP/2 layer what a stranger has sent, since
// services are shown little of it.
//
// Thread-safe. Threads of its own between Serve() and Stop(): one, and those of HandOver.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "master/service/begun_calls.h"
#include "master/service/connection_table.h"
#include "master/service/descriptor.h"
#include "master/service/hand_over.h"
#include "master/service/listen_socket.h"
#include "master/service/log.h"
#include "master/service/metrics.h"

namespace tidemark::service {

class Acceptor {
 public:
  // `calls_prove`: the caller is known, since TLS has asked for a certificate. `metrics`
  // and `log` must outlive it.
  Acceptor(const ConnectionLimits& limits, bool calls_prove, Metrics& metrics, Log& log);
  ~Acceptor();  // Stop()
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  // Binds; clients may connect from now on, and wait. Unavailable: as of Listen().
  absl::Status Listen(const std::string& address);
  // Where it listens.
  const std::string& address() const { return listen_.address; }
  // To be called before the server is built, which then gets its connections from here.
  void Attach(grpc::ServerBuilder& builder,
              const std::shared_ptr<grpc::ServerCredentials>& credentials);
  // The server that was built has started.
  void Serve();
  // Accepts no more connections and closes those that wait. To be called before the server shuts
  // down. Idempotent.
  void Stop();

  // A call of the peer, as gRPC names it, has shown a valid token.
  void BecameKnown(const std::string& peer);
  // Its connection is closed: even to be refused, its calls cost too much.
  void CutOff(const std::string& peer);

 private:
  struct Socket {
    Descriptor descriptor;  // ours; the server has a duplicate once it is admitted
    std::string peer;       // a plain one
  };

  void Loop();
  void AcceptAll(int listener, absl::Time now);
  void Arrive(Descriptor connection, absl::Time now);
  void TellOutOfDescriptors();
  void LookAtStrangers();
  void Review(absl::Time now);
  void Admit(ConnectionId id);
  void Cut(ConnectionTable::Cut cut);
  void Close(ConnectionId id);
  void Watch(int descriptor, std::uint64_t key, std::uint32_t events, int operation) const;
  void Wake() const;

  const bool has_strangers_;
  const bool calls_prove_;
  Metrics& metrics_;
  Log& log_;
  ListenSockets listen_;
  HandOver hand_over_;
  Descriptor reserve_;
  Descriptor events_;  // epoll
  Descriptor wake_;    // eventfd
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
  BegunCalls begun_calls_;  // of the thread

  std::mutex mutex_;  // guards all below
  ConnectionTable table_;
  std::uint64_t arrived_ = 0;
  absl::flat_hash_map<ConnectionId, Socket> sockets_;
  absl::flat_hash_map<std::string, ConnectionId> ids_;  // of peers
};

}  // namespace tidemark::service
