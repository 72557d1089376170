// Addresses of servers as text: host:port or unix:PATH. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark::transport {

struct HostPort {
  std::string host;  // never empty; an IPv6 address is in brackets
  std::uint16_t port = 0;
  friend bool operator==(const HostPort&, const HostPort&) = default;
};

// Parses 127.0.0.1:7411, localhost:0, and [::1]:7411. Returns nullopt for other text, such as
// unix:PATH.
std::optional<HostPort> ParseHostPort(std::string_view address);

// Returns the fault of a master's address and the correction, as "must be ..." or "port missing
// ...", which follows the name of the option. Returns an empty string for a valid address:
// host:port or [address]:port with a port from 1 to 65535, or unix:PATH. unix-abstract:NAME is not
// checked.
std::string MasterAddressFault(std::string_view address);
// Returns the option or setting with its fault, such as "--master must be ..." or "--master: port
// missing".
std::string NamedFault(std::string_view name, std::string_view fault);

// Returns the path of unix:PATH, or nullopt.
std::optional<std::string> UnixPathOf(std::string_view address);

// Size of sockaddr_un's path without its final zero.
inline constexpr std::size_t kUnixPathBytesMax = 107;
// Returns why no socket can have this path, and the correction. Returns an empty string for a
// valid path.
std::string UnixPathFault(std::string_view path);

}  // namespace tidemark::transport
