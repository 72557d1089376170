// Workflows that really run: the example engine's web log on this machine, watched at a master.
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
  int runs = 5;                      // the first has no earlier run and is not judged
  std::uint64_t visits = 2'000'000;  // of the web site, in each run
  std::uint32_t slots = 2;
};

struct LocalRuns {
  std::vector<Trace> traces;  // of all runs, from the event logs of their jobs
  Row live;                   // "tidemark": what the master really said, run after run
};

// Runs them one after the other, at a master that remembers. Errors: those of the engine, the
// master and its logs.
absl::StatusOr<LocalRuns> RunLocally(const LocalOptions& options);

}  // namespace tidemark::bench
