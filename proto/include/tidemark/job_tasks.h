// The task attempts of a job by host, and its past forecasts, for displays.
//
// Plain values, safe to share between threads when const. Times are by the master's clock. Sizes
// are bytes as agents report them. Lists have limits, so that a job of any number of tasks fits
// into one message. A field after each list has the number of omitted items.
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

// An attempt that has begun.
struct TaskProgress {
  // Task and attempt number.
  AttemptId attempt;
  AttemptState state = AttemptState::kStarted;
  // Empty if unknown.
  std::string host;
  // Unset if unknown.
  std::optional<absl::Time> started_at;
  // Unset while the attempt runs or if its end is unknown.
  std::optional<absl::Time> ended_at;
  // Remaining time of a running attempt. Unset if unknown. The bounds assume that the assumptions
  // of the forecast hold.
  std::optional<Range> remaining;
  // True for a speculative copy of a running attempt.
  bool is_speculative = false;
  // Why it failed or was killed. Empty if no reason was reported.
  std::string failure;
  friend bool operator==(const TaskProgress&, const TaskProgress&) = default;
};

// The work of one host for a job.
struct HostTasks {
  // Empty if unknown.
  std::string host;
  // Running attempts.
  std::size_t running = 0;
  // Successful attempts.
  std::size_t finished = 0;
  // Failed and killed attempts, and successful ones whose output was lost.
  std::size_t failed = 0;
  // Mean number of running attempts in each of equal parts of the time since the first start.
  std::vector<double> busy;
  friend bool operator==(const HostTasks&, const HostTasks&) = default;
};

// A key group that makes a task long.
struct HeavyGroup {
  // The leading attempt at its task.
  AttemptId attempt;
  // Size of its records, as far as map tasks or the reduce task reported it.
  std::uint64_t size_bytes = 0;
  // Estimated time of its reduce call.
  absl::Duration time;
  // Its fraction of the task's remaining time, 0..1.
  double share = 0;
  // True while its reduce call runs, false before it.
  bool is_running = false;
  friend bool operator==(const HeavyGroup&, const HeavyGroup&) = default;
};

// The tasks of a job at one instant.
struct JobTasks {
  // Time of this listing, by the master's clock.
  absl::Time at;
  // Time of the first start. Unset if unknown.
  std::optional<absl::Time> began_at;
  // Sorted by name.
  std::vector<HostTasks> hosts;
  // Number of omitted hosts. The least busy ones are omitted.
  std::size_t hosts_left_out = 0;
  // Sorted by host and start.
  std::vector<TaskProgress> tasks;
  // Number of attempts beyond TaskQuery::tasks_max.
  std::size_t tasks_left_out = 0;
  // The longest first.
  std::vector<HeavyGroup> heavy_groups;
};

// Selects tasks.
struct TaskQuery {
  // Only tasks on this host.
  std::optional<std::string> host;
  // Limit of attempts. The attempts that began last are kept. If the job has more attempts and
  // `host` is unset, none are listed.
  std::size_t tasks_max = 500;
};

// A forecast of a job's end, as published at one instant.
struct PastForecast {
  // Time of publication.
  absl::Time at;
  // Unset if there was not enough evidence.
  std::optional<absl::Time> ends_at;
  // Bounds of its 90 % interval. Unset if there is no forecast.
  std::optional<absl::Time> ends_at_lower;
  std::optional<absl::Time> ends_at_upper;
  // Fraction of the job's time that had passed, 0..1, if the job ended at the predicted end or at
  // a bound.
  double fraction_done = 0;
  double fraction_done_lower = 0;
  double fraction_done_upper = 0;
  friend bool operator==(const PastForecast&, const PastForecast&) = default;
};

}  // namespace tidemark
