// Whether a request comes from our own page, or from a page elsewhere that makes a browser send it.
// Pure.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "web/http_exchange.h"

namespace tidemark::web {

// PermissionDenied:
//   - another site's page sends it (Sec-Fetch-Site, Origin);
//   - it would change something, rests on a cookie and does not say which page it is from;
//   - `has_tokens` is false, and Host is not a name of this host: a name that somebody else
//     points at 127.0.0.1 would make his page our own (DNS rebinding).
absl::Status CheckOrigin(const HttpRequest& request, bool has_tokens, bool is_local);

}  // namespace tidemark::web
