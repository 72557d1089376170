// The history of a cluster's slots: the tasks that ran on them, in the order of their starts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "master/forecast/placement/placing.h"

namespace tidemark::dag {

// Tracks how warm the slots of executors are. The first n tasks of an executor with n slots are the
// first on their slots. The first n tasks of a stage on that executor are its first on their slots.
// If an executor has only one slot, the last stage on that slot is known. Not thread-safe. Memory:
// O(executors x stages with counts).
class SlotHistory {
 public:
  // Continues the history in `before`, which stays unchanged and must outlive this object. If
  // `before` is null, the slots have run no task.
  explicit SlotHistory(const SlotHistory* before = nullptr) : before_(before) {
    if (before_ != nullptr) fresh_tasks_ = before_->fresh_tasks_;
  }

  // Adds a task of `stage` that starts on `executor`, which has at least one slot. Returns kFresh,
  // kFirst or kRest. O(1).
  placement::Warmth Start(std::size_t executor, std::uint64_t slots, std::uint32_t stage);
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

// Finds the largest number of tasks that ran at the same time. Tasks are added in the order of
// their starts. Tasks of zero duration do not count. Not thread-safe. Memory: O(concurrent tasks).
class RunningTaskCount {
 public:
  // Adds a task. `end` is empty while the task runs. O(log concurrent tasks).
  void Add(absl::Time start, std::optional<absl::Time> end);
  std::uint64_t most() const { return most_; }

 private:
  std::priority_queue<absl::Time, std::vector<absl::Time>, std::greater<>> ends_;
  std::uint64_t most_ = 0;
};

inline SlotHistory::OfExecutor& SlotHistory::Executor(std::size_t executor, std::uint32_t stage) {
  const auto [known, is_new] = executors_.try_emplace(executor, OfExecutor{.last_stage = stage});
  if (is_new && before_ != nullptr) {
    const auto then = before_->executors_.find(executor);
    if (then != before_->executors_.end()) known->second = then->second;
  }
  return known->second;
}

inline std::uint64_t& SlotHistory::TasksOf(std::uint32_t stage, std::size_t executor) {
  const auto [known, is_new] = of_stages_[stage].try_emplace(executor);
  if (is_new && before_ != nullptr) {
    const auto then = before_->of_stages_.find(stage);
    if (then != before_->of_stages_.end()) {
      const auto tasks = then->second.find(executor);
      if (tasks != then->second.end()) known->second = tasks->second;
    }
  }
  return known->second;
}

inline placement::Warmth SlotHistory::Start(std::size_t executor, std::uint64_t slots,
                                            std::uint32_t stage) {
  OfExecutor& on = Executor(executor, stage);
  const bool has_changed = slots == 1 && on.last_stage != stage;
  on.last_stage = stage;
  const bool is_first = TasksOf(stage, executor)++ < slots || has_changed;
  const bool is_fresh = on.tasks++ < slots;
  if (!is_first) return placement::Warmth::kRest;
  fresh_tasks_ += is_fresh ? 1 : 0;
  return is_fresh ? placement::Warmth::kFresh : placement::Warmth::kFirst;
}

inline void RunningTaskCount::Add(absl::Time start, std::optional<absl::Time> end) {
  if (end && *end <= start) return;
  while (!ends_.empty() && ends_.top() <= start) ends_.pop();
  ends_.push(end.value_or(absl::InfiniteFuture()));
  most_ = std::max<std::uint64_t>(most_, ends_.size());
}

}  // namespace tidemark::dag
