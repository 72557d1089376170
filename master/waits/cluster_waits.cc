#include "master/waits/cluster_waits.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "master/facts/report_times.h"
#include "master/waits/cluster_contention.h"
#include "master/waits/explain_query.h"

namespace tidemark::waits {
namespace {

// All reports about a time are assumed to arrive within this delay. Chosen by hand; agents send
// once a second.
constexpr double kUnderwaySeconds = 3;

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
  for (const WaitReason reason : kWaitReasons) {
    // The waits for slots come from JobSlots.
    if (!InfoOf(reason).is_on_host) continue;
    use.of[reason] = {.wait_seconds = Seconds(time.waits[reason]),
                      .units = Bytes(time.moved_bytes[reason])};
  }
  return use;
}

facts::LostShare ShareOf(const LostSeconds& cost, double ran) {
  const auto part = [&](double seconds) { return std::min(seconds / ran, 1.0); };
  return {.share = part(cost.seconds),
          .lower = part(cost.limits.lower),
          .upper = part(cost.limits.upper)};
}

// Replaces the totals that are known in `by` and keeps the others.
void Replace(const TaskUse& by, TaskUse& totals) {
  const auto replace = [](const std::optional<double>& known, std::optional<double>& total) {
    if (known) total = known;
  };
  replace(by.processor_seconds, totals.processor_seconds);
  for (const WaitReason resource : kWaitReasons) {
    replace(by.of[resource].wait_seconds, totals.of[resource].wait_seconds);
    replace(by.of[resource].units, totals.of[resource].units);
  }
}

// Stores the stage's tasks and kind, and its key in the input of past runs.
void Describe(const StageOpened& opened, TrackedStage& record) {
  if (opened.task_count) record.tasks = *opened.task_count;
  if (opened.kind != StageKind::kUnknown) record.kind = opened.kind;
  const std::size_t parents = std::min(opened.parents.size(), kParentsMax);
  record.parents.assign(opened.parents.begin(),
                        opened.parents.begin() + static_cast<std::ptrdiff_t>(parents));
  if (opened.kind == StageKind::kMap || opened.kind == StageKind::kReduce) return;
  if (!opened.signature.empty() || record.data_name.empty()) {
    record.data_name = opened.signature.empty() ? opened.name : opened.signature;
  }
}

}  // namespace

ClusterWaits::ClusterWaits(const ClusterLimits& limits)
    : limits_(limits),
      records_(limits.stages_max, limits.hosts_max),
      attempts_(limits.attempts_max) {}

double ClusterWaits::SecondsOf(absl::Time at) {
  if (!first_) first_ = at;
  return absl::ToDoubleSeconds(at - *first_);
}

// Returns the time by the master's clock, between the start of the job and the event.
double ClusterWaits::InstantOf(TrackedJob& job, const Event& event,
                               const std::optional<absl::Time>& at) {
  const double seconds = SecondsOf(job.sources[event.source_id].clock.ToMasterClock(
      at.value_or(event.sent_at), event.arrived_at));
  return std::max(seconds, job.began_at);
}

JobNumber ClusterWaits::JobOf(const Event& event) {
  const bool opens = std::holds_alternative<JobOpened>(event.body);
  if (const auto known = records_.FindJob(event.job_id)) {
    TrackedJob& job = records_.job(*known);
    const bool is_other =
        !event.run_uid.empty() && !job.run_uid.empty() && event.run_uid != job.run_uid;
    if (!opens || !(is_other || job.is_closed)) {
      if (job.run_uid.empty()) job.run_uid = event.run_uid;
      return *known;
    }
    ForgetJob(*known);
  }
  TrackedJob& job = AddJob(event.job_id, event.run_uid, event.arrived_at);
  job.is_seen_whole = opens || event.sequence <= 1;
  return *records_.FindJob(event.job_id);
}

TrackedJob& ClusterWaits::AddJob(const std::string& id, const std::string& run_uid,
                                 absl::Time since) {
  TrackedJob& job = records_.job(records_.AddJob(id));
  job.run_uid = run_uid;
  job.since = since;
  job.began_at = SecondsOf(since);
  return job;
}

