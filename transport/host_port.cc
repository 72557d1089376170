#include "transport/host_port.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

namespace tidemark::transport {
namespace {

constexpr std::string_view kUnix = "unix:";

bool IsHost(std::string_view text) {
  // Spaces and control characters, which a resolver might treat as the end of the name.
  const auto is_alien = [](unsigned char c) { return c <= ' ' || c == 0x7F || c == '/'; };
  if (text.empty() || std::ranges::any_of(text, is_alien)) return false;
  const bool is_bracketed = text.size() > 2 && text.starts_with('[') && text.ends_with(']');
  const std::string_view within = is_bracketed ? text.substr(1, text.size() - 2) : text;
  return within.find_first_of(is_bracketed ? "[]" : "[]:") == std::string_view::npos;
}

// The default ports of a master and of its page.
constexpr int kMasterPort = 7411;
constexpr std::string_view kPagePort = "7412";
constexpr std::string_view kForm = "must be host:port or unix:PATH";

bool IsIpv6(std::string_view text) {
  in6_addr parsed{};
  return inet_pton(AF_INET6, std::string(text).c_str(), &parsed) == 1;
}

bool IsPort(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port > 0;
}

std::string UnixFault(std::string_view address) {
  std::string_view path = address.substr(kUnix.size());
  if (path.starts_with("//")) path.remove_prefix(2);
  if (path.empty() || (address.starts_with("unix://") && !path.starts_with('/'))) {
    return fmt::format(
        "must be unix: and the path of a socket, such as unix:/run/tidemark.sock, not {}", address);
  }
  const std::string fault = UnixPathFault(path);
  return fault.empty() ? "" : fmt::format("{}: {}", address, fault);
}

// Suggests the host and port of the URL. The URL of a page has the host of its master, but another
// port.
std::string UrlFault(std::string_view address, std::size_t scheme_bytes) {
  const std::string_view scheme = address.substr(0, scheme_bytes);
  std::string_view authority = address.substr(scheme_bytes + 3);
  authority = authority.substr(0, authority.find_first_of("/?#"));
  const std::size_t colon = authority.rfind(':');
  const bool has_colon =
      colon != std::string_view::npos && authority.find(']', colon) == std::string_view::npos;
  const std::string_view host = authority.substr(0, has_colon ? colon : authority.size());
  const std::string_view port = has_colon ? authority.substr(colon + 1) : "";
  std::string fault = fmt::format("{}, not the URL {}", kForm, address);
  if (IsHost(host)) {
    const bool is_kept = IsPort(port) && port != kPagePort;
    fault += fmt::format("; did you mean {}:{}?", host,
                         is_kept ? std::string(port) : std::to_string(kMasterPort));
  }
  if (scheme == "https") fault += " --tls-ca turns on TLS";
  return fault;
}

// Without brackets, the last group of an IPv6 address may be a port.
std::string BracketsFault(std::string_view address) {
  const std::size_t colon = address.rfind(':');
  const std::string_view before = address.substr(0, colon);
  const std::string_view after = address.substr(colon + 1);
  const bool has_port = IsIpv6(before) && IsPort(after);
  return fmt::format("{}, and an IPv6 address must be in brackets; did you mean [{}]:{}?", kForm,
                     has_port ? before : address,
                     has_port ? std::string(after) : std::to_string(kMasterPort));
}

}  // namespace

std::string MasterAddressFault(std::string_view address) {
  if (address.empty()) return fmt::format("{}, not empty", kForm);
  if (address.starts_with(kUnix)) return UnixFault(address);
  if (address == "unix-abstract:") return UnixFault("unix:");
  if (address.starts_with("unix-abstract:")) return "";
  if (const std::size_t scheme = address.find("://"); scheme != std::string_view::npos) {
    return UrlFault(address, scheme);
  }
  if (IsPort(address)) return fmt::format("host missing; did you mean 127.0.0.1:{}?", address);
  const std::size_t colon = address.rfind(':');
  // Within brackets, a colon is part of the address.
  const bool has_colon =
      colon != std::string_view::npos && address.find(']', colon) == std::string_view::npos;
  const std::string_view host = address.substr(0, has_colon ? colon : address.size());
  const std::string_view port = has_colon ? address.substr(colon + 1) : "";
  if (!address.starts_with('[') && host.find(':') != std::string_view::npos) {
    return IsIpv6(address) || IsIpv6(host) ? BracketsFault(address)
                                           : fmt::format("{}, not {}", kForm, address);
  }
  if (has_colon && host.empty()) {
    return fmt::format("host missing; did you mean 127.0.0.1:{}?",
                       IsPort(port) ? std::string(port) : std::to_string(kMasterPort));
  }
  if (!IsHost(host)) {
    return fmt::format("{}, such as 127.0.0.1:{}, not {}", kForm, kMasterPort, address);
  }
  if (port.empty()) return fmt::format("port missing; did you mean {}:{}?", host, kMasterPort);
  if (!IsPort(port)) return fmt::format("the port must be from 1 to 65535, not {}", port);
  return "";
}

std::string NamedFault(std::string_view name, std::string_view fault) {
  return fmt::format("{}{} {}", name, fault.starts_with("must") ? "" : ":", fault);
}

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
        "its path has {} bytes, but the path of a socket may have at most {}; use a shorter one, "
        "such as "
        "/run/tidemark.sock, or host:port",
        path.size(), kUnixPathBytesMax);
  }
  if (path.ends_with('/')) return "its path ends with /; name a file in that folder";
  if (path.find('\0') != std::string_view::npos) return "its path contains a zero byte; remove it";
  return "";
}

}  // namespace tidemark::transport
