#include "master/service/plan_snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "proto/wire/field_error.h"

namespace tidemark::next::service {
namespace {

// The enums of what is published are those of workflows, in the same order, after their own first
// values.
static_assert(static_cast<int>(WorkflowBasis::kGuess) + 1 == static_cast<int>(Basis::kGuess));
static_assert(static_cast<int>(WorkflowBasis::kDone) + 1 == static_cast<int>(Basis::kDone));
static_assert(static_cast<int>(tidemark::JobState::kRunning) + 2 ==
              static_cast<int>(JobState::kRunning));
static_assert(static_cast<int>(tidemark::JobState::kAbandoned) + 2 ==
              static_cast<int>(JobState::kAbandoned));
static_assert(static_cast<int>(tidemark::SchedulingPolicy::kCapacity) + 1 ==
              static_cast<int>(SchedulingPolicy::kCapacity));

// As precisely as it is worth to publish it, so that a delta leaves out what still holds.
std::optional<Range> RangeOf(absl::Time at, const std::optional<absl::Duration>& median,
                             const std::optional<absl::Duration>& lower = {},
                             const std::optional<absl::Duration>& upper = {}) {
  if (!median) return std::nullopt;
  return RoundedPrediction(at, {*median, lower, upper});
}

ChildState StateOf(WorkflowJobState state) {
  switch (state) {
    case WorkflowJobState::kPending:
      return ChildState::kPending;
    case WorkflowJobState::kAwaited:
      return ChildState::kAwaited;
    case WorkflowJobState::kRunning:
      return ChildState::kRunning;
    case WorkflowJobState::kSucceeded:
      return ChildState::kSucceeded;
    case WorkflowJobState::kRetried:
      return ChildState::kRetryable;
    case WorkflowJobState::kFailed:
      return ChildState::kFailed;
    case WorkflowJobState::kCancelled:
      return ChildState::kCancelled;
  }
  return ChildState::kUnknown;
}

Child ChildOf(const WorkflowJobProgress& said, std::uint32_t number, absl::Time at) {
  Child child = {.number = number,
                 .name = said.name,
                 .job_id = said.job_id,
                 .state = StateOf(said.state),
                 .started_at = said.started_at,
                 .ended_at = said.ended_at,
                 .starts_in = RangeOf(at, said.starts_in),
                 .is_critical = said.is_critical,
                 .failed_attempts = said.failed_attempts,
                 .message = said.message};
  child.estimate = {.fraction_done = said.fraction_done,
                    .fraction_done_lower = said.fraction_done,
                    .fraction_done_upper = said.fraction_done,
                    .remaining = RangeOf(at, said.ends_in, said.ends_in_lower, said.ends_in_upper),
                    .basis = static_cast<Basis>(static_cast<int>(said.basis) + 1)};
  child.estimate.state = child.estimate.basis == Basis::kDone ? EstimateState::kFinal
                         : child.estimate.remaining           ? EstimateState::kValid
                                                              : EstimateState::kWarmingUp;
  for (const std::size_t parent : said.after) {
    child.after.push_back(static_cast<std::uint32_t>(parent) + 1);
  }
  return child;
}

// What the plan's estimate says of a stage of a job.
void AddPrediction(const WorkflowStage& said, absl::Time at, StageProgress& stage) {
  if (!stage.started_at) stage.starts_in = RangeOf(at, said.starts_in);
  if (!stage.ended_at) stage.ends_in = RangeOf(at, said.ends_in);
  stage.task_time = said.task_time;
  stage.bottleneck = said.bottleneck;
  stage.is_critical = said.is_critical;
}

const WorkflowStage* PredictionOf(const WorkflowJobProgress& said, StageKind kind) {
  for (const WorkflowStage& stage : said.stages) {
    if ((stage.phase == Phase::kMap ? StageKind::kMap : StageKind::kReduce) == kind) return &stage;
  }
  return nullptr;
}

// The stages of `from` that are of its child `number`, as those of child `as`.
void CopyStages(const Snapshot& from, std::uint32_t number, std::uint32_t as,
                const WorkflowJobProgress& said, Snapshot& plan) {
  for (std::size_t i = 0; i < from.stages.size(); ++i) {
    const StageId& id = from.stages[i].id;
    if (id.child != number || id.stage >= kExpectedStages) continue;
    plan.stage_infos.push_back(from.stage_infos[i]);
    plan.stages.push_back(from.stages[i]);
    plan.stage_infos.back().id.child = plan.stages.back().id.child = as;
    if (const WorkflowStage* const prediction = PredictionOf(said, from.stage_infos[i].kind)) {
      AddPrediction(*prediction, plan.at, plan.stages.back());
    } else {
      plan.stages.back().ends_in.reset();
      plan.stages.back().is_critical = false;
    }
  }
}

// Those of a job that has not begun do not exist yet.
void AddExpectedStages(const WorkflowJobProgress& said, std::uint32_t child, Snapshot& plan) {
  for (const WorkflowStage& from : said.stages) {
    const bool is_map = from.phase == Phase::kMap;
    StageInfo info = {.id = {child, kExpectedStages + (is_map ? kMapStage : kReduceStage)},
                      .name = is_map ? "map" : "reduce",
                      .kind = is_map ? StageKind::kMap : StageKind::kReduce};
    if (!is_map && said.stages.size() > 1) info.parents = {kExpectedStages + kMapStage};
    StageProgress stage = {.id = info.id, .state = StageState::kExpected, .tasks = from.tasks};
    AddPrediction(from, plan.at, stage);
    plan.stage_infos.push_back(std::move(info));
    plan.stages.push_back(std::move(stage));
  }
}

void AddStages(const WorkflowJobProgress& said, std::uint32_t child, const JobOf& job_of,
               const Snapshot* before, Snapshot& plan) {
  if (!said.started_at) return AddExpectedStages(said, child, plan);
  const auto job = job_of && !said.job_id.empty() ? job_of(said.job_id) : nullptr;
  // Another run of that id is another job.
  if (job != nullptr && job->started_at == said.started_at) {
    CopyStages(*job, 0, child, said, plan);
  } else if (before != nullptr) {
    CopyStages(*before, child, child, said, plan);
  }
}

}  // namespace

Snapshot PlanSnapshot(const WorkflowSnapshot& said, const JobOf& job_of, const Snapshot* before) {
  Snapshot plan = {.job_id = said.workflow_id, .sequence = said.sequence, .at = said.at};
  plan.state = static_cast<JobState>(static_cast<int>(said.state) + 2);  // after kQueued
  plan.is_final = said.is_final();
  plan.message = said.message;
  plan.info = JobInfo{.name = said.name, .kind = JobKind::kWorkflow};
  plan.started_at = said.started_at;
  if (said.is_final()) plan.ended_at = said.started_at + said.elapsed;
  plan.estimate = {.state = said.is_final()  ? EstimateState::kFinal
                            : said.remaining ? EstimateState::kValid
                                             : EstimateState::kWarmingUp,
                   .fraction_done = said.fraction_done,
                   .fraction_done_lower = said.fraction_done_lower,
                   .fraction_done_upper = said.fraction_done_upper,
                   .known_share = said.known_share};
  if (said.remaining) {
    plan.estimate.remaining = Range{*said.remaining, said.remaining_lower, said.remaining_upper};
  }
  for (const WorkflowJobProgress& job : said.jobs) {
    const auto number = static_cast<std::uint32_t>(plan.children.size()) + 1;
    plan.children.push_back(ChildOf(job, number, said.at));
    AddStages(job, number, job_of, before, plan);
    const Child& child = plan.children.back();
    if (child.state == ChildState::kCancelled) continue;
    // The strongest evidence of any part.
    plan.estimate.basis =
        std::max(plan.estimate.basis, std::min(child.estimate.basis, Basis::kThisRun));
  }
  if (said.is_final()) plan.estimate.basis = Basis::kDone;
  plan.notes = said.notes;
  plan.counts = CountParts(plan);
  return plan;
}

absl::StatusOr<WorkflowSpec> AsWorkflow(const Plan& plan) {
  WorkflowSpec workflow = {.id = plan.id, .name = plan.name, .retry_within = plan.retry_within};
  const Cluster& cluster = plan.cluster;
  workflow.cluster = {.slots = cluster.slots, .nodes = cluster.nodes, .node = cluster.node};
  workflow.cluster.policy =
      static_cast<tidemark::SchedulingPolicy>(std::max(static_cast<int>(cluster.policy) - 1, 0));
  for (const Queue& queue : cluster.queues) {
    workflow.cluster.queues.push_back({queue.name, queue.share});
  }
  for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
    const PlannedJob& job = plan.jobs[i];
    if (!job.stages.empty()) {
      return wire::FieldError(fmt::format("jobs[{}].stages", i),
                              "must be empty: a master estimates jobs by their task counts; "
                              "estimate a file of stages without one");
    }
    workflow.jobs.push_back({.name = job.name.empty() ? plan.id : job.name,
                             .job_id = job.job_id,
                             .history_name = job.history_name,
                             .after = job.after,
                             .map_tasks = job.map_task_count.value_or(0),
                             .reduce_tasks = job.reduce_task_count.value_or(0),
                             .input_bytes = job.input_bytes.value_or(0),
                             .profile = job.profile,
                             .queue = job.queue,
                             .is_map_only = job.reduce_task_count == 0u});
  }
  return workflow;
}

workflow::WhatIf AsWhatIf(const Scenario& scenario) {
  workflow::WhatIf what_if = {.slots = scenario.slots.value_or(0),
                              .data_factor = scenario.data_factor.value_or(1)};
  if (scenario.policy) {
    what_if.policy =
        static_cast<tidemark::SchedulingPolicy>(static_cast<int>(*scenario.policy) - 1);
  }
  return what_if;
}

}  // namespace tidemark::next::service
