#include "transport/host_port.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

namespace tidemark::transport {
namespace {

constexpr std::string_view kUnix = "unix:";

bool IsHost(std::string_view text) {
  // Spaces and what steers a terminal, which a resolver may take for the end of the name.
  const auto is_alien = [](unsigned char c) { return c <= ' ' || c == 0x7F || c == '/'; };
  if (text.empty() || std::ranges::any_of(text, is_alien)) return false;
  const bool is_bracketed = text.size() > 2 && text.starts_with('[') && text.ends_with(']');
  const std::string_view within = is_bracketed ? text.substr(1, text.size() - 2) : text;
  return within.find_first_of(is_bracketed ? "[]" : "[]:") == std::string_view::npos;
}

}  // namespace

std::optional<HostPort> ParseHostPort(std::string_view address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || UnixPathOf(address)) return std::nullopt;
  const std::string_view host = address.substr(0, colon);
  const std::string_view number = address.substr(colon + 1);
  HostPort parsed = {.host = std::string(host)};
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), parsed.port);
  const bool is_port = error == std::errc() && end == number.data() + number.size();
  if (!is_port || !IsHost(host)) return std::nullopt;
  return parsed;
}

std::optional<std::string> UnixPathOf(std::string_view address) {
  if (!address.starts_with(kUnix) || address.size() == kUnix.size()) return std::nullopt;
  return std::string(address.substr(kUnix.size()));
}

std::string UnixPathFault(std::string_view path) {
  if (path.size() > kUnixPathBytesMax) {
    return fmt::format(
        "its path has {} bytes, that of a socket may have {}; use a shorter one, such as "
        "/run/tidemark.sock, or host:port",
        path.size(), kUnixPathBytesMax);
  }
  if (path.ends_with('/')) return "its path ends with /; name a file in that folder";
  if (path.find('\0') != std::string_view::npos) return "its path has a zero byte; leave it out";
  return "";
}

}  // namespace tidemark::transport
