// The commands about workflows at a master.
#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "cli/commands.h"
#include "cli/environment.h"
#include "cli/exit_code.h"
#include "cli/master_trouble.h"
#include "cli/progress.h"
#include "cli/workflow/job_graph_file.h"
#include "cli/workflow/workflow_client.h"
#include "cli/workflow/workflow_progress.h"

namespace tidemark::cli {
namespace {

int Trouble(const std::string& address, const absl::Status& status) {
  const bool is_away = absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
  Complain(is_away || absl::IsUnauthenticated(status) ? DescribeMasterTrouble(address, status)
                                                      : std::string(status.message()));
  return is_away ? kMasterUnreachable : kUsage;
}

}  // namespace

int SubmitWorkflowFile(const WorkflowSubmitArguments& arguments) {
  const auto workflow = ReadJobGraph(arguments.file);
  if (!workflow.ok()) {
    Complain(std::string(workflow.status().message()));
    return kUsage;
  }
  const WorkflowClient master(arguments.master, arguments.security);
  if (absl::Status taken = master.Submit(*workflow); !taken.ok()) {
    return Trouble(master.address(), taken);
  }
  return WriteLine(stdout, workflow->id) ? kSuccess : kReaderGone;
}

int AttachWorkflowJob(const WorkflowAttachArguments& arguments) {
  const WorkflowClient master(arguments.master, arguments.security);
  const absl::Status taken =
      master.Attach(arguments.workflow_id, arguments.job_name, arguments.job_id);
  return taken.ok() ? kSuccess : Trouble(master.address(), taken);
}

int WatchWorkflow(const WorkflowWatchArguments& arguments) {
  const WorkflowClient master(arguments.master, arguments.security);
  const auto progress = MakeWorkflowProgress(arguments.progress, stdout, Environment::OfProcess());
  bool has_reader = true;
  const WorkflowFollowCalls calls = {
      .on_snapshot =
          [&](const WorkflowSnapshot& snapshot) { return has_reader = progress->Show(snapshot); },
      .on_trouble = [&](const std::string& message) { progress->Say(message); }};
  const auto final = master.Follow(arguments.workflow_id, {}, calls);
  if (!has_reader) return kReaderGone;
  progress->Finish();
  if (final.ok()) return final->state == JobState::kSucceeded ? kSuccess : kJobFailed;
  if (absl::IsNotFound(final.status())) {
    Complain(fmt::format("no workflow {} at {}", arguments.workflow_id, master.address()));
    return kUsage;
  }
  Complain(DescribeMasterTrouble(master.address(), final.status()));
  return kMasterUnreachable;
}

}  // namespace tidemark::cli
