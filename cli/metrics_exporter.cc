#include "cli/metrics_exporter.h"

#include <CivetServer.h>
#include <fmt/format.h>
#include <prometheus/text_serializer.h>

#include <exception>
#include <string>
#include <vector>

#include "cli/metrics_families.h"

namespace tidemark::cli {
namespace {

// Whoever asks waits for one of these; a scrape takes milliseconds.
constexpr const char* kThreads = "2";

class Scrape final : public CivetHandler {
 public:
  explicit Scrape(const Master& master) : master_(master) {}
  bool handleGet(CivetServer*, mg_connection* connection) override {
    const std::string text = prometheus::TextSerializer().Serialize(
        MetricFamilies(master_.stats(), master_.ListJobs(), master_.ListWorkflows()));
    mg_send_http_ok(connection, "text/plain; version=0.0.4; charset=utf-8",
                    static_cast<long long>(text.size()));
    mg_write(connection, text.data(), text.size());
    return true;
  }

 private:
  const Master& master_;
};

// Not prometheus::Exposer, which adds metrics of its own whose units are not ours to choose: its
// latencies are in microseconds.
class HttpExporter final : public MetricsExporter {
 public:
  HttpExporter(const std::string& address, const Master& master)
      : scrape_(master),
        server_(std::vector<std::string>{"listening_ports", address, "num_threads", kThreads}) {
    server_.addHandler("/metrics", scrape_);
  }
  int port() override { return server_.getListeningPorts().front(); }

 private:
  Scrape scrape_;
  CivetServer server_;  // ends before what it calls
};

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsExporter>> MetricsExporter::Start(const std::string& address,
                                                                        const Master& master) {
  try {
    return std::make_unique<HttpExporter>(address, master);
  } catch (const std::exception& error) {
    return absl::UnavailableError(
        fmt::format("metrics.listen: cannot listen on {}: {}", address, error.what()));
  }
}

}  // namespace tidemark::cli
