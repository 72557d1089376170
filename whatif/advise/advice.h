// Which results of a history of plans are worth keeping for others, and why others are not ([GB]
// 6).
//
// A use of a result is an execution whose plan has its operator, with all below it, on the same
// data: sources of the same number of records and bytes. The first use of any data computes and
// writes, the others read. So a result whose data change between all its uses saves nothing, and
// neither does one that was used once. Only what saves time by the lower bound of its benefit, less
// what writing takes, is advised; results within one another are not counted twice.
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
#include "whatif/advise/ran_plan.h"
#include "whatif/advise/range.h"

namespace tidemark::advise {

struct AdviceOptions {
  std::optional<double> space_bytes;  // to keep results in; empty: as many as are worth it
  std::optional<double> read_rate;    // bytes a second (eq. 11); empty: as the history shows
};

struct ResultUse {
  std::string application;
  std::string program;
  std::string execution;
  std::string line;
  double begin = 0;       // seconds of the clock
  Range benefit;          // eq. 8, if it had been read
  bool is_first = false;  // of its data, which computes and writes
};

struct ResultPoint {
  std::uint64_t signature = 0;
  std::string kind;
  std::vector<std::string> steps;   // from the sources to it, as people read it
  std::vector<std::string> tables;  // that it is of
  std::vector<ResultUse> uses;      // by time
  std::size_t data = 0;             // how often its sources were other ones
  double records = 0;
  std::optional<double> bytes;  // at most; empty: not told
  double read_seconds = 0;      // eq. 11, and to begin
  double write_seconds = 0;
  Range total_seconds;            // to compute it, of a use
  double path_total_seconds = 0;  // eq. 9 and 10
  Range benefit;                  // eq. 8: the least and the most of any use, and the mean
  Range saved_per_week;           // after writing
  double uses_per_week = 0;
  double reuse_probability = 0;    // that a plan has it, by the chain of operators
  std::size_t max_benefit_of = 0;  // plans of which it is the point with the largest benefit
  bool is_on_skyline = false;      // none has more of both, benefit and uses
  bool is_advised = false;
  std::string why_not;  // if it is not
  std::vector<std::string> doubts;
};

struct PolicyReplay {
  std::string policy;
  Replayed replayed;
};

struct Advice {
  std::vector<ResultPoint> points;  // advised ones first, then by what they save in a week
  std::size_t points_left_out = 0;
  std::size_t plans = 0;
  std::size_t applications = 0;
  double history_weeks = 0;
  double weeks = 0;                    // that figures a week are of: at least one
  double read_rate = 0;                // bytes a second
  double saved_per_week = 0;           // by all that is advised, expected
  double bytes = 0;                    // of all that is advised
  std::vector<PolicyReplay> policies;  // over the whole history, in the space that there is
  std::vector<std::string> remarks;
};

// InvalidArgument: no plan, no plan that can be compared, a space or rate that cannot be.
absl::StatusOr<Advice> Advise(const std::vector<RanPlan>& plans, const AdviceOptions& options);

}  // namespace tidemark::advise
