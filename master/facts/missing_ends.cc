#include "master/facts/missing_ends.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace tidemark::model {
namespace {

// How long an executor has more running attempts than slots before one of them has ended without a
// report. Chosen by hand; fetching results takes seconds at most.
constexpr absl::Duration kLateReport = absl::Seconds(10);

bool IsLost(const Task& task) {
  if (task.is_finished() || task.is_running()) return false;
  return std::ranges::any_of(task.attempts, [](const auto& entry) {
    return entry.second.life.state() == AttemptState::kLost;
  });
}

}  // namespace

std::uint64_t UnreportedTasks(const Stage& stage) {
  if (!stage.closed || stage.closed->attempt > 0 || stage.tasks.empty()) return 0;
  const JobOutcome outcome = stage.closed->outcome;
  if (outcome != JobOutcome::kSucceeded && outcome != JobOutcome::kUnknown) return 0;
  const std::uint64_t tasks = stage.opened.task_count.value_or(0);
  return tasks - std::min<std::uint64_t>(stage.finished_tasks, tasks);
}

std::uint64_t MissingTaskEnds(const JobRecord& state) {
  std::uint64_t missing = 0;
  for (const auto& [number, stage] : state.stages) {
    missing += stage.closed
                   ? UnreportedTasks(stage)
                   : static_cast<std::uint64_t>(std::ranges::count_if(stage.tasks, IsLost));
  }
  return missing;
}

BeyondSlots FindBeyondSlots(const JobRecord& state, absl::Time now) {
  using Running = std::pair<absl::Time, const TaskAttempt*>;
  absl::flat_hash_map<std::uint32_t, std::vector<Running>> by_executor;
  for (std::uint32_t i = 0; i < state.executors.size(); ++i) {
    const auto& over_since = state.executors[i].over_since;
    if (over_since && now - *over_since >= kLateReport) by_executor[i];
  }
  BeyondSlots beyond;
  if (by_executor.empty()) return beyond;
  for (const auto& [number, stage] : state.stages) {
    if (stage.closed) continue;
    for (const Task& task : stage.tasks) {
      for (const auto& [id, attempt] : task.attempts) {
        const auto found =
            attempt.is_counted ? by_executor.find(*attempt.executor) : by_executor.end();
        if (found == by_executor.end() || now - attempt.proven_at < kLateReport) continue;
        found->second.emplace_back(attempt.life.started_at().value_or(absl::InfinitePast()),
                                   &attempt);
      }
    }
  }
  for (auto& [executor, running] : by_executor) {
    const Executor& on = state.executors[executor];
    const auto by_start = [](const Running& a, const Running& b) { return a.first < b.first; };
    std::ranges::stable_sort(running, by_start);
    const std::size_t over = on.running - on.opened.slots;
    for (std::size_t i = 0; i < std::min(over, running.size()); ++i) {
      beyond.attempts.insert(running[i].second);
    }
  }
  return beyond;
}

bool MayHaveEnded(const JobRecord& state, const TaskAttempt& attempt, absl::Time now) {
  if (attempt.proven_at <= state.last_gap_at) return true;
  if (!attempt.executor) return false;
  const Executor& on = state.executors[*attempt.executor];
  const bool is_over = on.over_since && now - *on.over_since >= Executor::kOverlap;
  return attempt.proven_at <= (is_over ? now : on.over_until);
}

}  // namespace tidemark::model
