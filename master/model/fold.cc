#include "master/model/fold.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/types/span.h"
#include "master/model/reduce_fold.h"
#include "master/model/saturating.h"
#include "master/model/silence.h"
#include "tidemark/limit.h"

namespace tidemark::model {
namespace {

// What one of each takes in memory, with what lies around it: measured once, rounded up.
constexpr std::size_t kAttemptBytes = 512;
constexpr std::size_t kSourceBytes = 256;
constexpr std::size_t kStageBytes = 512;
constexpr std::size_t kExecutorBytes = 256;
constexpr std::size_t kPartitionBytes = 96;
constexpr std::size_t kKeyBytes = sizeof(ExplicitKey);

std::size_t BytesOf(const MapProfile& profile) {
  std::size_t bytes = 0;
  for (const PartitionProfile& partition : profile.partitions) {
    bytes += kPartitionBytes + kKeyBytes * partition.explicit_keys.size();
  }
  return bytes;
}

std::size_t BytesOf(const ReduceTask& task, const ReduceAttempt& attempt) {
  // A key that has finished is in a hash set and in a list.
  constexpr std::size_t kFinishedBytes = 2 * sizeof(KeyHash) + sizeof(FinishedKey);
  constexpr std::size_t kUnmatchedBytes = 64;  // a node of a tree
  return sizeof(GroupPoint) * task.points.points().size() +
         kFinishedBytes * attempt.finished_explicit.size() +
         kUnmatchedBytes * attempt.unmatched_explicit.size();
}

absl::Status CheckRoom(const JobLimits& limits, const JobState& state) {
  if (state.memory_bytes < limits.state_bytes_max) return absl::OkStatus();
  return LimitExceeded(
      "state_bytes_per_job",
      fmt::format("this master keeps at most {} bytes of state per job", limits.state_bytes_max));
}

class Folder {
 public:
  Folder(const Event& event, const JobLimits& limits, JobState& state)
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

 private:
  SourceState& source() { return state_.sources.find(event_.source_id)->second; }
  absl::Time ToMasterClock(std::optional<absl::Time> at) const;
  template <typename Task>
  void Grow(std::size_t count, std::vector<Task>& tasks);
  absl::StatusOr<Stage*> FindStage(const AttemptId& id, StageKind kind = StageKind::kUnknown);
  absl::StatusOr<MapAttempt*> FindMapAttempt(const AttemptId& id);
  absl::StatusOr<ReduceAttempt*> FindReduceAttempt(const AttemptId& id);
  absl::StatusOr<StageTaskAttempt*> FindAttempt(const AttemptId& id, Stage& stage);
  template <typename Task>
  auto FindAttempt(const AttemptId& id, const char* limit_name, std::uint32_t limit,
                   std::vector<Task>& tasks)
      -> absl::StatusOr<decltype(&tasks[0].attempts.begin()->second)>;
  absl::Status CheckAttempts(const AttemptId& id, std::size_t attempts) const;
  template <typename Attempts, typename Number>
  auto EnterAttempt(const Number& number, Attempts& attempts)
      -> decltype(&attempts.begin()->second);
  void Enter(const AttemptChanged& changed, AttemptLife& life);
  absl::Status MapAttemptChanged(const AttemptChanged& changed);
  absl::Status ReduceAttemptChanged(const AttemptChanged& changed);
  void KeepProfile(const MapProfile& profile, MapAttempt& attempt);
  void DropProfile(MapAttempt& attempt);
  void SettleProfile(MapTask& task);
  void EndMapPhase();
  absl::Status CheckStage(const StageOpened& opened) const;
  absl::Status CheckRoomFor(absl::Span<const StageOpened> opened) const;
  void Open(StageOpened opened);
  void MoveMapTasks(Stage& stage);
  void MoveReduceTasks(Stage& stage);
  absl::Status LeaveOut(const AttemptId& id, Stage& stage);

