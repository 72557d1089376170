// A run of a MapReduce job as a plan of two stages. Pure.
//
// The reduce tasks that start before the last map task has ended wait for its output. Their times
// count from that end. Such tasks are the first on their slots, so the plan separates their times
// from later waves.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tidemark/job_tasks.h"
#include "tidemark/plan.h"

namespace tidemark::whatif {

struct MapReduceRun {
  Plan plan;  // one job with the stages whose tasks have finished
  // Part of the mean time of a reduce task that does not depend on the bytes that it reads, 0..1.
  double reduce_fixed_share = 0;
};

// Returns the run whose attempts are `tasks`, or nullopt if no task has finished. `reduce_bytes`
// has the bytes that reduce tasks read, by task. The plan has as many slots as the largest number
// of ended attempts that ran at once, including reduce tasks that waited for map output.
//
// A reduce task that reads x bytes takes t = a + b x seconds. The fixed part a is the least-squares
// fit over the reduce tasks, limited to 0 .. shortest time. It is 0 if the fit explains less
// than half of the variance, for example because all tasks read about the same amount.
std::optional<MapReduceRun> MapReduceRunOf(
    const JobTasks& tasks, absl::Time started_at,
    const std::map<std::uint32_t, std::uint64_t>& reduce_bytes);

// Returns the plan of MapReduceRunOf() with another number of reduce tasks. With n instead of m
// tasks, a task of t seconds takes a + (t - a) m / n seconds, since it reads m / n of the bytes.
// The keys are assumed to be spread over the tasks as evenly as in the run. Fails with
// FailedPrecondition if the plan has no reduce tasks.
absl::StatusOr<Plan> WithReduceTasks(const Plan& plan, double reduce_fixed_share,
                                     std::uint32_t reduce_tasks);

}  // namespace tidemark::whatif
