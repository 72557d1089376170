// The results of rows as a table for the screen, as JSON, and as curves for plots.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "bench/accuracy/replay.h"

namespace tidemark::bench {

// One line for each row, averages over its seeds, then the means.
std::string TableOf(const std::vector<RowResult>& results);

// {"suite": ..., "rows": [one for each row, seed and indicator], "mean": {INDICATOR: {...}},
// "behind": {INDICATOR: ...}, "late": {INDICATOR: {...}}};
// errors in percentage points, shares 0..1; null where there is no figure. Means are over rows and
// seeds, of all and of each split; besides the metrics they have
//   even_coverage  share of rows and seeds with a coverage of at least 0.75
//   rows_behind    rows in which avg_err is more than 0.5 points above the best other indicator's,
//                  the oracle and variants of tidemark aside; of all rows "behind" has it, too
// "late" is what lateness.h says, of all rows and seeds and of each split: ten bins by the
// probability that was said.
std::string JsonOf(const std::vector<RowResult>& results);

// Two kinds of JSON lines, for each row and seed: one with its task attempts, and one for each
// indicator with its predictions. Seconds from the start of the phase. The results must have kept
// their simulations.
std::string CurvesOf(const std::vector<RowResult>& results);

}  // namespace tidemark::bench
