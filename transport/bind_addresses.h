// Sockets of servers: resolves an address of a setting and binds to it.
#pragma once

#include <sys/socket.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tidemark::transport {

// Returns the addresses of host:port, [address]:port or port alone. IPv4 addresses precede others,
// since scrapers and probes of 127.0.0.1 rely on it where a name has addresses of both protocols.
// Unavailable: the host name cannot be resolved; the message begins with "cannot listen on".
absl::StatusOr<std::vector<sockaddr_storage>> BindAddresses(const std::string& address);

// Returns a non-blocking socket that is bound to `name`, or -1 and sets errno. Every server of
// Tidemark binds with these options: addresses of connections that have ended are no obstacle, and
// a socket of IPv6 accepts IPv4, too.
int OpenBound(const sockaddr* name, socklen_t size);

// Returns a non-blocking socket that listens at the first of BindAddresses() that can be bound.
// Unavailable: none can; the message is that of CannotListen().
absl::StatusOr<int> ListenAtOne(const std::string& address);

// Returns an Unavailable error: "cannot listen on", the address, the cause and what to do. `error`
// is the errno of bind() or listen().
absl::Status CannotListen(const std::string& address, int error);
// Returns true if CannotListen() made `status` because another socket has the address.
bool IsAddressInUse(const absl::Status& status);

}  // namespace tidemark::transport
