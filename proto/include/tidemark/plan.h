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
// The plain counterpart of proto/tidemark/next/v1/plan.proto, whose field comments hold here too.
// Values: copyable, comparable, safe to share between threads when const.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "tidemark/job_profile.h"

namespace tidemark::next {

// What one task works through; what is 0 is not done. Together with the cluster's `node` it tells
// the task's time and its bottleneck.
struct TaskData {
  absl::Duration load;  // before it works, such as to load its code
  std::uint64_t input_bytes = 0;
  std::uint64_t shuffle_read_bytes = 0;
  std::uint64_t shuffle_write_bytes = 0;
  std::uint64_t output_bytes = 0;
  double core_bytes_per_second = 0;
  friend bool operator==(const TaskData&, const TaskData&) = default;
};

// Tasks that do the same to different data. Either `task_times` or `task` says what one takes.
struct PlannedStage {
  std::string name;                // unique within its job
  std::vector<std::string> after;  // names of stages of the same job
  std::uint64_t task_count = 0;    // 0: it takes no time
  absl::Duration lag;              // from the end of the last stage it waits for to its first task
  // Measured; one is enough. The others are of its first task on a slot, of the very first task on
  // a slot, and of tasks around which slots go idle; empty: as task_times.
  std::vector<absl::Duration> task_times;
  std::vector<absl::Duration> first_task_times;
  std::vector<absl::Duration> fresh_task_times;
  std::vector<absl::Duration> last_task_times;
  std::optional<TaskData> task;
  double slots_per_task = 1;
  std::uint64_t memory_bytes_per_task = 0;
  std::string owner;  // owners take turns by the policy; empty: the queue
  std::string queue;  // empty: its job's
  friend bool operator==(const PlannedStage&, const PlannedStage&) = default;
};

// A MapReduce job by its numbers, or any job stage by stage.
struct PlannedJob {
  std::string name;          // unique within the plan; may be empty if it is the only one
  std::string job_id;        // that reports for it; empty: attached later
  std::string history_name;  // under which its earlier runs are known; empty: name
  std::vector<std::string> after;
  std::string queue;
  std::optional<std::uint32_t> map_task_count;
  std::optional<std::uint32_t> reduce_task_count;
  std::optional<std::uint64_t> input_bytes;
  std::optional<JobProfile> profile;            // empty: what its last runs taught
  std::vector<PlannedStage> stages;             // if any, the four fields above are empty
  std::optional<std::uint32_t> profiled_slots;  // of its stages' task times; empty: the cluster's
  friend bool operator==(const PlannedJob&, const PlannedJob&) = default;
};

// Who gets a free slot; an owner is a job, or what PlannedStage::owner says.
enum class SchedulingPolicy : std::uint8_t {
  kUnknown,   // taken for kFifo
  kFifo,      // owners in the order of the plan, each as much as it wants
  kFair,      // the owner with the fewest containers first
  kDrf,       // the owner with the least dominant share first
  kCapacity,  // the queue furthest below its share first
};

struct Queue {
  std::string name;
  double share = 0;  // beside the shares of the other queues; more than 0
  friend bool operator==(const Queue&, const Queue&) = default;
};

// Where the jobs run. `node` is needed for bottlenecks and for TaskData only.
struct Cluster {
  std::uint32_t slots = 1;
  std::uint32_t nodes = 1;
  SchedulingPolicy policy = SchedulingPolicy::kFifo;
  std::vector<Queue> queues;
  std::optional<ResourceProfile> node;
  std::uint64_t memory_bytes = 0;  // of all nodes; 0: memory does not limit
  friend bool operator==(const Cluster&, const Cluster&) = default;
};

struct Plan {
  std::string id;    // may be empty where it is only estimated
  std::string name;  // empty: id
  std::vector<PlannedJob> jobs;
  Cluster cluster;
  absl::Duration retry_within;  // how long a failed job may be replaced; zero: not at all
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

}  // namespace tidemark::next
