#include "master/facts/fold.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "absl/types/span.h"
#include "master/facts/evidence_loss.h"
#include "master/facts/report_times.h"
#include "text/duration_text.h"
#include "tidemark/limit.h"

namespace tidemark::facts {
namespace {

// Memory of one object in bytes, including the allocator's overhead. Measured and rounded up. An
// attempt includes its task.
constexpr std::size_t kAttemptBytes = 512;
constexpr std::size_t kSourceBytes = 256;
constexpr std::size_t kStageBytes = 512;
constexpr std::size_t kExecutorBytes = 256;
constexpr std::size_t kGroupBytes = 384;
constexpr std::size_t kPartitionBytes = 96;
constexpr std::size_t kKeyBytes = sizeof(ExplicitKey);

std::size_t BytesOf(const TaskAttempt& attempt) {
  const AttemptLife& life = attempt.life;
  return kAttemptBytes + life.host.size() + life.input_name.size() + life.failure.size();
}

std::size_t BytesOf(const MapProfile& profile) {
  std::size_t bytes = 0;
  for (const PartitionProfile& partition : profile.partitions) {
    bytes += kPartitionBytes + kKeyBytes * partition.explicit_keys.size();
  }
  return bytes;
}

// Limits the cost of a snapshot. With more parents in total, no end is predicted
// (stages_estimate.cc), and further stages are kept without parents.
constexpr std::size_t kEdgesKeptMax = 1'000'000;

// A larger correction of a clock shows that the clock was set, and not that a message was slow.
// Chosen by hand.
constexpr absl::Duration kSlowMessage = absl::Seconds(5);

std::size_t BytesOf(const FinishedGroups& groups, const ReduceWork& work) {
  // A finished key is in a hash set and in a list.
  constexpr std::size_t kFinishedBytes = 2 * sizeof(KeyHash) + sizeof(FinishedKey);
  constexpr std::size_t kUnmatchedBytes = 64;  // Size of a tree node.
  return sizeof(GroupPoint) * groups.points.points().size() +
         kFinishedBytes * work.finished_explicit.size() +
         kUnmatchedBytes * work.unmatched_explicit.size();
}

// Returns OK if the job may grow. Single additions are small, so they are counted afterwards.
absl::Status CheckRoom(const JobLimits& limits, const JobRecord& state) {
  if (state.memory_bytes < limits.state_bytes_max) return absl::OkStatus();
  return LimitExceeded(
      "state_bytes_per_job",
      fmt::format("this master keeps at most {} bytes of state per job", limits.state_bytes_max));
}

// Adds tasks until the stage has at least `count`.
void AddTasks(std::size_t count, Stage& stage) {
  const std::size_t before = stage.tasks.size();
  if (count <= before) return;
  stage.tasks.resize(count);
  for (std::size_t i = before; i < count; ++i) {
    stage.tasks[i].index = static_cast<std::uint32_t>(i);
  }
}

class Folder {
 public:
  Folder(const Event& event, const JobLimits& limits, JobRecord& state)
      : event_(event), limits_(limits), state_(state) {}

  absl::Status operator()(const JobOpened& opened);
  absl::Status operator()(const JobClosed& closed);
  absl::Status operator()(const StageOpened& opened);
  absl::Status operator()(const ExecutorOpened& opened);
  absl::Status operator()(const AttemptChanged& changed);
  absl::Status operator()(const TaskHeartbeat& heartbeat);
  absl::Status operator()(const MapProfile& profile);
  absl::Status operator()(const ReduceProfile& profile);
  absl::Status operator()(const UnknownEvent& unknown);
  absl::Status operator()(const StageClosed& closed);
  absl::Status operator()(const GroupOpened& opened);
  absl::Status operator()(const GroupClosed& closed);
  absl::Status operator()(const ExecutorClosed& closed);

 private:
  SourceState& source() { return state_.sources.find(event_.source_id)->second; }
  absl::Time ToMasterClock(std::optional<absl::Time> at) const;
  void CorrectStart();
  void Grow(std::size_t count, Stage& stage);
  absl::StatusOr<Stage*> FindStage(const AttemptId& id, StageKind kind = StageKind::kUnknown);
  Task& MakeTask(std::uint32_t index, Stage& stage);
  absl::StatusOr<TaskAttempt*> FindAttempt(const AttemptId& id, Stage& stage);
  absl::Status CheckNewAttempt(const AttemptId& id, const Stage& stage, const Task* task) const;
  void Enter(const AttemptChanged& changed, TaskAttempt& attempt);
  static SlotPool PoolOf(const Stage& stage, const TaskAttempt& attempt);
  void CountRunning(bool may_run, Stage& stage, TaskAttempt& attempt);
  void EnterReduce(TaskAttempt& attempt);
  void InferStart(absl::Time at, Stage& stage, Task& task, TaskAttempt& attempt);
  void DropProfile(TaskAttempt& attempt);
  void SettleProfile(Task& task);
  void EndMapPhase();
  absl::StatusOr<GroupState*> MakeGroup(const std::string& name);
  void Keep(const std::string& reported, std::string& text);
  void Plan(const std::vector<std::uint32_t>& reported, std::vector<std::uint32_t>& planned);
  void Reopen(Stage& stage);
  absl::Status CheckStage(const StageOpened& opened) const;
  absl::Status CheckRoomFor(absl::Span<const StageOpened> opened) const;
  void Open(StageOpened opened);
  void ConvertTasks(Stage& stage);
  void Convert(Task& task, const Stage& stage);
  absl::Status CountUnusedProfile(const AttemptId& id, Stage& stage);

