// Computes how much time reading the result of an operator would save ([GB] eq. 9 and 10), from the
// times of stages in the log.
//
// Stages are timed, but operators are not, so the time of operators above the result in the same
// stage must be subtracted. That time is between zero and kRowSeconds per record for the engine's
// own operators, and up to the whole time for functions of the program. Branches of a join count by
// the times at which they ran: the longest branch if they ran in parallel (eq. 10), or their sum if
// they ran in sequence.
//
// Pure. The constructor takes O(operators^2) time and O(operators) memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "whatif/advise/past_plan.h"

namespace tidemark::advise {

// Upper limit of the seconds per record of an engine's operator. Chosen by hand; no run has
// measured it.
inline constexpr double kRowSeconds = 1e-6;

struct PrefixCost {
  Bounds seconds;           // wall clock
  double path_seconds = 0;  // eq. 9 and 10, with branches in parallel
  // whether the time can be separated from operators above it in the same stage
  bool is_separable = true;
};

class PrefixCosts {
 public:
  // REQUIRES: NormalPlan(plan) is OK, and `plan` outlives this object.
  explicit PrefixCosts(const PastPlan& plan);

  // Returns the cost of the output of `op`. Fails with FailedPrecondition if none of its stages is
  // timed.
  absl::StatusOr<PrefixCost> Of(std::size_t op) const;
  // Returns the number of output records of `op`, or of an input that it passes on unchanged.
  std::optional<double> RecordsOf(std::size_t op) const { return records_[op]; }

 private:
  struct Trait {
    bool only_moves = false;
    bool is_exchange = false;
    bool is_of_unknown_cost = false;
  };
  // The share of a stage's time up to an operator.
  struct Shares {
    Bounds share;
    bool is_separable = true;
  };
  std::vector<bool> PrefixOf(std::size_t op) const;
  Shares SharesUpTo(const PastPlanStage& stage, const std::vector<std::size_t>& operators,
                    const std::vector<bool>& is_below) const;
  void FindStages(const std::vector<std::size_t>& order);
  void FindRecords(const std::vector<std::size_t>& order);
  void FindPaths();

  const PastPlan& plan_;
  std::vector<Trait> traits_;
  std::vector<std::vector<std::uint32_t>> stages_;  // timed stages of each operator
  std::vector<std::optional<double>> records_;
  std::map<std::uint32_t, std::vector<std::size_t>> operators_of_;  // by stage
  std::vector<double> path_seconds_;
};

}  // namespace tidemark::advise
