#include "web/routes.h"

#include <fmt/format.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>
#include <google/protobuf/util/time_util.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "proto/wire/valid_text.h"
#include "tidemark/v1/explain_service.pb.h"
#include "tidemark/v1/job_service.pb.h"
#include "tidemark/web/v1/web.pb.h"
#include "transport/listen_address.h"
#include "web/api.h"

namespace tidemark::web {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

template <typename Number>
bool ParseNumber(const std::string& text, Number& number) {
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  return error == std::errc() && end == last && !text.empty();
}

// Sets a field. Returns an error if the value is invalid, and otherwise an empty string. Rejects
// types that no query contains.
std::string Set(const FieldDescriptor& field, const std::string& value, Message& message) {
  const google::protobuf::Reflection& fields = *message.GetReflection();
  const bool is_list = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      is_list ? fields.AddString(&message, &field, value)
              : fields.SetString(&message, &field, value);
      return "";
    case FieldDescriptor::CPPTYPE_UINT32: {
      std::uint32_t number = 0;
      if (is_list || !ParseNumber(value, number)) return "must be a whole number";
      fields.SetUInt32(&message, &field, number);
      return "";
    }
    case FieldDescriptor::CPPTYPE_BOOL:
      if (is_list || (value != "true" && value != "false")) return "must be true or false";
      fields.SetBool(&message, &field, value == "true");
      return "";
    case FieldDescriptor::CPPTYPE_ENUM: {
      const auto* const known = field.enum_type()->FindValueByName(value);
      if (known == nullptr) return fmt::format("must be a value of {}", field.enum_type()->name());
      is_list ? fields.AddEnum(&message, &field, known) : fields.SetEnum(&message, &field, known);
      return "";
    }
    case FieldDescriptor::CPPTYPE_MESSAGE: {
      google::protobuf::Duration duration;
      google::protobuf::Timestamp instant;
      if (is_list) break;
      if (field.message_type() == google::protobuf::Timestamp::descriptor()) {
        if (!google::protobuf::util::TimeUtil::FromString(value, &instant)) {
          return "must be a timestamp, such as 2026-01-31T12:00:00Z";
        }
        fields.MutableMessage(&message, &field)->CopyFrom(instant);
        return "";
      }
      if (field.message_type() != google::protobuf::Duration::descriptor()) break;
      if (!google::protobuf::util::TimeUtil::FromString(value, &duration)) {
        return "must be a duration in seconds, such as 0.5s";
      }
      fields.MutableMessage(&message, &field)->CopyFrom(duration);
      return "";
    }
    default:
      break;
  }
  return "cannot be set in a query";
}

bool IsLocalName(const std::string& host) {
  if (host.starts_with("unix")) return false;  // a host, not the address of a socket
  if (host == "localhost" || host == "[::1]" || transport::IsLocalAddress(host)) return true;
  return transport::IsLocalAddress(host + ":80");  // the port is optional
}

}  // namespace

absl::Status SetFields(const std::vector<std::pair<std::string, std::string>>& untrusted,
                       Message& message) {
  for (const auto& [name, value] : untrusted) {
    Message* within = &message;
    std::string_view rest = name;
    const FieldDescriptor* field = nullptr;
    for (;;) {
      const std::size_t dot = rest.find('.');
      field = within->GetDescriptor()->FindFieldByName(std::string(rest.substr(0, dot)));
      if (field == nullptr || dot == std::string_view::npos) break;
      const bool is_message =
          field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field->is_repeated();
      if (!is_message) {
        field = nullptr;
        break;
      }
      within = within->GetReflection()->MutableMessage(within, field);
      rest.remove_prefix(dot + 1);
    }
    // The name is untrusted and becomes part of a JSON message, so only its beginning is quoted.
    const std::string shown = name.substr(0, 60);
    if (field == nullptr) {
      return absl::InvalidArgumentError(
          fmt::format("{}: {} has no such field", shown, message.GetDescriptor()->name()));
    }
    if (const std::string fault = Set(*field, value, *within); !fault.empty()) {
      return absl::InvalidArgumentError(fmt::format("{}: {}", shown, fault));
    }
  }
  return absl::OkStatus();
}

