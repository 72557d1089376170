// What it took to compute what an operator of a plan gives: the time that is saved when it is read
// instead ([GB] eq. 9 and 10, from what the log says of stages).
//
// Stages are timed, operators are not: of the stage that an operator is in, what runs above it is
// taken off. How much that is, is not told; it lies between nothing and kRowSeconds for each record
// that an operator of the engine's own handles, or everything for functions of the program.
// Branches of a join count by when they ran: side by side as the longest (eq. 10), one after the
// other as their sum.
//
// Pure. Memory and cost of the constructor: O(operators^2) time, O(operators) memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "whatif/advise/ran_plan.h"
#include "whatif/advise/range.h"

namespace tidemark::advise {

// What an operator of the engine takes for a record at most. Taste: no run has measured it. seconds
inline constexpr double kRowSeconds = 1e-6;

struct PrefixCost {
  Range seconds;              // of the clock
  double path_seconds = 0;    // eq. 9 and 10: if branches had run side by side
  bool is_told_apart = true;  // from what runs above it in the same stage
};

class PrefixCosts {
 public:
  // REQUIRES: NormalPlan(plan) is ok, and `plan` outlives this.
  explicit PrefixCosts(const RanPlan& plan);

  // Of what `op` gives. FailedPrecondition: no stage of it is timed.
  absl::StatusOr<PrefixCost> Of(std::size_t op) const;
  // That come out of it: its own, or those of an input of which it keeps all.
  std::optional<double> RecordsOf(std::size_t op) const { return records_[op]; }

 private:
  struct Trait {  // of an operator
    bool only_moves = false;
    bool is_exchange = false;
    bool is_of_unknown_cost = false;
  };
  struct Shares {  // of the time of a stage, that are spent up to an operator
    Range share;
    bool is_told_apart = true;
  };
  std::vector<bool> PrefixOf(std::size_t op) const;
  Shares SharesUpTo(const StageRun& stage, const std::vector<std::size_t>& operators,
                    const std::vector<bool>& is_below) const;
  void FindStages(const std::vector<std::size_t>& order);
  void FindRecords(const std::vector<std::size_t>& order);
  void FindPaths();

  const RanPlan& plan_;
  std::vector<Trait> traits_;
  std::vector<std::vector<std::uint32_t>> stages_;  // of each operator, those that are timed
  std::vector<std::optional<double>> records_;
  std::map<std::uint32_t, std::vector<std::size_t>> operators_of_;  // by stage
  std::vector<double> path_seconds_;
};

}  // namespace tidemark::advise