  const Event& event_;
  const JobLimits& limits_;
  JobRecord& state_;
};

absl::Time Folder::ToMasterClock(std::optional<absl::Time> at) const {
  const ClockOffset& clock = state_.sources.find(event_.source_id)->second.clock;
  return clock.ToMasterClock(at.value_or(event_.sent_at), event_.arrived_at);
}

// Limit on the number of tasks of a map or reduce stage. The memory limit bounds the tasks of other
// stages.
struct TaskLimit {
  const char* name;
  const char* kind;
  std::uint32_t most;
};

std::optional<TaskLimit> LimitOf(std::uint32_t stage, StageKind kind, const JobLimits& limits) {
  if (stage == kMapStage && kind == StageKind::kMap) {
    return TaskLimit{"map_tasks", "map", limits.map_tasks_max};
  }
  if (stage == kReduceStage && kind == StageKind::kReduce) {
    return TaskLimit{"reduce_tasks", "reduce", limits.reduce_tasks_max};
  }
  return std::nullopt;
}

std::optional<TaskLimit> LimitOf(const Stage& stage, const JobLimits& limits) {
  return LimitOf(stage.opened.stage, stage.opened.kind, limits);
}

absl::Status Folder::CheckStage(const StageOpened& opened) const {
  const auto known = state_.stages.find(opened.stage);
  StageKind kind = opened.kind;
  if (known != state_.stages.end() && known->second.opened.kind != StageKind::kUnknown) {
    kind = known->second.opened.kind;
  }
  const std::optional<TaskLimit> limit = LimitOf(opened.stage, kind, limits_);
  if (!limit) return absl::OkStatus();
  if (opened.attempt > 0) {
    return absl::InvalidArgumentError(
        fmt::format("attempt {} at stage {}: a map or reduce stage has one attempt; send attempt 0",
                    opened.attempt, opened.stage));
  }
  // After a restart with lower limits, a job keeps its tasks.
  const auto check = [](const char* name, const std::string& what,
                        std::optional<std::uint32_t> count, std::uint32_t most, std::size_t has) {
    if (count.value_or(0) <= std::max<std::size_t>(most, has)) return absl::OkStatus();
    return LimitExceeded(
        name, fmt::format("the job has {} {}; this master allows at most {} per job", *count, what,
                          most));
  };
  const std::size_t has =
      opened.stage == kMapStage ? state_.map_tasks().size() : state_.reduce_tasks().size();
  absl::Status tasks =
      check(limit->name, fmt::format("{} tasks", limit->kind), opened.task_count, limit->most, has);
  if (!tasks.ok() || opened.stage != kMapStage) return tasks;
  return check("reduce_tasks", "partitions", opened.partition_count, limits_.reduce_tasks_max,
               state_.reduce_tasks().size());
}

absl::Status Folder::CheckRoomFor(absl::Span<const StageOpened> opened) const {
  std::size_t added = 0;
  for (const StageOpened& stage : opened) {
    if (absl::Status checked = CheckStage(stage); !checked.ok()) return checked;
    added += state_.stages.contains(stage.stage) ? 0 : 1;
  }
  if (state_.stages.size() + added > limits_.stages_max) {
    return LimitExceeded("stages_per_job",
                         fmt::format("the job has {} stages; this master allows at most {} per job",
                                     state_.stages.size() + added, limits_.stages_max));
  }
  return opened.empty() ? absl::OkStatus() : CheckRoom(limits_, state_);
}

absl::Status Folder::operator()(const JobOpened& opened) {
  if (absl::Status room = CheckRoomFor(opened.stages); !room.ok()) return room;
  if (!state_.opened) {
    state_.opened = opened;
    state_.opened->stages.clear();
    state_.memory_bytes += facts::BytesOf(opened.parameters);
    if (opened.workflow) state_.memory_bytes += facts::BytesOf(*opened.workflow);
    state_.run_uid = event_.run_uid;
    state_.opened_by = event_.source_id;
    state_.started_at = ToMasterClock(SubmittedAt(opened, event_.sent_at));
  } else {
    JobOpened& known = *state_.opened;
    for (const auto text : {&JobOpened::name, &JobOpened::engine, &JobOpened::application_id,
                            &JobOpened::user, &JobOpened::queue}) {
      if ((known.*text).empty()) known.*text = opened.*text;
    }
    if (!known.deadline || (opened.replaces_deadline && opened.deadline)) {
      known.deadline = opened.deadline;
    }
    if (known.parameters.empty()) {
      known.parameters = opened.parameters;
      state_.memory_bytes += facts::BytesOf(opened.parameters);
    }
    if (opened.workflow && (!known.workflow || known.workflow->node.empty())) {
      if (known.workflow) state_.memory_bytes -= facts::BytesOf(*known.workflow);
      known.workflow = opened.workflow;
      state_.memory_bytes += facts::BytesOf(*opened.workflow);
    }
    known.application_master_attempt =
        std::max(known.application_master_attempt, opened.application_master_attempt);
  }
  source().application_master_attempt =
      std::max(source().application_master_attempt, opened.application_master_attempt);
  for (const StageOpened& stage : opened.stages) Open(stage);
  return absl::OkStatus();
}

absl::Status Folder::operator()(const StageOpened& opened) {
  if (absl::Status room = CheckRoomFor(absl::MakeConstSpan(&opened, 1)); !room.ok()) return room;
  state_.has_late_stages |= !state_.stages.contains(opened.stage);
  Open(opened);
  return absl::OkStatus();
}

// Removes repeated parents.
void DropRepeated(std::vector<std::uint32_t>& parents) {
  absl::flat_hash_set<std::uint32_t> known;
  std::erase_if(parents, [&](std::uint32_t parent) { return !known.insert(parent).second; });
}

void Folder::Open(StageOpened opened) {
  DropRepeated(opened.parents);
  if (opened.opened_at) opened.opened_at = ToMasterClock(opened.opened_at);
  const auto [known, is_new] = state_.stages.try_emplace(opened.stage);
  Stage& stage = known->second;
  if (state_.edges + opened.parents.size() > kEdgesKeptMax && stage.opened.parents.empty()) {
    if (is_new) state_.dropped_edges += opened.parents.size();
    opened.parents.clear();
  }
  const std::size_t edges_before = stage.opened.parents.size();
  const bool was_of_mapreduce = LimitOf(stage, limits_).has_value();
  if (is_new) {
    stage.opened = opened;
    stage.announced_at = ToMasterClock(std::nullopt);
    state_.memory_bytes += kStageBytes;
  } else {
    state_.memory_bytes -= StateBytesOf(stage.opened);
    if (!FillIn(opened, stage.opened)) ++state_.anomalies;
    if (stage.closed && stage.closed->attempt < stage.opened.attempt) Reopen(stage);
  }
  state_.memory_bytes += StateBytesOf(stage.opened);
  state_.edges += stage.opened.parents.size();
  state_.edges -= edges_before;
  const std::optional<TaskLimit> limit = LimitOf(stage, limits_);
  if (!limit) return;
  if (!was_of_mapreduce) ConvertTasks(stage);
  // A task count that arrived before the stage's kind has not been checked against the limits.
  Grow(std::min(stage.opened.task_count.value_or(0), limit->most), stage);
  if (!stage.is_map()) return;
  const std::vector<std::uint64_t>& sizes = stage.opened.task_bytes;
  for (std::size_t i = 0; i < std::min(sizes.size(), stage.tasks.size()); ++i) {
    if (!stage.tasks[i].input_bytes) stage.tasks[i].input_bytes = sizes[i];
  }
}

// Converts tasks that were reported before their stage was known to be a map or reduce stage.
void Folder::ConvertTasks(Stage& stage) {
  const std::uint32_t most = LimitOf(stage, limits_)->most;
  const std::uint32_t count = std::min(stage.opened.task_count.value_or(most), most);
  std::vector<Task> reported = std::exchange(stage.tasks, {});
  stage.places.clear();
  for (Task& task : reported) {
    for (auto& [number, attempt] : task.attempts) CountRunning(/*may_run=*/false, stage, attempt);
    if (task.index < count) {
      AddTasks(task.index + std::size_t{1}, stage);
      Convert(task, stage);
      stage.tasks[task.index] = std::move(task);
    } else {
      ++state_.anomalies;
      for (const auto& [number, attempt] : task.attempts) {
        state_.memory_bytes -= BytesOf(attempt);
      }
    }
  }
  stage.finished_tasks = static_cast<std::uint32_t>(stage.finished_task_count());
  stage.running_tasks = static_cast<std::uint32_t>(stage.running_task_count());
  if (!stage.is_map()) return;
  for (Task& task : stage.tasks) SettleProfile(task);
}

// Drops later attempts at the stage, since a map or reduce stage has one attempt.
void Folder::Convert(Task& task, const Stage& stage) {
  state_.anomalies += std::erase_if(task.attempts, [this](const auto& entry) {
    const bool is_of_another = entry.first.first > 0;
    if (is_of_another) state_.memory_bytes -= BytesOf(entry.second);
    return is_of_another;
  });
  task.input_bytes.reset();
  for (auto& [number, attempt] : task.attempts) {
    if (!task.input_bytes) task.input_bytes = attempt.life.input_bytes;
    if (!stage.is_reduce()) continue;
    attempt.reduce = std::make_unique<ReduceWork>();
    attempt.reduce->fetched_bytes = std::exchange(attempt.bytes_done, 0);
    EnterReduce(attempt);
  }
}

absl::Status Folder::operator()(const ExecutorOpened& opened) {
  const auto known = source().executors.find(opened.executor);
  if (known != source().executors.end()) {
    if (state_.executors[known->second].opened != opened) ++state_.anomalies;
    return absl::OkStatus();
  }
  if (absl::Status room = CheckRoom(limits_, state_); !room.ok()) return room;
  state_.memory_bytes +=
      kExecutorBytes + opened.host.size() + opened.rack.size() + opened.container.size();
  source().executors[opened.executor] = state_.executors.size();
  state_.executors.push_back({.opened = opened, .opened_at = ToMasterClock(std::nullopt)});
  return absl::OkStatus();
}

absl::Status Folder::operator()(const ExecutorClosed& closed) {
  const auto known = source().executors.find(closed.executor);
  if (known == source().executors.end()) {
    ++state_.anomalies;
  } else {
    std::optional<absl::Time>& closed_at = state_.executors[known->second].closed_at;
    if (!closed_at) closed_at = ToMasterClock(std::nullopt);
  }
  return absl::OkStatus();
}

// Sets `text` if it is empty and the memory limit allows it.
void Folder::Keep(const std::string& reported, std::string& text) {
  if (!text.empty() || !CheckRoom(limits_, state_).ok()) return;
  text = reported;
  state_.memory_bytes += reported.size();
}

absl::Status Folder::operator()(const StageClosed& closed) {
  auto found = state_.stages.find(closed.stage);
  if (found == state_.stages.end()) {
    const StageOpened implied{.stage = closed.stage, .attempt = closed.attempt};
    if (absl::Status opened = (*this)(implied); !opened.ok()) return opened;
    found = state_.stages.find(closed.stage);
  }
  Stage& stage = found->second;
  const bool is_known = stage.closed && stage.closed->attempt >= closed.attempt;
  if (is_known || closed.attempt < stage.opened.attempt) return absl::OkStatus();
  Reopen(stage);
  stage.closed = {.stage = closed.stage,
                  .attempt = closed.attempt,
                  .outcome = closed.outcome,
                  .at = ToMasterClock(closed.at)};
  Keep(closed.message, stage.closed->message);
  for (Task& task : stage.tasks) {
    for (auto& [number, attempt] : task.attempts) CountRunning(/*may_run=*/false, stage, attempt);
  }
  return absl::OkStatus();
}

void Folder::Reopen(Stage& stage) {
  if (stage.closed) state_.memory_bytes -= stage.closed->message.size();
  stage.closed.reset();
}

absl::StatusOr<GroupState*> Folder::MakeGroup(const std::string& name) {
  const auto known = state_.groups.find(name);
  if (known != state_.groups.end()) return &known->second;
  if (absl::Status room = CheckRoom(limits_, state_); !room.ok()) return room;
  if (state_.groups.size() >= limits_.stages_max) {
    return LimitExceeded("stages_per_job",
                         fmt::format("the job has {} groups of stages; this master allows at most "
                                     "{} per job, as many as stages",
                                     state_.groups.size(), limits_.stages_max));
  }
  state_.memory_bytes += kGroupBytes + 2 * name.size();
  GroupState& group = state_.groups[name];
  group.opened.group = name;
  return &group;
}

absl::Status Folder::operator()(const GroupOpened& opened) {
  const absl::StatusOr<GroupState*> group = MakeGroup(opened.group);
  if (!group.ok()) return group.status();
  GroupOpened& known = (*group)->opened;
  Keep(opened.name, known.name);
  if (!known.opened_at) known.opened_at = ToMasterClock(opened.opened_at);
  Plan(opened.planned_task_counts, known.planned_task_counts);
  return absl::OkStatus();
}

void Folder::Plan(const std::vector<std::uint32_t>& reported, std::vector<std::uint32_t>& planned) {
  const bool grows = reported.size() > planned.size();
  if (reported.empty() || (grows && !CheckRoom(limits_, state_).ok())) return;
  state_.memory_bytes += sizeof(reported[0]) * reported.size();
  state_.memory_bytes -= sizeof(reported[0]) * planned.size();
  planned = std::vector<std::uint32_t>(reported);  // A copy assignment would keep the capacity.
}

absl::Status Folder::operator()(const GroupClosed& closed) {
  const absl::StatusOr<GroupState*> group = MakeGroup(closed.group);
  if (!group.ok()) return group.status();
  if ((*group)->closed) return absl::OkStatus();
  (*group)->closed = {
      .group = closed.group, .outcome = closed.outcome, .at = ToMasterClock(closed.at)};
  Keep(closed.message, (*group)->closed->message);
  return absl::OkStatus();
}

absl::Status Folder::operator()(const UnknownEvent&) {
  ++state_.unknown_events;
  return absl::OkStatus();
}

// Corrects the start of the job using the clock offset at its end. The message that opens a job is
// slow because it waits for a connection. If a run has no id, its start identifies the run and is
// not corrected.
void Folder::CorrectStart() {
  const std::optional<absl::Time> submitted_at = SubmittedAt(*state_.opened, event_.sent_at);
  if (!submitted_at || state_.run_uid.empty() || event_.source_id != state_.opened_by) return;
  const absl::Time start = ToMasterClock(submitted_at);
  if (state_.started_at - start <= kSlowMessage) {
    state_.started_at = std::min(state_.started_at, start);
  }
}

absl::Status Folder::operator()(const JobClosed& closed) {
  CorrectStart();
  state_.closed = closed;
  state_.closed_at = ToMasterClock(closed.at);
  return absl::OkStatus();
}

// Adds tasks. A map task that is first reported after the map phase counts as a task without a
// profile.
void Folder::Grow(std::size_t count, Stage& stage) {
  const std::size_t before = stage.tasks.size();
  AddTasks(count, stage);
  if (!stage.is_map() || !state_.map_phase_is_over) return;
  for (std::size_t i = before; i < stage.tasks.size(); ++i) SettleProfile(stage.tasks[i]);
}

// Adds a task that no event has reported before.
Task& Folder::MakeTask(std::uint32_t index, Stage& stage) {
  if (LimitOf(stage, limits_)) {
    Grow(index + std::size_t{1}, stage);
    return stage.tasks[index];
  }
  const auto place = static_cast<std::uint32_t>(stage.tasks.size());
  if (place != index) stage.places[index] = place;
  Task& task = stage.tasks.emplace_back();
  task.index = index;
  return task;
}

// Returns the stage of an attempt. Opens the stage if necessary, since events of different sources
// are not ordered. `kind` is the kind of the stage, if the event implies it.
absl::StatusOr<Stage*> Folder::FindStage(const AttemptId& id, StageKind kind) {
  auto found = state_.stages.find(id.stage);
  const bool is_of_unknown_kind =
      found != state_.stages.end() && found->second.opened.kind == StageKind::kUnknown;
  if (found == state_.stages.end() || (is_of_unknown_kind && kind != StageKind::kUnknown)) {
    const StageOpened implied{.stage = id.stage, .attempt = id.stage_attempt, .kind = kind};
    if (absl::Status opened = (*this)(implied); !opened.ok()) return opened;
    found = state_.stages.find(id.stage);
  }
  Stage& stage = found->second;
  if (id.stage_attempt > 0 && (stage.is_map() || stage.is_reduce())) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: a map or reduce stage has one attempt; send stage_attempt 0", ToString(id)));
  }
  // An earlier attempt at the stage may have had more tasks.
  const bool is_of_newest = id.stage_attempt >= stage.opened.attempt;
  if (const auto most = stage.index_count(); is_of_newest && most && id.index >= *most) {
    return absl::InvalidArgumentError(fmt::format("{} does not exist: the stage has {} {}",
                                                  ToString(id), *most,
                                                  stage.opened.index_count ? "indexes" : "tasks"));
  }
  return &stage;
}

// Returns OK if a new attempt is within the limits. `task` is null if no event has reported the
// task.
absl::Status Folder::CheckNewAttempt(const AttemptId& id, const Stage& stage,
                                     const Task* task) const {
  const std::optional<TaskLimit> limit = LimitOf(stage, limits_);
  if (limit && task == nullptr && id.index >= limit->most) {
    return LimitExceeded(
        limit->name, fmt::format("{}: this master allows at most {} {} tasks per job", ToString(id),
                                 limit->most, limit->kind));
  }
  // Attempts in earlier attempts at the stage do not count.
  std::ptrdiff_t attempts = 0;
  if (task != nullptr) {
    attempts = std::distance(task->attempts.lower_bound({id.stage_attempt, 0}),
                             task->attempts.upper_bound({id.stage_attempt, UINT32_MAX}));
  }
  if (attempts >= static_cast<std::ptrdiff_t>(limits_.attempts_per_task_max)) {
    return LimitExceeded("attempts_per_task",
                         fmt::format("{}: this master allows at most {} attempts per task",
                                     ToString(id), limits_.attempts_per_task_max));
  }
  return CheckRoom(limits_, state_);
}

// Returns the attempt. Adds it if it is within the limits. Rejected attempts use no memory.
absl::StatusOr<TaskAttempt*> Folder::FindAttempt(const AttemptId& id, Stage& stage) {
  const std::pair number(id.stage_attempt, id.attempt);
  Task* task = stage.task(id.index);
  if (task == nullptr || !task->attempts.contains(number)) {
    if (absl::Status checked = CheckNewAttempt(id, stage, task); !checked.ok()) return checked;
    if (task == nullptr) task = &MakeTask(id.index, stage);
    if (stage.is_reduce()) task->attempts[number].reduce = std::make_unique<ReduceWork>();
    state_.memory_bytes += kAttemptBytes;
  }
  TaskAttempt& attempt = task->attempts[number];
  if (attempt.life.is_running()) {
    state_.report_gaps.Observe(event_.arrived_at - attempt.life.last_report_at);
  }
  attempt.life.last_report_at = event_.arrived_at;
  return &attempt;
}

void Folder::Enter(const AttemptChanged& changed, TaskAttempt& attempt) {
  AttemptLife& life = attempt.life;
  if (!life.Enter(changed.state, ToMasterClock(changed.at))) ++state_.anomalies;
  if (changed.executor) {
    const auto executor = source().executors.find(*changed.executor);
    if (executor != source().executors.end()) {
      Keep(state_.executors[executor->second].opened.host, life.host);
      if (!attempt.executor) attempt.executor = static_cast<std::uint32_t>(executor->second);
    }
  }
  Keep(changed.input_name, life.input_name);
  Keep(changed.failure, life.failure);
  life.speculative |= changed.speculative;
  if (!life.input_bytes) life.input_bytes = changed.input_bytes;
  if (!life.input_records) life.input_records = changed.input_records;
}

// Returns the pool whose slots the attempt uses.
SlotPool Folder::PoolOf(const Stage& stage, const TaskAttempt& attempt) {
  if (stage.has_own_slots() && stage.opened.slots) return SlotPool::kStage;
  return attempt.executor ? SlotPool::kExecutor : SlotPool::kStage;
}

// Counts the attempt as running if it runs and `may_run` is true, and not otherwise.
void Folder::CountRunning(bool may_run, Stage& stage, TaskAttempt& attempt) {
  const bool runs = may_run && attempt.life.is_running();
  const SlotPool pool = runs ? PoolOf(stage, attempt) : SlotPool::kNone;
  const SlotPool before = std::exchange(attempt.counted_in, pool);
  if (pool == before) return;
  const auto count = [&](SlotPool in, bool is_added) {
    if (in == SlotPool::kStage) {
      stage.load.Count(is_added, stage.opened.slots.value_or(0), event_.arrived_at);
    } else if (in == SlotPool::kExecutor) {
      Executor& executor = state_.executors[*attempt.executor];
      executor.load.Count(is_added, executor.opened.slots, event_.arrived_at);
    }
  };
  count(before, false);
  count(pool, true);
}

absl::Status Folder::operator()(const AttemptChanged& changed) {
  const absl::StatusOr<Stage*> stage = FindStage(changed.attempt);
  if (!stage.ok()) return stage.status();
  const StageKind kind = (*stage)->opened.kind;
  if (changed.state == AttemptState::kShuffled && kind != StageKind::kReduce &&
      kind != StageKind::kUnknown) {
    return absl::InvalidArgumentError(fmt::format(
        "attempt changed of {}: state is ATTEMPT_STATE_SHUFFLED; only reduce tasks shuffle",
        ToString(changed.attempt)));
  }
  if (changed.at && absl::AbsDuration(event_.sent_at - *changed.at) > kLongestRun) {
    return absl::InvalidArgumentError(fmt::format(
        "attempt changed of {}: changed_at is {}, more than {} d from sent_at; send "
        "both in nanoseconds since 1970",
        ToString(changed.attempt), absl::FormatTime("%Y-%m-%d", *changed.at, absl::UTCTimeZone()),
        absl::ToInt64Hours(kLongestRun) / 24));
  }
  const auto attempt = FindAttempt(changed.attempt, **stage);
  if (!attempt.ok()) return attempt.status();
  Task& task = *(*stage)->task(changed.attempt.index);
  (*stage)->finished_tasks -= task.is_finished() ? 1 : 0;
  (*stage)->running_tasks -= task.is_running() ? 1 : 0;
  Enter(changed, **attempt);
  const AttemptState state = (*attempt)->life.state();
  task.has_failed |=
      changed.task_failed && (state == AttemptState::kFailed || state == AttemptState::kKilled);
  (*stage)->finished_tasks += task.is_finished() ? 1 : 0;
  (*stage)->running_tasks += task.is_running() ? 1 : 0;
  (*attempt)->active_at = event_.arrived_at;
  CountRunning(!(*stage)->closed, **stage, **attempt);
  if (!task.input_bytes) task.input_bytes = changed.input_bytes;
  if ((*stage)->is_reduce()) {
    if (changed.state == AttemptState::kFinished) KeepColdBins(task);
    EnterReduce(**attempt);
  }
  if ((*stage)->is_map()) {
    if ((*attempt)->life.has_ended() && !(*attempt)->life.is_finished()) DropProfile(**attempt);
    SettleProfile(task);
  }
  // Before slots are reported, their number is the largest number of concurrent tasks.
  const bool counts = LimitOf(**stage, limits_) && !(*stage)->opened.slots;
  if (counts && changed.state == AttemptState::kStarted) {
    (*stage)->tasks_running_max = std::max((*stage)->tasks_running_max, (*stage)->running_tasks);
  }
  return absl::OkStatus();
}

// Starts the reduce phase of an attempt after its shuffle. A finished attempt has reduced even if
// its shuffle was not reported.
void Folder::EnterReduce(TaskAttempt& attempt) {
  std::optional<absl::Time>& started_at = attempt.reduce->reduce_started_at;
  if (!started_at) started_at = attempt.life.shuffled_at();
  if (started_at || attempt.life.is_finished()) EndMapPhase();
}

// Starts an attempt that reports work before its start was reported. The event may be late or lost.
void Folder::InferStart(absl::Time at, Stage& stage, Task& task, TaskAttempt& attempt) {
  if (attempt.life.state() != AttemptState::kQueued) return;
  stage.running_tasks -= task.is_running() ? 1 : 0;
  attempt.life.Enter(AttemptState::kStarted, at);
  stage.running_tasks += task.is_running() ? 1 : 0;
  CountRunning(!stage.closed, stage, attempt);
}

// Adds the totals of a report. Totals never shrink.
void AddTimeUse(const TimeUse& time, TaskAttempt& attempt) {
  const absl::Duration zero = absl::ZeroDuration();
  attempt.cpu = std::max(attempt.cpu, time.cpu.value_or(zero));
  attempt.network_wait =
      std::max(attempt.network_wait, time.waits[WaitReason::kNetwork].value_or(zero));
}

absl::Status Folder::operator()(const TaskHeartbeat& heartbeat) {
  const absl::StatusOr<Stage*> stage = FindStage(heartbeat.attempt);
  if (!stage.ok()) return stage.status();
  const auto attempt = FindAttempt(heartbeat.attempt, **stage);
  if (!attempt.ok()) return attempt.status();
  std::uint64_t& done =
      (*stage)->is_reduce() ? (*attempt)->reduce->fetched_bytes : (*attempt)->bytes_done;
  // A source that counts no bytes reports none, even if another source reports some.
  if (heartbeat.bytes_done < done && heartbeat.bytes_done > 0) ++state_.anomalies;
  const bool has_read_more =
      heartbeat.bytes_done > done || heartbeat.records_done > (*attempt)->records_done;
  if (has_read_more && !(*stage)->is_reduce()) {
    (*attempt)->progressed_at = ToMasterClock(std::nullopt);
  }
  if (heartbeat.bytes_done > done && (*stage)->is_reduce()) {
    (*attempt)->reduce->fetched_at = ToMasterClock(std::nullopt);
  }
  done = std::max(done, heartbeat.bytes_done);
  const bool has_input = done > 0 || (*attempt)->bytes_done > 0 || (*attempt)->records_done > 0 ||
                         heartbeat.records_done > 0;
  if (!has_input) {
    (*attempt)->idle_until = ToMasterClock(std::nullopt);
  }
  if (done == 0 && heartbeat.records_done == 0 && (*attempt)->cpu == absl::ZeroDuration()) {
    (*attempt)->start_cpu = heartbeat.time.cpu.value_or(absl::ZeroDuration());
  }
  (*attempt)->records_done = std::max((*attempt)->records_done, heartbeat.records_done);
  (*attempt)->bytes_emitted = std::max((*attempt)->bytes_emitted, heartbeat.bytes_emitted);
  (*attempt)->input_is_read_first |= heartbeat.input_is_read_first;
  AddTimeUse(heartbeat.time, **attempt);
  if (heartbeat.bytes_done > 0 || heartbeat.records_done > 0 || heartbeat.time != TimeUse{}) {
    (*attempt)->active_at = event_.arrived_at;
  }
  return absl::OkStatus();
}

// Counts a profile of a stage that is not one of the two stages of a MapReduce job.
absl::Status Folder::CountUnusedProfile(const AttemptId& id, Stage& stage) {
  const auto attempt = FindAttempt(id, stage);
  if (attempt.ok()) ++state_.unused_profiles;
  return attempt.status();
}

absl::Status Folder::operator()(const MapProfile& profile) {
  const absl::StatusOr<Stage*> stage = FindStage(profile.attempt, StageKind::kMap);
  if (!stage.ok()) return stage.status();
  if ((*stage)->opened.kind != StageKind::kMap) {
    return absl::InvalidArgumentError(fmt::format(
        "map profile of {}: its stage is of a different kind; send map profiles of map tasks",
        ToString(profile.attempt)));
  }
  if (!(*stage)->is_map()) return CountUnusedProfile(profile.attempt, **stage);
  std::optional<std::uint32_t> partition_count = (*stage)->opened.partition_count;
  if (!partition_count && state_.reduce_stage() != nullptr) {
    partition_count = state_.reduce_stage()->opened.task_count;
  }
  const auto partitions_max = static_cast<std::uint32_t>(
      std::max<std::size_t>(limits_.reduce_tasks_max, state_.reduce_tasks().size()));
  const std::uint32_t partitions =
      std::min(partition_count.value_or(partitions_max), partitions_max);
  for (const PartitionProfile& partition : profile.partitions) {
    if (partition.partition >= partitions) {
      return absl::InvalidArgumentError(
          fmt::format("map profile of {}: partition {}, but the job has {} partitions",
                      ToString(profile.attempt), partition.partition, partitions));
    }
  }
  const auto attempt = FindAttempt(profile.attempt, **stage);
  if (!attempt.ok()) return attempt.status();
  Task& task = (*stage)->tasks[profile.attempt.index];
  if (task.profile_counted || (*attempt)->profile || (*attempt)->life.has_ended()) {
    const bool still_wanted = (*attempt)->life.is_finished() && !task.profile_counted;
    if (!still_wanted) {
      ++state_.anomalies;
      return absl::OkStatus();
    }
  }
  if (absl::Status room = CheckRoom(limits_, state_); !room.ok()) return room;
  DropProfile(**attempt);
  (*attempt)->profile = std::make_unique<MapProfile>(profile);
  state_.memory_bytes += BytesOf(profile);
  SettleProfile(task);
  return absl::OkStatus();
}

// Counts the profile of the attempt that finished first. A rerun of a lost map task emits the same
// pairs, so its profile must not count again. Idempotent. Only this function changes the number of
// missing profiles.
void Folder::SettleProfile(Task& task) {
  for (auto& [number, attempt] : task.attempts) {
    const bool counts = attempt.life.is_finished() || state_.map_phase_is_over;
    if (task.profile_counted || !counts || !attempt.profile) continue;
    state_.keys.Add(*attempt.profile, attempt.life.input_name);
    task.profile_counted = true;
  }
  const bool is_over = task.is_finished() || (state_.map_phase_is_over && !task.is_given_up());
  const bool was_missing = std::exchange(task.profile_missing, is_over && !task.profile_counted);
  if (task.profile_missing && !was_missing) ++state_.map_profiles_missing;
  if (!task.profile_missing && was_missing) --state_.map_profiles_missing;
  if (!task.profile_counted) return;
  for (auto& [number, attempt] : task.attempts) DropProfile(attempt);
}

void Folder::DropProfile(TaskAttempt& attempt) {
  if (!attempt.profile) return;
  state_.memory_bytes -= BytesOf(*attempt.profile);
  attempt.profile.reset();
}

// Ends the map phase, and every map attempt whose end was not reported.
void Folder::EndMapPhase() {
  if (std::exchange(state_.map_phase_is_over, true)) return;
  const auto stage = state_.stages.find(kMapStage);
  if (stage == state_.stages.end() || !stage->second.is_map()) return;
  for (Task& task : stage->second.tasks) SettleProfile(task);
}

absl::Status Folder::operator()(const ReduceProfile& profile) {
  const absl::StatusOr<Stage*> stage = FindStage(profile.attempt, StageKind::kReduce);
  if (!stage.ok()) return stage.status();
  if ((*stage)->opened.kind != StageKind::kReduce) {
    return absl::InvalidArgumentError(
        fmt::format("reduce profile of {}: its stage is of a different kind; send reduce profiles "
                    "of reduce tasks",
                    ToString(profile.attempt)));
  }
  if (!(*stage)->is_reduce()) return CountUnusedProfile(profile.attempt, **stage);
  const auto attempt = FindAttempt(profile.attempt, **stage);
  if (!attempt.ok()) return attempt.status();
  if (absl::Status room = CheckRoom(limits_, state_); !room.ok()) return room;
  Task& task = (*stage)->tasks[profile.attempt.index];
  if (!task.groups) task.groups = std::make_unique<FinishedGroups>();
  const std::size_t before = BytesOf(*task.groups, *(*attempt)->reduce);
  const ClockOffset& clock = state_.sources.find(event_.source_id)->second.clock;
  if (profile.groups_done > 0) EndMapPhase();
  AddTimeUse(profile.time, **attempt);
  FoldReduceProfile(profile, clock, event_.arrived_at, **attempt, *task.groups, state_);
  InferStart((*attempt)->reduce->reduce_started_at.value_or(event_.arrived_at), **stage, task,
             **attempt);
  state_.memory_bytes += BytesOf(*task.groups, *(*attempt)->reduce);
  state_.memory_bytes -= before;
  return absl::OkStatus();
}

// Adds a source if it is new and the limits allow it.
absl::Status AdmitSource(const std::string& source_id, const JobLimits& limits, JobRecord& state) {
  if (state.sources.contains(source_id)) return absl::OkStatus();
  if (state.sources.size() >= limits.sources_max) {
    return LimitExceeded("sources_per_job",
                         fmt::format("source {}: this master allows at most {} sources per job",
                                     source_id, limits.sources_max));
  }
  if (absl::Status room = CheckRoom(limits, state); !room.ok()) return room;
  state.memory_bytes += kSourceBytes + source_id.size();
  state.sources.try_emplace(source_id);
  return absl::OkStatus();
}

// Returns true if the event is new. Records its sequence and any gap before it.
bool AcceptSequence(std::uint64_t sequence, absl::Time now, SourceState& source, JobRecord& state) {
  if (sequence <= source.accepted_sequence) return false;
  if (sequence > source.accepted_sequence + 1) {
    state.last_gap_at = std::max(state.last_gap_at, now - absl::Nanoseconds(1));
  }
  state.lost_events = SaturatingAdd(state.lost_events, sequence - source.accepted_sequence - 1);
  ++state.taken_events;
  source.accepted_sequence = sequence;
  return true;
}

// Marks the stage as changed, if it exists.
void MarkChanged(std::uint32_t stage, JobRecord& state) {
  const auto found = state.stages.find(stage);
  if (found != state.stages.end()) ++found->second.revision;
}

// A visitor that marks each stage that an event may change.
class ChangedStages {
 public:
  explicit ChangedStages(JobRecord& state) : state_(state) {}

