#include "cli/hadoop/task_facts.h"

#include <algorithm>
#include <optional>
#include <string>

namespace tidemark::cli {
namespace {

// A reduce attempt's progress: a third each for fetching, sorting and reducing.
constexpr double kReduceFrom = 2.0 / 3;

AttemptState StateOf(const RestAttempt& attempt) {
  switch (attempt.state) {
    case RestState::kRunning:
      return attempt.sorted_at ? AttemptState::kShuffled : AttemptState::kStarted;
    case RestState::kSucceeded:
      return AttemptState::kFinished;
    case RestState::kFailed:
      return AttemptState::kFailed;
    case RestState::kKilled:
      return AttemptState::kKilled;
    case RestState::kWaiting:
      break;
  }
  return AttemptState::kQueued;
}

std::optional<absl::Time> InstantOf(const RestAttempt& attempt, AttemptState state) {
  switch (state) {
    case AttemptState::kQueued:
      return std::nullopt;
    case AttemptState::kStarted:
      return attempt.started_at;
    case AttemptState::kShuffled:
      return attempt.sorted_at;
    default:
      return attempt.finished_at;
  }
}

std::uint64_t Units(double fraction) {
  return static_cast<std::uint64_t>(std::clamp(fraction, 0.0, 1.0) *
                                    static_cast<double>(kTaskUnits));
}

// How much of its reduce function an attempt has done, and how long that took.
ReduceProfile ReduceWorkOf(const RestAttempt& attempt, absl::Time now) {
  const bool is_over = attempt.state == RestState::kSucceeded;
  const absl::Time until = is_over ? attempt.finished_at.value_or(now) : now;
  ReduceProfile profile;
  profile.attempt = attempt.id;
  profile.bytes_done =
      is_over ? kTaskUnits : Units((attempt.fraction_done - kReduceFrom) / (1 - kReduceFrom));
  profile.last_group_finished_at = until;
  profile.reduce_time = std::max(until - *attempt.sorted_at, absl::ZeroDuration());
  return profile;
}

bool IsGivenUp(const RestTask& task) {
  return task.state == RestState::kFailed || task.state == RestState::kKilled;
}

EventBody WorkOf(const RestAttempt& attempt, absl::Time now) {
  if (attempt.sorted_at) return ReduceWorkOf(attempt, now);
  const bool is_map = attempt.id.stage == kMapStage;
  TaskHeartbeat heartbeat;
  heartbeat.attempt = attempt.id;
  heartbeat.bytes_done = Units(attempt.fraction_done / (is_map ? 1 : kReduceFrom));
  return heartbeat;
}

}  // namespace

std::vector<EventBody> TaskFacts::Opening(const RestJob& job) {
  JobOpened opened;
  opened.name = job.name;
  opened.engine = "hadoop";
  opened.submitted_at = job.started_at;
  opened.stages = MapReduceStages(job.map_tasks, job.reduce_tasks);
  std::vector<EventBody> events = {opened};
  const auto announce = [&](std::uint32_t stage, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      AttemptChanged waits;
      waits.attempt = {.stage = stage, .index = i};
      waits.input_bytes = kTaskUnits;
      events.emplace_back(waits);
    }
  };
  announce(kMapStage, job.map_tasks);
  announce(kReduceStage, job.reduce_tasks);
  return events;
}

// The REST interface tells of nodes, not of containers: all attempts on a node are in one executor.
std::uint32_t TaskFacts::ExecutorAt(const std::string& host, std::vector<EventBody>& events) {
  const auto number = static_cast<std::uint32_t>(executors_.size());
  const auto [known, is_new] = executors_.try_emplace(host, number);
  if (is_new) events.emplace_back(ExecutorOpened{.executor = number, .host = host});
  return known->second;
}

void TaskFacts::Enter(const RestAttempt& attempt, AttemptState state,
                      std::vector<EventBody>& events) {
  const auto before = told_.find(attempt.id);
  for (const AttemptState passed :
       {AttemptState::kStarted, AttemptState::kShuffled, AttemptState::kFinished,
        AttemptState::kFailed, AttemptState::kKilled}) {
    const bool is_known = InstantOf(attempt, passed).has_value();
    const bool is_on_the_way = passed < AttemptState::kFinished && passed < state && is_known;
    if (passed != state && !is_on_the_way) continue;
    if (before != told_.end() && passed <= before->second) continue;
    AttemptChanged changed;
    changed.attempt = attempt.id;
    changed.state = passed;
    changed.at = InstantOf(attempt, passed);
    if (!attempt.host.empty()) changed.executor = ExecutorAt(attempt.host, events);
    changed.input_bytes = kTaskUnits;
    if (passed == AttemptState::kFailed || passed == AttemptState::kKilled) {
      changed.failure = attempt.diagnostics;
    }
    events.emplace_back(changed);
  }
  AttemptState& told = told_.try_emplace(attempt.id, state).first->second;
  told = std::max(told, state);
}

