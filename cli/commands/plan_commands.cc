// The commands submit, attach, workflow add, cancel and close, deadline, and forget.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "cli/commands.h"
#include "cli/master_call.h"
#include "cli/options.h"
#include "cli/plan_file.h"
#include "cli/progress.h"

namespace tidemark::cli {
namespace {

struct SubmitArguments {
  std::string file;
  MasterArguments master;
};

struct AttachArguments {
  std::string job_id;
  std::string child_name;
  std::string child_job_id;
  MasterArguments master;
};

struct UpdateArguments {
  std::string job_id;
  std::string file;  // file with the jobs to add; none if empty
  std::vector<std::string> cancel_jobs;
  bool cancel = false;  // whether to cancel the whole workflow
  bool close = false;   // the workflow ends once no job runs
  MasterArguments master;
};

struct DeadlineArguments {
  std::string job_id;
  std::optional<Deadline> deadline;
  MasterArguments master;
};

struct ForgetArguments {
  std::string job_id;
  MasterArguments master;
};

int WrongFile(const absl::Status& status) {
  PrintError(status);
  return kUsage;
}

// Prints why the master rejects the plan, with the position in the file.
absl::StatusOr<int> Rejected(const std::string& file, const absl::Status& status) {
  if (!absl::IsInvalidArgument(status)) return status;
  return WrongFile(InPlanFile(file, status));
}

absl::StatusOr<int> SuccessIf(const absl::Status& status) {
  if (status.ok()) return kSuccess;
  return status;
}

int Run(const SubmitArguments& arguments) {
  const auto plan = ReadPlanFile(arguments.file, PlanUse::kSubmit);
  if (!plan.ok()) return WrongFile(plan.status());
  return AtMaster(arguments.master, [&](const Client& master) -> absl::StatusOr<int> {
    const absl::Status submitted = master.SubmitJob(*plan);
    if (!submitted.ok()) return Rejected(arguments.file, submitted);
    return WriteLine(stdout, plan->id) ? kSuccess : kReaderGone;
  });
}

int Run(const AttachArguments& arguments) {
  return AtMaster(arguments.master, [&](const Client& master) {
    return SuccessIf(
        master.AttachJob(arguments.job_id, arguments.child_name, arguments.child_job_id));
  });
}

int Run(const UpdateArguments& arguments) {
  PlanChange change = {
      .cancel_jobs = arguments.cancel_jobs, .cancel = arguments.cancel, .close = arguments.close};
  if (!arguments.file.empty()) {
    auto added = ReadPlanFile(arguments.file, PlanUse::kAdd);
    if (!added.ok()) return WrongFile(added.status());
    change.add_jobs = std::move(added->jobs);
  }
  return AtMaster(arguments.master, [&](const Client& master) -> absl::StatusOr<int> {
    const absl::Status changed = master.UpdateJob(arguments.job_id, change);
    if (changed.ok()) return kSuccess;
    return arguments.file.empty() ? changed : Rejected(arguments.file, changed);
  });
}

int Run(const DeadlineArguments& arguments) {
  return AtMaster(arguments.master, [&](const Client& master) -> absl::StatusOr<int> {
    const absl::StatusOr<Snapshot> job = master.GetJob(arguments.job_id, View::kBasic);
    if (absl::IsNotFound(job.status())) return NoSuchJob(arguments.job_id, master);
    if (!job.ok()) return job.status();
    const absl::Time start = job->started_at.value_or(absl::Now());
    return SuccessIf(master.SetDeadline(
        arguments.job_id, InstantOf(*arguments.deadline, start, absl::LocalTimeZone())));
  });
}

int Run(const ForgetArguments& arguments) {
  return AtMaster(arguments.master, [&](const Client& master) -> absl::StatusOr<int> {
    const absl::StatusOr<Snapshot> job = master.GetJob(arguments.job_id, View::kBasic);
    if (absl::Status removed = master.ForgetJob(arguments.job_id); !removed.ok()) return removed;
    const std::string text =
        absl::IsNotFound(job.status())
            ? fmt::format("there was no job {}", arguments.job_id)
            : fmt::format("removed {}; the history, if there is one, keeps the run",
                          arguments.job_id);
    return WriteLine(stdout, text) ? kSuccess : kReaderGone;
  });
}

void AddSubmit(CLI::App& root, Invocation& invocation) {
  CLI::App& app = *root.add_subcommand("submit", "Submit a plan of jobs to a master");
  auto& arguments = ArgumentsOf<SubmitArguments>(app, invocation, Run);
  app.add_option("FILE", arguments.file, "Plan (YAML or JSON); see docs/plans.md")->required();
  AddMaster(app, arguments.master);
  AddFooter(app, kExitCodes);
}

void AddAttach(CLI::App& root, Invocation& invocation) {
  CLI::App& app =
      *root.add_subcommand("attach", "Attach a job to a workflow, as one of its jobs or a retry");
  auto& arguments = ArgumentsOf<AttachArguments>(app, invocation, Run);
  app.add_option("ID", arguments.job_id, "Id of the workflow")->required();
  app.add_option("NAME", arguments.child_name, "Name of the job in the workflow")->required();
  app.add_option("JOB_ID", arguments.child_job_id, "Id under which the job reports")->required();
  AddMaster(app, arguments.master);
  AddFooter(app, kExitCodes);
}

void AddSetDeadline(CLI::App& root, Invocation& invocation) {
  CLI::App& app = *root.add_subcommand("deadline", "Set the deadline of a running job or workflow");
  auto& arguments = ArgumentsOf<DeadlineArguments>(app, invocation, Run);
  app.add_option("ID", arguments.job_id, "Id of the job or workflow")->required();
  AddDeadline(app, "WHEN", arguments.deadline,
              "07:30 or \"2026-11-26 07:30\" on this host's clock, or 2h30m after the job's start")
      ->required();
  AddMaster(app, arguments.master);
  AddFooter(app, kExitCodes);
}

void AddForget(CLI::App& root, Invocation& invocation) {
  CLI::App& app = *root.add_subcommand("forget", "Remove an ended job and its log from a master");
  auto& arguments = ArgumentsOf<ForgetArguments>(app, invocation, Run);
  app.add_option("ID", arguments.job_id, "Id of the job, as `tidemark get jobs` lists it")
      ->required();
  AddMaster(app, arguments.master);
  AddFooter(
      app,
      "With a data directory, the history keeps the run for forecasts of later runs; see\n"
      "docs/history.md.\n"
      "Exit code: 0 the job no longer exists, 2 usage error or the job is running, 3 the master\n"
      "cannot be reached, 6 the master requires a different token or certificate.");
}

void AddWorkflow(CLI::App& root, Invocation& invocation) {
  CLI::App& workflow = *root.add_subcommand("workflow", "Change a running workflow");
  workflow.require_subcommand(1);

  CLI::App& add = *workflow.add_subcommand(
      "add", "Add the jobs in a file; they may wait for jobs of the workflow");
  auto& added = ArgumentsOf<UpdateArguments>(add, invocation, Run);
  add.add_option("ID", added.job_id, "Id of the workflow")->required();
  add.add_option("FILE", added.file, "Plan with `jobs` only (YAML or JSON); see docs/plans.md")
      ->required();
  NotEmpty(add.add_option("--cancel", added.cancel_jobs,
                          "Cancel these jobs in the same step: all changes apply, or none"))
      ->expected(1, -1)
      ->type_name("NAME");
  AddMaster(add, added.master);
  AddFooter(add, kExitCodes);

  CLI::App& cancel = *workflow.add_subcommand(
      "cancel", "Cancel jobs of a workflow, or end it; running jobs continue");
  auto& cancelled = ArgumentsOf<UpdateArguments>(cancel, invocation, Run);
  cancel.add_option("ID", cancelled.job_id, "Id of the workflow")->required();
  cancel.add_option("NAME", cancelled.cancel_jobs, "Jobs to cancel [the whole workflow]");
  cancel.parse_complete_callback(
      [&cancelled] { cancelled.cancel = cancelled.cancel_jobs.empty(); });
  AddMaster(cancel, cancelled.master);
  AddFooter(cancel, kExitCodes);

  CLI::App& closing = *workflow.add_subcommand(
      "close", "End a workflow when its running jobs end; until then, jobs may join");
  auto& closed = ArgumentsOf<UpdateArguments>(closing, invocation, Run);
  closing.add_option("ID", closed.job_id, "Id of the workflow")->required();
  closing.parse_complete_callback([&closed] { closed.close = true; });
  AddMaster(closing, closed.master);
  AddFooter(closing, kExitCodes);
}

}  // namespace

void AddPlanCommands(CLI::App& root, Invocation& invocation) {
  AddSubmit(root, invocation);
  AddAttach(root, invocation);
  AddWorkflow(root, invocation);
  AddSetDeadline(root, invocation);
  AddForget(root, invocation);
}

}  // namespace tidemark::cli
