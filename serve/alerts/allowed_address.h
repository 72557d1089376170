// Which addresses a webhook may be sent to.
#pragma once

#include <sys/socket.h>

namespace tidemark::cli {

// No loopback address, nothing that is only of this host's link, no metadata service of the large
// clouds, and no group of hosts. An IPv4 address within an IPv6 one counts as that. Other addresses
// of this host, and of its network, are allowed. Pure.
bool IsAllowedForWebhooks(const sockaddr& address);

}  // namespace tidemark::cli
