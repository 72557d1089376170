#include "master/waits/explain_query.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "master/waits/ledger.h"
#include "master/waits/own_causes.h"

namespace tidemark::waits {
namespace {

// Permitted overlap of consecutive stages, since times are rounded to milliseconds.
constexpr double kRoundingSeconds = 0.002;
// A wait that is known for this share of the task time counts as fully known. The end of an attempt
// often arrives a moment after its last totals. Chosen by hand.
constexpr double kMostOf = 0.99;
// The length of a task has no external cause if its own work explains this share of its excess.
// Chosen by hand.
constexpr double kOwnShare = 0.5;
constexpr double kRoundingShare = 1e-9;
constexpr Query kUnreportedQuery{UINT32_MAX};

// Sums over consecutive stages of a query.
struct Sums {
  double lasted = 0;
  PerWaitReason<QueryWait> waits;
  std::optional<double> skew_seconds;
  std::optional<LongestTask> longest_task;
  std::map<std::tuple<Query, WaitReason, Host>, LostSeconds> causes;
};

struct Ran {
  Stage stage{};
  double from = 0;
  double to = 0;
};

struct Span {
  double from = 0;
  double to = 0;
  double seconds() const { return std::max(to - from, 0.0); }
};

LostSeconds Cut(const LostSeconds& cost, double part, double most) {
  const auto cut = [&](double seconds) { return std::min(seconds * part, most); };
  return {.seconds = cut(cost.seconds),
          .limits = {.lower = cut(cost.limits.lower), .upper = cut(cost.limits.upper)}};
}

// Reduces the sums to the length of the query or job, if contradictory reports exceed that length.
void CutTo(double seconds, Sums& sums) {
  const double part = sums.lasted > seconds ? seconds / sums.lasted : 1;
  for (const WaitReason resource : kWaitReasons) {
    std::optional<double>& waited = sums.waits[resource].seconds;
    if (waited) waited = std::min(*waited * part, seconds);
  }
  for (auto& [who, cost] : sums.causes) cost = Cut(cost, part, seconds);
}

class Explainer {
 public:
  Explainer(const ClusterRecords& records, const Contention& contention,
            const ExplainQuestion& question, double now)
      : records_(records), contention_(contention), question_(question), now_(now) {
    if (!question.last) return;
    last_seconds_ = absl::ToDoubleSeconds(*question.last);
    last_begins_ = contention.LastBegins(*last_seconds_);
  }

  std::optional<QueryWaits> Explain(Query query) const {
    const TrackedQuery& record = records_.query(query);
    const Ledger ledger = contention_.Of(record.stages, last_seconds_);
    const std::vector<Ran> ran = StagesThatRan(record.job, record.stages, ledger);
    if (ran.empty()) return std::nullopt;
    Sums sums;
    for (const Stage stage : ThatFollowed(ran)) AddStage(ledger, stage, sums);
    const double seconds = SpanOf(record, ran).seconds();
    CutTo(seconds, sums);
    QueryWaits waits = {.query = record.name,
                        .seconds = seconds,
                        .waits = sums.waits,
                        .skew_seconds = sums.skew_seconds,
                        .longest_task = sums.longest_task,
                        .data_growth = GrowthOfData(record),
                        .culprits = {}};
    for (const auto& [who, cost] : sums.causes) {
      const auto& [other, resource, host] = who;
      ContendingQuery culprit = CauseOf(other);
      culprit.resource = resource;
      if (ClusterRecords::IsNamed(host)) culprit.host = records_.HostName(host);
      culprit.seconds = cost.seconds;
      culprit.seconds_lower = cost.limits.lower;
      culprit.seconds_upper = cost.limits.upper;
      waits.culprits.push_back(std::move(culprit));
    }
    std::stable_sort(
        waits.culprits.begin(), waits.culprits.end(),
        [](const ContendingQuery& a, const ContendingQuery& b) { return a.seconds > b.seconds; });
    return waits;
  }

