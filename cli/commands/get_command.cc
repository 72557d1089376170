#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/master_call.h"
#include "cli/options.h"
#include "cli/output.h"
#include "console/job_table.h"
#include "console/waits_table.h"
#include "proto/wire/job_codec.h"
#include "proto/wire/task_codec.h"
#include "text/ascii_json.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

enum class Listed : std::uint8_t { kJobs, kStages, kTasks };

struct GetArguments {
  Listed what = Listed::kJobs;
  std::string job_id;    // all jobs if empty
  JobFilter filter;      // applies to all jobs
  bool watches = false;  // continues like `watch`
  MasterArguments master;
  TableFormat format = TableFormat::kTable;
};

// Returns each stage as one object that contains its description and its progress.
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

constexpr std::uint32_t kTasksMax = 2000;

// Shows the tasks that end last, or the attempts of an ended job that ran longest.
absl::StatusOr<int> ShowTasks(const GetArguments& arguments, const Snapshot& job,
                              const Client& master) {
  if (job.info && job.info->kind == JobKind::kWorkflow) {
    PrintError(console::WorkflowHasNo("tasks", job));
    return kUsage;
  }
  const auto options = TableOptionsFor(arguments.format);
  if (job.is_final) {
    const auto tasks = master.ListLongestTasks(job.job_id, kTasksMax);
    if (!tasks.ok()) return tasks.status();
    if (!IsJson(arguments.format)) {
      return PrintLines(console::RenderEndedTasks(job, *tasks, options));
    }
    std::vector<std::string> lines;
    for (const TaskProgress& task : tasks->tasks) lines.push_back(wire::TaskJson(task));
    return PrintJson(lines, arguments.format);
  }
  if (IsJson(arguments.format)) {
    return PrintJson(TasksAsJson(ordered_json::parse(wire::SnapshotJson(job))), arguments.format);
  }
  JobTasks running;
  if (options.is_wide)
    running = master.ListRunningTasks(job.job_id, kTasksMax).value_or(JobTasks());
  return PrintLines(console::RenderTaskTable(job, options, running));
}

absl::StatusOr<int> ShowJob(const GetArguments& arguments, const Snapshot& job,
                            const Client& master) {
  if (arguments.what == Listed::kTasks) return ShowTasks(arguments, job, master);
  const std::string json = wire::SnapshotJson(job);
  const auto options = TableOptionsFor(arguments.format);
  if (arguments.what == Listed::kStages) {
    return IsJson(arguments.format)
               ? PrintJson(StagesAsJson(ordered_json::parse(json)), arguments.format)
               : PrintLines(console::RenderStageTable(job, options));
  }
  return IsJson(arguments.format) ? PrintLines({json})
                                  : PrintLines(console::RenderJobTable({job}, options));
}

// Redraws the table on a terminal; otherwise prints a line for each change.
int WatchJobs(const GetArguments& arguments) {
  WatchArguments watch = {
      .job_id = arguments.job_id, .filter = arguments.filter, .master = arguments.master};
  switch (arguments.format) {
    case TableFormat::kJsonl:
      watch.progress.mode = ProgressMode::kJsonl;
      break;
    case TableFormat::kTable:
      break;
    default:
      PrintError("--watch requires -o table or -o jsonl: the list never ends");
      return kUsage;
  }
  return Run(watch);
}

int Run(const GetArguments& arguments) {
  if (arguments.watches) return WatchJobs(arguments);
  return AtMaster(arguments.master, [&](const Client& master) -> absl::StatusOr<int> {
    if (!arguments.job_id.empty()) {
      const auto job = master.GetJob(arguments.job_id);
      if (absl::IsNotFound(job.status())) return NoSuchJob(arguments.job_id, master);
      if (!job.ok()) return job.status();
      return ShowJob(arguments, *job, master);
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

void AddListing(CLI::App& app, GetArguments& arguments) {
  AddFormat(app, arguments.format);
  if (arguments.what == Listed::kJobs) {
    app.add_flag(
        "--watch", arguments.watches,
        "Continue to show changes, as `tidemark watch` does (only with -o table or -o jsonl)");
  }
  AddMaster(app, arguments.master);
  AddFooter(app, kExitCodes);
}

}  // namespace

void AddGet(CLI::App& root, Invocation& invocation) {
  CLI::App& get = *root.add_subcommand("get", "Show the jobs on a master");
  get.require_subcommand(1);
  const struct {
    const char* name;
    Listed what;
    const char* help;
  } all[] = {{"jobs", Listed::kJobs, "List all jobs, or show one"},
             {"stages", Listed::kStages, "Show the stages of a job"},
             {"tasks", Listed::kTasks,
              "Show the tasks that will end last, and why; for an ended job, the longest tasks"}};
  for (const auto& listed : all) {
    CLI::App& app = *get.add_subcommand(listed.name, listed.help);
    auto& arguments = ArgumentsOf<GetArguments>(app, invocation, Run);
    arguments.what = listed.what;
    app.add_option("ID", arguments.job_id, "Id of the job, as `tidemark get jobs` lists it")
        ->required(listed.what != Listed::kJobs);
    AddListing(app, arguments);
  }
  CLI::App& list = *get.add_subcommand("workflows", "List all workflows");
  auto& workflows = ArgumentsOf<GetArguments>(list, invocation, Run);
  workflows.filter.kinds = {JobKind::kWorkflow};
  AddListing(list, workflows);
}

}  // namespace tidemark::cli
