#include "whatif/advise/points.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tidemark::advise {
namespace {

// Assumed width in bytes of a column of unknown width. All numbers in Spark have this width.
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
  // Follows the readers of `op` that only move its output.
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

namespace {

// Seconds to start reading or finish writing a result: reading starts with a job for the schema,
// and writing ends with a commit. Chosen by hand; no run has measured either. seconds
constexpr double kReadStartSeconds = 0.4;
constexpr double kWriteStartSeconds = 0.4;
// Upper limit of the ratio of the time of writing Parquet, with encoding and compression, to the
// time of reading. Chosen by hand.
constexpr double kWriteOverRead = 3;

// Adds the results of a plan.
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
    // Sources and the final results of plans are always kept ([GB] 6.1).
    if (op.is_source || !is_read[at]) continue;
    const auto cost = costs.Of(op.ran);
    if (!cost.ok()) {
      ++untimed;
      continue;
    }
    Point& point = points[op.signature];
    point.signature = op.signature;
    // A plan computes equal results once, so the longest computation counts.
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

// Returns why the point cannot be kept, as far as this is known before the choice.
std::string BarOf(const Point& point) {
  if (!point.bytes) return "the log lacks its size";
  if (point.uses.size() == 1) return "it was used once, so a second use is uncertain";
  if (point.data == point.uses.size()) return "its data differ at each use";
  if (!(point.saved.expected > 0)) return "writing and reading it takes longer than computing it";
  if (point.saved.lower > 0) return "";
  const bool is_apart = std::all_of(point.uses.begin(), point.uses.end(),
                                    [](const auto& use) { return use.cost.is_separable; });
  return is_apart ? "it may save or cost time"
                  : "its cost cannot be separated from other operators of its stage";
}

// Computes the totals of a point: first uses, benefits, sizes, savings.
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
  point.read_seconds = ReadingSeconds(bytes, read_rate);
  point.write_seconds =
      kWriteStartSeconds + kWriteOverRead * (point.read_seconds - kReadStartSeconds);
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

class Chooser {
 public:
  Chooser(const History& history, std::optional<double> space_bytes, std::vector<Point>& points)
      : space_bytes_(space_bytes), points_(points) {
    FindNesting(history);
  }

  Choice Choose() {
    FindOpen();
    double left = space_bytes_.value_or(0);
    while (const auto best = BestOf(left)) {
      choice_.saved += Gain(*best);
      choice_.kept.insert(*best);
      left -= *points_[*best].bytes;
    }
    ChooseSingleBestIfBetter();
    DropPointsWithoutGain();
    for (const std::size_t i : open_) {
      if (choice_.kept.contains(i)) continue;
      points_[i].bar = Gain(i).lower > 0 ? "other results save more time in the same space"
                                         : "advised results already save this time";
    }
    return std::move(choice_);
  }

 private:
  void FindOpen() {
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (!points_[i].bar.empty()) continue;
      if (space_bytes_ && *points_[i].bytes > *space_bytes_) {
        points_[i].bar = "it does not fit into the space";
      } else {
        open_.push_back(i);
      }
    }
  }

  std::optional<std::size_t> BestOf(double left) const {
    std::optional<std::size_t> best;
    double best_rank = 0;
    for (const std::size_t i : open_) {
      if (choice_.kept.contains(i)) continue;
      const double bytes = *points_[i].bytes;
      if (space_bytes_ && bytes > left) continue;
      const Bounds gain = Gain(i);
      if (!(gain.lower > 0) || !(gain.expected > 0)) continue;
      const double rank = space_bytes_ ? gain.expected / std::max(1.0, bytes) : gain.expected;
      if (best && rank <= best_rank) continue;
      best = i;
      best_rank = rank;
    }
    return best;
  }

  void ChooseSingleBestIfBetter() {
    const auto best =
        std::max_element(open_.begin(), open_.end(), [&](std::size_t a, std::size_t b) {
          return points_[a].saved.expected < points_[b].saved.expected;
        });
    if (best == open_.end() || points_[*best].saved.expected <= choice_.saved.expected) return;
    choice_.kept = {*best};
    choice_.saved = points_[*best].saved;
  }

