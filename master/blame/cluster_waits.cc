#include "master/blame/cluster_waits.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <variant>

#include "master/blame/delay.h"
#include "master/blame/ledger.h"

namespace tidemark::blame {
namespace {

// Taste: a driver takes so long to fill a slot that became free.
constexpr double kRefillSeconds = 0.1;
// Of stages that follow one another: instants are rounded to milliseconds.
constexpr double kRoundingSeconds = 0.002;
// What is told of an instant has arrived so much later; taste: agents send once a second.
constexpr double kUnderwaySeconds = 3;
// A task that was not heard of for so long is there all the same; taste: Spark's executors tell of
// their tasks every 10 s.
constexpr double kSilentSeconds = 45;
// Numbers of hosts that are not told; from there on by query, whose tasks meet nobody else's.
constexpr std::uint32_t kFirstUntold = 1U << 30;
constexpr Stage kForgottenStage{0};
constexpr Query kForgottenQuery{0};
constexpr Query kUnreportedQuery{UINT32_MAX};

std::optional<double> Seconds(const std::optional<absl::Duration>& time) {
  if (!time) return std::nullopt;
  return absl::ToDoubleSeconds(*time);
}

std::optional<double> Bytes(const std::optional<std::uint64_t>& bytes) {
  if (!bytes) return std::nullopt;
  return static_cast<double>(*bytes);
}

TaskUse UseIn(const TimeUse& time) {
  TaskUse use;
  use.processor_seconds = Seconds(time.cpu);
  use.of[Resource::kProcessor].wait_seconds = Seconds(time.processor_wait);
  use.of[Resource::kMemory].wait_seconds = Seconds(time.memory_wait);
  use.of[Resource::kNetwork].wait_seconds = Seconds(time.network_wait);
  use.of[Resource::kIo].wait_seconds = Seconds(time.io_wait);
  use.of[Resource::kNetwork].units = Bytes(time.network_bytes);
  use.of[Resource::kIo].units = Bytes(time.io_bytes);
  return use;
}

std::size_t IndexOf(Stage stage) { return static_cast<std::size_t>(stage); }
std::size_t IndexOf(Query query) { return static_cast<std::size_t>(query); }
std::size_t IndexOf(Host host) { return static_cast<std::size_t>(host); }

bool IsTold(Host host) { return static_cast<std::uint32_t>(host) < kFirstUntold; }

// A number that is free, or a new one.
template <typename Number, typename Records>
Number NextOf(std::vector<Number>& free, Records& records) {
  if (free.empty()) {
    records.emplace_back();
    return static_cast<Number>(records.size() - 1);
  }
  const Number number = free.back();
  free.pop_back();
  records[IndexOf(number)] = {};
  return number;
}

}  // namespace

ClusterWaits::ClusterWaits(const ClusterLimits& limits)
    : limits_(limits), attempts_(limits.attempts_max) {
  queries_.emplace_back();
  stages_.push_back({.query = kForgottenQuery, .parents = {}, .target_weight = {}});
  records_.emplace_back();
}

double ClusterWaits::SecondsOf(absl::Time at) {
  if (!first_) first_ = at;
  return absl::ToDoubleSeconds(at - *first_);
}

ClusterWaits::JobNumber ClusterWaits::JobOf(const Event& event) {
  const bool opens = std::holds_alternative<JobOpened>(event.body);
  if (const auto known = job_by_id_.find(event.job_id); known != job_by_id_.end()) {
    JobRecord& job = jobs_.at(known->second);
    const bool is_other =
        !event.run_uid.empty() && !job.run_uid.empty() && event.run_uid != job.run_uid;
    if (!opens || !(is_other || job.is_closed)) {
      if (job.run_uid.empty()) job.run_uid = event.run_uid;
      return known->second;
    }
    ForgetJob(known->second);
  }
  const JobNumber number = jobs_seen_++;
  JobRecord& job = jobs_[number];
  job.id = event.job_id;
  job.run_uid = event.run_uid;
  job.since = event.arrived_at;
  job.is_seen_whole = opens || event.sequence <= 1;
  job_by_id_[job.id] = number;
  return number;
}

// For one more, of so many of the job and of all. No job has more than half of all.
bool ClusterWaits::HasRoom(JobRecord& job, std::size_t of_job, std::size_t of_all) {
  const bool has_room = (of_job < limits_.stages_max / 2 || MakeRoom(&job)) &&
                        (of_all <= limits_.stages_max || MakeRoom());
  if (!has_room) job.is_partial = true;
  return has_room;
}

std::optional<Query> ClusterWaits::QueryOf(JobNumber number, const std::string& name) {
  JobRecord& job = jobs_.at(number);
  if (const auto known = job.queries.find(name); known != job.queries.end()) return known->second;
  // Each has a stage, sooner or later.
  if (!HasRoom(job, job.queries.size(), queries_.size() - free_queries_.size())) {
    return std::nullopt;
  }
  const Query query = NextOf(free_queries_, queries_);
  QueryRecord& record = queries_[IndexOf(query)];
  record.job = number;
  record.name = name;
  record.order = queries_seen_++;
  job.queries[name] = query;
  return query;
}

std::optional<Stage> ClusterWaits::StageOf(JobNumber number, std::uint32_t stage_number) {
  JobRecord& job = jobs_.at(number);
  if (const auto known = job.stages.find(stage_number); known != job.stages.end()) {
    return known->second;
  }
  const auto query = QueryOf(number, "");
  if (!query) return std::nullopt;
  if (!HasRoom(job, job.stages.size(), records_.size() - free_stages_.size())) {
    return std::nullopt;
  }
  const Stage stage = NextOf(free_stages_, records_);
  records_[IndexOf(stage)].number = stage_number;
  stages_.resize(records_.size());
  stages_[IndexOf(stage)] = {.query = *query, .parents = {}, .target_weight = {}};
  queries_[IndexOf(*query)].stages.push_back(stage);
  job.stages[stage_number] = stage;
  return stage;
}

Host ClusterWaits::HostOf(const std::string& name, Query query) {
  const Host untold{kFirstUntold + static_cast<std::uint32_t>(query)};
  if (name.empty()) return untold;
  if (const auto known = host_by_name_.find(name); known != host_by_name_.end()) {
    return known->second;
  }
  if (hosts_.size() >= limits_.hosts_max) return untold;
  const Host host{static_cast<std::uint32_t>(hosts_.size())};
  hosts_.push_back(name);
  host_by_name_[name] = host;
  return host;
}

// By the master's clock; not after the event that told it.
double ClusterWaits::InstantOf(JobRecord& job, const Event& event,
                               const std::optional<absl::Time>& at) {
  return SecondsOf(job.sources[event.source_id].clock.ToMasterClock(at.value_or(event.sent_at),
                                                                    event.arrived_at));
}

void ClusterWaits::Apply(const Event& event) {
  now_ = std::max(now_, SecondsOf(event.arrived_at));
  const JobNumber number = JobOf(event);
  JobRecord& job = jobs_.at(number);
  if (job.is_closed) return;
  Source& source = job.sources[event.source_id];
  source.clock.Observe(event.sent_at, event.arrived_at);
  if (const auto* opened = std::get_if<JobOpened>(&event.body)) {
    for (const StageOpened& stage : opened->stages) Open(number, stage, event);
  } else if (const auto* stage = std::get_if<StageOpened>(&event.body)) {
    Open(number, *stage, event);
  } else if (const auto* group = std::get_if<GroupOpened>(&event.body)) {
    const auto query = QueryOf(number, group->group);
    if (!query || !group->opened_at) return;
    std::optional<double>& from = queries_[IndexOf(*query)].from;
    if (!from) from = InstantOf(job, event, group->opened_at);
  } else if (const auto* group_end = std::get_if<GroupClosed>(&event.body)) {
    const auto query = QueryOf(number, group_end->group);
    if (!query) return;
    std::optional<double>& to = queries_[IndexOf(*query)].to;
    if (!to) to = InstantOf(job, event, group_end->at);
  } else if (const auto* closed = std::get_if<StageClosed>(&event.body)) {
    const auto known = job.stages.find(closed->stage);
    if (known == job.stages.end()) return;
    if (closed->attempt == records_[IndexOf(known->second)].attempt) {
      CloseStage(job, known->second);
    }
  } else if (const auto* executor = std::get_if<ExecutorOpened>(&event.body)) {
    const Executor described = {executor->host, executor->slots};
    if (!source.executors.try_emplace(executor->executor, described).second) return;
    job.slots += executor->slots;
    job.slots_told = job.is_seen_whole && (job.slots_told || executor->slots > 0);
    SeeWhetherFull(job, now_);
  } else if (const auto* gone = std::get_if<ExecutorClosed>(&event.body)) {
    const auto executor_of = source.executors.find(gone->executor);
    if (executor_of == source.executors.end()) return;
    job.slots -= std::exchange(executor_of->second.slots, 0);
    SeeWhetherFull(job, now_);
  } else if (const auto* changed = std::get_if<AttemptChanged>(&event.body)) {
    Change(number, *changed, event);
  } else if (const auto* heartbeat = std::get_if<TaskHeartbeat>(&event.body)) {
    const AttemptId& id = heartbeat->attempt;
    const auto found = running_.find(Key{number, id.stage, id.index, id.attempt, id.stage_attempt});
    if (found == running_.end()) return;
    found->second.totals = UseIn(heartbeat->time);
    found->second.told_at = std::max(found->second.heard_at, InstantOf(job, event, std::nullopt));
  } else if (const auto* job_end = std::get_if<JobClosed>(&event.body)) {
    CloseJob(number, InstantOf(job, event, job_end->at));
  }
}

void ClusterWaits::Open(JobNumber number, const StageOpened& opened, const Event& event) {
  const auto known = StageOf(number, opened.stage);
  if (!known) return;
  const Stage stage = *known;
  if (!records_[IndexOf(stage)].has_query && !opened.group.empty()) {
    if (const auto query = QueryOf(number, opened.group)) {
      QueryRecord& before = queries_[IndexOf(stages_[IndexOf(stage)].query)];
      std::erase(before.stages, stage);
      stages_[IndexOf(stage)].query = *query;
      queries_[IndexOf(*query)].stages.push_back(stage);
      if (records_[IndexOf(stage)].is_open) {
        --before.open_stages;
        ++queries_[IndexOf(*query)].open_stages;
      }
      records_[IndexOf(stage)].has_query = true;
    }
  }
  StageRecord& record = records_[IndexOf(stage)];
  if (!opened.opened_at || opened.attempt < record.attempt) return;
  JobRecord& job = jobs_.at(number);
  const bool is_again = record.is_open && opened.attempt == record.attempt;
  if (is_again) return;
  CloseStage(job, stage);
  const double at = InstantOf(job, event, opened.opened_at);
  record.attempt = opened.attempt;
  record.opened_at = at;
  if (opened.skipped) return;
  record.is_open = true;
  ++queries_[IndexOf(stages_[IndexOf(stage)].query)].open_stages;
  record.waiting = opened.task_count.value_or(0);
  if (record.waiting == 0) return;
  Settle(job, at);
  record.waited_until = std::max(at, job.now);
  job.waiting.insert(stage);
}

void ClusterWaits::CloseStage(JobRecord& job, Stage stage) {
  StageRecord& record = records_[IndexOf(stage)];
  if (!std::exchange(record.is_open, false)) return;
  --queries_[IndexOf(stages_[IndexOf(stage)].query)].open_stages;
  job.waiting.erase(stage);
  record.waiting = 0;
}

void ClusterWaits::Change(JobNumber number, const AttemptChanged& changed, const Event& event) {
  const AttemptId& id = changed.attempt;
  const Key key{number, id.stage, id.index, id.attempt, id.stage_attempt};
  switch (changed.state) {
    case AttemptState::kStarted:
      return Start(number, changed, event);
    case AttemptState::kFinished:
    case AttemptState::kFailed:
    case AttemptState::kKilled:
      return End(key, InstantOf(jobs_.at(number), event, changed.at),
                 changed.state == AttemptState::kFinished);
    default:
      return;
  }
}

void ClusterWaits::Start(JobNumber number, const AttemptChanged& changed, const Event& event) {
  const AttemptId& id = changed.attempt;
  const auto known = StageOf(number, id.stage);
  if (!known) return;
  const Stage stage = *known;
  JobRecord& job = jobs_.at(number);
  if (is_over_ || running_.size() >= limits_.attempts_max) {
    job.is_partial = true;
    return;
  }
  const double at = InstantOf(job, event, changed.at);
  const Running running = {.attempt = Attempt{attempts_seen_++},
                           .stage = stage,
                           .from = at,
                           .heard_at = at,
                           .told_at = at,
                           .totals = {}};
  const Key key{number, id.stage, id.index, id.attempt, id.stage_attempt};
  if (!running_.try_emplace(key, running).second) return;
  StageRecord& record = records_[IndexOf(stage)];
  const Query query = stages_[IndexOf(stage)].query;
  const auto& executors = job.sources[event.source_id].executors;
  const auto executor = changed.executor ? executors.find(*changed.executor) : executors.end();
  const Host host = HostOf(executor != executors.end() ? executor->second.host : "", query);
  attempts_.Start(running.attempt, stage, host, at, std::nullopt, Pool{number});
  Settle(job, at);
  // Since when a retry or a copy waits is not told.
  const bool waited = id.attempt == 0 && !changed.speculative && record.is_open &&
                      id.stage_attempt == record.attempt && record.waiting > 0;
  if (waited) {
    TellWait(job, stage, at, /*got_slot=*/true);
    if (--record.waiting == 0) job.waiting.erase(stage);
  }
  record.has_started = true;
  ++job.running;
  SeeWhetherFull(job, at);
}

void ClusterWaits::End(const Key& key, double at, bool is_good) {
  const auto found = running_.find(key);
  if (found == running_.end()) return;
  Running running = found->second;
  running_.erase(found);
  JobRecord& job = jobs_.at(std::get<0>(key));
  at = std::max(at, running.heard_at);
  Add(attempts_.End(running.attempt, at, running.totals));
  if (is_good) {
    StageRecord& record = records_[IndexOf(running.stage)];
    const auto waited = [&](Resource resource) {
      return running.totals.of[resource].wait_seconds.value_or(0);
    };
    const double own =
        std::max(0.0, at - running.from - waited(Resource::kProcessor) - waited(Resource::kMemory));
    ++record.ended;
    record.ended_seconds += own;
    record.longest_seconds = std::max(record.longest_seconds, own);
  }
  Settle(job, at);
  --job.running;
  SeeWhetherFull(job, at);
}

void ClusterWaits::EndAll(JobNumber number) {
  if (jobs_.at(number).running == 0) return;
  std::vector<Key> keys;
  for (const auto& [key, running] : running_) {
    if (std::get<0>(key) == number) keys.push_back(key);
  }
  std::sort(keys.begin(), keys.end());
  for (const Key& key : keys) End(key, now_, /*is_good=*/false);
}

void ClusterWaits::CloseJob(JobNumber number, double at) {
  EndAll(number);
  JobRecord& job = jobs_.at(number);
  job.is_closed = true;
  for (const auto& [stage_number, stage] : job.stages) CloseStage(job, stage);
  for (const auto& [name, query] : job.queries) {
    QueryRecord& record = queries_[IndexOf(query)];
    if (!record.to) record.to = at;
  }
  job.sources.clear();
}

void ClusterWaits::Add(const std::optional<Piece>& piece) {
  if (piece) contention_.Add(*piece).IgnoreError();  // Attempts tells none that is refused
}

// What it did since it was heard of last.
void ClusterWaits::Tell(Running& running, double until) {
  if (running.told_at > running.heard_at) {
    running.heard_at = running.told_at;
    Add(attempts_.Report(running.attempt, running.told_at, running.totals));
  } else if (running.heard_at < until) {
    running.heard_at = until;
    Add(attempts_.Report(running.attempt, until, {}));
  }
}

// It may wait beside free slots, for one near its data: nobody's fault.
void ClusterWaits::TellWait(JobRecord& job, Stage stage, double until, bool got_slot) {
  StageRecord& record = records_[IndexOf(stage)];
  const double from = record.waited_until;
  if (!job.is_full || record.waiting == 0 || !(from < until)) return;
  record.waited_until = until;
  const double tasks = record.waiting;
  const Pool pool{job_by_id_.at(job.id)};
  Piece piece = {.stage = stage,
                 .host = QueueOf(pool),
                 .pool = pool,
                 .from = from,
                 .to = until,
                 .use = {},
                 .tasks = tasks};
  piece.use.of[Resource::kScheduler] = {.wait_seconds = tasks * (until - from),
                                        .units = got_slot ? 1 : 0};
  Add(piece);
  if (!record.has_started) record.full_seconds += until - from;
}

void ClusterWaits::SeeWhetherFull(JobRecord& job, double at) {
  job.now = std::max(job.now, at);
  const bool no_slot_is_free = job.slots_told && job.slots > 0 && job.running >= job.slots;
  if (!no_slot_is_free) {
    if (job.is_full && !job.free_since) job.free_since = job.now;
    return;
  }
  job.free_since.reset();
  if (std::exchange(job.is_full, true)) return;
  for (const Stage stage : job.waiting) {
    double& until = records_[IndexOf(stage)].waited_until;
    until = std::max(until, job.now);
  }
}

// A slot that was not filled again at once was free.
void ClusterWaits::Settle(JobRecord& job, double at) {
  if (!job.is_full || !job.free_since || at - *job.free_since <= kRefillSeconds) return;
  for (const Stage stage : job.waiting) TellWait(job, stage, *job.free_since);
  job.is_full = false;
  job.free_since.reset();
}

void ClusterWaits::Advance(absl::Time now) {
  now_ = std::max(now_, SecondsOf(now));
  for (auto& [number, job] : jobs_) {
    if (job.is_closed) continue;
    Settle(job, now_);
    for (const Stage stage : job.waiting) {
      TellWait(job, stage, job.free_since.value_or(now_ - kUnderwaySeconds));
    }
  }
  double until = now_ - kUnderwaySeconds;
  for (auto& [key, running] : running_) {
    Tell(running, now_ - kSilentSeconds);
    until = std::min(until, running.heard_at);
  }
  Fold(until);
}

void ClusterWaits::Fold(double until) {
  contention_.Advance(until);
  while (contention_.meetings() > limits_.meetings_max) {
    is_over_ = !MakeRoom();
    if (is_over_) return;
    DropForgotten();
  }
  is_over_ = false;
}

void ClusterWaits::Finish() {
  for (auto& [number, job] : jobs_) {
    if (!job.is_closed) EndAll(number);
  }
  // An instant more: what ends now ends before it.
  contention_.Advance(now_ + 1);
}

// Forgets the oldest queries that have ended, of all or of one job; some at a time, since it goes
// through all sums. False: all run.
bool ClusterWaits::MakeRoom(const JobRecord* of) {
  if (!forgotten_.empty() && of == nullptr) {
    DropForgotten();
    return true;
  }
  std::vector<Query> ended;
  for (std::uint32_t q = 1; q < queries_.size(); ++q) {
    const QueryRecord& query = queries_[q];
    if (query.is_free || !query.to || query.open_stages > 0) continue;
    if (of == nullptr || &jobs_.at(query.job) == of) ended.push_back(Query{q});
  }
  std::sort(ended.begin(), ended.end(), [&](Query a, Query b) {
    return queries_[IndexOf(a)].order < queries_[IndexOf(b)].order;
  });
  for (const Query query : ended) {
    QueryRecord& record = queries_[IndexOf(query)];
    JobRecord& job = jobs_.at(record.job);
    ++job.queries_left_out;
    job.queries.erase(record.name);
    for (const Stage stage : record.stages) job.stages.erase(records_[IndexOf(stage)].number);
    Forget(query);
    if (forgotten_.size() > limits_.stages_max / 16) break;
  }
  if (ended.empty()) return false;
  std::vector<Key> keys;  // copies that nobody waits for any more
  for (const auto& [key, running] : running_) {
    if (forgotten_.contains(running.stage)) keys.push_back(key);
  }
  for (const Key& key : keys) End(key, now_, /*is_good=*/false);
  DropForgotten();
  return true;
}

// REQUIRES: its job knows neither it nor its stages any more.
void ClusterWaits::Forget(Query query) {
  QueryRecord& record = queries_[IndexOf(query)];
  for (const Stage stage : record.stages) {
    stages_[IndexOf(stage)].query = kForgottenQuery;
    forgotten_.insert(stage);
  }
  record = {};
  record.is_free = true;
  free_queries_.push_back(query);
}

void ClusterWaits::ForgetJob(JobNumber number) {
  EndAll(number);
  JobRecord job = std::move(jobs_.at(number));
  for (const auto& [name, query] : job.queries) Forget(query);
  job_by_id_.erase(job.id);
  jobs_.erase(number);
  // Going through all sums takes time.
  if (forgotten_.size() > records_.size() / 4) DropForgotten();
}

void ClusterWaits::Forget(const std::string& job_id) {
  const auto known = job_by_id_.find(job_id);
  if (known != job_by_id_.end()) ForgetJob(known->second);
}

void ClusterWaits::DropForgotten() {
  contention_.Forget(forgotten_, kForgottenStage);
  free_stages_.insert(free_stages_.end(), forgotten_.begin(), forgotten_.end());
  std::sort(free_stages_.begin(), free_stages_.end(), std::greater<>());
  forgotten_.clear();
}

std::vector<std::string> ClusterWaits::jobs() const {
  std::vector<std::string> ids;
  for (const auto& [id, number] : job_by_id_) ids.push_back(id);
  return ids;
}

// Of the stages of a query that followed one another.
struct ClusterWaits::Sums {
  PerResource<QueryWait> waits;
  std::optional<double> skew_seconds;
  std::map<std::tuple<Query, Resource, Host>, double> culprits;
};

void ClusterWaits::AddStage(const Ledger& ledger, Stage stage, const ExplainQuestion& question,
                            Sums& sums) const {
  const StageRecord& record = records_[IndexOf(stage)];
  const Query own = stages_[IndexOf(stage)].query;
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
  double full_seconds = record.full_seconds;
  if (record.opened_at) {  // what is not folded yet does not count
    full_seconds = std::clamp(contention_.folded_until() - *record.opened_at, 0.0, full_seconds);
  }
  if (question.last) {
    full_seconds = std::min(full_seconds, absl::ToDoubleSeconds(*question.last));
  }
  // With the slots that it lacked, too, it would have needed this much less of its time.
  const double per_slot_second = ran + lacked > 0 ? (span + full_seconds) / (ran + lacked) : 0;
  const double per_task_second = ran > 0 ? span / ran : 0;
  const auto is_asked = [&](Resource resource, Host host) {
    if (question.resource && *question.resource != resource) return false;
    if (question.host.empty()) return true;
    return IsTold(host) && hosts_[IndexOf(host)] == question.host;
  };
  const auto add = [&](Resource resource, double seconds) {
    sums.waits[resource].seconds = sums.waits[resource].seconds.value_or(0) + seconds;
  };
  for (auto at = first; at != ledger.stages.end() && at->first.stage == stage; ++at) {
    if (IsQueue(at->first.host)) continue;
    for (const Resource resource : kResources) {
      if (resource == Resource::kScheduler || !is_asked(resource, at->first.host)) continue;
      const Waited& waited = at->second.waited[resource];
      if (waited.measured_seconds < at->second.seconds) sums.waits[resource].is_least = true;
      if (waited.measured_seconds > 0) add(resource, waited.wait_seconds * per_task_second);
    }
  }
  const JobRecord& job = jobs_.at(queries_[IndexOf(own)].job);
  if (job.slots_told && record.opened_at && is_asked(Resource::kScheduler, QueueOf({}))) {
    add(Resource::kScheduler, 0);
  }
  for (const Delay& delay : delays) {
    const Query other =
        delay.source == kUnreported ? kUnreportedQuery : stages_[IndexOf(delay.source)].query;
    if (other == own || !is_asked(delay.resource, delay.host)) continue;
    // Of hosts that are not told nobody knows who meets whom.
    if (!IsTold(delay.host) && !IsQueue(delay.host)) continue;
    const bool is_slots = delay.resource == Resource::kScheduler;
    const double seconds = delay.task_seconds * (is_slots ? per_slot_second : per_task_second);
    if (is_slots) add(delay.resource, seconds);
    sums.culprits[{other, delay.resource, delay.host}] += seconds;
  }
  if (record.ended >= 2) {
    const double mean = record.ended_seconds / static_cast<double>(record.ended);
    sums.skew_seconds =
        sums.skew_seconds.value_or(0) + std::max(0.0, record.longest_seconds - mean);
  }
}

Culprit ClusterWaits::CulpritOf(Query query) const {
  Culprit culprit;
  if (query == kForgottenQuery) return culprit;
  if (query == kUnreportedQuery) {
    culprit.jobs = 0;
    return culprit;
  }
  const QueryRecord& record = queries_[IndexOf(query)];
  culprit.job_id = jobs_.at(record.job).id;
  culprit.query = record.name;
  return culprit;
}

std::optional<QueryWaits> ClusterWaits::WaitsOf(Query query,
                                                const ExplainQuestion& question) const {
  const QueryRecord& record = queries_[IndexOf(query)];
  std::optional<double> last_seconds;
  if (question.last) last_seconds = absl::ToDoubleSeconds(*question.last);
  const Ledger ledger = contention_.Of(record.stages, last_seconds);
  struct Ran {
    Stage stage{};
    double from = 0;
    double to = 0;
  };
  std::vector<Ran> ran;
  for (const Stage stage : record.stages) {
    const StageRecord& of_stage = records_[IndexOf(stage)];
    const auto span = ledger.spans.find(stage);
    if (span != ledger.spans.end()) {
      ran.push_back({stage, span->second.from - of_stage.full_seconds, span->second.to});
    } else if (of_stage.waiting > 0 && of_stage.full_seconds > 0) {
      ran.push_back({stage, *of_stage.opened_at, of_stage.waited_until});
    }
  }
  if (ran.empty()) return std::nullopt;
  // Backwards from its end, each time the last that had ended: parents of stages do not tell in
  // what order the jobs of a query ran.
  std::stable_sort(ran.begin(), ran.end(), [](const Ran& a, const Ran& b) { return a.to > b.to; });
  Sums sums;
  std::optional<double> from;
  for (const Ran& stage : ran) {
    if (from && stage.to > *from + kRoundingSeconds) continue;
    from = stage.from;
    AddStage(ledger, stage.stage, question, sums);
  }
  QueryWaits waits = {.query = record.name,
                      .seconds = {},
                      .waits = sums.waits,
                      .skew_seconds = sums.skew_seconds,
                      .culprits = {}};
  if (record.from) {
    waits.seconds = std::max(record.to.value_or(now_) - *record.from, 0.0);
    if (last_seconds) waits.seconds = std::min(*waits.seconds, *last_seconds);
  }
  for (const auto& [who, seconds] : sums.culprits) {
    const auto& [other, resource, host] = who;
    Culprit culprit = CulpritOf(other);
    culprit.resource = resource;
    if (IsTold(host)) culprit.host = hosts_[IndexOf(host)];
    culprit.seconds = seconds;
    waits.culprits.push_back(std::move(culprit));
  }
  std::stable_sort(waits.culprits.begin(), waits.culprits.end(),
                   [](const Culprit& a, const Culprit& b) { return a.seconds > b.seconds; });
  return waits;
}

std::optional<Explanation> ClusterWaits::Ask(const std::string& job_id,
                                             const ExplainQuestion& question) const {
  const auto known = job_by_id_.find(job_id);
  if (known == job_by_id_.end()) return std::nullopt;
  const JobRecord& job = jobs_.at(known->second);
  std::vector<Query> queries;
  for (const auto& [name, query] : job.queries) {
    const bool is_asked = question.query.empty() || name == question.query;
    if (is_asked && !queries_[IndexOf(query)].stages.empty()) queries.push_back(query);
  }
  std::sort(queries.begin(), queries.end(), [&](Query a, Query b) {
    return queries_[IndexOf(a)].order < queries_[IndexOf(b)].order;
  });
  const std::size_t left_out = queries.size() - std::min(queries.size(), question.queries_max);
  const double until = std::min(now_, contention_.folded_until());
  Explanation explanation = {
      .job_id = job.id,
      .run_uid = job.run_uid,
      .at = std::max(job.since, first_.value_or(job.since) + absl::Seconds(until)),
      .since = job.since,
      .is_partial = job.is_partial || !job.is_seen_whole || is_over_,
      .queries = {},
      .queries_left_out = job.queries_left_out + static_cast<std::uint32_t>(left_out)};
  for (std::size_t q = left_out; q < queries.size(); ++q) {
    std::optional<QueryWaits> waits = WaitsOf(queries[q], question);
    if (!waits) continue;
    if (waits->culprits.size() > question.culprits_max) {
      waits->culprits.resize(question.culprits_max);
    }
    explanation.queries.push_back(*std::move(waits));
  }
  return explanation;
}

}  // namespace tidemark::blame
