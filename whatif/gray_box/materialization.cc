#include "whatif/gray_box/materialization.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tidemark::gray_box {
namespace {

bool IsAmount(double value) { return value >= 0 && std::isfinite(value); }

// Returns the operators, each after its inputs. Operators in a cycle are missing.
std::vector<std::size_t> InOrder(const std::vector<Operator>& plan) {
  std::vector<std::vector<std::size_t>> outputs(plan.size());
  std::vector<std::size_t> waits(plan.size(), 0);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    for (const std::size_t input : plan[i].inputs) outputs[input].push_back(i);
    waits[i] = plan[i].inputs.size();
    if (waits[i] == 0) order.push_back(i);
  }
  for (std::size_t at = 0; at < order.size(); ++at) {
    for (const std::size_t output : outputs[order[at]]) {
      if (--waits[output] == 0) order.push_back(output);
    }
  }
  return order;
}

absl::Status CheckPlan(const std::vector<Operator>& plan) {
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Operator& op = plan[i];
    for (const std::size_t input : op.inputs) {
      if (input < plan.size()) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("operator ", i, " reads operator ", input, "; there are ", plan.size()));
    }
    if (!IsAmount(op.seconds) || !IsAmount(op.records) || !IsAmount(op.width)) {
      return absl::InvalidArgumentError(
          absl::StrCat("operator ", i, ": impossible time, records or width"));
    }
  }
  if (InOrder(plan).size() < plan.size()) {
    return absl::InvalidArgumentError("operators read each other in a cycle");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<double>> TotalSeconds(const std::vector<Operator>& plan) {
  if (absl::Status wrong = CheckPlan(plan); !wrong.ok()) return wrong;
  std::vector<double> total(plan.size(), 0);
  for (const std::size_t i : InOrder(plan)) {
    for (const std::size_t input : plan[i].inputs) total[i] = std::max(total[i], total[input]);
    total[i] += plan[i].seconds;
  }
  return total;
}

double ReadSeconds(double records, double width, double bytes_per_second) {
  return records * width / bytes_per_second;
}

void ReuseChain::Add(const std::vector<Operator>& plan) {
  ++plans_;
  std::set<std::string> sources;
  for (const Operator& op : plan) {
    if (op.inputs.empty()) sources.insert(op.kind);
    for (const std::size_t input : op.inputs) {
      if (input >= plan.size()) continue;
      ++followers_[plan[input].kind][op.kind];
      ++out_of_[plan[input].kind];
    }
  }
  for (const std::string& source : sources) ++plans_with_source_[source];
}

double ReuseChain::Probability(const std::string& kind, const std::string& next) const {
  const auto followers = followers_.find(kind);
  if (followers == followers_.end()) return 0;
  const auto count = followers->second.find(next);
  if (count == followers->second.end()) return 0;
  return static_cast<double>(count->second) / static_cast<double>(out_of_.at(kind));
}

double ReuseChain::OfPrefix(const std::vector<Operator>& plan, std::size_t output_of) const {
  std::vector<bool> is_needed(plan.size(), false);
  std::vector<std::size_t> left = {output_of};
  double probability = 1;
  while (!left.empty()) {
    const std::size_t at = left.back();
    left.pop_back();
    if (is_needed[at]) continue;
    is_needed[at] = true;
    if (plan[at].inputs.empty()) {
      const auto begun = plans_with_source_.find(plan[at].kind);
      if (begun == plans_with_source_.end()) return 0;
      probability *= static_cast<double>(begun->second) / static_cast<double>(plans_);
    }
    for (const std::size_t input : plan[at].inputs) {
      probability *= Probability(plan[input].kind, plan[at].kind);
      left.push_back(input);
    }
  }
  return probability;
}

std::size_t MaxBenefit(const std::vector<Candidate>& candidates) {
  std::size_t best = candidates.size();
  double most = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const double benefit = candidates[i].point.benefit_seconds();
    if (benefit > most) {
      most = benefit;
      best = i;
    }
  }
  return best;
}

std::vector<std::size_t> Skyline(const std::vector<Candidate>& candidates) {
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto benefit = [&](std::size_t i) { return candidates[i].point.benefit_seconds(); };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (benefit(a) != benefit(b)) return benefit(a) > benefit(b);
    return candidates[a].uses > candidates[b].uses;
  });
  std::vector<std::size_t> skyline;
  double uses = -1;  // largest number of uses so far
  double of_benefit = 0;
  for (const std::size_t i : order) {
    if (!(benefit(i) > 0)) break;
    const bool is_equal = candidates[i].uses == uses && benefit(i) == of_benefit;
    if (candidates[i].uses > uses || is_equal) {
      skyline.push_back(i);
      uses = candidates[i].uses;
      of_benefit = benefit(i);
    }
  }
  std::sort(skyline.begin(), skyline.end());
  return skyline;
}

}  // namespace tidemark::gray_box
