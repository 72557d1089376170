// Where a master may listen without TLS.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace tidemark::service {

// OK for unix:PATH, localhost:PORT, 127.x.y.z:PORT and [::1]:PORT, and for every well-formed
// host:PORT if `allow_insecure_remote`. Otherwise InvalidArgument says what to write instead.
absl::Status CheckListenAddress(const std::string& address, bool allow_insecure_remote);

}  // namespace tidemark::service
