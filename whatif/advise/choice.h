// Which results to keep, of those that are within one another ([GB] 6.1, dimensions 2 and 3).
//
// Greedily by what each saves, or with a limit of space by what a byte of it saves, weighed anew
// beside those that were taken; or the single best one alone if that saves more, which is at least
// half of the optimum.
//
// Pure. Cost: O(kept x points x uses x nesting).
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <vector>

#include "whatif/advise/history.h"
#include "whatif/advise/points.h"
#include "whatif/advise/range.h"

namespace tidemark::advise {

struct Choice {
  std::set<std::size_t> kept;  // indexes of points
  Range saved;                 // by all together, in the history, after writing; seconds
};

// Never takes what has a bar, or what may cost time beside the others. Gives those that are not
// taken a bar that says why. Empty space: no limit.
Choice Choose(const History& history, std::optional<double> space_bytes,
              std::vector<Point>& points);

}  // namespace tidemark::advise
