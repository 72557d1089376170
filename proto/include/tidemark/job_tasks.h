// The task attempts of a job by host, and past forecasts of the job, for displays.
//
// Plain values, safe to share between threads when const. Times are by the master's clock. Sizes
// are in bytes as reported by agents. Lists have limits, so a job with any number of tasks fits
// into one message. A field after each list contains the number of omitted items.
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
  // Remaining time of a running attempt. Unset if unknown. The bounds are valid only under the
  // assumptions of the forecast.
  std::optional<Range> remaining;
  // True if the attempt is a speculative copy of a running attempt.
  bool is_speculative = false;
  // The cause of a failure, or the reason why the attempt was killed. Empty if not reported.
  std::string failure;
  // Unset if no input was reported.
  std::optional<Throughput> throughput;
  friend bool operator==(const TaskProgress&, const TaskProgress&) = default;
};

// The tasks of a job on one host.
struct HostTasks {
  // Empty if unknown.
  std::string host;
  // Number of running attempts.
  std::size_t running = 0;
  // Number of successful attempts.
  std::size_t finished = 0;
  // Number of failed and killed attempts, and of successful attempts whose output was lost.
  std::size_t failed = 0;
  // The mean number of running attempts in each of several equal parts of the time since the first
  // start.
  std::vector<double> busy;
  friend bool operator==(const HostTasks&, const HostTasks&) = default;
};

// A key group that makes a task slow.
struct HeavyGroup {
  // The leading attempt at the task of the key group.
  AttemptId attempt;
  // Size of the records that map tasks or the reduce task have reported.
  std::uint64_t size_bytes = 0;
  // Estimated duration of the reduce call.
  absl::Duration time;
  // Fraction of the task's remaining time that the reduce call takes, 0..1.
  double share = 0;
  // True if the reduce call is running, false if it has not started.
  bool is_running = false;
  friend bool operator==(const HeavyGroup&, const HeavyGroup&) = default;
};

// The tasks of a job at one point in time.
struct JobTasks {
  // Time of this listing, by the master's clock.
  absl::Time at;
  // Time at which the first attempt started. Unset if unknown.
  std::optional<absl::Time> began_at;
  // Sorted by name.
  std::vector<HostTasks> hosts;
  // Number of omitted hosts. The least busy hosts are omitted.
  std::size_t hosts_left_out = 0;
  // Sorted by host, then by start.
  std::vector<TaskProgress> tasks;
  // Number of attempts omitted because of TaskQuery::tasks_max.
  std::size_t tasks_left_out = 0;
  // Sorted by duration, the longest first.
  std::vector<HeavyGroup> heavy_groups;
};

// Selects tasks.
struct TaskQuery {
  // If set, only tasks on this host.
  std::optional<std::string> host;
  // Maximum number of attempts. The attempts that began last are kept. If `host` is unset and the
  // job has more attempts than this, none are listed.
  std::size_t tasks_max = 500;
};

// A forecast of the end of a job, as published at one point in time.
struct PastForecast {
  // Time of publication.
  absl::Time at;
  // Unset if there was not enough evidence.
  std::optional<absl::Time> ends_at;
  // Bounds of the 90 % interval. Unset if there is no forecast.
  std::optional<absl::Time> ends_at_lower;
  std::optional<absl::Time> ends_at_upper;
  // Progress that the snapshot showed, 0..1. The bounds assume that the job ends at a bound of the
  // interval, and enclose the shown progress.
  double fraction_done = 0;
  double fraction_done_lower = 0;
  double fraction_done_upper = 0;
  friend bool operator==(const PastForecast&, const PastForecast&) = default;
};

}  // namespace tidemark
