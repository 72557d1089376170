#include "whatif/advise/repeated_runs.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "whatif/advise/points.h"
#include "whatif/advise/prefix_cost.h"

namespace tidemark::advise {
namespace {

// The last operators of a plan, each with the data of its sources.
using PlanIdentity = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

struct Run {
  std::vector<PlanIdentity> plans;  // by start time
  double seconds = 0;
  double saved_seconds = 0;  // if the results of all plans were kept
  bool is_comparable = true;
  bool has_own_code = false;
};

// Adds a plan to its run.
void AddPlan(const ComparedPlan& plan, double read_rate, Run& run) {
  const PrefixCosts costs(*plan.ran);
  std::vector<bool> is_read(plan.operators.size(), false);
  for (const NormalOperator& op : plan.operators) {
    for (const std::size_t input : op.inputs) is_read[input] = true;
  }
  PlanIdentity identity;
  double bytes = 0;
  for (std::size_t at = 0; at < plan.operators.size(); ++at) {
    if (is_read[at]) continue;
    const NormalOperator& op = plan.operators[at];
    const std::vector<bool> prefix = PrefixOf(plan, at);
    const auto records = costs.RecordsOf(op.ran);
    const std::uint64_t data = DataOf(plan, prefix, records);
    if (data == 0 || absl::StartsWith(op.bar, "it is random")) run.is_comparable = false;
    if (!op.doubts.empty()) run.has_own_code = true;
    identity.emplace_back(op.signature, data);
    const auto width = WidthOf(plan, at, prefix);
    if (width && records) bytes += *width * *records;
  }
  run.plans.push_back(std::move(identity));
  double begin = std::numeric_limits<double>::infinity();
  double end = -begin;
  for (const auto& [number, stage] : plan.ran->stages) {
    begin = std::min(begin, stage.begin);
    end = std::max(end, stage.end);
  }
  if (!(end > begin)) return;
  run.seconds += end - begin;
  run.saved_seconds += std::max(end - begin - ReadingSeconds(bytes, read_rate), 0.0);
}

}  // namespace

std::vector<RepeatedRuns> RepeatedRunsIn(const History& history, double read_rate) {
  std::map<std::pair<std::string, std::string>, Run> runs;  // by program and application
  std::vector<std::pair<std::string, std::string>> in_order;
  for (const ComparedPlan& plan : history.plans) {
    if (plan.ran->application.empty()) continue;
    const auto [run, is_new] = runs.try_emplace({plan.ran->program, plan.ran->application});
    if (is_new) in_order.push_back(run->first);
    run->second.is_comparable &= !plan.ran->is_of_partial_run;
    AddPlan(plan, read_rate, run->second);
  }
  std::map<std::pair<std::string, std::vector<PlanIdentity>>, RepeatedRuns> groups;
  for (const auto& key : in_order) {
    const Run& run = runs.at(key);
    if (!run.is_comparable) continue;
    RepeatedRuns& group = groups[{key.first, run.plans}];
    group.program = key.first;
    group.has_own_code |= run.has_own_code;
    if (group.runs++ == 0) continue;  // it computes the results
    group.seconds += run.seconds;
    group.saved_seconds += run.saved_seconds;
  }
  std::vector<RepeatedRuns> repeated;
  for (const auto& [identity, group] : groups) {
    if (group.runs > 1 && group.saved_seconds > 0) repeated.push_back(group);
  }
  std::stable_sort(repeated.begin(), repeated.end(),
                   [](const auto& a, const auto& b) { return a.saved_seconds > b.saved_seconds; });
  return repeated;
}

}  // namespace tidemark::advise
