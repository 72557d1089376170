#include "whatif/phases/whole_runs.h"

#include <cmath>
#include <set>
#include <utility>

namespace tidemark::phases {
namespace {

// Prior weights of the rules, and the mean of Amdahl's fixed share. Chosen on TPC-DS query 26, like
// the constants below. Query 52 and other weights give the same errors to within 0.3 points.
constexpr double kStagesWeight = 0.8;
constexpr double kAmdahlWeight = 0.2;
constexpr double kFixedShare = 0.1;
constexpr double kFixedShares[] = {0, 0.02, 0.05, 0.1, 0.2, 0.35, 0.6};
// The prior of growth is normal. A small part of it is wide, so that runs can show any growth.
constexpr double kWaitingGrowth = 0.05;  // growth of work that waits for disks and the network
constexpr double kGrowthDeviation = 0.05;
constexpr double kFetchingGrowthDeviation = 0.2;  // added, multiplied by the share of fetching work
constexpr double kWidePart = 0.05;
constexpr double kWideDeviation = 0.5;
constexpr double kGrowthMin = -0.3;  // more memory in total may shorten tasks
constexpr double kGrowthStep = 0.06;
constexpr double kGrowthMax = 1.5;  // if a run on more slots took longer; otherwise 1
// The noise of a run. Its log is normal around the log of the usual noise.
constexpr double kNoise = 0.025;
constexpr double kFetchingNoise = 0.12;  // added, multiplied by the share of fetching work
constexpr double kNoiseSpread = 0.7;
constexpr double kNoises[] = {0.01, 0.02, 0.04, 0.08, 0.16};

double SquareOf(double x) { return x * x; }

double Bell(double x, double mean, double deviation) {
  return std::exp(-0.5 * SquareOf((x - mean) / deviation)) / deviation;
}

bool HasLoad(const SlotLoad& run) {
  const auto is_positive = [](double x) { return x > 0 && std::isfinite(x); };
  return is_positive(run.slots) && is_positive(run.seconds) && !run.stages.empty() &&
         is_positive(run.SecondsOn(run.slots));
}

// Returns the mean of `value_of` over all runs. Each number of slots counts once.
template <typename ValueOf>
double MeanOver(const std::map<double, std::vector<SlotLoad>>& runs, const ValueOf& value_of) {
  double sum = 0;
  for (const auto& [slots, alike] : runs) {
    double of_slots = 0;
    for (const SlotLoad& run : alike) of_slots += value_of(run);
    sum += of_slots / static_cast<double>(alike.size());
  }
  return sum / static_cast<double>(runs.size());
}

// Returns true if any value is larger than a value with a smaller key.
bool HasRise(const std::map<double, double>& values) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [key, value] : values) {
    if (value > least) return true;
    least = std::min(least, value);
  }
  return false;
}

}  // namespace

double SlotLoad::TaskSeconds(double other) const {
  double sum = 0;
  for (const OfStage& stage : stages) {
    sum += std::max(stage.longest_seconds, stage.work_seconds / other);
  }
  return sum;
}

double SlotLoad::OtherSeconds() const { return std::max(seconds - TaskSeconds(slots), 0.0); }

SlotLoad LoadOf(const PastApplication& run) {
  SlotLoad load = {.slots = run.settings.slots(), .seconds = run.seconds};
  double work = 0;
  double waiting = 0;
  double fetching = 0;
  for (const PastStage& ran : run.stages) {
    if (ran.tasks.empty()) continue;
    SlotLoad::OfStage stage;
    double running = 0;
    double processor = 0;
    bool fetches = false;
    for (const TaskCounters& task : ran.tasks) {
      stage.work_seconds += task.seconds * ran.tasks_for_each / ran.slot_share;
      stage.longest_seconds = std::max(stage.longest_seconds, task.seconds);
      running += task.running.value_or(0);
      processor += task.processor.value_or(0);
      fetches = fetches || task.local_bytes + task.remote_bytes > 0;
    }
    // Old versions of Spark report no processor time.
    const bool is_known = running > 0 && processor > 0;
    const double share = is_known ? std::clamp(1 - processor / running, 0.0, 1.0) : 1;
    work += stage.work_seconds;
    waiting += share * stage.work_seconds;
    if (fetches) fetching += share * stage.work_seconds;
    load.stages.push_back(stage);
  }
  if (work > 0) {
    load.waiting_share = waiting / work;
    load.fetching_share = fetching / work;
  }
  return load;
}

ScalingModel ScalingModel::Learn(std::span<const SlotLoad> runs) {
  ScalingModel learnt;
  for (const SlotLoad& run : runs) {
    if (HasLoad(run)) learnt.runs_[run.slots].push_back(run);
  }
  if (learnt.runs_.empty()) return learnt;
  const auto mean_of = [&learnt](const auto& value_of) { return MeanOver(learnt.runs_, value_of); };
  constexpr double kAnySlots = std::numeric_limits<double>::infinity();
  learnt.floor_ = learnt.ByStages(kAnySlots);
  learnt.other_seconds_ = mean_of([](const SlotLoad& run) { return run.OtherSeconds(); });
  learnt.centre_ = std::exp(mean_of([](const SlotLoad& run) { return std::log(run.slots); }));
  learnt.by_stages_at_centre_ = learnt.ByStages(learnt.centre_);
  const double waiting = mean_of([](const SlotLoad& run) { return run.waiting_share; });
  const double fetching = mean_of([](const SlotLoad& run) { return run.fetching_share; });
  learnt.AddCurves(kWaitingGrowth * waiting, kGrowthDeviation + kFetchingGrowthDeviation * fetching,
                   kNoise + kFetchingNoise * fetching);
  learnt.WeighCurves();
  return learnt;
}

