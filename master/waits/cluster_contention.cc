#include "master/waits/cluster_contention.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tidemark::waits {
namespace {

std::size_t IndexOf(ContentionKind kind) { return static_cast<std::size_t>(kind); }

// Returns true if rows of the list have seconds, as in lists of queries, hosts or resources.
bool HasSeconds(ContentionKind kind) {
  return kind == ContentionKind::kDelayedQueries || kind >= ContentionKind::kCausingQueries;
}

// Rows of these lists belong to the targets of one graph, so the worst rows can be kept after each
// job.
constexpr ContentionKind kKindsOfOneJob[] = {ContentionKind::kDelayedStages,
                                             ContentionKind::kStageWaits,
                                             ContentionKind::kStageHosts, ContentionKind::kPaths};

// Sets the units of the wait for a processor to the processor seconds that the tasks received in
// the time for which their wait is known.
void RateProcessorWait(StageOnHost& sums) {
  Waited& waited = sums.waited[WaitReason::kProcessor];
  if (waited.rated_units > 0 || sums.processor_measured_seconds <= 0) return;
  waited.rated_wait_seconds = waited.wait_seconds;
  waited.rated_units =
      sums.processor_seconds * waited.measured_seconds / sums.processor_measured_seconds;
}

// Assigns numbers, starting at 0, to the stages of a job and to the stages that met them.
class LocalStages {
 public:
  explicit LocalStages(const ClusterRecords& records) : records_(records) {}

  Stage Add(Stage stage) {
    const auto [known, is_new] =
        numbers_.try_emplace(stage, Stage{static_cast<std::uint32_t>(stages_.size())});
    if (is_new) {
      stages_.push_back(stage);
      described_.push_back({.query = records_.stage(stage).query});
    }
    return known->second;
  }

  // Sets the parents within the same query. REQUIRES: all stages of the job have been added.
  void SetParents(const TrackedJob& job) {
    for (const auto& [number, stage] : job.stages) {
      QueryStage& described = described_[static_cast<std::size_t>(numbers_.at(stage))];
      for (const std::uint32_t parent : records_.stage(stage).parents) {
        const auto known = job.stages.find(parent);
        if (known == job.stages.end() || known->second == stage) continue;
        if (records_.stage(known->second).query != described.query) continue;
        described.parents.push_back(numbers_.at(known->second));
      }
    }
  }
  void ClearParents() {
    for (QueryStage& stage : described_) stage.parents.clear();
  }

  // Unreported activity has no rates and is omitted.
  Ledger Renumber(const Ledger& ledger) {
    Ledger local;
    for (const auto& [key, sums] : ledger.stages) {
      const auto added = local.stages.emplace(StageHost{Add(key.stage), key.host}, sums).first;
      RateProcessorWait(added->second);
    }
    for (const auto& [key, met] : ledger.meetings) {
      if (key.source == kUnreported) continue;
      local.meetings.emplace(MeetingKey{Add(key.target), key.host, Add(key.source)}, met);
    }
    return local;
  }

  const std::vector<QueryStage>& described() const { return described_; }
  std::vector<Stage> Take() { return std::move(stages_); }

 private:
  const ClusterRecords& records_;
  std::map<Stage, Stage> numbers_;
  std::vector<Stage> stages_;
  std::vector<QueryStage> described_;
};

}  // namespace

JobGraph GraphOf(const ClusterRecords& records, const Contention& contention, JobNumber number,
                 const std::string& query, const std::optional<double>& last_seconds) {
  const TrackedJob& job = records.job(number);
  LocalStages local(records);
  std::vector<Stage> of_job;
  for (const auto& [stage_number, stage] : job.stages) {
    local.Add(stage);
    of_job.push_back(stage);
  }
  local.SetParents(job);
  std::vector<Target> targets;
  for (const auto& [name, of_name] : job.queries) {
    if (!query.empty() && name != query) continue;
    Target target = {.query = of_name, .stages = {}};
    for (const Stage stage : records.query(of_name).stages) {
      target.stages.push_back(local.Add(stage));
    }
    if (!target.stages.empty()) targets.push_back(std::move(target));
  }
  if (targets.empty()) return {};
  const Ledger ledger = local.Renumber(contention.WithSources(of_job, last_seconds));
  absl::StatusOr<ProtoGraph> graph = Explain(ledger, local.described(), targets);
  if (!graph.ok()) {  // The parents form a cycle.
    local.ClearParents();
    graph = Explain(ledger, local.described(), targets);
  }
  if (!graph.ok()) return {};
  return {.graph = *std::move(graph), .stages = local.Take()};
}

