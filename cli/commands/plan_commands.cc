// Submit, attach, update and forget.
#include <string>
#include <utility>

#include "cli/at_master.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/plan_file.h"
#include "cli/progress.h"

namespace tidemark::cli {
namespace {

int WrongFile(const absl::Status& status) {
  Complain(std::string(status.message()));
  return kUsage;
}

// Reports what the master refuses in the plan like an error that was found in the file here.
absl::StatusOr<int> Refused(const std::string& file, const absl::Status& status) {
  if (!absl::IsInvalidArgument(status)) return status;
  return WrongFile(InPlanFile(file, status));
}

absl::StatusOr<int> SuccessIf(const absl::Status& status) {
  if (status.ok()) return kSuccess;
  return status;
}

}  // namespace

int Do(const SubmitArguments& arguments) {
  const auto plan = cli::ReadPlanFile(arguments.file, cli::PlanUse::kSubmit);
  if (!plan.ok()) return WrongFile(plan.status());
  return AtMaster(arguments.master, [&](const Client& master) -> absl::StatusOr<int> {
    const absl::Status taken = master.SubmitJob(*plan);
    if (!taken.ok()) return Refused(arguments.file, taken);
    return WriteLine(stdout, plan->id) ? kSuccess : kReaderGone;
  });
}

int Do(const AttachArguments& arguments) {
  return AtMaster(arguments.master, [&](const Client& master) {
    return SuccessIf(
        master.AttachJob(arguments.job_id, arguments.child_name, arguments.child_job_id));
  });
}

int Do(const UpdateArguments& arguments) {
  PlanChange change = {.cancel_jobs = arguments.cancel_jobs, .cancel = arguments.cancel};
  if (!arguments.file.empty()) {
    auto added = cli::ReadPlanFile(arguments.file, cli::PlanUse::kAdd);
    if (!added.ok()) return WrongFile(added.status());
    change.add_jobs = std::move(added->jobs);
  }
  if (change == PlanChange()) {
    Complain("nothing to change; pass --add, --cancel or --cancel-all");
    return kUsage;
  }
  return AtMaster(arguments.master, [&](const Client& master) -> absl::StatusOr<int> {
    const absl::Status changed = master.UpdateJob(arguments.job_id, change);
    if (changed.ok()) return kSuccess;
    return arguments.file.empty() ? changed : Refused(arguments.file, changed);
  });
}

int Do(const ForgetArguments& arguments) {
  return AtMaster(arguments.master, [&](const Client& master) {
    return SuccessIf(master.ForgetJob(arguments.job_id));
  });
}

}  // namespace tidemark::cli
