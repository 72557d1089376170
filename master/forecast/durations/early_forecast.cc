#include "master/forecast/durations/early_forecast.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "master/facts/phases.h"
#include "master/forecast/durations/combined_estimates.h"
#include "master/forecast/durations/draws.h"
#include "master/forecast/durations/intervals.h"
#include "master/forecast/placement/greedy_list.h"

namespace tidemark::durations {
namespace {

// Prior deviation of the exponent with which the times of a job grow with its input. The prior mean
// is one. A past run with a hundred times the input counts less than one with the same input.
// Chosen by hand.
constexpr double kInputPowerDeviation = 0.5;
// Prior of the exponent with which the times of different jobs grow with their inputs. It lies
// between 0 and 1. Chosen by hand.
constexpr double kInputSlope = 0.5;
constexpr double kInputSlopeDeviation = 0.25;

// Parameters of ln X in SecondsByMapSide(), with X in seconds.
constexpr double kRestLogSeconds = 1.55;
constexpr double kRestByWaves = 0.8;
constexpr double kRestDeviation = 1.3;
// Prior of ln(time of a map task), with the deviation kUnknownDeviation. On the 86 successful jobs
// of six Rumen traces, each trace counted once, the mean is 1.2 and the deviation is 1.0.
constexpr double kMapTaskLogSeconds = 1.2;

// Lower bound of the squared relative error of the time of a key group. Chosen by hand.
constexpr double kGroupVarianceMin = 0.04;

// A forecast missed the end of a run if the end was this many half-widths away. Chosen by hand.
constexpr double kMissFrom = 2;

// Guards the logarithm of the time of a phase.
constexpr double kPhaseSecondsMin = 1e-3;

double Seconds(absl::Duration duration) { return absl::ToDoubleSeconds(duration); }

// The state of the job, computed once for all runs.
struct JobPosition {
  double map_input_bytes = 0;  // 0 if the size of any map task is unknown
  std::optional<absl::Time> reduce_start;
  StageProgress maps;
  std::optional<absl::Time> maps_end;  // according to the pace of the map tasks
  absl::Time map_side_start;
  absl::Duration wait;  // for the first slot, if the job is waiting for it
};

JobPosition PositionOf(const facts::JobRecord& state, absl::Time now) {
  JobPosition position;
  position.reduce_start = facts::ReducePhaseStart(state);
  position.map_input_bytes = facts::MapInputBytes(state);
  if (position.reduce_start) return position;
  position.maps = facts::MapProgress(state);
  // A job without known map tasks does not wait for their slots.
  position.map_side_start =
      position.maps.tasks == 0
          ? state.started_at
          : facts::MapSideStart(state.started_at, position.maps.started_at.value_or(now));
  if (position.maps.state == StageState::kPending && position.maps.tasks > 0) {
    position.wait = position.map_side_start - state.started_at;
  }
  if (position.maps.fraction_done >= facts::kPaceFrom) position.maps_end = MapPhaseEnd(state, now);
  return position;
}

// Returns the ratio of the input of this job to the input of the run.
double ScaleOf(double map_input_bytes, const PastRun& run) {
  if (!(map_input_bytes > 0) || run.map_input_bytes == 0) return 1;
  return map_input_bytes / static_cast<double>(run.map_input_bytes);
}

// Returns the remaining time of a phase of the job's past run. A phase that outlasts its estimate
// has a Pareto tail.
double Left(double expected, double passed) {
  return std::max(expected - passed, ParetoLeft(passed, 0.5));
}

// Remaining seconds of the map phase, and of the following phases.
struct PhasesLeft {
  double maps = 0;
  double rest = 0;
  double sum() const { return maps + rest; }
};

// Returns the estimate from one past run. A wait for slots lasts for as long again with a
// probability of one half, by Laplace's rule. `scale` is the ratio of the job's size to the size of
// the run. `left` returns the remaining time of a phase from its expected time and the time that
// has passed.
template <typename TimeLeft>
PhasesLeft LeftBy(const JobPosition& position, absl::Time now, const PastRun& run, double scale,
                  TimeLeft left) {
  const auto since = [now](absl::Time start) { return std::max(0.0, Seconds(now - start)); };
  const double reduce = scale * Seconds(run.reduce_time);
  if (position.reduce_start) return {.rest = left(reduce, since(*position.reduce_start))};
  const double shuffle = scale * Seconds(run.shuffle_time);
  const StageProgress& maps = position.maps;
  if (maps.state == StageState::kDone && maps.ended_at) {
    return {.rest = left(shuffle, since(*maps.ended_at)) + reduce};
  }
  return {.maps = Seconds(position.wait) +
                  left(scale * Seconds(run.map_time), since(position.map_side_start)),
          .rest = shuffle + reduce};
}

// Combines estimates of one time from several runs into a log-normal distribution, with their
// spread and a prior (early_forecast.h).
class RunEstimates {
 public:
  // Ignores times that are not positive.
  void Add(double seconds, double weight) {
    if (!(seconds > 0) || !std::isfinite(seconds)) return;
    estimates_.push_back({std::log(seconds), weight});
    weights_ += weight;
  }

