#include "whatif/phases/past_stage.h"

#include <algorithm>
#include <array>

namespace tidemark::phases {
namespace {

void AddFlow(const Flow& more, Flow& sum) {
  sum.records += more.records;
  sum.bytes += more.bytes;
}

// Returns the sums of all counters except the times.
TaskCounters Totals(std::span<const TaskCounters> tasks) {
  TaskCounters sum;
  for (const TaskCounters& task : tasks) {
    AddFlow(task.input, sum.input);
    AddFlow(task.written, sum.written);
    AddFlow(task.output, sum.output);
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

double RatioOf(double part, double whole, double otherwise) {
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

// Returns the input that was read or, for tasks without input, one record of one byte per task.
Flow InputOf(const Flow& input, double tasks, const StageShape& shape) {
  if (!shape.reads_input) return {};
  if (input.bytes <= 0 && input.records <= 0) return {tasks, tasks};
  return {std::max(input.records, 1.0), std::max(input.bytes, 1.0)};
}

// Returns the data read from a shuffle. If records were not counted, assumes one per task.
Flow FetchedOf(const TaskCounters& all, double tasks) {
  const double bytes = all.local_bytes + all.remote_bytes;
  return {all.shuffle_records > 0 || bytes <= 0 ? all.shuffle_records : tasks, bytes};
}

// Returns the bytes per record written to, or read from, a shuffle, or 0 if there are no records.
double ShuffledWidth(const std::vector<TaskCounters>& tasks, bool written) {
  double bytes = 0;
  double records = 0;
  for (const TaskCounters& task : tasks) {
    bytes += written ? task.written.bytes : task.local_bytes + task.remote_bytes;
    records += written ? task.written.records : task.shuffle_records;
  }
  return records > 0 ? bytes / records : 0;
}

struct Widths {
  double compressed = 0;
  double plain = 0;
  std::size_t compressed_runs = 0;
  std::size_t plain_runs = 0;

  std::optional<double> Ratio() const {
    if (compressed_runs == 0 || plain_runs == 0) return std::nullopt;
    const double ratio = compressed / static_cast<double>(compressed_runs) /
                         (plain / static_cast<double>(plain_runs));
    return std::clamp(ratio, 0.01, 1.0);
  }
};

// Returns the compression ratios of the stages that ran both with and without compression.
std::map<std::string, double> CompressRatios(const std::vector<PastApplication>& runs) {
  std::map<std::string, std::array<Widths, 2>> widths;
  for (const PastApplication& run : runs) {
    for (std::size_t i = 0; i < run.stages.size(); ++i) {
      for (const bool written : {true, false}) {
        const double width = ShuffledWidth(run.stages[i].tasks, written);
        if (!(width > 0)) continue;
        Widths& of = widths[run.names[i]][written ? 0 : 1];
        (run.settings.compresses_shuffle ? of.compressed : of.plain) += width;
        ++(run.settings.compresses_shuffle ? of.compressed_runs : of.plain_runs);
      }
    }
  }
  std::map<std::string, double> ratios;
  for (const auto& [name, of] : widths) {
    const auto ratio = of[0].Ratio() ? of[0].Ratio() : of[1].Ratio();
    if (ratio) ratios[name] = *ratio;
  }
  return ratios;
}

// Returns the memory and spilled bytes per gathered record, from the run with the least.
std::map<std::string, double> LeastWidths(const std::vector<PastApplication>& runs) {
  std::map<std::string, double> least;
  for (const PastApplication& run : runs) {
    for (std::size_t i = 0; i < run.stages.size(); ++i) {
      double bytes = 0;
      double records = 0;
      for (const TaskCounters& task : run.stages[i].tasks) {
        bytes += task.peak_memory_bytes + task.spilled_memory_bytes;
        records += task.shuffle_records;
      }
      if (!(bytes > 0) || !(records > 0)) continue;
      double& width = least.try_emplace(run.names[i], bytes / records).first->second;
      width = std::min(width, bytes / records);
    }
  }
  return least;
}

}  // namespace

Stage StageOf(std::span<const TaskCounters> tasks, double next_tasks, bool is_relocatable,
              const Settings& settings, const OtherRunsData& elsewhere) {
  const TaskCounters all = Totals(tasks);
  const double count = static_cast<double>(tasks.size());
  Stage stage = {.shape = ShapeOf(all, is_relocatable)};
  DataStatistics& data = stage.data;
  const Flow input = InputOf(all.input, count, stage.shape);
  data.input_width = RatioOf(input.bytes, input.records, 1);
  data.compress_ratio = elsewhere.compress_ratio;
  const double spilled = RatioOf(all.spilled_disk_bytes, all.spilled_memory_bytes, 0);
  if (spilled > 0) {
    const double ratio = settings.compresses_shuffle ? data.compress_ratio : 1;
    data.serialize_ratio = std::min(spilled / ratio, 1.0);
  }
  data.read_width_in_memory =
      RatioOf(std::max(all.peak_memory_bytes, all.spilled_memory_bytes), all.shuffle_records, 0);
  if (elsewhere.read_width_max > 0) {
    data.read_width_in_memory = std::min(data.read_width_in_memory, elsewhere.read_width_max);
  }
  stage.size = {.split_bytes = input.bytes / count,
                .intermediate = FetchedOf(all, count),
                .tasks = count,
                .next_tasks = next_tasks};
  // The functions of the stage convert the output of the earlier phases to the stage's output.
  const TaskPhases before = TaskOf(stage, settings);
  const Flow in = before.compute.out;
  const Compression shuffle = OfShuffle(settings, data);
  Flow out = all.output;
  if (stage.shape.output == Destination::kShuffle) {
    out = {all.written.records, all.written.bytes / (shuffle.ratio * data.serialize_ratio)};
  } else if (stage.shape.output == Destination::kDriver) {
    out = {0, all.result_bytes};
  }
  data.compute = {RatioOf(out.records, in.records * count, 0),
                  RatioOf(out.bytes, in.bytes * count, 0)};
  data.write_width_in_memory = RatioOf(out.bytes, out.records, 0);
  return stage;
}

Work WorkOf(const TaskCounters& task, const Stage& stage, const Settings& settings) {
  Stage alone = stage;
  alone.size.tasks = 1;
  alone.size.split_bytes = InputOf(task.input, 1, stage.shape).bytes;
  alone.size.intermediate = FetchedOf(task, 1);
  Work work = TaskOf(alone, settings).work();
  if (stage.shape.reads_shuffle) {
    // The counters show the locations of the blocks.
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

double InputBytes(const PastApplication& run) {
  double bytes = 0;
  for (const PastStage& ran : run.stages) {
    if (ShuffledWidth(ran.tasks, false) > 0) continue;
    for (const TaskCounters& task : ran.tasks) {
      bytes += ran.tasks_for_each * std::max(task.input.bytes, 0.0);
    }
  }
  return bytes;
}

std::map<std::string, OtherRunsData> DataByStage(const std::vector<PastApplication>& runs) {
  std::map<std::string, OtherRunsData> data;
  for (const PastApplication& run : runs) {
    for (const std::string& name : run.names) data.try_emplace(name);
  }
  for (const auto& [name, ratio] : CompressRatios(runs)) data[name].compress_ratio = ratio;
  for (const auto& [name, width] : LeastWidths(runs)) data[name].read_width_max = width;
  return data;
}

}  // namespace tidemark::phases
