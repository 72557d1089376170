// A past run: an earlier run of a job of the same name, or else of another job of the same cluster.
// A forecast starts from past runs before the job has produced its own evidence.
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

namespace tidemark {

struct JobSummary;
struct Snapshot;

// A task that ran at least three times as long as is usual in its stage, as the task of a hot
// partition does.
struct LongTask {
  std::uint32_t index = 0;
  // Seconds beyond the mean of the tasks of its kind that are not long. Not negative.
  double more_seconds = 0;
  friend bool operator==(const LongTask&, const LongTask&) = default;
};

// One stage of a past run.
struct PastStage {
  static constexpr std::size_t kLongTasksMax = 64;
  // The stage's signature, which is the same in every run.
  std::string name;
  // Title for people. Empty if it is the same as `name`.
  std::string title;
  // Equal for stages that do the same to other data (StageOpened::work). 0 if unknown.
  std::uint64_t work = 0;
  // The stages that this stage waited for, as indexes into PastRun::stages.
  std::vector<std::size_t> parents;
  // True if tasks read the output of parents. If false, only the driver waited for the parents, as
  // between one query and the next.
  bool fetches = true;
  std::uint64_t tasks = 0;
  // Bytes that all tasks read, of input and of the output of parents. 0 if unknown.
  double read_bytes = 0;
  // Seconds from the end of the last parent to the first task.
  double lag = 0;
  // Seconds of the tasks, or of an even choice of them, in four kinds: the first task on its slot,
  // the first task of this stage on its slot, all other tasks, and tasks of the last wave.
  std::array<std::vector<double>, 4> seconds;
  // By index. Empty if there are more than kLongTasksMax.
  std::vector<LongTask> long_tasks;
  friend bool operator==(const PastStage&, const PastStage&) = default;
};

// A run of a MapReduce job has the wall times of its three phases, which follow one another and add
// up to the run. A run of any other job has `stages`, and zero for all of these times.
struct PastRun {
  // Limits of a stored run; one time of each kind for each stage fits. Eight such runs take at most
  // 30 MB, half of the size limit of a log record.
  static constexpr std::size_t kStagesMax = 10'000;
  static constexpr std::size_t kTaskTimesMax = 4 * kStagesMax;
  static constexpr std::size_t kLongTasksMax = kStagesMax;
  static constexpr std::size_t kEdgesMax = 100'000;
  static constexpr std::size_t kNameBytesMax = std::size_t{2} << 20;
  static constexpr std::size_t kParametersMax = 64;
  static constexpr std::size_t kParameterBytesMax = std::size_t{128} << 10;  // names and values

  // From the start of the job to the end of its last map task. For a job of map tasks alone, the
  // time of the whole job.
  absl::Duration map_time;
  absl::Duration shuffle_time;        // from there to the first reduce function
  absl::Duration reduce_time;         // from there to the end of the job
  std::uint64_t map_input_bytes = 0;  // 0 if unknown
  // Tasks that could run at once. At least 1.
  double slots = 1;
  // The share of the executors' slots in use while tasks waited although slots were idle. 1 if all
  // were in use. The store does not keep it, since the next run shows its own.
  double used_share = 1;
  // Parameters of the program (JobOpened::parameters). Empty if unknown.
  std::map<std::string, std::string> parameters;
  // Empty for a MapReduce job or without known stages.
  std::vector<PastStage> stages;
  // True if the job of the run had another name.
  bool is_of_other_job = false;
  // Distance of the actual end from the forecast, in half-widths of the interval: the 90th
  // percentile over all ticks. 1 is the edge of the interval. Empty if unknown.
  std::optional<double> interval_score;
  // The shape of a MapReduce job. Both 0 if it is unknown, or if the job had other stages.
  std::uint32_t map_tasks = 0;
  std::uint32_t reduce_tasks = 0;
  friend bool operator==(const PastRun&, const PastRun&) = default;
};

// Returns true if the run exceeds none of the limits above, as is true of every run of a
// JobMonitor. A master keeps only the slots of a larger run. O(stages + parameters).
bool CanBeKept(const PastRun& run);

// Returns the past run that the final snapshot and the summary of a job describe. Returns nullopt
// for a job without success, or without the instants that split it into phases.
std::optional<PastRun> PastRunOf(const Snapshot& final, const JobSummary& summary);

}  // namespace tidemark