  const Event& event_;
  const JobLimits& limits_;
  JobState& state_;
};

absl::Time Folder::ToMasterClock(std::optional<absl::Time> at) const {
  const ClockOffset& clock = state_.sources.find(event_.source_id)->second.clock;
  return clock.ToMasterClock(at.value_or(event_.sent_at), event_.arrived_at);
}

absl::Status Folder::CheckStage(const StageOpened& opened) const {
  const auto known = state_.stages.find(opened.stage);
  StageKind kind = opened.kind;
  if (known != state_.stages.end() && known->second.opened.kind != StageKind::kUnknown) {
    kind = known->second.opened.kind;
  }
  const bool is_map = opened.stage == kMapStage && kind == StageKind::kMap;
  const bool is_reduce = opened.stage == kReduceStage && kind == StageKind::kReduce;
  if (!is_map && !is_reduce) return absl::OkStatus();
  if (opened.attempt > 0) {
    return absl::InvalidArgumentError(
        fmt::format("attempt {} at stage {}: a map or reduce stage has one attempt; send attempt 0",
                    opened.attempt, opened.stage));
  }
  // After a restart with lower limits a job keeps the tasks that it has.
  const auto check = [](const char* name, const char* what, std::optional<std::uint32_t> count,
                        std::uint32_t limit, std::size_t has) {
    if (count.value_or(0) <= std::max<std::size_t>(limit, has)) return absl::OkStatus();
    return LimitExceeded(
        name, fmt::format("the job has {} {}; this master allows at most {} per job", *count, what,
                          limit));
  };
  if (is_reduce) {
    return check("reduce_tasks", "reduce tasks", opened.task_count, limits_.reduce_tasks_max,
                 state_.reduce_tasks.size());
  }
  absl::Status tasks = check("map_tasks", "map tasks", opened.task_count, limits_.map_tasks_max,
                             state_.map_tasks.size());
  if (!tasks.ok()) return tasks;
  return check("reduce_tasks", "partitions", opened.partition_count, limits_.reduce_tasks_max,
               state_.reduce_tasks.size());
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
    state_.run_uid = event_.run_uid;
    state_.started_at = ToMasterClock(opened.submitted_at);
  } else {
    JobOpened& known = *state_.opened;
    for (const auto text : {&JobOpened::name, &JobOpened::engine, &JobOpened::application_id,
                            &JobOpened::user, &JobOpened::queue}) {
      if ((known.*text).empty()) known.*text = opened.*text;
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

// A parent counts once, however often it is named.
void DropRepeated(std::vector<std::uint32_t>& parents) {
  absl::flat_hash_set<std::uint32_t> known;
  std::erase_if(parents, [&](std::uint32_t parent) { return !known.insert(parent).second; });
}

void Folder::Open(StageOpened opened) {
  DropRepeated(opened.parents);
  if (opened.opened_at) opened.opened_at = ToMasterClock(opened.opened_at);
  const auto [known, is_new] = state_.stages.try_emplace(opened.stage, Stage{.opened = opened});
  Stage& stage = known->second;
  if (is_new) {
    stage.announced_at = ToMasterClock(std::nullopt);
    state_.memory_bytes += kStageBytes;
  } else {
    state_.memory_bytes -= StateBytesOf(stage.opened);
    if (!FillIn(opened, stage.opened)) ++state_.anomalies;
  }
  state_.memory_bytes += StateBytesOf(stage.opened);
  // A count that was said before the kind has not been held against the limits.
  const std::uint32_t tasks = stage.opened.task_count.value_or(0);
  if (stage.is_reduce()) {
    Grow(std::min(tasks, limits_.reduce_tasks_max), state_.reduce_tasks);
    MoveReduceTasks(stage);
  }
  if (!stage.is_map()) return;
  Grow(std::min(tasks, limits_.map_tasks_max), state_.map_tasks);
  MoveMapTasks(stage);
  const std::vector<std::uint64_t>& sizes = stage.opened.task_bytes;
  for (std::size_t i = 0; i < std::min(sizes.size(), state_.map_tasks.size()); ++i) {
    if (!state_.map_tasks[i].input_bytes) state_.map_tasks[i].input_bytes = sizes[i];
  }
}

// Tasks that were heard of before it was said that their stage maps.
void Folder::MoveMapTasks(Stage& stage) {
  const std::uint32_t limit = limits_.map_tasks_max;
  for (auto& [index, task] : std::exchange(stage.tasks, {})) {
    if (index >= std::min(stage.opened.task_count.value_or(limit), limit)) {
      ++state_.anomalies;
      continue;
    }
    Grow(index + std::size_t{1}, state_.map_tasks);
    MapTask& moved = state_.map_tasks[index];
    for (auto& [number, attempt] : task.attempts) {
      if (!moved.input_bytes) moved.input_bytes = attempt.life.input_bytes;
      moved.attempts[number.second] = {
          .life = std::move(attempt.life), .bytes_done = attempt.bytes_done, .profile = {}};
    }
    SettleProfile(moved);
  }
}

// Likewise, that it reduces.
void Folder::MoveReduceTasks(Stage& stage) {
  const std::uint32_t limit = limits_.reduce_tasks_max;
  for (auto& [index, task] : std::exchange(stage.tasks, {})) {
    if (index >= std::min(stage.opened.task_count.value_or(limit), limit)) {
      ++state_.anomalies;
      continue;
    }
    Grow(index + std::size_t{1}, state_.reduce_tasks);
    for (auto& [number, attempt] : task.attempts) {
      ReduceAttempt& moved = state_.reduce_tasks[index].attempts[number.second];
      moved.life = std::move(attempt.life);
      moved.fetched_bytes = attempt.bytes_done;
      moved.reduce_started_at = moved.life.shuffled_at();
      if (moved.reduce_started_at || moved.life.is_finished()) EndMapPhase();
    }
  }
}

absl::Status Folder::operator()(const ExecutorOpened& opened) {
  const auto known = source().executors.find(opened.executor);
  if (known != source().executors.end()) {
    if (state_.executors[known->second] != opened) ++state_.anomalies;
    return absl::OkStatus();
  }
  if (absl::Status room = CheckRoom(limits_, state_); !room.ok()) return room;
  state_.memory_bytes +=
      kExecutorBytes + opened.host.size() + opened.rack.size() + opened.container.size();
  source().executors[opened.executor] = state_.executors.size();
  state_.executors.push_back(opened);
  return absl::OkStatus();
}

absl::Status Folder::operator()(const UnknownEvent&) {
  ++state_.unknown_events;
  return absl::OkStatus();
}

absl::Status Folder::operator()(const JobClosed& closed) {
  state_.closed = closed;
  state_.closed_at = ToMasterClock(closed.at);
  return absl::OkStatus();
}

// Makes room for so many tasks. Of a map task that is first heard of when the phase is over, the
// profile is missing.
template <typename Task>
void Folder::Grow(std::size_t count, std::vector<Task>& tasks) {
  const std::size_t before = tasks.size();
  if (count <= before) return;
  tasks.resize(count);
  if constexpr (std::is_same_v<Task, MapTask>) {
    if (!state_.map_phase_is_over) return;
    for (std::size_t i = before; i < count; ++i) SettleProfile(tasks[i]);
  }
}

// The stage of an attempt, which may be heard of before whoever opens its stage: sources are not
// ordered among each other. An event that only a stage of `kind` has tells that, too.
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
  if (is_of_newest && stage.opened.task_count && id.index >= *stage.opened.task_count) {
    return absl::InvalidArgumentError(fmt::format("{} does not exist: the stage has {} tasks",
                                                  ToString(id), *stage.opened.task_count));
  }
  return &stage;
}

// Whether one more attempt may be made at a task that has had so many.
absl::Status Folder::CheckAttempts(const AttemptId& id, std::size_t attempts) const {
  if (attempts < limits_.attempts_per_task_max) return CheckRoom(limits_, state_);
  return LimitExceeded("attempts_per_task",
                       fmt::format("{}: this master allows at most {} attempts per task",
                                   ToString(id), limits_.attempts_per_task_max));
}

// The attempt `number` among `attempts` at a task, which is made if it is new.
template <typename Attempts, typename Number>
auto Folder::EnterAttempt(const Number& number, Attempts& attempts)
    -> decltype(&attempts.begin()->second) {
  if (!attempts.contains(number)) state_.memory_bytes += kAttemptBytes;
  auto& attempt = attempts[number];
  if (attempt.life.is_running()) {
    state_.report_gaps.Observe(event_.arrived_at - attempt.life.last_heard_at);
  }
  attempt.life.last_heard_at = event_.arrived_at;
  return &attempt;
}

template <typename Task>
auto Folder::FindAttempt(const AttemptId& id, const char* limit_name, std::uint32_t limit,
                         std::vector<Task>& tasks)
    -> absl::StatusOr<decltype(&tasks[0].attempts.begin()->second)> {
  if (id.index >= std::max<std::size_t>(limit, tasks.size())) {
    return LimitExceeded(
        limit_name, fmt::format("{}: this master allows at most {} {} tasks per job", ToString(id),
                                limit, id.stage == kMapStage ? "map" : "reduce"));
  }
  Grow(id.index + std::size_t{1}, tasks);
  auto& attempts = tasks[id.index].attempts;
  if (!attempts.contains(id.attempt)) {
    if (absl::Status checked = CheckAttempts(id, attempts.size()); !checked.ok()) return checked;
  }
  return EnterAttempt(id.attempt, attempts);
}

absl::StatusOr<MapAttempt*> Folder::FindMapAttempt(const AttemptId& id) {
  return FindAttempt(id, "map_tasks", limits_.map_tasks_max, state_.map_tasks);
}

absl::StatusOr<ReduceAttempt*> Folder::FindReduceAttempt(const AttemptId& id) {
  return FindAttempt(id, "reduce_tasks", limits_.reduce_tasks_max, state_.reduce_tasks);
}

absl::StatusOr<StageTaskAttempt*> Folder::FindAttempt(const AttemptId& id, Stage& stage) {
  const std::pair number(id.stage_attempt, id.attempt);
  const auto task = stage.tasks.find(id.index);
  if (task == stage.tasks.end() || !task->second.attempts.contains(number)) {
    std::size_t attempts = 0;  // those at an earlier attempt at the stage take none of its room
    if (task != stage.tasks.end()) {
      attempts = static_cast<std::size_t>(
          std::count_if(task->second.attempts.begin(), task->second.attempts.end(),
                        [&](const auto& entry) { return entry.first.first == id.stage_attempt; }));
    }
    // Before the task is made: what is refused takes no memory.
    if (absl::Status checked = CheckAttempts(id, attempts); !checked.ok()) return checked;
  }
  return EnterAttempt(number, stage.tasks[id.index].attempts);
}

void Folder::Enter(const AttemptChanged& changed, AttemptLife& life) {
  if (!life.Enter(changed.state, ToMasterClock(changed.at))) ++state_.anomalies;
  const auto keep = [this](std::string& text, const std::string& said) {
    if (!text.empty() || !CheckRoom(limits_, state_).ok()) return;
    text = said;
    state_.memory_bytes += said.size();
  };
  if (changed.executor) {
    const auto executor = source().executors.find(*changed.executor);
    if (executor != source().executors.end()) {
      keep(life.host, state_.executors[executor->second].host);
    }
  }
  keep(life.input_name, changed.input_name);
  keep(life.failure, changed.failure);
  life.speculative |= changed.speculative;
  if (!life.input_bytes) life.input_bytes = changed.input_bytes;
  if (!life.input_records) life.input_records = changed.input_records;
}

// The most tasks seen at once stands in for the number of slots while nobody says it; counting is
// only worth its cost then.
template <typename Task>
std::uint32_t RunningCount(const std::vector<Task>& tasks) {
  return static_cast<std::uint32_t>(std::count_if(
      tasks.begin(), tasks.end(), [](const Task& task) { return task.is_running(); }));
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
  if ((*stage)->is_map()) return MapAttemptChanged(changed);
  if ((*stage)->is_reduce()) return ReduceAttemptChanged(changed);
  const auto attempt = FindAttempt(changed.attempt, **stage);
  if (!attempt.ok()) return attempt.status();
  Enter(changed, (*attempt)->life);
  const auto executor = source().executors.find(changed.executor.value_or(0));
  if (changed.executor && executor != source().executors.end() && !(*attempt)->executor) {
    (*attempt)->executor = executor->second;
  }
  return absl::OkStatus();
}

absl::Status Folder::ReduceAttemptChanged(const AttemptChanged& changed) {
  const auto attempt = FindReduceAttempt(changed.attempt);
  if (!attempt.ok()) return attempt.status();
  Enter(changed, (*attempt)->life);
  if (changed.state == AttemptState::kFinished) {
    KeepColdBins(state_.reduce_tasks[changed.attempt.index]);
  }
  if (changed.state == AttemptState::kShuffled && !(*attempt)->reduce_started_at) {
    (*attempt)->reduce_started_at = (*attempt)->life.shuffled_at();
  }
  if ((*attempt)->reduce_started_at || (*attempt)->life.is_finished()) EndMapPhase();
  if (changed.state == AttemptState::kStarted && !state_.reduce_stage()->slots) {
    state_.reduce_tasks_running_max =
        std::max(state_.reduce_tasks_running_max, RunningCount(state_.reduce_tasks));
  }
  return absl::OkStatus();
}

absl::Status Folder::MapAttemptChanged(const AttemptChanged& changed) {
  const auto attempt = FindMapAttempt(changed.attempt);
  if (!attempt.ok()) return attempt.status();
  MapTask& task = state_.map_tasks[changed.attempt.index];
  Enter(changed, (*attempt)->life);
  if (!task.input_bytes) task.input_bytes = changed.input_bytes;
  if ((*attempt)->life.has_ended() && !(*attempt)->life.is_finished()) DropProfile(**attempt);
  if (changed.state == AttemptState::kStarted && !state_.map_stage()->slots) {
    state_.map_tasks_running_max =
        std::max(state_.map_tasks_running_max, RunningCount(state_.map_tasks));
  }
  SettleProfile(task);
  return absl::OkStatus();
}

absl::Status Folder::operator()(const TaskHeartbeat& heartbeat) {
  const absl::StatusOr<Stage*> stage = FindStage(heartbeat.attempt);
  if (!stage.ok()) return stage.status();
  const auto advance = [this](std::uint64_t told, std::uint64_t& done) {
    if (told < done) ++state_.anomalies;
    done = std::max(done, told);
    return absl::OkStatus();
  };
  if ((*stage)->is_reduce()) {
    const auto attempt = FindReduceAttempt(heartbeat.attempt);
    if (!attempt.ok()) return attempt.status();
    return advance(heartbeat.bytes_done, (*attempt)->fetched_bytes);
  }
  if ((*stage)->is_map()) {
    const auto attempt = FindMapAttempt(heartbeat.attempt);
    if (!attempt.ok()) return attempt.status();
    return advance(heartbeat.bytes_done, (*attempt)->bytes_done);
  }
  const auto attempt = FindAttempt(heartbeat.attempt, **stage);
  if (!attempt.ok()) return attempt.status();
  (*attempt)->records_done = std::max((*attempt)->records_done, heartbeat.records_done);
  return advance(heartbeat.bytes_done, (*attempt)->bytes_done);
}

// Key groups are estimated of the two stages of a MapReduce job. Those of another are heard of.
absl::Status Folder::LeaveOut(const AttemptId& id, Stage& stage) {
  const auto attempt = FindAttempt(id, stage);
  if (attempt.ok()) ++state_.unused_profiles;
  return attempt.status();
}

absl::Status Folder::operator()(const MapProfile& profile) {
  const absl::StatusOr<Stage*> stage = FindStage(profile.attempt, StageKind::kMap);
  if (!stage.ok()) return stage.status();
  if ((*stage)->opened.kind != StageKind::kMap) {
    return absl::InvalidArgumentError(
        fmt::format("map profile of {}: its stage is of another kind; send map profiles of map "
                    "tasks",
                    ToString(profile.attempt)));
  }
  if (!(*stage)->is_map()) return LeaveOut(profile.attempt, **stage);
  std::optional<std::uint32_t> partition_count = (*stage)->opened.partition_count;
  if (!partition_count && state_.reduce_stage() != nullptr) {
    partition_count = state_.reduce_stage()->task_count;
  }
  const auto partitions_max = static_cast<std::uint32_t>(
      std::max<std::size_t>(limits_.reduce_tasks_max, state_.reduce_tasks.size()));
  const std::uint32_t partitions =
      std::min(partition_count.value_or(partitions_max), partitions_max);
  for (const PartitionProfile& partition : profile.partitions) {
    if (partition.partition >= partitions) {
      return absl::InvalidArgumentError(
          fmt::format("map profile of {}: partition {}, but the job has {} partitions",
                      ToString(profile.attempt), partition.partition, partitions));
    }
  }
  const auto attempt = FindMapAttempt(profile.attempt);
  if (!attempt.ok()) return attempt.status();
  MapTask& task = state_.map_tasks[profile.attempt.index];
  if (task.profile_counted || (*attempt)->profile || (*attempt)->life.has_ended()) {
    const bool still_wanted = (*attempt)->life.is_finished() && !task.profile_counted;
    if (!still_wanted) {
      ++state_.anomalies;
      return absl::OkStatus();
    }
  }
  if (absl::Status room = CheckRoom(limits_, state_); !room.ok()) return room;
  KeepProfile(profile, **attempt);
  SettleProfile(task);
  return absl::OkStatus();
}

// The profile of the attempt that finished first is the task's; a rerun of a lost map task emits
// the same pairs, so its profile must not count again. Settling is idempotent, and the only place
// where profiles are counted as missing, or no longer.
void Folder::SettleProfile(MapTask& task) {
  for (auto& [number, attempt] : task.attempts) {
    const bool counts = attempt.life.is_finished() || state_.map_phase_is_over;
    if (task.profile_counted || !counts || !attempt.profile) continue;
    state_.keys.Add(*attempt.profile, attempt.life.input_name);
    task.profile_counted = true;
  }
  const bool is_over = task.is_finished() || state_.map_phase_is_over;
  const bool was_missing = std::exchange(task.profile_missing, is_over && !task.profile_counted);
  if (task.profile_missing && !was_missing) ++state_.map_profiles_missing;
  if (!task.profile_missing && was_missing) --state_.map_profiles_missing;
  if (!task.profile_counted) return;
  for (auto& [number, attempt] : task.attempts) DropProfile(attempt);
}

void Folder::KeepProfile(const MapProfile& profile, MapAttempt& attempt) {
  DropProfile(attempt);
  attempt.profile = profile;
  state_.memory_bytes += BytesOf(profile);
}

void Folder::DropProfile(MapAttempt& attempt) {
  if (!attempt.profile) return;
  state_.memory_bytes -= BytesOf(*attempt.profile);
  attempt.profile.reset();
}

// Whose end nobody told of has ended, too.
void Folder::EndMapPhase() {
  if (std::exchange(state_.map_phase_is_over, true)) return;
  for (MapTask& task : state_.map_tasks) SettleProfile(task);
}

absl::Status Folder::operator()(const ReduceProfile& profile) {
  const absl::StatusOr<Stage*> stage = FindStage(profile.attempt, StageKind::kReduce);
  if (!stage.ok()) return stage.status();
  if ((*stage)->opened.kind != StageKind::kReduce) {
    return absl::InvalidArgumentError(
        fmt::format("reduce profile of {}: its stage is of another kind; send reduce profiles of "
                    "reduce tasks",
                    ToString(profile.attempt)));
  }
  if (!(*stage)->is_reduce()) return LeaveOut(profile.attempt, **stage);
  const auto attempt = FindReduceAttempt(profile.attempt);
  if (!attempt.ok()) return attempt.status();
  if (absl::Status room = CheckRoom(limits_, state_); !room.ok()) return room;
  ReduceTask& task = state_.reduce_tasks[profile.attempt.index];
  const std::size_t before = BytesOf(task, **attempt);
  const ClockOffset& clock = state_.sources.find(event_.source_id)->second.clock;
  if (profile.groups_done > 0) EndMapPhase();
  FoldReduceProfile(profile, clock, event_.arrived_at, **attempt, task, state_);
  state_.memory_bytes += BytesOf(task, **attempt);
  state_.memory_bytes -= before;
  return absl::OkStatus();
}

// Makes room for a source that is new.
absl::Status AdmitSource(const std::string& source_id, const JobLimits& limits, JobState& state) {
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

// Whether the envelope is new; notes its sequence and what is missing before it.
bool TakeSequence(std::uint64_t sequence, SourceState& source, JobState& state) {
  if (sequence <= source.accepted_sequence) return false;
  state.lost_envelopes =
      SaturatingAdd(state.lost_envelopes, sequence - source.accepted_sequence - 1);
  ++state.taken_envelopes;
  source.accepted_sequence = sequence;
  return true;
}

// What is to be said of the run that stands in the way of the one that `event` opens.
std::string WhyToWait(const Event& event, const JobState& state, absl::Time given_up_at) {
  if (state.closed) return "is about to end; wait until it has ended";
  const absl::Duration silence = SilentFor(state, event.arrived_at);
  if (silence == absl::ZeroDuration() || given_up_at == absl::InfiniteFuture()) {
    return "is still running; wait until it has ended";
  }
  const absl::Duration left = std::max(given_up_at - event.arrived_at, absl::ZeroDuration());
  const absl::Duration second = absl::Seconds(1);
  return fmt::format(
      "has not ended, but nothing was heard of it for {}; unless it reports, it is given up in {}; "
      "wait until then",
      absl::FormatDuration(absl::Floor(silence, second)),
      absl::FormatDuration(absl::Ceil(left, second)));
}

}  // namespace

absl::Status CheckRun(const Event& event, const JobState& state, absl::Time given_up_at) {
  const bool is_of_run = event.run_uid.empty() || event.run_uid == state.run_uid;
  if (is_of_run || !state.opened) return absl::OkStatus();
  if (std::holds_alternative<JobOpened>(event.body)) {
    return absl::AlreadyExistsError(fmt::format(
        "another run of job {}, started at {}, {}, or take another id", event.job_id,
        absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", state.started_at, absl::UTCTimeZone()),
        WhyToWait(event, state, given_up_at)));
  }
  return absl::FailedPreconditionError(
      fmt::format("event {} of {} is of run {} of job {}, which is not the one being watched",
                  event.sequence, event.source_id, event.run_uid, event.job_id));
}

absl::Status Apply(const Event& event, const JobLimits& limits, JobState& state) {
  if (absl::Status of_run = CheckRun(event, state); !of_run.ok()) return of_run;
  if (event.arrived_at == absl::InfinitePast() || event.arrived_at == absl::InfiniteFuture()) {
    ++state.rejected_envelopes;
    return absl::InvalidArgumentError(fmt::format("event {} of {}: arrived_at must be an instant",
                                                  event.sequence, event.source_id));
  }
  if (absl::Status room = AdmitSource(event.source_id, limits, state); !room.ok()) {
    ++state.rejected_envelopes;
    return room;
  }
  SourceState& source = state.sources.find(event.source_id)->second;
  if (!TakeSequence(event.sequence, source, state)) return absl::OkStatus();
  source.clock.Observe(event.sent_at, event.arrived_at);
  source.dropped_events = std::max(source.dropped_events, event.dropped_events);
  state.last_arrival_at = std::max(state.last_arrival_at, event.arrived_at);
  if (state.closed) return absl::OkStatus();
  absl::Status status;
  if (!state.opened && !std::holds_alternative<JobOpened>(event.body)) {
    status = absl::FailedPreconditionError(
        fmt::format("job {} is not open; send JobOpened first", event.job_id));
  } else {
    status = std::visit(Folder(event, limits, state), event.body);
  }
  if (!status.ok()) ++state.rejected_envelopes;
  return status;
}

void Refuse(const AcceptedSequence& envelope, const JobLimits& limits, JobState& state) {
  const bool is_placed = envelope.sequence > 0;
  if (is_placed && AdmitSource(envelope.source_id, limits, state).ok()) {
    SourceState& source = state.sources.find(envelope.source_id)->second;
    if (!TakeSequence(envelope.sequence, source, state)) return;
  }
  ++state.rejected_envelopes;
}

}  // namespace tidemark::model
