// A child process that runs one task attempt.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace tidemark::examples {

// Owns the process: it is killed and reaped at the latest when this object goes. Only the own child
// is ever waited for, so an embedding program may have others.
class WorkerProcess {
 public:
  // Standard output and error go to the file `stderr_path`; standard input is empty. The process
  // leads a group of its own, so that a Ctrl-C at the terminal reaches the application master
  // alone.
  static absl::StatusOr<WorkerProcess> Start(const std::vector<std::string>& command,
                                             const std::string& stderr_path);
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;
  ~WorkerProcess();

  // Waits until one of them has ended, at most `timeout`.
  static void WaitForAny(const std::vector<const WorkerProcess*>& processes,
                         absl::Duration timeout);
  bool HasEnded() const;
  // Waits for the end. OK: exit code 0; otherwise what ended it and the end of its standard error.
  absl::Status Reap();

 private:
  WorkerProcess(pid_t pid, int pid_fd, std::string stderr_path);
  pid_t pid_ = -1;  // -1: reaped
  int pid_fd_ = -1;
  std::string stderr_path_;
};

}  // namespace tidemark::examples
