// How the example engine starts its workers.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace tidemark::cli {

// This program, to be started again for each task.
inline std::vector<std::string> WorkerCommand() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return {error ? "/proc/self/exe" : self.string(), "worker"};
}

}  // namespace tidemark::cli
