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

// Owns the process. The destructor kills and reaps it if it still runs. Waits only for its own
// child, so an embedding program may have others.
class WorkerProcess {
 public:
  // Starts a process. Standard output and error go to the file `stderr_path`, and standard input is
  // empty. The process leads its own group, so that Ctrl-C at the terminal reaches only the
  // application master.
  static absl::StatusOr<WorkerProcess> Start(const std::vector<std::string>& command,
                                             const std::string& stderr_path);
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;
  ~WorkerProcess();

  // Blocks until one of the processes has ended, for at most `timeout`.
  static void WaitForAny(const std::vector<const WorkerProcess*>& processes,
                         absl::Duration timeout);
  bool HasEnded() const;
  // Waits for the end. Returns OK for exit code 0, and otherwise the cause and the end of its
  // standard error.
  absl::Status Reap();

 private:
  WorkerProcess(pid_t pid, int pid_fd, std::string stderr_path);
  pid_t pid_ = -1;  // -1 after the process was reaped
  int pid_fd_ = -1;
  std::string stderr_path_;
};

// The prefix of each line on standard error in which a worker reports why its events do not arrive.
inline constexpr std::string_view kReportTrouble = "tidemark: ";

// Returns the arguments of WorkerMain() for one attempt. The end of the attempt may wait for up to
// `report_budget` until its last events have reached the master.
std::vector<std::string> WorkerArguments(const JobPlan& plan, const AttemptId& attempt,
                                         absl::Duration report_budget);

}  // namespace tidemark::examples
