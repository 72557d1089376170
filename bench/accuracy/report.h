// Prints the results of rows as a table, as JSON, and as curves for plots.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "bench/accuracy/replay.h"

namespace tidemark::bench {

// Prints one line per row with averages over its seeds, then the means.
std::string TableOf(const std::vector<RowResult>& results);

// Returns {"suite": ..., "rows": [one for each row, seed and indicator], "mean": {INDICATOR:
// {...}}, "behind": {INDICATOR: ...}, "late": {INDICATOR: {...}}}; errors in percentage points,
// shares 0..1; null without a figure. Means are over rows and seeds, of all and of each split. In
// addition to the metrics they have
//   even_coverage  share of rows and seeds with a coverage of at least 0.75
//   rows_behind    rows in which avg_err is more than 0.5 points above the best other indicator's,
//                  the oracle and variants of tidemark aside; of all rows "behind" has it, too
// "late" has the figures of lateness.h for all rows and seeds and for each split: ten bins by the
// predicted probability.
std::string JsonOf(const std::vector<RowResult>& results);

// Writes two kinds of JSON lines per row and seed: one with its task attempts, and one per
// indicator with its predictions. Times are seconds from the start of the phase. The results must
// contain their simulations.
std::string CurvesOf(const std::vector<RowResult>& results);

}  // namespace tidemark::bench