  std::map<Query, LostSeconds> CostsTo(JobNumber job) const {
    std::vector<Stage> stages;
    for (const auto& [number, stage] : records_.job(job).stages) stages.push_back(stage);
    const Ledger ledger = contention_.Of(stages, last_seconds_);
    const std::vector<Ran> ran = StagesThatRan(job, stages, ledger);
    Sums sums;
    for (const Stage stage : ThatFollowed(ran)) AddStage(ledger, stage, sums);
    const double seconds = SecondsOfJob(ran);
    CutTo(seconds, sums);
    std::map<Query, LostSeconds> costs;
    for (const auto& [who, cost] : sums.causes) {
      if (std::get<WaitReason>(who) != WaitReason::kSlots) costs[std::get<Query>(who)] += cost;
    }
    for (auto& [query, cost] : costs) cost = Cut(cost, /*part=*/1, seconds);
    return costs;
  }

  StageLosses LossesOf(Stage stage) const {
    const Stage targets[] = {stage};
    const Ledger ledger = contention_.Of(targets, last_seconds_);
    StageLosses losses;
    for (auto at = ledger.stages.lower_bound({stage, Host{}});
         at != ledger.stages.end() && at->first.stage == stage; ++at) {
      if (!IsQueue(at->first.host)) losses.ran += at->second.seconds;
    }
    Sums sums;
    for (const auto& [where, neighbours] : NeighboursOf(ledger, stage, Delays(ledger, targets))) {
      const auto& [resource, host] = where;
      if (IsQueue(host)) continue;
      Waiting waiting = WaitingOf(ledger, {stage, host}, resource, /*part=*/1);
      waiting.stage_seconds_each = 1;  // Task seconds count in full.
      AddCosts(resource, host, waiting, neighbours, sums);
    }
    for (const auto& [who, cost] : sums.causes) losses.others[std::get<Query>(who)] += cost;
    return losses;
  }

 private:
  // Returns the stages that ran or wait, latest end first.
  std::vector<Ran> StagesThatRan(JobNumber job, const std::vector<Stage>& stages,
                                 const Ledger& ledger) const {
    std::vector<Ran> ran;
    const JobSlots& slots = records_.job(job).slots;
    for (const Stage stage : stages) {
      const TrackedStage& record = records_.stage(stage);
      const auto span = ledger.spans.find(stage);
      if (span != ledger.spans.end()) {
        ran.push_back({stage, span->second.from - FullSeconds(record), span->second.to});
      } else if (slots.IsWaiting(stage) && record.full_seconds > 0) {
        ran.push_back({stage, *record.opened_at, slots.WaitedUntil(stage)});
      }
    }
    std::stable_sort(ran.begin(), ran.end(),
                     [](const Ran& a, const Ran& b) { return a.to > b.to; });
    return ran;
  }

  // Returns consecutive stages, the last stage first. Each is the last stage that had ended before
  // the next one began. The parents of stages do not show the order of a query's jobs.
  static std::vector<Stage> ThatFollowed(const std::vector<Ran>& ran) {
    std::vector<Stage> chain;
    std::optional<double> from;
    for (const Ran& stage : ran) {
      if (from && stage.to > *from + kRoundingSeconds) continue;
      from = stage.from;
      chain.push_back(stage.stage);
    }
    return chain;
  }

  bool IsAsked(WaitReason resource, Host host) const {
    if (question_.resource && *question_.resource != resource) return false;
    if (question_.host.empty()) return true;
    return ClusterRecords::IsNamed(host) && records_.HostName(host) == question_.host;
  }

  static void AddWait(WaitReason resource, double seconds, Sums& sums) {
    sums.waits[resource].seconds = sums.waits[resource].seconds.value_or(0) + seconds;
  }

