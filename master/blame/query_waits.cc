#include "master/blame/query_waits.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "master/blame/delay.h"
#include "master/blame/ledger.h"

namespace tidemark::blame {
namespace {

// Taste: a driver takes so long to fill a slot that became free.
constexpr double kRefillSeconds = 0.1;
// Limits memory and work: older ones blame nobody.
constexpr std::size_t kFullSpansMax = 64;
// Of stages that follow one another: instants are rounded to milliseconds.
constexpr double kRoundingSeconds = 0.002;

constexpr char kNoQuery[] = "no known query";

std::optional<double> Seconds(const std::optional<absl::Duration>& time) {
  if (!time) return std::nullopt;
  return absl::ToDoubleSeconds(*time);
}

TaskUse UseIn(const TimeUse& time) {
  TaskUse use;
  use.processor_seconds = Seconds(time.cpu);
  use.of[Resource::kProcessor].wait_seconds = Seconds(time.processor_wait);
  use.of[Resource::kMemory].wait_seconds = Seconds(time.memory_wait);
  use.of[Resource::kNetwork].wait_seconds = Seconds(time.network_wait);
  use.of[Resource::kIo].wait_seconds = Seconds(time.io_wait);
  return use;
}

std::size_t IndexOf(Stage stage) { return static_cast<std::size_t>(stage); }

}  // namespace

double RunWaits::SecondsOf(absl::Time at) {
  if (!first_) first_ = at;
  return absl::ToDoubleSeconds(at - *first_);
}

Query RunWaits::QueryOf(const std::string& name) {
  const auto number = static_cast<Query>(queries_.size());
  const auto [found, is_new] = query_by_name_.try_emplace(name, number);
  if (is_new) queries_.push_back({.name = name, .from = {}, .to = {}});
  return found->second;
}

Stage RunWaits::StageOf(std::uint32_t number) {
  const auto next = static_cast<Stage>(stages_.size());
  const auto [found, is_new] = stage_by_number_.try_emplace(number, next);
  if (is_new) {
    stages_.push_back({.query = QueryOf(kNoQuery), .parents = {}, .target_weight = {}});
    records_.emplace_back();
  }
  return found->second;
}

Host RunWaits::HostOf(const std::string& name) {
  const auto number = static_cast<Host>(hosts_.size());
  const auto [found, is_new] = host_by_name_.try_emplace(name, number);
  if (is_new) hosts_.push_back(name);
  return found->second;
}

void RunWaits::Apply(const Event& event) {
  now_ = std::max(now_, SecondsOf(event.arrived_at));
  if (const auto* stage = std::get_if<StageOpened>(&event.body)) return Open(*stage);
  if (const auto* group = std::get_if<GroupOpened>(&event.body)) return Open(*group);
  if (const auto* group = std::get_if<GroupClosed>(&event.body)) {
    QueryRecord& query = queries_[static_cast<std::size_t>(QueryOf(group->group))];
    if (!query.to) query.to = group->at ? SecondsOf(*group->at) : now_;
  } else if (const auto* closed = std::get_if<StageClosed>(&event.body)) {
    records_[IndexOf(StageOf(closed->stage))].is_open = false;
    Fold();
  } else if (const auto* executor = std::get_if<ExecutorOpened>(&event.body)) {
    const Executor opened = {executor->host, executor->slots};
    if (!executors_.try_emplace(executor->executor, opened).second) return;
    slots_ += executor->slots;
    slots_told_ = slots_told_ || executor->slots > 0;
    SeeFullness();
  } else if (const auto* gone = std::get_if<ExecutorClosed>(&event.body)) {
    const auto executor_of = executors_.find(gone->executor);
    if (executor_of == executors_.end()) return;
    slots_ -= std::exchange(executor_of->second.slots, 0);
    SeeFullness();
  } else if (const auto* changed = std::get_if<AttemptChanged>(&event.body)) {
    Change(*changed);
  } else if (const auto* heartbeat = std::get_if<TaskHeartbeat>(&event.body)) {
    const AttemptId& id = heartbeat->attempt;
    const auto found = running_.find(Key{id.stage, id.index, id.attempt, id.stage_attempt});
    if (found != running_.end()) found->second.totals = UseIn(heartbeat->time);
  }
}

void RunWaits::Open(const StageOpened& opened) {
  const Stage stage = StageOf(opened.stage);
  StageRecord& record = records_[IndexOf(stage)];
  if (!record.has_query && !opened.group.empty()) {
    stages_[IndexOf(stage)].query = QueryOf(opened.group);
    record.has_query = true;
  }
  if (!opened.opened_at) return;
  record.attempt = opened.attempt;
  record.opened_at = SecondsOf(*opened.opened_at);
  record.is_open = !opened.skipped;
}

void RunWaits::Open(const GroupOpened& opened) {
  QueryRecord& query = queries_[static_cast<std::size_t>(QueryOf(opened.group))];
  if (!query.from && opened.opened_at) query.from = SecondsOf(*opened.opened_at);
}

void RunWaits::Change(const AttemptChanged& changed) {
  const double at = changed.at ? SecondsOf(*changed.at) : now_;
  const AttemptId& id = changed.attempt;
  switch (changed.state) {
    case AttemptState::kStarted:
      return Start(changed, at);
    case AttemptState::kFinished:
    case AttemptState::kFailed:
    case AttemptState::kKilled:
      return End(Key{id.stage, id.index, id.attempt, id.stage_attempt}, at);
    default:
      return;
  }
}

void RunWaits::Start(const AttemptChanged& changed, double at) {
  const AttemptId& id = changed.attempt;
  const Stage stage = StageOf(id.stage);
  const Running running = {Attempt{attempts_seen_++}, at, {}};
  if (!running_.try_emplace(Key{id.stage, id.index, id.attempt, id.stage_attempt}, running).second)
    return;
  StageRecord& record = records_[IndexOf(stage)];
  // Since when a retry or a copy waits is not told.
  const bool is_first = id.attempt == 0 && !changed.speculative &&
                        id.stage_attempt == record.attempt && record.opened_at <= at;
  const auto queued_at = is_first ? record.opened_at : std::nullopt;
  const auto executor = changed.executor ? executors_.find(*changed.executor) : executors_.end();
  // Where it runs is not told: it meets its own query only.
  const Host host =
      executor != executors_.end() && !executor->second.host.empty()
          ? HostOf(executor->second.host)
          : HostOf("a host that is not told, of " +
                   queries_[static_cast<std::size_t>(stages_[IndexOf(stage)].query)].name);
  const auto queued = attempts_.Start(running.attempt, stage, host, at, queued_at);
  double full_seconds = 0;
  const auto wait_within = [&](double from, double to) {
    from = std::max(from, queued->from);
    to = std::min(to, queued->to);
    if (!(from < to)) return;
    full_seconds += to - from;
    Add(Clip(*queued, from, to));
  };
  // It may wait beside free slots, for one near its data: nobody's fault.
  if (queued) {
    for (const Span& span : full_) wait_within(span.from, span.to);
    if (full_from_) wait_within(*full_from_, at);
  }
  if (!std::exchange(record.has_started, true)) record.full_seconds = full_seconds;
  SeeFullness();
}

void RunWaits::End(const Key& key, double at) {
  const auto found = running_.find(key);
  if (found == running_.end()) return;
  const Running running = found->second;
  running_.erase(found);
  Add(attempts_.End(running.attempt, std::max(at, running.from), running.totals));
  SeeFullness();
}

void RunWaits::Add(const std::optional<Piece>& piece) {
  if (piece) contention_.Add(*piece).IgnoreError();  // Attempts tells none that is refused
}

void RunWaits::SeeFullness() {
  const bool is_full = slots_ > 0 && running_.size() >= slots_;
  if (is_full == full_from_.has_value()) return;
  if (!is_full) {
    full_.push_back({*full_from_, now_});
    full_from_.reset();
    if (full_.size() > kFullSpansMax) full_.pop_front();
    return;
  }
  full_from_ = now_;
  if (full_.empty() || now_ - full_.back().to > kRefillSeconds) return;
  full_from_ = full_.back().from;
  full_.pop_back();
}

// What lies before all that waits or runs.
void RunWaits::Fold() {
  double until = now_;
  for (const StageRecord& record : records_) {
    if (record.is_open) until = std::min(until, *record.opened_at);
  }
  for (const auto& [key, running] : running_) until = std::min(until, running.from);
  contention_.Advance(until);
}

void RunWaits::Finish() {
  std::vector<Key> keys;
  for (const auto& [key, running] : running_) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  for (const Key& key : keys) End(key, now_);
  // An instant more: what ends now ends before it.
  contention_.Advance(now_ + 1);
}

// Of the stages of a query that followed one another.
struct RunWaits::Sums {
  PerResource<QueryWait> waits;
  std::map<std::tuple<Query, Resource, Host>, double> culprits;
};

void RunWaits::AddStage(const Ledger& ledger, Stage stage, const WaitsQuestion& question,
                        Sums& sums) const {
  const StageRecord& record = records_[IndexOf(stage)];
  const double span = ledger.spans.at(stage).seconds();
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
  if (!(ran > 0)) return;
  // With the slots that it lacked, too, it would have needed this much less of its time.
  const double per_slot_second = (span + record.full_seconds) / (ran + lacked);
  const double per_task_second = span / ran;
  const auto is_asked = [&](Resource resource, Host host) {
    if (question.resource && *question.resource != resource) return false;
    if (question.host.empty()) return true;
    return !IsQueue(host) && hosts_[static_cast<std::size_t>(host)] == question.host;
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
  if (slots_told_ && record.opened_at && is_asked(Resource::kScheduler, QueueOf({}))) {
    add(Resource::kScheduler, 0);
  }
  const Query own = stages_[IndexOf(stage)].query;
  for (const Delay& delay : delays) {
    const Query other = stages_[IndexOf(delay.source)].query;
    if (other == own || !is_asked(delay.resource, delay.host)) continue;
    const bool is_slots = delay.resource == Resource::kScheduler;
    const double seconds = delay.task_seconds * (is_slots ? per_slot_second : per_task_second);
    if (is_slots) add(delay.resource, seconds);
    sums.culprits[{other, delay.resource, delay.host}] += seconds;
  }
}

std::vector<QueryWaits> RunWaits::Ask(const WaitsQuestion& question) const {
  const Ledger ledger = contention_.Whole();
  struct Ran {
    Stage stage{};
    Span span;
  };
  std::vector<std::vector<Ran>> ran(queries_.size());
  for (const auto& [stage, span] : ledger.spans) {
    ran[static_cast<std::size_t>(stages_[IndexOf(stage)].query)].push_back(
        {stage, {span.from - records_[IndexOf(stage)].full_seconds, span.to}});
  }
  std::vector<QueryWaits> answers;
  for (std::size_t q = 0; q < queries_.size(); ++q) {
    const QueryRecord& query = queries_[q];
    if (ran[q].empty() || (!question.query.empty() && query.name != question.query)) continue;
    // Backwards from its end, each time the last that had ended: parents of stages do not tell in
    // what order the jobs of a query ran.
    std::stable_sort(ran[q].begin(), ran[q].end(),
                     [](const Ran& a, const Ran& b) { return a.span.to > b.span.to; });
    Sums sums;
    std::optional<double> from;
    for (const Ran& stage : ran[q]) {
      if (from && stage.span.to > *from + kRoundingSeconds) continue;
      from = stage.span.from;
      AddStage(ledger, stage.stage, question, sums);
    }
    QueryWaits answer = {.query = query.name, .seconds = {}, .waits = sums.waits, .culprits = {}};
    if (query.from) answer.seconds = std::max(query.to.value_or(now_) - *query.from, 0.0);
    for (const auto& [who, seconds] : sums.culprits) {
      const auto& [other, resource, host] = who;
      answer.culprits.push_back(
          {.query = queries_[static_cast<std::size_t>(other)].name,
           .resource = resource,
           .host = IsQueue(host) ? "" : hosts_[static_cast<std::size_t>(host)],
           .seconds = seconds});
    }
    std::stable_sort(answer.culprits.begin(), answer.culprits.end(),
                     [](const Culprit& a, const Culprit& b) { return a.seconds > b.seconds; });
    if (answer.culprits.size() > question.culprits_max) {
      answer.culprits.resize(question.culprits_max);
    }
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace tidemark::blame
