// What an address in a setting stands for, to listen there.
#pragma once

#include <sys/socket.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tidemark::transport {

// Of host:port, [address]:port or port alone, the older protocol first: a name may stand for both,
// and scrapers and probes of 127.0.0.1 rely on it. Unavailable: the host is not known; the message
// is the system's.
absl::StatusOr<std::vector<sockaddr_storage>> BindAddresses(const std::string& address);

}  // namespace tidemark::transport