  // Returns the combined draws, or nullopt if there are no estimates.
  std::optional<Draws> Combined(const FixedDraws& draws) const {
    if (estimates_.empty()) return std::nullopt;
    double mean = 0;
    for (const Estimate& run : estimates_) mean += run.weight * run.log / weights_;
    double squares = 0;
    for (const Estimate& run : estimates_) {
      squares += run.weight * (run.log - mean) * (run.log - mean);
    }
    const double deviation = std::sqrt(
        (1 + 1 / weights_) * (kPriorCount * kRepeatDeviation * kRepeatDeviation + squares) /
        (kPriorCount + std::max(weights_ - 1, 0.0)));
    return LogNormal(mean, deviation, EstimateSource::kPastRuns, draws);
  }

 private:
  struct Estimate {
    double log = 0;
    double weight = 1;
  };
  std::vector<Estimate> estimates_;
  double weights_ = 0;
};

absl::Duration WholeTime(const PastRun& run) {
  return run.map_time + run.shuffle_time + run.reduce_time;
}

bool IsSane(const PastRun& run) {
  const absl::Duration zero = absl::ZeroDuration();
  return run.map_time >= zero && run.shuffle_time >= zero && run.reduce_time >= zero &&
         WholeTime(run) > zero && WholeTime(run) < absl::InfiniteDuration();
}

// Returns true if the job and the run may be of one program: both or neither have a reduce phase,
// and their numbers of tasks differ no more than their inputs. A run without numbers of tasks
// matches any job.
bool HasTaskCountsOf(const PastRun& run, const facts::JobRecord& state, double map_input_bytes) {
  if (run.map_tasks == 0 && run.reduce_tasks == 0) return true;
  const double input_ratio = ScaleOf(map_input_bytes, run);
  const auto is_alike = [&](const facts::Stage* stage, std::uint32_t then) {
    if (stage != nullptr && !stage->opened.task_count) return true;
    const std::uint32_t now = stage == nullptr ? 0 : *stage->opened.task_count;
    if ((now == 0) != (then == 0)) return false;
    return MayBeOfOneProgram(now, then, input_ratio);
  };
  return state.stages.empty() || (is_alike(state.map_stage(), run.map_tasks) &&
                                  is_alike(state.reduce_stage(), run.reduce_tasks));
}

bool IsUsable(const PastRun& run, const facts::JobRecord& state, double map_input_bytes) {
  return !run.is_of_other_job && IsSane(run) && HasTaskCountsOf(run, state, map_input_bytes);
}

// The key groups of past runs, in bins by a cost feature.
class PastGroups {
 public:
  // Adds the groups of a run. `feature`: the feature of its named groups, or nullopt for all groups
  // by bytes.
  void Add(const PastRun& run, std::optional<CostFeature> feature) {
    if (!feature) {
      for (const GroupBin& bin : run.groups) {
        const auto bytes = static_cast<double>(bin.size_bytes);
        Add({static_cast<double>(bin.count), bytes, bytes, bin.seconds, bin.seconds_squared});
      }
    } else if (AreMostlyNamed(run)) {
      for (const TimedGroups& groups : run.timed_groups[static_cast<std::size_t>(*feature)]) {
        Add(groups);
      }
    }
  }

