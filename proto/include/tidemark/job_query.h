// Requests about jobs as values: filters, views and scenarios.
//
//   tidemark::JobFilter mine = {.states = {tidemark::JobState::kRunning}, .user = "ann"};
//   const auto jobs = client->ListJobs(mine);               // a tidemark::Client
//   const auto outcomes = client->EstimateJob("visits-17", {{.slots = 8}, {.slots = 16}});
//
// The plain counterpart of the requests in proto/tidemark/v1/job_service.proto, whose field
// comments also apply here. These types do not check their values. A master returns InvalidArgument
// (FieldError), which names the wrong field. Values are copyable, comparable, and safe to share
// between threads when const.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tidemark/job.h"
#include "tidemark/plan.h"

namespace tidemark {

// Determines which parts of a job a snapshot contains.
enum class View : std::uint8_t {
  // The caller's default view.
  kUnknown,
  // Counts, but neither stages nor children.
  kBasic,
  // Stages, children and groups.
  kStages,
  // All parts.
  kFull,
};

// Selects jobs of a list. A job must satisfy all conditions. An empty field is not a condition.
struct JobFilter {
  // The state of the job must be one of these.
  std::vector<JobState> states;
  std::vector<JobKind> kinds;
  // The user of the job, exactly as reported.
  std::string user;
  // The queue of the job, exactly as reported.
  std::string queue;
  // Prefix of the name or, if a job has no name, of the ID.
  std::string name_prefix;
  // The workflow of which the job must be a child.
  std::string workflow_id;
  friend bool operator==(const JobFilter&, const JobFilter&) = default;
};

// A hypothetical change. An empty field preserves the current value.
struct Scenario {
  // Number of slots of the whole cluster. At least 1.
  std::optional<std::uint32_t> slots;
  // Factor for the data of jobs and stages that have not begun. Greater than 0.
  std::optional<double> data_factor;
  // The order in which the jobs of a workflow or plan get slots.
  std::optional<SchedulingPolicy> policy;
  // Number of executors of a running job, each with as many slots as the current executors. Must
  // not be combined with `slots`.
  std::optional<std::uint32_t> executors;
  friend bool operator==(const Scenario&, const Scenario&) = default;
};

// A period in which the same stages of a plan run and share the nodes of the cluster.
struct PlanState {
  struct Stage {
    StageId id;
    // Mean number of concurrent tasks.
    double tasks = 0;
    // Time that a whole task would take at the rate in this state.
    absl::Duration task_time;
    // The resource that limits the tasks. Empty if their demands are unknown.
    std::string bottleneck;
    friend bool operator==(const Stage&, const Stage&) = default;
  };
  // Time from now until the period starts, and until it ends.
  absl::Duration starts_in;
  absl::Duration ends_in;
  std::vector<Stage> stages;
  friend bool operator==(const PlanState&, const PlanState&) = default;
};

// Bounds of the time by which a stage would end earlier if its pending tasks had equal sizes.
struct SkewGain {
  std::uint32_t stage = 0;
  absl::Duration lower;
  absl::Duration upper;
  friend bool operator==(const SkewGain&, const SkewGain&) = default;
};

// The estimate of a scenario.
struct Outcome {
  // The sequence number of this snapshot is 0.
  Snapshot snapshot;
  // Fraction of the time of all slots until the end that tasks would use, 0..1. Unset for a job
  // that is not a plan.
  std::optional<double> busy_share;
  // For a job that is not a plan, the number of tasks that would run at the same time and the
  // number of executors. 0 if unknown.
  std::uint32_t slots = 0;
  std::uint32_t executors = 0;
  // The states of a plan whose stages share nodes, in order. Empty if there are too many stages.
  std::vector<PlanState> states;
  // For a job that is not a plan, the stage with the largest gain. Unset if the sizes of pending
  // tasks are unknown.
  std::optional<SkewGain> skew_gain = {};
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// A change of a running plan, of which either all parts are applied or none.
struct PlanChange {
  // New jobs. They may depend on jobs of the plan and on each other.
  std::vector<PlannedJob> add_jobs;
  // Names of jobs that will not run.
  std::vector<std::string> cancel_jobs;
  // If true, the workflow ends immediately with the state kKilled.
  bool cancel = false;
  // If true, the open workflow ends once no job of it runs. Jobs may join it until then.
  bool close = false;
  // The new deadline of the workflow. Unset if it does not change.
  std::optional<absl::Time> deadline = {};
  friend bool operator==(const PlanChange&, const PlanChange&) = default;
};

}  // namespace tidemark