void ClusterWaits::Resume(const std::string& job_id, const std::string& run_uid, absl::Time now) {
  now_ = std::max(now_, SecondsOf(now));
  if (!records_.FindJob(job_id)) AddJob(job_id, run_uid, now).is_seen_whole = false;
}

std::optional<Query> ClusterWaits::QueryOf(JobNumber number, const std::string& name) {
  TrackedJob& job = records_.job(number);
  if (const auto known = job.queries.find(name); known != job.queries.end()) return known->second;
  if ((records_.JobHasRoomForQuery(job) || MakeRoom(&job)) &&
      (records_.HasRoomForQuery() || MakeRoom())) {
    return records_.AddQuery(number, name);
  }
  job.is_partial = true;
  return std::nullopt;
}

std::optional<Stage> ClusterWaits::StageOf(JobNumber number, std::uint32_t stage_number) {
  TrackedJob& job = records_.job(number);
  if (const auto known = job.stages.find(stage_number); known != job.stages.end()) {
    return known->second;
  }
  const auto query = QueryOf(number, "");
  if (!query) return std::nullopt;
  if ((records_.JobHasRoomForStage(job) || MakeRoom(&job)) &&
      (records_.HasRoomForStage() || MakeRoom())) {
    return records_.AddStage(number, *query, stage_number);
  }
  job.is_partial = true;
  return std::nullopt;
}

Host ClusterWaits::HostOf(TrackedJob& job, const std::string& name, Query query) {
  if (!records_.HasRoomForHost(name) && !std::exchange(has_searched_hosts_, true)) {
    absl::flat_hash_set<Host> used = contention_.Hosts();
    for (const auto& [key, running] : running_) used.insert(running.host);
    records_.KeepHosts(used);
  }
  if (!records_.HasRoomForHost(name)) job.is_partial = true;
  return records_.HostOf(name, query);
}

void ClusterWaits::Apply(const Event& event) {
  now_ = std::max(now_, SecondsOf(event.arrived_at));
  const JobNumber number = JobOf(event);
  TrackedJob& job = records_.job(number);
  if (job.is_closed) return;
  EventSource& source = job.sources[event.source_id];
  source.clock.Observe(event.sent_at, event.arrived_at);
  if (const auto* opened = std::get_if<JobOpened>(&event.body)) {
    if (const auto submitted = facts::SubmittedAt(*opened, event.sent_at)) {
      const absl::Time at = source.clock.ToMasterClock(*submitted, event.arrived_at);
      job.began_at = std::min(job.began_at, SecondsOf(at));
    }
    for (const StageOpened& stage : opened->stages) Open(number, stage, event);
  } else if (const auto* stage = std::get_if<StageOpened>(&event.body)) {
    Open(number, *stage, event);
  } else if (const auto* group = std::get_if<GroupOpened>(&event.body)) {
    const auto query = QueryOf(number, group->group);
    if (!query || !group->opened_at) return;
    std::optional<double>& from = records_.query(*query).from;
    if (!from) from = InstantOf(job, event, group->opened_at);
  } else if (const auto* group_end = std::get_if<GroupClosed>(&event.body)) {
    const auto query = QueryOf(number, group_end->group);
    if (!query) return;
    std::optional<double>& to = records_.query(*query).to;
    if (!to) to = InstantOf(job, event, group_end->at);
  } else if (const auto* closed = std::get_if<StageClosed>(&event.body)) {
    const auto known = job.stages.find(closed->stage);
    if (known == job.stages.end()) return;
    if (closed->attempt == records_.stage(known->second).attempt) Close(job, known->second);
  } else if (const auto* executor = std::get_if<ExecutorOpened>(&event.body)) {
    OpenExecutor(job, source, *executor);
  } else if (const auto* gone = std::get_if<ExecutorClosed>(&event.body)) {
    CloseExecutor(job, source, *gone);
  } else if (const auto* changed = std::get_if<AttemptChanged>(&event.body)) {
    Change(number, *changed, event);
  } else if (const auto* heartbeat = std::get_if<TaskHeartbeat>(&event.body)) {
    AddInput(number, heartbeat->attempt, 0, static_cast<double>(heartbeat->bytes_done));
    AddTotals(number, heartbeat->attempt, UseIn(heartbeat->time), std::nullopt, event);
  } else if (const auto* profile = std::get_if<ReduceProfile>(&event.body)) {
    AddGroups(number, *profile);
    const bool has_time = profile->processor_use || profile->time != TimeUse{};
    if (!has_time) return;
    AddTotals(number, profile->attempt, UseIn(profile->time), profile->processor_use, event);
  } else if (const auto* job_end = std::get_if<JobClosed>(&event.body)) {
    CloseJob(number, InstantOf(job, event, job_end->at));
  }
}

