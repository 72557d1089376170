// Forecasts of a job before its own key groups or tasks give an estimate.
//
// Past runs. Each past run r gives an estimate of the remaining time of the current phase and of
// the next phases. The estimate is the run's own time, multiplied by the ratio q_r of the inputs,
// minus the elapsed time. Let l_r be the logarithm of that estimate, nu = kPriorCount, s0 =
// kRepeatDeviation, and n the sum of the weights w_r = 1 / (1 + (0.5 ln q_r / s0)^2). Then
//   l   = sum of w_r l_r / n
//   s^2 = (1 + 1/n) (nu s0^2 + sum w_r (l_r - l)^2) / (nu + max(n - 1, 0))
// For runs with the same input, this is the predictive variance of the next run. The weak prior is
// that jobs of one name differ by 30 %. Once the map tasks of this run have a pace, the estimate
// for the map phase combines the pace and the past runs (combined_estimates.h).
//
// Other jobs. For them, the growth of times with inputs x is also estimated. The logarithms of
// their total times lie on a line over ln x with slope b (LogLine) and predictive deviation s.
// Times are scaled by q_r^b. Times below a second or above 30 days are ignored.
//
// The functions are pure and thread-safe. O(runs + map tasks).
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "absl/time/time.h"
#include "master/facts/job_record.h"
#include "master/forecast/durations/draws.h"
#include "master/forecast/durations/remaining_groups.h"
#include "master/forecast/durations/task_times.h"
#include "regression/cost_model.h"
#include "tidemark/past_run.h"

