#include "examples/local_mapreduce/application_master.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/time/clock.h"
#include "examples/local_mapreduce/file_io.h"
#include "examples/local_mapreduce/worker.h"
#include "fmt/format.h"

namespace tidemark::examples {
namespace {

constexpr std::uint32_t kAttemptsMax = 4;  // as in Hadoop
// The maximum delay before a request to stop takes effect.
constexpr absl::Duration kPollInterval = absl::Milliseconds(50);

// Returns the time that the end of an attempt may wait for its last events to reach the master. It
// depends on the time since the master responded. It is long for a busy master, short for a master
// that may have returned, and otherwise zero. The waits of a job with many tasks therefore do not
// add up.
absl::Duration ReportBudgetAfter(absl::Duration unanswered_for) {
  if (unanswered_for < absl::Milliseconds(500)) return absl::Milliseconds(200);
  if (unanswered_for < absl::Seconds(1)) return absl::Milliseconds(70);
  return absl::ZeroDuration();
}

// All tasks run on this host.
constexpr std::uint32_t kThisHost = 0;

std::string HostName() {
  char name[256] = {};
  return ::gethostname(name, sizeof(name) - 1) == 0 ? name : "localhost";
}

void RemoveTree(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

}  // namespace

ApplicationMaster::ApplicationMaster(const JobPlan& plan, const Dependencies& dependencies)
    : plan_(plan),
      dependencies_(dependencies),
      map_results_(plan.splits.size()),
      reduce_results_(plan.reduce_task_count) {
  dependencies_.agent.OpenExecutor({.executor = kThisHost,
                                    .host = HostName(),
                                    .slots = static_cast<std::uint32_t>(dependencies_.slots)});
}

absl::Status ApplicationMaster::Run() {
  std::vector<std::uint64_t> split_bytes;
  for (const Split& split : plan_.splits) split_bytes.push_back(split.size_bytes());
  if (absl::Status maps = RunTasks(kMapStage, split_bytes); !maps.ok()) return maps;

  std::vector<std::uint64_t> partition_bytes(plan_.reduce_task_count);
  for (const TaskResult& result : map_results_) {
    for (std::uint32_t i = 0; i < plan_.reduce_task_count; ++i) {
      partition_bytes[i] += result.segments[i].record_bytes;
    }
  }
  return RunTasks(kReduceStage, partition_bytes);
}

absl::Status ApplicationMaster::RunTasks(std::uint32_t stage,
                                         const std::vector<std::uint64_t>& input_bytes) {
  input_bytes_ = input_bytes;
  std::vector<AttemptId> waiting;  // in reverse order: the next task is the last element
  for (auto i = static_cast<std::uint32_t>(input_bytes.size()); i-- > 0;) {
    waiting.push_back({.stage = stage, .index = i});
  }
  for (auto id = waiting.rbegin(); id != waiting.rend(); ++id) Report(*id, AttemptState::kQueued);

  absl::Status status;
  while (status.ok() && !(waiting.empty() && running_.empty())) {
    while (status.ok() && !waiting.empty() && TakeSlot(waiting.size())) {
      const AttemptId next = waiting.back();
      waiting.pop_back();
      status = Launch(next);
      if (!status.ok()) GiveSlot();
    }
    std::vector<const WorkerProcess*> processes;
    for (const RunningAttempt& attempt : running_) processes.push_back(&attempt.process);
    WorkerProcess::WaitForAny(processes, kPollInterval);
    if (Stopped()) status = absl::CancelledError("the job was stopped");
    if (status.ok()) status = TakeEnded(waiting);
  }
  KillAll();
  return status;
}

bool ApplicationMaster::TakeSlot(std::size_t waiting) {
  if (running_.size() >= dependencies_.slots) return false;
  if (dependencies_.shared_slots == nullptr) return true;
  dependencies_.shared_slots->SetWaiting(waiting);
  return dependencies_.shared_slots->TryTake();
}

void ApplicationMaster::GiveSlot() {
  if (dependencies_.shared_slots != nullptr) dependencies_.shared_slots->Give();
}

absl::Status ApplicationMaster::Launch(const AttemptId& attempt) {
  const std::string directory = plan_.attempt_directory(attempt);
  if (absl::Status made = MakeDirectories(directory); !made.ok()) return made;
  std::vector<std::string> command = dependencies_.worker_command;
  for (std::string& argument : WorkerArguments(
           plan_, attempt, ReportBudgetAfter(dependencies_.agent.stats().unanswered_for))) {
    command.push_back(std::move(argument));
  }
  absl::StatusOr<WorkerProcess> process =
      WorkerProcess::Start(command, PathOf(directory, kStderrName));
  if (!process.ok()) return process.status();
  Report(attempt, AttemptState::kStarted);
  running_.push_back({.id = attempt, .process = *std::move(process)});
  return absl::OkStatus();
}

// Reaps the attempts that have ended. Failed attempts return to `waiting`.
absl::Status ApplicationMaster::TakeEnded(std::vector<AttemptId>& waiting) {
  for (auto attempt = running_.begin(); attempt != running_.end();) {
    if (!attempt->process.HasEnded()) {
      ++attempt;
      continue;
    }
    const AttemptId id = attempt->id;
    absl::Status done = attempt->process.Reap();
    attempt = running_.erase(attempt);
    GiveSlot();
    if (done.ok()) done = Commit(id);
    if (done.ok()) {
      Report(id, AttemptState::kFinished);
    } else if (done = Retry(id, done, waiting); !done.ok()) {
      return done;
    }
  }
  return absl::OkStatus();
}

absl::Status ApplicationMaster::Commit(const AttemptId& attempt) {
  const std::string directory = plan_.attempt_directory(attempt);
  absl::StatusOr<TaskResult> result = ReadResult(PathOf(directory, kResultName));
  if (!result.ok()) return result.status();
  const bool is_map = attempt.stage == kMapStage;
  if (is_map && result->segments.size() != plan_.reduce_task_count) {
    return absl::DataLossError(fmt::format("{} contains the result of a different run", directory));
  }
  if (is_map || plan_.output != OutputKind::kCount) {
    absl::Status moved =
        Rename(PathOf(directory, kOutputName),
               is_map ? plan_.map_output(attempt.index) : plan_.part(attempt.index));
    if (moved.ok() && is_map) {
      moved = Rename(PathOf(directory, kResultName), plan_.map_result(attempt.index));
    }
    if (!moved.ok()) return moved;
  }
  RemoveTree(directory);
  (is_map ? map_results_ : reduce_results_)[attempt.index] = *std::move(result);
  return absl::OkStatus();
}

absl::Status ApplicationMaster::Retry(const AttemptId& failed, const absl::Status& failure,
                                      std::vector<AttemptId>& waiting) {
  const std::string message(failure.message());
  ++failed_attempts_;
  Report(failed, AttemptState::kFailed, message);
  RemoveTree(plan_.attempt_directory(failed));
  AttemptId next = failed;
  const char* const kind = failed.stage == kMapStage ? "map" : "reduce";
  if (++next.attempt == kAttemptsMax) {
    return absl::AbortedError(fmt::format("{} task {} failed {} times, the last time: {}", kind,
                                          failed.index, kAttemptsMax, message));
  }
  if (dependencies_.on_notice) {
    dependencies_.on_notice(fmt::format("{} task {} failed and will be retried ({} of {}): {}",
                                        kind, failed.index, next.attempt + 1, kAttemptsMax,
                                        message));
  }
  Report(next, AttemptState::kQueued);
  waiting.push_back(next);
  return absl::OkStatus();
}

void ApplicationMaster::KillAll() {
  for (const RunningAttempt& attempt : running_) {
    Report(attempt.id, AttemptState::kKilled);
    GiveSlot();
  }
  running_.clear();
}

// Returns the name of a map attempt's input, or an empty name if the job has only one input.
std::string ApplicationMaster::InputName(const AttemptId& attempt) const {
  if (attempt.stage != kMapStage || plan_.inputs.size() < 2) return {};
  return plan_.inputs[plan_.splits[attempt.index].input].name;
}

void ApplicationMaster::Report(const AttemptId& attempt, AttemptState state, std::string failure) {
  dependencies_.agent.Changed({.attempt = attempt,
                               .state = state,
                               .at = absl::Now(),
                               .executor = kThisHost,
                               .input_bytes = input_bytes_[attempt.index],
                               .input_name = InputName(attempt),
                               .failure = std::move(failure)});
}

}  // namespace tidemark::examples
