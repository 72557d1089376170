#include "master/advise/advice.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "master/advise/normal_plan.h"
#include "master/gray_box/materialization.h"

namespace tidemark::advise {
namespace {

constexpr double kWeekSeconds = 7 * 24 * 3600.0;
// Of a column whose width nothing tells; every number of Spark takes as much. bytes
constexpr double kColumnBytes = 8;
// Of a point, shown to people. Taste.
constexpr std::size_t kStepsMax = 12;
constexpr std::size_t kTextMax = 200;

Range operator-(const Range& a, double b) { return {a.lower - b, a.expected - b, a.upper - b}; }
void Add(const Range& more, Range& sum) {
  sum.lower += more.lower;
  sum.expected += more.expected;
  sum.upper += more.upper;
}
Range operator*(const Range& a, double b) { return {a.lower * b, a.expected * b, a.upper * b}; }

// An operator of a plan whose output could be kept.
struct Occurrence {
  std::size_t plan = 0;
  std::size_t op = 0;  // of the normal plan
  std::uint64_t data = 0;
  PrefixCost cost;
  std::optional<double> records;
  std::optional<double> bytes;
  bool is_first = false;
  Range benefit;
};

struct Point {
  std::uint64_t signature = 0;
  std::vector<Occurrence> uses;
  std::optional<double> bytes;
  double records = 0;
  double read_seconds = 0;
  double write_seconds = 0;
  std::size_t data = 0;
  std::string bar;
  Range saved;  // in the history, after writing
};

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

struct Plan {
  const RanPlan* ran = nullptr;
  std::vector<NormalOperator> operators;
  std::vector<std::size_t> reader_of;  // of what ran: the last that reads it, or kNone
};

std::vector<std::size_t> ReadersIn(const RanPlan& plan) {
  std::vector<std::size_t> reader_of(plan.operators.size(), kNone);
  for (std::size_t at = 0; at < plan.operators.size(); ++at) {
    for (const std::size_t input : plan.operators[at].inputs) reader_of[input] = at;
  }
  return reader_of;
}

std::vector<bool> PrefixOf(const std::vector<NormalOperator>& plan, std::size_t op) {
  std::vector<bool> is_in(op + 1, false);
  is_in[op] = true;
  for (std::size_t at = op + 1; at-- > 0;) {
    if (!is_in[at]) continue;
    for (const std::size_t input : plan[at].inputs) is_in[input] = true;
  }
  return is_in;
}

bool IsAmount(const std::optional<double>& value) {
  return value && std::isfinite(*value) && *value >= 0;
}

std::uint64_t Mix(std::uint64_t seed, double value) {
  const auto whole = static_cast<std::uint64_t>(std::min(value, 1e18));
  return (seed ^ (whole + 0x9E3779B97F4A7C15ULL + (seed << 6) + (seed >> 2))) * 0x100000001B3ULL;
}

// Which data the sources of a prefix held, as far as the log tells. 0: nothing is told.
std::uint64_t DataOf(const Plan& plan, const std::vector<bool>& prefix,
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
    const RanOperator& source = plan.ran->operators[plan.operators[at].ran];
    mix(++ordinal, source.records);
    mix(++ordinal, source.bytes);
  }
  mix(++ordinal, records);
  return is_told ? std::max<std::uint64_t>(data, 1) : 0;
}

// A record of it is at most so wide: as an exchange above it says, or by its columns, each as wide
// as those of the widest source.
std::optional<double> WidthOf(const Plan& plan, std::size_t op, const std::vector<bool>& prefix) {
  // Up the chain of operators that only move what comes out of `op`.
  for (std::size_t at = plan.reader_of[plan.operators[op].ran]; at != kNone;
       at = plan.reader_of[at]) {
    const RanOperator& above = plan.ran->operators[at];
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
    const RanOperator& source = plan.ran->operators[plan.operators[at].ran];
    if (!IsAmount(source.bytes) || !IsAmount(source.records) || *source.records == 0) continue;
    const double width = *source.bytes / *source.records;
    column = std::max(column, width / std::max(1.0, plan.operators[at].columns));
  }
  return columns * column;
}

class Adviser {
 public:
  explicit Adviser(const AdviceOptions& options) : options_(options) {}

