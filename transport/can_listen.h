// Whether a master could listen somewhere.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace tidemark::transport {

// Binds to host:port or unix:PATH with the options that servers use, and releases it at once.
// Clients cannot connect meanwhile, and a socket file that exists stays. Unavailable: a server
// could not listen there; the message is that of the server.
absl::Status CanListen(const std::string& address);

}  // namespace tidemark::transport
