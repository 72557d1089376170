#include "whatif/phases/run_data.h"

#include <algorithm>
#include <array>
#include <optional>

namespace tidemark::phases {
namespace {

// Bytes of a record that was written for a shuffle, or else read of one; 0: there was none.
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

// How well the records of each stage are compressed, where runs with and without it show that.
std::map<std::string, double> CompressRatios(const std::vector<RanApplication>& runs) {
  std::map<std::string, std::array<Widths, 2>> widths;
  for (const RanApplication& run : runs) {
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

// What tasks held of a record that they gathered, in memory and spilled, in the run that held
// least.
std::map<std::string, double> LeastWidths(const std::vector<RanApplication>& runs) {
  std::map<std::string, double> least;
  for (const RanApplication& run : runs) {
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

double InputBytes(const RanApplication& run) {
  double bytes = 0;
  for (const RanStage& ran : run.stages) {
    if (ShuffledWidth(ran.tasks, false) > 0) continue;
    for (const TaskCounters& task : ran.tasks) {
      bytes += ran.tasks_for_each * std::max(task.input.bytes, 0.0);
    }
  }
  return bytes;
}

std::map<std::string, SeenElsewhere> SeenByStage(const std::vector<RanApplication>& runs) {
  std::map<std::string, SeenElsewhere> seen;
  for (const RanApplication& run : runs) {
    for (const std::string& name : run.names) seen.try_emplace(name);
  }
  for (const auto& [name, ratio] : CompressRatios(runs)) seen[name].compress_ratio = ratio;
  for (const auto& [name, width] : LeastWidths(runs)) seen[name].read_width_max = width;
  return seen;
}

}  // namespace tidemark::phases
