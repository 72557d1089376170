#include "whatif/phases/whole_runs.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace tidemark::phases {
namespace {

// `others` follow these.
enum Level { kExecutors, kCores, kBoth, kMemory, kCompress, kTasks, kNextTasks, kData };
constexpr std::size_t kLevels = kData + 1;

enum Group : std::size_t { kOfOneAnother, kOfAmounts, kOfHindrances, kOfOthers };

Group GroupOf(Level level) {
  switch (level) {
    case kExecutors:
    case kCores:
    case kBoth:
      return kOfOneAnother;  // effects of tasks on one another
    case kTasks:
    case kData:
      return kOfAmounts;  // amounts of work
    case kMemory:
    case kCompress:
    case kNextTasks:
      return kOfHindrances;  // possible obstacles
  }
  return kOfOthers;
}

using Names = std::set<std::string>;

// The smallest number of past runs from which a whole run is estimated.
constexpr std::size_t kWholeRunsMin = 4;
// Upper limit of an estimate: three years.
constexpr double kWholeSecondsMax = 1e8;

bool IsOfSlots(std::size_t level) {
  return level < kLevels && GroupOf(static_cast<Level>(level)) == kOfOneAnother;
}

ObservedRange RangeOfLevel(const std::vector<std::vector<double>>& past, std::size_t level) {
  ObservedRange range;
  for (const std::vector<double>& run : past) range.Add(run[level]);
  return range;
}

// Returns true if all levels of slots are within their observed ranges, and every other level is at
// most one range width outside.
bool IsNear(const std::vector<std::vector<double>>& past, const std::vector<double>& levels) {
  constexpr double kSame = 1e-9;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const ObservedRange range = RangeOfLevel(past, i);
    if (range.IsBeyond(levels[i], kSame + (IsOfSlots(i) ? 0 : range.width()))) return false;
  }
  return true;
}

}  // namespace

double Log2(double value) { return std::log2(std::max(value, 1.0)); }

std::vector<double> LevelsOf(const Settings& settings, double data_bytes, const Stage& stage,
                             const std::vector<double>& others) {
  std::vector<double> levels(kLevels);
  levels[kExecutors] = Log2(settings.executors);
  levels[kCores] = Log2(settings.tasks_at_once());
  levels[kBoth] = levels[kExecutors] * levels[kCores];
  levels[kMemory] = kOfManyDoublings * Log2(SpillBufferBytes(settings, stage.size.cached_bytes));
  levels[kCompress] = settings.compresses_shuffle ? 1 : 0;
  levels[kTasks] = Log2(stage.size.tasks);
  levels[kNextTasks] = kOfManyDoublings * Log2(stage.size.next_tasks);
  levels[kData] = Log2(data_bytes);
  levels.insert(levels.end(), others.begin(), others.end());
  return levels;
}

std::vector<double> LevelsOfWhole(const Settings& settings, double data_bytes,
                                  const std::vector<double>& others) {
  Stage whole;
  whole.size.tasks = settings.sql_partitions;
  whole.size.next_tasks = settings.default_partitions;
  return LevelsOf(settings, data_bytes, whole, others);
}

double HoldSlots(const std::vector<std::vector<double>>& past, std::vector<double>& levels) {
  double doublings = 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (!IsOfSlots(i)) continue;
    const ObservedRange range = RangeOfLevel(past, i);
    const double held = std::clamp(levels[i], range.least(), range.most());
    if (i != kBoth) doublings += std::abs(levels[i] - held);
    levels[i] = held;
  }
  return doublings;
}

std::vector<std::size_t> GroupsOf(std::size_t others) {
  std::vector<std::size_t> groups(kLevels + others, kOfOthers);
  for (std::size_t i = 0; i < kLevels; ++i) groups[i] = GroupOf(static_cast<Level>(i));
  return groups;
}

absl::StatusOr<WholeRunModel> WholeRunModel::Learn(std::span<const PastWhole> runs,
                                                   std::span<const std::size_t> groups) {
  WholeRunModel learnt;
  if (runs.size() < kWholeRunsMin) return learnt;
  std::vector<ObservedError> errors;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    errors.push_back(
        {.run = r, .settings = runs[r].levels, .log_error = std::log(runs[r].seconds)});
  }
  for (const ObservedError& run : errors) {
    learnt.mean_log_seconds_ += run.log_error / static_cast<double>(errors.size());
  }
  for (ObservedError& run : errors) {
    run.log_error -= learnt.mean_log_seconds_;
    learnt.levels_.push_back(run.settings);
  }
  auto of_settings = Correction::Learn(errors, groups);
  if (!of_settings.ok()) return of_settings.status();
  learnt.of_settings_.push_back(*std::move(of_settings));
  return learnt;
}

std::optional<WholeEstimate> WholeRunModel::At(const std::vector<double>& levels) const {
  if (of_settings_.empty() || !IsNear(levels_, levels)) return std::nullopt;
  constexpr double kOnce = 1;
  const TimeAt at = {.settings = levels};
  const double seconds = std::exp(mean_log_seconds_ + of_settings_[0].Predict({&at, 1})[0]);
  if (!(seconds <= kWholeSecondsMax)) return std::nullopt;
  return WholeEstimate{.seconds = seconds,
                       .deviation = std::sqrt(of_settings_[0].Variance({&at, 1}, {&kOnce, 1}))};
}

std::size_t CommonStages(const std::vector<std::string>& one,
                         const std::vector<std::string>& other) {
  const Names names(one.begin(), one.end());
  const Names others(other.begin(), other.end());
  std::size_t common = 0;
  for (const std::string& name : names) common += others.count(name);
  return common;
}

bool AreRunsOfOneProgram(const std::vector<std::string>& one,
                         const std::vector<std::string>& other) {
  const std::size_t fewer =
      std::min(Names(one.begin(), one.end()).size(), Names(other.begin(), other.end()).size());
  return 2 * CommonStages(one, other) >= fewer;
}

std::optional<AveragedEstimate> AverageOf(double seconds, double deviation,
                                          const WholeEstimate& whole) {
  const double apart = std::log(whole.seconds / seconds);
  const double variance = deviation * deviation;
  const double of_whole = whole.deviation * whole.deviation;
  if (!(seconds > 0) || !std::isfinite(apart) || !(variance + of_whole > 0)) return std::nullopt;
  const double share = variance / (variance + of_whole);
  return AveragedEstimate{.factor = std::exp(share * apart),
                          .deviation = std::sqrt((1 - share) * variance + share * of_whole +
                                                 share * (1 - share) * apart * apart)};
}

}  // namespace tidemark::phases
