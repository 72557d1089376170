// An application master in small: starts a Master, reports one job to it through an Agent, and
// reads the same job back. Also the sum of what README.md promises to a user of the library.
#include <cstdio>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tidemark/agent.h"
#include "tidemark/job_monitor.h"
#include "tidemark/master.h"

int main() {
  if (tidemark::KnownIndicators().empty()) return 1;

  absl::StatusOr<std::unique_ptr<tidemark::Master>> master =
      tidemark::Master::Start({.listen_address = "127.0.0.1:0"});
  if (!master.ok()) {
    std::puts(master.status().ToString().c_str());
    return 1;
  }

  std::unique_ptr<tidemark::Agent> agent =
      tidemark::Agent::Create({.master_address = (*master)->address(), .job_id = "job-1"});
  agent->OpenJob({.name = "nothing to do", .map_task_count = 0, .reduce_task_count = 0});
  agent->CloseJob(tidemark::JobOutcome::kSucceeded, "");
  const bool acknowledged = agent->Flush(absl::Seconds(10));
  agent->Shutdown();

  const absl::StatusOr<tidemark::Snapshot> last =
      (*master)->WaitUntilFinal("job-1", absl::Seconds(10));
  (*master)->Shutdown(absl::Seconds(1));
  if (!acknowledged || !last.ok() || last->state != tidemark::JobState::kSucceeded) {
    std::puts(last.ok() ? "the job did not end well" : last.status().ToString().c_str());
    return 1;
  }
  std::puts("ok");
  return 0;
}