  // Returns the bins in ascending order of size.
  std::vector<regression::CostBin> bins() const {
    std::vector<regression::CostBin> bins;
    for (const auto& [bin, sums] : sums_) {
      const double mean = sums.seconds / sums.groups;
      if (!(mean > 0) || !std::isfinite(mean + sums.seconds_squared)) continue;
      const double variance = std::max(sums.seconds_squared / sums.groups - mean * mean, 0.0);
      bins.push_back({.size = std::max(sums.value / sums.groups, 1.0),
                      .count = sums.groups,
                      .amount = mean,
                      .relative_variance = variance / (mean * mean),
                      .bytes = sums.bytes / sums.groups});
    }
    std::ranges::sort(bins, {}, &regression::CostBin::size);
    return bins;
  }

 private:
  // Returns true if the named groups took most of the time. Otherwise they do not represent the
  // others.
  static bool AreMostlyNamed(const PastRun& run) {
    double all = 0;
    double named = 0;
    for (const GroupBin& bin : run.groups) all += bin.seconds;
    for (const TimedGroups& groups : run.timed_groups[0]) named += groups.seconds;
    return named > all / 2;
  }

  void Add(const TimedGroups& groups) {
    if (!(groups.groups > 0)) return;
    TimedGroups& sums = sums_[FeatureBin(groups.value / groups.groups)];
    sums.groups += groups.groups;
    sums.value += groups.value;
    sums.bytes += groups.bytes;
    sums.seconds += groups.seconds;
    sums.seconds_squared += groups.seconds_squared;
  }

