#include "master/forecast/durations/past_runs.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "master/facts/phases.h"
#include "master/forecast/durations/interval_record.h"
#include "master/forecast/durations/log_line.h"
#include "master/forecast/durations/map_phase_end.h"
#include "master/forecast/durations/normal.h"
#include "master/forecast/durations/opinions.h"
#include "master/forecast/durations/task_counts.h"

namespace tidemark::cost {
namespace {

// Of the power, about one, by which the times of a job grow with its input: a run of a hundred
// times the input says less than one of the same. Taste.
constexpr double kInputPowerDeviation = 0.5;
// How the time of one job after another grows with its input: by a power between none and one.
// Taste.
constexpr double kInputSlope = 0.5;
constexpr double kInputSlopeDeviation = 0.25;

// A forecast missed the end of a run that was this many half-widths away. Chosen by hand.
constexpr double kMissFrom = 2;

double Seconds(absl::Duration duration) { return absl::ToDoubleSeconds(duration); }

// Where the job stands: looked at once, whatever the number of runs.
struct Standing {
  double map_input_bytes = 0;  // 0: not known of every map task
  std::optional<absl::Time> reduce_start;
  StageProgress maps;
  std::optional<absl::Time> maps_end;  // by their own pace
};

Standing StandingOf(const model::JobRecord& state, absl::Time now) {
  Standing standing;
  standing.reduce_start = model::ReducePhaseStart(state);
  for (const model::Task& task : state.map_tasks()) {
    if (!task.input_bytes) {
      standing.map_input_bytes = 0;
      break;
    }
    standing.map_input_bytes += static_cast<double>(*task.input_bytes);
  }
  if (standing.reduce_start) return standing;
  standing.maps = model::MapProgress(state);
  if (standing.maps.fraction_done >= model::kPaceFrom)
    standing.maps_end = model::MapPhaseEnd(state, now);
  return standing;
}

// How much larger the input is than that run's.
double ScaleOf(const Standing& standing, const PastRun& run) {
  if (!(standing.map_input_bytes > 0) || run.map_input_bytes == 0) return 1;
  return standing.map_input_bytes / static_cast<double>(run.map_input_bytes);
}

// A phase that outlasts its estimate is extended as a task that outlasts all estimates is.
double Left(double expected, double passed) {
  return std::max(expected - passed, ParetoLeft(passed, 0.5));
}

// Remaining seconds of the map phase, and of all that follows it.
struct PhasesLeft {
  double maps = 0;
  double rest = 0;
  double sum() const { return maps + rest; }
};

// Returns the prediction of one past run. `scale`: the size of the job over that of the run.
PhasesLeft LeftBy(const model::JobRecord& state, const Standing& standing, absl::Time now,
                  const PastRun& run, double scale) {
  const double reduce = scale * Seconds(run.reduce_time);
  if (standing.reduce_start) return {.rest = Left(reduce, Seconds(now - *standing.reduce_start))};
  const double shuffle = scale * Seconds(run.shuffle_time);
  const StageProgress& maps = standing.maps;
  if (maps.state == StageState::kDone && maps.ended_at) {
    return {.rest = Left(shuffle, std::max(0.0, Seconds(now - *maps.ended_at))) + reduce};
  }
  return {
      .maps = Left(scale * Seconds(run.map_time), std::max(0.0, Seconds(now - state.started_at))),
      .rest = shuffle + reduce};
}

// Predictions of one time by several runs: log-normal, with their spread and a prior (past_runs.h).
class RunPredictions {
 public:
  // Ignores times that are not positive.
  void Add(double seconds, double weight) {
    if (!(seconds > 0) || !std::isfinite(seconds)) return;
    predictions_.push_back({std::log(seconds), weight});
    weights_ += weight;
  }

  // Empty without predictions.
  std::optional<Draws> Combined(const FixedDraws& draws) const {
    if (predictions_.empty()) return std::nullopt;
    double mean = 0;
    for (const Prediction& run : predictions_) mean += run.weight * run.log / weights_;
    double squares = 0;
    for (const Prediction& run : predictions_) {
      squares += run.weight * (run.log - mean) * (run.log - mean);
    }
    const double deviation =
        std::sqrt((1 + 1 / weights_) * (kPriorCount * kAgainDeviation * kAgainDeviation + squares) /
                  (kPriorCount + std::max(weights_ - 1, 0.0)));
    return LogNormal(mean, deviation, Opinion::kPastRuns, draws);
  }

