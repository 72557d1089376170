// Fuzzes untrusted requests "PATH\nNAME=VALUE\n...\n\nBODY". Each request must match a route or
// none, and its fields must be valid or their faults reported.
#include <google/protobuf/message.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "web/http_exchange.h"
#include "web/routes.h"

namespace {

std::string_view LineOf(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace web = tidemark::web;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto path = web::PathParts(LineOf(text));
  if (path) {
    const web::FoundRoute found = web::FindRoute("GET", *path);
    if (found.route != nullptr && path->front() != "api") std::abort();
  }
  std::vector<std::pair<std::string, std::string>> query;
  while (!text.empty()) {
    const std::string_view line = LineOf(text);
    if (line.empty()) break;
    const std::size_t equals = line.find('=');
    const auto name = web::PercentDecoded(line.substr(0, equals));
    const auto value =
        web::PercentDecoded(equals == std::string_view::npos ? "" : line.substr(equals + 1));
    if (name && value) query.emplace_back(*name, *value);
  }
  for (const web::Route& route : web::Routes()) {
    if (route.request == nullptr) continue;
    auto* const factory = google::protobuf::MessageFactory::generated_factory();
    const google::protobuf::Message* const kind = factory->GetPrototype(route.request);
    const std::unique_ptr<google::protobuf::Message> asked(kind->New());
    if (std::string_view(route.method) == "GET") {
      const absl::Status set = web::SetFields(query, *asked);
      if (!set.ok() && set.message().empty()) std::abort();
    } else if (web::ParseJson(std::string(text), *asked).ok()) {
      // A parsed request is written, and must then be parsed as the same request.
      const std::unique_ptr<google::protobuf::Message> again(kind->New());
      if (!web::ParseJson(web::Json(*asked), *again).ok()) std::abort();
    }
  }
  const web::HttpRequest asked = {
      .method = "POST", .host = std::string(text), .origin = "http://" + std::string(text)};
  (void)web::CheckOrigin(asked, false, true);
  return 0;
}
