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
#include "web/http_server.h"

namespace tidemark::serve {

// Returns all families of metrics. `jobs` are the snapshots of jobs and workflows. `alerts` are
// counts by message format.
std::vector<prometheus::MetricFamily> MetricFamilies(
    const MasterStats& stats, const std::vector<Snapshot>& jobs,
    const std::map<std::string, AlertCounts>& alerts = {});

// Serves the metrics at /metrics of an address, host:port; port 0 selects a free port. `alerts`
// returns the current counts of alerts, by message format, on a thread of the server. `master` and
// the objects that `alerts` reads must outlive the server. Fails with Unavailable if the address
// cannot be bound.
absl::StatusOr<std::unique_ptr<web::HttpServer>> StartMetrics(
    const std::string& address, const Master& master,
    std::function<std::map<std::string, AlertCounts>()> alerts);

}  // namespace tidemark::serve
