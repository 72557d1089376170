#include <algorithm>

#include "tidemark/job.h"

namespace tidemark {

Counts CountParts(const Snapshot& snapshot) {
  Counts counts;
  for (const StageProgress& stage : snapshot.stages) {
    if (stage.state == StageState::kExpected) continue;
    ++counts.stages;
    if (stage.state == StageState::kDone || stage.state == StageState::kSkipped) {
      ++counts.finished_stages;
    }
    counts.tasks += stage.tasks;
    counts.running_tasks += stage.running_tasks;
    counts.finished_tasks += stage.finished_tasks;
    counts.failed_attempts += stage.failed_attempts;
  }
  for (const Child& child : snapshot.children) {
    if (child.state != ChildState::kCancelled) ++counts.children;
    if (child.state == ChildState::kSucceeded) ++counts.finished_children;
  }
  return counts;
}

double PartPassed(absl::Duration passed, absl::Duration left) {
  const double whole = absl::ToDoubleSeconds(passed + left);
  return whole > 0 ? absl::ToDoubleSeconds(passed) / whole : 0;
}

std::optional<Snapshot> SnapshotOfGroup(const Snapshot& job, std::string_view group) {
  const auto found = std::find_if(job.groups.begin(), job.groups.end(),
                                  [&](const Group& one) { return one.group == group; });
  if (found == job.groups.end()) return std::nullopt;
  Snapshot whole = {.job_id = job.job_id + "/" + found->group,
                    .run_uid = job.run_uid,
                    .sequence = job.sequence,
                    .at = job.at,
                    .state = found->state,
                    .is_final = job.is_final || found->state != JobState::kRunning,
                    .message = found->message,
                    .info = job.info,
                    .started_at = found->started_at,
                    .ended_at = found->ended_at,
                    .silent_since = job.silent_since};
  if (whole.info) {
    whole.info->name = found->name.empty() ? whole.job_id : found->name;
    whole.info->kind = JobKind::kApplication;
  }
  whole.estimate = {.state = EstimateState::kWarmingUp,
                    .fraction_done = found->fraction_done,
                    .fraction_done_lower = found->fraction_done,
                    .fraction_done_upper = found->fraction_done,
                    .remaining = found->ends_in,
                    .basis = job.estimate.basis,
                    .known_share = job.estimate.known_share};
  if (found->ends_in) {
    const Range& left = *found->ends_in;
    whole.estimate.state = EstimateState::kValid;
    if (left.upper) whole.estimate.fraction_done_lower = PartPassed(whole.elapsed(), *left.upper);
    if (left.lower) whole.estimate.fraction_done_upper = PartPassed(whole.elapsed(), *left.lower);
  }
  if (whole.is_final) whole.estimate.state = EstimateState::kFinal;
  std::vector<StageId> members;  // stages and their infos are in one order
  for (const StageInfo& info : job.stage_infos) {
    if (info.group != found->group) continue;
    whole.stage_infos.push_back(info);
    members.push_back(info.id);
  }
  for (const StageProgress& stage : job.stages) {
    if (std::binary_search(members.begin(), members.end(), stage.id)) whole.stages.push_back(stage);
  }
  for (const NamedTask& task : job.named_tasks) {
    const StageId stage = {task.child, task.attempt.stage};
    if (std::binary_search(members.begin(), members.end(), stage))
      whole.named_tasks.push_back(task);
  }
  whole.counts = CountParts(whole);
  return whole;
}

}  // namespace tidemark
