// What the tasks of a job's stages took in one run: what the next run of the same job starts from.
//
//   const tidemark::RunProfile run = monitor.Summary().stages;
//   for (const tidemark::StageProfile& stage : run.stages) Print(stage.name, stage.tasks);
//
// Plain values: copyable, comparable, safe to share between threads when const. Memory: O(stages +
// task times). CanBeKept() is true of one that a JobMonitor has made.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tidemark {

// A task that took at least three times as long as is usual in its stage, as that of a hot
// partition does.
struct LongTask {
  std::uint32_t index = 0;
  // Seconds that it took more than, in the mean, those tasks of its kind that are not long. Not
  // negative.
  double more_seconds = 0;
  friend bool operator==(const LongTask&, const LongTask&) = default;
};

// One stage of a finished run.
struct StageProfile {
  static constexpr std::size_t kLongTasksMax = 64;
  // Its signature, which is the same in every run.
  std::string name;
  // For people; empty: its name.
  std::string title;
  // Equal for stages that do the same to other data (StageOpened::work); 0: not known.
  std::uint64_t work = 0;
  // What it waited for: indexes in RunProfile::stages.
  std::vector<std::size_t> parents;
  // Whether its tasks read what parents wrote. Else its driver alone waited for them, as for one
  // query before the next.
  bool fetches = true;
  std::uint64_t tasks = 0;
  // What its tasks read in all, of input and of what parents wrote; 0: not known. Bytes.
  double read_bytes = 0;
  // From the end of the last parent to its first task. Seconds.
  double lag = 0;
  // Seconds that its tasks, or an even choice of them, took, in four kinds: the first on their
  // slot, the first of this stage on their slot, all others, and those around which slots went
  // idle.
  std::array<std::vector<double>, 4> seconds;
  // By index; none if there are more than kLongTasksMax.
  std::vector<LongTask> long_tasks;
  friend bool operator==(const StageProfile&, const StageProfile&) = default;
};

// All stages of a finished run.
struct RunProfile {
  // The most that is kept of a run. One time of each kind for each stage fits. Eight such runs are
  // 30 MB at most, half of what a record of a log may hold.
  static constexpr std::size_t kStagesMax = 10'000;
  static constexpr std::size_t kTaskTimesMax = 4 * kStagesMax;
  static constexpr std::size_t kLongTasksMax = kStagesMax;
  static constexpr std::size_t kEdgesMax = 100'000;
  static constexpr std::size_t kNameBytesMax = std::size_t{2} << 20;
  static constexpr std::size_t kParametersMax = 64;
  static constexpr std::size_t kParameterBytesMax = std::size_t{128} << 10;  // names and values
  // Tasks that the run could have at once.
  double slots = 1;
  // The part of its executors' slots that was in use while tasks waited beside idle slots; 1 if all
  // were in use. The store does not keep it, since the next run shows its own.
  double used_share = 1;
  // What its program was told to do (JobOpened::parameters); empty: not known.
  std::map<std::string, std::string> parameters;
  // Empty: nothing is known of them.
  std::vector<StageProfile> stages;
  friend bool operator==(const RunProfile&, const RunProfile&) = default;
};

// Whether nothing of the run exceeds the constants above. A master keeps such a run for the next
// one; of a larger run it keeps the slots alone. O(stages + parameters).
bool CanBeKept(const RunProfile& run);

}  // namespace tidemark
