// Gives connections to a gRPC server, on threads of its own.
//
// gRPC 1.51 begins to work for a connection on the thread that gives it, and goes on for as long as
// the client has sent more: a flood of calls held that thread, and so everything else it does, for
// 0.4 s. It also lets no other connection in through the same acceptor meanwhile. So there are a
// few acceptors, each with a thread that does nothing else.
//
// Thread-safe.
#pragma once

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "master/service/descriptor.h"

namespace tidemark::service {

class HandOver {
 public:
  HandOver() = default;
  ~HandOver() { Stop(); }
  HandOver(const HandOver&) = delete;
  HandOver& operator=(const HandOver&) = delete;

  // To be called once, before the server is built, which then gets its connections from here.
  void Attach(grpc::ServerBuilder& builder,
              const std::shared_ptr<grpc::ServerCredentials>& credentials);
  // The server that was built has started.
  void Start();
  void Give(Descriptor connection);
  // Closes what was not given yet. To be called before the server shuts down. Idempotent.
  void Stop();

 private:
  void GiveTo(grpc::experimental::ExternalConnectionAcceptor& acceptor);

  std::vector<std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor>> acceptors_;
  std::vector<std::thread> threads_;

  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::deque<Descriptor> connections_;
  bool stopping_ = false;
};

}  // namespace tidemark::service
