// A workflow at one instant, and what earlier runs of it left behind. Seconds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "master/schedule/allocation.h"
#include "master/schedule/placing.h"

namespace tidemark::workflow {

using schedule::kWarmths;
using schedule::Warmth;

struct FinishedTask {
  double seconds = 0;
  Warmth warmth = Warmth::kRest;
};

struct RunningTask {
  double elapsed = 0;
  Warmth warmth = Warmth::kRest;
};

struct StageNow {
  std::string name;                  // as engines name it: the same in every run
  std::vector<std::size_t> parents;  // indexes
  std::size_t owner = 0;
  schedule::Resources container = {.cores = 1};
  std::uint64_t tasks = 0;  // in all
  std::vector<FinishedTask> finished;
  std::vector<RunningTask> running;
  double lag = 0;  // from the end of the last parent to the first task
};

// One stage of a finished run.
struct StageProfile {
  std::string name;
  std::vector<std::size_t> parents;
  std::uint64_t tasks = 0;
  double lag = 0;
  std::array<std::vector<double>, kWarmths> seconds;  // of its tasks, by Warmth
};

struct WorkflowProfile {
  double slots = 1;  // containers that the run had at once
  std::vector<StageProfile> stages;
};

}  // namespace tidemark::workflow
