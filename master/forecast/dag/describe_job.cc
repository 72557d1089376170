#include "master/forecast/dag/describe_job.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "text/duration_text.h"
#include "tidemark/event.h"

namespace tidemark::workflow {
namespace {

// Silence of a job after which a note reports it.
constexpr absl::Duration kMissedAfter = absl::Seconds(30);

std::optional<Range> RangeOf(const std::optional<absl::Duration>& median) {
  return median ? std::optional(Range{.median = *median}) : std::nullopt;
}

void AddPrediction(const StagePrediction& prediction, StageProgress& stage) {
  if (!stage.started_at) stage.starts_in = RangeOf(prediction.starts_in);
  if (!stage.ended_at) stage.ends_in = RangeOf(prediction.ends_in);
  stage.task_time = prediction.task_time;
  stage.bottleneck = prediction.bottleneck;
  stage.is_critical = prediction.is_critical;
}

// Copies the job's own stages; predictions of the workflow replace the job's.
void AddOwnStages(const Snapshot& job, std::uint32_t child, const JobPrediction& prediction,
                  Snapshot& workflow) {
  for (std::size_t i = 0; i < job.stages.size(); ++i) {
    if (job.stages[i].id.stage >= kExpectedStages) continue;
    StageInfo& info = workflow.stage_infos.emplace_back(job.stage_infos[i]);
    StageProgress& stage = workflow.stages.emplace_back(job.stages[i]);
    info.id.child = stage.id.child = child;
    const auto predicted =
        std::ranges::lower_bound(prediction.stages, stage.id.stage, {}, &StagePrediction::number);
    const bool is_predicted =
        predicted != prediction.stages.end() && predicted->number == stage.id.stage &&
        (predicted->kind == StageKind::kUnknown || predicted->kind == info.kind);
    if (is_predicted) {
      AddPrediction(*predicted, stage);
    } else {
      stage.ends_in.reset();
      stage.is_critical = false;
    }
  }
}

// The stages of a job that has not begun do not exist yet.
void AddExpectedStages(const JobPrediction& prediction, std::uint32_t child, Snapshot& workflow) {
  for (const StagePrediction& predicted : prediction.stages) {
    const bool is_map = predicted.kind == StageKind::kMap;
    StageInfo info = {.id = {child, predicted.number}, .kind = predicted.kind};
    if (predicted.kind == StageKind::kUnknown) {
      info.kind = StageKind::kGeneric;
      info.name = predicted.name;
      info.parents = predicted.parents;
    } else {
      info.id.stage += kExpectedStages;
      info.name = is_map ? "map" : "reduce";
      if (!is_map && prediction.stages.size() > 1) info.parents = {kExpectedStages + kMapStage};
    }
    StageProgress stage = {.id = info.id, .state = StageState::kExpected, .tasks = predicted.tasks};
    AddPrediction(predicted, stage);
    workflow.stage_infos.push_back(std::move(info));
    workflow.stages.push_back(std::move(stage));
  }
}

Estimate EstimateOf(const FollowedJob& job, const PlannedJob& planned,
                    const JobPrediction& prediction) {
  // One that has failed keeps what it had reached, though nothing is predicted of it.
  const bool has_ended = job.newest != nullptr && job.newest->is_final;
  const double reached = has_ended ? job.newest->estimate.fraction_done : 0;
  const double fraction = job.facts.state == ChildState::kSucceeded
                              ? 1
                              : std::max({job.own_bar, prediction.fraction_done, reached});
  const bool has_failed = has_ended && job.facts.state != ChildState::kSucceeded;
  const Estimate* const at_end = has_failed ? &job.newest->estimate : nullptr;
  Estimate estimate = {.fraction_done = fraction,
                       .fraction_done_lower = at_end ? at_end->fraction_done_lower : fraction,
                       .fraction_done_upper = at_end ? at_end->fraction_done_upper : fraction,
                       .remaining = prediction.ends_in,
                       .basis = job.BasisOf(planned)};
  estimate.state = estimate.basis == Basis::kDone ? EstimateState::kFinal
                   : estimate.remaining           ? EstimateState::kValid
                                                  : EstimateState::kWarmingUp;
  return estimate;
}

}  // namespace

void DescribeJob(const FollowedJob& job, const PlannedJob& planned,
                 const std::vector<std::size_t>& parents, const JobPrediction& prediction,
                 Snapshot& workflow) {
  Child& child = workflow.children.emplace_back();
  child = {.number = static_cast<std::uint32_t>(workflow.children.size()),
           .name = planned.name,
           .job_id = job.job_id,
           .state = job.facts.state,
           .estimate = EstimateOf(job, planned, prediction),
           .started_at = job.facts.started_at,
           .ended_at = job.facts.ended_at,
           .starts_in = RangeOf(prediction.starts_in),
           .is_critical = prediction.is_critical,
           .failed_attempts = job.facts.failed_attempts,
           .message = job.facts.message};
  for (const std::size_t parent : parents) {
    child.after.push_back(static_cast<std::uint32_t>(parent) + 1);
  }
  if (!job.facts.started_at) {
    AddExpectedStages(prediction, child.number, workflow);
  } else if (job.newest != nullptr) {
    AddOwnStages(*job.newest, child.number, prediction, workflow);
  }
}

std::string NoteOnJob(const FollowedJob& job, const std::string& name, absl::Time now) {
  if (job.is_running() && job.is_silent()) {
    return absl::StrCat("job ", name, ": no news for ",
                        text::DurationText(job.newest->at - *job.newest->silent_since));
  }
  if (!job.awaited_since || now - *job.awaited_since < kMissedAfter) return "";
  const std::string since = text::DurationText(now - *job.awaited_since);
  if (job.facts.state == ChildState::kRetryable) {
    return absl::StrCat("job ", name, " failed ", since,
                        " ago and no retry is attached: ", job.facts.message);
  }
  const std::string missed = absl::StrCat("job ", name, " should have started ", since, " ago");
  if (job.job_id.empty()) return missed + ", but no job is attached to it";
  if (job.ended_before) {
    return absl::StrCat(missed, "; a run of ", job.job_id,
                        " had ended before the workflow was submitted; attach it if it is the one");
  }
  return absl::StrCat(missed, ", but ", job.job_id, " has not reported");
}

}  // namespace tidemark::workflow
