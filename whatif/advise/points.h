// The results of a history, the benefit of keeping each of them, and the choice among nested
// results ([GB] 6.1, dimensions 2 and 3).
//
// Values and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "whatif/advise/past_plan.h"
#include "whatif/advise/prefix_cost.h"
#include "whatif/gray_box/materialization.h"

namespace tidemark::advise {

inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

struct ComparedPlan {
  const PastPlan* ran = nullptr;
  std::vector<NormalOperator> operators;
  std::vector<std::size_t> reader_of;  // by index in `ran`, the last reader, or kNone
};

// The comparable plans of a history, by time.
struct History {
  std::vector<ComparedPlan> plans;  // by start time
  gray_box::ReuseChain chain;
  std::size_t applications = 0;
  double seconds = 0;                // from the first start to the last
  std::vector<std::string> remarks;  // remarks about excluded plans
};

// Fails with InvalidArgument if no plan is comparable. The result refers to `plans`.
absl::StatusOr<History> Compared(const std::vector<PastPlan>& plans);

// Returns true if the value is known, finite and not negative.
bool IsAmount(const std::optional<double>& value);

// For each operator up to `op`, returns true if it is `op` or a direct or indirect input of `op`.
std::vector<bool> PrefixOf(const ComparedPlan& plan, std::size_t op);

// Returns a hash of the source data of a prefix that has `records` output records, as far as the
// log shows it. Returns 0 if unknown.
std::uint64_t DataOf(const ComparedPlan& plan, const std::vector<bool>& prefix,
                     const std::optional<double>& records);

// Returns the largest width of a record of `op`: the width in an exchange above it or, otherwise,
// the width of its columns, each as wide as the columns of the widest source. Returns nullopt if
// unknown.
std::optional<double> WidthOf(const ComparedPlan& plan, std::size_t op,
                              const std::vector<bool>& prefix);

// An operator of a plan that computes the result.
struct Occurrence {
  std::size_t plan = 0;    // index in the history
  std::size_t op = 0;      // index in the plan's normal form
  std::uint64_t data = 0;  // as returned by DataOf()
  PrefixCost cost;
  std::optional<double> records;
  std::optional<double> bytes;  // upper limit
  // true for the first use of its data, which computes and writes the result
  bool is_first = false;
  Bounds benefit;  // eq. 8, in seconds
};

struct Point {
  std::uint64_t signature = 0;
  std::vector<Occurrence> uses;  // sorted by time, one per plan
  std::optional<double> bytes;   // size of the largest use; empty if the size of a use is unknown
  double records = 0;
  double read_seconds = 0;
  double write_seconds = 0;
  std::size_t data = 0;  // number of different versions of its data
  Bounds saved;          // savings over the history minus the time to write, in seconds
  std::string bar;       // why it cannot be kept; empty if it can
};

struct Points {
  std::vector<Point> all;    // by the lower bound of their savings, largest first
  std::size_t left_out = 0;  // number of points beyond kPointsMax
  std::size_t untimed = 0;   // number of operators without a timed stage
};

// Maximum number of points; further points are only counted.
inline constexpr std::size_t kPointsMax = 500;

// Returns the time of reading a stored result: the start of a job, and the time for its bytes (eq.
// 11).
double ReadingSeconds(double bytes, double read_rate);

// `read_rate` is the rate of eq. 11 in bytes per second.
Points PointsOf(const History& history, double read_rate);

struct Choice {
  std::set<std::size_t> kept;  // indexes of the chosen points
  Bounds saved;  // savings by all chosen points over the history, after writing; seconds
};

// Chooses greedily by the savings of each point or, if space is limited, by the savings per byte.
// Recomputes savings after each choice. If the single best point saves more, returns only that
// point, which saves at least half of the optimum.
//
// Never chooses a point with a bar, or one that may cost time in combination with the chosen
// points. Sets the bar of points that are not chosen. An empty space is unlimited. O(kept x points
// x uses x nesting).
Choice Choose(const History& history, std::optional<double> space_bytes,
              std::vector<Point>& points);

}  // namespace tidemark::advise
