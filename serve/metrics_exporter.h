// Serves /metrics over HTTP, for Prometheus.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "serve/alerts/alert_sender.h"
#include "tidemark/master.h"

namespace tidemark::cli {

class MetricsExporter {
 public:
  // Counts of alerts so far, by the shape of who is told. Called on a thread of the exporter.
  using AlertCountsOf = std::function<std::map<std::string, AlertCounts>()>;

  // `address` is host:port; port 0 takes a free one. `master`, and what `alerts` looks at, must
  // outlive the exporter. Unavailable: it cannot be bound.
  static absl::StatusOr<std::unique_ptr<MetricsExporter>> Start(const std::string& address,
                                                                const Master& master,
                                                                AlertCountsOf alerts);
  virtual ~MetricsExporter() = default;
  // Where it listens.
  virtual int port() = 0;
};

}  // namespace tidemark::cli
