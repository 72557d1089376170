// The sockets that a master listens at.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "master/service/descriptor.h"

namespace tidemark::service {

struct ListenSockets {
  std::vector<Descriptor> sockets;  // non-blocking
  std::string address;              // as asked for, with the port it got
};

// host:port or unix:PATH, which CheckListenAddress() has found well-formed. A name may stand for
// several addresses; 0.0.0.0 and [::] take IPv4 and IPv6. A socket that a process has left behind
// at PATH is replaced. Unavailable: none of the addresses can be had, and why.
absl::StatusOr<ListenSockets> Listen(const std::string& address);

// Removes the socket of unix:PATH; nothing at other addresses.
void RemoveUnixSocket(const std::string& address);

}  // namespace tidemark::service
