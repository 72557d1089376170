#include "cli/metrics_exporter.h"

#include <fmt/format.h>
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>

#include <exception>
#include <vector>

#include "cli/metrics_families.h"

namespace tidemark::cli {
namespace {

// Whoever asks waits for one of these; a scrape takes milliseconds.
constexpr std::size_t kThreads = 2;

class MasterMetrics final : public prometheus::Collectable {
 public:
  explicit MasterMetrics(const Master& master) : master_(master) {}
  std::vector<prometheus::MetricFamily> Collect() const override {
    return MetricFamilies(master_.stats(), master_.ListJobs());
  }

 private:
  const Master& master_;
};

class HttpExporter final : public MetricsExporter {
 public:
  HttpExporter(const std::string& address, const Master& master)
      : metrics_(std::make_shared<MasterMetrics>(master)), exposer_(address, kThreads) {
    exposer_.RegisterCollectable(metrics_);
  }

 private:
  const std::shared_ptr<MasterMetrics> metrics_;  // the exposer keeps no hold on it
  prometheus::Exposer exposer_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsExporter>> MetricsExporter::Start(const std::string& address,
                                                                        const Master& master) {
  try {
    return std::make_unique<HttpExporter>(address, master);
  } catch (const std::exception& error) {
    return absl::UnavailableError(
        fmt::format("metrics: cannot listen on {}: {}", address, error.what()));
  }
}

}  // namespace tidemark::cli
