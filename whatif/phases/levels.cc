#include "whatif/phases/levels.h"

#include <algorithm>
#include <cmath>

#include "whatif/phases/memory.h"

namespace tidemark::phases {
namespace {

// Followed by `others`.
enum Level { kExecutors, kCores, kBoth, kMemory, kCompress, kTasks, kNextTasks, kData };
constexpr std::size_t kLevels = kData + 1;

enum Group : std::size_t { kOfOneAnother, kOfAmounts, kOfHindrances, kOfOthers };

Group GroupOf(Level level) {
  switch (level) {
    case kExecutors:
    case kCores:
    case kBoth:
      return kOfOneAnother;  // what tasks do to one another
    case kTasks:
    case kData:
      return kOfAmounts;  // what there is to do
    case kMemory:
    case kCompress:
    case kNextTasks:
      return kOfHindrances;  // what may slow it down
  }
  return kOfOthers;
}

}  // namespace

double Log2(double value) { return std::log2(std::max(value, 1.0)); }

std::vector<double> LevelsOf(const Settings& settings, double data_bytes, const Stage& stage,
                             const std::vector<double>& others) {
  std::vector<double> levels(kLevels);
  levels[kExecutors] = Log2(settings.executors);
  levels[kCores] = Log2(settings.tasks_at_once());
  levels[kBoth] = levels[kExecutors] * levels[kCores];
  levels[kMemory] = kOfManyDoublings * Log2(SpillBufferBytes(settings, stage.size.cached_bytes));
  levels[kCompress] = settings.compresses_shuffle ? 1 : 0;
  levels[kTasks] = Log2(stage.size.tasks);
  levels[kNextTasks] = kOfManyDoublings * Log2(stage.size.next_tasks);
  levels[kData] = Log2(data_bytes);
  levels.insert(levels.end(), others.begin(), others.end());
  return levels;
}

std::vector<double> LevelsOfWhole(const Settings& settings, double data_bytes,
                                  const std::vector<double>& others) {
  Stage whole;
  whole.size.tasks = settings.sql_partitions;
  whole.size.next_tasks = settings.default_partitions;
  return LevelsOf(settings, data_bytes, whole, others);
}

std::vector<std::size_t> GroupsOf(std::size_t others) {
  std::vector<std::size_t> groups(kLevels + others, kOfOthers);
  for (std::size_t i = 0; i < kLevels; ++i) groups[i] = GroupOf(static_cast<Level>(i));
  return groups;
}

}  // namespace tidemark::phases
