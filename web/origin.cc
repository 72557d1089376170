#include "web/origin.h"

#include <string_view>

#include "transport/local_address.h"

namespace tidemark::web {
namespace {

bool IsLocalName(const std::string& host) {
  if (host == "localhost" || host == "[::1]" || transport::IsLocalAddress(host)) return true;
  return transport::IsLocalAddress(host + ":80");  // the port may be left out
}

}  // namespace

absl::Status CheckOrigin(const HttpRequest& request, bool has_tokens, bool is_local) {
  if (is_local && !has_tokens && !IsLocalName(request.host)) {
    return absl::PermissionDeniedError(
        "without tokens this page is for this host alone: open it as localhost or 127.0.0.1");
  }
  const absl::Status from_elsewhere =
      absl::PermissionDeniedError("the request comes from a page of another site");
  if (request.fetch_site == "cross-site" || request.fetch_site == "same-site") {
    return from_elsewhere;
  }
  if (!request.origin.empty()) {
    const std::size_t scheme_end = request.origin.find("://");
    if (scheme_end == std::string::npos ||
        std::string_view(request.origin).substr(scheme_end + 3) != request.host) {
      return from_elsewhere;
    }
  }
  const bool is_safe = request.method == "GET" || request.method == "HEAD";
  if (!is_safe && request.origin.empty() && request.authorization.empty() &&
      !request.session.empty()) {
    return absl::PermissionDeniedError(
        "the request has a cookie and no Origin; send the token as Authorization: Bearer instead");
  }
  return absl::OkStatus();
}

}  // namespace tidemark::web