  absl::StatusOr<Advice> Of(const std::vector<RanPlan>& history) {
    if (absl::Status taken = Take(history); !taken.ok()) return taken;
    FindReadRate(history);
    for (std::size_t plan = 0; plan < plans_.size(); ++plan) FindOccurrences(plan);
    for (auto& [signature, point] : by_signature_) points_.push_back(std::move(point));
    for (Point& point : points_) Weigh(point);
    std::sort(points_.begin(), points_.end(), [](const Point& a, const Point& b) {
      if (a.saved.lower != b.saved.lower) return a.saved.lower > b.saved.lower;
      if (a.saved.expected != b.saved.expected) return a.saved.expected > b.saved.expected;
      return a.signature < b.signature;
    });
    if (points_.size() > kPointsMax) {
      advice_.points_left_out = points_.size() - kPointsMax;
      points_.resize(kPointsMax);
    }
    FindNesting();
    Choose();
    Describe();
    ReplayPolicies();
    return std::move(advice_);
  }

 private:
  absl::Status Take(const std::vector<RanPlan>& history) {
    if (history.empty()) {
      return absl::InvalidArgumentError("there is no plan and no lineage in the history");
    }
    std::map<std::string, std::size_t> refusals;
    std::size_t operators = 0;
    double begin = 0;
    double end = 0;
    std::set<std::string> applications;
    std::vector<const RanPlan*> by_time;
    for (const RanPlan& plan : history) by_time.push_back(&plan);
    std::stable_sort(by_time.begin(), by_time.end(),
                     [](const RanPlan* a, const RanPlan* b) { return a->begin < b->begin; });
    for (const RanPlan* plan : by_time) {
      if (!std::isfinite(plan->begin)) {
        ++refusals["it is not told when it ran"];
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
      if (plans_.empty()) begin = plan->begin;
      end = plan->begin;
      applications.insert(plan->application);
      std::vector<gray_box::Operator> kinds;
      for (const NormalOperator& op : *normal) {
        kinds.push_back({.kind = op.kind, .inputs = op.inputs});
      }
      chain_.Add(kinds);
      plans_.push_back({plan, *std::move(normal), ReadersIn(*plan)});
    }
    for (const auto& [why, count] : refusals) {
      advice_.remarks.push_back(
          absl::StrCat(count, count == 1 ? " plan is" : " plans are", " left out: ", why));
    }
    if (plans_.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("no plan of the history can be compared: ", refusals.begin()->first));
    }
    advice_.plans = plans_.size();
    advice_.applications = applications.size();
    advice_.history_weeks = (end - begin) / kWeekSeconds;
    advice_.weeks = std::max(1.0, advice_.history_weeks);
    return absl::OkStatus();
  }

  // Of eq. 11: the fastest that a stage has read files, all else that it did included.
  void FindReadRate(const std::vector<RanPlan>& history) {
    if (options_.read_rate) {
      advice_.read_rate = *options_.read_rate;
      return;
    }
    advice_.read_rate = kReadRateLeast;
    for (const RanPlan& plan : history) {
      for (const auto& [number, stage] : plan.stages) {
        const double seconds = stage.end - stage.begin;
        // What is shorter than a second is mostly no reading.
        if (!(seconds >= 1) || !IsAmount(stage.read_bytes)) continue;
        advice_.read_rate = std::max(advice_.read_rate, stage.read_bytes / seconds);
      }
    }
  }

