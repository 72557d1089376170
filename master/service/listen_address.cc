#include "master/service/listen_address.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidemark::service {
namespace {

bool IsPort(const std::string& text) {
  return !text.empty() && text.size() <= 5 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }) &&
         std::stoi(text) <= 65535;
}

bool IsIpv4(const std::string& host) {
  return std::all_of(host.begin(), host.end(),
                     [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
}

// A name such as 127.evil.example must not pass for an address.
bool IsLoopback(const std::string& host) {
  return host == "localhost" || host == "[::1]" || (host.starts_with("127.") && IsIpv4(host));
}

}  // namespace

absl::Status CheckListenAddress(const std::string& address, bool allow_insecure_remote) {
  if (address.starts_with("unix:") && address.size() > 5) return absl::OkStatus();
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0 || !IsPort(address.substr(colon + 1))) {
    return absl::InvalidArgumentError(fmt::format(
        "listen address {}: write host:port, such as 127.0.0.1:7411, or unix:PATH", address));
  }
  if (allow_insecure_remote || IsLoopback(address.substr(0, colon))) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("listen address {}: without TLS only loopback addresses are served; use "
                  "127.0.0.1 or allow insecure remote access explicitly",
                  address));
}

}  // namespace tidemark::service
