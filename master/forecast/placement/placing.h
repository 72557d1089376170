// One possible future of an application, task by task: whenever a container is free, the policy
// says whose task is next ([BOE] Algorithm 2, whose track of a single task this is).
//
// A container that comes back is a slot with a past: what it has run decides how warm it is (code
// loaded, compiled, connected), which is the largest single difference among the tasks of a stage,
// and it stays on its host, whose processors its tasks share (running_tasks.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "master/forecast/placement/running_tasks.h"
#include "master/forecast/placement/stage_work.h"

namespace tidemark::schedule {

enum class Warmth {
  kFresh,  // the first task of its slot
  kFirst,  // the first one of this stage on its slot
  kRest,
  kLast,  // nothing of its stage waits behind it: slots go idle around it and leave it more
};
inline constexpr std::size_t kWarmths = 4;

// A task that starts, or runs already.
struct TaskStart {
  std::size_t stage = 0;
  std::uint64_t task = 0;  // of the stage: those that run already first, then in order of start
  std::uint64_t left = 0;  // tasks of the stage that are still pending, without this one
  // Consecutive from start to start: `left`, which is the same at every update, or the number of
  // the bunch, since `left` takes steps of any size then.
  std::uint64_t place = 0;
  Warmth warmth = Warmth::kRest;
};

// What such a task takes. Seconds; those that are negative count as zero, those that are not finite
// or longer than kForever as that.
struct TaskSeconds {
  TaskSeconds(double in_all = 0, double fetches = 0) : total(in_all), delay(fetches) {}
  double total;  // from when it starts, or from now on
  double delay;  // of these, the first in which it does not use a processor (it fetches)
};
inline constexpr double kForever = 1e15;

using SecondsOf = absl::FunctionRef<TaskSeconds(const TaskStart& start)>;
// From the end of a stage's last parent to its first task; a stage without tasks takes it, too.
using LagOf = absl::FunctionRef<double(std::size_t stage)>;
using OnEnd = absl::FunctionRef<void(std::size_t stage, std::uint64_t task, double at)>;

struct PlacedStage {
  double start = 0;    // of the first task from now on; seconds from now
  double end = 0;      // of its last task; 0: none was left
  double settled = 0;  // from when it, and all that it waits for, is over
};

struct Placed {
  double seconds = 0;  // to the end of the last stage
  std::vector<PlacedStage> stages;
};

struct PlacingOptions {
  std::size_t warm_slots = 0;  // idle containers that have run a task before
  // Where tasks wait for processors; empty: nowhere. New containers are on the emptiest host.
  std::vector<SharedHost> hosts;
  std::vector<std::vector<std::uint32_t>> host_of_running;  // by stage and running task
  // Up to so many tasks of a stage run as one, side by side or one after the other, as long as
  // many are left: what a stranger's million tasks cost is bounded by it. Not those of stages in
  // `is_told_apart`, whose tasks have names.
  std::uint64_t bunch = 1;
  std::vector<bool> is_told_apart;  // by stage; shorter: no
};

// Plays the future of the same work again and again. Not thread-safe.
class Placing {
 public:
  // Errors: those of Check().
  static absl::StatusOr<Placing> Create(const std::vector<StageWork>& stages, const Resourcing& on,
                                        PlacingOptions options = {});
  Placing(Placing&&) noexcept;
  ~Placing();

  // The reference lives until the next run. Cost: O(tasks (log containers + owners)).
  const Placed& Run(SecondsOf seconds_of, LagOf lag_of, OnEnd on_end);
  // The same with the lags of the work.
  const Placed& Run(SecondsOf seconds_of);

 private:
  class Impl;
  explicit Placing(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark::schedule