ContentionSums::ContentionSums(ContentionQuestion question, MayRead may_read, bool wants_graph)
    : question_(std::move(question)), may_read_(std::move(may_read)), wants_graph_(wants_graph) {}

ExplainQuestion ContentionSums::QuestionOfJob() const {
  return {.query = question_.query,
          .resource = question_.resource,
          .host = question_.host,
          .culprits_max = std::numeric_limits<std::size_t>::max(),
          .queries_max = std::numeric_limits<std::size_t>::max(),
          .last = question_.last};
}

bool ContentionSums::IsVisible(const std::string& job_id) {
  if (job_id.empty()) return false;
  const auto [known, is_new] = visible_.try_emplace(job_id);
  if (is_new) known->second = may_read_(job_id);
  return known->second;
}

ContentionParty ContentionSums::PartyOf(const std::string& job_id, const std::string& query) {
  if (!IsVisible(job_id)) return {};
  return {.job_id = job_id, .query = query};
}

ContentionSums::Sum& ContentionSums::SumOf(ContentionKind kind, Key key, const Fact& fact) {
  const bool is_delayed_hidden = key.delayed && key.delayed->job_id.empty();
  const bool is_cause_hidden = key.cause && key.cause->job_id.empty() && key.cause->jobs > 0;
  Sum& sum = sums_[IndexOf(kind)][std::move(key)];
  sum.queries.insert(fact.query);
  if (is_delayed_hidden) sum.hidden_jobs.insert(fact.job_id);
  if (is_cause_hidden) sum.hidden_jobs.insert(fact.cause_job_id);
  return sum;
}

void ContentionSums::AddDelays(const Explanation& explanation, std::size_t first_query) {
  for (std::size_t q = 0; q < explanation.queries.size(); ++q) {
    const QueryWaits& waits = explanation.queries[q];
    Most& most = most_[first_query + q];
    most.seconds = waits.seconds.value_or(std::numeric_limits<double>::infinity());
    for (const WaitReason reason : kWaitReasons) {
      const QueryWait& wait = waits.waits[reason];
      // The wait for slots counts the slots that others held; its limits also count the query's
      // own slots.
      const bool is_known = !wait.is_least && reason != WaitReason::kSlots;
      most.of[reason] = is_known ? wait.seconds.value_or(most.seconds) : most.seconds;
    }
    for (const ContendingQuery& cause : waits.culprits) {
      const bool is_visible = IsVisible(explanation.job_id) || IsVisible(cause.job_id);
      if (!is_visible || !(cause.seconds > 0)) continue;
      Fact fact = {.query = first_query + q,
                   .job_id = explanation.job_id,
                   .delayed = PartyOf(explanation.job_id, waits.query),
                   .cause_job_id = cause.job_id,
                   .cause = PartyOf(cause.job_id, cause.query),
                   .resource = cause.resource,
                   .host = cause.host};
      if (cause.job_id.empty()) fact.cause.jobs = cause.jobs;
      const LostSeconds lost = {.seconds = cause.seconds,
                                .limits = {.lower = cause.seconds_lower.value_or(0),
                                           .upper = cause.seconds_upper.value_or(cause.seconds)}};
      // If all causes of a wait are known, no other query could have used the time, so nothing is
      // subtracted. A reader of a hidden query sees only some of the causes.
      LostSeconds of_all = lost;
      if (IsVisible(explanation.job_id)) of_all.limits.lower = lost.seconds;
      const auto add = [&](ContentionKind kind, Key key) {
        SumOf(kind, std::move(key), fact).delays[fact.query][fact.resource] +=
            kind == ContentionKind::kCausingQueries ? lost : of_all;
      };
      add(ContentionKind::kDelayedQueries, {.delayed = fact.delayed});
      add(ContentionKind::kCausingQueries, {.cause = fact.cause});
      add(ContentionKind::kResources, {.resource = fact.resource});
      if (fact.host.empty()) continue;
      add(ContentionKind::kHosts, {.host = fact.host});
      add(ContentionKind::kPlaces, {.resource = fact.resource, .host = fact.host});
    }
  }
}

