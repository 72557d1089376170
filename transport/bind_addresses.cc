#include "transport/bind_addresses.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/strings/cord.h"
#include "transport/host_port.h"

namespace tidemark::transport {
namespace {

// Linux lets every user bind to ports from this one on, unless a host is set up otherwise.
constexpr int kFirstUnprivilegedPort = 1024;
constexpr char kInUsePayload[] = "tidemark/address-in-use";

std::string CauseOf(const std::string& address, int error) {
  const auto at = ParseHostPort(address);
  switch (error) {
    case EACCES:
    case EPERM:
      if (at && at->port < kFirstUnprivilegedPort) {
        return fmt::format(
            "{}: this user may not listen on ports below {}; use a higher port, or grant the "
            "capability CAP_NET_BIND_SERVICE",
            std::strerror(error), kFirstUnprivilegedPort);
      }
      break;
    case EADDRINUSE:
      return fmt::format("{}; use another address, or end the process that listens there",
                         std::strerror(error));
    case EADDRNOTAVAIL:
      return "it is not an address of this host; use one, or 0.0.0.0 for all of them";
    case EAFNOSUPPORT:
      return fmt::format("{}; use an address of another protocol, such as 127.0.0.1",
                         std::strerror(error));
    default:
      break;
  }
  return std::strerror(error);
}

}  // namespace

absl::StatusOr<std::vector<sockaddr_storage>> BindAddresses(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  std::string host = colon == std::string::npos ? "" : address.substr(0, colon);
  const std::string port = colon == std::string::npos ? address : address.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(host.empty() ? nullptr : host.c_str(), port.c_str(), &hints, &found);
  if (error != 0) {
    return absl::UnavailableError(
        fmt::format("cannot listen on {}: the host name {} cannot be resolved ({}); use an address "
                    "of this host",
                    address, host, gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> held(found, freeaddrinfo);
  std::vector<sockaddr_storage> addresses;
  for (const bool is_ip4 : {true, false}) {
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
      if ((each->ai_family == AF_INET) != is_ip4) continue;
      std::memcpy(&addresses.emplace_back(), each->ai_addr, each->ai_addrlen);
    }
  }
  return addresses;
}

int OpenBound(const sockaddr* name, socklen_t size) {
  const int descriptor = socket(name->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  const int yes = 1;
  const int no = 0;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (name->sa_family == AF_INET6) {
    setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  }
  if (bind(descriptor, name, size) == 0) return descriptor;
  const int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}

absl::StatusOr<int> ListenAtOne(const std::string& address) {
  const absl::StatusOr<std::vector<sockaddr_storage>> names = BindAddresses(address);
  if (!names.ok()) return names.status();
  int error = EADDRNOTAVAIL;
  for (const sockaddr_storage& name : *names) {
    const int descriptor = OpenBound(reinterpret_cast<const sockaddr*>(&name), sizeof name);
    if (descriptor >= 0 && listen(descriptor, SOMAXCONN) == 0) return descriptor;
    error = errno;
    if (descriptor >= 0) close(descriptor);
  }
  return CannotListen(address, error);
}

absl::Status CannotListen(const std::string& address, int error) {
  absl::Status status = absl::UnavailableError(
      fmt::format("cannot listen on {}: {}", address, CauseOf(address, error)));
  if (error == EADDRINUSE) status.SetPayload(kInUsePayload, absl::Cord());
  return status;
}

bool IsAddressInUse(const absl::Status& status) {
  return status.GetPayload(kInUsePayload).has_value();
}

}  // namespace tidemark::transport