namespace tidemark::durations {

// Returns the seconds until the job ends, by draw. Ignores invalid runs (with no times, or negative
// times), runs of other jobs, and runs of another shape (whose numbers of tasks the inputs do not
// explain). Returns nullopt if no run is usable. `own_maps` contains the seconds until the map
// phase ends according to the pace of this run's map tasks, by draw; empty if they have no pace.
std::optional<Draws> SecondsByPastRuns(const facts::JobRecord& state, absl::Time now,
                                       std::span<const PastRun> runs, const FixedDraws& draws,
                                       const std::optional<Draws>& own_maps = {});

// Combines `own`, the seconds from this run's evidence, with `past`, the seconds from past runs. If
// the two contradict each other, the past runs count only if forecasts also missed the ends of past
// runs. `runs` contains past runs of the job.
Draws WithPastRuns(Draws own, const Draws& past, std::span<const PastRun> runs);

// Key groups of past runs predict the key groups that this run has not finished, from their sizes,
// which are known after the map phase. The times of past groups are multiplied by q, the pace of
// this run relative to theirs:
//   ln q = l s0^2 / (s0^2 + s1^2)
// l is the logarithm of the time of the finished groups over the time that past groups of their
// sizes took. s1 is the deviation of l, from the scatter of single groups. Without finished groups,
// q = 1.

// Returns `own`, the finished key groups of this run in ascending order of size, and the larger key
// groups of past runs of the job, whose times are multiplied by q. If this run has finished any
// group, a bin of past groups counts as at most kPriorCount groups. `feature`: the cost feature of
// named groups, or nullopt for all groups by bytes. Ignores the runs that SecondsByPastRuns()
// ignores. O(map tasks + runs x bins).
std::vector<regression::CostBin> WithPastGroups(std::vector<regression::CostBin> own,
                                                const facts::JobRecord& state,
                                                std::optional<CostFeature> feature = {});

// Returns `own`, the seconds until the reduce phase ends if the key groups take the times of past
// runs, by draw, with the deviation s0 between two runs.
Draws WithRunDeviation(Draws own, const FixedDraws& draws);

// Returns the seconds until the job ends, by draw, estimated from the other jobs among `runs`.
std::optional<Draws> SecondsByOtherJobs(const facts::JobRecord& state, absl::Time now,
                                        std::span<const PastRun> runs, const FixedDraws& draws);

// Forecasts the end of a job from its map phase, before any reduce work and without past runs.
//
// Map phase. Let F be the number of map tasks whose input has been read, counting parts of tasks.
// Their pace predicts the time of a whole task: its start-up, and the reading of a mean input. The
// logarithm of that time is weighted by F / s0^2, with s0 = kRepeatDeviation, and the prior
// N(1.2, 1) by 1. The prior is conditioned on the time for which the running tasks have run. The
// combined task time gives the end of the phase. Its remaining time is log-normal with the
// deviation 1 / sqrt(1 + F / s0^2).
//
// Rest. Let M be the time from the start of the job, without its wait for slots, to the (forecast)
// end of its map phase, W the number of waves in which the reduce tasks run on the slots of the map
// tasks, and X the time from the end of the map phase to the end of the job. Then
//   ln X ~ N(1.55 + ln(max(M, 5 s)) / 3 + 0.8 ln W, 1.3^2)
// After the map phase, X is conditioned on the time since the phase ended. The line was fitted to
// the 86 successful jobs with reduce tasks of six Rumen traces, each trace counted once. The
// deviation is 1.31 if each trace is predicted by the other five. With the number of reduce tasks
// instead of W, it is 1.62. The bytes of input and output do not improve the line. A job without a
// reduce stage has no X.
//
// The function is pure and thread-safe. O(map tasks).

// Lower bound of M, since a shorter map phase predicts nothing. Without this bound, the first
// forecasts of four short jobs of the live suite are 40 points too high, and their mean error is
// 5.9 points instead of 1.4.
inline constexpr double kMapSideSecondsMin = 5;

// Returns the seconds until the job ends, by draw, or nullopt if no map task has started.
std::optional<Draws> SecondsByMapSide(const facts::JobRecord& state, absl::Time now,
                                      const FixedDraws& draws);

// Forecasts the end of the reduce phase from the bytes that its functions have read.
//
// Let f be the share of the reduce input that has been read after T seconds of the phase, and f_i
// the share that running task i has read after T_i seconds. The median of the remaining time is
// then the largest of T (1 - f) / f and T_i (1 - f_i) / f_i. The remaining time is log-normal with
// a deviation of 1, since the cost per byte varies widely between key groups. A function may also
// read first and work later.
//
// The function is pure and thread-safe. O(reduce tasks).

// Returns the seconds until the phase ends, by draw. Returns nullopt before the reduce phase,
// before any byte has been read, after all bytes have been read, and while all started tasks are
// cold.
std::optional<Draws> SecondsByBytesRead(const facts::JobRecord& state, absl::Time now,
                                        const FixedDraws& draws);

}  // namespace tidemark::durations

namespace tidemark::durations {

// Returns the end of the map phase, or its forecast if the phase is not over. In the forecast, the
// remaining input of every map task takes the mean seconds per byte so far (per task if sizes are
// unknown), after the mean start-up of a task. The tasks are placed greedily on the map slots.
// Returns nullopt before any map task has read anything.
std::optional<absl::Time> MapPhaseEnd(const facts::JobRecord& state, absl::Time now);

}  // namespace tidemark::durations

namespace tidemark::durations {

// Two runs of one program on the same data have numbers of tasks that differ by less than this
// factor. Chosen by hand.
inline constexpr double kSameProgramFactor = 2;

// Returns true if one program may have had `now` and `then` tasks, because the numbers are close or
// differ as the inputs do. A difference of one task has little weight. `input_ratio` is the ratio
// of the input now to the input then; 1 if unknown.
inline bool MayBeOfOneProgram(double now, double then, double input_ratio) {
  const double ratio = (now + 1) / (then + 1);
  const auto is_near = [](double x) { return std::max(x, 1 / x) < kSameProgramFactor; };
  return is_near(ratio) || is_near(ratio / input_ratio);
}

}  // namespace tidemark::durations
