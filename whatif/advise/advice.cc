#include "whatif/advise/advice.h"

#include <algorithm>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "whatif/advise/prefix_cost.h"
#include "whatif/gray_box/materialization.h"

namespace tidemark::advise {
namespace {

struct Kept {
  std::uint64_t key = 0;
  double bytes = 0;
  std::size_t uses = 1;
};

// Results by their last use, most recent first.
class Recent {
 public:
  bool Has(std::uint64_t key) const { return at_.contains(key); }
  bool is_empty() const { return kept_.empty(); }
  double bytes() const { return is_empty() ? 0 : bytes_; }
  const std::list<Kept>& all() const { return kept_; }
  void Add(const Kept& kept) {
    kept_.push_front(kept);
    at_[kept.key] = kept_.begin();
    bytes_ += kept.bytes;
  }
  Kept Take(std::uint64_t key) {
    const auto at = at_.find(key);
    const Kept kept = *at->second;
    kept_.erase(at->second);
    at_.erase(at);
    bytes_ -= kept.bytes;
    return kept;
  }
  Kept TakeOldest() { return Take(kept_.back().key); }

 private:
  std::list<Kept> kept_;
  absl::flat_hash_map<std::uint64_t, std::list<Kept>::iterator> at_;
  double bytes_ = 0;
};

class Cache {
 public:
  explicit Cache(double bytes_max) : bytes_max_(bytes_max) {}
  virtual ~Cache() = default;
  virtual bool Has(std::uint64_t key) const = 0;
  virtual void Use(std::uint64_t key) = 0;
  // REQUIRES: the key is not in the cache, and the result is no larger than the cache.
  virtual void Add(std::uint64_t key, double bytes) = 0;
  std::size_t evictions() const { return evictions_; }

 protected:
  const double bytes_max_;
  std::size_t evictions_ = 0;
};

class RecentOrFrequent : public Cache {
 public:
  RecentOrFrequent(double bytes_max, bool by_frequency)
      : Cache(bytes_max), by_frequency_(by_frequency) {}
  bool Has(std::uint64_t key) const override { return kept_.Has(key); }
  void Use(std::uint64_t key) override {
    Kept kept = kept_.Take(key);
    ++kept.uses;
    kept_.Add(kept);
  }
  void Add(std::uint64_t key, double bytes) override {
    while (!kept_.is_empty() && kept_.bytes() + bytes > bytes_max_) {
      ++evictions_;
      kept_.Take(Victim());
    }
    kept_.Add({.key = key, .bytes = bytes});
  }

 private:
  std::uint64_t Victim() const {
    if (!by_frequency_) return kept_.all().back().key;
    // The last of equal results in the list.
    const auto least =
        std::min_element(kept_.all().rbegin(), kept_.all().rend(),
                         [](const Kept& a, const Kept& b) { return a.uses < b.uses; });
    return least->key;
  }
  const bool by_frequency_;
  Recent kept_;
};

class Arc : public Cache {
 public:
  explicit Arc(double bytes_max) : Cache(bytes_max) {}
  bool Has(std::uint64_t key) const override { return once_.Has(key) || often_.Has(key); }
  void Use(std::uint64_t key) override {
    often_.Add(once_.Has(key) ? once_.Take(key) : often_.Take(key));
  }
  void Add(std::uint64_t key, double bytes) override {
    const bool was_once = gone_once_.Has(key);
    const bool was_often = gone_often_.Has(key);
    if (was_once) {
      const double ratio = gone_once_.bytes() > 0 ? gone_often_.bytes() / gone_once_.bytes() : 1;
      once_target_ = std::min(bytes_max_, once_target_ + bytes * std::max(1.0, ratio));
    } else if (was_often) {
      const double ratio = gone_often_.bytes() > 0 ? gone_once_.bytes() / gone_often_.bytes() : 1;
      once_target_ = std::max(0.0, once_target_ - bytes * std::max(1.0, ratio));
    }
    MakeRoom(bytes, was_often);
    if (was_once || was_often) {
      (was_once ? gone_once_ : gone_often_).Take(key);
      often_.Add({.key = key, .bytes = bytes});
      return;
    }
    once_.Add({.key = key, .bytes = bytes});
    while (!gone_once_.is_empty() && once_.bytes() + gone_once_.bytes() > bytes_max_) {
      gone_once_.TakeOldest();
    }
    while (!gone_often_.is_empty() &&
           once_.bytes() + often_.bytes() + gone_once_.bytes() + gone_often_.bytes() >
               2 * bytes_max_) {
      gone_often_.TakeOldest();
    }
  }

 private:
  void MakeRoom(double bytes, bool was_often) {
    while (once_.bytes() + often_.bytes() + bytes > bytes_max_ &&
           !(once_.is_empty() && often_.is_empty())) {
      ++evictions_;
      const bool is_once_over =
          once_.bytes() > once_target_ || (was_often && once_.bytes() >= once_target_);
      if (!once_.is_empty() && (is_once_over || often_.is_empty())) {
        gone_once_.Add(once_.TakeOldest());
      } else {
        gone_often_.Add(often_.TakeOldest());
      }
    }
  }

  Recent once_, often_;            // T1, T2
  Recent gone_once_, gone_often_;  // B1, B2: evicted entries without their data
  double once_target_ = 0;         // p, bytes
};

std::unique_ptr<Cache> Make(CachePolicy policy, double bytes_max) {
  if (policy == CachePolicy::kArc) return std::make_unique<Arc>(bytes_max);
  return std::make_unique<RecentOrFrequent>(bytes_max, policy == CachePolicy::kLfu);
}

}  // namespace

Replayed Replay(CachePolicy policy, const std::vector<KeepableResults>& queries, double bytes_max) {
  const std::unique_ptr<Cache> cache = Make(policy, bytes_max);
  Replayed replayed;
  for (const KeepableResults& query : queries) {
    const auto found = std::find_if(query.begin(), query.end(), [&](const KeepableResult& result) {
      return cache->Has(result.key);
    });
    if (found != query.end()) {
      ++replayed.hits;
      replayed.saved_seconds += found->benefit_seconds;
      cache->Use(found->key);
      continue;
    }
    const auto fits = std::find_if(query.begin(), query.end(), [&](const KeepableResult& result) {
      return result.bytes <= bytes_max && result.benefit_seconds > 0;
    });
    if (fits == query.end()) continue;
    ++replayed.writes;
    replayed.saved_seconds -= fits->write_seconds;
    cache->Add(fits->key, fits->bytes);
  }
  replayed.evictions = cache->evictions();
  return replayed;
}

namespace {

// The last operators of a plan, each with the data of its sources.
using PlanIdentity = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

struct Run {
  std::vector<PlanIdentity> plans;  // by start time
  double seconds = 0;
  double saved_seconds = 0;  // savings if the results of all plans were kept
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
    if (group.runs++ == 0) continue;  // This run computes the results.
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

namespace {

constexpr double kWeekSeconds = 7 * 24 * 3600.0;
// Lowest assumed read rate; faster reads in the history raise it. Chosen by hand below any current
// disk. bytes per second
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
      // Shorter stages mostly do other work than reading.
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
  if (a.is_advised) return false;  // Advised points keep their order.
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
    return absl::InvalidArgumentError("the space must be 0 bytes or more");
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
