#include "transport/local_address.h"

#include <algorithm>

#include "transport/host_port.h"

namespace tidemark::transport {
namespace {

bool IsIpv4(const std::string& host) {
  return std::all_of(host.begin(), host.end(),
                     [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
}

}  // namespace

bool IsLocalAddress(const std::string& address) {
  if (UnixPathOf(address)) return true;
  const std::string host = address.substr(0, address.rfind(':'));
  // A name such as 127.evil.example must not pass for an address.
  return host == "localhost" || host == "[::1]" || (host.starts_with("127.") && IsIpv4(host));
}

}  // namespace tidemark::transport
