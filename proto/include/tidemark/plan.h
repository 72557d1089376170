// What has not started yet, as a value: jobs, stages, or both, and where they will run.
//
// A plan is what is submitted to a master, what the command line reads from a file, and what a
// what-if asks about. It needs no more than names and edges; whatever else is known makes the
// estimate better:
//
//   tidemark::Plan plan = {.id = "visits-17", .cluster = {.slots = 16}};
//   plan.jobs.push_back({.name = "parse", .job_id = "parse-17"});
//   plan.jobs.push_back({.name = "count", .after = {"parse"}, .reduce_task_count = 8});
//
// Everywhere an empty optional means "as in its last run" and 0 means 0: a job of
// `reduce_task_count = 0` has map tasks alone.
//
// Nothing here is checked: CheckPlan() says whether a plan makes sense, and a plan that ParsePlan()
// or the reader of plan files has returned has passed it.
//
// The plain counterpart of proto/tidemark/v1/plan.proto, whose field comments hold here too.
// Values: copyable, comparable, safe to share between threads when const.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "tidemark/job_profile.h"

namespace tidemark {

// What one task works through; what is 0 is not done. Together with the cluster's `node` it tells
// the task's time and its bottleneck.
struct TaskData {
  // Before it works, such as to load its code.
  absl::Duration load;
  std::uint64_t input_bytes = 0;
  std::uint64_t shuffle_read_bytes = 0;
  std::uint64_t shuffle_write_bytes = 0;
  std::uint64_t output_bytes = 0;
  // What one core works through.
  double core_bytes_per_second = 0;
  friend bool operator==(const TaskData&, const TaskData&) = default;
};

// Tasks that do the same to different data. Either `task_times` or `task` says what one takes:
//
//   PlannedStage scan = {.name = "scan", .task_count = 40, .task_times = {absl::Seconds(11)}};
//   PlannedStage join = {.name = "join", .after = {"scan"}, .task_count = 8};
//   join.task = TaskData{.input_bytes = 1 << 28, .core_bytes_per_second = 5e7};
struct PlannedStage {
  // Unique within its job.
  std::string name;
  // Names of stages of the same job.
  std::vector<std::string> after;
  // 0: it takes no time.
  std::uint64_t task_count = 0;
  // From the end of the last stage that it waits for to its first task.
  absl::Duration lag;
  // Measured; one is enough. The others are of its first task on a slot, of the very first task on
  // a slot, and of tasks around which slots go idle; empty: as task_times.
  std::vector<absl::Duration> task_times;
  std::vector<absl::Duration> first_task_times;
  std::vector<absl::Duration> fresh_task_times;
  std::vector<absl::Duration> last_task_times;
  // In place of task_times.
  std::optional<TaskData> task;
  double slots_per_task = 1;
  std::uint64_t memory_bytes_per_task = 0;
  // Owners take turns by the policy; empty: the queue.
  std::string owner;
  // Empty: its job's.
  std::string queue;
  friend bool operator==(const PlannedStage&, const PlannedStage&) = default;
};

// A MapReduce job by its numbers, or any job stage by stage.
struct PlannedJob {
  // Unique within the plan; may be empty if it is the only one.
  std::string name;
  // The job that reports for it; empty: attached later (AttachJob).
  std::string job_id;
  // The name under which its earlier runs are known; empty: name.
  std::string history_name;
  // Names of jobs of the same plan that must succeed before it begins.
  std::vector<std::string> after;
  // Empty: none; an error with SchedulingPolicy::kCapacity.
  std::string queue;
  std::optional<std::uint32_t> map_task_count;
  std::optional<std::uint32_t> reduce_task_count;
  std::optional<std::uint64_t> input_bytes;
  // Empty: what its last runs taught.
  std::optional<JobProfile> profile;
  // If there are any, the four fields above are empty.
  std::vector<PlannedStage> stages;
  // Slots of the run in which the task times of its stages were measured; empty: the cluster's.
  std::optional<std::uint32_t> profiled_slots;
  friend bool operator==(const PlannedJob&, const PlannedJob&) = default;
};

// Who gets a free slot; an owner is a job, or what PlannedStage::owner says.
enum class SchedulingPolicy : std::uint8_t {
  // Taken for kFifo.
  kUnknown,
  // Owners in the order of the plan, each as much as it wants.
  kFifo,
  // The owner with the fewest containers first.
  kFair,
  // The owner with the least dominant share first.
  kDrf,
  // The queue furthest below its share first.
  kCapacity,
};

// What SchedulingPolicy::kCapacity shares the cluster among.
struct Queue {
  // Unique within the cluster.
  std::string name;
  // Relative to the shares of the other queues. More than 0.
  double share = 0;
  friend bool operator==(const Queue&, const Queue&) = default;
};

// Where the jobs run.
struct Cluster {
  // Tasks that can run at once, on all nodes together.
  std::uint32_t slots = 1;
  std::uint32_t nodes = 1;
  SchedulingPolicy policy = SchedulingPolicy::kFifo;
  // Needed with kCapacity only.
  std::vector<Queue> queues;
  // What one node can do; needed for bottlenecks and for TaskData only.
  std::optional<ResourceProfile> node;
  // Of all nodes; 0: memory does not limit.
  std::uint64_t memory_bytes = 0;
  friend bool operator==(const Cluster&, const Cluster&) = default;
};

struct Plan {
  // May be empty where the plan is only estimated.
  std::string id;
  // For people; empty: id.
  std::string name;
  // At least one, in the order in which they take slots under SchedulingPolicy::kFifo.
  std::vector<PlannedJob> jobs;
  Cluster cluster;
  // How long a failed job may be replaced; zero: not at all.
  absl::Duration retry_within;
  // When it has to have succeeded.
  std::optional<absl::Time> deadline;
  friend bool operator==(const Plan&, const Plan&) = default;
};

// Whether a plan makes sense: everything that a stranger may have got wrong.
//
// InvalidArgument (FieldError) names the first field that is wrong and what to do: no job, a name
// that is missing, too long or taken, a job or stage to wait for that does not exist, a cycle, a
// number out of range, a stage without task times, a queue that is missing or unknown, a job that
// is described both by its numbers and by its stages. O(jobs + stages + edges), and for an unknown
// name O(names). Thread-safe.
absl::Status CheckPlan(const Plan& plan);

}  // namespace tidemark
