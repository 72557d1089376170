// The results of a history, the benefit of keeping each of them, and the choice among nested
// results ([GB] 6.1, dimensions 2 and 3).
//
// Pure values and functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "whatif/advise/history.h"
#include "whatif/advise/prefix_cost.h"

namespace tidemark::advise {

// An operator of a plan that computes the result.
struct Occurrence {
  std::size_t plan = 0;    // index in the history
  std::size_t op = 0;      // index in the plan's normal form
  std::uint64_t data = 0;  // as returned by DataOf()
  PrefixCost cost;
  std::optional<double> records;
  std::optional<double> bytes;  // upper limit
  bool is_first = false;        // first use of its data, which computes and writes the result
  Bounds benefit;               // eq. 8, seconds
};

struct Point {
  std::uint64_t signature = 0;
  std::vector<Occurrence> uses;  // by time, one per plan
  std::optional<double> bytes;   // size of the largest use; empty if a use is unknown
  double records = 0;
  double read_seconds = 0;
  double write_seconds = 0;
  std::size_t data = 0;  // number of different data
  Bounds saved;          // in the history, after writing; seconds
  std::string bar;       // the reason against keeping it; empty without one
};

struct Points {
  std::vector<Point> all;    // by the lower bound of their savings, the most first
  std::size_t left_out = 0;  // beyond kPointsMax
  std::size_t untimed = 0;   // operators without a timed stage
};

// The largest number of points; others are only counted.
inline constexpr std::size_t kPointsMax = 500;

// Returns the time of reading a stored result: the start of a job, and its bytes (eq. 11).
double ReadingSeconds(double bytes, double read_rate);

// `read_rate` is that of eq. 11, in bytes per second.
Points PointsOf(const History& history, double read_rate);

struct Choice {
  std::set<std::size_t> kept;  // indexes of points
  Bounds saved;                // by all kept points in the history, after writing; seconds
};

// Chooses greedily by the savings of each point, or with limited space by the savings per byte.
// Savings are recomputed after each choice. If the single best point saves more, returns only that
// point, which saves at least half of the optimum.
//
// Never chooses a point with a bar, or one that may cost time beside the others. Sets the bar of
// points that are not chosen. An empty space is unlimited. Cost: O(kept x points x uses x nesting).
Choice Choose(const History& history, std::optional<double> space_bytes,
              std::vector<Point>& points);

}  // namespace tidemark::advise
