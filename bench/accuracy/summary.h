// Means of metrics over rows and seeds.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/accuracy/replay.h"

namespace tidemark::bench {

struct MeanMetrics {
  int runs = 0;
  double avg_err = 0;
  double max_err = 0;
  double eta_err = 0;
  double backward = 0;
  double backward_shown = 0;
  std::optional<double> coverage90;  // over the runs that have one, like the members below
  std::optional<double> width90;
  std::optional<double> even_coverage;
  struct MeanMilestone {
    std::optional<double> end_error;
    std::optional<double> hit;
  };
  std::array<MeanMilestone, kMilestones.size()> at;
  int rows_behind = 0;  // 0 for a single row
};

// Returns the indicators in the order of the first row.
std::vector<std::string> IndicatorsOf(const std::vector<RowResult>& results);

// Returns the means over the runs of the rows that `wanted` accepts. Zeros without such rows.
MeanMetrics MeanOf(const std::vector<RowResult>& results, const std::string& indicator,
                   const std::function<bool(const Row&)>& wanted);
// Returns the means of one row.
MeanMetrics MeanOf(const RowResult& result, const std::string& indicator);

}  // namespace tidemark::bench