// Adds the responsibility of a stage of another query for the wait of a stage.
void ContentionSums::AddLeaf(const Fact& fact, std::optional<std::uint32_t> delayed_stage,
                             std::optional<std::uint32_t> causing_stage, double responsibility) {
  const auto add = [&](ContentionKind kind, Key key) {
    SumOf(kind, std::move(key), fact).responsibility += responsibility;
  };
  ContentionParty stage_of_cause = fact.cause;
  if (!fact.cause.job_id.empty()) stage_of_cause.stage = causing_stage;
  add(ContentionKind::kDelayedQueries, {.delayed = fact.delayed});
  add(ContentionKind::kCausingQueries, {.cause = fact.cause});
  add(ContentionKind::kCausingStages, {.cause = stage_of_cause});
  add(ContentionKind::kResources, {.resource = fact.resource});
  if (!fact.host.empty()) {
    add(ContentionKind::kHosts, {.host = fact.host});
    add(ContentionKind::kPlaces, {.resource = fact.resource, .host = fact.host});
  }
  if (fact.delayed.job_id.empty()) return;
  ContentionParty stage_of_delayed = fact.delayed;
  stage_of_delayed.stage = delayed_stage;
  add(ContentionKind::kPaths, {.delayed = stage_of_delayed,
                               .cause = stage_of_cause,
                               .resource = fact.resource,
                               .host = fact.host});
}

void ContentionSums::AddGraph(const ClusterRecords& records, const Explanation& explanation,
                              const JobGraph& job, std::size_t first_query) {
  const ProtoGraph& graph = job.graph;
  const bool is_visible = IsVisible(explanation.job_id);
  std::map<std::string, std::size_t> queries;
  for (std::size_t q = 0; q < explanation.queries.size(); ++q) {
    queries[explanation.queries[q].query] = first_query + q;
  }
  const auto record_of = [&](Stage local) -> const TrackedStage& {
    return records.stage(job.stages[static_cast<std::size_t>(local)]);
  };
  const auto host_of = [&](Host host) {
    return ClusterRecords::IsNamed(host) ? records.HostName(host) : std::string();
  };
  // Returns nullopt for a vertex that the question or the reader's rights exclude.
  const auto fact_of = [&](const Vertex& vertex) -> std::optional<Fact> {
    const Query query = graph.targets[vertex.target].query;
    const std::string& name = records.query(query).name;
    const auto known = queries.find(name);
    if (known == queries.end()) return std::nullopt;
    Fact fact = {.query = known->second,
                 .job_id = explanation.job_id,
                 .delayed = PartyOf(explanation.job_id, name),
                 .resource = vertex.resource};
    if (vertex.level < Level::kImmediate) return fact;
    if (question_.resource && vertex.resource != *question_.resource) return std::nullopt;
    if (vertex.level < Level::kDeep) return fact;
    fact.host = host_of(vertex.host);
    if (!question_.host.empty() && fact.host != question_.host) return std::nullopt;
    return fact;
  };
  for (VertexIndex v = 0; v < graph.vertices.size(); ++v) {
    const Vertex& vertex = graph.vertices[v];
    const double responsibility = graph.responsibilities[v];
    if (!(responsibility > 0) || vertex.level == Level::kTargetQuery) continue;
    if (vertex.level > Level::kBlame) break;
    std::optional<Fact> fact = fact_of(vertex);
    if (!fact) continue;
    const std::uint32_t stage = record_of(vertex.stage).number;
    if (vertex.level == Level::kBlame) {
      const Query source = record_of(vertex.source).query;
      if (source == graph.targets[vertex.target].query || source == kForgottenQuery) continue;
      const TrackedQuery& cause = records.query(source);
      fact->cause_job_id = records.job(cause.job).id;
      if (!is_visible && !IsVisible(fact->cause_job_id)) continue;
      fact->cause = PartyOf(fact->cause_job_id, cause.name);
      AddLeaf(*fact, stage, record_of(vertex.source).number, responsibility);
    } else if (is_visible) {
      Key key = {.delayed = fact->delayed};
      key.delayed->stage = stage;
      if (vertex.level >= Level::kImmediate) key.resource = vertex.resource;
      key.host = fact->host;
      const auto kind = static_cast<ContentionKind>(vertex.level);
      SumOf(kind, std::move(key), *fact).responsibility += responsibility;
    }
  }
  if (!is_visible) return;
  for (const Edge& edge : graph.edges) {
    const Vertex& vertex = graph.vertices[edge.parent];
    if (vertex.level != Level::kImmediate && vertex.level != Level::kDeep) continue;
    const std::optional<Fact> fact = fact_of(vertex);
    if (!fact || !(edge.impact > 0)) continue;
    if (vertex.level == Level::kImmediate) {
      SumOf(ContentionKind::kResources, {.resource = vertex.resource}, *fact).impact += edge.impact;
    } else if (!fact->host.empty()) {
      SumOf(ContentionKind::kHosts, {.host = fact->host}, *fact).impact += edge.impact;
    }
  }
}

