#include "bench/accuracy/timeline.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace tidemark::bench {
namespace {

class Scheduler {
 public:
  Scheduler(const Workload& workload, std::vector<Node>& nodes, const TimelineOptions& options)
      : workload_(workload), nodes_(nodes), options_(options), free_at_(nodes.size(), 0) {}

  Timeline Run() {
    for (std::uint32_t task = 0; task < workload_.task_count(); ++task) RunTask(task);
    if (options_.task_has_twin) AddTwin();
    for (const Attempt& attempt : timeline_.attempts) {
      timeline_.end = std::max(timeline_.end, attempt.end);
    }
    return std::move(timeline_);
  }

 private:
  void RunTask(std::uint32_t task) {
    const auto slot = static_cast<std::uint32_t>(
        std::min_element(free_at_.begin(), free_at_.end()) - free_at_.begin());
    Attempt attempt = Begin(task, 0, slot, free_at_[slot]);
    if (options_.task_fails && task == options_.failing_task) {
      double work = 0;
      for (const float seconds : workload_.SecondsOf(task)) work += seconds;
      attempt.end = nodes_[slot].Advance(attempt.start, work / 2);
      attempt.outcome = AttemptState::kFailed;
      Attempt again = Begin(task, 1, slot, attempt.end);
      timeline_.attempts.push_back(std::move(attempt));
      attempt = std::move(again);
    }
    free_at_[slot] = attempt.end;
    timeline_.attempts.push_back(std::move(attempt));
  }

  // An attempt that runs to its end.
  Attempt Begin(std::uint32_t task, std::uint32_t number, std::uint32_t slot, double start) {
    Attempt attempt = {.task = task, .number = number, .slot = slot, .start = start};
    const std::span<const float> seconds = workload_.SecondsOf(task);
    attempt.group_ends.reserve(seconds.size());
    double now = start;
    for (const float cost : seconds) {
      now = nodes_[slot].Advance(now, cost);
      attempt.group_ends.push_back(now);
    }
    attempt.end = now;
    return attempt;
  }

  void AddTwin() {
    Attempt& last =
        *std::max_element(timeline_.attempts.begin(), timeline_.attempts.end(),
                          [](const Attempt& a, const Attempt& b) { return a.end < b.end; });
    free_at_[last.slot] = std::numeric_limits<double>::infinity();  // on another node
    const auto slot = std::min_element(free_at_.begin(), free_at_.end());
    const double start = std::max(*slot, (last.start + last.end) / 2);
    if (start >= last.end) return;
    Attempt twin = Begin(last.task, last.number + 1,
                         static_cast<std::uint32_t>(slot - free_at_.begin()), start);
    twin.speculative = true;
    Attempt& loser = twin.end < last.end ? last : twin;
    loser.end = std::min(twin.end, last.end);
    loser.outcome = AttemptState::kKilled;
    timeline_.attempts.push_back(std::move(twin));
  }

  const Workload& workload_;
  std::vector<Node>& nodes_;
  const TimelineOptions options_;
  std::vector<double> free_at_;  // by slot
  Timeline timeline_;
};

}  // namespace

Timeline Schedule(const Workload& workload, std::vector<Node>& nodes,
                  const TimelineOptions& options) {
  return Scheduler(workload, nodes, options).Run();
}

}  // namespace tidemark::bench
