// Where somebody listens, as text: host:port or unix:PATH. Pure.
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

// Parses 127.0.0.1:7411, localhost:0, [::1]:7411 and the like. Returns nullopt for other text, such
// as unix:PATH.
std::optional<HostPort> ParseHostPort(std::string_view address);

// Returns what is wrong with the address of a master and what to do, as "must be ..." or "port
// missing ...", which follows the name of the option. Returns an empty text for host:port,
// [address]:port with a port from 1 to 65535, and unix:PATH; unix-abstract:NAME is not checked.
std::string MasterAddressFault(std::string_view address);
// Returns the option or setting with its fault: "--master must be ...", "--master: port missing".
std::string NamedFault(std::string_view name, std::string_view fault);

// The path of unix:PATH; empty: there is none.
std::optional<std::string> UnixPathOf(std::string_view address);

// What fits into sockaddr_un, with a zero behind it.
inline constexpr std::size_t kUnixPathBytesMax = 107;
// Why no socket can have this path, and what to do; empty: one can.
std::string UnixPathFault(std::string_view path);

}  // namespace tidemark::transport
