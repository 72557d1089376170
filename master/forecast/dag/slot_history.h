// The history of the slots of a cluster: which tasks they ran, in the order of their starts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "master/forecast/placement/placing.h"

namespace tidemark::workflow {

// Tracks how warm the slots of executors are. The first tasks of an executor, as many as it has
// slots, are the first on their slots. The same applies to the first tasks of each stage. For an
// executor with a single slot, the last stage that ran on it is known. Not thread-safe. Memory:
// O(executors x stages that are not forgotten).
class SlotHistory {
 public:
  // Continues `before`, which stays unchanged and outlives this object. A null `before` means slots
  // that have run no task.
  explicit SlotHistory(const SlotHistory* before = nullptr) : before_(before) {
    if (before_ != nullptr) fresh_tasks_ = before_->fresh_tasks_;
  }

  // Adds a task of `stage` that starts on `executor`, which has `slots` slots, at least one.
  // Returns kFresh, kFirst or kRest. O(1).
  schedule::Warmth Start(std::size_t executor, std::uint64_t slots, std::uint32_t stage);
  // Discards the counts of a stage that starts no more tasks. O(1).
  void Forget(std::uint32_t stage) { of_stages_.erase(stage); }
  // Returns the number of tasks that were the first on their slots.
  std::uint64_t fresh_tasks() const { return fresh_tasks_; }

 private:
  struct OfExecutor {
    std::uint64_t tasks = 0;
    std::uint32_t last_stage = 0;
  };
  using TasksByExecutor = absl::flat_hash_map<std::size_t, std::uint64_t>;

  OfExecutor& Executor(std::size_t executor, std::uint32_t stage);
  std::uint64_t& TasksOf(std::uint32_t stage, std::size_t executor);

  const SlotHistory* before_;
  absl::flat_hash_map<std::size_t, OfExecutor> executors_;
  absl::flat_hash_map<std::uint32_t, TasksByExecutor> of_stages_;
  std::uint64_t fresh_tasks_ = 0;
};

// Counts the most tasks that ran at once. Tasks are added in the order of their starts. A task of
// no duration does not count. Not thread-safe. Memory: O(tasks that run at once).
class RunningTaskCount {
 public:
  // `end`: empty while the task runs. O(log tasks that run at once).
  void Add(absl::Time start, std::optional<absl::Time> end);
  std::uint64_t most() const { return most_; }

 private:
  std::priority_queue<absl::Time, std::vector<absl::Time>, std::greater<>> ends_;
  std::uint64_t most_ = 0;
};

}  // namespace tidemark::workflow
