#include <string>

#include "cli/commands.h"
#include "cli/console/summary.h"
#include "cli/environment.h"
#include "cli/exit_code.h"
#include "cli/master_client.h"
#include "cli/master_trouble.h"
#include "cli/progress.h"
#include "cli/snapshot_json.h"

namespace tidemark::cli {

int ListJobs(const JobsArguments& arguments) {
  const MasterClient master(arguments.master, arguments.security);
  const auto jobs = master.ListJobs();
  if (!jobs.ok()) {
    Complain(DescribeMasterTrouble(master.address(), jobs.status()));
    return absl::IsInvalidArgument(jobs.status()) ? kUsage : kMasterUnreachable;
  }
  std::vector<std::string> lines;
  if (arguments.json) {
    for (const Snapshot& job : *jobs) lines.push_back(SnapshotJson(job));
  } else {
    lines = console::RenderJobTable(*jobs, WidthOf(stdout),
                                    TextOptionsFor(stdout, Environment::OfProcess()));
  }
  for (const std::string& line : lines) {
    if (!WriteLine(stdout, line)) return kReaderGone;
  }
  return kSuccess;
}

}  // namespace tidemark::cli
