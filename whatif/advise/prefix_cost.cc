#include "whatif/advise/prefix_cost.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/status/status.h"
#include "whatif/advise/past_plan.h"
#include "whatif/gray_box/materialization.h"

namespace tidemark::advise {
namespace {

using Interval = std::pair<double, double>;

// Returns disjoint intervals in order.
std::vector<Interval> Union(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end());
  std::vector<Interval> merged;
  for (const Interval& next : intervals) {
    if (!merged.empty() && next.first <= merged.back().second) {
      merged.back().second = std::max(merged.back().second, next.second);
    } else {
      merged.push_back(next);
    }
  }
  return merged;
}

double Length(const std::vector<Interval>& merged) {
  double length = 0;
  for (const auto& [begin, end] : merged) length += end - begin;
  return length;
}

// Returns the length of `some` outside `others`.
double LengthWithout(const std::vector<Interval>& some, const std::vector<Interval>& others) {
  std::vector<Interval> all = some;
  all.insert(all.end(), others.begin(), others.end());
  return Length(Union(std::move(all))) - Length(Union(others));
}

bool IsTimed(const PastPlanStage& stage) {
  return std::isfinite(stage.begin) && std::isfinite(stage.end) && stage.end >= stage.begin;
}

// Returns the operators, each after its inputs. REQUIRES: `plan` has no cycle.
std::vector<std::size_t> InputsFirst(const PastPlan& plan) {
  std::vector<std::size_t> order;
  std::vector<bool> is_seen(plan.operators.size(), false);
  for (std::size_t root = 0; root < plan.operators.size(); ++root) {
    std::vector<std::pair<std::size_t, std::size_t>> path;
    if (!is_seen[root]) path.emplace_back(root, 0);
    while (!path.empty()) {
      auto& [at, next] = path.back();
      is_seen[at] = true;
      if (next == plan.operators[at].inputs.size()) {
        order.push_back(at);
        path.pop_back();
        continue;
      }
      const std::size_t input = plan.operators[at].inputs[next++];
      if (!is_seen[input]) path.emplace_back(input, 0);
    }
  }
  return order;
}

bool KeepsRecords(const PastOperator& op) {
  return op.inputs.size() == 1 &&
         (OnlyMoves(op) || op.name == "Project" || op.name == "Sort" || op.name == "map" ||
          op.name == "keyBy" || op.name == "mapValues");
}

}  // namespace

PrefixCosts::PrefixCosts(const PastPlan& plan)
    : plan_(plan), stages_(plan.operators.size()), records_(plan.operators.size()) {
  for (const PastOperator& op : plan.operators) {
    traits_.push_back(
        {.only_moves = OnlyMoves(op) && !IsExchange(op),
         .is_exchange = IsExchange(op),
         .is_of_unknown_cost = op.inputs.empty() || HasOwnCode(op) || plan.is_lineage});
    // A sort for a join or an aggregation takes time.
    if (op.name == "Sort") traits_.back().only_moves = false;
  }
  const std::vector<std::size_t> order = InputsFirst(plan);
  FindStages(order);
  FindRecords(order);
  for (std::size_t op = 0; op < stages_.size(); ++op) {
    for (const std::uint32_t stage : stages_[op]) operators_of_[stage].push_back(op);
  }
  FindPaths();
}

// Assigns an operator without metrics to the stage of its reader, up to the next exchange, or else
// to the stage of its input.
void PrefixCosts::FindStages(const std::vector<std::size_t>& order) {
  for (std::size_t op = 0; op < stages_.size(); ++op) {
    for (const std::uint32_t number : plan_.operators[op].stages) {
      const auto stage = plan_.stages.find(number);
      if (stage == plan_.stages.end() || !IsTimed(stage->second)) continue;
      if (std::find(stages_[op].begin(), stages_[op].end(), number) == stages_[op].end()) {
        stages_[op].push_back(number);
      }
    }
  }
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    // An exchange writes its output in the stage of its input. Cached data may come from an earlier
    // stage.
    if (traits_[*at].is_exchange && stages_[*at].empty()) continue;
    if (plan_.operators[*at].name.starts_with("InMemoryTableScan")) continue;
    for (const std::size_t input : plan_.operators[*at].inputs) {
      if (stages_[input].empty() && !traits_[input].is_exchange) {
        stages_[input] = stages_[*at];
      }
    }
  }
  for (const std::size_t at : order) {
    for (const std::size_t input : plan_.operators[at].inputs) {
      const bool is_other_stage = traits_[input].is_exchange && !traits_[at].is_exchange;
      if (stages_[at].empty() && !is_other_stage) stages_[at] = stages_[input];
    }
  }
}

void PrefixCosts::FindRecords(const std::vector<std::size_t>& order) {
  for (const std::size_t at : order) {
    const PastOperator& op = plan_.operators[at];
    const bool is_believed = op.records && std::isfinite(*op.records) && *op.records >= 0;
    if (is_believed) {
      records_[at] = op.records;
    } else if (KeepsRecords(op)) {
      records_[at] = records_[op.inputs[0]];
    }
  }
}

std::vector<bool> PrefixCosts::PrefixOf(std::size_t op) const {
  std::vector<bool> is_in(plan_.operators.size(), false);
  std::vector<std::size_t> left = {op};
  while (!left.empty()) {
    const std::size_t at = left.back();
    left.pop_back();
    if (is_in[at]) continue;
    is_in[at] = true;
    left.insert(left.end(), plan_.operators[at].inputs.begin(), plan_.operators[at].inputs.end());
  }
  return is_in;
}

