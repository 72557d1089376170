#include "master/blame/explain_query.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "master/blame/delay.h"
#include "master/blame/ledger.h"

namespace tidemark::blame {
namespace {

// Of stages that follow one another: instants are rounded to milliseconds.
constexpr double kRoundingSeconds = 0.002;
constexpr Query kUnreportedQuery{UINT32_MAX};

// Of the stages of a query that followed one another.
struct Sums {
  PerResource<QueryWait> waits;
  std::optional<double> skew_seconds;
  std::map<std::tuple<Query, Resource, Host>, double> culprits;
};

struct Ran {
  Stage stage{};
  double from = 0;
  double to = 0;
};

class Explainer {
 public:
  Explainer(const ClusterRecords& records, const Contention& contention,
            const ExplainQuestion& question, double now)
      : records_(records), contention_(contention), question_(question), now_(now) {
    if (question.last) last_seconds_ = absl::ToDoubleSeconds(*question.last);
  }

  std::optional<QueryWaits> Explain(Query query) const {
    const QueryRecord& record = records_.query(query);
    const Ledger ledger = contention_.Of(record.stages, last_seconds_);
    const std::vector<Stage> chain = StagesThatFollowed(record, ledger);
    if (chain.empty()) return std::nullopt;
    Sums sums;
    for (const Stage stage : chain) AddStage(ledger, stage, sums);
    QueryWaits waits = {.query = record.name,
                        .seconds = SecondsOf(record),
                        .waits = sums.waits,
                        .skew_seconds = sums.skew_seconds,
                        .culprits = {}};
    for (const auto& [who, seconds] : sums.culprits) {
      const auto& [other, resource, host] = who;
      Culprit culprit = CulpritOf(other);
      culprit.resource = resource;
      if (ClusterRecords::IsTold(host)) culprit.host = records_.HostName(host);
      culprit.seconds = seconds;
      waits.culprits.push_back(std::move(culprit));
    }
    std::stable_sort(waits.culprits.begin(), waits.culprits.end(),
                     [](const Culprit& a, const Culprit& b) { return a.seconds > b.seconds; });
    return waits;
  }

 private:
  // Backwards from its end, each time the last that had ended: parents of stages do not tell in
  // what order the jobs of a query ran.
  std::vector<Stage> StagesThatFollowed(const QueryRecord& query, const Ledger& ledger) const {
    std::vector<Ran> ran;
    const JobSlots& slots = records_.job(query.job).slots;
    for (const Stage stage : query.stages) {
      const StageRecord& record = records_.stage(stage);
      const auto span = ledger.spans.find(stage);
      if (span != ledger.spans.end()) {
        ran.push_back({stage, span->second.from - record.full_seconds, span->second.to});
      } else if (slots.IsWaiting(stage) && record.full_seconds > 0) {
        ran.push_back({stage, *record.opened_at, slots.WaitedUntil(stage)});
      }
    }
    std::stable_sort(ran.begin(), ran.end(),
                     [](const Ran& a, const Ran& b) { return a.to > b.to; });
    std::vector<Stage> chain;
    std::optional<double> from;
    for (const Ran& stage : ran) {
      if (from && stage.to > *from + kRoundingSeconds) continue;
      from = stage.from;
      chain.push_back(stage.stage);
    }
    return chain;
  }

  bool IsAsked(Resource resource, Host host) const {
    if (question_.resource && *question_.resource != resource) return false;
    if (question_.host.empty()) return true;
    return ClusterRecords::IsTold(host) && records_.HostName(host) == question_.host;
  }

  static void AddWait(Resource resource, double seconds, Sums& sums) {
    sums.waits[resource].seconds = sums.waits[resource].seconds.value_or(0) + seconds;
  }

