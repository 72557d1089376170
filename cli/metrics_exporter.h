// Serves /metrics over HTTP, for Prometheus.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tidemark/master.h"

namespace tidemark::cli {

class MetricsExporter {
 public:
  // `address` is host:port; port 0 takes a free one. `master` must outlive the exporter.
  // Unavailable: it cannot be bound.
  static absl::StatusOr<std::unique_ptr<MetricsExporter>> Start(const std::string& address,
                                                                const Master& master);
  virtual ~MetricsExporter() = default;
  // Where it listens.
  virtual int port() = 0;
};

}  // namespace tidemark::cli
