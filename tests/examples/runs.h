// Runs example jobs in a directory of the test.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "examples/local_mapreduce/run.h"
#include "gtest/gtest.h"

namespace tidemark::examples {

inline std::string Data(const std::string& name) {
  return std::string(TIDEMARK_DATA_DIR) + "/" + name;
}

class RunTest : public ::testing::Test {
 protected:
  RunTest() {
    std::string pattern = ::testing::TempDir() + "/tidemark-run-XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
  }
  ~RunTest() override { std::filesystem::remove_all(directory_); }

  std::string Path(const std::string& name) const { return directory_ + "/" + name; }

  // Small enough to be quick, and large enough for spills, waves and several map tasks.
  RunOptions Options(const std::string& job, std::vector<std::string> inputs) const {
    return {.job = job,
            .inputs = std::move(inputs),
            .output_dir = Path("out"),
            .slots = 2,
            .reduce_task_count = 3,
            .map_task_count = 4,
            .worker_command = {TIDEMARK_WORKER, "worker"}};
  }

 private:
  std::string directory_;
};

}  // namespace tidemark::examples
