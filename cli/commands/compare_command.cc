#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/log_replay.h"
#include "cli/master_call.h"
#include "cli/options.h"
#include "cli/output.h"
#include "console/job_wording.h"
#include "console/run_comparison.h"
#include "master/waits/cluster_waits.h"

namespace tidemark::cli {
namespace {

using console::ComparedRun;

struct CompareArguments {
  std::string run;   // an event log, or the id or name of a job
  std::string next;  // the run to compare with; if empty, compares `run` with its previous run
  MasterArguments master;
  TableFormat format = TableFormat::kTable;

  std::vector<std::string> subjects() const {
    return next.empty() ? std::vector{run} : std::vector{run, next};
  }
};

// Returns the end of the job in a log, or its last snapshot if the log has no end. Sets
// `is_damaged` if only a part of the log can be read.
absl::StatusOr<Snapshot> EndOfLog(const std::string& path, waits::ClusterWaits& waits,
                                  bool& is_damaged) {
  auto replay =
      LogReplay::Open(path, {.on_event = [&waits](const Event& event) { waits.Apply(event); }});
  if (!replay.ok()) return replay.status();
  bool has_job = false;
  absl::StatusOr<bool> more = true;
  while ((more = replay->Next()).ok() && *more) has_job = true;
  if (!has_job && !more.ok()) return more.status();
  is_damaged |= !more.ok() || replay->has_damage();
  if (!more.ok()) PrintError(more.status());
  for (const std::string& remark : replay->Remarks()) PrintError(remark);
  if (has_job) return replay->monitor().job();
  return absl::InvalidArgumentError(fmt::format("{}: the log contains no job", path));
}

// Returns the heading of the column of a run.
std::string HeadingOf(const std::string& name, const Snapshot& job) {
  if (!job.is_final || job.state == JobState::kSucceeded) return name;
  return fmt::format("{} ({})", name, console::StateName(job));
}

// Returns the run in a log. Sets `is_damaged` if only a part of the log can be read.
absl::StatusOr<ComparedRun> ReadRun(const std::string& path, bool& is_damaged) {
  waits::ClusterWaits waits;
  const absl::StatusOr<Snapshot> job = EndOfLog(path, waits, is_damaged);
  if (!job.ok()) return job.status();
  waits.Finish();
  const std::string name = std::filesystem::path(path).filename().string();
  ComparedRun run = {.name = HeadingOf(name.empty() ? path : name, *job), .job = *job};
  run.waits = waits.Ask(job->job_id, {});
  return run;
}

ComparedRun RunOf(Snapshot job, const Client& master) {
  ComparedRun run = {.name = HeadingOf(job.job_id, job), .job = std::move(job)};
  // Workflows and jobs from before the start of the master have no known waits.
  if (auto waits = WaitsOf(run.job.job_id, /*query=*/"", master); waits.ok()) run.waits = *waits;
  return run;
}

std::string NameOf(const Snapshot& job) {
  return job.info && !job.info->name.empty() ? job.info->name : job.job_id;
}

// Returns the newest successful run of the job named `name` that began before `before`.
absl::StatusOr<Snapshot> NewestRun(const std::string& name, absl::Time before,
                                   const Client& master) {
  const auto jobs = master.ListJobs({.states = {JobState::kSucceeded}, .name_prefix = name});
  if (!jobs.ok()) return jobs.status();
  const Snapshot* newest = nullptr;
  for (const Snapshot& job : *jobs) {
    const absl::Time start = job.started_at.value_or(absl::InfinitePast());
    if (NameOf(job) != name || start >= before) continue;
    if (newest == nullptr || start > newest->started_at.value_or(absl::InfinitePast())) {
      newest = &job;
    }
  }
  if (newest == nullptr) {
    return absl::NotFoundError(fmt::format(
        "no successful past run of {} is on the master; pass the ids of two runs", name));
  }
  return master.GetJob(newest->job_id);
}

// Returns the job with this id, or the newest successful run of the job with this name.
absl::StatusOr<Snapshot> FindRun(const std::string& subject, const Client& master) {
  absl::StatusOr<Snapshot> job = master.GetJob(subject);
  // A name is outside the name space of a caller.
  if (!absl::IsNotFound(job.status()) && !absl::IsPermissionDenied(job.status())) return job;
  absl::StatusOr<Snapshot> run = NewestRun(subject, absl::InfiniteFuture(), master);
  return absl::IsNotFound(run.status()) ? job : run;
}

const char* NameOf(console::ComparedUnit unit) {
  switch (unit) {
    case console::ComparedUnit::kSeconds:
      return "seconds";
    case console::ComparedUnit::kBytes:
      return "bytes";
    case console::ComparedUnit::kCount:
      break;
  }
  return "count";
}

int Show(const ComparedRun& before, const ComparedRun& after, TableFormat format, bool is_damaged) {
  const std::vector<console::ComparedValue> values = console::CompareRuns(before, after);
  if (!IsJson(format)) {
    const int shown =
        PrintLines(console::RenderComparison(before, after, values, TableOptionsFor(format)));
    return shown == kSuccess && is_damaged ? kLogTorn : shown;
  }
  std::vector<std::string> lines;
  for (const console::ComparedValue& value : values) {
    nlohmann::ordered_json json = {
        {"what", value.what}, {"unit", NameOf(value.unit)}, {"is_stage", value.is_stage}};
    if (value.before) json["before"] = *value.before;
    if (value.after) json["after"] = *value.after;
    lines.push_back(JsonText(json));
  }
  const int shown = PrintJson(lines, format);
  return shown == kSuccess && is_damaged ? kLogTorn : shown;
}

// Compares the runs. `master` may be null if all are logs.
absl::StatusOr<int> Compare(const Client* master, const CompareArguments& arguments) {
  bool is_damaged = false;
  std::vector<ComparedRun> runs;
  for (const std::string& subject : arguments.subjects()) {
    if (IsPath(subject)) {
      absl::StatusOr<ComparedRun> run = ReadRun(subject, is_damaged);
      if (!run.ok()) return ReportInputError(run.status());
      runs.push_back(*std::move(run));
      continue;
    }
    absl::StatusOr<Snapshot> job = FindRun(subject, *master);
    if (absl::IsNotFound(job.status())) return NoSuchFileOrJob(subject, *master);
    if (!job.ok()) return job.status();
    runs.push_back(RunOf(*std::move(job), *master));
  }
  if (runs.size() == 1) {
    const Snapshot& after = runs[0].job;
    absl::StatusOr<Snapshot> before =
        NewestRun(NameOf(after), after.started_at.value_or(absl::InfiniteFuture()), *master);
    if (!before.ok()) return before.status();
    runs.insert(runs.begin(), RunOf(*std::move(before), *master));
  }
  return Show(runs[0], runs[1], arguments.format, is_damaged);
}

int Run(const CompareArguments& arguments) {
  const std::vector<std::string> subjects = arguments.subjects();
  const auto job = std::ranges::find_if_not(subjects, IsPath);
  if (job != subjects.end()) {
    return AtMaster(arguments.master, *job,
                    [&](const Client& master) { return Compare(&master, arguments); });
  }
  if (subjects.size() == 1) {
    PrintError("a log has no past run; pass two logs");
    return kUsage;
  }
  return Compare(nullptr, arguments).value();
}

}  // namespace

void AddCompare(CLI::App& root, Invocation& invocation) {
  CLI::App& app =
      *root.add_subcommand("compare", "Compare two runs: their times, stages, data and waits");
  auto& arguments = ArgumentsOf<CompareArguments>(app, invocation, Run);
  app.add_option("RUN", arguments.run,
                 "Id or name of a job, a Spark or Tidemark event log, or a history file of a "
                 "MapReduce job (.jhist)")
      ->required();
  app.add_option("NEXT", arguments.next,
                 "The run to compare with RUN [RUN is compared with its previous run]");
  AddFormat(app, arguments.format);
  AddMaster(app, arguments.master);
  AddFooter(app, "Exit code with two logs: 0 success, 2 a log cannot be read, 4 a log is damaged.");
  AddFooter(app, kExitCodes);
}

}  // namespace tidemark::cli
