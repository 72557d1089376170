// From what Spark counted of the tasks of a stage to the models of its phases.
//
// Logs do not say everything that the models want to know, and what they do not say is taken to be
// so:
//   - a stage that holds records in memory while it reads a shuffle sorts them; whether it combines
//     them is in no counter, and what combining leaves out shows in the selectivity of its
//     functions
//   - compressed bytes are half of others, until a spill or another run shows better
//   - "in memory" means serialized, until spills show both
//   - a stage that reads nothing makes its data from a record of one byte for each task
// Pure values and functions.
#pragma once

#include <optional>
#include <span>

#include "whatif/phases/learn_costs.h"
#include "whatif/phases/settings.h"
#include "whatif/phases/task.h"

namespace tidemark::phases {

// Of one task that has succeeded. Times in seconds, empty where the log does not have them.
struct TaskCounters {
  double seconds = 0;  // from launch to end
  // The first of its stage on its slot: its code is loaded and compiled while it runs.
  bool is_fresh = false;
  std::optional<double> running;
  std::optional<double> processor;
  std::optional<double> fetch_wait;
  std::optional<double> shuffle_write;
  std::optional<double> deserialize;
  Flow input;
  double local_bytes = 0;   // of the shuffle it read
  double remote_bytes = 0;  // likewise
  double shuffle_records = 0;
  Flow written;  // for a shuffle
  Flow output;   // to files
  double result_bytes = 0;
  double spilled_memory_bytes = 0;  // before and
  double spilled_disk_bytes = 0;    // after they were serialized and compressed
  double peak_memory_bytes = 0;     // of what it gathered
  friend bool operator==(const TaskCounters&, const TaskCounters&) = default;
};

// What compressed bytes are over others where nothing shows it. Taste: LZ4 and Snappy on text and
// columns.
inline constexpr double kUsualCompressRatio = 0.5;

// What other runs of a stage show of its data.
struct SeenElsewhere {
  double compress_ratio = kUsualCompressRatio;  // of shuffled bytes, where no spill shows it
  // Of a record that it gathered, in memory: at most. Memory comes in pages of which the last are
  // hardly used, so the run with the least is the nearest to what it needs. 0: not known.
  double read_width_max = 0;
};

// The average of tasks that ran with `settings`. `next_tasks`: of the stages that read what it
// wrote. REQUIRES: at least one task.
Stage StageOf(std::span<const TaskCounters> tasks, double next_tasks, bool is_relocatable,
              const Settings& settings, const SeenElsewhere& elsewhere = {});

// What one of them did, by the stage's model and its own sizes. At least one record, so that its
// time has somebody to be charged to.
Work WorkOf(const TaskCounters& task, const Stage& stage, const Settings& settings);

MeasuredTask Measured(const TaskCounters& task, std::size_t stage, std::size_t run,
                      const Work& work);

}  // namespace tidemark::phases
