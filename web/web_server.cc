#include "web/web_server.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <numbers>
#include <optional>
#include <string_view>
#include <utility>

#include "transport/listen_address.h"
#include "web/api.h"
#include "web/http_exchange.h"
#include "web/http_server.h"
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

// Returns the file, compressed if the request allows it. Both forms have different tags, since
// caches compare tags.
HttpAnswer AnswerWith(const PageFile& file, const HttpRequest& request) {
  const bool sends_gzip = file.is_gzip && AcceptsGzip(request.accept_encoding);
  const std::string tag =
      fmt::format("\"{}{}\"", file.hash, file.is_gzip && !sends_gzip ? "-plain" : "");
  HttpAnswer answer = {.content_type = std::string(file.content_type),
                       .headers = {{"ETag", tag}, {"Cache-Control", "no-cache"}}};
  if (file.is_gzip) answer.headers.emplace_back("Vary", "Accept-Encoding");
  if (request.if_none_match == tag) {
    answer.status = 304;
    return answer;
  }
  if (!file.is_gzip || sends_gzip) {
    answer.body = file.bytes;
  } else if (std::optional<std::string> text = Gunzip(file.bytes)) {
    answer.body = *std::move(text);
  } else {
    return ProblemAnswer(absl::ResourceExhaustedError("out of memory; try again later"));
  }
  if (sends_gzip) answer.headers.emplace_back("Content-Encoding", "gzip");
  return answer;
}

constexpr std::uint32_t kSize = 32;  // width and height in pixels
constexpr std::uint32_t kMaskBytes = kSize * kSize / 8;
constexpr std::uint32_t kHeaderBytes = 40;
constexpr std::uint32_t kOffset = 22;  // offset of the picture within the file
// The bytes of a transparent pixel: blue, green, red and opacity.
constexpr std::string_view kClear("\0\0\0\0", 4);
constexpr std::string_view kTide("\xb4\x6e\x1f\xff", 4);
constexpr std::string_view kMark("\x2d\x55\xd9\xff", 4);

void AddNumber(std::uint32_t number, int bytes, std::string& file) {
  for (; bytes > 0; --bytes, number >>= 8) file += static_cast<char>(number & 0xff);
}

std::string_view ColorAt(std::uint32_t x, std::uint32_t y) {
  const double surface = 19 - 2.5 * std::sin(2 * std::numbers::pi * x / 16.0);
  if (y >= surface && y < kSize - 3) return kTide;
  return y >= 8 && y < 11 && x >= 5 && x < kSize - 5 ? kMark : kClear;
}

// Returns an ICO file with one picture, which shows a tide below a mark.
std::string IconFile() {
  std::string file;
  AddNumber(0, 2, file);  // reserved
  AddNumber(1, 2, file);  // an icon
  AddNumber(1, 2, file);  // pictures
  AddNumber(kSize, 1, file);
  AddNumber(kSize, 1, file);
  AddNumber(0, 2, file);  // no palette, and a reserved byte
  AddNumber(1, 2, file);  // planes
  AddNumber(32, 2, file);
  AddNumber(kHeaderBytes + 4 * kSize * kSize + kMaskBytes, 4, file);
  AddNumber(kOffset, 4, file);
  AddNumber(kHeaderBytes, 4, file);
  AddNumber(kSize, 4, file);
  AddNumber(2 * kSize, 4, file);  // size of the colors and the mask
  AddNumber(1, 2, file);
  AddNumber(32, 2, file);
  file.append(kHeaderBytes - 16, '\0');
  for (std::uint32_t y = kSize; y-- > 0;) {  // bottom to top
    for (std::uint32_t x = 0; x < kSize; ++x) file += ColorAt(x, y);
  }
  file.append(kMaskBytes, '\0');  // the colors contain the opacity
  return file;
}

// Returns the file at a path of one part, or null.
const PageFile* FindPageFile(std::string_view path) {
  static const auto* const kIconBytes = new std::string(IconFile());
  static const auto* const kIcon = new PageFile{.path = "/favicon.ico",
                                                .content_type = "image/x-icon",
                                                .bytes = *kIconBytes,
                                                .hash = "icon-1"};
  if (path == kIcon->path) return kIcon;
  for (const PageFile& file : PageFiles()) {
    if (file.path == path) return &file;
  }
  return nullptr;
}

class Server final : public WebServer {
 public:
  Server(WebOptions options, std::string cookie)
      : has_tokens_(options.has_tokens),
        is_local_(transport::IsLocalAddress(options.address)),
        api_(std::move(options), std::move(cookie)) {}
  ~Server() override { http_.reset(); }

  absl::Status Start(const HttpOptions& options) {
    auto http = HttpServer::Start(options,
                                  [this](std::shared_ptr<Exchange> exchange) { Handle(exchange); });
    if (!http.ok()) return http.status();
    http_ = *std::move(http);
    return absl::OkStatus();
  }
  int port() const override { return http_->port(); }

 private:
  void Handle(const std::shared_ptr<Exchange>& exchange) {
    const HttpRequest& request = exchange->request();
    const bool is_api = !request.path.empty() && request.path.front() == "api";
    if (is_api) {
      if (absl::Status allowed = CheckOrigin(request, has_tokens_, is_local_); !allowed.ok()) {
        return exchange->Answer(ProblemAnswer(allowed));
      }
    }
    const FoundRoute found = FindRoute(request.method, request.path);
    if (found.route != nullptr) return (api_.*found.route->handler)(found.job_id, exchange);
    if (!found.allowed.empty()) return RejectMethod(found.allowed, *exchange);
    if (!is_api && request.method != "GET" && request.method != "HEAD") {
      return RejectMethod("GET, HEAD", *exchange);
    }
    if (!is_api && request.path.size() <= 1) {
      const std::string path = "/" + (request.path.empty() ? "" : request.path.front());
      if (const PageFile* file = FindPageFile(path)) {
        return exchange->Answer(AnswerWith(*file, request));
      }
    }
    exchange->Answer(
        ProblemAnswer(absl::NotFoundError("not found; /api/openapi.json lists the addresses")));
  }
  static void RejectMethod(const std::string& allowed, Exchange& exchange) {
    HttpAnswer answer =
        ProblemAnswer(absl::InvalidArgumentError("this address accepts only " + allowed));
    answer.status = 405;
    answer.headers.emplace_back("Allow", allowed);
    exchange.Answer(std::move(answer));
  }

  const bool has_tokens_;
  const bool is_local_;
  Api api_;
  std::unique_ptr<HttpServer> http_;
};

}  // namespace

bool WebServer::HasPage() {
  return PageFiles().size() > 1;  // A build without the page has only "/", which states the reason.
}

absl::StatusOr<std::unique_ptr<WebServer>> WebServer::Start(WebOptions options) {
  absl::StatusOr<std::string> certificate = ContentsOf(options.certificate_file);
  if (!certificate.ok()) return certificate.status();
  absl::StatusOr<std::string> key = ContentsOf(options.key_file);
  if (!key.ok()) return key.status();
  // Cookies do not depend on the port, so masters on one host need cookies of different names.
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