  // A point within another point that was chosen later may save nothing.
  void DropPointsWithoutGain() {
    for (bool is_changed = true; is_changed;) {
      is_changed = false;
      for (const std::size_t i : std::set<std::size_t>(choice_.kept)) {
        choice_.kept.erase(i);
        const Bounds gain = Gain(i);
        if (gain.lower > 0) {
          choice_.kept.insert(i);
        } else {
          choice_.saved -= gain;
          is_changed = true;
        }
      }
    }
  }

  // For each use, finds the points within it and around it.
  void FindNesting(const History& history) {
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> point_at;  // by (plan, operator)
    for (std::size_t i = 0; i < points_.size(); ++i) {
      for (const Occurrence& use : points_[i].uses) point_at[{use.plan, use.op}] = i;
    }
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (!points_[i].bar.empty()) continue;
      for (const Occurrence& use : points_[i].uses) {
        const auto prefix = PrefixOf(history.plans[use.plan], use.op);
        const auto begin = point_at.lower_bound({use.plan, 0});
        for (auto at = begin; at != point_at.end() && at->first.first == use.plan; ++at) {
          const std::size_t op = at->first.second;
          if (op < use.op && prefix[op] && points_[at->second].bar.empty()) {
            within_[{i, use.plan}].insert(at->second);
            around_[{at->second, use.plan}].insert(i);
          }
        }
      }
    }
  }

  const Occurrence* UseIn(std::size_t point, std::size_t plan) const {
    for (const Occurrence& use : points_[point].uses) {
      if (use.plan == plan) return &use;
    }
    return nullptr;
  }

  // Returns how much the chosen points within `point` save for a plan. Nested points count once.
  Bounds SavedWithin(std::size_t point, std::size_t plan) const {
    Bounds saved;
    const auto found = within_.find({point, plan});
    if (found == within_.end()) return saved;
    for (const std::size_t inner : found->second) {
      if (!choice_.kept.contains(inner)) continue;
      const auto around = around_.find({inner, plan});
      const bool is_covered =
          around != around_.end() &&
          std::any_of(around->second.begin(), around->second.end(), [&](std::size_t outer) {
            return choice_.kept.contains(outer) && found->second.contains(outer);
          });
      const Occurrence* use = UseIn(inner, plan);
      if (!is_covered && use != nullptr && !use->is_first) saved += use->benefit;
    }
    return saved;
  }

  // Returns the savings that a point adds to the savings of the chosen points.
  Bounds Gain(std::size_t point) const {
    Bounds gain;
    for (const Occurrence& use : points_[point].uses) {
      const auto around = around_.find({point, use.plan});
      const bool is_covered =
          around != around_.end() &&
          std::any_of(around->second.begin(), around->second.end(), [&](std::size_t outer) {
            const Occurrence* of_outer =
                choice_.kept.contains(outer) ? UseIn(outer, use.plan) : nullptr;
            return of_outer != nullptr && !of_outer->is_first;
          });
      if (use.is_first) {
        gain = gain - points_[point].write_seconds;
      } else if (!is_covered) {
        gain += use.benefit;
        gain -= SavedWithin(point, use.plan);
      }
    }
    return gain;
  }

  const std::optional<double> space_bytes_;
  std::vector<Point>& points_;
  std::vector<std::size_t> open_;  // points that may be chosen
  Choice choice_;
  // By point and plan, the points within it and around it.
  std::map<std::pair<std::size_t, std::size_t>, std::set<std::size_t>> within_, around_;
};

}  // namespace

double ReadingSeconds(double bytes, double read_rate) {
  return kReadStartSeconds + gray_box::ReadSeconds(1, bytes, read_rate);
}

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

Choice Choose(const History& history, std::optional<double> space_bytes,
              std::vector<Point>& points) {
  return Chooser(history, space_bytes, points).Choose();
}

}  // namespace tidemark::advise
