#include "master/model/fold.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "master/model/reduce_fold.h"
#include "master/model/saturating.h"
#include "master/model/silence.h"
#include "tidemark/limit.h"

namespace tidemark::model {
namespace {

// What one of each takes in memory, with what lies around it: measured once, rounded up.
constexpr std::size_t kAttemptBytes = 512;
constexpr std::size_t kSourceBytes = 256;
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

// Sets what was not said before; false if something else was said.
template <typename T>
bool FillIn(const std::optional<T>& said, std::optional<T>& known) {
  if (!said) return true;
  if (!known) known = said;
  return *known == *said;
}

class Folder {
 public:
  Folder(const Event& event, const JobLimits& limits, JobState& state)
      : event_(event), limits_(limits), state_(state) {}

  absl::Status operator()(const JobOpened& opened);
  absl::Status operator()(const JobClosed& closed);
  absl::Status operator()(const AttemptChanged& changed);
  absl::Status operator()(const TaskHeartbeat& heartbeat);
  absl::Status operator()(const MapProfile& profile);
  absl::Status operator()(const ReduceProfile& profile);

 private:
  absl::Time ToMasterClock(std::optional<absl::Time> at) const;
  template <typename Task>
  void Grow(std::size_t count, std::vector<Task>& tasks);
  absl::StatusOr<MapAttempt*> FindMapAttempt(const AttemptId& id);
  absl::StatusOr<ReduceAttempt*> FindReduceAttempt(const AttemptId& id);
  template <typename Task>
  auto FindAttempt(const AttemptId& id, std::optional<std::uint32_t> count, std::uint32_t limit,
                   std::vector<Task>& tasks)
      -> absl::StatusOr<decltype(&tasks[0].attempts.begin()->second)>;
  void Enter(const AttemptChanged& changed, AttemptLife& life);
  void KeepProfile(const MapProfile& profile, MapAttempt& attempt);
  void DropProfile(MapAttempt& attempt);
  void SettleProfile(MapTask& task);
  void EndMapPhase();
  absl::Status CheckShape(const JobOpened& opened) const;

