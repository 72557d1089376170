// What a master counts, as families of Prometheus metrics.
//
// Base units (seconds, bytes), ratios 0..1. Labels: the job or workflow, while it runs; never a
// task.
#pragma once

#include <prometheus/metric_family.h>

#include <vector>

#include "tidemark/job.h"
#include "tidemark/master_stats.h"

namespace tidemark::cli {

// `jobs`: those that report, and workflows.
std::vector<prometheus::MetricFamily> MetricFamilies(const MasterStats& stats,
                                                     const std::vector<Snapshot>& jobs);

}  // namespace tidemark::cli
