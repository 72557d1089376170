#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/hadoop/rest_view.h"
#include "tests/test.h"

namespace tidemark::cli::web_client_test {
namespace {

// A web server on loopback that sends one answer to each request.
class WebServer {
 public:
  // `answer_to` returns the whole response to a request.
  explicit WebServer(std::function<std::string(const std::string&)> answer_to)
      : answer_to_(std::move(answer_to)), listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listener_, 8), 0);
    EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    url_ = fmt::format("http://127.0.0.1:{}", ntohs(address.sin_port));
    thread_ = std::thread([this] { Serve(); });
  }
  ~WebServer() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }

  const std::string& url() const { return url_; }
  int requests() const { return requests_; }

 private:
  void Serve() {
    for (int peer = 0; (peer = accept(listener_, nullptr, nullptr)) >= 0; close(peer)) {
      std::string request;
      char bytes[4096];
      while (request.find("\r\n\r\n") == std::string::npos) {
        const ssize_t got = read(peer, bytes, sizeof bytes);
        if (got <= 0) break;
        request.append(bytes, static_cast<std::size_t>(got));
      }
      ++requests_;
      const std::string answer = answer_to_(request);
      EXPECT_EQ(write(peer, answer.data(), answer.size()), std::ssize(answer));
    }
  }

  const std::function<std::string(const std::string&)> answer_to_;
  const int listener_;
  std::string url_;
  std::atomic<int> requests_ = 0;
  std::thread thread_;
};

std::string Answer(const std::string& body) {
  return fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
                     body.size(), body);
}

// Returns the redirection of a standby resource manager.
std::string Redirection(const std::string& to) {
  const std::string body = "This is standby RM. The redirect url is: " + to;
  return fmt::format(
      "HTTP/1.1 307 Temporary Redirect\r\nLocation: {}\r\nContent-Length: {}\r\n"
      "Connection: close\r\n\r\n{}",
      to, body.size(), body);
}

TEST(WebClient, ReturnsTheAnswer) {
  WebServer server([](const std::string&) { return Answer("{}"); });
  const auto answer = WebClient().Get(server.url() + "/ws/v1/cluster/info");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(*answer, "{}");
}

TEST(WebClient, FollowsTheRedirectionOfAStandbyResourceManager) {
  WebServer active([](const std::string& request) {
    return Answer(request.starts_with("GET /ws/v1/cluster/info ") ? "active" : request);
  });
  WebServer standby(
      [&](const std::string&) { return Redirection(active.url() + "/ws/v1/cluster/info"); });
  const auto answer = WebClient().Get(standby.url() + "/ws/v1/cluster/info");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(*answer, "active");
}

TEST(WebClient, StopsAtACycleOfRedirections) {
  std::string self;
  WebServer server([&](const std::string&) { return Redirection(self); });
  self = server.url();
  const auto answer = WebClient().Get(self);
  EXPECT_TRUE(absl::IsUnavailable(answer.status())) << answer.status();
  EXPECT_EQ(server.requests(), 6);
}

TEST(WebClient, RejectsARedirectionToAFile) {
  WebServer server([](const std::string&) { return Redirection("file:///etc/hostname"); });
  const auto answer = WebClient().Get(server.url());
  EXPECT_TRUE(absl::IsUnavailable(answer.status())) << answer.status();
}

TEST(WebClient, ReportsAServerThatDoesNotSpeakHttp) {
  // The first frame of a gRPC server contains HTTP/2 settings.
  WebServer server([](const std::string&) { return std::string("\0\0\0\4\0\0\0\0\0", 9); });
  const auto answer = WebClient().Get(server.url());
  EXPECT_TRUE(absl::IsUnavailable(answer.status())) << answer.status();
  EXPECT_THAT(std::string(answer.status().message()), HasSubstr("does not speak HTTP; pass the"));
}

TEST(WebClient, ReportsAStatusOtherThan200) {
  const std::pair<int, absl::StatusCode> cases[] = {
      {404, absl::StatusCode::kNotFound},         {410, absl::StatusCode::kNotFound},
      {401, absl::StatusCode::kPermissionDenied}, {403, absl::StatusCode::kPermissionDenied},
      {500, absl::StatusCode::kUnavailable},      {503, absl::StatusCode::kUnavailable}};
  for (const auto& [status, code] : cases) {
    WebServer server([status = status](const std::string&) {
      return fmt::format("HTTP/1.1 {} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", status);
    });
    const auto answer = WebClient().Get(server.url());
    EXPECT_EQ(answer.status().code(), code) << answer.status();
    EXPECT_THAT(std::string(answer.status().message()),
                HasSubstr(fmt::format("HTTP status {}", status)));
  }
}

}  // namespace
}  // namespace tidemark::cli::web_client_test
