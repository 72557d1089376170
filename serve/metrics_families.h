// What a master counts, as families of Prometheus metrics.
//
// Base units (seconds, bytes), ratios 0..1. Labels: the job or workflow, while it runs; never a
// task.
#pragma once

#include <prometheus/metric_family.h>

#include <map>
#include <string>
#include <vector>

#include "serve/alerts/alert_sender.h"
#include "tidemark/job.h"
#include "tidemark/master_stats.h"

namespace tidemark::cli {

// `jobs`: those that report, and workflows. `alerts`: by the shape of who is told.
std::vector<prometheus::MetricFamily> MetricFamilies(
    const MasterStats& stats, const std::vector<Snapshot>& jobs,
    const std::map<std::string, AlertCounts>& alerts = {});

}  // namespace tidemark::cli
