// A past run of a job with the same name or, if there is no such run, of another job on the same
// cluster. A forecast starts from past runs before the job has produced its own evidence.
//
//   // When a job has ended:
//   if (auto run = tidemark::PastRunOf(monitor.Tick(now), monitor.Summary())) Store(*run);
//   // When the next job of that name begins, before its first tick:
//   next.SetPastRuns({run});
//
// A master with a data directory does this automatically. Plain values: copyable, comparable, safe
// to share between threads when const. Memory: O(stages + task times).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tidemark/event.h"

namespace tidemark {

struct JobSummary;
struct Snapshot;

// A task that ran at least three times as long as is usual in its stage, for example because its
// partition is hot.
struct LongTask {
  std::uint32_t index = 0;
  // Seconds above the mean of the tasks of its kind that are not long. Not negative.
  double more_seconds = 0;
  friend bool operator==(const LongTask&, const LongTask&) = default;
};

// One stage of a past run.
struct PastStage {
  static constexpr std::size_t kLongTasksMax = 64;
  // The stage's signature, which is the same in every run.
  std::string name;
  // Display title. Empty if it equals `name`.
  std::string title;
  // Equal for stages that do the same work on different data (StageOpened::work). 0 if unknown.
  std::uint64_t work = 0;
  // The stages for which this stage waited, as indexes into PastRun::stages.
  std::vector<std::size_t> parents;
  // True if tasks read the output of parents. If false, only the driver waited for the parents,
  // for example between two queries.
  bool fetches = true;
  std::uint64_t tasks = 0;
  // Bytes that all tasks read from the input and from the output of parents. 0 if unknown.
  double read_bytes = 0;
  // Mean processor time of a task. 0 if unknown.
  double cpu_seconds = 0;
  // Mean time for which a task waited for the output of parents. 0 if unknown.
  double fetch_seconds = 0;
  // Seconds from the end of the last parent to the first task.
  double lag = 0;
  // Times of the tasks, or of an even sample of them, in seconds and in four kinds: the first task
  // on its slot, the first task of this stage on its slot, all other tasks, and tasks of the last
  // wave.
  std::array<std::vector<double>, 4> seconds;
  // Sorted by index. Empty if there are more than kLongTasksMax.
  std::vector<LongTask> long_tasks;
  friend bool operator==(const PastStage&, const PastStage&) = default;
};

// Finished key groups with similar values of one cost feature. Sums over the groups.
struct TimedGroups {
  double groups = 0;
  double value = 0;  // of the feature
  double bytes = 0;
  double seconds = 0;
  double seconds_squared = 0;
  friend bool operator==(const TimedGroups&, const TimedGroups&) = default;
};

// A run of a MapReduce job has the durations of its three phases, which add up to the duration of
// the run. A run of any other job has `stages`, and its phases have zero duration.
struct PastRun {
  // Limits of a stored run. They suffice for one time of each kind for each stage. Eight such runs
  // take at most 30 MB, half of the size limit of a log record.
  static constexpr std::size_t kStagesMax = 10'000;
  static constexpr std::size_t kTaskTimesMax = 4 * kStagesMax;
  static constexpr std::size_t kLongTasksMax = kStagesMax;
  static constexpr std::size_t kEdgesMax = 100'000;
  static constexpr std::size_t kNameBytesMax = std::size_t{2} << 20;
  static constexpr std::size_t kTimedGroupsMax = 1'200;  // bins of all features together
  static constexpr std::size_t kParametersMax = 64;
  static constexpr std::size_t kParameterBytesMax = std::size_t{128} << 10;  // names and values

  // Time from the start of the job to the end of its last map task, without the wait for slots. For
  // a job that has only map tasks, the time to the end of the job.
  absl::Duration map_time;
  absl::Duration shuffle_time;  // from the end of the last map task to the first reduce function
  absl::Duration reduce_time;   // from the first reduce function to the end of the job
  std::uint64_t map_input_bytes = 0;  // 0 if unknown
  // Number of tasks that could run at once; at least 1.
  double slots = 1;
  // The share of the executors' slots that was in use while tasks waited although slots were idle.
  // 1 if all were in use. Not stored, since the next run measures its own share.
  double used_share = 1;
  // Parameters of the program (JobOpened::parameters). Empty if unknown.
  std::map<std::string, std::string> parameters;
  // Empty for a MapReduce job or if the stages are unknown.
  std::vector<PastStage> stages;
  // True if the run belongs to a job of another name.
  bool is_of_other_job = false;
  // 90th percentile, over all ticks, of the distance between the actual and the predicted end, in
  // half-widths of the interval. 1 is the edge of the interval. Unset if unknown.
  std::optional<double> interval_score;
  // Numbers of tasks of a MapReduce job. Both are 0 if unknown or if the job had other stages.
  std::uint32_t map_tasks = 0;
  std::uint32_t reduce_tasks = 0;
  // Times of the key groups of a MapReduce job (JobSummary::bins). Empty if unknown.
  std::vector<GroupBin> groups;
  // Its named key groups that were timed alone, by bytes, by the product of the bytes of both
  // inputs of a join, and by values. Empty if unknown.
  std::array<std::vector<TimedGroups>, 3> timed_groups;
  friend bool operator==(const PastRun&, const PastRun&) = default;
};

// Returns true if the run exceeds none of the limits above, which is always true for runs of a
// JobMonitor. A master keeps only the slots of a larger run. O(stages + parameters).
bool CanBeKept(const PastRun& run);

// Returns the past run that the final snapshot and the summary of a job describe. Returns nullopt
// if the job did not succeed or if the times of its phases are unknown.
std::optional<PastRun> PastRunOf(const Snapshot& final, const JobSummary& summary);

}  // namespace tidemark
