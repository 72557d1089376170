// Converts past runs of a program from Spark's task counters to the stages and work of the phase
// models.
//
// If logs lack a value, these assumptions apply:
//   - a stage that holds records in memory while it reads a shuffle sorts them. No counter shows
//     combining, so its effect is part of the selectivity of the stage's functions
//   - compressed bytes are half of uncompressed bytes, unless a spill or another run shows the
//     ratio
//   - "in memory" means serialized, unless spills show both
//   - a stage without input creates its data from a record of one byte per task
// Pure values and functions.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "whatif/phases/learn_costs.h"
#include "whatif/phases/settings.h"
#include "whatif/phases/task.h"

namespace tidemark::phases {

// A successful task. Times are in seconds, and empty if the log lacks them.
struct TaskCounters {
  double seconds = 0;  // from launch to end
  // True for the first task of a stage on its slot, during which code is loaded and compiled.
  bool is_fresh = false;
  std::optional<double> running;
  std::optional<double> processor;
  std::optional<double> fetch_wait;
  std::optional<double> shuffle_write;
  std::optional<double> deserialize;
  Flow input;
  double local_bytes = 0;   // local part of the shuffle data read
  double remote_bytes = 0;  // remote part of the shuffle data read
  double shuffle_records = 0;
  Flow written;  // data written for a shuffle
  Flow output;   // data written to files
  double result_bytes = 0;
  double spilled_memory_bytes = 0;  // before serialization and compression
  double spilled_disk_bytes = 0;    // after serialization and compression
  double peak_memory_bytes = 0;     // peak memory for gathered records
  friend bool operator==(const TaskCounters&, const TaskCounters&) = default;
};

// A stage of a past run.
struct PastStage {
  std::vector<TaskCounters> tasks;  // empty if the stage is unknown
  double next_tasks = 1;            // number of tasks of the stages that read its output
  bool is_relocatable = false;
  // Time from the end of the last parent stage to the first task, in which the driver plans and
  // executors start.
  double lag_seconds = 0;
  // Ratio of the number of tasks to the size of `tasks`; above 1 if only a sample is kept. WhatIf
  // does not use it.
  double tasks_for_each = 1;
  // Share of the slots on which its tasks may run, because of its resource profile. 0..1
  double slot_share = 1;
};

// A past run of a program, as its log describes it.
struct PastApplication {
  Settings settings;
  std::vector<PastStage> stages;
  std::vector<std::string> names;  // stage names, equal in every run
  // Other differences between runs, such as parameters of the program, as powers of two. All runs
  // have the same number of these.
  std::vector<double> others;
  // from the start of the run to the end of its last stage; 0 if it did not succeed
  double seconds = 0;
};

// The usual ratio of compressed to uncompressed bytes. Chosen by hand for LZ4 and Snappy on text
// and columns.
inline constexpr double kUsualCompressRatio = 0.5;

// Properties of a stage's data that other runs show.
struct OtherRunsData {
  double compress_ratio = kUsualCompressRatio;  // for shuffled bytes, if no spill shows the ratio
  // Upper limit of the memory of a gathered record; 0 if unknown. Memory is allocated in pages, the
  // last of which are mostly empty, so the run with the least memory is nearest to the actual need.
  double read_width_max = 0;
};

// Returns the number of bytes read by all stages that read no shuffle.
double InputBytes(const PastApplication& run);

// Returns an entry for the name of each stage.
std::map<std::string, OtherRunsData> DataByStage(const std::vector<PastApplication>& runs);

// Returns the average of tasks that ran with `settings`. `next_tasks` is the number of tasks of the
// stages that read its output. REQUIRES: at least one task.
Stage StageOf(std::span<const TaskCounters> tasks, double next_tasks, bool is_relocatable,
              const Settings& settings, const OtherRunsData& elsewhere = {});

// Returns the work of one task, from the stage's model and the task's own sizes. Counts at least
// one record, so that the task's time can be attributed to a cost.
Work WorkOf(const TaskCounters& task, const Stage& stage, const Settings& settings);

MeasuredTask Measured(const TaskCounters& task, std::size_t stage, std::size_t run,
                      const Work& work);

}  // namespace tidemark::phases
