// Advises which results of a history of plans to keep for reuse, and states why others are not
// worth keeping ([GB] 6).
//
// A use of a result is an execution whose plan has the same operator and inputs on the same data:
// sources with the same numbers of records and bytes. The first use of any data computes and writes
// the result; later uses read it. A result that was used once, or with other data each time, saves
// nothing. A result is advised only if the lower bound of its benefit exceeds the time of writing.
// Nested results are not counted twice.
//
// Pure, deterministic. Seconds and bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "whatif/advise/cache_replay.h"
#include "whatif/advise/past_plan.h"
#include "whatif/advise/repeated_runs.h"

namespace tidemark::advise {

struct AdviceOptions {
  std::optional<double> space_bytes;  // for kept results; unlimited if empty
  std::optional<double> read_rate;    // bytes per second (eq. 11); measured if empty
};

struct ResultUse {
  std::string application;
  std::string program;
  std::string execution;
  std::string line;
  double begin = 0;       // seconds of the clock
  Bounds benefit;         // eq. 8, of reading the result
  bool is_first = false;  // first use of its data, which computes and writes the result
};

struct ResultPoint {
  std::uint64_t signature = 0;
  std::string kind;
  std::vector<std::string> steps;   // from the sources to the result, as readable text
  std::vector<std::string> tables;  // its sources
  std::vector<ResultUse> uses;      // by time
  std::size_t data = 0;             // number of different data of its sources
  double records = 0;
  std::optional<double> bytes;  // upper limit; empty if unknown
  double read_seconds = 0;      // eq. 11, with the start of a job
  double write_seconds = 0;
  Bounds total_seconds;           // time to compute it, per use
  double path_total_seconds = 0;  // eq. 9 and 10
  Bounds benefit;                 // eq. 8: least, mean and most over uses
  Bounds saved_per_week;          // after writing
  double uses_per_week = 0;
  double reuse_probability = 0;    // that a plan has it, by the chain of operators
  std::size_t max_benefit_of = 0;  // plans with this point as the largest benefit
  bool is_on_skyline = false;      // no other point has more benefit and more uses
  bool is_advised = false;
  std::string why_not;  // empty if it is advised
  std::vector<std::string> doubts;
};

struct PolicyReplay {
  std::string policy;
  Replayed replayed;
};

struct Advice {
  std::vector<ResultPoint> points;  // advised ones first, then by weekly savings
  std::size_t points_left_out = 0;
  std::size_t plans = 0;
  std::size_t applications = 0;
  double history_weeks = 0;
  double weeks = 0;                    // the divisor of weekly figures: at least one
  double read_rate = 0;                // bytes per second
  double saved_per_week = 0;           // by all advised results, expected
  double bytes = 0;                    // size of all advised results
  std::vector<PolicyReplay> policies;  // over the whole history, in the given space
  std::vector<RepeatedRuns> repeated;  // runs that repeat an earlier one as a whole
  std::vector<std::string> remarks;
};

// InvalidArgument if there is no comparable plan, or if the space or rate is impossible.
absl::StatusOr<Advice> Advise(const std::vector<PastPlan>& plans, const AdviceOptions& options);

}  // namespace tidemark::advise
