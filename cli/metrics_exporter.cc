#include "cli/metrics_exporter.h"

#include <fmt/format.h>
#include <microhttpd.h>
#include <netdb.h>
#include <prometheus/text_serializer.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "cli/metrics_families.h"

namespace tidemark::cli {
namespace {

// Connections cost a descriptor and no thread. A scraper needs one; whoever says nothing in one
// gives it up.
constexpr unsigned kConnectionsMax = 128;
constexpr unsigned kSilentSecondsMax = 5;

// Not prometheus::Exposer, which adds metrics of its own whose units are not ours to choose (its
// latencies are in microseconds) and has a thread for each connection: a few idle ones use them up.
class HttpExporter final : public MetricsExporter {
 public:
  explicit HttpExporter(const Master& master) : master_(master) {}
  ~HttpExporter() override {
    if (server_ != nullptr) MHD_stop_daemon(server_);
  }

  // Whether it succeeded; else errno says why not.
  bool Start(const sockaddr* address) {
    const unsigned family = address->sa_family == AF_INET6 ? MHD_USE_IPv6 : MHD_NO_FLAG;
    server_ = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | family, 0, nullptr, nullptr, &Answer,
                               this, MHD_OPTION_SOCK_ADDR, address, MHD_OPTION_CONNECTION_LIMIT,
                               kConnectionsMax, MHD_OPTION_CONNECTION_TIMEOUT, kSilentSecondsMax,
                               MHD_OPTION_END);
    return server_ != nullptr;
  }
  int port() override { return MHD_get_daemon_info(server_, MHD_DAEMON_INFO_BIND_PORT)->port; }

 private:
  static MHD_Result Answer(void* self, MHD_Connection* connection, const char* path,
                           const char* method, const char*, const char*, std::size_t*, void**) {
    const std::string words = method;
    if (words != "GET" && words != "HEAD") {
      return Send(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET is allowed\n");
    }
    if (std::string(path) != "/metrics") {
      return Send(connection, MHD_HTTP_NOT_FOUND, "there is only /metrics\n");
    }
    const Master& master = static_cast<HttpExporter*>(self)->master_;
    return Send(
        connection, MHD_HTTP_OK,
        prometheus::TextSerializer().Serialize(MetricFamilies(master.stats(), master.ListJobs())));
  }
  static MHD_Result Send(MHD_Connection* connection, unsigned status, std::string text) {
    MHD_Response* response =
        MHD_create_response_from_buffer(text.size(), text.data(), MHD_RESPMEM_MUST_COPY);
    if (response == nullptr) return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                            "text/plain; version=0.0.4; charset=utf-8");
    const MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
  }

  const Master& master_;
  MHD_Daemon* server_ = nullptr;
};

// Of host:port, [address]:port or port alone.
int Resolve(const std::string& address, addrinfo** found) {
  const std::size_t colon = address.rfind(':');
  std::string host = colon == std::string::npos ? "" : address.substr(0, colon);
  const std::string port = colon == std::string::npos ? address : address.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
  return getaddrinfo(host.empty() ? nullptr : host.c_str(), port.c_str(), &hints, found);
}

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsExporter>> MetricsExporter::Start(const std::string& address,
                                                                        const Master& master) {
  const auto refuse = [&](const char* reason) {
    return absl::UnavailableError(
        fmt::format("metrics.listen: cannot listen on {}: {}", address, reason));
  };
  addrinfo* found = nullptr;
  if (const int error = Resolve(address, &found); error != 0) return refuse(gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, freeaddrinfo);
  auto exporter = std::make_unique<HttpExporter>(master);
  // A name may stand for both; scrapers and probes of 127.0.0.1 rely on the older one.
  for (const bool is_ip4 : {true, false}) {
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
      if ((each->ai_family == AF_INET) == is_ip4 && exporter->Start(each->ai_addr)) return exporter;
    }
  }
  return refuse(std::strerror(errno));
}

}  // namespace tidemark::cli
