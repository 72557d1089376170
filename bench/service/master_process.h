// Runs `tidemark serve` or another server as a separate process, which can be measured and killed.
// Also runs processes of agents.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace tidemark::bench {

class MasterProcess {
 public:
  // Runs `command`, which prints "listening on ADDRESS" to standard error, and waits for that line.
  // Fails if the process exits earlier or does not print the line within `timeout`.
  static absl::StatusOr<MasterProcess> Start(std::vector<std::string> command,
                                             absl::Duration timeout);
  // Starts the process without waiting.
  static absl::StatusOr<MasterProcess> Spawn(std::vector<std::string> command);
  absl::Status WaitUntilListening(absl::Duration timeout);

  MasterProcess(MasterProcess&& other) noexcept;
  MasterProcess& operator=(MasterProcess&& other) noexcept;
  ~MasterProcess();  // calls Kill()

  // Sends SIGKILL and waits until the process has ended.
  void Kill();

  const std::string& address() const { return address_; }
  // These functions return the memory and the processor time that the process has used so far.
  std::size_t resident_bytes() const;
  absl::Duration cpu_time() const;

 private:
  MasterProcess(pid_t pid, int standard_error) : pid_(pid), standard_error_(standard_error) {}

  pid_t pid_ = -1;
  int standard_error_ = -1;
  std::string said_;
  std::string address_;
};

// Agents in separate processes with a low priority. Agents of a real cluster run on other hosts and
// take no processor time from the master.
class AgentProcesses {
 public:
  AgentProcesses() = default;
  AgentProcesses(const AgentProcesses&) = delete;
  AgentProcesses& operator=(const AgentProcesses&) = delete;
  ~AgentProcesses();  // kills the processes

  // Starts a process that calls `run` and then ends. This process must not have used gRPC before.
  absl::Status Start(const std::function<std::string()>& run);
  // Waits until all processes have ended. Returns their results; the result of a failed process is
  // empty.
  std::vector<std::string> Join();

 private:
  std::vector<std::pair<pid_t, int>> children_;  // process ids, and pipes from the processes
};

// Returns true if the first argument is "serve".
bool WantsToServe(int argc, char** argv);
// Runs a master like `tidemark serve --listen ADDRESS [--data-dir DIR]`, so that a benchmark can
// start itself as a server. Returns only after an error.
int Serve(int argc, char** argv);

}  // namespace tidemark::bench
