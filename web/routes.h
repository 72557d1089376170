// The routes of the API, for the server and for its OpenAPI description.
#pragma once

#include <google/protobuf/descriptor.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::web {

enum class RouteName {
  kListJobs,
  kGetJob,
  kWatchJob,
  kWatchJobs,
  kListTasks,
  kListForecasts,
  kExplainJob,
  kExplainCluster,
  kEstimateJob,
  kGetSession,
  kSignIn,
  kSignOut,
  kOpenApi
};

struct Route {
  RouteName name;
  const char* method;
  const char* path;  // "/api/jobs/{job_id}"
  const char* summary;
  // The fields of this message, except fields in the path, form the query or the body of a POST.
  // The descriptor is null if there are no parameters.
  const google::protobuf::Descriptor* request;
  // The message of the response. Null if there is no body, or another kind of body.
  const google::protobuf::Descriptor* answer;
  bool is_stream = false;  // whether the response is server-sent events, each `update` an answer
};

const std::vector<Route>& Routes();

// A route and the job id in its path.
struct FoundRoute {
  const Route* route = nullptr;  // null if no route has the path and method
  std::string job_id;
  std::string allowed;  // the methods of the path if `route` is null
};
FoundRoute FindRoute(std::string_view method, const std::vector<std::string>& path);

// Returns the OpenAPI 3.0 description of the routes and their messages.
std::string OpenApiDocument(const std::string& version);

}  // namespace tidemark::web
