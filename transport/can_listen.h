// Whether a master could listen somewhere.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace tidemark::transport {

// Of host:port or unix:PATH. Nobody can connect meanwhile, and a socket that is there stays: an
// agent that came just then would take what it finds for its master. Unavailable: it could not,
// and why.
absl::Status CanListen(const std::string& address);

}  // namespace tidemark::transport
