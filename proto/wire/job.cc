// Implements functions of tidemark/job.h and tidemark/event.h.
#include "tidemark/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "tidemark/event.h"

namespace tidemark {

std::string ToString(const AttemptId& id) {
  std::string text = fmt::format("task {} of stage {}", id.index, id.stage);
  if (id.stage_attempt > 0) text += fmt::format(", stage attempt {}", id.stage_attempt);
  if (id.attempt > 0) text += fmt::format(", attempt {}", id.attempt);
  return text;
}

std::vector<StageOpened> MapReduceStages(std::optional<std::uint32_t> map_task_count,
                                         std::optional<std::uint32_t> reduce_task_count) {
  std::vector<StageOpened> stages = {
      {.stage = kMapStage, .kind = StageKind::kMap, .task_count = map_task_count}};
  if (reduce_task_count != 0) {
    stages.push_back({.stage = kReduceStage,
                      .parents = {kMapStage},
                      .kind = StageKind::kReduce,
                      .task_count = reduce_task_count});
  }
  return stages;
}

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
  // A job that was cancelled before its workflow does not count, unless all jobs were cancelled.
  for (const Child& child : snapshot.children) {
    if (child.state != ChildState::kCancelled || !child.ended_at) ++counts.children;
    if (child.state == ChildState::kSucceeded) ++counts.finished_children;
  }
  if (counts.children == 0) counts.children = static_cast<std::uint32_t>(snapshot.children.size());
  counts.finished_groups = static_cast<std::uint32_t>(
      std::ranges::count(snapshot.groups, JobState::kSucceeded, &Group::state));
  return counts;
}

double PartPassed(absl::Duration passed, absl::Duration left) {
  const double whole = absl::ToDoubleSeconds(passed + left);
  return whole > 0 ? absl::ToDoubleSeconds(passed) / whole : 0;
}

std::optional<Throughput> ThroughputOf(std::uint64_t bytes, std::uint64_t records,
                                       absl::Duration time) {
  if (bytes == 0 && records == 0) return std::nullopt;
  Throughput throughput = {.bytes_done = bytes, .records_done = records};
  const double seconds = absl::ToDoubleSeconds(time);
  if (!(seconds > 0) || !std::isfinite(seconds)) return throughput;
  throughput.bytes_per_second = static_cast<double>(bytes) / seconds;
  throughput.records_per_second = static_cast<double>(records) / seconds;
  return throughput;
}

std::optional<Throughput> ThroughputOfStages(const Snapshot& snapshot) {
  std::uint64_t bytes = 0;
  std::uint64_t records = 0;
  const auto add = [](std::uint64_t more, std::uint64_t& sum) {
    sum = more > std::numeric_limits<std::uint64_t>::max() - sum
              ? std::numeric_limits<std::uint64_t>::max()
              : sum + more;
  };
  for (const StageProgress& stage : snapshot.stages) {
    if (!stage.throughput) continue;
    add(stage.throughput->bytes_done, bytes);
    add(stage.throughput->records_done, records);
  }
  return ThroughputOf(bytes, records, snapshot.elapsed());
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
                    .silent_since = job.silent_since,
                    .may_grow = job.may_grow && found->state == JobState::kRunning};
  if (job.headline_group == group) whole.estimate_raised = job.estimate_raised;
  if (whole.info) {
    whole.info->name = found->name.empty() ? whole.job_id : found->name;
    whole.info->kind = JobKind::kApplication;
  }
  whole.estimate = {.state = EstimateState::kWarmingUp,
                    .fraction_done = found->fraction_done,
                    .fraction_done_lower = found->fraction_done,
                    .fraction_done_upper = found->fraction_done,
                    .remaining = found->ends_in,
                    .basis = found->basis == Basis::kUnknown ? job.estimate.basis : found->basis,
                    .known_share = job.estimate.known_share,
                    .method = job.estimate.method};
  if (found->ends_in) {
    const Range& left = *found->ends_in;
    whole.estimate.state = EstimateState::kValid;
    // The fraction falls slowly after a raised estimate and may then be outside the bounds.
    const double done = found->fraction_done;
    tidemark::Estimate& shown = whole.estimate;
    if (left.upper) {
      shown.fraction_done_lower = std::min(PartPassed(whole.elapsed(), *left.upper), done);
    }
    if (left.lower) {
      shown.fraction_done_upper = std::max(PartPassed(whole.elapsed(), *left.lower), done);
    }
  }
  if (found->estimate_state != EstimateState::kUnknown) {
    whole.estimate.state = found->estimate_state;
  }
  if (whole.is_final) whole.estimate.state = EstimateState::kFinal;
  std::vector<StageId> members;  // stages and their infos have the same order
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
  whole.throughput = ThroughputOfStages(whole);
  return whole;
}

namespace {

// Chosen by hand. Rounding moves a range by at most 1.6 %, which is less than the error of any
// forecast.
constexpr std::uint64_t kSteps = 32;
constexpr absl::Duration kRoundedMax = absl::Hours(100 * 365 * 24);

// The step depends only on the number. If the step depended on the interval, the rounded end of one
// part could be later than the start of the next.
absl::Duration OnGrid(absl::Time at, absl::Duration left) {
  if (left <= absl::ZeroDuration()) return absl::ZeroDuration();
  const std::uint64_t part = static_cast<std::uint64_t>(absl::ToInt64Nanoseconds(left)) / kSteps;
  const absl::Duration step = absl::Nanoseconds(
      static_cast<std::int64_t>(std::max<std::uint64_t>(std::bit_floor(part), 1)));
  const absl::Duration since_epoch = at - absl::UnixEpoch();
  const absl::Duration on_grid = absl::Floor(since_epoch + left + step / 2, step) - since_epoch;
  return std::max(on_grid, absl::ZeroDuration());
}

}  // namespace

Range RoundedPrediction(absl::Time at, const Range& range) {
  const absl::Duration lower = range.lower.value_or(range.median);
  const absl::Duration upper = range.upper.value_or(range.median);
  if (std::max({range.median, lower, upper}) > kRoundedMax) return range;
  Range result = {.median = OnGrid(at, range.median)};
  if (range.lower) result.lower = std::min(OnGrid(at, lower), result.median);
  if (range.upper) result.upper = std::max(OnGrid(at, upper), result.median);
  return result;
}

}  // namespace tidemark
