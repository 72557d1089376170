// `tidemark serve`, or another server, as a separate process that can be measured and killed.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace tidemark::bench {

class MasterProcess {
 public:
  // Runs `command`, which prints "listening on ADDRESS" to standard error, and waits for that.
  // Fails if it exits earlier or does not print it within `timeout`.
  static absl::StatusOr<MasterProcess> Start(std::vector<std::string> command,
                                             absl::Duration timeout);
  // The same without waiting.
  static absl::StatusOr<MasterProcess> Spawn(std::vector<std::string> command);
  absl::Status WaitUntilListening(absl::Duration timeout);

  MasterProcess(MasterProcess&& other) noexcept;
  MasterProcess& operator=(MasterProcess&& other) noexcept;
  ~MasterProcess();  // Kill()

  // Sends SIGKILL and waits for the end.
  void Kill();

  const std::string& address() const { return address_; }
  // Returns the used memory and the processor time so far.
  std::size_t resident_bytes() const;
  absl::Duration cpu_time() const;

 private:
  MasterProcess(pid_t pid, int standard_error) : pid_(pid), standard_error_(standard_error) {}

  pid_t pid_ = -1;
  int standard_error_ = -1;
  std::string said_;
  std::string address_;
};

}  // namespace tidemark::bench