  void AddStage(const Ledger& ledger, Stage stage, Sums& sums) const {
    const TrackedStage& record = records_.stage(stage);
    const Stage targets[] = {stage};
    const std::vector<Delay> delays = Delays(ledger, targets);
    double ran = 0;        // task seconds
    double stage_ran = 0;  // seconds in which any task ran
    double lacked = 0;     // slot seconds
    const auto first = ledger.stages.lower_bound({stage, Host{}});
    for (auto at = first; at != ledger.stages.end() && at->first.stage == stage; ++at) {
      if (IsQueue(at->first.host)) continue;
      ran += at->second.seconds;
      stage_ran += at->second.stage_seconds;
    }
    for (const Delay& delay : delays) {
      if (delay.resource == WaitReason::kSlots) lacked += delay.task_seconds;
    }
    // With the slots that it lacked, the stage would have been shorter by lacked *
    // per_slot_second.
    const double lasted = stage_ran + FullSeconds(record);
    sums.lasted += lasted;
    const double per_slot_second = ran + lacked > 0 ? lasted / (ran + lacked) : 0;
    // The other waits are scaled to the remaining time, so that the sum does not exceed the length.
    const double remaining = lasted - lacked * per_slot_second;
    const double part = stage_ran > 0 ? std::min(1.0, remaining / stage_ran) : 0;
    for (auto at = first; at != ledger.stages.end() && at->first.stage == stage; ++at) {
      if (!IsQueue(at->first.host)) AddWaits(at->first.host, at->second, part, sums);
    }
    if (records_.job(records_.query(record.query).job).slots.is_known() && record.opened_at &&
        IsAsked(WaitReason::kSlots, QueueOf({}))) {
      AddWait(WaitReason::kSlots, 0, sums);
    }
    for (const auto& [where, neighbours] : NeighboursOf(ledger, stage, delays)) {
      const auto& [resource, host] = where;
      Waiting waiting = {.seconds = lacked, .stage_seconds_each = per_slot_second};
      if (!IsQueue(host)) waiting = WaitingOf(ledger, {stage, host}, resource, part);
      AddCosts(resource, host, waiting, neighbours, sums);
    }
    AddLongest(record, sums);
  }

  // Returns true if work, and not waits, made the attempt longer than a mean task.
  static bool IsLongByItself(const LongestAttempt& longest, double mean, double mean_own) {
    if (!(mean > 0 && mean_own > 0)) return false;
    const double longer = longest.seconds / mean - 1;
    const double longer_own = longest.own_seconds / mean_own - 1;
    return longer_own >= kOwnShare * longer - kRoundingShare;
  }

  static void AddLongest(const TrackedStage& stage, Sums& sums) {
    if (stage.ended == 0) return;
    const double mean = stage.ended_seconds / static_cast<double>(stage.ended);
    const double mean_own = stage.ended_own_seconds / static_cast<double>(stage.ended);
    if (stage.ended >= 2) {
      sums.skew_seconds =
          sums.skew_seconds.value_or(0) + std::max(0.0, stage.longest_own_seconds - mean_own);
    }
    const LongestAttempt& longest = stage.longest;
    if (!IsLongByItself(longest, mean, mean_own)) return;
    if (longest.seconds <= (sums.longest_task ? sums.longest_task->seconds : 0)) return;
    sums.longest_task = LongestTask{.attempt = longest.attempt,
                                    .kind = stage.kind,
                                    .host = longest.host,
                                    .seconds = longest.seconds,
                                    .mean_seconds = mean,
                                    .group_bytes = longest.group_bytes,
                                    .group_seconds = longest.group_seconds};
  }

  // Returns nullopt for the last minutes, whose input is not kept. If output was lost or more tasks
  // ended than exist, some tasks of the stage ran again and its input counts twice, so the stage is
  // skipped.
  std::optional<DataGrowth> GrowthOfData(const TrackedQuery& query) const {
    if (question_.last) return std::nullopt;
    const PastInput& past = records_.job(query.job).past_input;
    std::optional<DataGrowth> sum;
    double all_task_seconds = 0;
    for (const Stage each : query.stages) {
      const TrackedStage& stage = records_.stage(each);
      all_task_seconds += stage.ended_own_seconds;
      const PastBytes* const before = PastBytesOfStage(past, stage);
      if (before == nullptr || stage.ended > stage.tasks || stage.has_lost_output) continue;
      const auto growth = GrowthOf(stage.ended_own_seconds, stage.read_bytes, *before);
      if (!growth) continue;
      if (sum) {
        Add(*growth, *sum);
      } else {
        sum = growth;
      }
    }
    if (sum) sum->all_task_seconds = all_task_seconds;
    return sum;
  }

