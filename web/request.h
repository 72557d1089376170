// Parses and checks requests: their path, their query, and the page that sends them. Pure.
#pragma once

#include <google/protobuf/message.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "web/http_exchange.h"

namespace tidemark::web {

// Returns "a/b" for "a%2Fb". Returns nullopt if a % is not followed by two hexadecimal digits, or
// if the result contains control characters or is not UTF-8.
std::optional<std::string> PercentDecoded(std::string_view text);

// Returns "api", "jobs", "a/b" for "/api/jobs/a%2Fb"; "/" has no parts. Returns nullopt if
// PercentDecoded() does for a part, if a part is empty, or if the first character is not a slash.
std::optional<std::vector<std::string>> PathParts(std::string_view path);

// Sets fields of a message to the values of a query. A name is a field of the .proto file, or the
// path to one: "page_size", "filter.user". Values have the form of the JSON mapping, without
// quotes: "VIEW_BASIC", "0.5s", "true". A repeated field may occur several times. Returns
// InvalidArgument that names the first unknown field or invalid value.
absl::Status SetFields(const std::vector<std::pair<std::string, std::string>>& untrusted,
                       google::protobuf::Message& message);

// Returns PermissionDenied if
//   - the page of another site sends the request (Sec-Fetch-Site, Origin);
//   - the request would change state, uses a cookie and does not contain its origin;
//   - `is_local` is true, `has_tokens` is false, and Host is not a name of this host. Otherwise a
//     foreign name that resolves to 127.0.0.1 could use this page (DNS rebinding).
absl::Status CheckOrigin(const HttpRequest& request, bool has_tokens, bool is_local);

}  // namespace tidemark::web