  std::map<std::uint32_t, TimedGroups> sums_;
};

// Returns the time of a key group of `size`, on the line through the nearest two bins, in
// logarithms; with a constant time beyond them. REQUIRES: !bins.empty()
double TimeAt(double size, const std::vector<regression::CostBin>& bins) {
  const auto above = std::ranges::lower_bound(bins, size, {}, &regression::CostBin::size);
  if (above == bins.begin()) return bins.front().amount;
  if (above == bins.end()) return bins.back().amount;
  const auto below = std::prev(above);
  const double part = std::log(size / below->size) / std::log(above->size / below->size);
  return below->amount * std::pow(above->amount / below->amount, part);
}

// Returns the factor q on the times of past key groups (early_forecast.h).
double PaceAfter(const std::vector<regression::CostBin>& own,
                 const std::vector<regression::CostBin>& past) {
  double seen = 0;
  double expected = 0;
  double variance = 0;
  for (const regression::CostBin& bin : own) {
    const double seconds = bin.count * TimeAt(bin.size, past);
    seen += bin.count * bin.amount;
    expected += seconds;
    variance += seconds * seconds / bin.count * std::max(bin.relative_variance, kGroupVarianceMin);
  }
  if (!(seen > 0) || !(expected > 0) || !std::isfinite(seen)) return 1;
  const double between = kRepeatDeviation * kRepeatDeviation;
  const double trust = between / (between + variance / (expected * expected));
  return std::pow(seen / expected, trust);
}

// Returns true if a run of another job has plausible times, from one second to 30 days. Any client
// may have reported a false run.
bool IsPlausibleOtherJob(const PastRun& run) {
  return run.is_of_other_job && IsSane(run) && WholeTime(run) >= absl::Seconds(1) &&
         WholeTime(run) <= absl::Hours(24 * 30);
}

// Returns the probability that the forecast from this run's own tasks misses the end. It is
// computed from past runs by the rule of succession, since misses repeat if a task stalls in every
// run. Returns 0 if no forecast has missed.
double ChanceOfMiss(std::span<const PastRun> runs) {
  double known = 0;
  double missed = 0;
  for (const PastRun& run : runs) {
    if (run.is_of_other_job || !run.interval_score) continue;
    known += 1;
    missed += *run.interval_score > kMissFrom ? 1 : 0;
  }
  return missed > 0 ? (missed + 1) / (known + 2) : 0;
}

}  // namespace

Draws WithPastRuns(Draws own, const Draws& past, std::span<const PastRun> runs) {
  Draws ordered = own;
  const double median = QuantileOf(ordered, 0.5);
  for (double& time : own) time = std::max(0.0, median + kWiden * (time - median));
  return Combine(own, past, ChanceOfMiss(runs));
}

std::optional<Draws> SecondsByPastRuns(const facts::JobRecord& state, absl::Time now,
                                       std::span<const PastRun> runs, const FixedDraws& draws,
                                       const std::optional<Draws>& own_maps) {
  if (runs.empty()) return std::nullopt;
  const JobPosition position = PositionOf(state, now);
  RunEstimates whole;
  RunEstimates maps;
  RunEstimates rest;
  for (const PastRun& run : runs) {
    if (!IsUsable(run, state, position.map_input_bytes)) continue;
    const double scale = ScaleOf(position.map_input_bytes, run);
    const PhasesLeft left = LeftBy(position, now, run, scale, Left);
    const double off = kInputPowerDeviation * std::log(scale) / kRepeatDeviation;
    const double weight = 1 / (1 + off * off);
    whole.Add(left.sum(), weight);
    maps.Add(left.maps, weight);
    rest.Add(left.rest, weight);
  }
  const std::optional<Draws> by_runs = maps.Combined(draws);
  if (!own_maps || !by_runs) return whole.Combined(draws);
  Draws seconds = WithPastRuns(*own_maps, *by_runs, runs);
  if (const std::optional<Draws> after = rest.Combined(draws)) {
    for (std::size_t d = 0; d < seconds.size(); ++d) seconds[d] += (*after)[d];
  }
  return seconds;
}

std::vector<regression::CostBin> WithPastGroups(std::vector<regression::CostBin> own,
                                                const facts::JobRecord& state,
                                                std::optional<CostFeature> feature) {
  if (state.past_runs.empty()) return own;
  PastGroups groups;
  const double map_input_bytes = facts::MapInputBytes(state);
  for (const PastRun& run : state.past_runs) {
    if (IsUsable(run, state, map_input_bytes)) groups.Add(run, feature);
  }
  std::vector<regression::CostBin> past = groups.bins();
  if (past.empty()) return own;
  const double pace = PaceAfter(own, past);
  const double largest = own.empty() ? 0 : own.back().size;
  const double count_max = own.empty() ? std::numeric_limits<double>::infinity() : kPriorCount;
  for (regression::CostBin& bin : past) {
    if (bin.size <= largest) continue;
    bin.amount *= pace;
    bin.count = std::min(bin.count, count_max);
    own.push_back(bin);
  }
  return own;
}

Draws WithRunDeviation(Draws own, const FixedDraws& draws) {
  const Draws factors = LogNormal(0, kRepeatDeviation, EstimateSource::kPastRuns, draws);
  for (std::size_t d = 0; d < own.size(); ++d) own[d] *= factors[d];
  return own;
}

std::optional<Draws> SecondsByOtherJobs(const facts::JobRecord& state, absl::Time now,
                                        std::span<const PastRun> runs, const FixedDraws& draws) {
  if (runs.empty()) return std::nullopt;
  const JobPosition position = PositionOf(state, now);
  const auto known = [](double bytes) { return bytes > 0 ? std::optional(bytes) : std::nullopt; };
  LogLine line(kUnknownDeviation, kInputSlope, kInputSlopeDeviation);
  for (const PastRun& run : runs) {
    if (!IsPlausibleOtherJob(run)) continue;
    line.Add(known(static_cast<double>(run.map_input_bytes)), Seconds(WholeTime(run)));
  }
  if (line.empty()) return std::nullopt;
  const LogLine::Estimate whole = line.At(known(position.map_input_bytes));
  double sum = 0;
  double count = 0;
  for (const PastRun& run : runs) {
    if (!IsPlausibleOtherJob(run)) continue;
    const double scale = std::pow(ScaleOf(position.map_input_bytes, run), whole.slope);
    PhasesLeft left = LeftBy(position, now, run, scale, [&](double expected, double passed) {
      // A phase of another job is longer than the time that has passed.
      return LogNormalLeft(std::log(std::max(expected, kPhaseSecondsMin)), whole.deviation, passed,
                           0.5);
    });
    if (position.maps_end && left.maps > 0) {
      left.maps = std::max(0.0, Seconds(*position.maps_end - now));
    }
    if (!(left.sum() > 0) || !std::isfinite(left.sum())) continue;
    sum += std::log(left.sum());
    count += 1;
  }
  if (count == 0) return std::nullopt;
  return LogNormal(sum / count, whole.deviation, EstimateSource::kOtherJobs, draws);
}

namespace {

double BytesRead(const facts::Task& task, double all) {
  if (task.is_over()) return all;
  const facts::TaskAttempt* attempt = task.leading_attempt();
  if (attempt == nullptr) return 0;
  auto read = static_cast<double>(attempt->bytes_done);
  if (attempt->reduce->running_group) {
    read += static_cast<double>(attempt->reduce->running_group->bytes_read);
  }
  return std::min(read, all);
}

// Returns the seconds until a running task has read all of its bytes at its own pace, or 0 if it
// has no pace.
double LeftAtOwnPace(const facts::Task& task, double read, double all, absl::Time now) {
  const facts::TaskAttempt* attempt = task.is_over() ? nullptr : task.leading_attempt();
  if (attempt == nullptr || !attempt->reduce->reduce_started_at) return 0;
  if (!(read > facts::kPaceFrom * all)) return 0;
  const double seconds = absl::ToDoubleSeconds(now - *attempt->reduce->reduce_started_at);
  return std::max(0.0, seconds * (all - read) / read);
}

// Returns true if some tasks have started and all of them are cold, so that their pace will change.
bool AllAreCold(const facts::JobRecord& state) {
  bool has_cold = false;
  for (const facts::Task& task : state.reduce_tasks()) {
    if (task.is_finished()) return false;
    const facts::TaskAttempt* attempt = task.leading_attempt();
    if (attempt == nullptr || attempt->bytes_done == 0) continue;
    if (!attempt->reduce->is_cold()) return false;
    has_cold = true;
  }
  return has_cold;
}

}  // namespace

std::optional<Draws> SecondsByBytesRead(const facts::JobRecord& state, absl::Time now,
                                        const FixedDraws& draws) {
  const std::optional<absl::Time> start = facts::ReducePhaseStart(state);
  if (!start || AllAreCold(state)) return std::nullopt;
  double read = 0;
  double all = 0;
  double longest = 0;
  for (std::size_t i = 0; i < state.reduce_tasks().size(); ++i) {
    const facts::Task& task = state.reduce_tasks()[i];
    const auto bytes = static_cast<double>(state.reduce_input_bytes(i));
    const double of_task = BytesRead(task, bytes);
    longest = std::max(longest, LeftAtOwnPace(task, of_task, bytes, now));
    read += of_task;
    all += bytes;
  }
  const double left = std::max(longest, absl::ToDoubleSeconds(now - *start) * (all - read) / read);
  if (!(left > 0) || !std::isfinite(left)) return std::nullopt;
  return LogNormal(std::log(left), kUnknownDeviation, EstimateSource::kBytesRead, draws);
}

}  // namespace tidemark::durations

