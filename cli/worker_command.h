// How the example engine names its runs and starts its workers.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace tidemark::cli {

// This program, to be started again for each task.
inline std::vector<std::string> WorkerCommand() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return {error ? "/proc/self/exe" : self.string(), "worker"};
}

// Of what is run, the time and this process.
inline std::string NewRunId(const std::string& name) {
  return fmt::format("{}-{}-{}", name,
                     absl::FormatTime("%Y%m%d-%H%M%S", absl::Now(), absl::UTCTimeZone()), getpid());
}

}  // namespace tidemark::cli