  void AddStage(const Ledger& ledger, Stage stage, Sums& sums) const {
    const StageRecord& record = records_.stage(stage);
    const auto spanned = ledger.spans.find(stage);
    const double span = spanned == ledger.spans.end() ? 0 : spanned->second.seconds();
    const Stage targets[] = {stage};
    const std::vector<Delay> delays = Delays(ledger, targets);
    double ran = 0;     // task seconds
    double lacked = 0;  // slot seconds
    const auto first = ledger.stages.lower_bound({stage, Host{}});
    for (auto at = first; at != ledger.stages.end() && at->first.stage == stage; ++at) {
      if (!IsQueue(at->first.host)) ran += at->second.seconds;
    }
    for (const Delay& delay : delays) {
      if (delay.resource == Resource::kScheduler) lacked += delay.task_seconds;
    }
    const double full_seconds = FullSeconds(record);
    // With the slots that it lacked, too, it would have needed this much less of its time.
    const double per_slot_second = ran + lacked > 0 ? (span + full_seconds) / (ran + lacked) : 0;
    const double per_task_second = ran > 0 ? span / ran : 0;
    for (auto at = first; at != ledger.stages.end() && at->first.stage == stage; ++at) {
      if (!IsQueue(at->first.host)) AddWaits(at->first.host, at->second, per_task_second, sums);
    }
    if (records_.job(records_.query(record.query).job).slots.is_told() && record.opened_at &&
        IsAsked(Resource::kScheduler, QueueOf({}))) {
      AddWait(Resource::kScheduler, 0, sums);
    }
    for (const Delay& delay : delays) {
      const bool is_slots = delay.resource == Resource::kScheduler;
      AddDelay(delay, record.query,
               delay.task_seconds * (is_slots ? per_slot_second : per_task_second), sums);
    }
    if (record.ended >= 2) {
      const double mean = record.ended_seconds / static_cast<double>(record.ended);
      sums.skew_seconds =
          sums.skew_seconds.value_or(0) + std::max(0.0, record.longest_seconds - mean);
    }
  }

  // Before its first task, while no slot was free, as far as that is in the sums.
  double FullSeconds(const StageRecord& record) const {
    double seconds = record.full_seconds;
    if (record.opened_at) {
      seconds = std::clamp(contention_.folded_until() - *record.opened_at, 0.0, seconds);
    }
    return std::min(seconds, last_seconds_.value_or(seconds));
  }

  void AddWaits(Host host, const StageOnHost& on_host, double per_task_second, Sums& sums) const {
    for (const Resource resource : kResources) {
      if (resource == Resource::kScheduler || !IsAsked(resource, host)) continue;
      const Waited& waited = on_host.waited[resource];
      if (waited.measured_seconds < on_host.seconds) sums.waits[resource].is_least = true;
      if (waited.measured_seconds > 0) {
        AddWait(resource, waited.wait_seconds * per_task_second, sums);
      }
    }
  }

  void AddDelay(const Delay& delay, Query own, double seconds, Sums& sums) const {
    const Query other =
        delay.source == kUnreported ? kUnreportedQuery : records_.stage(delay.source).query;
    if (other == own || !IsAsked(delay.resource, delay.host)) return;
    // Of hosts that are not told nobody knows who meets whom.
    if (!ClusterRecords::IsTold(delay.host) && !IsQueue(delay.host)) return;
    if (delay.resource == Resource::kScheduler) AddWait(delay.resource, seconds, sums);
    sums.culprits[{other, delay.resource, delay.host}] += seconds;
  }

  Culprit CulpritOf(Query query) const {
    Culprit culprit;
    if (query == kForgottenQuery) return culprit;
    if (query == kUnreportedQuery) {
      culprit.jobs = 0;
      return culprit;
    }
    const QueryRecord& record = records_.query(query);
    culprit.job_id = records_.job(record.job).id;
    culprit.query = record.name;
    return culprit;
  }

  std::optional<double> SecondsOf(const QueryRecord& query) const {
    if (!query.from) return std::nullopt;
    const double seconds = std::max(query.to.value_or(now_) - *query.from, 0.0);
    return std::min(seconds, last_seconds_.value_or(seconds));
  }

  const ClusterRecords& records_;
  const Contention& contention_;
  const ExplainQuestion& question_;
  const double now_;
  std::optional<double> last_seconds_;
};

}  // namespace

std::optional<QueryWaits> ExplainQuery(const ClusterRecords& records, const Contention& contention,
                                       Query query, const ExplainQuestion& question, double now) {
  return Explainer(records, contention, question, now).Explain(query);
}

}  // namespace tidemark::blame
