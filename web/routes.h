// The routes of the API, for the server and for its OpenAPI description.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "web/http_exchange.h"

namespace tidemark::web {

// Parses and checks requests, including their path, their query, and the page that sends them. Pure
// functions.

// Returns "a/b" for "a%2Fb". Returns nullopt if a % is not followed by two hexadecimal digits, or
// if the result contains control characters or is not UTF-8.
std::optional<std::string> PercentDecoded(std::string_view text);

// Returns "api", "jobs", "a/b" for "/api/jobs/a%2Fb", and no parts for "/". Returns nullopt if a
// part is empty, if PercentDecoded() fails for a part, or if the first character is not a slash.
std::optional<std::vector<std::string>> PathParts(std::string_view path);

// Sets fields of a message to the values of a query. A name is a field of the .proto file, or the
// path to one: "page_size", "filter.user". Values have the form of the JSON mapping, without
// quotes: "VIEW_BASIC", "0.5s", "true". A repeated field may occur several times. Returns
// InvalidArgument that names the first unknown field or invalid value.
absl::Status SetFields(const std::vector<std::pair<std::string, std::string>>& untrusted,
                       google::protobuf::Message& message);

// Returns PermissionDenied if
//   - the page of another site sends the request (Sec-Fetch-Site, Origin);
//   - the request would change state, uses a cookie and does not state its origin;
//   - `is_local` is true, `has_tokens` is false, and Host is not a name of this host. Otherwise a
//     foreign name that resolves to 127.0.0.1 could use this page (DNS rebinding).
absl::Status CheckOrigin(const HttpRequest& request, bool has_tokens, bool is_local);

class Api;

// Answers a request for a route. `job_id` is empty unless the path contains it.
using RouteHandler = void (Api::*)(const std::string& job_id,
                                   const std::shared_ptr<Exchange>& exchange);

struct Route {
  RouteHandler handler;
  const char* method;
  const char* path;  // "/api/jobs/{job_id}"
  const char* summary;
  // The fields of this message, except fields in the path, form the query or the body of a POST.
  // The descriptor is null if there are no parameters.
  const google::protobuf::Descriptor* request;
  // The message of the response. Null if the response has no body or a body of another kind.
  const google::protobuf::Descriptor* answer;
  // true if the response is server-sent events; each `update` contains one answer
  bool is_stream = false;
};

const std::vector<Route>& Routes();

// The result of a search for a route, with the job id in its path.
struct FoundRoute {
  const Route* route = nullptr;  // null if no route has the path and method
  std::string job_id;
  std::string allowed;  // the methods of the path if `route` is null
};
FoundRoute FindRoute(std::string_view method, const std::vector<std::string>& path);

// Returns the OpenAPI 3.0 description of the routes and their messages.
std::string OpenApiDocument(const std::string& version);

}  // namespace tidemark::web
