#include "transport/bind_addresses.h"

#include <netdb.h>

#include <cstring>
#include <memory>

namespace tidemark::transport {

absl::StatusOr<std::vector<sockaddr_storage>> BindAddresses(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  std::string host = colon == std::string::npos ? "" : address.substr(0, colon);
  const std::string port = colon == std::string::npos ? address : address.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(host.empty() ? nullptr : host.c_str(), port.c_str(), &hints, &found);
  if (error != 0) return absl::UnavailableError(gai_strerror(error));
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

}  // namespace tidemark::transport