  void operator()(const JobOpened& opened) const {
    for (const StageOpened& stage : opened.stages) MarkChanged(stage.stage, state_);
  }
  void operator()(const StageOpened& opened) const { MarkChanged(opened.stage, state_); }
  void operator()(const StageClosed& closed) const { MarkChanged(closed.stage, state_); }
  void operator()(const AttemptChanged& changed) const {
    MarkChanged(changed.attempt.stage, state_);
  }
  void operator()(const TaskHeartbeat& beat) const { MarkChanged(beat.attempt.stage, state_); }
  void operator()(const MapProfile& profile) const { MarkChanged(profile.attempt.stage, state_); }
  void operator()(const ReduceProfile& profile) const {
    MarkChanged(profile.attempt.stage, state_);
  }
  template <typename OfNoStage>
  void operator()(const OfNoStage&) const {}

 private:
  JobRecord& state_;
};

// Returns why the run that `event` opens cannot begin before the previous run has ended, and a
// remedy.
std::string WhyToWait(const Event& event, const JobRecord& state, absl::Time abandoned_at,
                      absl::Time listening_since) {
  if (state.closed) return "is about to end; wait until it has ended";
  const absl::Duration silence = SilentFor(state, event.arrived_at);
  if (silence == absl::ZeroDuration() || abandoned_at == absl::InfiniteFuture()) {
    return "is still running; wait until it has ended";
  }
  const absl::Duration left = std::max(abandoned_at - event.arrived_at, absl::ZeroDuration());
  const std::string since =
      listening_since > state.last_arrival_at
          ? fmt::format("since the master started, {} ago",
                        text::DurationText(event.arrived_at - listening_since))
          : "for " + text::DurationText(silence);
  return fmt::format(
      "has not ended or reported {} and will be considered abandoned in {}; wait until then", since,
      text::DurationText(absl::Ceil(left, absl::Seconds(1))));
}

}  // namespace