namespace tidemark::durations {
namespace {

const facts::TaskAttempt* RunningAttempt(const facts::Task& task) {
  for (const auto& [number, attempt] : task.attempts) {
    if (attempt.life.is_running()) return &attempt;
  }
  return nullptr;
}

// The map tasks, as one walk over them finds them.
struct MapWork {
  // A task that has not ended.
  struct Left {
    double weight = 0;
    double fraction = 0;                // the processed share of its input
    std::optional<double> running_for;  // seconds
  };
  std::vector<Left> left;
  double mean_weight = 0;
  double tasks_done = 0;  // sum of the processed shares of tasks
  // Seconds per unit of weight after the start-up, from finished and running tasks. Nullopt if
  // there is no progress.
  std::optional<double> seconds_per_weight;
  double start_up = 0;  // mean seconds between the start of a task and its first input

  double SecondsLeft(const Left& task) const {
    const double start = task.fraction > 0 ? 0 : start_up - task.running_for.value_or(0);
    return std::max(start, 0.0) + *seconds_per_weight * task.weight * (1 - task.fraction);
  }
  // Combines the pace with the prior of a task's time (early_forecast.h). Returns the deviation of
  // the logarithm of the result.
  double CombineWithPrior();
};

MapWork MapWorkOf(const facts::JobRecord& state, absl::Time now) {
  MapWork work;
  double seconds = 0;
  double weight = 0;
  double started = 0;
  const std::vector<double> weights = facts::MapTaskWeights(state);
  const std::span<const facts::Task> tasks = state.map_tasks();
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const facts::Task& task = tasks[i];
    const double fraction = facts::MapTaskFraction(task);
    const facts::TaskAttempt* const finished = task.finished_attempt();
    const facts::TaskAttempt* const attempt = finished != nullptr ? finished : RunningAttempt(task);
    double ran_for = 0;
    if (attempt != nullptr && attempt->life.started_at()) {
      const absl::Time until = attempt->life.ended_at().value_or(now);
      ran_for = std::max(0.0, absl::ToDoubleSeconds(until - *attempt->life.started_at()));
    }
    if (!task.is_over()) {
      work.left.push_back(
          {weights[i], fraction, task.is_running() ? std::optional(ran_for) : std::nullopt});
    }
    work.mean_weight += weights[i] / static_cast<double>(tasks.size());
    if (fraction <= 0 || attempt == nullptr || !attempt->life.started_at()) continue;
    const double start_up = std::min(absl::ToDoubleSeconds(attempt->start_up()), ran_for);
    work.start_up += start_up;
    started += 1;
    seconds += ran_for - start_up;
    weight += weights[i] * fraction;
    work.tasks_done += fraction;
  }
  if (started > 0) work.start_up /= started;
  if (weight > 0) work.seconds_per_weight = seconds / weight;
  return work;
}

double MapWork::CombineWithPrior() {
  double running_for = 0;
  double running = 0;
  for (const Left& task : left) {
    running_for += task.running_for.value_or(0);
    running += task.running_for ? 1 : 0;
  }
  const double passed = running > 0 ? running_for / running : 0;
  const double prior = passed + LogNormalLeft(kMapTaskLogSeconds, kUnknownDeviation, passed, 0.5);
  if (!seconds_per_weight) {
    start_up = prior;
    seconds_per_weight = 0;
    return kUnknownDeviation;
  }
  const double precision = tasks_done / (kRepeatDeviation * kRepeatDeviation);
  const double all = precision + 1 / (kUnknownDeviation * kUnknownDeviation);
  const double paced = start_up + *seconds_per_weight * mean_weight;
  const double factor = paced > 0 ? std::pow(prior / paced, 1 - precision / all) : 1;
  start_up *= factor;
  *seconds_per_weight *= factor;
  return 1 / std::sqrt(all);
}

// Places the remaining map tasks on the slots. Returns the end of the last task. REQUIRES: a task
// remains, and work.seconds_per_weight is set.
absl::Time EndOf(const MapWork& work, std::size_t slots, absl::Time now) {
  std::vector<absl::Time> slots_free_at;
  std::vector<absl::Duration> waiting;
  for (const MapWork::Left& task : work.left) {
    const absl::Duration left = absl::Seconds(work.SecondsLeft(task));
    if (task.running_for) {
      slots_free_at.push_back(now + left);
    } else {
      waiting.push_back(left);
    }
  }
  placement::AddFreeSlots(slots, waiting.size(), now, slots_free_at);
  absl::Time end = *std::max_element(slots_free_at.begin(), slots_free_at.end());
  for (const auto& task : placement::ScheduleGreedily(slots_free_at, waiting)) {
    end = std::max(end, task.ends_at);
  }
  return end;
}

}  // namespace

