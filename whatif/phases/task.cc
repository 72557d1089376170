#include "whatif/phases/task.h"

namespace tidemark::phases {

Phase ReadInput(double split_bytes, const DataStatistics& data) {
  Phase read = {.out = {data.input_width > 0 ? split_bytes / data.input_width : 0, split_bytes}};
  read.work[Cost::kInputRead] = split_bytes;
  return read;
}

Phase Compute(const Flow& in, const DataStatistics& data) {
  Phase compute = {.out = {in.records * data.compute.records, in.bytes * data.compute.bytes}};
  compute.work[Cost::kCompute] = in.records;
  return compute;
}

Work Hand(const Flow& out, Destination to) {
  Work work;
  if (to == Destination::kDriver) work[Cost::kNetwork] = out.bytes;
  if (to == Destination::kFiles) work[Cost::kOutputWrite] = out.bytes;
  return work;
}

Work TaskPhases::work() const {
  Work whole = read.work + shuffle_read.work() + compute.work + shuffle_write.work() + func;
  whole[Cost::kSetup] += 1;
  whole[Cost::kCleanup] += 1;
  return whole;
}

TaskPhases TaskOf(const Stage& stage, const Settings& settings) {
  TaskPhases task;
  if (stage.shape.reads_input) task.read = ReadInput(stage.size.split_bytes, stage.data);
  if (stage.shape.reads_shuffle) {
    task.shuffle_read = ReadShuffle(stage.size, *stage.shape.reads_shuffle, stage.data, settings);
  }
  task.compute = Compute({task.read.out.records + task.shuffle_read.out.records,
                          task.read.out.bytes + task.shuffle_read.out.bytes},
                         stage.data);
  if (stage.shape.output == Destination::kShuffle) {
    task.shuffle_write = WriteShuffle(task.compute.out, stage.shape, stage.size.next_tasks,
                                      stage.size.cached_bytes, stage.data, settings);
  } else {
    task.func = Hand(task.compute.out, stage.shape.output);
  }
  return task;
}

}  // namespace tidemark::phases
