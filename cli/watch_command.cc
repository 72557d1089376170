#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/environment.h"
#include "cli/exit_code.h"
#include "cli/follow_job.h"
#include "cli/master_client.h"
#include "cli/master_trouble.h"
#include "cli/progress.h"
#include "text/did_you_mean.h"

namespace tidemark::cli {
namespace {

constexpr std::size_t kNamedMax = 10;

std::string NoSuchJob(const std::string& job_id, const MasterClient& master) {
  const std::string message = fmt::format("no job {} at {}", job_id, master.address());
  const auto jobs = master.ListJobs();
  if (!jobs.ok()) return message;
  if (jobs->empty()) return message + "; it has no jobs yet";
  std::vector<std::string> names;
  for (const Snapshot& job : *jobs) names.push_back(job.job_id);
  if (std::string meant = text::DidYouMean(job_id, names); !meant.empty()) return message + meant;
  const std::string more = names.size() > kNamedMax ? ", ..." : "";
  names.resize(std::min(names.size(), kNamedMax));
  return fmt::format("{}; its jobs: {}{}", message, fmt::join(names, ", "), more);
}

}  // namespace

int Watch(const WatchArguments& arguments) {
  const MasterClient master(arguments.master, arguments.security);
  const auto progress = MakeProgress(arguments.progress, stdout, Environment::OfProcess());
  bool has_reader = true;
  const FollowCalls calls = {
      .on_snapshot =
          [&](const Snapshot& snapshot) { return has_reader = progress->Show(snapshot); },
      .on_trouble = [&](const std::string& message) { progress->Say(message); }};
  const auto final = FollowJob(master, arguments.job_id, {}, calls);
  if (!has_reader) return kReaderGone;
  progress->Finish();
  if (final.ok()) return final->state == JobState::kSucceeded ? kSuccess : kJobFailed;
  if (absl::IsNotFound(final.status())) {
    Complain(NoSuchJob(arguments.job_id, master));
    return kUsage;
  }
  Complain(DescribeMasterTrouble(master.address(), final.status()));
  return absl::IsInvalidArgument(final.status()) ? kUsage : kMasterUnreachable;
}

}  // namespace tidemark::cli
