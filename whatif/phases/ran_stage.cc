#include "whatif/phases/ran_stage.h"

#include <algorithm>

namespace tidemark::phases {
namespace {

void Add(const Flow& more, Flow& sum) {
  sum.records += more.records;
  sum.bytes += more.bytes;
}

// The sums of all counters but the times.
TaskCounters Totals(std::span<const TaskCounters> tasks) {
  TaskCounters sum;
  for (const TaskCounters& task : tasks) {
    Add(task.input, sum.input);
    Add(task.written, sum.written);
    Add(task.output, sum.output);
    sum.local_bytes += task.local_bytes;
    sum.remote_bytes += task.remote_bytes;
    sum.shuffle_records += task.shuffle_records;
    sum.result_bytes += task.result_bytes;
    sum.spilled_memory_bytes += task.spilled_memory_bytes;
    sum.spilled_disk_bytes += task.spilled_disk_bytes;
    sum.peak_memory_bytes += task.peak_memory_bytes;
  }
  return sum;
}

bool ReadsShuffle(const TaskCounters& task) {
  return task.shuffle_records > 0 || task.local_bytes + task.remote_bytes > 0;
}

double Ratio(double part, double whole, double otherwise) {
  return part > 0 && whole > 0 ? part / whole : otherwise;
}

StageShape ShapeOf(const TaskCounters& all, bool is_relocatable) {
  StageShape shape = {.is_relocatable = is_relocatable};
  if (ReadsShuffle(all)) {
    const bool gathers = all.peak_memory_bytes > 0 || all.spilled_memory_bytes > 0;
    shape.reads_shuffle = gathers ? Gathering::kSort : Gathering::kNothing;
  }
  shape.reads_input = all.input.bytes > 0 || all.input.records > 0 || !shape.reads_shuffle;
  if (all.written.bytes > 0 || all.written.records > 0) {
    shape.output = Destination::kShuffle;
  } else if (all.output.bytes > 0) {
    shape.output = Destination::kFiles;
  }
  return shape;
}

// What it read of its input; of nothing, a record of one byte for each task.
Flow InputOf(const Flow& input, double tasks, const StageShape& shape) {
  if (!shape.reads_input) return {};
  if (input.bytes <= 0 && input.records <= 0) return {tasks, tasks};
  return {std::max(input.records, 1.0), std::max(input.bytes, 1.0)};
}

// What it read of a shuffle; of records that nobody counted, one for each task.
Flow FetchedOf(const TaskCounters& all, double tasks) {
  const double bytes = all.local_bytes + all.remote_bytes;
  return {all.shuffle_records > 0 || bytes <= 0 ? all.shuffle_records : tasks, bytes};
}

}  // namespace

Stage StageOf(std::span<const TaskCounters> tasks, double next_tasks, bool is_relocatable,
              const Settings& settings, const SeenElsewhere& elsewhere) {
  const TaskCounters all = Totals(tasks);
  const double count = static_cast<double>(tasks.size());
  Stage stage = {.shape = ShapeOf(all, is_relocatable)};
  DataStatistics& data = stage.data;
  const Flow input = InputOf(all.input, count, stage.shape);
  data.input_width = Ratio(input.bytes, input.records, 1);
  data.compress_ratio = elsewhere.compress_ratio;
  const double spilled = Ratio(all.spilled_disk_bytes, all.spilled_memory_bytes, 0);
  if (spilled > 0) {
    const double ratio = settings.compresses_shuffle ? data.compress_ratio : 1;
    data.serialize_ratio = std::min(spilled / ratio, 1.0);
  }
  data.read_width_in_memory =
      Ratio(std::max(all.peak_memory_bytes, all.spilled_memory_bytes), all.shuffle_records, 0);
  if (elsewhere.read_width_max > 0) {
    data.read_width_in_memory = std::min(data.read_width_in_memory, elsewhere.read_width_max);
  }
  stage.size = {.split_bytes = input.bytes / count,
                .intermediate = FetchedOf(all, count),
                .tasks = count,
                .next_tasks = next_tasks};
  // The functions of the stage make what came out of what the phases before hand on.
  const TaskPhases before = TaskOf(stage, settings);
  const Flow in = before.compute.out;
  const Compression shuffle = OfShuffle(settings, data);
  Flow out = all.output;
  if (stage.shape.output == Destination::kShuffle) {
    out = {all.written.records, all.written.bytes / (shuffle.ratio * data.serialize_ratio)};
  } else if (stage.shape.output == Destination::kDriver) {
    out = {0, all.result_bytes};
  }
  data.compute = {Ratio(out.records, in.records * count, 0), Ratio(out.bytes, in.bytes * count, 0)};
  data.write_width_in_memory = Ratio(out.bytes, out.records, 0);
  return stage;
}

Work WorkOf(const TaskCounters& task, const Stage& stage, const Settings& settings) {
  Stage alone = stage;
  alone.size.tasks = 1;
  alone.size.split_bytes = InputOf(task.input, 1, stage.shape).bytes;
  alone.size.intermediate = FetchedOf(task, 1);
  Work work = TaskOf(alone, settings).work();
  if (stage.shape.reads_shuffle) {
    // Where the blocks were is known here.
    const double executors = std::max<double>(settings.executors, 1);
    const double bytes = alone.size.intermediate.bytes;
    work[Cost::kLocalRead] += task.local_bytes - bytes / executors;
    work[Cost::kLocalRead] = std::max(work[Cost::kLocalRead], 0.0);
    work[Cost::kNetwork] += task.remote_bytes - bytes * (executors - 1) / executors;
    work[Cost::kNetwork] = std::max(work[Cost::kNetwork], 0.0);
  }
  work[Cost::kCompute] = std::max(work[Cost::kCompute], 1.0);
  return work;
}

MeasuredTask Measured(const TaskCounters& task, std::size_t stage, std::size_t run,
                      const Work& work) {
  return {.stage = stage,
          .run = run,
          .work = work,
          .seconds = task.seconds,
          .running = task.running,
          .processor = task.processor,
          .fetch_wait = task.fetch_wait,
          .shuffle_write = task.shuffle_write,
          .deserialize = task.deserialize};
}

}  // namespace tidemark::phases
