#include "master/cost/past_runs.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "master/cost/log_line.h"
#include "master/cost/normal.h"
#include "master/cost/opinions.h"
#include "master/model/phases.h"

namespace tidemark::cost {
namespace {

// Of the power, about one, by which the times of a job grow with its input: a run of a hundred
// times the input says less than one of the same. Taste.
constexpr double kInputPowerDeviation = 0.5;
// How the time of one job after another grows with its input: by a power between none and one.
// Taste.
constexpr double kInputSlope = 0.5;
constexpr double kInputSlopeDeviation = 0.25;

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

// A phase that takes longer than expected goes on as whatever has outlasted all expectation.
double Left(double expected, double passed) {
  return std::max(expected - passed, ParetoLeft(passed, 0.5));
}

// `scale`: how much larger the job is than that run.
double SecondsLeft(const model::JobRecord& state, const Standing& standing, absl::Time now,
                   const PastRun& run, double scale) {
  const double reduce = scale * Seconds(run.reduce_time);
  if (standing.reduce_start) return Left(reduce, Seconds(now - *standing.reduce_start));
  const double shuffle = scale * Seconds(run.shuffle_time);
  const StageProgress& maps = standing.maps;
  if (maps.state == StageState::kDone && maps.ended_at) {
    return Left(shuffle, std::max(0.0, Seconds(now - *maps.ended_at))) + reduce;
  }
  const double map = standing.maps_end ? std::max(0.0, Seconds(*standing.maps_end - now))
                                       : Left(scale * Seconds(run.map_time),
                                              std::max(0.0, Seconds(now - state.started_at)));
  return map + shuffle + reduce;
}

absl::Duration WholeTime(const PastRun& run) {
  return run.map_time + run.shuffle_time + run.reduce_time;
}

bool IsSane(const PastRun& run) {
  const absl::Duration zero = absl::ZeroDuration();
  return run.map_time >= zero && run.shuffle_time >= zero && run.reduce_time >= zero &&
         WholeTime(run) > zero && WholeTime(run) < absl::InfiniteDuration();
}

// Anyone may have made up the times of a job of another name: those of a job that nobody would
// watch are not taken for what this one takes.
bool TellsOfOthers(const PastRun& run) {
  return run.is_of_other_job && IsSane(run) && WholeTime(run) >= absl::Seconds(1) &&
         WholeTime(run) <= absl::Hours(24 * 30);
}

}  // namespace

std::optional<Draws> SecondsByPastRuns(const model::JobRecord& state, absl::Time now,
                                       std::span<const PastRun> runs, const FixedDraws& draws) {
  if (runs.empty()) return std::nullopt;
  const Standing standing = StandingOf(state, now);
  struct RunSays {
    double log = 0;
    double weight = 1;
  };
  std::vector<RunSays> opinions;
  double n = 0;
  for (const PastRun& run : runs) {
    if (run.is_of_other_job || !IsSane(run)) continue;
    const double scale = ScaleOf(standing, run);
    const double left = SecondsLeft(state, standing, now, run, scale);
    if (!(left > 0) || !std::isfinite(left)) continue;
    const double off = kInputPowerDeviation * std::log(scale) / kAgainDeviation;
    opinions.push_back({std::log(left), 1 / (1 + off * off)});
    n += opinions.back().weight;
  }
  if (opinions.empty()) return std::nullopt;
  double mean = 0;
  for (const RunSays& run : opinions) mean += run.weight * run.log / n;
  double squares = 0;
  for (const RunSays& run : opinions) squares += run.weight * (run.log - mean) * (run.log - mean);
  const double deviation =
      std::sqrt((1 + 1 / n) * (kPriorCount * kAgainDeviation * kAgainDeviation + squares) /
                (kPriorCount + std::max(n - 1, 0.0)));
  return LogNormal(mean, deviation, Opinion::kPastRuns, draws);
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
    const double left = SecondsLeft(state, standing, now, run, scale);
    if (!(left > 0) || !std::isfinite(left)) continue;
    sum += std::log(left);
    count += 1;
  }
  if (count == 0) return std::nullopt;
  return LogNormal(sum / count, whole.deviation, Opinion::kOtherJobs, draws);
}

}  // namespace tidemark::cost
