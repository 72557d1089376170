// A plan as a value. It has jobs, stages or both that have not started, and the cluster that will
// run them.
//
// A plan is submitted to a master, read from a file by the command line, or used in a what-if
// question. It needs only names and edges. Further fields improve the estimate:
//
//   tidemark::Plan plan = {.id = "visits-17", .cluster = {.slots = 16}};
//   plan.jobs.push_back({.name = "parse", .job_id = "parse-17"});
//   plan.jobs.push_back({.name = "count", .after = {"parse"}, .reduce_task_count = 8});
//
// An empty optional means "as in its last run", and 0 means 0. A job of `reduce_task_count = 0`
// has only map tasks.
//
// These types check nothing. CheckPlan() checks a plan. Plans from ParsePlan() and from the reader
// of plan files have passed it.
//
// The plain counterpart of proto/tidemark/v1/plan.proto, whose field comments also apply here.
// Values are copyable, comparable, and safe to share between threads when const.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "tidemark/job_profile.h"

namespace tidemark {

// The work of one task. A zero field is work that the task does not do. Together with the
// cluster's `node`, the fields determine the task's time and bottleneck.
struct TaskData {
  // Time before the work, such as for loading code.
  absl::Duration load;
  std::uint64_t input_bytes = 0;
  std::uint64_t shuffle_read_bytes = 0;
  std::uint64_t shuffle_write_bytes = 0;
  std::uint64_t output_bytes = 0;
  // Throughput of one core.
  double core_bytes_per_second = 0;
  friend bool operator==(const TaskData&, const TaskData&) = default;
};

// Tasks that perform the same work on different data. Either `task_times` or `task` gives the time
// of one task:
//
//   PlannedStage scan = {.name = "scan", .task_count = 40, .task_times = {absl::Seconds(11)}};
//   PlannedStage join = {.name = "join", .after = {"scan"}, .task_count = 8};
//   join.task = TaskData{.input_bytes = 1 << 28, .core_bytes_per_second = 5e7};
struct PlannedStage {
  // Unique within its job.
  std::string name;
  // Names of stages of the same job.
  std::vector<std::string> after;
  // A stage of 0 tasks takes no time.
  std::uint64_t task_count = 0;
  // Time from the end of the last stage for which it waits to its first task.
  absl::Duration lag;
  // Measured times; one is enough. The other lists are for the stage's first task on a slot, the
  // job's first task on a slot, and tasks around which slots become idle. An empty list means
  // task_times.
  std::vector<absl::Duration> task_times;
  std::vector<absl::Duration> first_task_times;
  std::vector<absl::Duration> fresh_task_times;
  std::vector<absl::Duration> last_task_times;
  // Replaces task_times.
  std::optional<TaskData> task;
  double slots_per_task = 1;
  std::uint64_t memory_bytes_per_task = 0;
  // Owners take turns as the policy defines. Empty means the queue.
  std::string owner;
  // Empty means the queue of its job.
  std::string queue;
  friend bool operator==(const PlannedStage&, const PlannedStage&) = default;
};

// A job. Either numbers describe a MapReduce job, or `stages` describes any job.
struct PlannedJob {
  // Unique within the plan; may be empty if it is the only one.
  std::string name;
  // The job that reports for it. Empty if it is attached later (AttachJob).
  std::string job_id;
  // The name of its past runs. Empty means `name`.
  std::string history_name;
  // Names of jobs of the same plan that must succeed before it begins.
  std::vector<std::string> after;
  // Empty means no queue, which is an error with SchedulingPolicy::kCapacity.
  std::string queue;
  std::optional<std::uint32_t> map_task_count;
  std::optional<std::uint32_t> reduce_task_count;
  std::optional<std::uint64_t> input_bytes;
  // Unset means the profile of its past runs.
  std::optional<JobProfile> profile;
  // If not empty, map_task_count, reduce_task_count, input_bytes and profile must be unset.
  std::vector<PlannedStage> stages;
  // Slots of the run in which the task times of its stages were measured. Unset means the slots of
  // the cluster.
  std::optional<std::uint32_t> profiled_slots;
  friend bool operator==(const PlannedJob&, const PlannedJob&) = default;
};

// Which owner gets a free slot. An owner is a job or a PlannedStage::owner.
enum class SchedulingPolicy : std::uint8_t {
  // Treated as kFifo.
  kUnknown,
  // Owners in the order of the plan. Each owner takes as many slots as it can use.
  kFifo,
  // The owner with the fewest containers first.
  kFair,
  // The owner with the least dominant share first.
  kDrf,
  // The queue furthest below its share first.
  kCapacity,
};

// A queue of SchedulingPolicy::kCapacity.
struct Queue {
  // Unique within the cluster.
  std::string name;
  // Relative to the shares of the other queues. Greater than 0.
  double share = 0;
  friend bool operator==(const Queue&, const Queue&) = default;
};

// The cluster of the jobs.
struct Cluster {
  // Tasks that can run at once, on all nodes together.
  std::uint32_t slots = 1;
  std::uint32_t nodes = 1;
  SchedulingPolicy policy = SchedulingPolicy::kFifo;
  // Required only with kCapacity.
  std::vector<Queue> queues;
  // The capacity of one node. Required only for bottlenecks and TaskData.
  std::optional<ResourceProfile> node;
  // Memory of all nodes. 0 means no limit.
  std::uint64_t memory_bytes = 0;
  friend bool operator==(const Cluster&, const Cluster&) = default;
};

struct Plan {
  // May be empty if the plan is only estimated.
  std::string id;
  // For display. Empty means `id`.
  std::string name;
  // At least one, in the order in which they take slots under SchedulingPolicy::kFifo.
  std::vector<PlannedJob> jobs;
  Cluster cluster;
  // The time for which a failed job may be replaced. Zero allows no replacement.
  absl::Duration retry_within;
  // Time by which the workflow must have succeeded.
  std::optional<absl::Time> deadline;
  friend bool operator==(const Plan&, const Plan&) = default;
};

// Checks a plan. Fails with InvalidArgument (FieldError), which names the first wrong field and
// the correction. Examples are a missing name, an unknown job to wait for, a cycle, and a number
// out of range. O(jobs + stages + edges), and O(names) for an unknown name. Thread-safe.
absl::Status CheckPlan(const Plan& plan);

}  // namespace tidemark
