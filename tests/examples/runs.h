// Runs example jobs in a directory of the test.
#pragma once

#include <string>
#include <vector>

#include "examples/local_mapreduce/run.h"
#include "gtest/gtest.h"
#include "tests/scratch_directory.h"

namespace tidemark::examples {

inline std::string Data(const std::string& name) {
  return std::string(TIDEMARK_DATA_DIR) + "/" + name;
}

class RunTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return directory_ / name; }

  // Returns options that are small enough to be quick, but large enough for spills, waves and
  // several map tasks.
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
  const test::ScratchDirectory directory_;
};

}  // namespace tidemark::examples
