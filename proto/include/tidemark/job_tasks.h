// The attempts at tasks of a job, by host, and what was said of its end: for those who draw them.
//
// Plain values, safe to share between threads as long as none of them changes one. Instants are of
// the master's clock, sizes are bytes as agents report them. Lists have limits, so that a job of
// any number of tasks fits into one message; what is left out is counted beside them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tidemark/event.h"
#include "tidemark/job.h"

namespace tidemark {

// An attempt at a task that has begun.
struct TaskProgress {
  // Which task, and which attempt at it.
  AttemptId attempt;
  AttemptState state = AttemptState::kStarted;
  // Empty: not told.
  std::string host;
  // Empty: not known.
  std::optional<absl::Time> started_at;
  // Empty: it runs, or not known.
  std::optional<absl::Time> ended_at;
  // Of one that runs; empty: not known. The bounds hold where the forecast's own assumptions do.
  std::optional<Range> remaining;
  // It repeats one that runs, in case that is a straggler.
  bool is_speculative = false;
  // Why it failed or was killed; empty: it did not, or it was not said.
  std::string failure;
  friend bool operator==(const TaskProgress&, const TaskProgress&) = default;
};

// What a host does for a job.
struct HostTasks {
  // Empty: not told.
  std::string host;
  // Attempts that run now.
  std::size_t running = 0;
  // Attempts that have succeeded.
  std::size_t finished = 0;
  // Or killed, or what they wrote was lost.
  std::size_t failed = 0;
  // Attempts that ran at once, on average, in equal parts of the time from the first start on.
  std::vector<double> busy;
  friend bool operator==(const HostTasks&, const HostTasks&) = default;
};

// A key group that makes a task long.
struct HeavyGroup {
  // The leading one at its task.
  AttemptId attempt;
  // Of its records, as far as map tasks or the reduce task have told.
  std::uint64_t size_bytes = 0;
  // That its reduce function is expected to take.
  absl::Duration time;
  // Of what is left of the task. 0..1.
  double share = 0;
  // The task is inside of it; else it waits.
  bool is_running = false;
  friend bool operator==(const HeavyGroup&, const HeavyGroup&) = default;
};

// The tasks of a job at one instant.
struct JobTasks {
  // When it was so.
  absl::Time at;
  // The first start; empty: none is known.
  std::optional<absl::Time> began_at;
  // By name.
  std::vector<HostTasks> hosts;
  // Hosts beyond the limit, the least busy ones.
  std::size_t hosts_left_out = 0;
  // By host and start.
  std::vector<TaskProgress> tasks;
  // Attempts beyond TaskQuery::tasks_max.
  std::size_t tasks_left_out = 0;
  // The longest first.
  std::vector<HeavyGroup> heavy_groups;
};

// Which of them.
struct TaskQuery {
  // On this one only.
  std::optional<std::string> host;
  // At most so many, those that began last; of more without `host`, none.
  std::size_t tasks_max = 500;
};

// What was said of the end of a job at one instant.
struct PastForecast {
  // When it was said.
  absl::Time at;
  // Empty: too early to tell.
  std::optional<absl::Time> ends_at;
  // The 90 % interval around it; empty without one.
  std::optional<absl::Time> ends_at_lower;
  std::optional<absl::Time> ends_at_upper;
  // The part of its time that had passed by then, if it ended so, or at a bound. 0..1
  double fraction_done = 0;
  double fraction_done_lower = 0;
  double fraction_done_upper = 0;
  friend bool operator==(const PastForecast&, const PastForecast&) = default;
};

}  // namespace tidemark
