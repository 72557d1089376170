// Where a master may listen.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace tidemark::transport {

// What a client has to prove before it is served.
struct Protection {
  bool encrypted = false;      // TLS
  bool authenticated = false;  // a client certificate or a token
};

// OK for unix:PATH, localhost:PORT, 127.x.y.z:PORT and [::1]:PORT, and for every well-formed
// host:PORT if connections are encrypted and clients authenticated, or `allow_insecure_remote`.
// Otherwise InvalidArgument says what to do instead.
absl::Status CheckListenAddress(const std::string& address, bool allow_insecure_remote,
                                Protection protection = {});

}  // namespace tidemark::transport