double ScalingModel::ByStages(double slots) const {
  return MeanOver(runs_, [slots](const SlotLoad& run) { return run.SecondsOn(slots); });
}

double ScalingModel::LogShape(const Curve& curve, double slots, double by_stages) const {
  const double times = slots / centre_;
  if (curve.rule == Rule::kStages) {
    return std::log(floor_ + (by_stages - floor_) * std::pow(times, curve.growth));
  }
  const double share =
      curve.fixed_share + (1 - curve.fixed_share) * std::pow(times, curve.growth - 1);
  return std::log(other_seconds_ + (by_stages_at_centre_ - other_seconds_) * share);
}

std::map<double, double> ScalingModel::LogSeconds() const {
  std::map<double, double> logs;
  for (const auto& [slots, alike] : runs_) {
    double& mean = logs[slots];
    for (const SlotLoad& run : alike) mean += std::log(run.seconds);
    mean /= static_cast<double>(alike.size());
  }
  return logs;
}

void ScalingModel::AddCurves(double growth, double growth_deviation, double noise) {
  double shares = 0;
  for (const double share : kFixedShares) shares += std::exp(-share / kFixedShare);
  const double growth_max = HasRise(LogSeconds()) ? kGrowthMax : 1;
  Curve curve;
  for (int i = 0; (curve.growth = kGrowthMin + kGrowthStep * i) < growth_max; ++i) {
    const double of_growth = (1 - kWidePart) * Bell(curve.growth, growth, growth_deviation) +
                             kWidePart * Bell(curve.growth, growth, kWideDeviation);
    for (const double deviation : kNoises) {
      curve.deviation = deviation;
      const double prior = of_growth * Bell(std::log(deviation), std::log(noise), kNoiseSpread);
      curve.rule = Rule::kStages;
      curve.fixed_share = 0;
      curve.weight = kStagesWeight * prior;
      curves_.push_back(curve);
      curve.rule = Rule::kAmdahl;
      for (const double share : kFixedShares) {
        curve.fixed_share = share;
        curve.weight = kAmdahlWeight * prior * std::exp(-share / kFixedShare) / shares;
        curves_.push_back(curve);
      }
    }
  }
}

void ScalingModel::WeighCurves() {
  struct Observed {
    double slots;
    double log_seconds;
    double by_stages;
  };
  std::vector<Observed> observed;
  for (const auto& [slots, log_seconds] : LogSeconds()) {
    observed.push_back({slots, log_seconds, ByStages(slots)});
  }
  const auto count = static_cast<double>(observed.size());
  std::vector<double> logs;  // logarithms of the weights
  for (Curve& curve : curves_) {
    double sum = 0;
    double squares = 0;
    for (const Observed& run : observed) {
      const double apart = run.log_seconds - LogShape(curve, run.slots, run.by_stages);
      sum += apart;
      squares += SquareOf(apart);
    }
    curve.log_scale = sum / count;
    const double around = std::max(squares - sum * curve.log_scale, 0.0);
    // The scale may have any value, so the first run adds no evidence.
    logs.push_back(std::log(curve.weight) - around / (2 * SquareOf(curve.deviation)) -
                   (count - 1) * std::log(curve.deviation));
  }
  const double most = *std::max_element(logs.begin(), logs.end());
  double all = 0;
  for (std::size_t i = 0; i < curves_.size(); ++i) {
    curves_[i].weight = std::exp(logs[i] - most);
    all += curves_[i].weight;
  }
  for (Curve& curve : curves_) curve.weight /= all;
}

WholeEstimate ScalingModel::At(double slots) const {
  const double by_stages = ByStages(slots);
  // Includes the noise of the scale.
  const double more_noise = 1 + 1 / static_cast<double>(runs_.size());
  double mean = 0;
  double square = 0;
  for (const Curve& curve : curves_) {
    const double log_seconds = curve.log_scale + LogShape(curve, slots, by_stages);
    mean += curve.weight * log_seconds;
    square += curve.weight * (SquareOf(log_seconds) + SquareOf(curve.deviation) * more_noise);
  }
  return {.seconds = std::exp(mean), .deviation = std::sqrt(std::max(square - mean * mean, 0.0))};
}

namespace {

// `others` follow these levels.
enum Level { kExecutors, kCores, kBoth, kMemory, kCompress, kTasks, kNextTasks, kData };
constexpr std::size_t kLevels = kData + 1;

enum Group : std::size_t { kOfOneAnother, kOfAmounts, kOfHindrances, kOfOthers };

Group GroupOf(Level level) {
  switch (level) {
    case kExecutors:
    case kCores:
    case kBoth:
      return kOfOneAnother;  // effects of tasks on other tasks
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

// Minimum number of past runs from which a whole run is estimated.
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
