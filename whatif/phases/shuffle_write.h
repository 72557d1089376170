// The fourth phase of a task: its output is partitioned for the tasks of the next stage, and may be
// combined and sorted ([SPM] section 6).
#pragma once

#include <cstdint>

#include "whatif/phases/settings.h"
#include "whatif/phases/spill.h"
#include "whatif/phases/stage.h"
#include "whatif/phases/work.h"

namespace tidemark::phases {

enum class ShuffleWriter : std::uint8_t {
  kHash,        // a file for each partition; until 2.0
  kBypass,      // the same, joined at the end: few partitions, nothing combined
  kSorted,      // objects, gathered, sorted and spilled
  kSerialized,  // the same with bytes, which are sorted by partition alone and never read back
};

// By what is written, for so many partitions (eq. 34, and Spark's source, SortShuffleManager).
ShuffleWriter WriterOf(const StageShape& shape, double next_tasks, const Settings& settings);

struct ShuffleWrite {
  ShuffleWriter writer = ShuffleWriter::kSorted;
  Spills spills;
  Flow written;  // by one task; of all tasks: [tIntermDataRecs, tIntermDataSize]
  Work spill, merge;

  Work work() const { return spill + merge; }
};

// Eq. 34 to 44, of `out`, what the stage's functions gave, in memory. `cached_bytes`: as in
// StageSize.
ShuffleWrite WriteShuffle(const Flow& out, const StageShape& shape, double next_tasks,
                          double cached_bytes, const DataStatistics& data,
                          const Settings& settings);

}  // namespace tidemark::phases
