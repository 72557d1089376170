#include "transport/listen_address.h"

#include <fmt/format.h>

#include <cstddef>

#include "transport/host_port.h"
#include "transport/local_address.h"

namespace tidemark::transport {
namespace {

// As much of it as shows which one is meant.
std::string Quoted(const std::string& address) {
  constexpr std::size_t kBytesMax = 60;
  return address.size() <= kBytesMax ? address : address.substr(0, kBytesMax) + "...";
}

}  // namespace

absl::Status CheckListenAddress(const std::string& address, bool allow_insecure_remote,
                                Protection protection) {
  if (const auto path = UnixPathOf(address)) {
    const std::string fault = UnixPathFault(*path);
    if (fault.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(fmt::format("listen address {}: {}", Quoted(address), fault));
  }
  if (!ParseHostPort(address)) {
    const std::size_t colon = address.rfind(':');
    const bool has_port =
        colon != std::string::npos && address.find(']', colon) == std::string::npos;
    const std::string fault = has_port || address.empty()
                                  ? "must be host:port, such as 127.0.0.1:7411, or unix:PATH"
                                  : fmt::format("port missing; did you mean {}:7411?", address);
    return absl::InvalidArgumentError(fmt::format("listen address {}: {}", address, fault));
  }
  const bool is_protected = protection.encrypted && protection.authenticated;
  if (is_protected || allow_insecure_remote || IsLocalAddress(address)) {
    return absl::OkStatus();
  }
  const char* missing = protection.encrypted       ? "tokens or client certificates"
                        : protection.authenticated ? "TLS"
                                                   : "TLS and either tokens or client certificates";
  return absl::InvalidArgumentError(
      fmt::format("listen address {}: other hosts must not connect without {}; set that up, use "
                  "127.0.0.1 or pass --allow-insecure-remote",
                  address, missing));
}

}  // namespace tidemark::transport
