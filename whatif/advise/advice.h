// Advises which results of a history of plans to keep for reuse, and states why others are not
// worth keeping ([GB] 6).
//
// A use of a result is an execution whose plan has the same operator and inputs on the same data:
// sources with the same numbers of records and bytes. The first use of any data computes and writes
// the result; later uses read it. A result that was used once, or with different data each time,
// saves nothing. A result is advised only if the lower bound of its benefit exceeds the time of
// writing. Nested results are not counted twice.
//
// Pure and deterministic. Times are in seconds, sizes in bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "whatif/advise/past_plan.h"
#include "whatif/advise/points.h"

namespace tidemark::advise {

// Computes the time that a cache of results would have saved over a history, with LRU, LFU and ARC
// ([GB] 6.1, dimension 3). Advice is compared with these caches, although it is computed from the
// whole history.
//
// A cache cannot predict the future. It keeps the result of each query that saves most, and reads
// cached results. Pure.
enum class CachePolicy : std::uint8_t {
  kLru,  // evicts the least recently used result
  kLfu,  // evicts the least frequently used result and, among equals, the least recently used
  // Megiddo and Modha, ARC (FAST 2003): recent and frequent results are kept in separate lists
  // whose sizes follow the misses. Their pages are bytes here.
  kArc,
};

struct KeepableResult {
  std::uint64_t key = 0;  // equal for the same data
  double bytes = 0;
  double benefit_seconds = 0;
  double write_seconds = 0;
};
// The results of one query that can be kept or read, largest benefit first.
using KeepableResults = std::vector<KeepableResult>;

struct Replayed {
  double saved_seconds = 0;  // excludes the time of writing
  std::size_t hits = 0;
  std::size_t writes = 0;
  std::size_t evictions = 0;
};

// Results larger than `bytes_max` are never kept. REQUIRES: numbers are neither negative nor NaN.
Replayed Replay(CachePolicy policy, const std::vector<KeepableResults>& queries, double bytes_max);

// Finds runs of a program that repeat a past run, with equal plans on equal data from the first
// operator to the last. Keeping the results of the first run would have saved the later runs.
//
// Values and pure functions.
struct RepeatedRuns {
  std::string program;
  std::size_t runs = 0;  // with the first
  double seconds = 0;    // total time of the plans of all runs except the first
  // saved part of `seconds`, after subtracting the time of reading the results
  double saved_seconds = 0;
  // true if functions of the program are compared only by names and lines
  bool has_own_code = false;
};

// Returns the groups of runs that repeat each other, largest savings first. A run whose data or
// results are unknown or random repeats no other run, and neither does a partial run.
//
//     saved = sum over the plans of later runs of max(end - start of its stages - time of reading,
//     0)
std::vector<RepeatedRuns> RepeatedRunsIn(const History& history, double read_rate);

struct AdviceOptions {
  std::optional<double> space_bytes;  // space for kept results; unlimited if empty
  std::optional<double> read_rate;    // bytes per second (eq. 11); measured if empty
};

struct ResultUse {
  std::string application;
  std::string program;
  std::string execution;
  std::string line;
  double begin = 0;  // wall-clock time in seconds
  Bounds benefit;    // eq. 8: benefit of reading the result
  // true for the first use of its data, which computes and writes the result
  bool is_first = false;
};

struct ResultPoint {
  std::uint64_t signature = 0;
  std::string kind;
  std::vector<std::string> steps;   // readable steps from the sources to the result
  std::vector<std::string> tables;  // tables that the result reads
  std::vector<ResultUse> uses;      // sorted by time
  std::size_t data = 0;             // number of different versions of its source data
  double records = 0;
  std::optional<double> bytes;  // upper limit; empty if unknown
  double read_seconds = 0;      // eq. 11, plus the start of a job
  double write_seconds = 0;
  Bounds total_seconds;           // time to compute it, per use
  double path_total_seconds = 0;  // eq. 9 and 10
  Bounds benefit;                 // eq. 8: least, mean and most over uses
  Bounds saved_per_week;          // savings after subtracting the time of writing
  double uses_per_week = 0;
  // probability that a plan contains the result, by the chain of operators
  double reuse_probability = 0;
  std::size_t max_benefit_of = 0;  // number of plans in which this point has the largest benefit
  bool is_on_skyline = false;      // true if no other point has both more benefit and more uses
  bool is_advised = false;
  std::string why_not;  // empty if the point is advised
  std::vector<std::string> doubts;
};

struct PolicyReplay {
  std::string policy;
  Replayed replayed;
};

struct Advice {
  std::vector<ResultPoint> points;  // advised points first, then by weekly savings
  std::size_t points_left_out = 0;
  std::size_t plans = 0;
  std::size_t applications = 0;
  double history_weeks = 0;
  double weeks = 0;                    // divisor of weekly figures; at least one
  double read_rate = 0;                // bytes per second
  double saved_per_week = 0;           // expected savings by all advised results
  double bytes = 0;                    // total size of all advised results
  std::vector<PolicyReplay> policies;  // over the whole history, in the given space
  std::vector<RepeatedRuns> repeated;  // full repetitions of a past run
  std::vector<std::string> remarks;
};

// Fails with InvalidArgument if there is no comparable plan, or if the space or rate is impossible.
absl::StatusOr<Advice> Advise(const std::vector<PastPlan>& plans, const AdviceOptions& options);

}  // namespace tidemark::advise
