// Which addresses a webhook may be sent to.
#pragma once

#include <sys/socket.h>

namespace tidemark::cli {

// Not this host itself, nothing that is only of its link, where clouds keep their metadata, and no
// group of hosts. An IPv4 address within an IPv6 one counts as that. Pure.
bool IsAllowedForWebhooks(const sockaddr& address);

}  // namespace tidemark::cli
