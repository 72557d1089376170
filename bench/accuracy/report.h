// Prints the results of rows as a table, as JSON, and as curves for plots.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/accuracy/replay.h"

namespace tidemark::bench {

// Returns one line for each row with averages over its seeds, followed by the means.
std::string TableOf(const std::vector<RowResult>& results);

// Returns {"suite": ..., "rows": [one for each row, seed and indicator], "mean": {INDICATOR:
// {...}}, "behind": {INDICATOR: ...}, "late": {INDICATOR: {...}}}; errors are in percentage points,
// shares are 0..1, and a missing value is null. Means are over rows and seeds, both in total and
// for each split. In addition to the metrics, they have
//   even_coverage  share of rows and seeds with a coverage of at least 0.75
//   rows_behind    rows in which avg_err is more than 0.5 points above the best other indicator's,
//                  except the oracle and variants of tidemark; "behind" has the value of all rows
//                  "late" has the figures of lateness.h for all rows and seeds and for each split:
//                  ten bins by the predicted probability.
std::string JsonOf(const std::vector<RowResult>& results);

// Returns two kinds of JSON lines for each row and seed: one line with the task attempts, and one
// line per indicator with its predictions. Times are in seconds from the start of the phase. The
// results must contain their simulations.
std::string CurvesOf(const std::vector<RowResult>& results);

// Means of metrics over rows and seeds.
struct MeanMetrics {
  int runs = 0;
  double avg_err = 0;
  double shown_err = 0;
  double max_err = 0;
  double eta_err = 0;
  double backward = 0;
  double backward_shown = 0;
  std::optional<double> coverage90;  // averaged over runs that have a value, like the members below
  std::optional<double> width90;
  std::optional<double> ratio50;
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

// Returns the means over the runs of the rows that `wanted` accepts. Returns zeros if `wanted`
// accepts no row.
MeanMetrics MeanOf(const std::vector<RowResult>& results, const std::string& indicator,
                   const std::function<bool(const Row&)>& wanted);
// Returns the means of one row.
MeanMetrics MeanOf(const RowResult& result, const std::string& indicator);

}  // namespace tidemark::bench