void ContentionSums::Add(const ClusterRecords& records, const Explanation& explanation,
                         const JobGraph& graph) {
  const std::size_t first_query = most_.size();
  most_.resize(first_query + explanation.queries.size());
  if (IsVisible(explanation.job_id)) {
    ++contention_.jobs;
    contention_.at = std::max(contention_.at, explanation.at);
    contention_.since = std::min(contention_.since, explanation.since);
    hosts_.insert(explanation.hosts.begin(), explanation.hosts.end());
    contention_.is_partial = contention_.is_partial || explanation.is_partial;
  }
  AddDelays(explanation, first_query);
  AddGraph(records, explanation, graph, first_query);
  for (const ContentionKind kind : kKindsOfOneJob) KeepWorst(kind);
}

absl::Status ContentionSums::Check() const {
  if (contention_.jobs == 0) return absl::OkStatus();
  if (!question_.query.empty() && most_.empty()) {
    return absl::NotFoundError(
        absl::StrCat(question_.job_id, ": query ", question_.query, " ran no tasks"));
  }
  const bool is_unknown = !question_.host.empty() && !question_.last && !hosts_.empty() &&
                          !hosts_.contains(question_.host);
  if (!is_unknown) return absl::OkStatus();
  constexpr std::size_t kNamesMax = 5;
  std::string names;
  std::size_t count = 0;
  for (const std::string& host : hosts_) {
    if (++count > kNamesMax) break;
    absl::StrAppend(&names, names.empty() ? "" : ", ", host);
  }
  if (hosts_.size() > kNamesMax) {
    absl::StrAppend(&names, " and ", hosts_.size() - kNamesMax, " more");
  }
  return absl::NotFoundError(
      absl::StrCat("no task ran on host ", question_.host, "; hosts: ", names));
}

// Removes all but the worst rows of a list without seconds.
void ContentionSums::KeepWorst(ContentionKind kind) {
  Sums& sums = sums_[IndexOf(kind)];
  if (sums.size() <= question_.rows_max) return;
  std::vector<Sums::iterator> order;
  for (auto at = sums.begin(); at != sums.end(); ++at) order.push_back(at);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a->second.responsibility > b->second.responsibility;
  });
  for (std::size_t i = question_.rows_max; i < order.size(); ++i) sums.erase(order[i]);
  left_out_[IndexOf(kind)] += static_cast<std::uint32_t>(order.size() - question_.rows_max);
}