ClusterWaits::Key ClusterWaits::KeyOf(JobNumber number, const AttemptId& id) {
  return {number, id.stage, id.index, id.attempt, id.stage_attempt};
}

// Returns null if the attempt does not run.
ClusterWaits::Running* ClusterWaits::FindRunning(JobNumber number, const AttemptId& id) {
  const auto found = running_.find(KeyOf(number, id));
  return found == running_.end() ? nullptr : &found->second;
}

void ClusterWaits::AddInput(JobNumber number, const AttemptId& id, double input_bytes,
                            double read_bytes) {
  Running* const running = FindRunning(number, id);
  if (running == nullptr) return;
  running->input_bytes = std::max(running->input_bytes, input_bytes);
  running->read_bytes = std::max(running->read_bytes, read_bytes);
}

void ClusterWaits::AddGroups(JobNumber number, const ReduceProfile& profile) {
  Running* const running = FindRunning(number, profile.attempt);
  if (running == nullptr) return;
  const LongestGroup longest = LongestGroupOf(profile);
  if (longest.time > running->longest_group.time) running->longest_group = longest;
}

void ClusterWaits::AddTotals(JobNumber number, const AttemptId& id, TaskUse use,
                             const std::optional<ProcessorUse>& reducing, const Event& event) {
  Running* const running = FindRunning(number, id);
  if (running == nullptr) return;
  std::optional<double>& wait_seconds = use.of[WaitReason::kProcessor].wait_seconds;
  running->reports_processor_wait = running->reports_processor_wait || wait_seconds;
  // If the attempt reports no total, use the total of the reducing thread since its start.
  if (reducing && !running->reports_processor_wait) wait_seconds = Seconds(reducing->waited);
  Replace(use, running->totals);
  running->reported_at =
      std::max(running->flushed_at, InstantOf(records_.job(number), event, std::nullopt));
}

void ClusterWaits::Open(JobNumber number, const StageOpened& opened, const Event& event) {
  const auto known = StageOf(number, opened.stage);
  if (!known) return;
  const Stage stage = *known;
  if (!records_.stage(stage).has_query && !opened.group.empty()) {
    if (const auto query = QueryOf(number, opened.group)) {
      records_.MoveStage(stage, *query);
      records_.stage(stage).has_query = true;
    }
  }
  TrackedStage& record = records_.stage(stage);
  if (opened.attempt >= record.attempt) Describe(opened, record);
  if (!opened.opened_at || opened.attempt < record.attempt) return;
  TrackedJob& job = records_.job(number);
  const bool is_again = record.is_open && opened.attempt == record.attempt;
  if (is_again) return;
  Close(job, stage);
  const double at = InstantOf(job, event, opened.opened_at);
  record.attempt = opened.attempt;
  record.opened_at = at;
  if (opened.skipped) return;
  record.is_open = true;
  ++records_.query(record.query).open_stages;
  const std::uint32_t tasks = opened.task_count.value_or(0);
  if (tasks > 0) AddSlotWaits(job.slots.Queue(stage, tasks, at));
}

void ClusterWaits::Close(TrackedJob& job, Stage stage) {
  TrackedStage& record = records_.stage(stage);
  if (!std::exchange(record.is_open, false)) return;
  --records_.query(record.query).open_stages;
  job.slots.Withdraw(stage);
}

