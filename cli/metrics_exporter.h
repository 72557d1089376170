// Serves /metrics over HTTP, for Prometheus.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tidemark/master.h"

namespace tidemark::cli {

class MetricsExporter {
 public:
  // `address` is host:port. `master` must outlive the exporter. Unavailable: it cannot be bound.
  static absl::StatusOr<std::unique_ptr<MetricsExporter>> Start(const std::string& address,
                                                                const Master& master);
  virtual ~MetricsExporter() = default;
};

}  // namespace tidemark::cli
