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
                    .known_share = job.estimate.known_share,
                    .method = job.estimate.method};
  if (found->ends_in) {
    const Range& left = *found->ends_in;
    whole.estimate.state = EstimateState::kValid;
    if (left.upper) whole.estimate.fraction_done_lower = PartPassed(whole.elapsed(), *left.upper);
    if (left.lower) whole.estimate.fraction_done_upper = PartPassed(whole.elapsed(), *left.lower);
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
  return whole;
}

namespace {

// Chosen by hand; rounding moves a range by at most 1.6 %, less than the error of any forecast.
constexpr std::uint64_t kSteps = 32;
constexpr absl::Duration kRoundedMax = absl::Hours(100 * 365 * 24);

// The step depends only on the number. If it depended on the interval, the end of one part could
// move past the start of the next.
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

namespace {

// Fitted to 9 deadlines in each run of the suites stress and synthetic, training half
// (bench/accuracy/lateness.h). Compared with a normal distribution with these bounds, ends are
// nearer to the median or much farther away, and later rather than earlier.
constexpr double kLateAtMedian = 0.55;
constexpr double kFallsBelow = 3.8;
constexpr double kFallsAbove = 2;
constexpr double kPeak = 0.7;
constexpr double kSurely = 0.999;

// Standard deviations from the median to a bound of a 90 % interval.
constexpr double kDeviations = 1.6449;
// Zero has no logarithm. This fraction of the median replaces a lower bound of zero. It is as far
// below the median as the widest interval extends above it (kRemainingUpperMax).
constexpr double kLowestShare = 0.05;

constexpr double kAll = std::numeric_limits<double>::infinity();

// In seconds. All values are finite, and 0 <= lower <= median <= upper.
struct DeadlineBounds {
  double lower = 0;
  double median = 0;
  double upper = 0;
};

// Returns the distance of `left` above the median, in half-widths on a logarithmic scale.
double HalfWidthsAbove(const DeadlineBounds& of, double left) {
  if (of.upper <= of.median) return kAll;
  if (of.median <= 0) return left / of.upper;
  return std::log(left / of.median) / std::log(of.upper / of.median);
}

// Returns the distance of `left`, which is above 0, below the median, in half-widths on a
// logarithmic scale. At most one, since the interval does not state how far below its lower bound
// an end may be.
double HalfWidthsBelow(const DeadlineBounds& of, double left) {
  const double lower = std::max(of.lower, kLowestShare * of.median);
  if (left >= of.median) return 0;
  if (left <= lower) return 1;
  return std::log(of.median / left) / std::log(of.median / lower);
}

double Tail(double falls, double half_widths) {
  return std::exp(-falls * std::pow(half_widths, kPeak));
}

double LateByMeasurement(const DeadlineBounds& of, double left) {
  if (left > of.median) return kLateAtMedian * Tail(kFallsAbove, HalfWidthsAbove(of, left));
  const double below = left == of.median ? 0 : (of.median - left) / (of.median - of.lower);
  return 1 - (1 - kLateAtMedian) * Tail(kFallsBelow, below);
}

double NormalCdf(double deviations) { return std::erfc(-deviations / std::sqrt(2)) / 2; }

double LateByInterval(const DeadlineBounds& of, double left) {
  return NormalCdf(left > of.median ? -kDeviations * HalfWidthsAbove(of, left)
                                    : kDeviations * HalfWidthsBelow(of, left));
}

// Returns the fraction of the remaining work for which this run itself has evidence.
double ShareOfThisRun(const Estimate& estimate) {
  if (estimate.basis != Basis::kThisRun || !(estimate.known_share > 0)) return 0;
  return std::min(estimate.known_share, 1.0);
}

}  // namespace

std::optional<double> LateProbability(const Estimate& estimate, absl::Duration left) {
  if (left <= absl::ZeroDuration()) return 1;
  const auto& remaining = estimate.remaining;
  if (!remaining || !remaining->lower || !remaining->upper) return std::nullopt;
  const DeadlineBounds bounds = {.lower = absl::ToDoubleSeconds(*remaining->lower),
                                 .median = absl::ToDoubleSeconds(remaining->median),
                                 .upper = absl::ToDoubleSeconds(*remaining->upper)};
  const bool is_range = 0 <= bounds.lower && bounds.lower <= bounds.median &&
                        bounds.median <= bounds.upper && std::isfinite(bounds.upper);
  if (!is_range) return std::nullopt;
  const double seconds = absl::ToDoubleSeconds(left);
  const double late = std::lerp(LateByInterval(bounds, seconds), LateByMeasurement(bounds, seconds),
                                ShareOfThisRun(estimate));
  return std::clamp(late, 1 - kSurely, kSurely);
}

std::optional<double> LateProbability(const Snapshot& snapshot, absl::Time deadline) {
  if (snapshot.is_final) {
    if (snapshot.state != JobState::kSucceeded || !snapshot.ended_at) return std::nullopt;
    return *snapshot.ended_at > deadline ? 1 : 0;
  }
  return LateProbability(snapshot.estimate, deadline - snapshot.at);
}

}  // namespace tidemark