void ClusterWaits::OpenExecutor(TrackedJob& job, EventSource& source,
                                const ExecutorOpened& opened) {
  const KnownExecutor described = {opened.host, opened.slots};
  if (!source.executors.try_emplace(opened.executor, described).second) return;
  job.slots.Add(opened.slots);
  if (job.is_seen_whole && opened.slots > 0) job.slots.SetKnown();
  job.slots.UpdateFullness(now_);
}

void ClusterWaits::CloseExecutor(TrackedJob& job, EventSource& source,
                                 const ExecutorClosed& closed) {
  const auto executor = source.executors.find(closed.executor);
  if (executor == source.executors.end()) return;
  job.slots.Remove(std::exchange(executor->second.slots, 0));
  job.slots.UpdateFullness(now_);
}

void ClusterWaits::Change(JobNumber number, const AttemptChanged& changed, const Event& event) {
  const AttemptId& id = changed.attempt;
  const Key key = KeyOf(number, id);
  if (changed.state == AttemptState::kStarted) Start(number, changed, event);
  if (changed.input_bytes) AddInput(number, id, static_cast<double>(*changed.input_bytes), 0);
  switch (changed.state) {
    case AttemptState::kFinished:
    case AttemptState::kFailed:
    case AttemptState::kKilled:
    case AttemptState::kLost:  // The attempt ran until then.
      return End(key, InstantOf(records_.job(number), event, changed.at),
                 changed.state == AttemptState::kFinished);
    case AttemptState::kObsolete:
      return MarkOutputLost(records_.job(number), id.stage);
    default:
      return;
  }
}

void ClusterWaits::MarkOutputLost(const TrackedJob& job, std::uint32_t stage_number) {
  const auto known = job.stages.find(stage_number);
  if (known != job.stages.end()) records_.stage(known->second).has_lost_output = true;
}

void ClusterWaits::Start(JobNumber number, const AttemptChanged& changed, const Event& event) {
  const AttemptId& id = changed.attempt;
  const auto known = StageOf(number, id.stage);
  if (!known) return;
  const Stage stage = *known;
  TrackedJob& job = records_.job(number);
  if (is_over_ || running_.size() >= limits_.attempts_max) {
    job.is_partial = true;
    job.slots.Abandon();
    return;
  }
  const double at = InstantOf(job, event, changed.at);
  const Running running = {.attempt = Attempt{attempts_seen_++},
                           .stage = stage,
                           .from = at,
                           .flushed_at = at,
                           .reported_at = at,
                           .totals = {},
                           .longest_group = {}};
  const Key key = KeyOf(number, id);
  if (!running_.try_emplace(key, running).second) return;
  TrackedStage& record = records_.stage(stage);
  const auto& executors = job.sources[event.source_id].executors;
  const auto executor = changed.executor ? executors.find(*changed.executor) : executors.end();
  const Host host =
      HostOf(job, executor != executors.end() ? executor->second.host : "", record.query);
  running_[key].host = host;
  attempts_.Start(running.attempt, stage, host, at, std::nullopt,
                  Pool{static_cast<std::uint32_t>(number)});
  // The queueing time of a retry or a speculative attempt is unknown.
  const bool from_queue = id.attempt == 0 && !changed.speculative && record.is_open &&
                          id.stage_attempt == record.attempt;
  AddSlotWaits(job.slots.Start(stage, at, from_queue));
  record.has_started = true;
}

AttemptId ClusterWaits::IdIn(const Key& key) {
  const auto& [job, stage, index, attempt, stage_attempt] = key;
  return {.stage = stage, .index = index, .attempt = attempt, .stage_attempt = stage_attempt};
}

std::string ClusterWaits::NameOf(Host host) const {
  return ClusterRecords::IsNamed(host) ? records_.HostName(host) : "";
}