 private:
  struct Prediction {
    double log = 0;
    double weight = 1;
  };
  std::vector<Prediction> predictions_;
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

// Returns true if the job and the run have map and reduce tasks of one program: both or neither
// reduce, and their numbers of tasks differ no more than their inputs. A run without numbers of
// tasks has any shape.
bool HasShapeOf(const PastRun& run, const model::JobRecord& state, const Standing& standing) {
  if (run.map_tasks == 0 && run.reduce_tasks == 0) return true;
  const double input_ratio = ScaleOf(standing, run);
  const auto is_alike = [&](const model::Stage* stage, std::uint32_t then) {
    if (stage != nullptr && !stage->opened.task_count) return true;
    const std::uint32_t now = stage == nullptr ? 0 : *stage->opened.task_count;
    if ((now == 0) != (then == 0)) return false;
    return MayBeOfOneProgram(now, then, input_ratio);
  };
  return state.stages.empty() || (is_alike(state.map_stage(), run.map_tasks) &&
                                  is_alike(state.reduce_stage(), run.reduce_tasks));
}

// Anyone may have made up the times of a job of another name: those of a job that nobody would
// watch are not taken for what this one takes.
bool TellsOfOthers(const PastRun& run) {
  return run.is_of_other_job && IsSane(run) && WholeTime(run) >= absl::Seconds(1) &&
         WholeTime(run) <= absl::Hours(24 * 30);
}

// Returns the probability that the forecast by this run's own tasks misses the end, by the rule of
// succession: it missed the ends of past runs, as where a task stalls in every run. 0 if it missed
// none of them.
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
  for (double& time : own) time = std::max(0.0, median + model::kWiden * (time - median));
  return Combine(own, past, ChanceOfMiss(runs));
}

std::optional<Draws> SecondsByPastRuns(const model::JobRecord& state, absl::Time now,
                                       std::span<const PastRun> runs, const FixedDraws& draws,
                                       const std::optional<Draws>& own_maps) {
  if (runs.empty()) return std::nullopt;
  const Standing standing = StandingOf(state, now);
  RunPredictions whole;
  RunPredictions maps;
  RunPredictions rest;
  for (const PastRun& run : runs) {
    if (run.is_of_other_job || !IsSane(run) || !HasShapeOf(run, state, standing)) continue;
    const double scale = ScaleOf(standing, run);
    const PhasesLeft left = LeftBy(state, standing, now, run, scale);
    const double off = kInputPowerDeviation * std::log(scale) / kAgainDeviation;
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

std::optional<Draws> SecondsByOtherJobs(const model::JobRecord& state, absl::Time now,
                                        std::span<const PastRun> runs, const FixedDraws& draws) {
  if (runs.empty()) return std::nullopt;
  const Standing standing = StandingOf(state, now);
  const auto known = [](double bytes) { return bytes > 0 ? std::optional(bytes) : std::nullopt; };
  LogLine line(kUnknownDeviation, kInputSlope, kInputSlopeDeviation);
  for (const PastRun& run : runs) {
    if (!TellsOfOthers(run)) continue;
    line.Add(known(static_cast<double>(run.map_input_bytes)), Seconds(WholeTime(run)));
  }
  if (line.empty()) return std::nullopt;
  const LogLine::Prediction whole = line.At(known(standing.map_input_bytes));
  double sum = 0;
  double count = 0;
  for (const PastRun& run : runs) {
    if (!TellsOfOthers(run)) continue;
    const double scale = std::pow(ScaleOf(standing, run), whole.slope);
    PhasesLeft left = LeftBy(state, standing, now, run, scale);
    if (standing.maps_end && left.maps > 0) {
      left.maps = std::max(0.0, Seconds(*standing.maps_end - now));
    }
    if (!(left.sum() > 0) || !std::isfinite(left.sum())) continue;
    sum += std::log(left.sum());
    count += 1;
  }
  if (count == 0) return std::nullopt;
  return LogNormal(sum / count, whole.deviation, Opinion::kOtherJobs, draws);
}

}  // namespace tidemark::cost