std::vector<EventBody> TaskFacts::Observe(const RestAttempt& attempt, absl::Time now) {
  std::vector<EventBody> events;
  const AttemptState state = StateOf(attempt);
  if (state == AttemptState::kQueued) return events;
  // A new application master may run a task again that an earlier one has given up.
  if (attempt.state == RestState::kRunning) given_up_.erase({attempt.id.stage, attempt.id.index});
  const auto before = told_.find(attempt.id);
  if (before != told_.end() && before->second >= AttemptState::kFinished) {
    if (before->second == AttemptState::kFinished && state != AttemptState::kFinished) {
      AttemptChanged lost{.attempt = attempt.id, .state = AttemptState::kObsolete};
      lost.failure = attempt.diagnostics;
      events.emplace_back(lost);
      before->second = AttemptState::kObsolete;
    }
    return events;
  }
  if (state > AttemptState::kFinished) {
    Enter(attempt, state, events);
  } else if (state < AttemptState::kFinished) {
    Enter(attempt, state, events);
    events.push_back(WorkOf(attempt, now));
  } else {
    // What a reduce task has done counts only as long as it has not ended.
    const bool reduces = attempt.id.stage == kReduceStage && attempt.sorted_at;
    if (reduces) {
      Enter(attempt, AttemptState::kShuffled, events);
      events.push_back(WorkOf(attempt, now));
    }
    Enter(attempt, state, events);
  }
  return events;
}

std::vector<EventBody> TaskFacts::ObserveEnd(const RestTask& task) {
  std::vector<EventBody> events;
  if (task.state == RestState::kSucceeded) {
    if (!HasEnded(task)) {
      RestAttempt attempt;
      attempt.id = {task.stage, task.index, task.successful_attempt};
      attempt.state = RestState::kSucceeded;
      attempt.started_at = task.started_at;
      attempt.finished_at = task.finished_at;
      Enter(attempt, AttemptState::kFinished, events);
    }
    EndAttempts(task, AttemptState::kKilled, events);
  } else if (IsGivenUp(task) && !HasEnded(task)) {
    const AttemptState end =
        task.state == RestState::kFailed ? AttemptState::kFailed : AttemptState::kKilled;
    const std::optional<AttemptId> last = EndAttempts(task, end, events);
    AttemptChanged changed;
    changed.attempt = last.value_or(AttemptId{task.stage, task.index});
    changed.state = last ? told_.at(*last) : end;
    changed.at = task.finished_at;
    changed.task_failed = true;
    events.emplace_back(changed);
    given_up_.emplace(task.stage, task.index);
  }
  return events;
}

std::optional<AttemptId> TaskFacts::EndAttempts(const RestTask& task, AttemptState state,
                                                std::vector<EventBody>& events) {
  std::optional<AttemptId> last;
  for (auto told = told_.lower_bound({task.stage, task.index}); told != told_.end(); ++told) {
    if (told->first.stage != task.stage || told->first.index != task.index) break;
    last = told->first;
    if (told->second >= AttemptState::kFinished) continue;
    told->second = state;
    events.emplace_back(
        AttemptChanged{.attempt = told->first, .state = state, .at = task.finished_at});
  }
  return last;
}

bool TaskFacts::HasEnded(const RestTask& task) const {
  if (IsGivenUp(task)) return given_up_.contains({task.stage, task.index});
  const auto told = told_.find({task.stage, task.index, task.successful_attempt});
  return told != told_.end() && told->second == AttemptState::kFinished;
}

JobClosed TaskFacts::Closing(JobOutcome outcome, const std::string& diagnostics,
                             std::optional<absl::Time> at) {
  JobClosed closed;
  closed.outcome = outcome;
  if (outcome != JobOutcome::kSucceeded) closed.message = diagnostics;
  closed.at = at;
  return closed;
}

}  // namespace tidemark::cli
