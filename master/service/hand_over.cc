#include "master/service/hand_over.h"

#include <utility>

namespace tidemark::service {
namespace {

constexpr int kAcceptors = 4;

}  // namespace

void HandOver::Attach(grpc::ServerBuilder& builder,
                      const std::shared_ptr<grpc::ServerCredentials>& credentials) {
  using Type = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  for (int i = 0; i < kAcceptors; ++i) {
    acceptors_.push_back(
        builder.experimental().AddExternalConnectionAcceptor(Type::FROM_FD, credentials));
  }
}

void HandOver::Start() {
  for (const auto& acceptor : acceptors_) {
    threads_.emplace_back([this, &acceptor] { GiveTo(*acceptor); });
  }
}

void HandOver::Give(Descriptor connection) {
  {
    const std::lock_guard lock(mutex_);
    connections_.push_back(std::move(connection));
  }
  changed_.notify_one();
}

void HandOver::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  connections_.clear();
}

void HandOver::GiveTo(grpc::experimental::ExternalConnectionAcceptor& acceptor) {
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

}  // namespace tidemark::service
