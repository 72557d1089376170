#include "web/web_server.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <utility>

#include "transport/local_address.h"
#include "web/api.h"
#include "web/http_server.h"
#include "web/json.h"
#include "web/origin.h"
#include "web/page_files.h"
#include "web/routes.h"

namespace tidemark::web {
namespace {

absl::StatusOr<std::string> ContentsOf(const std::string& file) {
  if (file.empty()) return std::string();
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in || text.empty()) {
    return absl::InvalidArgumentError(fmt::format("{}: cannot be read", file));
  }
  return text;
}

HttpAnswer AnswerWith(const PageFile& file, const HttpRequest& request) {
  const std::string tag = fmt::format("\"{}\"", file.hash);
  HttpAnswer answer = {.content_type = std::string(file.content_type),
                       .headers = {{"ETag", tag}, {"Cache-Control", "no-cache"}}};
  if (request.if_none_match == tag) {
    answer.status = 304;
    return answer;
  }
  answer.body = file.bytes;
  if (file.is_gzip) answer.headers.emplace_back("Content-Encoding", "gzip");
  return answer;
}

class Server final : public WebServer {
 public:
  Server(WebOptions options, const std::string& cookie)
      : api_({.master = options.master,
              .words_of = options.words_of,
              .add_task_words = options.add_task_words,
              .add_explanation_words = options.add_explanation_words,
              .version = options.version,
              .cookie = cookie,
              .has_tokens = options.has_tokens,
              .has_tls = !options.certificate_file.empty()}),
        has_tokens_(options.has_tokens),
        is_local_(transport::IsLocalAddress(options.address)) {}
  ~Server() override { http_.reset(); }

  absl::Status Start(const HttpOptions& options) {
    auto http =
        HttpServer::Start(options, [this](std::shared_ptr<Exchange> exchange) { Take(exchange); });
    if (!http.ok()) return http.status();
    http_ = *std::move(http);
    return absl::OkStatus();
  }
  int port() const override { return http_->port(); }

 private:
  void Take(const std::shared_ptr<Exchange>& exchange) {
    const HttpRequest& request = exchange->request();
    const bool is_api = !request.path.empty() && request.path.front() == "api";
    if (is_api) {
      if (absl::Status allowed = CheckOrigin(request, has_tokens_, is_local_); !allowed.ok()) {
        return exchange->Answer(ProblemAnswer(allowed));
      }
    }
    const FoundRoute found = FindRoute(request.method, request.path);
    if (found.route != nullptr) return api_.Take(found, exchange);
    if (!found.allowed.empty()) return RefuseMethod(found.allowed, *exchange);
    if (!is_api && request.method != "GET" && request.method != "HEAD") {
      return RefuseMethod("GET, HEAD", *exchange);
    }
    if (!is_api && request.path.size() <= 1) {
      const std::string path = "/" + (request.path.empty() ? "" : request.path.front());
      for (const PageFile& file : PageFiles()) {
        if (file.path == path) return exchange->Answer(AnswerWith(file, request));
      }
    }
    exchange->Answer(ProblemAnswer(absl::NotFoundError(
        "there is nothing at this address; /api/openapi.json lists what there is")));
  }
  static void RefuseMethod(const std::string& allowed, Exchange& exchange) {
    HttpAnswer answer =
        ProblemAnswer(absl::InvalidArgumentError("this address takes only " + allowed));
    answer.status = 405;
    answer.headers.emplace_back("Allow", allowed);
    exchange.Answer(std::move(answer));
  }

  Api api_;
  const bool has_tokens_;
  const bool is_local_;
  std::unique_ptr<HttpServer> http_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<WebServer>> WebServer::Start(WebOptions options) {
  absl::StatusOr<std::string> certificate = ContentsOf(options.certificate_file);
  if (!certificate.ok()) return certificate.status();
  absl::StatusOr<std::string> key = ContentsOf(options.key_file);
  if (!key.ok()) return key.status();
  // Cookies know no ports: two masters of one host would take each other's.
  const std::size_t colon = options.address.rfind(':');
  const std::string cookie = "tidemark-" + options.address.substr(colon + 1);
  HttpOptions http = {.address = options.address,
                      .certificate = *std::move(certificate),
                      .key = *std::move(key),
                      .cookie = cookie,
                      .silence_max = options.silence_max};
  auto server = std::make_unique<Server>(std::move(options), cookie);
  if (absl::Status started = server->Start(http); !started.ok()) return started;
  return server;
}

}  // namespace tidemark::web
