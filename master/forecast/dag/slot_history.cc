#include "master/forecast/dag/slot_history.h"

#include <algorithm>

namespace tidemark::workflow {

using schedule::Warmth;

SlotHistory::OfExecutor& SlotHistory::Executor(std::size_t executor, std::uint32_t stage) {
  const auto [known, is_new] = executors_.try_emplace(executor, OfExecutor{.last_stage = stage});
  if (is_new && before_ != nullptr) {
    const auto then = before_->executors_.find(executor);
    if (then != before_->executors_.end()) known->second = then->second;
  }
  return known->second;
}

std::uint64_t& SlotHistory::TasksOf(std::uint32_t stage, std::size_t executor) {
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

Warmth SlotHistory::Start(std::size_t executor, std::uint64_t slots, std::uint32_t stage) {
  OfExecutor& on = Executor(executor, stage);
  const bool has_changed = slots == 1 && on.last_stage != stage;
  on.last_stage = stage;
  const bool is_first = TasksOf(stage, executor)++ < slots || has_changed;
  const bool is_fresh = on.tasks++ < slots;
  if (!is_first) return Warmth::kRest;
  fresh_tasks_ += is_fresh ? 1 : 0;
  return is_fresh ? Warmth::kFresh : Warmth::kFirst;
}

void RunningTaskCount::Add(absl::Time start, std::optional<absl::Time> end) {
  if (end && *end <= start) return;
  while (!ends_.empty() && ends_.top() <= start) ends_.pop();
  ends_.push(end.value_or(absl::InfiniteFuture()));
  most_ = std::max<std::uint64_t>(most_, ends_.size());
}

}  // namespace tidemark::workflow
