// Implements functions of tidemark/job.h and tidemark/event.h.
#include "tidemark/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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

namespace {

// Deadlines are usually set near the expected end, so the deadline is evidence about the end. All
// distances from kNearest to a factor of e^30 are equally likely on a logarithmic scale.
constexpr double kNearest = 0.02;
constexpr std::size_t kDistances = 64;  // on each side of the deadline
constexpr double kDistanceStep = 0.125;
constexpr double kSurely = 0.999;
// Lower bounds of a time in seconds, and of a half-width as a logarithm.
constexpr double kShortest = 1e-9;
constexpr double kNarrowest = 1e-6;

// The logarithm of the total time of a job. The density falls to a tenth per half-width on both
// sides of its peak, as that of a Laplace distribution. The peak is so far from the median that
// half of the ends are on either side of the median.
class LogTotal {
 public:
  LogTotal(double lower, double median, double upper)
      : below_(std::max(median - lower, kNarrowest)), above_(std::max(upper - median, kNarrowest)) {
    const double wider = std::max(below_, above_);
    const double shift = wider / std::log(10) * std::log(2 * wider / (below_ + above_));
    peak_ = above_ > below_ ? median - shift : median + shift;
  }
  // Returns the logarithm of the density, without a constant term.
  double LogDensity(double log_total) const {
    const double off = log_total - peak_;
    return -std::log(10) * std::abs(off) / (off > 0 ? above_ : below_);
  }

 private:
  double below_;
  double above_;
  double peak_ = 0;
};

}  // namespace

std::optional<double> LateProbability(const Range& remaining, absl::Duration elapsed,
                                      absl::Duration left) {
  if (left <= absl::ZeroDuration()) return 1;
  if (!remaining.lower || !remaining.upper) return std::nullopt;
  const bool is_range =
      absl::ZeroDuration() <= *remaining.lower && *remaining.lower <= remaining.median &&
      remaining.median <= *remaining.upper && *remaining.upper < absl::InfiniteDuration();
  if (!is_range) return std::nullopt;
  const auto log = [&](absl::Duration after) {
    return std::log(std::max(absl::ToDoubleSeconds(elapsed + after), kShortest));
  };
  const LogTotal total(log(*remaining.lower), log(remaining.median), log(*remaining.upper));
  const double deadline = log(left);
  const double now = log(absl::ZeroDuration());
  // The logarithms of the weights of ends before the deadline, then of ends after it.
  std::array<double, 2 * kDistances> log_weights;
  for (std::size_t i = 0; i < log_weights.size(); ++i) {
    const double steps = static_cast<double>(i) - static_cast<double>(kDistances) + 0.5;
    const double end = deadline + kNearest * std::sinh(kDistanceStep * steps);
    log_weights[i] = end > now ? total.LogDensity(end) : -std::numeric_limits<double>::infinity();
  }
  // The largest weight becomes one, so that the sums do not underflow.
  const double highest = *std::ranges::max_element(log_weights);
  double all = 0;
  double late = 0;
  for (std::size_t i = 0; i < log_weights.size(); ++i) {
    const double weight = std::exp(log_weights[i] - highest);
    all += weight;
    late += i < kDistances ? 0.0 : weight;
  }
  return std::clamp(late / all, 1 - kSurely, kSurely);
}

std::optional<double> LateProbability(const Snapshot& snapshot, absl::Time deadline) {
  if (snapshot.is_final) {
    if (snapshot.state != JobState::kSucceeded || !snapshot.ended_at) return std::nullopt;
    return *snapshot.ended_at > deadline ? 1 : 0;
  }
  const absl::Duration left = deadline - snapshot.at;
  if (left <= absl::ZeroDuration()) return 1;
  if (!snapshot.estimate.remaining) return std::nullopt;
  const absl::Duration elapsed = snapshot.at - snapshot.started_at.value_or(snapshot.at);
  return LateProbability(*snapshot.estimate.remaining, std::max(elapsed, absl::ZeroDuration()),
                         left);
}

}  // namespace tidemark
