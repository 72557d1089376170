#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/at_master.h"
#include "cli/commands.h"
#include "cli/table_output.h"
#include "console/job_table.h"
#include "proto/wire/job_codec.h"
#include "text/ascii_json.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

// The stages, each with what is known of it from the start and what changes.
std::vector<std::string> StagesAsJson(const ordered_json& job) {
  std::vector<std::string> lines;
  for (const ordered_json& progress : job["stages"]) {
    ordered_json stage = progress;
    for (const ordered_json& info : job["stage_infos"]) {
      if (info["id"] == progress["id"]) stage.update(info);
    }
    lines.push_back(text::AsciiJson(stage.dump()));
  }
  return lines;
}

std::vector<std::string> TasksAsJson(const ordered_json& job) {
  std::vector<std::string> lines;
  for (const ordered_json& task : job["named_tasks"]) lines.push_back(text::AsciiJson(task.dump()));
  return lines;
}

int ShowJob(const GetArguments& arguments, const Snapshot& job) {
  const std::string json = wire::SnapshotJson(job);
  const auto options = TableOptionsFor(arguments.format);
  switch (arguments.what) {
    case Listed::kStages:
      return IsJson(arguments.format)
                 ? PrintJson(StagesAsJson(ordered_json::parse(json)), arguments.format)
                 : PrintLines(console::RenderStageTable(job, options));
    case Listed::kTasks:
      return IsJson(arguments.format)
                 ? PrintJson(TasksAsJson(ordered_json::parse(json)), arguments.format)
                 : PrintLines(console::RenderTaskTable(job, options));
    case Listed::kJobs:
      break;
  }
  return IsJson(arguments.format) ? PrintLines({json})
                                  : PrintLines(console::RenderJobTable({job}, options));
}

// The table again and again on a terminal, else a line for each change.
int Watch(const GetArguments& arguments) {
  WatchArguments watch = {
      .job_id = arguments.job_id, .filter = arguments.filter, .master = arguments.master};
  switch (arguments.format) {
    case TableFormat::kJsonl:
      watch.progress.mode = ProgressMode::kJsonl;
      break;
    case TableFormat::kTable:
      break;
    default:
      Complain("--watch goes with -o table or -o jsonl: what it shows has no end");
      return kUsage;
  }
  return Do(watch);
}

}  // namespace

int Do(const GetArguments& arguments) {
  if (arguments.watches) return Watch(arguments);
  return AtMaster(arguments.master, [&](const Client& master) -> absl::StatusOr<int> {
    if (!arguments.job_id.empty()) {
      const auto job = master.GetJob(arguments.job_id);
      if (absl::IsNotFound(job.status())) return NoSuchJob(arguments.job_id, master);
      if (!job.ok()) return job.status();
      return ShowJob(arguments, *job);
    }
    const auto jobs = master.ListJobs(arguments.filter);
    if (!jobs.ok()) return jobs.status();
    if (!IsJson(arguments.format)) {
      return PrintLines(console::RenderJobTable(*jobs, TableOptionsFor(arguments.format)));
    }
    std::vector<std::string> lines;
    for (const Snapshot& job : *jobs) lines.push_back(wire::SnapshotJson(job));
    return PrintJson(lines, arguments.format);
  });
}

}  // namespace tidemark::cli
