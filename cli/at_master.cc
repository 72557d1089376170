#include "cli/at_master.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "cli/master_trouble.h"
#include "cli/progress.h"
#include "text/did_you_mean.h"

namespace tidemark::cli {

int AtMaster(const MasterArguments& arguments,
             const std::function<absl::StatusOr<int>(const Client&)>& ask) {
  const auto master =
      Client::Create({.address = arguments.address, .security = arguments.security});
  const absl::StatusOr<int> exit_code = master.ok() ? ask(**master) : master.status();
  if (exit_code.ok()) return *exit_code;
  Complain(DescribeMasterTrouble(arguments.address, exit_code.status()));
  return ExitCodeOf(exit_code.status());
}

absl::StatusOr<Explanation> WaitsOf(const std::string& job_id, const std::string& query,
                                    const Client& master, std::stop_token stop) {
  absl::StatusOr<Explanation> waits = master.ExplainJob(job_id, {.query = query}, std::move(stop));
  if (absl::IsUnimplemented(waits.status())) {
    return absl::UnimplementedError("this master does not tell");
  }
  if (!waits.ok()) return absl::Status(waits.status().code(), ReasonOf(waits.status()));
  return waits;
}

ExitCode NoSuchJob(const std::string& job_id, const Client& master) {
  std::string message = fmt::format("no job {} at {}", job_id, master.address());
  std::vector<std::string> names;
  const auto jobs = master.ListJobs();
  if (jobs.ok()) {
    for (const Snapshot& job : *jobs) names.push_back(job.job_id);
    if (names.empty()) message += "; it has no jobs yet";
  }
  const std::string meant = text::DidYouMean(job_id, names);
  if (meant.empty() && !names.empty()) {
    message += "; its jobs: " + text::FewNames(names);
  }
  Complain(message + meant);
  return kNotFound;
}

}  // namespace tidemark::cli
