// What the tasks of a job's stages took in one run: what the next run of the same job starts from.
//
//   const tidemark::RunProfile run = monitor.Summary().stages;
//   for (const tidemark::StageProfile& stage : run.stages) Print(stage.name, stage.tasks);
//
// Plain values: copyable, comparable, safe to share while nobody writes. Memory: O(stages + task
// times), of which one made by a JobMonitor has at most kTaskTimesMax.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tidemark {

// One stage of a finished run.
struct StageProfile {
  std::string name;                  // its signature, which is the same in every run
  std::vector<std::size_t> parents;  // indexes in RunProfile::stages
  std::uint64_t tasks = 0;
  double lag = 0;  // from the end of the last parent to its first task. seconds
  // Of its tasks, or of an even choice of them: the first on their slot, the first of this stage on
  // their slot, all others, and those around which slots went idle. seconds
  std::array<std::vector<double>, 4> seconds;
  friend bool operator==(const StageProfile&, const StageProfile&) = default;
};

struct RunProfile {
  static constexpr std::size_t kTaskTimesMax = 10'000;
  double slots = 1;                  // tasks that the run could have at once
  std::vector<StageProfile> stages;  // empty: nothing is known of them
  friend bool operator==(const RunProfile&, const RunProfile&) = default;
};

}  // namespace tidemark
