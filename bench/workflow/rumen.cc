#include "bench/workflow/rumen.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tidemark::bench {
namespace {

using nlohmann::json;

TraceStage StageOf(const json& tasks, const std::string& name, StageKind kind, double begin_ms) {
  TraceStage stage = {.name = name, .kind = kind};
  for (const json& task : tasks) {
    for (const json& attempt : task.at("attempts")) {
      const double start = attempt.value("startTime", -1.0);
      const double end = attempt.value("finishTime", -1.0);
      if (start < begin_ms || end < start || attempt.value("result", "") != "SUCCESS") continue;
      TraceTask& ran = stage.tasks.emplace_back();
      ran.start = (start - begin_ms) * 1e-3;
      ran.end = (end - begin_ms) * 1e-3;
      const double bytes = attempt.value("hdfsBytesRead", -1.0);
      if (kind == StageKind::kMap && bytes >= 0) ran.bytes = static_cast<std::uint64_t>(bytes);
      const double shuffled = attempt.value("shuffleFinished", -1.0);
      if (kind == StageKind::kReduce && shuffled >= start && shuffled <= end) {
        ran.shuffled = (shuffled - begin_ms) * 1e-3;
      }
    }
  }
  return stage;
}

double MostAtOnce(const std::vector<TraceStage>& stages) {
  std::vector<std::pair<double, int>> changes;
  for (const TraceStage& stage : stages) {
    for (const TraceTask& task : stage.tasks) {
      changes.emplace_back(task.start, 1);
      changes.emplace_back(task.end, -1);
    }
  }
  std::sort(changes.begin(), changes.end());
  int now = 0;
  int most = 1;
  for (const auto& [at, change] : changes) most = std::max(most, now += change);
  return most;
}

Trace TraceOf(const json& job) {
  const double begin_ms = job.value("launchTime", job.value("submitTime", 0.0));
  Trace trace = {.group = "rumen", .name = job.value("jobID", "job")};
  trace.stages.push_back(StageOf(job.at("mapTasks"), "map", StageKind::kMap, begin_ms));
  trace.stages.push_back(StageOf(job.at("reduceTasks"), "reduce", StageKind::kReduce, begin_ms));
  if (trace.stages[0].tasks.empty()) {
    trace.stages.erase(trace.stages.begin());
  } else if (!trace.stages[1].tasks.empty()) {
    trace.stages[1].parents = {0};
  }
  if (trace.stages.back().tasks.empty()) trace.stages.pop_back();
  trace.slots = MostAtOnce(trace.stages);
  Finish(trace);
  return trace;
}

}  // namespace

absl::StatusOr<std::vector<Trace>> ReadRumen(const std::string& path, bool failed_too) {
  const absl::StatusOr<std::string> text = ReadUnpacked(path);
  if (!text.ok()) return text.status();
  std::vector<Trace> traces;
  std::istringstream jobs(*text);
  try {
    while (jobs >> std::ws && jobs.peek() != std::istringstream::traits_type::eof()) {
      json job;
      jobs >> job;
      if (!failed_too && job.value("outcome", "") != "SUCCESS") continue;
      Trace trace = TraceOf(job);
      if (!trace.stages.empty() && trace.end > 0) traces.push_back(std::move(trace));
    }
  } catch (const json::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", error.what()));
  }
  return traces;
}

}  // namespace tidemark::bench