void ClusterWaits::End(const Key& key, double at, bool is_good) {
  const auto found = running_.find(key);
  if (found == running_.end()) return;
  Running running = found->second;
  running_.erase(found);
  TrackedJob& job = records_.job(std::get<0>(key));
  at = std::max(at, running.flushed_at);
  // The use after the last report is unknown.
  if (running.reported_at > running.flushed_at && running.reported_at < at) Flush(running, at);
  StoreWaits(running);
  Add(attempts_.End(running.attempt, at, running.totals));
  if (is_good) {
    TrackedStage& record = records_.stage(running.stage);
    const double seconds = std::max(0.0, at - running.from);
    double own = seconds;
    for (const WaitReason reason : kWaitReasons) own -= running.waited[reason];
    own = std::max(0.0, own);
    // An attempt without a duration, for example after a clock step, must not lower the mean.
    if (seconds > 0) ++record.ended;
    record.ended_seconds += seconds;
    record.ended_own_seconds += own;
    record.longest_own_seconds = std::max(record.longest_own_seconds, own);
    if (seconds > record.longest.seconds) {
      record.longest = {.attempt = IdIn(key),
                        .host = NameOf(running.host),
                        .seconds = seconds,
                        .own_seconds = own,
                        .group_seconds = absl::ToDoubleSeconds(running.longest_group.time),
                        .group_bytes = running.longest_group.size_bytes};
    }
    record.read_bytes += record.kind == StageKind::kMap
                             ? running.input_bytes
                             : std::max(running.input_bytes, running.read_bytes);
  }
  AddSlotWaits(job.slots.End(at));
}

void ClusterWaits::EndAll(JobNumber number) {
  std::vector<Key> keys;
  for (const auto& [key, running] : running_) {
    if (std::get<0>(key) == number) keys.push_back(key);
  }
  std::sort(keys.begin(), keys.end());
  for (const Key& key : keys) End(key, now_, /*is_good=*/false);
}

void ClusterWaits::CloseJob(JobNumber number, double at) {
  EndAll(number);
  TrackedJob& job = records_.job(number);
  job.is_closed = true;
  for (const auto& [stage_number, stage] : job.stages) Close(job, stage);
  for (const auto& [name, query] : job.queries) {
    TrackedQuery& record = records_.query(query);
    if (!record.to) record.to = at;
  }
  job.sources.clear();
}

void ClusterWaits::Add(const std::optional<Piece>& piece) {
  if (piece) contention_.Add(*piece).IgnoreError();  // Pieces of Attempts are valid.
}

void ClusterWaits::AddSlotWaits(const std::vector<Piece>& pieces) {
  for (const Piece& piece : pieces) {
    Add(piece);
    TrackedStage& record = records_.stage(piece.stage);
    if (record.has_started) continue;
    record.full_seconds += piece.seconds();
    record.full_until = piece.to;
  }
}

void ClusterWaits::StoreWaits(Running& running) {
  for (const WaitReason reason : kWaitReasons) {
    if (InfoOf(reason).includes_service) continue;
    double& waited = running.waited[reason];
    waited = running.totals.of[reason].wait_seconds.value_or(waited);
  }
}

// Adds the piece since the previous flush, up to the last report or else up to `until`.
void ClusterWaits::Flush(Running& running, double until) {
  if (running.reported_at > running.flushed_at) {
    running.flushed_at = running.reported_at;
    StoreWaits(running);
    Add(attempts_.Report(running.attempt, running.reported_at, std::exchange(running.totals, {})));
  } else if (running.flushed_at < until) {
    running.flushed_at = until;
    Add(attempts_.Report(running.attempt, until, {}));
  }
}

void ClusterWaits::Advance(absl::Time now) {
  now_ = std::max(now_, SecondsOf(now));
  for (auto& [number, job] : records_.jobs()) {
    if (!job.is_closed) AddSlotWaits(job.slots.ReportWaits(now_, now_ - kUnderwaySeconds));
  }
  double until = now_ - kUnderwaySeconds;
  for (auto& [key, running] : running_) {
    Flush(running, now_ - absl::ToDoubleSeconds(kSilenceMax));
    until = std::min(until, running.flushed_at);
  }
  Fold(until);
}

void ClusterWaits::Fold(double until) {
  contention_.Advance(until);
  while (contention_.meetings() > limits_.meetings_max) {
    is_over_ = !MakeRoom();
    if (is_over_) return;
  }
  is_over_ = false;
}