  static const PastBytes* PastBytesOfStage(const PastInput& past, const TrackedStage& stage) {
    if (stage.kind == StageKind::kMap) return past.map_stage ? &*past.map_stage : nullptr;
    const auto known = past.stages.find(stage.data_name);
    return known == past.stages.end() ? nullptr : &known->second;
  }

  // Returns the part of the wait for a first slot that the sums cover.
  double FullSeconds(const TrackedStage& record) const {
    double seconds = record.full_seconds;
    if (record.opened_at) {
      seconds = std::clamp(contention_.folded_until() - *record.opened_at, 0.0, seconds);
    }
    if (!last_begins_) return seconds;
    return std::clamp(record.full_until - *last_begins_, 0.0, seconds);
  }

  void AddWaits(Host host, const StageOnHost& on_host, double part, Sums& sums) const {
    for (const WaitReason resource : kWaitReasons) {
      if (resource == WaitReason::kSlots || !IsAsked(resource, host)) continue;
      const Waited& waited = on_host.waited[resource];
      if (waited.measured_seconds < kMostOf * on_host.seconds) sums.waits[resource].is_least = true;
      if (waited.measured_seconds > 0) AddWait(resource, waited.stage_seconds * part, sums);
    }
  }

  Query QueryOf(Stage source) const {
    return source == kUnreported ? kUnreportedQuery : records_.stage(source).query;
  }

  // Returns the other queries that used the resources for which the stage waited, in task seconds.
  using ByQuery = std::map<Query, Neighbour>;
  std::map<std::pair<WaitReason, Host>, ByQuery> NeighboursOf(
      const Ledger& ledger, Stage stage, const std::vector<Delay>& delays) const {
    std::map<std::pair<WaitReason, Host>, ByQuery> neighbours;
    const Query own = records_.stage(stage).query;
    const auto add = [&](WaitReason resource, Host host, Stage source, const Neighbour& more) {
      const Query other = QueryOf(source);
      if (other == own || !IsAsked(resource, host)) return;
      // On unnamed hosts, meetings are unknown.
      if (!ClusterRecords::IsNamed(host) && !IsQueue(host)) return;
      Neighbour& sum = neighbours[{resource, host}][other];
      sum.query = other;
      sum.seconds += more.seconds;
      sum.beside_seconds += more.beside_seconds;
    };
    for (auto at = ledger.meetings.lower_bound({stage, Host{}, Stage{}});
         at != ledger.meetings.end() && at->first.target == stage; ++at) {
      const Meeting& met = at->second;
      for (const WaitReason resource : kWaitReasons) {
        if (met.wait_seconds[resource] <= 0) continue;
        add(resource, at->first.host, at->first.source, {.beside_seconds = met.overlap_seconds});
      }
    }
    for (const Delay& delay : delays) {
      add(delay.resource, delay.host, delay.source, {.seconds = delay.task_seconds});
    }
    return neighbours;
  }

  // The maximum number of seconds that tasks of a stage can have waited, and the delay of the stage
  // for each of these seconds.
  struct Waiting {
    double seconds = 0;
    double stage_seconds_each = 0;
  };
  static Waiting WaitingOf(const Ledger& ledger, StageHost where, WaitReason resource,
                           double part) {
    const auto found = ledger.stages.find(where);
    if (found == ledger.stages.end()) return {};
    const Waited& waited = found->second.waited[resource];
    const double unknown = std::max(0.0, found->second.seconds - waited.measured_seconds);
    const double each = waited.wait_seconds > 0 ? waited.stage_seconds / waited.wait_seconds : 0;
    return {.seconds = waited.wait_seconds + unknown, .stage_seconds_each = each * part};
  }

