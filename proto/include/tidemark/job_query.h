// What can be asked about jobs, as values: which of them, how much of each, and what would be.
//
// The plain counterpart of the requests in proto/tidemark/v1/job_service.proto, whose field
// comments hold here too. Values: copyable, comparable, safe to share between threads when const.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tidemark/job.h"
#include "tidemark/plan.h"

namespace tidemark {

enum class View : std::uint8_t {
  kUnknown,  // the caller's default
  kBasic,    // no stages and no children: their counts
  kStages,   // with stages and children
  kFull,     // everything
};

// Which jobs of a list; what is empty excludes none.
struct JobFilter {
  std::vector<JobState> states;
  std::vector<JobKind> kinds;
  std::string user;
  std::string queue;
  std::string name_prefix;  // of the name, or of the id of a job without a name
  std::string workflow_id;
  friend bool operator==(const JobFilter&, const JobFilter&) = default;
};

// How things might be otherwise; what is empty is as it is.
struct Scenario {
  std::optional<std::uint32_t> slots;
  std::optional<double> data_factor;  // in jobs and stages that have not begun
  std::optional<SchedulingPolicy> policy;
  friend bool operator==(const Scenario&, const Scenario&) = default;
};

// What would be in a scenario.
struct Outcome {
  Snapshot snapshot;  // with sequence 0
  // Of the slots' time until the end, the part that tasks would use. 0..1; empty: not known, as of
  // a job that is no plan.
  std::optional<double> busy_share;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// How a plan that runs is to change: all of it, or nothing.
struct PlanChange {
  std::vector<PlannedJob> add_jobs;      // may wait for jobs of the plan and for one another
  std::vector<std::string> cancel_jobs;  // names of jobs that will not run
  bool cancel = false;                   // the whole ends now, as kKilled
  friend bool operator==(const PlanChange&, const PlanChange&) = default;
};

}  // namespace tidemark
