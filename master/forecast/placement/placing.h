// Simulates an application task by task. The policy assigns each free container to a task ([BOE]
// Algorithm 2, with the track of a single task).
//
// A container that becomes free is a slot with a history. Its earlier tasks determine how warm it
// is (code loaded, compiled, connected), which is the largest single cause of differences among the
// tasks of a stage. The slot stays on its host, where the tasks share the processors
// (running_tasks.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "master/forecast/placement/allocation.h"
#include "master/forecast/placement/running_tasks.h"

namespace tidemark::placement {

enum class Warmth {
  kFresh,  // the first task on its slot
  kFirst,  // the first task of its stage on its slot
  kRest,
  kLast,  // no tasks of the stage are pending, so idle slots leave it more resources
};
inline constexpr std::size_t kWarmths = 4;

// A running task, or a task that starts.
struct TaskStart {
  std::size_t stage = 0;
  // index in its stage; running tasks come first, then others in order of start
  std::uint64_t task = 0;
  std::uint64_t left = 0;  // pending tasks of the stage, excluding this task
  // A counter that changes by one with each start: `left`, or the number of the bunch if tasks
  // start in bunches, which decrease `left` by more than one.
  std::uint64_t place = 0;
  Warmth warmth = Warmth::kRest;
};

// The time of a task in seconds. Negative values count as zero. Values that are not finite or above
// kForever count as kForever.
struct TaskSeconds {
  TaskSeconds(double in_all = 0, double idle = 0) : total(in_all), delay(idle) {}
  double total;  // from the start of the task, or from now if it is running
  double delay;  // first part of `total`, in which the task uses no resource of its node
};
inline constexpr double kForever = 1e15;

using SecondsOf = absl::FunctionRef<TaskSeconds(const TaskStart& start)>;
// Seconds from the end of a stage's last parent to its first task. It also applies to stages
// without tasks.
using LagOf = absl::FunctionRef<double(std::size_t stage)>;
using OnEnd = absl::FunctionRef<void(std::size_t stage, std::uint64_t task, double at)>;

struct PlacedStage {
  double start = 0;    // start of the next task to start
  double end = 0;      // end of the last task; 0 if no task remains
  double settled = 0;  // when the stage and all its ancestors are over
  double busy = 0;     // seconds for which its tasks hold containers from now on
  HostUse use;         // use of hosts with nodes
};

// A period in which the same stages run ([BOE] 5.1.1).
struct PlacedState {
  double start = 0;  // seconds from now
  double end = 0;
  struct Running {
    std::size_t stage = 0;
    HostUse use;  // in this state
  };
  std::vector<Running> stages;  // ordered by index
};

struct Placed {
  double seconds = 0;  // time until the end of the last stage
  std::vector<PlacedStage> stages;
  std::vector<PlacedState> states;  // in order; recorded only on request
};

struct PlacingOptions {
  std::size_t warm_slots = 0;  // idle containers that have run a task
  // The hosts whose resources tasks share; may be empty. All or none of them have nodes. If they
  // have no nodes, new containers start on the emptiest host and stay there.
  std::vector<SharedHost> hosts;
  std::vector<std::vector<std::uint32_t>> host_of_running;  // by stage and running task
  // While many tasks of a stage remain, up to this many concurrent or consecutive tasks are
  // simulated as one. This bounds the cost of untrusted jobs with millions of tasks. Stages in
  // `has_own_times` are exempt.
  std::uint64_t bunch = 1;
  std::vector<bool>
      has_own_times;  // by stage, whether tasks have individual times; missing entries are false
  // If true, records the states of hosts with nodes. O(stages) at each step.
  bool records_states = false;
};

// Simulates the same work repeatedly. Not thread-safe.
class Placing {
 public:
  // Creates a simulation. Fails like Check().
  static absl::StatusOr<Placing> Create(const std::vector<StageWork>& stages, const Resourcing& on,
                                        PlacingOptions options = {});
  Placing(Placing&&) noexcept;
  ~Placing();

  // Runs one simulation. The result is valid until the next run. O(tasks (log containers +
  // owners)).
  const Placed& Run(SecondsOf seconds_of, LagOf lag_of, OnEnd on_end);
  // Runs one simulation with the lags of the work.
  const Placed& Run(SecondsOf seconds_of);

 private:
  class Impl;
  explicit Placing(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark::placement
