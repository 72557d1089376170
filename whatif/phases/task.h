// A task of Spark, phase by phase: read, shuffle read, compute, shuffle write, func ([SPM]).
//
//   const TaskPhases task = TaskOf(stage, settings);
//   const double seconds = Seconds(task.work(), costs);   // eq. 46
//
// Pure. Cost: O(1).
#pragma once

#include "whatif/phases/settings.h"
#include "whatif/phases/shuffle_read.h"
#include "whatif/phases/shuffle_write.h"
#include "whatif/phases/stage.h"
#include "whatif/phases/work.h"

namespace tidemark::phases {

struct Phase {
  Flow out;
  Work work;
};

// Eq. 6 to 10.
Phase ReadInput(double split_bytes, const DataStatistics& data);
// Eq. 30 to 33.
Phase Compute(const Flow& in, const DataStatistics& data);
// Eq. 45: to the driver; and, not in the paper, to files. Nothing of a shuffle.
Work Hand(const Flow& out, Destination to);

struct Stage {
  StageShape shape;
  DataStatistics data;
  StageSize size;
};

struct TaskPhases {
  Phase read;
  ShuffleRead shuffle_read;
  Phase compute;
  ShuffleWrite shuffle_write;
  Work func;

  // Of all phases, with setup and clean-up of the task (eq. 46).
  Work work() const;
};

// One average task. A stage that reads an input and a shuffle computes on both.
TaskPhases TaskOf(const Stage& stage, const Settings& settings);

}  // namespace tidemark::phases