  void FindOccurrences(std::size_t number) {
    const Plan& plan = plans_[number];
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
        ++untimed_;
        continue;
      }
      Point& point = by_signature_[op.signature];
      point.signature = op.signature;
      // In one plan it is computed once, if twice at all: the longest.
      if (!point.uses.empty() && point.uses.back().plan == number) {
        if (cost->seconds.expected > point.uses.back().cost.seconds.expected) {
          point.uses.back().cost = *cost;
        }
        continue;
      }
      const std::vector<bool> prefix = PrefixOf(plan.operators, at);
      Occurrence use = {.plan = number, .op = at, .cost = *cost};
      use.records = costs.RecordsOf(op.ran);
      use.data = DataOf(plan, prefix, use.records);
      const auto width = WidthOf(plan, at, prefix);
      if (width && use.records) use.bytes = *width * *use.records;
      if (!use.bytes && plan.ran->is_lineage && IsAmount(plan.ran->operators[op.ran].bytes)) {
        use.bytes = plan.ran->operators[op.ran].bytes;
      }
      if (point.bar.empty()) point.bar = op.bar;
      point.uses.push_back(std::move(use));
    }
  }

  // Uses by data; benefits, sizes, and what they come to.
  void Weigh(Point& point) {
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
    const double reading = gray_box::ReadSeconds(1, bytes, advice_.read_rate);
    point.read_seconds = kReadStartSeconds + reading;
    point.write_seconds = kWriteStartSeconds + kWriteOverRead * reading;
    for (Occurrence& use : point.uses) {
      use.benefit = use.cost.seconds - point.read_seconds;
      if (use.is_first) {
        Add(Range{-1, -1, -1} * point.write_seconds, point.saved);
      } else {
        Add(use.benefit, point.saved);
      }
    }
    if (point.bar.empty() && !is_sized) point.bar = "its size is not in the log";
    if (!point.bar.empty()) return;
    if (point.uses.size() == 1) {
      point.bar = "it was used once: nothing tells that it will be used again";
    } else if (point.data == point.uses.size()) {
      point.bar = "its data were others each time";
    } else if (!(point.saved.expected > 0)) {
      point.bar = "to write and read it takes longer than to compute it";
    } else if (!(point.saved.lower > 0)) {
      const bool is_apart = std::all_of(point.uses.begin(), point.uses.end(),
                                        [](const auto& use) { return use.cost.is_told_apart; });
      point.bar = is_apart ? "it may save time, or cost it"
                           : "what it takes is not told apart from what runs in the same stage";
    }
  }

  // Of each use, which points are within it, and the other way round.
  void FindNesting() {
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> point_at;  // plan, operator
    for (std::size_t i = 0; i < points_.size(); ++i) {
      for (const Occurrence& use : points_[i].uses) point_at[{use.plan, use.op}] = i;
    }
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (!points_[i].bar.empty()) continue;
      for (const Occurrence& use : points_[i].uses) {
        const auto prefix = PrefixOf(plans_[use.plan].operators, use.op);
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

  // What a plan saves by chosen points within `point`; those within others of them count once.
  Range SavedWithin(std::size_t point, std::size_t plan) const {
    Range saved;
    const auto found = within_.find({point, plan});
    if (found == within_.end()) return saved;
    for (const std::size_t inner : found->second) {
      if (!chosen_.contains(inner)) continue;
      const auto around = around_.find({inner, plan});
      const bool is_covered =
          around != around_.end() &&
          std::any_of(around->second.begin(), around->second.end(), [&](std::size_t outer) {
            return chosen_.contains(outer) && found->second.contains(outer);
          });
      const Occurrence* use = UseIn(inner, plan);
      if (!is_covered && use != nullptr && !use->is_first) Add(use->benefit, saved);
    }
    return saved;
  }

  // What a point adds to those that are chosen.
  Range Gain(std::size_t point) const {
    Range gain;
    for (const Occurrence& use : points_[point].uses) {
      const auto around = around_.find({point, use.plan});
      const bool is_covered =
          around != around_.end() &&
          std::any_of(around->second.begin(), around->second.end(), [&](std::size_t outer) {
            const Occurrence* of_outer = chosen_.contains(outer) ? UseIn(outer, use.plan) : nullptr;
            return of_outer != nullptr && !of_outer->is_first;
          });
      if (use.is_first) {
        Add(Range{-1, -1, -1} * points_[point].write_seconds, gain);
      } else if (!is_covered) {
        Add(use.benefit, gain);
        Add(SavedWithin(point, use.plan) * -1, gain);
      }
    }
    return gain;
  }

  // With a limit of space by what a byte saves, or the best one alone if it saves more; else by
  // what is saved. Each is weighed again beside those that were taken.
  void Choose() {
    double left = options_.space_bytes.value_or(0);
    Range saved;
    std::size_t best_alone = points_.size();
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (!points_[i].bar.empty()) continue;
      if (options_.space_bytes && *points_[i].bytes > left) {
        points_[i].bar = "it does not fit into the space";
        continue;
      }
      open.push_back(i);
      if (best_alone == points_.size() ||
          points_[i].saved.expected > points_[best_alone].saved.expected) {
        best_alone = i;
      }
    }
    for (;;) {
      std::size_t best = points_.size();
      Range best_gain;
      double best_rank = 0;
      for (const std::size_t i : open) {
        if (chosen_.contains(i)) continue;
        if (options_.space_bytes && *points_[i].bytes > left) continue;
        const Range gain = Gain(i);
        if (!(gain.lower > 0) || !(gain.expected > 0)) continue;
        const double rank =
            options_.space_bytes ? gain.expected / std::max(1.0, *points_[i].bytes) : gain.expected;
        if (best == points_.size() || rank > best_rank) {
          best = i;
          best_gain = gain;
          best_rank = rank;
        }
      }
      if (best == points_.size()) break;
      chosen_.insert(best);
      left -= *points_[best].bytes;
      Add(best_gain, saved);
    }
    if (best_alone < points_.size() && points_[best_alone].saved.expected > saved.expected) {
      chosen_ = {best_alone};
      saved = points_[best_alone].saved;
    }
    // What is within another may have become idle.
    for (bool is_changed = true; is_changed;) {
      is_changed = false;
      for (const std::size_t i : std::set<std::size_t>(chosen_.begin(), chosen_.end())) {
        chosen_.erase(i);
        const Range alone = Gain(i);
        if (alone.lower > 0) {
          chosen_.insert(i);
        } else {
          Add(alone * -1, saved);
          is_changed = true;
        }
      }
    }
    for (const std::size_t i : open) {
      if (!chosen_.contains(i)) {
        points_[i].bar =
            Gain(i).lower > 0 ? "others save more in the space" : "what is advised saves the same";
      }
    }
    saved_ = saved;
  }

  std::vector<std::string> StepsTo(const Plan& plan, std::size_t op) const {
    const std::vector<bool> prefix = PrefixOf(plan.operators, op);
    std::vector<std::string> steps;
    for (std::size_t at = 0; at < prefix.size(); ++at) {
      if (!prefix[at]) continue;
      std::string text = plan.operators[at].text;
      if (text.size() > kTextMax) text = text.substr(0, kTextMax) + "...";
      steps.push_back(std::move(text));
    }
    if (steps.size() > kStepsMax) {
      const std::size_t left_out = steps.size() - kStepsMax;
      steps.erase(steps.begin() + kStepsMax / 2,
                  steps.begin() + static_cast<std::ptrdiff_t>(kStepsMax / 2 + left_out));
      steps.insert(steps.begin() + kStepsMax / 2, absl::StrCat("... ", left_out, " more"));
    }
    return steps;
  }

  double ProbabilityOf(const Plan& plan, std::size_t op) const {
    std::vector<gray_box::Operator> kinds;
    for (std::size_t at = 0; at <= op; ++at) {
      kinds.push_back({.kind = plan.operators[at].kind, .inputs = plan.operators[at].inputs});
    }
    return chain_.OfPrefix(kinds, op);
  }

  void Describe() {
    std::vector<gray_box::Candidate> candidates;
    std::map<std::size_t, std::pair<double, std::size_t>> best_of_plan;  // benefit, point
    for (std::size_t i = 0; i < points_.size(); ++i) {
      Point& from = points_[i];
      const Occurrence& last = from.uses.back();
      const Plan& plan = plans_[last.plan];
      const NormalOperator& op = plan.operators[last.op];
      ResultPoint point = {.signature = from.signature,
                           .kind = op.kind,
                           .steps = StepsTo(plan, last.op),
                           .data = from.data,
                           .records = from.records,
                           .bytes = from.bytes,
                           .read_seconds = from.read_seconds,
                           .write_seconds = from.write_seconds,
                           .saved_per_week = from.saved * (1 / advice_.weeks),
                           .reuse_probability = ProbabilityOf(plan, last.op),
                           .is_advised = chosen_.contains(i),
                           .why_not = from.bar,
                           .doubts = op.doubts};
      std::set<std::string> tables;
      const std::vector<bool> prefix = PrefixOf(plan.operators, last.op);
      for (std::size_t at = 0; at < prefix.size(); ++at) {
        if (!prefix[at]) continue;
        const std::string& table = plan.ran->operators[plan.operators[at].ran].table;
        if (!table.empty()) tables.insert(table);
      }
      point.tables.assign(tables.begin(), tables.end());
      for (const Occurrence& use : from.uses) {
        const RanPlan& ran = *plans_[use.plan].ran;
        point.uses.push_back({.application = ran.application,
                              .program = ran.program,
                              .execution = ran.execution,
                              .line = ran.line,
                              .begin = ran.begin,
                              .benefit = use.benefit,
                              .is_first = use.is_first});
        Add(use.cost.seconds, point.total_seconds);
        Add(use.benefit, point.benefit);
        point.path_total_seconds += use.cost.path_seconds;
        if (!from.bytes || use.benefit.expected <= 0) continue;
        auto& best = best_of_plan[use.plan];
        if (use.benefit.expected > best.first) best = {use.benefit.expected, i};
      }
      const double uses = static_cast<double>(from.uses.size());
      point.total_seconds = point.total_seconds * (1 / uses);
      point.benefit = point.benefit * (1 / uses);
      point.path_total_seconds /= uses;
      point.uses_per_week = uses / advice_.weeks;
      const bool is_untold = last.data == 0;
      if (is_untold) point.doubts.emplace_back("whether its data were the same is not in the log");
      if (point.is_advised) advice_.bytes += *from.bytes;
      candidates.push_back({.point = {.total_seconds = point.total_seconds.expected,
                                      .read_seconds = point.read_seconds,
                                      .bytes = from.bytes.value_or(0)},
                            .uses = point.uses_per_week});
      advice_.points.push_back(std::move(point));
    }
    for (const auto& [plan, best] : best_of_plan) ++advice_.points[best.second].max_benefit_of;
    for (const std::size_t i : gray_box::Skyline(candidates)) {
      advice_.points[i].is_on_skyline = true;
    }
    advice_.saved_per_week = saved_.expected / advice_.weeks;
    // Of others, those that would save something first.
    std::stable_sort(advice_.points.begin(), advice_.points.end(),
                     [](const ResultPoint& a, const ResultPoint& b) {
                       if (a.is_advised != b.is_advised) return a.is_advised;
                       if (a.is_advised) return false;
                       if (a.bytes.has_value() != b.bytes.has_value()) return a.bytes.has_value();
                       return a.uses_per_week * a.benefit.expected >
                              b.uses_per_week * b.benefit.expected;
                     });
    if (untimed_ > 0) {
      advice_.remarks.push_back(
          absl::StrCat(untimed_, " results have no stage whose time is told"));
    }
    if (advice_.history_weeks < 1) {
      advice_.remarks.emplace_back(
          "the history is shorter than a week: what it holds is taken for a week's");
    }
    if (plans_.size() == 1) {
      advice_.remarks.emplace_back("there is one plan alone: nothing tells what is used again");
    }
  }

  // All that was of use at all, used again or not: a cache does not know.
  void ReplayPolicies() {
    std::vector<KeepableResults> queries(plans_.size());
    double bytes = 0;
    for (const Point& point : points_) {
      if (!point.bytes) continue;
      for (const Occurrence& use : point.uses) {
        const bool is_barred = !plans_[use.plan].operators[use.op].bar.empty();
        if (is_barred || !(use.benefit.expected > 0)) continue;
        queries[use.plan].push_back({.key = point.signature ^ (use.data * 0x9E3779B97F4A7C15ULL),
                                     .bytes = *point.bytes,
                                     .benefit_seconds = use.benefit.expected,
                                     .write_seconds = point.write_seconds});
        bytes += *point.bytes;
      }
    }
    for (KeepableResults& query : queries) {
      std::stable_sort(query.begin(), query.end(), [](const auto& a, const auto& b) {
        return a.benefit_seconds > b.benefit_seconds;
      });
    }
    const double space = options_.space_bytes.value_or(bytes);
    Replayed chosen = {.saved_seconds = saved_.expected};
    for (const std::size_t i : chosen_) {
      chosen.writes += points_[i].data;
      chosen.hits += points_[i].uses.size() - points_[i].data;
    }
    advice_.policies.push_back({"advised", chosen});
    advice_.policies.push_back({"lru", Replay(CachePolicy::kLru, queries, space)});
    advice_.policies.push_back({"lfu", Replay(CachePolicy::kLfu, queries, space)});
    advice_.policies.push_back({"arc", Replay(CachePolicy::kArc, queries, space)});
  }

  const AdviceOptions options_;
  Advice advice_;
  std::vector<Plan> plans_;
  gray_box::ReuseChain chain_;
  std::map<std::uint64_t, Point> by_signature_;
  std::vector<Point> points_;
  // By point and plan.
  std::map<std::pair<std::size_t, std::size_t>, std::set<std::size_t>> within_, around_;
  absl::flat_hash_set<std::size_t> chosen_;
  Range saved_;  // by what is chosen, in the history
  std::size_t untimed_ = 0;
};

}  // namespace

absl::StatusOr<Advice> Advise(const std::vector<RanPlan>& history, const AdviceOptions& options) {
  if (options.space_bytes && !IsAmount(options.space_bytes)) {
    return absl::InvalidArgumentError("the space is no number of bytes");
  }
  if (options.read_rate && (!IsAmount(options.read_rate) || *options.read_rate == 0)) {
    return absl::InvalidArgumentError("the rate at which results are read is not above 0");
  }
  return Adviser(options).Of(history);
}

}  // namespace tidemark::advise
