// What can be asked about jobs, as values: which of them, how much of each, and what would be.
//
//   tidemark::JobFilter mine = {.states = {tidemark::JobState::kRunning}, .user = "ann"};
//   const auto jobs = client->ListJobs(mine);               // a tidemark::Client
//   const auto outcomes = client->EstimateJob("visits-17", {{.slots = 8}, {.slots = 16}});
//
// The plain counterpart of the requests in proto/tidemark/v1/job_service.proto, whose field
// comments hold here too. Nothing here is checked; a master answers InvalidArgument (FieldError)
// and names the field that is wrong. Values: copyable, comparable, safe to share between threads
// when const.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tidemark/job.h"
#include "tidemark/plan.h"

namespace tidemark {

// How much of each job a snapshot holds.
enum class View : std::uint8_t {
  // The caller's default.
  kUnknown,
  // No stages and no children: their counts.
  kBasic,
  // With stages, children and groups.
  kStages,
  // Everything.
  kFull,
};

// Which jobs of a list: those that meet every condition. An empty field is no condition.
struct JobFilter {
  // One of these.
  std::vector<JobState> states;
  std::vector<JobKind> kinds;
  std::string user;
  std::string queue;
  // Of the name, or of the id of a job without a name.
  std::string name_prefix;
  // The workflow that the job is a child of.
  std::string workflow_id;
  friend bool operator==(const JobFilter&, const JobFilter&) = default;
};

// How things might be otherwise; what is empty is as it is.
struct Scenario {
  // Of the whole cluster.
  std::optional<std::uint32_t> slots;
  // By which the data of jobs and stages that have not begun is multiplied. More than 0.
  std::optional<double> data_factor;
  std::optional<SchedulingPolicy> policy;
  // Of a job that runs, each with as many slots as those that it has; instead of `slots`.
  std::optional<std::uint32_t> executors;
  friend bool operator==(const Scenario&, const Scenario&) = default;
};

// What would be in a scenario.
struct Outcome {
  // With sequence 0.
  Snapshot snapshot;
  // Of the slots' time until the end, the part that tasks would use. 0..1; empty: not known, as of
  // a job that is no plan.
  std::optional<double> busy_share;
  // Of a job that is no plan: tasks that would run at once, and on how many executors; 0: not
  // known.
  std::uint32_t slots = 0;
  std::uint32_t executors = 0;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// How a plan that runs is to change: all of it, or nothing.
struct PlanChange {
  // These may wait for jobs of the plan and for one another.
  std::vector<PlannedJob> add_jobs;
  // Names of jobs that will not run.
  std::vector<std::string> cancel_jobs;
  // The whole workflow ends now, as kKilled.
  bool cancel = false;
  friend bool operator==(const PlanChange&, const PlanChange&) = default;
};

}  // namespace tidemark