void ClusterWaits::Finish() {
  for (const auto& [number, job] : records_.jobs()) {
    if (!job.is_closed) EndAll(number);
  }
  // Advances by another second, so that pieces that end now are folded.
  contention_.Advance(now_ + 1);
}

// Removes some of the oldest ended queries, of all jobs or of one job. Removes several at a time,
// since each removal visits all sums. Returns false if all queries run.
bool ClusterWaits::MakeRoom(const TrackedJob* of) {
  const bool only_drop = !records_.forgotten().empty() && of == nullptr;
  if (!only_drop) {
    if (!records_.ForgetEnded(of)) return false;
    std::vector<Key> keys;  // speculative attempts of removed stages
    for (const auto& [key, running] : running_) {
      if (records_.forgotten().contains(running.stage)) keys.push_back(key);
    }
    for (const Key& key : keys) End(key, now_, /*is_good=*/false);
  }
  DropForgotten();
  return true;
}

void ClusterWaits::ForgetJob(JobNumber number) {
  EndAll(number);
  records_.ForgetJob(number);
  // Visiting all sums is slow, so many stages are removed at once.
  if (records_.forgotten().size() > records_.stages() / 4) DropForgotten();
}

void ClusterWaits::SetPastInput(const std::string& job_id, PastInput past) {
  const auto known = records_.FindJob(job_id);
  if (!known) return;
  PastInput& kept = records_.job(*known).past_input;
  kept = {};
  std::size_t stages = past.stages.size();
  for (const auto& [number, job] : records_.jobs()) stages += job.past_input.stages.size();
  if (stages > limits_.stages_max) past.stages.clear();
  kept = std::move(past);
}

void ClusterWaits::Forget(const std::string& job_id) {
  if (const auto known = records_.FindJob(job_id)) ForgetJob(*known);
}

void ClusterWaits::DropForgotten() {
  has_searched_hosts_ = false;
  contention_.Forget(records_.forgotten(), kForgottenStage);
  records_.FreeForgotten();
}

// Includes the hosts of running tasks, which may not be in the sums.
std::vector<std::string> ClusterWaits::HostsOf(std::span<const Query> queries,
                                               const std::optional<absl::Duration>& last) const {
  std::vector<Stage> stages;
  for (const Query query : queries) {
    const std::vector<Stage>& of_query = records_.query(query).stages;
    stages.insert(stages.end(), of_query.begin(), of_query.end());
  }
  const std::set<Query> asked(queries.begin(), queries.end());
  std::set<std::string> names;
  const auto add = [&](Host host) {
    if (ClusterRecords::IsNamed(host)) names.insert(records_.HostName(host));
  };
  const Ledger ledger = contention_.Of(stages, Seconds(last));
  for (const auto& [key, sums] : ledger.stages) add(key.host);
  for (const auto& [key, task] : running_) {
    if (asked.contains(records_.stage(task.stage).query)) add(task.host);
  }
  return {names.begin(), names.end()};
}

std::optional<Explanation> ClusterWaits::Ask(const std::string& job_id,
                                             const ExplainQuestion& question) const {
  const auto known = records_.FindJob(job_id);
  if (!known) return std::nullopt;
  const TrackedJob& job = records_.job(*known);
  std::vector<Query> queries;
  for (const auto& [name, query] : job.queries) {
    const bool is_asked = question.query.empty() || name == question.query;
    if (is_asked && !records_.query(query).stages.empty()) queries.push_back(query);
  }
  std::sort(queries.begin(), queries.end(),
            [&](Query a, Query b) { return records_.query(a).order < records_.query(b).order; });
  const std::size_t left_out = queries.size() - std::min(queries.size(), question.queries_max);
  const double until = std::min(now_, contention_.folded_until());
  Explanation explanation = {
      .job_id = job.id,
      .run_uid = job.run_uid,
      .at = std::max(job.since, first_.value_or(job.since) + absl::Seconds(until)),
      .since = job.since,
      .is_partial = job.is_partial || !job.is_seen_whole || is_over_,
      .queries = {},
      .queries_left_out = job.queries_left_out + static_cast<std::uint32_t>(left_out),
      .has_ended = job.is_closed,
      .hosts = {}};
  if (!question.host.empty()) {
    explanation.hosts = HostsOf(std::span(queries).subspan(left_out), question.last);
  }
  for (std::size_t q = left_out; q < queries.size(); ++q) {
    std::optional<QueryWaits> waits =
        ExplainQuery(records_, contention_, queries[q], question, now_);
    if (waits) explanation.queries.push_back(*std::move(waits));
  }
  SelectCauses(question, explanation);
  return explanation;
}

