#include "bench/accuracy/oracle.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace tidemark::bench {

Oracle::Oracle(const Workload& workload, const Timeline& timeline, std::vector<Node> nodes)
    : workload_(workload), timeline_(timeline), nodes_(std::move(nodes)) {
  for (std::size_t task = 0; task < workload.task_count(); ++task) {
    const auto expected = workload.ExpectedSecondsOf(task);
    task_work_.push_back(std::accumulate(expected.begin(), expected.end(), 0.0));
  }
  for (const Attempt& attempt : timeline.attempts) {
    progress_.push_back({.work_left = task_work_[attempt.task]});
  }
}

// Returns the end of a running attempt.
double Oracle::PredictAttempt(std::size_t index, double now) {
  const Attempt& attempt = timeline_.attempts[index];
  const auto expected = workload_.ExpectedSecondsOf(attempt.task);
  Progress& progress = progress_[index];
  while (progress.groups_done < expected.size() &&
         attempt.group_ends[progress.groups_done] <= now) {
    progress.work_left -= expected[progress.groups_done++];
  }
  if (progress.groups_done == expected.size()) return now;
  const double group_start =
      progress.groups_done == 0 ? attempt.start : attempt.group_ends[progress.groups_done - 1];
  const double group_work = expected[progress.groups_done];
  // Assumes that the group needs its expected work from its start, and ends now at the earliest.
  const double group_end = std::max(now, nodes_[attempt.slot].Advance(group_start, group_work));
  const double others = std::max(progress.work_left - group_work, 0.0);
  return nodes_[attempt.slot].Advance(group_end, others);
}

double Oracle::PredictEnd(double now) {
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  std::vector<double> task_ends(workload_.task_count(), kUnknown);
  std::vector<double> free_at(nodes_.size(), now);
  for (std::size_t i = 0; i < timeline_.attempts.size(); ++i) {
    const Attempt& attempt = timeline_.attempts[i];
    if (attempt.start > now) continue;
    double end = attempt.end;
    if (attempt.end > now) {
      end = PredictAttempt(i, now);
      free_at[attempt.slot] = std::max(free_at[attempt.slot], end);
    } else if (attempt.outcome != AttemptState::kFinished) {
      continue;
    }
    task_ends[attempt.task] = std::min(task_ends[attempt.task], end);
  }
  for (std::size_t task = 0; task < task_ends.size(); ++task) {
    if (task_ends[task] != kUnknown) continue;
    const auto slot = std::min_element(free_at.begin(), free_at.end());
    Node& node = nodes_[static_cast<std::size_t>(slot - free_at.begin())];
    *slot = task_ends[task] = node.Advance(*slot, task_work_[task]);
  }
  return *std::max_element(task_ends.begin(), task_ends.end());
}

}  // namespace tidemark::bench
