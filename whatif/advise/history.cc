#include "whatif/advise/history.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tidemark::advise {
namespace {

// The width of a column of unknown width, which is that of all numbers in Spark. bytes
constexpr double kColumnBytes = 8;

std::vector<std::size_t> ReadersIn(const PastPlan& plan) {
  std::vector<std::size_t> reader_of(plan.operators.size(), kNone);
  for (std::size_t at = 0; at < plan.operators.size(); ++at) {
    for (const std::size_t input : plan.operators[at].inputs) reader_of[input] = at;
  }
  return reader_of;
}

std::uint64_t Mix(std::uint64_t seed, double value) {
  const auto whole = static_cast<std::uint64_t>(std::min(value, 1e18));
  return (seed ^ (whole + 0x9E3779B97F4A7C15ULL + (seed << 6) + (seed >> 2))) * 0x100000001B3ULL;
}

}  // namespace

bool IsAmount(const std::optional<double>& value) {
  return value && std::isfinite(*value) && *value >= 0;
}

std::vector<bool> PrefixOf(const ComparedPlan& plan, std::size_t op) {
  std::vector<bool> is_in(op + 1, false);
  is_in[op] = true;
  for (std::size_t at = op + 1; at-- > 0;) {
    if (!is_in[at]) continue;
    for (const std::size_t input : plan.operators[at].inputs) is_in[input] = true;
  }
  return is_in;
}

std::uint64_t DataOf(const ComparedPlan& plan, const std::vector<bool>& prefix,
                     const std::optional<double>& records) {
  std::uint64_t data = 0;
  bool is_told = false;
  const auto mix = [&](std::size_t ordinal, const std::optional<double>& value) {
    if (!IsAmount(value)) return;
    is_told = true;
    data = Mix(data + ordinal, *value);
  };
  std::size_t ordinal = 0;
  for (std::size_t at = 0; at < prefix.size(); ++at) {
    if (!prefix[at] || !plan.operators[at].is_source) continue;
    const PastOperator& source = plan.ran->operators[plan.operators[at].ran];
    mix(++ordinal, source.records);
    mix(++ordinal, source.bytes);
  }
  mix(++ordinal, records);
  return is_told ? std::max<std::uint64_t>(data, 1) : 0;
}

std::optional<double> WidthOf(const ComparedPlan& plan, std::size_t op,
                              const std::vector<bool>& prefix) {
  // Follow the readers of `op` that only move its output.
  for (std::size_t at = plan.reader_of[plan.operators[op].ran]; at != kNone;
       at = plan.reader_of[at]) {
    const PastOperator& above = plan.ran->operators[at];
    if (above.inputs.size() != 1 || !OnlyMoves(above)) break;
    if (IsExchange(above) && IsAmount(above.bytes) && IsAmount(above.records) &&
        *above.records > 0) {
      return *above.bytes / *above.records;
    }
  }
  const double columns = plan.operators[op].columns;
  if (columns == 0) return std::nullopt;
  double column = kColumnBytes;
  for (std::size_t at = 0; at < prefix.size(); ++at) {
    if (!prefix[at] || !plan.operators[at].is_source) continue;
    const PastOperator& source = plan.ran->operators[plan.operators[at].ran];
    if (!IsAmount(source.bytes) || !IsAmount(source.records) || *source.records == 0) continue;
    const double width = *source.bytes / *source.records;
    column = std::max(column, width / std::max(1.0, plan.operators[at].columns));
  }
  return columns * column;
}

absl::StatusOr<History> Compared(const std::vector<PastPlan>& plans) {
  if (plans.empty()) {
    return absl::InvalidArgumentError("the history has no plan and no lineage");
  }
  History history;
  std::map<std::string, std::size_t> refusals;
  std::size_t operators = 0;
  double begin = 0;
  double end = 0;
  std::set<std::string> applications;
  std::vector<const PastPlan*> by_time;
  by_time.reserve(plans.size());
  for (const PastPlan& plan : plans) by_time.push_back(&plan);
  std::stable_sort(by_time.begin(), by_time.end(),
                   [](const PastPlan* a, const PastPlan* b) { return a->begin < b->begin; });
  for (const PastPlan* plan : by_time) {
    if (!std::isfinite(plan->begin)) {
      ++refusals["its start time is unknown"];
      continue;
    }
    operators += plan->operators.size();
    if (operators > kHistoryOperatorsMax) {
      ++refusals[absl::StrCat("the history has more than ", kHistoryOperatorsMax, " operators")];
      continue;
    }
    auto normal = NormalPlan(*plan);
    if (!normal.ok()) {
      ++refusals[std::string(normal.status().message())];
      continue;
    }
    if (history.plans.empty()) begin = plan->begin;
    end = plan->begin;
    applications.insert(plan->application);
    std::vector<gray_box::Operator> kinds;
    for (const NormalOperator& op : *normal) {
      kinds.push_back({.kind = op.kind, .inputs = op.inputs});
    }
    history.chain.Add(kinds);
    history.plans.push_back({plan, *std::move(normal), ReadersIn(*plan)});
  }
  for (const auto& [why, count] : refusals) {
    history.remarks.push_back(
        absl::StrCat(count, count == 1 ? " plan is" : " plans are", " omitted: ", why));
  }
  if (history.plans.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the history has no comparable plan: ", refusals.begin()->first));
  }
  history.applications = applications.size();
  history.seconds = end - begin;
  return history;
}

}  // namespace tidemark::advise
