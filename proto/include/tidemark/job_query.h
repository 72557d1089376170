// Requests about jobs as values: filters, views and scenarios.
//
//   tidemark::JobFilter mine = {.states = {tidemark::JobState::kRunning}, .user = "ann"};
//   const auto jobs = client->ListJobs(mine);               // a tidemark::Client
//   const auto outcomes = client->EstimateJob("visits-17", {{.slots = 8}, {.slots = 16}});
//
// The plain counterpart of the requests in proto/tidemark/v1/job_service.proto, whose field
// comments also apply here. These types check nothing; a master answers InvalidArgument
// (FieldError) and names the wrong field. Values: copyable, comparable, safe to share between
// threads when const.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tidemark/job.h"
#include "tidemark/plan.h"

namespace tidemark {

// Which parts of a job a snapshot contains.
enum class View : std::uint8_t {
  // The caller's default.
  kUnknown,
  // Counts in place of stages and children.
  kBasic,
  // With stages, children and groups.
  kStages,
  // Everything.
  kFull,
};

// Selects jobs of a list. A job must meet all conditions. An empty field sets no condition.
struct JobFilter {
  // One of these.
  std::vector<JobState> states;
  std::vector<JobKind> kinds;
  std::string user;
  std::string queue;
  // Prefix of the name, or of the id of a job without a name.
  std::string name_prefix;
  // The workflow that the job is a child of.
  std::string workflow_id;
  friend bool operator==(const JobFilter&, const JobFilter&) = default;
};

// A hypothetical change. An empty field keeps the present value.
struct Scenario {
  // Slots of the whole cluster.
  std::optional<std::uint32_t> slots;
  // Factor for the data of jobs and stages that have not begun. Greater than 0.
  std::optional<double> data_factor;
  std::optional<SchedulingPolicy> policy;
  // Number of executors of a running job, each with as many slots as its present executors.
  // Excludes `slots`.
  std::optional<std::uint32_t> executors;
  friend bool operator==(const Scenario&, const Scenario&) = default;
};

// The estimate of a scenario.
struct Outcome {
  // Its sequence is 0.
  Snapshot snapshot;
  // Fraction of the slots' time until the end that tasks would use, 0..1. Empty for a job that is
  // not a plan.
  std::optional<double> busy_share;
  // For a job that is not a plan: tasks that would run at once, and the number of executors. 0 if
  // unknown.
  std::uint32_t slots = 0;
  std::uint32_t executors = 0;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// A change of a running plan. It is applied as a whole or not at all.
struct PlanChange {
  // New jobs. They may depend on jobs of the plan and on one another.
  std::vector<PlannedJob> add_jobs;
  // Names of jobs that will not run.
  std::vector<std::string> cancel_jobs;
  // If true, the workflow ends now as kKilled.
  bool cancel = false;
  friend bool operator==(const PlanChange&, const PlanChange&) = default;
};

}  // namespace tidemark
