// Addresses that cannot be reached from another host.
#pragma once

#include <string>

namespace tidemark::transport {

// unix:PATH, localhost:PORT, 127.x.y.z:PORT and [::1]:PORT.
bool IsLocalAddress(const std::string& address);

}  // namespace tidemark::transport
