// The metrics of a running master, for Prometheus.
//
// Metrics use base units (seconds, bytes) and ratios 0..1. Labels name a job or workflow while it
// runs, but never a task.
#pragma once

#include <prometheus/metric_family.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "serve/alerts/alert_sender.h"
#include "tidemark/job.h"
#include "tidemark/master.h"
#include "tidemark/master_stats.h"

namespace tidemark::serve {

// Returns all families of metrics. `jobs` are the snapshots of jobs and workflows. `alerts` are
// counts by message format.
std::vector<prometheus::MetricFamily> MetricFamilies(
    const MasterStats& stats, const std::vector<Snapshot>& jobs,
    const std::map<std::string, AlertCounts>& alerts = {});

class MetricsExporter {
 public:
  // Returns the current counts of alerts, by message format. Called on a thread of the exporter.
  using AlertCountsOf = std::function<std::map<std::string, AlertCounts>()>;

  // `address` is host:port; port 0 selects a free port. `master` and the objects that `alerts`
  // reads must outlive the exporter. Fails with Unavailable if the address cannot be bound.
  static absl::StatusOr<std::unique_ptr<MetricsExporter>> Start(const std::string& address,
                                                                const Master& master,
                                                                AlertCountsOf alerts);
  virtual ~MetricsExporter() = default;
  virtual int port() = 0;  // the bound port
};

}  // namespace tidemark::serve