std::optional<std::string> PercentDecoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    unsigned value = 0;
    const char* const begin = text.data() + i + 1;
    const auto [end, error] = std::from_chars(begin, begin + 2, value, 16);
    if (error != std::errc() || end != begin + 2) return std::nullopt;
    decoded += static_cast<char>(value);
    i += 2;
  }
  if (wire::HasControls(decoded) || wire::ValidText(decoded) != decoded) return std::nullopt;
  return decoded;
}

std::optional<std::vector<std::string>> PathParts(std::string_view path) {
  std::vector<std::string> parts;
  if (!path.starts_with('/')) return std::nullopt;
  path.remove_prefix(1);
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    std::optional<std::string> decoded = PercentDecoded(part);
    if (part.empty() || !decoded) return std::nullopt;
    parts.push_back(*std::move(decoded));
    path = slash == std::string_view::npos ? "" : path.substr(slash + 1);
  }
  return parts;
}

absl::Status CheckOrigin(const HttpRequest& request, bool has_tokens, bool is_local) {
  if (is_local && !has_tokens && !IsLocalName(request.host)) {
    return absl::PermissionDeniedError(
        "without tokens the page serves this host only; open it as localhost or 127.0.0.1");
  }
  const absl::Status other_site =
      absl::PermissionDeniedError("the request comes from a page of another site");
  if (request.fetch_site == "cross-site" || request.fetch_site == "same-site") {
    return other_site;
  }
  if (!request.origin.empty()) {
    const std::size_t scheme_end = request.origin.find("://");
    if (scheme_end == std::string::npos ||
        std::string_view(request.origin).substr(scheme_end + 3) != request.host) {
      return other_site;
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

namespace {

using google::protobuf::Descriptor;
using OrderedJson = nlohmann::ordered_json;

constexpr std::string_view kJobIdPart = "{job_id}";

// Returns the type of a field in the JSON mapping.
OrderedJson TypeOf(const FieldDescriptor& field) {
  if (field.is_map()) {
    return {{"type", "object"},
            {"additionalProperties", TypeOf(*field.message_type()->map_value())}};
  }
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return {{"type", "string"}};
    case FieldDescriptor::CPPTYPE_BOOL:
      return {{"type", "boolean"}};
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_UINT32:
      return {{"type", "integer"}};
    case FieldDescriptor::CPPTYPE_INT64:
    case FieldDescriptor::CPPTYPE_UINT64:
      return {{"type", "string"}, {"format", "int64"}};
    case FieldDescriptor::CPPTYPE_FLOAT:
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return {{"type", "number"}};
    case FieldDescriptor::CPPTYPE_ENUM: {
      OrderedJson names = OrderedJson::array();
      for (int i = 0; i < field.enum_type()->value_count(); ++i) {
        names.push_back(field.enum_type()->value(i)->name());
      }
      return {{"type", "string"}, {"enum", names}};
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  const std::string& name = field.message_type()->full_name();
  if (name == "google.protobuf.Timestamp") return {{"type", "string"}, {"format", "date-time"}};
  if (name == "google.protobuf.Duration") {
    return {{"type", "string"}, {"pattern", "^-?[0-9]+(\\.[0-9]+)?s$"}};
  }
  return {{"$ref", "#/components/schemas/" + name}};
}

OrderedJson TypeWithLists(const FieldDescriptor& field) {
  if (!field.is_repeated() || field.is_map()) return TypeOf(field);
  return {{"type", "array"}, {"items", TypeOf(field)}};
}

void Describe(const Descriptor& message, OrderedJson& schemas) {
  if (message.full_name().starts_with("google.") || schemas.contains(message.full_name())) return;
  OrderedJson& schema = schemas[message.full_name()];
  schema = {{"type", "object"}, {"additionalProperties", false}};
  OrderedJson properties = OrderedJson::object();
  for (int i = 0; i < message.field_count(); ++i) {
    properties[message.field(i)->name()] = TypeWithLists(*message.field(i));
  }
  schema["properties"] = properties;
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    if (field.is_map()) {
      const auto* const value = field.message_type()->map_value()->message_type();
      if (value != nullptr) Describe(*value, schemas);
    } else if (field.message_type() != nullptr) {
      Describe(*field.message_type(), schemas);
    }
  }
}

void AddParameters(const Descriptor& message, const std::string& prefix, bool has_job_in_path,
                   OrderedJson& parameters) {
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    const bool is_nested = field.message_type() != nullptr && !field.is_repeated() &&
                           !field.message_type()->full_name().starts_with("google.");
    if (is_nested) {
      AddParameters(*field.message_type(), prefix + field.name() + ".", has_job_in_path,
                    parameters);
    } else if (field.name() != "job_id" || !has_job_in_path) {
      parameters.push_back(
          {{"name", prefix + field.name()}, {"in", "query"}, {"schema", TypeWithLists(field)}});
    }
  }
}

OrderedJson Reference(const Descriptor& message) {
  return {{"$ref", "#/components/schemas/" + message.full_name()}};
}

}  // namespace

const std::vector<Route>& Routes() {
  static const auto* const kRoutes = new std::vector<Route>{
      {&Api::ListJobs, "GET", "/api/jobs",
       "Returns the newest snapshot of each job, newest job first",
       tidemark::v1::ListJobsRequest::descriptor(), v1::JobListAnswer::descriptor()},
      {&Api::GetJob, "GET", "/api/jobs/{job_id}", "Returns the newest snapshot of one job",
       tidemark::v1::GetJobRequest::descriptor(), v1::JobAnswer::descriptor()},
      {&Api::WatchJob, "GET", "/api/jobs/{job_id}/watch",
       "Streams each new snapshot of one job, or its changes",
       tidemark::v1::WatchJobRequest::descriptor(), v1::JobUpdate::descriptor(), true},
      {&Api::WatchJobs, "GET", "/api/watch", "Streams all jobs, then each change",
       tidemark::v1::WatchJobsRequest::descriptor(), v1::JobListUpdate::descriptor(), true},
      {&Api::ListTasks, "GET", "/api/jobs/{job_id}/tasks",
       "Returns the task attempts of one job, by host",
       tidemark::v1::ListTasksRequest::descriptor(), v1::TasksAnswer::descriptor()},
      {&Api::ListForecasts, "GET", "/api/jobs/{job_id}/forecasts",
       "Returns all forecasts of the end of one job",
       tidemark::v1::ListForecastsRequest::descriptor(), v1::ForecastsAnswer::descriptor()},
      {&Api::ExplainJob, "GET", "/api/jobs/{job_id}/explanation",
       "Returns the waits of one job, and the jobs that caused them",
       tidemark::v1::ExplainQuestion::descriptor(), v1::ExplanationAnswer::descriptor()},
      {&Api::ExplainCluster, "GET", "/api/contention",
       "Returns the jobs that delay others, the jobs that are delayed, and the resources and hosts "
       "involved",
       tidemark::v1::ContentionQuestion::descriptor(), v1::ContentionAnswer::descriptor()},
      {&Api::EstimateJob, "POST", "/api/jobs/{job_id}/estimate",
       "Returns an estimate for each scenario", tidemark::v1::EstimateJobRequest::descriptor(),
       v1::EstimateAnswer::descriptor()},
      {&Api::SetDeadline, "POST", "/api/jobs/{job_id}/deadline",
       "Sets or replaces the deadline of a running job",
       tidemark::v1::SetDeadlineRequest::descriptor(), v1::DeadlineAnswer::descriptor()},
      {&Api::SummarizeJob, "GET", "/api/jobs/{job_id}/summary",
       "Returns the largest costs of an ended job, with remedies", nullptr,
       v1::SummaryAnswer::descriptor()},
      {&Api::CompareJob, "GET", "/api/jobs/{job_id}/comparison", "Compares a job with a past run",
       v1::ComparisonQuestion::descriptor(), v1::ComparisonAnswer::descriptor()},
      {&Api::GetSession, "GET", "/api/session",
       "Returns the version of the master, and whether the session is valid", nullptr,
       v1::Session::descriptor()},
      {&Api::SignIn, "POST", "/api/session", "Opens a session for a token, with a cookie",
       v1::SignInRequest::descriptor(), v1::Session::descriptor()},
      {&Api::SignOut, "DELETE", "/api/session", "Ends the session of the cookie", nullptr, nullptr},
      {&Api::GetOpenApi, "GET", "/api/openapi.json", "Returns this description", nullptr, nullptr}};
  return *kRoutes;
}

FoundRoute FindRoute(std::string_view method, const std::vector<std::string>& path) {
  FoundRoute found;
  for (const Route& route : Routes()) {
    const std::vector<std::string> parts = *PathParts(route.path);
    if (parts.size() != path.size()) continue;
    bool matches = true;
    std::string job_id;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i] == kJobIdPart) {
        job_id = path[i];
      } else {
        matches = matches && parts[i] == path[i];
      }
    }
    if (!matches) continue;
    if (method == route.method) return {.route = &route, .job_id = std::move(job_id)};
    found.allowed += (found.allowed.empty() ? "" : ", ") + std::string(route.method);
  }
  return found;
}

