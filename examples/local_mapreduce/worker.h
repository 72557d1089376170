// Worker processes, each of which runs one task attempt.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "examples/local_mapreduce/job_plan.h"
#include "tidemark/event.h"

namespace tidemark::examples {

// Owns a process. The destructor kills and reaps the process if it is still running. Waits only for
// its own child, so the embedding program may have other children.
class WorkerProcess {
 public:
  // Starts a process. Standard output and error go to the file `stderr_path`, and standard input is
  // empty. The process has its own process group, so Ctrl-C at the terminal reaches only the
  // application master.
  static absl::StatusOr<WorkerProcess> Start(const std::vector<std::string>& command,
                                             const std::string& stderr_path);
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;
  ~WorkerProcess();

  // Returns after one of the processes has ended, or after `timeout`.
  static void WaitForAny(const std::vector<const WorkerProcess*>& processes,
                         absl::Duration timeout);
  bool HasEnded() const;
  // Waits for the end of the process. Returns OK for exit code 0. Otherwise returns an error with
  // the cause and the end of standard error.
  absl::Status Reap();

 private:
  WorkerProcess(pid_t pid, int pid_fd, std::string stderr_path);
  pid_t pid_ = -1;  // -1 after the process was reaped
  int pid_fd_ = -1;
  std::string stderr_path_;
};

// The prefix of each line on standard error in which a worker reports why its events do not arrive.
inline constexpr std::string_view kReportTrouble = "tidemark: ";

// Returns the arguments of WorkerMain() for one attempt. An attempt that ends may wait for up to
// `report_budget` until its last events have reached the master.
std::vector<std::string> WorkerArguments(const JobPlan& plan, const AttemptId& attempt,
                                         absl::Duration report_budget);

}  // namespace tidemark::examples