PrefixCosts::Shares PrefixCosts::SharesUpTo(const PastPlanStage& stage,
                                            const std::vector<std::size_t>& operators,
                                            const std::vector<bool>& is_below) const {
  double above = 0;    // certain task seconds of the operators above
  double perhaps = 0;  // possible additional task seconds
  bool is_known = true;
  bool has_above = false;
  for (const std::size_t at : operators) {
    if (is_below[at]) continue;
    const PastOperator& op = plan_.operators[at];
    if (traits_[at].only_moves) continue;
    has_above = true;
    if (traits_[at].is_of_unknown_cost) {
      is_known = false;
      continue;
    }
    if (traits_[at].is_exchange) above += stage.shuffle_write_seconds;
    double handled = 0;
    for (const std::size_t input : op.inputs) {
      if (!records_[input]) is_known = false;
      handled += records_[input].value_or(0);
    }
    perhaps += kRowSeconds * std::max(handled, records_[at].value_or(0));
  }
  if (!has_above) return {.share = {1, 1, 1}};
  const double total = stage.task_seconds;
  if (!(total > 0) || !std::isfinite(total)) return {.share = {0, 0.5, 1}, .is_separable = false};
  const double upper = std::clamp(1 - above / total, 0.0, 1.0);
  const double lower = is_known ? std::clamp(upper - perhaps / total, 0.0, 1.0) : 0;
  return {.share = {lower, (lower + upper) / 2, upper}, .is_separable = is_known};
}

// The time of an operator is the time of its stage up to the operator minus the time up to its
// inputs. Eq. 9 and 10 add these times up again.
void PrefixCosts::FindPaths() {
  const std::size_t size = plan_.operators.size();
  std::vector<double> up_to(size, 0);  // time in its own stages
  for (std::size_t op = 0; op < size; ++op) {
    if (stages_[op].empty()) continue;
    const std::vector<bool> is_in = PrefixOf(op);
    for (const std::uint32_t number : stages_[op]) {
      const PastPlanStage& stage = plan_.stages.at(number);
      const Shares shares = SharesUpTo(stage, operators_of_.at(number), is_in);
      up_to[op] += (stage.end - stage.begin) * shares.share.expected;
    }
  }
  std::vector<gray_box::Operator> operators(size);
  for (std::size_t op = 0; op < size; ++op) {
    operators[op].inputs = plan_.operators[op].inputs;
    double below = 0;
    for (const std::size_t input : operators[op].inputs) {
      if (stages_[input] == stages_[op]) below = std::max(below, up_to[input]);
    }
    operators[op].seconds = std::max(0.0, up_to[op] - below);
  }
  const auto total = gray_box::TotalSeconds(operators);
  path_seconds_ = total.ok() ? *total : std::vector<double>(size, 0);
}

absl::StatusOr<PrefixCost> PrefixCosts::Of(std::size_t op) const {
  const std::vector<bool> is_in = PrefixOf(op);
  std::vector<Interval> whole;
  std::vector<Interval> others;
  PrefixCost cost = {.path_seconds = path_seconds_[op]};
  bool is_timed = false;
  std::vector<std::uint32_t> own;
  for (const auto& [number, operators] : operators_of_) {
    const PastPlanStage& stage = plan_.stages.at(number);
    const bool is_own =
        std::find(stages_[op].begin(), stages_[op].end(), number) != stages_[op].end();
    const bool is_whole = !is_own && std::all_of(operators.begin(), operators.end(),
                                                 [&](std::size_t at) { return is_in[at]; });
    is_timed = is_timed || is_own || is_whole;
    if (is_own) {
      own.push_back(number);
    } else {
      (is_whole ? whole : others).emplace_back(stage.begin, stage.end);
    }
  }
  if (!is_timed) return absl::FailedPreconditionError("none of its stages has a known time");
  const std::vector<Interval> merged = Union(whole);
  cost.seconds = {LengthWithout(merged, others), Length(merged), Length(merged)};
  for (const std::uint32_t number : own) {
    const PastPlanStage& stage = plan_.stages.at(number);
    const Shares shares = SharesUpTo(stage, operators_of_.at(number), is_in);
    const double seconds = LengthWithout({{stage.begin, stage.end}}, merged);
    std::vector<Interval> besides = merged;
    besides.insert(besides.end(), others.begin(), others.end());
    cost.seconds.lower += LengthWithout({{stage.begin, stage.end}}, besides) * shares.share.lower;
    cost.seconds.expected += seconds * shares.share.expected;
    cost.seconds.upper += seconds * shares.share.upper;
    cost.is_separable = cost.is_separable && shares.is_separable;
  }
  cost.seconds.lower = std::min(cost.seconds.lower, cost.path_seconds);
  // New executors start up for the first stage.
  for (const auto& [number, operators] : operators_of_) {
    const bool is_in_prefix =
        std::any_of(operators.begin(), operators.end(), [&](std::size_t at) { return is_in[at]; });
    if (!is_in_prefix) continue;
    const Bounds& start_up = plan_.stages.at(number).start_up;
    cost.seconds.lower -= start_up.upper;
    cost.seconds.expected -= start_up.expected;
    cost.seconds.upper -= start_up.lower;
  }
  cost.seconds.lower = std::max(cost.seconds.lower, 0.0);
  cost.seconds.expected = std::max(cost.seconds.expected, cost.seconds.lower);
  cost.seconds.upper = std::max(cost.seconds.upper, cost.seconds.expected);
  return cost;
}

}  // namespace tidemark::advise
