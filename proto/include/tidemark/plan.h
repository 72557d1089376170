// A plan as a value. It contains jobs, stages or both that have not started, and the cluster that
// will run them.
//
// A plan can be submitted to a master, read from a file by the command-line tool, or used in a
// what-if question. Only names and dependencies are required. Further fields improve the estimate:
//
//   tidemark::Plan plan = {.id = "visits-17", .cluster = {.slots = 16}};
//   plan.jobs.push_back({.name = "parse", .job_id = "parse-17"});
//   plan.jobs.push_back({.name = "count", .after = {"parse"}, .reduce_task_count = 8});
//
// An empty optional means "as in the last run of the job", and 0 means 0. A job with
// `reduce_task_count = 0` has only map tasks.
//
// These types do not check their values, but CheckPlan() does. ParsePlan() and the reader of plan
// files return only plans that CheckPlan() accepts.
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

// The work of one task. A field that is zero represents work that the task does not do. Together
// with the cluster's `node`, the fields determine the duration and the bottleneck of the task.
struct TaskData {
  // Time before the task processes data, for example to load code.
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
  // Names of stages of the same job that must end before this stage begins.
  std::vector<std::string> after;
  // A stage with 0 tasks takes no time.
  std::uint64_t task_count = 0;
  // Time between the end of the last stage in `after` and the start of the first task.
  absl::Duration lag;
  // Measured times, of which one is sufficient. The other lists are for the stage's first task on a
  // slot, for the job's first task on a slot, and for tasks that run while slots become idle. Each
  // of them defaults to task_times.
  std::vector<absl::Duration> task_times;
  std::vector<absl::Duration> first_task_times;
  std::vector<absl::Duration> fresh_task_times;
  std::vector<absl::Duration> last_task_times;
  // Replaces task_times.
  std::optional<TaskData> task;
  double slots_per_task = 1;
  // Share of the cluster's slots on which its tasks can run, such as slots with a GPU. At most 1.
  double slot_share = 1;
  std::uint64_t memory_bytes_per_task = 0;
  // Owners take turns according to the scheduling policy. If empty, the queue.
  std::string owner;
  // If empty, the queue of the job.
  std::string queue;
  friend bool operator==(const PlannedStage&, const PlannedStage&) = default;
};

// A job. It is described either by the numbers of a MapReduce job or, for any kind of job, by
// `stages`.
struct PlannedJob {
  // Unique within the plan. May be empty if the plan has only one job.
  std::string name;
  // The job that reports for this planned job. Empty if it is attached later (AttachJob).
  std::string job_id;
  // Name of past runs of this job. If empty, `name`.
  std::string history_name;
  // Names of jobs of the same plan that must succeed before it begins.
  std::vector<std::string> after;
  // If empty, the job has no queue, which is an error with SchedulingPolicy::kCapacity.
  std::string queue;
  std::optional<std::uint32_t> map_task_count;
  std::optional<std::uint32_t> reduce_task_count;
  std::optional<std::uint64_t> input_bytes;
  // If unset, the profile of past runs.
  std::optional<JobProfile> profile;
  // If not empty, map_task_count, reduce_task_count, input_bytes and profile must be unset.
  std::vector<PlannedStage> stages;
  // Number of slots in the run in which the task times of the stages were measured. If unset, the
  // number of slots of the cluster.
  std::optional<std::uint32_t> profiled_slots;
  friend bool operator==(const PlannedJob&, const PlannedJob&) = default;
};

// Determines which owner gets a free slot. An owner is a job or a PlannedStage::owner.
enum class SchedulingPolicy : std::uint8_t {
  // Treated as kFifo.
  kUnknown,
  // Owners get slots in the order of the plan. Each owner takes as many slots as it can use.
  kFifo,
  // The owner with the fewest containers gets the slot.
  kFair,
  // The owner with the lowest dominant share gets the slot.
  kDrf,
  // The queue that is furthest below its share gets the slot.
  kCapacity,
};

// A queue for SchedulingPolicy::kCapacity.
struct Queue {
  // Unique within the cluster.
  std::string name;
  // Relative to the shares of the other queues. Greater than 0.
  double share = 0;
  friend bool operator==(const Queue&, const Queue&) = default;
};

// The cluster that runs the jobs.
struct Cluster {
  // Number of tasks that can run at the same time on all nodes together.
  std::uint32_t slots = 1;
  std::uint32_t nodes = 1;
  SchedulingPolicy policy = SchedulingPolicy::kFifo;
  // Required only with kCapacity.
  std::vector<Queue> queues;
  // The capacity of one node. Required only if bottlenecks are requested or TaskData is used.
  std::optional<ResourceProfile> node;
  // Total memory of all nodes. 0 means no limit.
  std::uint64_t memory_bytes = 0;
  friend bool operator==(const Cluster&, const Cluster&) = default;
};

struct Plan {
  // May be empty if the plan is only estimated.
  std::string id;
  // For display. If empty, `id`.
  std::string name;
  // At least one job. SchedulingPolicy::kFifo assigns slots in this order.
  std::vector<PlannedJob> jobs;
  Cluster cluster;
  // Time during which a failed job may be replaced. Zero allows no replacement. For an open
  // workflow, the time without a running job after which it ends; zero leaves it to the master.
  absl::Duration retry_within;
  // Deadline by which the workflow must have succeeded.
  std::optional<absl::Time> deadline;
  // True if jobs may join the workflow, which ends some time after its last job or when it is
  // closed (PlanChange).
  bool is_open = false;
  friend bool operator==(const Plan&, const Plan&) = default;
};

// Checks a plan. Fails with InvalidArgument (FieldError), which names the first wrong field and a
// correction. Examples are a missing name, a dependency on an unknown job, a cycle, and a number
// out of range. Takes O(jobs + stages + edges), and O(names) for an unknown name. Thread-safe.
absl::Status CheckPlan(const Plan& plan);

}  // namespace tidemark
