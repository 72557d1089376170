// Runs workflows on this machine with a master that watches them. The workflow is the example
// engine's web log.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/workflow/judge.h"
#include "bench/workflow/trace.h"

namespace tidemark::bench {

struct LocalOptions {
  std::vector<std::string> worker_command;
  int runs = 5;                      // the first run has no past run and is not evaluated
  std::uint64_t visits = 2'000'000;  // visits of the web site in each run
  std::uint32_t slots = 2;
};

struct LocalRuns {
  std::vector<Trace> traces;  // traces of all runs, from the event logs of their jobs
  Row live;                   // "tidemark": the master's own predictions in each run
};

// Runs the workflows sequentially with a master that has a history. Returns errors of the engine,
// the master and its logs.
absl::StatusOr<LocalRuns> RunLocally(const LocalOptions& options);

}  // namespace tidemark::bench