std::optional<absl::Time> MapPhaseEnd(const facts::JobRecord& state, absl::Time now) {
  const StageProgress progress = facts::MapProgress(state);
  if (progress.state == StageState::kDone) return progress.ended_at;
  if (const auto reduce_start = facts::ReducePhaseStart(state)) return reduce_start;
  const MapWork work = MapWorkOf(state, now);
  if (!work.seconds_per_weight) return std::nullopt;
  return EndOf(work, state.map_slots(), now);
}

std::optional<Draws> SecondsByMapSide(const facts::JobRecord& state, absl::Time now,
                                      const FixedDraws& draws) {
  const StageProgress maps = facts::MapProgress(state);
  if (!maps.started_at) return std::nullopt;
  std::optional<absl::Time> maps_end = MapPhaseEnd(state, now);
  double deviation = 0;
  if (maps.state != StageState::kDone && !facts::ReducePhaseStart(state)) {
    MapWork work = MapWorkOf(state, now);
    deviation = work.CombineWithPrior();
    maps_end = EndOf(work, state.map_slots(), now);
  }
  if (!maps_end) return std::nullopt;
  const double map_side =
      absl::ToDoubleSeconds(*maps_end - facts::MapSideStart(state.started_at, *maps.started_at));
  const double maps_left = std::max(0.0, absl::ToDoubleSeconds(*maps_end - now));
  const double passed = std::max(0.0, absl::ToDoubleSeconds(now - *maps_end));
  if (!(map_side > 0) || !std::isfinite(map_side + passed)) return std::nullopt;
  constexpr auto kStream = static_cast<std::uint64_t>(EstimateSource::kMapSide);
  Draws seconds = draws.Normals(Drawn::kSource, kStream);
  for (double& time : seconds) time = maps_left * std::exp(deviation * time);
  if (state.reduce_stage() == nullptr) return seconds;
  const auto reduce_tasks = static_cast<double>(state.reduce_tasks().size());
  const std::optional<std::uint32_t>& reported = state.reduce_stage()->opened.slots;
  const double slots = std::max(reported ? *reported : static_cast<double>(state.map_slots()), 1.0);
  const double log_median = kRestLogSeconds + std::log(std::max(map_side, kMapSideSecondsMin)) / 3 +
                            kRestByWaves * std::log(std::max(std::ceil(reduce_tasks / slots), 1.0));
  const Draws rest = draws.Uniforms(Drawn::kSource, kStream);
  for (std::size_t d = 0; d < seconds.size(); ++d) {
    seconds[d] += LogNormalLeft(log_median, kRestDeviation, passed, rest[d]);
  }
  return seconds;
}

}  // namespace tidemark::durations