void ClusterWaits::AddContention(const std::string& job_id, ContentionSums& sums) const {
  const auto number = records_.FindJob(job_id);
  if (!number) return;
  const ContentionQuestion& question = sums.question();
  const std::optional<Explanation> explanation = Ask(job_id, sums.QuestionOfJob());
  JobGraph graph;
  if (sums.wants_graph()) {
    graph = GraphOf(records_, contention_, *number, question.query, Seconds(question.last));
  }
  sums.Add(records_, *explanation, graph);
}

std::vector<LossesTo> ClusterWaits::Losses(const std::string& job_id, const std::set<QueryName>& to,
                                           std::size_t most,
                                           const std::optional<absl::Duration>& last) const {
  const auto number = records_.FindJob(job_id);
  if (!number) return {};
  const auto name_of = [&](Query query) {
    const TrackedQuery& record = records_.query(query);
    return QueryName{records_.job(record.job).id, record.name};
  };
  std::set<Query> running;
  for (const auto& [key, task] : running_) {
    if (std::get<0>(key) != *number) running.insert(records_.stage(task.stage).query);
  }
  std::erase_if(running, [&](Query query) { return !to.contains(name_of(query)); });
  if (running.empty()) return {};
  std::map<std::uint32_t, StageLosses> by_stage;
  StageLosses all;
  for (const auto& [stage_number, stage] : records_.job(*number).stages) {
    StageLosses losses = LossesOf(records_, contention_, stage, last);
    if (losses.ran <= 0) continue;
    all.ran += losses.ran;
    for (const auto& [query, cost] : losses.others) all.others[query] += cost;
    by_stage.emplace(stage_number, std::move(losses));
  }
  std::vector<std::pair<Query, LostSeconds>> worst;
  for (const auto& [query, cost] : all.others) {
    if (running.contains(query)) worst.emplace_back(query, cost);
  }
  std::stable_sort(worst.begin(), worst.end(), [](const auto& a, const auto& b) {
    return a.second.seconds > b.second.seconds;
  });
  if (worst.size() > most) worst.resize(most);
  std::vector<LossesTo> result;
  for (const auto& [query, cost] : worst) {
    LossesTo& losses = result.emplace_back();
    losses.query = name_of(query);
    losses.lost.of_all = ShareOf(cost, all.ran);
    for (auto& [stage_number, of_stage] : by_stage) {
      losses.lost.by_stage[stage_number] = ShareOf(of_stage.others[query], of_stage.ran);
    }
  }
  return result;
}

std::vector<CostOf> ClusterWaits::Costs(const std::string& job_id, const std::set<QueryName>& to,
                                        std::size_t most,
                                        const std::optional<absl::Duration>& last) const {
  const auto number = records_.FindJob(job_id);
  if (!number) return {};
  const std::map<Query, LostSeconds> by_query = CostsToJob(records_, contention_, *number, last);
  std::vector<CostOf> costs;
  for (const QueryName& name : to) {
    const auto job = records_.FindJob(name.job_id);
    if (!job || *job == *number) continue;
    const auto& queries = records_.job(*job).queries;
    const auto query = queries.find(name.query);
    if (query == queries.end()) continue;
    const auto cost = by_query.find(query->second);
    if (cost == by_query.end()) continue;
    const auto& [seconds, limits] = cost->second;
    costs.push_back({name, seconds, limits.lower, limits.upper});
  }
  std::ranges::stable_sort(costs, std::ranges::greater(), &CostOf::seconds);
  if (costs.size() > most) costs.resize(most);
  return costs;
}

}  // namespace tidemark::waits