absl::Status CheckRun(const Event& event, const JobRecord& state, absl::Time abandoned_at,
                      absl::Time listening_since) {
  const bool is_of_run = event.run_uid.empty() || event.run_uid == state.run_uid;
  if (is_of_run || !state.opened) return absl::OkStatus();
  if (std::holds_alternative<JobOpened>(event.body)) {
    return absl::AlreadyExistsError(fmt::format(
        "another run of job {}, started at {}, {}, or use another id", event.job_id,
        absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", state.started_at, absl::UTCTimeZone()),
        WhyToWait(event, state, abandoned_at, listening_since)));
  }
  return absl::FailedPreconditionError(
      fmt::format("event {} of {} belongs to run {} of job {}, which is not the open run",
                  event.sequence, event.source_id, event.run_uid, event.job_id));
}

absl::Status Apply(const Event& event, const JobLimits& limits, JobRecord& state) {
  if (absl::Status of_run = CheckRun(event, state); !of_run.ok()) return of_run;
  if (event.arrived_at == absl::InfinitePast() || event.arrived_at == absl::InfiniteFuture()) {
    ++state.rejected_events;
    return absl::InvalidArgumentError(fmt::format("event {} of {}: arrived_at must be a timestamp",
                                                  event.sequence, event.source_id));
  }
  if (absl::Status room = AdmitSource(event.source_id, limits, state); !room.ok()) {
    ++state.rejected_events;
    return room;
  }
  SourceState& source = state.sources.find(event.source_id)->second;
  if (!AcceptSequence(event.sequence, event.arrived_at, source, state)) return absl::OkStatus();
  if (const auto step = source.clock.Observe(event.sent_at, event.arrived_at)) {
    ++state.clock_steps;
    state.last_clock_step = {event.source_id, *step, event.arrived_at};
  }
  source.dropped_events = std::max(source.dropped_events, event.dropped_events);
  const auto* const opened = std::get_if<JobOpened>(&event.body);
  if (!state.opened || opened == nullptr || !opened->replaces_deadline) {
    state.last_arrival_at = std::max(state.last_arrival_at, event.arrived_at);
  }
  if (state.closed) return absl::OkStatus();
  absl::Status status;
  if (!state.opened && !std::holds_alternative<JobOpened>(event.body)) {
    status = absl::FailedPreconditionError(
        fmt::format("job {} is not open; send JobOpened first", event.job_id));
  } else {
    status = std::visit(Folder(event, limits, state), event.body);
    // A rejected event may have opened its stage.
    std::visit(ChangedStages(state), event.body);
  }
  if (!status.ok()) ++state.rejected_events;
  return status;
}

void Refuse(const AcceptedSequence& event, const JobLimits& limits, JobRecord& state) {
  const bool is_placed = event.sequence > 0;
  if (is_placed && AdmitSource(event.source_id, limits, state).ok()) {
    SourceState& source = state.sources.find(event.source_id)->second;
    if (!AcceptSequence(event.sequence, state.last_arrival_at, source, state)) return;
  }
  ++state.rejected_events;
}

}  // namespace tidemark::facts
