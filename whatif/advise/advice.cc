#include "whatif/advise/advice.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "whatif/advise/history.h"
#include "whatif/advise/points.h"
#include "whatif/gray_box/materialization.h"

namespace tidemark::advise {
namespace {

constexpr double kWeekSeconds = 7 * 24 * 3600.0;
// The least read rate; faster reads of the history raise it. Chosen by hand below any current disk.
// bytes per second
constexpr double kReadRateLeast = 20e6;
// Limits of the description of a point. Chosen by hand.
constexpr std::size_t kStepsMax = 12;
constexpr std::size_t kTextMax = 200;

// Returns the rate of eq. 11: the fastest rate at which a stage read files, including its other
// work.
double ReadRateOf(const std::vector<PastPlan>& plans) {
  double rate = kReadRateLeast;
  for (const PastPlan& plan : plans) {
    for (const auto& [number, stage] : plan.stages) {
      const double seconds = stage.end - stage.begin;
      // Shorter stages mostly do not read.
      if (!(seconds >= 1) || !IsAmount(stage.read_bytes)) continue;
      rate = std::max(rate, stage.read_bytes / seconds);
    }
  }
  return rate;
}

std::vector<std::string> StepsTo(const ComparedPlan& plan, const std::vector<bool>& prefix) {
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

std::vector<std::string> TablesOf(const ComparedPlan& plan, const std::vector<bool>& prefix) {
  std::set<std::string> tables;
  for (std::size_t at = 0; at < prefix.size(); ++at) {
    if (!prefix[at]) continue;
    const std::string& table = plan.ran->operators[plan.operators[at].ran].table;
    if (!table.empty()) tables.insert(table);
  }
  return {tables.begin(), tables.end()};
}

double ProbabilityOf(const gray_box::ReuseChain& chain, const ComparedPlan& plan, std::size_t op) {
  std::vector<gray_box::Operator> kinds;
  for (std::size_t at = 0; at <= op; ++at) {
    kinds.push_back({.kind = plan.operators[at].kind, .inputs = plan.operators[at].inputs});
  }
  return chain.OfPrefix(kinds, op);
}

ResultPoint Described(const Point& point, const History& history, double weeks) {
  const Occurrence& last = point.uses.back();
  const ComparedPlan& plan = history.plans[last.plan];
  const NormalOperator& op = plan.operators[last.op];
  const std::vector<bool> prefix = PrefixOf(plan, last.op);
  const double uses = static_cast<double>(point.uses.size());
  ResultPoint described = {.signature = point.signature,
                           .kind = op.kind,
                           .steps = StepsTo(plan, prefix),
                           .tables = TablesOf(plan, prefix),
                           .data = point.data,
                           .records = point.records,
                           .bytes = point.bytes,
                           .read_seconds = point.read_seconds,
                           .write_seconds = point.write_seconds,
                           .saved_per_week = point.saved * (1 / weeks),
                           .uses_per_week = uses / weeks,
                           .reuse_probability = ProbabilityOf(history.chain, plan, last.op),
                           .why_not = point.bar,
                           .doubts = op.doubts};
  described.benefit = {last.benefit.lower, 0, last.benefit.upper};
  for (const Occurrence& use : point.uses) {
    const PastPlan& ran = *history.plans[use.plan].ran;
    described.uses.push_back({.application = ran.application,
                              .program = ran.program,
                              .execution = ran.execution,
                              .line = ran.line,
                              .begin = ran.begin,
                              .benefit = use.benefit,
                              .is_first = use.is_first});
    described.total_seconds += use.cost.seconds * (1 / uses);
    described.benefit.expected += use.benefit.expected / uses;
    described.benefit.lower = std::min(described.benefit.lower, use.benefit.lower);
    described.benefit.upper = std::max(described.benefit.upper, use.benefit.upper);
    described.path_total_seconds += use.cost.path_seconds / uses;
  }
  if (last.data == 0) {
    described.doubts.emplace_back("the log does not show whether its data were the same");
  }
  return described;
}

// Marks the points that the strategies of [GB] 6.1 would keep.
void Rank(const History& history, const std::vector<Point>& points,
          std::vector<ResultPoint>& described) {
  std::vector<gray_box::Candidate> candidates;
  std::vector<std::vector<std::size_t>> points_of(history.plans.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const ResultPoint& point = described[i];
    candidates.push_back({.point = {.total_seconds = point.total_seconds.expected,
                                    .read_seconds = point.read_seconds,
                                    .bytes = point.bytes.value_or(0)},
                          .uses = point.uses_per_week});
    if (!point.bytes) continue;
    for (const Occurrence& use : points[i].uses) {
      if (history.plans[use.plan].operators[use.op].bar.empty()) points_of[use.plan].push_back(i);
    }
  }
  for (const std::vector<std::size_t>& of_plan : points_of) {
    std::vector<gray_box::Candidate> some;
    some.reserve(of_plan.size());
    for (const std::size_t i : of_plan) some.push_back(candidates[i]);
    const std::size_t best = gray_box::MaxBenefit(some);
    if (best < some.size()) ++described[of_plan[best]].max_benefit_of;
  }
  for (const std::size_t i : gray_box::Skyline(candidates)) described[i].is_on_skyline = true;
}

// Orders advised points first, then points with the largest weekly benefit.
bool IsBefore(const ResultPoint& a, const ResultPoint& b) {
  if (a.is_advised != b.is_advised) return a.is_advised;
  if (a.is_advised) return false;  // keep their order
  if (a.bytes.has_value() != b.bytes.has_value()) return a.bytes.has_value();
  return a.uses_per_week * a.benefit.expected > b.uses_per_week * b.benefit.expected;
}

// Replays all results with a benefit, reused or not, since a cache cannot predict the future.
std::vector<PolicyReplay> ReplayPolicies(const History& history, const std::vector<Point>& points,
                                         const Choice& choice, std::optional<double> space_bytes) {
  std::vector<KeepableResults> queries(history.plans.size());
  double bytes = 0;
  for (const Point& point : points) {
    if (!point.bytes) continue;
    for (const Occurrence& use : point.uses) {
      const bool is_barred = !history.plans[use.plan].operators[use.op].bar.empty();
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
  const double space = space_bytes.value_or(bytes);
  Replayed chosen = {.saved_seconds = choice.saved.expected};
  for (const std::size_t i : choice.kept) {
    chosen.writes += points[i].data;
    chosen.hits += points[i].uses.size() - points[i].data;
  }
  return {{"advised", chosen},
          {"lru", Replay(CachePolicy::kLru, queries, space)},
          {"lfu", Replay(CachePolicy::kLfu, queries, space)},
          {"arc", Replay(CachePolicy::kArc, queries, space)}};
}

}  // namespace

absl::StatusOr<Advice> Advise(const std::vector<PastPlan>& plans, const AdviceOptions& options) {
  if (options.space_bytes && !IsAmount(options.space_bytes)) {
    return absl::InvalidArgumentError("the space must be a number of bytes, 0 or more");
  }
  if (options.read_rate && (!IsAmount(options.read_rate) || *options.read_rate == 0)) {
    return absl::InvalidArgumentError("the read rate must be positive");
  }
  const auto history = Compared(plans);
  if (!history.ok()) return history.status();
  Advice advice = {.plans = history->plans.size(),
                   .applications = history->applications,
                   .history_weeks = history->seconds / kWeekSeconds,
                   .read_rate = options.read_rate.value_or(ReadRateOf(plans)),
                   .remarks = history->remarks};
  advice.weeks = std::max(1.0, advice.history_weeks);
  Points points = PointsOf(*history, advice.read_rate);
  advice.points_left_out = points.left_out;
  const Choice choice = Choose(*history, options.space_bytes, points.all);
  for (std::size_t i = 0; i < points.all.size(); ++i) {
    advice.points.push_back(Described(points.all[i], *history, advice.weeks));
    advice.points[i].is_advised = choice.kept.contains(i);
    if (advice.points[i].is_advised) advice.bytes += *points.all[i].bytes;
  }
  Rank(*history, points.all, advice.points);
  std::stable_sort(advice.points.begin(), advice.points.end(), IsBefore);
  advice.saved_per_week = choice.saved.expected / advice.weeks;
  advice.repeated = RepeatedRunsIn(*history, advice.read_rate);
  advice.policies = ReplayPolicies(*history, points.all, choice, options.space_bytes);
  if (points.untimed > 0) {
    advice.remarks.push_back(
        absl::StrCat(points.untimed, " results have no stage with a known time"));
  }
  if (advice.history_weeks < 1) {
    advice.remarks.emplace_back("the history is shorter than a week and is treated as a week");
  }
  if (advice.plans == 1) {
    advice.remarks.emplace_back("the history has one plan, so no second use is known");
  }
  return advice;
}

}  // namespace tidemark::advise
