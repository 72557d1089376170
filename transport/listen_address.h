#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tidemark::transport {

// Addresses of servers as strings: host:port or unix:PATH. The functions have no side effects.
struct HostPort {
  std::string host;  // never empty; an IPv6 address is in brackets
  std::uint16_t port = 0;
  friend bool operator==(const HostPort&, const HostPort&) = default;
};

// Parses addresses such as 127.0.0.1:7411, localhost:0, and [::1]:7411. Returns nullopt for other
// strings, such as unix:PATH.
std::optional<HostPort> ParseHostPort(std::string_view address);

// Returns what is wrong with a master's address and the correction, as "must be ..." or "port
// missing ...", to follow the name of the option. Returns an empty string for a valid address:
// unix:PATH, or host:port or [address]:port with a port from 1 to 65535. unix-abstract:NAME is not
// checked.
std::string MasterAddressFault(std::string_view address);
// Returns the option or setting followed by its fault, such as "--master must be ..." or "--master:
// port missing".
std::string NamedFault(std::string_view name, std::string_view fault);

// Returns the path of unix:PATH, or nullopt for other addresses.
std::optional<std::string> UnixPathOf(std::string_view address);

// Size of sockaddr_un's path, excluding its final zero.
inline constexpr std::size_t kUnixPathBytesMax = 107;
// Returns why a socket cannot have this path, and the correction. Returns an empty string for a
// valid path.
std::string UnixPathFault(std::string_view path);

// Returns true for unix:PATH, localhost:PORT, 127.x.y.z:PORT and [::1]:PORT, which other hosts
// cannot reach.
bool IsLocalAddress(const std::string& address);

// Returns the addresses of host:port, [address]:port or port alone. If a name has addresses of both
// protocols, IPv4 addresses come first, since scrapers and probes of 127.0.0.1 depend on this
// order. Fails with Unavailable if the host name cannot be resolved. The message begins with
// "cannot listen on".
absl::StatusOr<std::vector<sockaddr_storage>> BindAddresses(const std::string& address);

// The other end of a connection.
struct Peer {
  std::string name;  // such as "ipv4:10.0.0.7:4711"; "unix:" for a unix socket
  // The address, or the network for IPv6: a single customer of a provider may have 2^64 addresses.
  std::string host;
  bool is_tcp = false;
};
// Returns the peer of a connected socket, or nullopt if the connection has ended.
std::optional<Peer> PeerOf(int connection);

// Metadata key for the peer of the page's client. The page calls the master on a channel within the
// process.
inline constexpr char kPeerMetadata[] = "tidemark-peer";

// Returns a non-blocking socket that is bound to `name`, or -1 with errno set. Every server of
// Tidemark binds with the same options: addresses of ended connections may be reused, and an IPv6
// socket also accepts IPv4.
int OpenBound(const sockaddr* name, socklen_t size);

// Returns a non-blocking socket that listens on the first of BindAddresses() that can be bound. If
// none can, fails with Unavailable and the message of CannotListen().
absl::StatusOr<int> ListenAtOne(const std::string& address);

// Runs `start`, which passes the socket to a library that owns it afterwards. If `start` returns
// false, closes the socket and keeps errno. Some libraries also close the socket when they fail. If
// its number has been reused since, the other file stays open.
bool HandOver(int socket, const std::function<bool()>& start);

// Returns an Unavailable error with "cannot listen on", the address, the cause and a remedy.
// `error` is the errno of bind() or listen().
absl::Status CannotListen(const std::string& address, int error);
// Returns true if `status` is an error of CannotListen() because another socket has the address.
bool IsAddressInUse(const absl::Status& status);

// Checks that a server can listen on host:port or unix:PATH by binding with the same options and
// releasing the address immediately. Clients cannot connect, and an existing socket file is kept.
// If a server could not listen, fails with Unavailable and the message that the server would
// report.
absl::Status CanListen(const std::string& address);

// The protection of connections to a listening address.
struct Protection {
  bool encrypted = false;      // TLS
  bool authenticated = false;  // by a client certificate or a token
};

// Returns OK for unix:PATH, localhost:PORT, 127.x.y.z:PORT and [::1]:PORT. Returns OK for every
// other well-formed host:PORT if connections are encrypted and clients authenticated, or if
// `allow_insecure_remote` is true. Otherwise fails with InvalidArgument and the correction.
absl::Status CheckListenAddress(const std::string& address, bool allow_insecure_remote,
                                Protection protection = {});

}  // namespace tidemark::transport