  void AddCosts(WaitReason resource, Host host, const Waiting& waiting, const ByQuery& by_query,
                Sums& sums) const {
    std::vector<Neighbour> neighbours;
    for (const auto& [query, neighbour] : by_query) {
      neighbours.push_back(neighbour);
      // It is unknown when slot holders and unreported processes were present, so they are assumed
      // to be present all the time.
      const bool is_unknown = IsQueue(host) || query == kUnreportedQuery;
      double& beside = neighbours.back().beside_seconds;
      beside = is_unknown ? waiting.seconds : std::min(beside, waiting.seconds);
    }
    const std::vector<Limits> limits = LimitsOf(neighbours);
    for (std::size_t n = 0; n < neighbours.size(); ++n) {
      if (neighbours[n].seconds <= 0) continue;
      const double each = waiting.stage_seconds_each;
      LostSeconds& cost = sums.causes[{neighbours[n].query, resource, host}];
      cost.seconds += neighbours[n].seconds * each;
      cost.limits.lower += limits[n].lower * each;
      cost.limits.upper += limits[n].upper * each;
      if (resource == WaitReason::kSlots) {
        AddWait(resource, neighbours[n].seconds * each, sums);
      }
    }
  }

  ContendingQuery CauseOf(Query query) const {
    ContendingQuery culprit;
    if (query == kForgottenQuery) return culprit;
    if (query == kUnreportedQuery) {
      culprit.jobs = 0;
      return culprit;
    }
    const TrackedQuery& record = records_.query(query);
    culprit.job_id = records_.job(record.job).id;
    culprit.query = record.name;
    return culprit;
  }

  // Returns true if the query is the whole job, which has no named queries.
  static bool IsAllOf(const TrackedQuery& query, const TrackedJob& job) {
    return query.name.empty() && job.queries.size() == 1 && job.is_seen_whole;
  }

  // Returns the span of a query. If its start is unknown, uses the start of its job, or else of its
  // first stage.
  Span SpanOf(const TrackedQuery& query, const std::vector<Ran>& ran) const {
    double from = ran.front().from;
    for (const Ran& stage : ran) from = std::min(from, stage.from);
    const TrackedJob& job = records_.job(query.job);
    if (IsAllOf(query, job)) from = std::min(from, job.began_at);
    from = query.from.value_or(from);
    if (last_begins_) from = std::max(from, *last_begins_);
    return {from, query.to.value_or(now_)};
  }

  // Returns the seconds from the start of the first query to the end of the last query.
  double SecondsOfJob(const std::vector<Ran>& ran) const {
    std::map<Query, std::vector<Ran>> by_query;
    for (const Ran& stage : ran) by_query[records_.stage(stage.stage).query].push_back(stage);
    std::optional<Span> job;
    for (const auto& [query, of_query] : by_query) {
      const Span span = SpanOf(records_.query(query), of_query);
      job = job ? Span{std::min(job->from, span.from), std::max(job->to, span.to)} : span;
    }
    return job ? job->seconds() : 0;
  }

  const ClusterRecords& records_;
  const Contention& contention_;
  const ExplainQuestion& question_;
  const double now_;
  std::optional<double> last_seconds_;
  std::optional<double> last_begins_;  // start of the kept slices within last_seconds_
};

}  // namespace

std::optional<QueryWaits> ExplainQuery(const ClusterRecords& records, const Contention& contention,
                                       Query query, const ExplainQuestion& question, double now) {
  return Explainer(records, contention, question, now).Explain(query);
}

void SelectCauses(const ExplainQuestion& question, Explanation& explanation) {
  const std::string& named = question.because_of;
  const auto is_named = [&](const ContendingQuery& cause) {
    if (cause.job_id.empty()) return false;
    return named == cause.job_id || named == cause.job_id + "/" + cause.query ||
           (cause.job_id == explanation.job_id && named == cause.query);
  };
  for (QueryWaits& query : explanation.queries) {
    if (!named.empty()) std::erase_if(query.culprits, std::not_fn(is_named));
    if (query.culprits.size() > question.culprits_max) query.culprits.resize(question.culprits_max);
  }
}

std::map<Query, LostSeconds> CostsToJob(const ClusterRecords& records, const Contention& contention,
                                        JobNumber job, const std::optional<absl::Duration>& last) {
  const ExplainQuestion question = {.last = last};
  return Explainer(records, contention, question, contention.folded_until()).CostsTo(job);
}

StageLosses LossesOf(const ClusterRecords& records, const Contention& contention, Stage stage,
                     const std::optional<absl::Duration>& last) {
  const ExplainQuestion question = {.last = last};
  return Explainer(records, contention, question, /*now=*/0).LossesOf(stage);
}

}  // namespace tidemark::waits
