#include <optional>
#include <string>

#include "absl/time/clock.h"
#include "cli/commands.h"
#include "cli/environment.h"
#include "cli/exit_code.h"
#include "cli/hadoop/application_poller.h"
#include "cli/hadoop/web_client.h"
#include "cli/progress.h"

namespace tidemark::cli {
namespace {

// How long a resource manager that has once answered may stay away.
constexpr absl::Duration kPatience = absl::Minutes(1);

}  // namespace

int Do(const HadoopPollArguments& arguments) {
  WebClient web;
  ApplicationPoller poller(
      arguments.resource_manager, arguments.application,
      [&web](const std::string& url) { return web.Get(url); }, arguments.progress.compare);
  const auto progress = MakeProgress(arguments.progress, stdout, Environment::OfProcess());
  std::optional<absl::Time> answered_at;
  std::string said;  // of why there is no job
  for (;;) {
    const absl::Time now = absl::Now();
    const absl::StatusOr<Snapshot> snapshot = poller.Look(now);
    if (snapshot.ok()) {
      answered_at = now;
      if (const std::string& why = poller.why_no_job(); !why.empty() && why != said) {
        progress->Say(said = why);
      }
      const bool is_named = snapshot->info && !snapshot->info->name.empty();
      if (is_named && !progress->Show(*snapshot)) return kReaderGone;
      if (snapshot->is_final) {
        progress->Finish();
        return snapshot->state == JobState::kSucceeded ? kSuccess : kJobFailed;
      }
    } else if (!answered_at || now - *answered_at > kPatience ||
               absl::IsFailedPrecondition(snapshot.status())) {
      Complain(std::string(snapshot.status().message()));
      return ExitCodeOf(snapshot.status());
    }
    absl::SleepFor(arguments.interval);
  }
}

}  // namespace tidemark::cli
