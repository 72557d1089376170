#include "master/service/listen_socket.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "transport/bind_addresses.h"
#include "transport/can_listen.h"
#include "transport/host_port.h"

namespace tidemark::service {
namespace {

// Returns a socket that listens at `address`. On failure, the descriptor is closed and errno has
// the cause. Port 0 is replaced by the assigned port.
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

// Returns at least one socket. Port 0 becomes the one that was assigned to the first.
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
    // A socket that somebody listens at is not taken from them.
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
    // A socket of IPv6 accepts both.
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

}  // namespace tidemark::service
