#include "whatif/advise/points.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "whatif/gray_box/materialization.h"

namespace tidemark::advise {
namespace {

// To read a result begins with a job for its schema, to write one ends with a commit. Taste: no run
// has measured either. seconds
constexpr double kReadStartSeconds = 0.4;
constexpr double kWriteStartSeconds = 0.4;
// Writing Parquet encodes and compresses; taste: of no result does it take more than this many
// times what reading takes.
constexpr double kWriteOverRead = 3;

// Adds what a plan computes.
void FindOccurrences(const History& history, std::size_t number,
                     std::map<std::uint64_t, Point>& points, std::size_t& untimed) {
  const ComparedPlan& plan = history.plans[number];
  const PrefixCosts costs(*plan.ran);
  std::vector<bool> is_read(plan.operators.size(), false);
  for (const NormalOperator& op : plan.operators) {
    for (const std::size_t input : op.inputs) is_read[input] = true;
  }
  for (std::size_t at = 0; at < plan.operators.size(); ++at) {
    const NormalOperator& op = plan.operators[at];
    // What is a source, or the end, is there already ([GB] 6.1).
    if (op.is_source || !is_read[at]) continue;
    const auto cost = costs.Of(op.ran);
    if (!cost.ok()) {
      ++untimed;
      continue;
    }
    Point& point = points[op.signature];
    point.signature = op.signature;
    // In one plan it is computed once, if twice at all: the longest.
    if (!point.uses.empty() && point.uses.back().plan == number) {
      if (cost->seconds.expected > point.uses.back().cost.seconds.expected) {
        point.uses.back().cost = *cost;
      }
      continue;
    }
    const std::vector<bool> prefix = PrefixOf(plan, at);
    Occurrence use = {.plan = number, .op = at, .cost = *cost};
    use.records = costs.RecordsOf(op.ran);
    use.data = DataOf(plan, prefix, use.records);
    const auto width = WidthOf(plan, at, prefix);
    if (width && use.records) use.bytes = *width * *use.records;
    if (!use.bytes && plan.ran->is_lineage && IsAmount(plan.ran->operators[op.ran].bytes)) {
      use.bytes = plan.ran->operators[op.ran].bytes;
    }
    if (point.bar.empty()) point.bar = op.bar;
    point.uses.push_back(use);
  }
}

// What stands against it, of all that is known now.
std::string BarOf(const Point& point) {
  if (!point.bytes) return "its size is not in the log";
  if (point.uses.size() == 1) return "it was used once: nothing tells that it will be used again";
  if (point.data == point.uses.size()) return "its data were others each time";
  if (!(point.saved.expected > 0)) return "to write and read it takes longer than to compute it";
  if (point.saved.lower > 0) return "";
  const bool is_apart = std::all_of(point.uses.begin(), point.uses.end(),
                                    [](const auto& use) { return use.cost.is_told_apart; });
  return is_apart ? "it may save time, or cost it"
                  : "what it takes is not told apart from what runs in the same stage";
}

// Uses by data; benefits, sizes, and what they come to.
void Weigh(Point& point, double read_rate) {
  bool is_sized = true;
  double bytes = 0;
  std::set<std::uint64_t> data;
  for (Occurrence& use : point.uses) {
    use.is_first = data.insert(use.data).second;
    is_sized = is_sized && IsAmount(use.bytes);
    bytes = std::max(bytes, use.bytes.value_or(0));
    point.records = std::max(point.records, use.records.value_or(0));
  }
  point.data = data.size();
  if (is_sized) point.bytes = bytes;
  const double reading = gray_box::ReadSeconds(1, bytes, read_rate);
  point.read_seconds = kReadStartSeconds + reading;
  point.write_seconds = kWriteStartSeconds + kWriteOverRead * reading;
  for (Occurrence& use : point.uses) {
    use.benefit = use.cost.seconds - point.read_seconds;
    if (use.is_first) {
      point.saved = point.saved - point.write_seconds;
    } else {
      point.saved += use.benefit;
    }
  }
  if (point.bar.empty()) point.bar = BarOf(point);
}

}  // namespace

Points PointsOf(const History& history, double read_rate) {
  std::map<std::uint64_t, Point> by_signature;
  Points points;
  for (std::size_t plan = 0; plan < history.plans.size(); ++plan) {
    FindOccurrences(history, plan, by_signature, points.untimed);
  }
  for (auto& [signature, point] : by_signature) points.all.push_back(std::move(point));
  for (Point& point : points.all) Weigh(point, read_rate);
  std::sort(points.all.begin(), points.all.end(), [](const Point& a, const Point& b) {
    if (a.saved.lower != b.saved.lower) return a.saved.lower > b.saved.lower;
    if (a.saved.expected != b.saved.expected) return a.saved.expected > b.saved.expected;
    return a.signature < b.signature;
  });
  if (points.all.size() > kPointsMax) {
    points.left_out = points.all.size() - kPointsMax;
    points.all.resize(kPointsMax);
  }
  return points;
}

}  // namespace tidemark::advise
