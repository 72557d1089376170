// One possible future of a workflow, task by task: whenever a container is free, the policy says
// whose task is next ([BOE] Algorithm 2, whose track of a single task this is).
//
// A container that comes back is a slot with a past: what it has run decides how warm it is (code
// loaded, compiled, connected), which is the largest single difference among the tasks of a stage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "master/workflow/stage_work.h"

namespace tidemark::workflow {

enum class Warmth {
  kFresh,  // the first task of its slot
  kFirst,  // the first one of this stage on its slot
  kRest,
  kLast,  // nothing of its stage waits behind it: slots go idle around it and leave it more
};

// How long the next task of a stage takes. Seconds, not negative.
struct TaskStart {
  std::size_t stage = 0;
  std::uint64_t left = 0;     // tasks of the stage that are still pending, without this one
  std::uint64_t running = 0;  // tasks of the stage that run already
  Warmth warmth = Warmth::kRest;
};
using TaskSeconds = absl::FunctionRef<double(const TaskStart& start)>;
// What the n-th running task of a stage still takes.
using RemainingSeconds = absl::FunctionRef<double(std::size_t stage, std::size_t nth)>;

struct SimulatedStage {
  double start = 0;  // of the first task from now on; seconds from now
  double end = 0;    // 0: without work
};

struct Simulated {
  double seconds = 0;  // to the end of the last stage
  std::vector<SimulatedStage> stages;
};

// Simulates the same work again and again. Not thread-safe.
class ListSimulation {
 public:
  // `warm_slots`: idle containers that have run a task before. Errors: those of Check().
  static absl::StatusOr<ListSimulation> Create(const std::vector<StageWork>& stages,
                                               const Resourcing& on, std::size_t warm_slots);
  ListSimulation(ListSimulation&&) noexcept;
  ~ListSimulation();

  // The reference lives until the next run. Cost: O(tasks (log containers + owners)).
  const Simulated& Run(TaskSeconds task_seconds, RemainingSeconds remaining);

 private:
  class Impl;
  explicit ListSimulation(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark::workflow
