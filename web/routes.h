// Every address of the API, for the server and for its description.
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
  // The fields of this message, but those of the path, are words behind the ?, or, of a POST, its
  // body. Null: none.
  const google::protobuf::Descriptor* request;
  // Null: an answer without a body, or one of its own.
  const google::protobuf::Descriptor* answer;
  bool is_stream = false;  // server-sent events, each `update` an answer
};

const std::vector<Route>& Routes();

// The route of a path, and the job_id in it.
struct FoundRoute {
  const Route* route = nullptr;  // null: no such address
  std::string job_id;
  std::string allowed;  // the methods of this address, if the one asked for is not among them
};
FoundRoute FindRoute(std::string_view method, const std::vector<std::string>& path);

// OpenAPI 3.0, from the routes and the messages.
std::string OpenApiDocument(const std::string& version);

}  // namespace tidemark::web