std::string OpenApiDocument(const std::string& version) {
  OrderedJson schemas = OrderedJson::object();
  OrderedJson paths = OrderedJson::object();
  Describe(*v1::Problem::descriptor(), schemas);
  const OrderedJson problem = {
      {"description", "Error"},
      {"content", {{"application/json", {{"schema", Reference(*v1::Problem::descriptor())}}}}}};
  for (const Route& route : Routes()) {
    OrderedJson operation = {{"summary", route.summary}};
    OrderedJson parameters = OrderedJson::array();
    const std::string path = route.path;
    const bool has_job_in_path = path.find(kJobIdPart) != std::string::npos;
    if (has_job_in_path) {
      parameters.push_back({{"name", "job_id"},
                            {"in", "path"},
                            {"required", true},
                            {"schema", {{"type", "string"}}}});
    }
    if (route.request != nullptr) {
      if (std::string_view(route.method) == "GET") {
        AddParameters(*route.request, "", has_job_in_path, parameters);
      } else {
        Describe(*route.request, schemas);
        operation["requestBody"] = {
            {"required", true},
            {"content", {{"application/json", {{"schema", Reference(*route.request)}}}}}};
      }
    }
    if (!parameters.empty()) operation["parameters"] = parameters;
    OrderedJson answer = {{"description", "OK"}};
    if (route.answer != nullptr) {
      Describe(*route.answer, schemas);
      answer["content"][route.is_stream ? "text/event-stream" : "application/json"] = {
          {"schema", Reference(*route.answer)}};
    }
    operation["responses"] = {{route.handler == &Api::SignOut ? "204" : "200", answer},
                              {"default", problem}};
    std::string method = route.method;
    for (char& letter : method) letter = static_cast<char>(letter - 'A' + 'a');
    paths[path][method] = operation;
  }
  return OrderedJson({{"openapi", "3.0.3"},
                      {"info", {{"title", "Tidemark"}, {"version", version}}},
                      {"paths", paths},
                      {"components", {{"schemas", schemas}}}})
      .dump();
}

}  // namespace tidemark::web
