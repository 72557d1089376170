// TCP sockets on this host.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace tidemark::test {

inline sockaddr_in Loopback(int port) {
  sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(static_cast<uint16_t>(port))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// Returns a socket that is connected, or -1. With SOCK_NONBLOCK, the socket may not be connected
// yet.
inline int ConnectTo(int port, int flags = 0) {
  const int connection = socket(AF_INET, SOCK_STREAM | flags, 0);
  const sockaddr_in address = Loopback(port);
  const int failed =
      connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  if (failed == 0 || flags != 0) return connection;
  close(connection);
  return -1;
}

// A socket that listens at a free port until it is destroyed.
class Listener {
 public:
  explicit Listener(int backlog = 16) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = Loopback(0);
    socklen_t size = sizeof(address);
    auto* const name = reinterpret_cast<sockaddr*>(&address);
    if (bind(socket_, name, size) != 0 || listen(socket_, backlog) != 0 ||
        getsockname(socket_, name, &size) != 0) {
      std::abort();
    }
    port_ = ntohs(address.sin_port);
  }
  ~Listener() { close(socket_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int port() const { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  // Returns a connection, or -1 after Shutdown().
  int Accept() const { return accept(socket_, nullptr, nullptr); }
  void Shutdown() const { shutdown(socket_, SHUT_RDWR); }

 private:
  const int socket_;
  int port_ = 0;
};

}  // namespace tidemark::test
