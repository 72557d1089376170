// A local server that accepts one connection and sends any text, HTTP or not.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace tidemark::test {

class RawServer {
 public:
  RawServer() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address_;
    auto* const name = reinterpret_cast<sockaddr*>(&address_);
    if (bind(socket_, name, size) != 0 || listen(socket_, 1) != 0 ||
        getsockname(socket_, name, &size) != 0) {
      std::abort();
    }
  }
  ~RawServer() {
    if (connection_ >= 0) close(connection_);
    close(socket_);
  }
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;

  std::string url() const {
    return "http://127.0.0.1:" + std::to_string(ntohs(address_.sin_port)) + "/";
  }
  void WaitForConnection() { connection_ = accept(socket_, nullptr, nullptr); }
  // Sends a text and closes the stream for writing. The socket remains open, since closing it with
  // unread data would reset the connection.
  void SendAndEnd(const std::string& text) const {
    send(connection_, text.data(), text.size(), MSG_NOSIGNAL);
    shutdown(connection_, SHUT_WR);
  }

 private:
  const int socket_;
  int connection_ = -1;
  sockaddr_in address_ = {};
};

}  // namespace tidemark::test
