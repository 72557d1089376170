// Addresses at which a master listens.
#pragma once

#include <sys/socket.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tidemark::transport {

// Returns true for unix:PATH, localhost:PORT, 127.x.y.z:PORT and [::1]:PORT, which other hosts
// cannot reach.
bool IsLocalAddress(const std::string& address);

// Returns the addresses of host:port, [address]:port or port alone. IPv4 addresses precede others,
// since scrapers and probes of 127.0.0.1 rely on it where a name has addresses of both protocols.
// Unavailable: the host name cannot be resolved; the message begins with "cannot listen on".
absl::StatusOr<std::vector<sockaddr_storage>> BindAddresses(const std::string& address);

// Returns a non-blocking socket that is bound to `name`, or -1 and sets errno. Every server of
// Tidemark binds with these options: addresses of ended connections may be reused, and an IPv6
// socket also accepts IPv4.
int OpenBound(const sockaddr* name, socklen_t size);

// Returns a non-blocking socket that listens at the first of BindAddresses() that can be bound.
// Unavailable if none can, with the message of CannotListen().
absl::StatusOr<int> ListenAtOne(const std::string& address);

// Returns an Unavailable error: "cannot listen on", the address, the cause and what to do. `error`
// is the errno of bind() or listen().
absl::Status CannotListen(const std::string& address, int error);
// Returns true if CannotListen() made `status` because another socket has the address.
bool IsAddressInUse(const absl::Status& status);

// Binds to host:port or unix:PATH with the options that servers use, and releases it immediately.
// Clients cannot connect yet, and an existing socket file is kept. Unavailable: a server could not
// listen there; the message is that of the server.
absl::Status CanListen(const std::string& address);

// The protection of a listening address.
struct Protection {
  bool encrypted = false;      // TLS
  bool authenticated = false;  // a client certificate or a token
};

// Returns OK for unix:PATH, localhost:PORT, 127.x.y.z:PORT and [::1]:PORT, and for every
// well-formed host:PORT if connections are encrypted and clients authenticated, or if
// `allow_insecure_remote`. Otherwise InvalidArgument with the correction.
absl::Status CheckListenAddress(const std::string& address, bool allow_insecure_remote,
                                Protection protection = {});

}  // namespace tidemark::transport
