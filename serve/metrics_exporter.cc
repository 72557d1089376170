#include "serve/metrics_exporter.h"

#include <fmt/format.h>
#include <microhttpd.h>
#include <prometheus/text_serializer.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "serve/metrics_families.h"
#include "transport/bind_addresses.h"

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
  HttpExporter(const Master& master, AlertCountsOf alerts)
      : master_(master), alerts_(std::move(alerts)) {}
  ~HttpExporter() override {
    if (server_ != nullptr) MHD_stop_daemon(server_);
  }

  // Serves whoever connects to a socket that listens, which the daemon then owns. Returns false and
  // sets errno if the daemon cannot start.
  bool Serve(int listener) {
    server_ = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, nullptr, nullptr, &Answer, this,
                               MHD_OPTION_LISTEN_SOCKET, listener, MHD_OPTION_CONNECTION_LIMIT,
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
    const HttpExporter& exporter = *static_cast<HttpExporter*>(self);
    const Master& master = exporter.master_;
    return Send(connection, MHD_HTTP_OK,
                prometheus::TextSerializer().Serialize(
                    MetricFamilies(master.stats(), master.ListJobs(), exporter.alerts_())));
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
  const AlertCountsOf alerts_;
  MHD_Daemon* server_ = nullptr;
};

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsExporter>> MetricsExporter::Start(const std::string& address,
                                                                        const Master& master,
                                                                        AlertCountsOf alerts) {
  const auto refuse = [](const std::string& reason) {
    return absl::UnavailableError("metrics.listen: " + reason);
  };
  const absl::StatusOr<int> listener = transport::ListenAtOne(address);
  if (!listener.ok()) return refuse(std::string(listener.status().message()));
  auto exporter = std::make_unique<HttpExporter>(master, std::move(alerts));
  if (exporter->Serve(*listener)) return exporter;
  return refuse(fmt::format("cannot serve metrics at {}: {}", address, std::strerror(errno)));
}

}  // namespace tidemark::cli
