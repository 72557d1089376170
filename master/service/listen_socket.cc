#include "master/service/listen_socket.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "transport/can_listen.h"
#include "transport/host_port.h"

namespace tidemark::service {
namespace {

// Closed unless it could be had. Port 0 is replaced by the one it got.
Descriptor ListenAt(sockaddr* address, socklen_t size) {
  Descriptor listener(socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!listener.is_open()) return {};
  const int yes = 1;
  const int no = 0;
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (address->sa_family == AF_INET6) {
    setsockopt(listener.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  }
  if (bind(listener.get(), address, size) != 0 || listen(listener.get(), SOMAXCONN) != 0) return {};
  getsockname(listener.get(), address, &size);
  return listener;
}

in_port_t& PortOf(sockaddr* address) {
  return address->sa_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(address)->sin6_port
                                        : reinterpret_cast<sockaddr_in*>(address)->sin_port;
}

// Port 0 becomes the one that was got with the first.
std::vector<Descriptor> ListenAtHost(std::string host, std::uint16_t& port) {
  std::vector<Descriptor> sockets;
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const addrinfo hints = {.ai_flags = AI_PASSIVE, .ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return sockets;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, freeaddrinfo);
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    PortOf(each->ai_addr) = htons(port);
    Descriptor socket = ListenAt(each->ai_addr, each->ai_addrlen);
    if (!socket.is_open()) continue;
    port = ntohs(PortOf(each->ai_addr));
    sockets.push_back(std::move(socket));
  }
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
    if (!listen.sockets.back().is_open()) listen.sockets.clear();
  } else if (std::optional<transport::HostPort> at = transport::ParseHostPort(address)) {
    // A socket of IPv6 takes both.
    if (at->host == "0.0.0.0") listen.sockets = ListenAtHost("::", at->port);
    if (listen.sockets.empty()) listen.sockets = ListenAtHost(at->host, at->port);
    listen.address = fmt::format("{}:{}", at->host, at->port);
  }
  if (!listen.sockets.empty()) return listen;
  return absl::UnavailableError(
      fmt::format("cannot listen on {}: it is in use or not an address of this host", address));
}

void RemoveUnixSocket(const std::string& address) {
  const std::optional<std::string> path = transport::UnixPathOf(address);
  struct stat facts {};
  if (path && lstat(path->c_str(), &facts) == 0 && S_ISSOCK(facts.st_mode)) unlink(path->c_str());
}

}  // namespace tidemark::service