  const Event& event_;
  const JobLimits& limits_;
  JobState& state_;
};

absl::Time Folder::ToMasterClock(std::optional<absl::Time> at) const {
  const ClockOffset& clock = state_.sources.find(event_.source_id)->second.clock;
  return clock.ToMasterClock(at.value_or(event_.sent_at), event_.arrived_at);
}

absl::Status Folder::CheckShape(const JobOpened& opened) const {
  const auto check = [](const char* name, const char* what, std::optional<std::uint32_t> count,
                        std::uint32_t limit) {
    if (count.value_or(0) <= limit) return absl::OkStatus();
    return LimitExceeded(
        name, fmt::format("the job has {} {}; this master allows at most {} per job", *count, what,
                          limit));
  };
  if (auto status = check("map_tasks", "map tasks", opened.map_task_count, limits_.map_tasks_max);
      !status.ok()) {
    return status;
  }
  if (auto status =
          check("reduce_tasks", "reduce tasks", opened.reduce_task_count, limits_.reduce_tasks_max);
      !status.ok()) {
    return status;
  }
  return check("reduce_tasks", "partitions", opened.partition_count, limits_.reduce_tasks_max);
}

absl::Status Folder::operator()(const JobOpened& opened) {
  if (absl::Status status = CheckShape(opened); !status.ok()) return status;
  if (!state_.opened) {
    state_.opened = opened;
    state_.run_uid = event_.run_uid;
    state_.started_at = ToMasterClock(opened.submitted_at);
  } else {
    JobOpened& known = *state_.opened;
    if (known.name.empty()) known.name = opened.name;
    if (known.engine.empty()) known.engine = opened.engine;
    if (known.phases.empty()) known.phases = opened.phases;
    known.has_combiner |= opened.has_combiner;
    known.is_grouping_opaque |= opened.is_grouping_opaque;
    // Each is filled in, whether or not the one before agrees.
    const bool agree[] = {FillIn(opened.map_task_count, known.map_task_count),
                          FillIn(opened.reduce_task_count, known.reduce_task_count),
                          FillIn(opened.partition_count, known.partition_count),
                          FillIn(opened.map_slots, known.map_slots),
                          FillIn(opened.reduce_slots, known.reduce_slots)};
    if (std::count(std::begin(agree), std::end(agree), false) > 0) ++state_.anomalies;
  }
  Grow(state_.opened->map_task_count.value_or(0), state_.map_tasks);
  Grow(state_.opened->reduce_task_count.value_or(0), state_.reduce_tasks);
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

template <typename Task>
auto Folder::FindAttempt(const AttemptId& id, std::optional<std::uint32_t> count,
                         std::uint32_t limit, std::vector<Task>& tasks)
    -> absl::StatusOr<decltype(&tasks[0].attempts.begin()->second)> {
  const char* kind = id.kind == TaskKind::kMap ? "map" : "reduce";
  if (count && id.index >= *count) {
    return absl::InvalidArgumentError(
        fmt::format("{} does not exist: the job has {} {} tasks", ToString(id), *count, kind));
  }
  if (id.index >= limit) {
    return LimitExceeded(fmt::format("{}_tasks", kind),
                         fmt::format("{}: this master allows at most {} {} tasks per job",
                                     ToString(id), limit, kind));
  }
  Grow(id.index + std::size_t{1}, tasks);
  auto& attempts = tasks[id.index].attempts;
  if (!attempts.contains(id.attempt) && attempts.size() >= limits_.attempts_per_task_max) {
    return LimitExceeded("attempts_per_task",
                         fmt::format("{}: this master allows at most {} attempts per task",
                                     ToString(id), limits_.attempts_per_task_max));
  }
  if (!attempts.contains(id.attempt)) {
    if (absl::Status room = CheckRoom(limits_, state_); !room.ok()) return room;
    state_.memory_bytes += kAttemptBytes;
  }
  auto& attempt = attempts[id.attempt];
  if (attempt.life.is_running()) {
    state_.report_gaps.Observe(event_.arrived_at - attempt.life.last_heard_at);
  }
  attempt.life.last_heard_at = event_.arrived_at;
  return &attempt;
}

absl::StatusOr<MapAttempt*> Folder::FindMapAttempt(const AttemptId& id) {
  return FindAttempt(id, state_.opened->map_task_count, limits_.map_tasks_max, state_.map_tasks);
}

absl::StatusOr<ReduceAttempt*> Folder::FindReduceAttempt(const AttemptId& id) {
  return FindAttempt(id, state_.opened->reduce_task_count, limits_.reduce_tasks_max,
                     state_.reduce_tasks);
}

void Folder::Enter(const AttemptChanged& changed, AttemptLife& life) {
  if (!life.Enter(changed.state, ToMasterClock(changed.at))) ++state_.anomalies;
  const auto keep = [this](std::string& text, const std::string& said) {
    if (!text.empty() || !CheckRoom(limits_, state_).ok()) return;
    text = said;
    state_.memory_bytes += said.size();
  };
  keep(life.host, changed.host);
  keep(life.input_name, changed.input_name);
  life.speculative |= changed.speculative;
  if (!life.input_bytes) life.input_bytes = changed.input_bytes;
}

template <typename Task>
std::uint32_t RunningCount(const std::vector<Task>& tasks) {
  return static_cast<std::uint32_t>(std::count_if(
      tasks.begin(), tasks.end(), [](const Task& task) { return task.is_running(); }));
}

absl::Status Folder::operator()(const AttemptChanged& changed) {
  // The most tasks seen at once stands in for the number of slots while nobody says it; counting is
  // only worth its cost then.
  if (changed.attempt.kind == TaskKind::kReduce) {
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
    if (changed.state == AttemptState::kStarted && !state_.opened->reduce_slots) {
      state_.reduce_tasks_running_max =
          std::max(state_.reduce_tasks_running_max, RunningCount(state_.reduce_tasks));
    }
    return absl::OkStatus();
  }
  const auto attempt = FindMapAttempt(changed.attempt);
  if (!attempt.ok()) return attempt.status();
  MapTask& task = state_.map_tasks[changed.attempt.index];
  Enter(changed, (*attempt)->life);
  if (!task.input_bytes) task.input_bytes = changed.input_bytes;
  if ((*attempt)->life.has_ended() && !(*attempt)->life.is_finished()) DropProfile(**attempt);
  if (changed.state == AttemptState::kStarted && !state_.opened->map_slots) {
    state_.map_tasks_running_max =
        std::max(state_.map_tasks_running_max, RunningCount(state_.map_tasks));
  }
  SettleProfile(task);
  return absl::OkStatus();
}

absl::Status Folder::operator()(const TaskHeartbeat& heartbeat) {
  if (heartbeat.attempt.kind == TaskKind::kReduce) {
    const auto attempt = FindReduceAttempt(heartbeat.attempt);
    if (!attempt.ok()) return attempt.status();
    if (heartbeat.bytes_done < (*attempt)->fetched_bytes) ++state_.anomalies;
    (*attempt)->fetched_bytes = std::max((*attempt)->fetched_bytes, heartbeat.bytes_done);
    return absl::OkStatus();
  }
  const auto attempt = FindMapAttempt(heartbeat.attempt);
  if (!attempt.ok()) return attempt.status();
  if (heartbeat.bytes_done < (*attempt)->bytes_done) ++state_.anomalies;
  (*attempt)->bytes_done = std::max((*attempt)->bytes_done, heartbeat.bytes_done);
  return absl::OkStatus();
}

absl::Status Folder::operator()(const MapProfile& profile) {
  if (profile.attempt.kind != TaskKind::kMap) {
    return absl::InvalidArgumentError(
        fmt::format("map profile of {}: not a map task", ToString(profile.attempt)));
  }
  const auto partition_count = state_.opened->partition_count ? state_.opened->partition_count
                                                              : state_.opened->reduce_task_count;
  for (const PartitionProfile& partition : profile.partitions) {
    if (partition.partition >= partition_count.value_or(limits_.reduce_tasks_max)) {
      return absl::InvalidArgumentError(
          fmt::format("map profile of {}: partition {}, but the job has {} partitions",
                      ToString(profile.attempt), partition.partition,
                      partition_count.value_or(limits_.reduce_tasks_max)));
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
  if (profile.attempt.kind != TaskKind::kReduce) {
    return absl::InvalidArgumentError(
        fmt::format("reduce profile of {}: not a reduce task", ToString(profile.attempt)));
  }
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