ContentionRow ContentionSums::RowOf(const Key& key, const Sum& sum) {
  ContentionRow row = {.delayed = key.delayed,
                       .cause = key.cause,
                       .resource = key.resource,
                       .host = key.host,
                       .responsibility = sum.responsibility,
                       .impact = sum.impact,
                       .queries = static_cast<std::uint32_t>(sum.queries.size())};
  const auto hidden = static_cast<std::uint32_t>(sum.hidden_jobs.size());
  if (row.delayed && row.delayed->job_id.empty()) row.delayed->jobs = hidden;
  if (row.cause && row.cause->job_id.empty() && row.cause->jobs > 0) row.cause->jobs = hidden;
  return row;
}

LimitedAmount ContentionSums::SecondsOf(ContentionKind kind, const Sum& sum) const {
  LimitedAmount seconds;
  for (const auto& [query, by_reason] : sum.delays) {
    const Most& most = most_[query];
    double value = 0;
    double upper = 0;
    for (const WaitReason reason : kWaitReasons) {
      const LostSeconds& lost = by_reason[reason];
      // The limits of one cause are the sums of its limits in answers to `why`.
      const bool is_of_cause = kind == ContentionKind::kCausingQueries;
      const double most_of_reason = is_of_cause ? most.seconds : most.of[reason];
      value += lost.seconds;
      seconds.lower += std::min(lost.limits.lower, lost.seconds);
      upper += std::max(lost.seconds, std::min(lost.limits.upper, most_of_reason));
    }
    seconds.value += value;
    seconds.upper += std::max(value, std::min(upper, most.seconds));
  }
  return seconds;
}

LimitedAmount ContentionSums::TotalOf(ContentionKind kind) const {
  LimitedAmount total;
  for (const auto& [key, sum] : sums_[IndexOf(kind)]) {
    const LimitedAmount seconds = SecondsOf(kind, sum);
    total.value += seconds.value;
    total.lower += seconds.lower;
    total.upper += seconds.upper;
  }
  return total;
}

ContentionList ContentionSums::ListOf(ContentionKind kind) const {
  ContentionList list = {.kind = kind, .rows = {}, .left_out = left_out_[IndexOf(kind)]};
  // The limits of causes depend on each other, since one cause may use the time that another one
  // frees. Their total is therefore that of the delayed queries. Rows of other lists are
  // independent.
  const bool is_of_causes = kind == ContentionKind::kCausingQueries;
  const LimitedAmount all = TotalOf(is_of_causes ? ContentionKind::kDelayedQueries : kind);
  const auto part = [](double of, double whole) {
    return of > 0 ? std::min(1.0, of / std::max(of, whole)) : 0;
  };
  for (const auto& [key, sum] : sums_[IndexOf(kind)]) {
    ContentionRow& row = list.rows.emplace_back(RowOf(key, sum));
    if (!HasSeconds(kind)) continue;
    const LimitedAmount seconds = SecondsOf(kind, sum);
    const double width = is_of_causes ? 0 : seconds.upper - seconds.lower;
    LimitedAmount share = {.value = part(seconds.value, all.value),
                           .lower = part(seconds.lower, all.upper - width),
                           .upper = part(seconds.upper, all.lower + width)};
    share.lower = std::min(share.lower, share.value);
    share.upper = std::max(share.upper, share.value);
    row.seconds = seconds;
    row.share = share;
  }
  std::stable_sort(
      list.rows.begin(), list.rows.end(), [](const ContentionRow& a, const ContentionRow& b) {
        const auto key = [](const ContentionRow& row) {
          return std::tuple(row.seconds ? row.seconds->value : 0, row.responsibility, row.impact);
        };
        return key(a) > key(b);
      });
  if (list.rows.size() > question_.rows_max) {
    list.left_out += static_cast<std::uint32_t>(list.rows.size() - question_.rows_max);
    list.rows.resize(question_.rows_max);
  }
  return list;
}

ClusterContention ContentionSums::Finish() && {
  if (question_.last) {
    contention_.since = std::max(contention_.since, contention_.at - *question_.last);
  }
  for (std::size_t kind = 0; kind < kContentionKindCount; ++kind) {
    ContentionList list = ListOf(static_cast<ContentionKind>(kind));
    if (!list.rows.empty()) contention_.lists.push_back(std::move(list));
  }
  return std::move(contention_);
}

}  // namespace tidemark::waits
