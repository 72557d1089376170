// The attempts at tasks of a job, by host, and what was said of its end: for those who draw them.
//
// Plain values. Instants are of the master's clock.
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
  AttemptId attempt;
  AttemptState state = AttemptState::kStarted;
  std::string host;                      // empty: not told
  std::optional<absl::Time> started_at;  // empty: not known
  std::optional<absl::Time> ended_at;    // empty: it runs, or not known
  // Of one that runs; empty: not known. The bounds hold where the forecast's own assumptions do.
  std::optional<Range> remaining;
  bool is_speculative = false;
  std::string failure;  // why it failed or was killed; empty: it did not, or it was not said
  friend bool operator==(const TaskProgress&, const TaskProgress&) = default;
};

// What a host does for a job.
struct HostTasks {
  std::string host;  // empty: not told
  std::size_t running = 0;
  std::size_t finished = 0;
  std::size_t failed = 0;  // or killed, or what they wrote was lost
  // Attempts that ran at once, on average, in equal parts of the time from the first start on.
  std::vector<double> busy;
  friend bool operator==(const HostTasks&, const HostTasks&) = default;
};

// A key group that makes a task long.
struct HeavyGroup {
  AttemptId attempt;  // the leading one at its task
  std::uint64_t size_bytes = 0;
  absl::Duration time;  // that its reduce function is expected to take
  double share = 0;     // of what is left of the task. 0..1
  bool is_running = false;
  friend bool operator==(const HeavyGroup&, const HeavyGroup&) = default;
};

// The tasks of a job at one instant.
struct JobTasks {
  absl::Time at;
  std::optional<absl::Time> began_at;  // the first start; empty: none is known
  std::vector<HostTasks> hosts;        // by name
  std::size_t hosts_left_out = 0;
  std::vector<TaskProgress> tasks;  // by host and start
  std::size_t tasks_left_out = 0;
  std::vector<HeavyGroup> heavy_groups;  // the longest first
};

// Which of them.
struct TaskQuery {
  std::optional<std::string> host;  // on this one only
  // At most so many, those that began last; of more without `host`, none.
  std::size_t tasks_max = 500;
};

// What was said of the end of a job at one instant.
struct PastForecast {
  absl::Time at;
  std::optional<absl::Time> ends_at;  // empty: too early to tell
  std::optional<absl::Time> ends_at_lower;
  std::optional<absl::Time> ends_at_upper;
  // The part of its time that had passed by then, if it ended so, or at a bound. 0..1
  double fraction_done = 0;
  double fraction_done_lower = 0;
  double fraction_done_upper = 0;
  friend bool operator==(const PastForecast&, const PastForecast&) = default;
};

}  // namespace tidemark
