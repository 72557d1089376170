// Addresses at which a master listens.
#pragma once

#include <sys/socket.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tidemark::transport {

// Returns true for unix:PATH, localhost:PORT, 127.x.y.z:PORT and [::1]:PORT, which other hosts
// cannot reach.
bool IsLocalAddress(const std::string& address);

// Returns the addresses of host:port, [address]:port or port alone. If a name has addresses of
// both protocols, IPv4 addresses come first, since scrapers and probes of 127.0.0.1 rely on it.
// Fails with Unavailable if the host name cannot be resolved; the message begins with "cannot
// listen on".
absl::StatusOr<std::vector<sockaddr_storage>> BindAddresses(const std::string& address);

// Returns a non-blocking socket that is bound to `name`, or -1 and sets errno. Every server of
// Tidemark binds with the same options. Addresses of ended connections may be reused, and an IPv6
// socket also accepts IPv4.
int OpenBound(const sockaddr* name, socklen_t size);

// Returns a non-blocking socket that listens at the first of BindAddresses() that can be bound.
// Fails with Unavailable if none can, with the message of CannotListen().
absl::StatusOr<int> ListenAtOne(const std::string& address);

// Runs `start`, which passes the socket to a library that owns it afterwards. If `start` returns
// false, closes the socket and keeps errno. Some libraries close the socket when they fail. Its
// number may then be that of another file, which stays open.
bool HandOver(int socket, const std::function<bool()>& start);

// Returns an Unavailable error with "cannot listen on", the address, the cause and a remedy.
// `error` is the errno of bind() or listen().
absl::Status CannotListen(const std::string& address, int error);
// Returns true if CannotListen() made `status` because another socket has the address.
bool IsAddressInUse(const absl::Status& status);

// Checks that a server can listen at host:port or unix:PATH, by binding with the same options and
// releasing the address immediately. Clients cannot connect, and an existing socket file is kept.
// Fails with Unavailable and the message of the server if a server could not listen there.
absl::Status CanListen(const std::string& address);

// The protection of connections to a listening address.
struct Protection {
  bool encrypted = false;      // TLS
  bool authenticated = false;  // a client certificate or a token
};

// Returns OK for unix:PATH, localhost:PORT, 127.x.y.z:PORT and [::1]:PORT. Returns OK for every
// well-formed host:PORT if connections are encrypted and clients authenticated, or if
// `allow_insecure_remote`. Otherwise fails with InvalidArgument and the correction.
absl::Status CheckListenAddress(const std::string& address, bool allow_insecure_remote,
                                Protection protection = {});

}  // namespace tidemark::transport
