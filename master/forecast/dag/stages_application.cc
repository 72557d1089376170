#include "master/forecast/dag/stages_application.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "master/forecast/dag/job_estimate.h"
#include "master/forecast/dag/task_estimate.h"
#include "master/forecast/dag/task_factors.h"
#include "master/forecast/dag/workflow_state.h"
#include "master/forecast/durations/combined_estimates.h"
#include "tidemark/job.h"

namespace tidemark::dag {
namespace {

// Measured with known task times on 367 runs of iterative programs of nine kinds, 20 logs from
// other sources and 3 power runs. Between 0.6 and 0.75, the mean error changes by 0.3 points. With
// this value, the mean error is 20.7 points; if future work is ignored, it is 23.2.
constexpr double kChanceAfterSeveral = 2.0 / 3;
// A single job may be the only one. Chosen by hand.
constexpr double kChanceAfterOne = 1.0 / 2;
// A power run creates its 24 views in the same way, then runs one query. Measured like
// kChanceAfterSeveral.
constexpr double kChanceAtNovelty = 1.0 / 4;
// An application that has not worked at all continues with this probability. The probability falls
// to one half at kWorkedShare. Fitted to the even-numbered of 23 logs of TPC-DS and 19 other logs;
// errors without evidence of this kind are 7.1 and 27.9 points, with it 6.8 and 26.0.
constexpr double kChanceWithoutWork = 3.0 / 4;
constexpr double kWorkedShare = 0.8;

double ChanceBySubmissions(const Submissions& submissions) {
  if (submissions.count <= 1) return kChanceAfterOne;
  if (submissions.is_newest_repeated) return kChanceAfterSeveral;
  // The share of submissions that did something new. Another new submission indicates little if all
  // others were new, and much if none were.
  const double novelty =
      static_cast<double>(submissions.kinds) / static_cast<double>(submissions.count);
  return std::clamp(novelty, kChanceAtNovelty, kChanceAfterSeveral);
}

}  // namespace

double ChanceOfMore(const Submissions& submissions, double worked_share) {
  const double unworked = std::clamp(1 - worked_share / kWorkedShare, 0.0, 1.0);
  const double by_work = unworked > 0 ? 0.5 + (kChanceWithoutWork - 0.5) * unworked : 0;
  return std::max(ChanceBySubmissions(submissions), by_work);
}

durations::Draws GrowthOf(const Submissions& submissions, double elapsed, double worked,
                          const durations::FixedDraws& draws) {
  const double chance = ChanceOfMore(submissions, elapsed > 0 ? worked / elapsed : 1);
  durations::Draws growth = draws.Uniforms(durations::Drawn::kGrowth, durations::kOfRun);
  const double likely = std::min(chance, 0.5);
  for (double& u : growth) {
    const double ratio = u < likely ? chance / likely * std::sqrt(likely / u) : chance / u;
    u = u < chance ? elapsed * (ratio - 1) : 0;
  }
  return growth;
}

namespace {

using durations::Drawn;
using durations::Draws;
using durations::FixedDraws;
using durations::TimeDistribution;
using placement::Warmth;

// A factor with ln f ~ N(-shift d^2, d^2) has a mean of one if the shift is a half, which is right
// for the sum of known stages. For unknown stages, a mean of one is too low if few stages determine
// the end, and a median of one is too high if many stages add up. Ablation: +0.98, -0.96
// (tpcds-one-run).
constexpr double kKnownShift = 0.5;
// Ablation: -0.71, +1.74 (tpcds-live-no-history).
constexpr double kUnknownShift = 0.3;
// Prior of ln(task time) of an unknown stage that fetches the output of other stages, relative to a
// stage that reads the input. If the two kinds are not distinguished, the error on TPC-H without
// history is 20.9 points at 12 samples instead of 12.7, and the error on TPC-DS is 4.49 instead of
// 4.48. With -0.5 and 1.5, the errors are 14.0 and 4.97.
constexpr double kFetchingLess = -1;
constexpr double kFetchingLessDeviation = 0.7;
// A task that reads b bytes takes 1 + b / kBytesOfFixedTime times as long as its fixed part.
// Measured on 127 stages that fetch, of 21 logs from 6 sources: the deviation of ln(mean task time)
// from this prediction is 0.9, weighted by the square root of the work. With 4 MB or 100 kB it is
// 1.0 and 1.4, without sizes 2.7.
constexpr double kBytesOfFixedTime = 1e6;
// If an application may grow, tasks of a stage without evidence and of unknown input take this many
// times as long as tasks of other stages, since the first tasks are usually the short ones. The
// mean error of the shown progress of queries is 15.4 points (18 queries of other logs) and 4.5
// points (4 runs of TPC-DS). If the factor also applies to known inputs, it is 16.7 and 5.5 points.
constexpr double kUnknownLonger = 2.5;

// These constants limit processor time and memory. They bound the number of repeated stages per
// kind of work, and the number of times per kind of task.
constexpr std::size_t kRepeatedMax = 3;
constexpr std::size_t kRepeatedTimesMax = 32;

// The estimated times of the remaining tasks of a stage.
struct StageEstimate {
  TaskEstimate tasks;
  double lag = 0;  // time from the end of the last parent to the first task
  durations::MeasuredTask measured;
};

// Returns true if no task of the stage remains.
bool IsOver(const StageNow& stage) {
  return stage.running.empty() && stage.finished.size() >= stage.tasks;
}

class StageEstimator {
 public:
  StageEstimator(const WorkflowNow& now, std::span<const PastRun* const> history, double slots,
                 const EstimateConstants& constants)
      : now_(now), history_(history), slots_(slots), constants_(constants) {}

  // Returns the estimate for each stage, including future stages. The estimate of a stage that is
  // over is empty.
  std::vector<StageEstimate> Build() {
    const std::vector<StageNow>& stages = now_.stages;
    runs_.resize(stages.size());
    expected_.resize(stages.size());
    for (const PastRun* run : history_) Collect(*run);
    FindRepeated();
    // Stages that are over correct the estimates of other stages.
    const bool is_foretold = std::ranges::any_of(
        stages, [](const StageNow& stage) { return stage.adjusted_deviation > 0; });
    std::vector<TaskEstimate> before(stages.size());
    for (std::size_t i = 0; i < stages.size(); ++i) {
      if (is_foretold || !IsOver(stages[i])) before[i] = BeforeItBegan(i);
    }
    if (is_foretold) CorrectAdjusted(stages, constants_, before);
    for (std::size_t i = 0; i < stages.size(); ++i) {
      if (IsOver(stages[i])) continue;
      expected_[i].lag = stages[i].lag.value_or(runs_[i].empty() ? 0 : runs_[i].front().stage->lag);
      expected_[i].tasks = EstimateTasksNow(std::move(before[i]), stages[i], constants_);
      expected_[i].measured = MeasuredOf(i);
    }
    GuessUnknown(is_foretold ? &before : nullptr);
    return std::move(expected_);
  }

 private:
  TaskEstimate BeforeItBegan(std::size_t index) const {
    const StageNow& stage = now_.stages[index];
    const auto repeated = repeated_.find({MayRepeat(index) ? stage.work : 0, stage.tasks});
    return repeated == repeated_.end()
               ? EstimateTasks(runs_[index], stage.tasks, slots_, constants_)
               : repeated->second;
  }

  durations::MeasuredTask MeasuredOf(std::size_t index) const {
    const StageNow& stage = now_.stages[index];
    const double tasks = static_cast<double>(stage.finished.size());
    if (tasks == 0) {
      const std::vector<PastStageRun>& runs = runs_[index];
      return runs.empty() ? durations::MeasuredTask() : MeasuredTaskOf(*runs.front().stage);
    }
    double seconds = 0;
    for (const FinishedTask& task : stage.finished) seconds += task.seconds;
    return {.seconds = seconds / tasks,
            .cpu_seconds = stage.cpu_seconds / tasks,
            .read_bytes = stage.read_bytes / tasks,
            .fetches = Fetches(stage),
            .is_of_this_run = true};
  }

  void Collect(const PastRun& run) {
    const StageMatches matches = MatchStages(now_.stages, run);
    const double size_distance = SizeDistance(run, now_.stages, matches);
    for (std::size_t i = 0; i < matches.size(); ++i) {
      if (!matches[i]) continue;
      // Times alone do not depend on the slots of the run.
      const double slots = now_.stages[i].demand.empty() ? run.slots : slots_;
      runs_[i].push_back({slots, &run.stages[*matches[i]], size_distance});
    }
  }

  bool MayRepeat(std::size_t index) const {
    const StageNow& stage = now_.stages[index];
    return stage.work != 0 && runs_[index].empty() && stage.finished.size() < stage.tasks;
  }

  // Adds completed stages of this run to the past runs of stages of the same work.
  void FindRepeated() {
    std::map<std::uint64_t, std::vector<PastStage>> done;  // newest first
    for (std::size_t i = 0; i < now_.stages.size(); ++i) {
      if (MayRepeat(i)) done[now_.stages[i].work];
    }
    if (done.empty()) return;
    for (std::size_t i = now_.stages.size(); i-- > 0;) {
      const StageNow& stage = now_.stages[i];
      const bool is_done = !stage.finished.empty() && stage.finished.size() == stage.tasks;
      const auto alike = done.find(stage.work);
      if (alike == done.end() || !is_done || stage.has_failed) continue;
      if (alike->second.size() < kRepeatedMax) alike->second.push_back(ProfileOf(stage));
    }
    for (std::size_t i = 0; i < now_.stages.size(); ++i) {
      const StageNow& stage = now_.stages[i];
      if (!MayRepeat(i) || done[stage.work].empty()) continue;
      const auto [repeated, is_new] = repeated_.try_emplace({stage.work, stage.tasks});
      if (!is_new) continue;
      std::vector<PastStageRun> runs;
      for (const PastStage& before : done[stage.work]) runs.push_back({slots_, &before});
      repeated->second = EstimateTasks(runs, stage.tasks, slots_, constants_);
      // With other data, the tasks may have other sizes.
      repeated->second.is_of_runs = false;
    }
  }

  static PastStage ProfileOf(const StageNow& stage) {
    PastStage profile = {.parents = stage.parents, .fetches = stage.fetches, .tasks = stage.tasks};
    profile.long_tasks = LongTasksOf(stage);
    profile.fetch_seconds = stage.fetch_seconds / static_cast<double>(stage.finished.size());
    for (const FinishedTask& task : stage.finished) {
      profile.seconds[static_cast<std::size_t>(task.warmth)].push_back(task.seconds);
    }
    for (auto& seconds : profile.seconds) {
      seconds = durations::EvenlyChosen(std::move(seconds), kRepeatedTimesMax);
    }
    return profile;
  }

  static bool Fetches(const StageNow& stage) { return stage.fetches && !stage.parents.empty(); }

  // Returns the time of a task relative to its fixed part, or nullopt if its input is unknown.
  static std::optional<double> TimeOfInput(const StageNow& stage) {
    const double tasks = static_cast<double>(stage.tasks);
    const double finished = static_cast<double>(stage.finished.size());
    const bool has_read = stage.read_bytes > 0 && finished > 0;
    const double bytes = has_read    ? stage.read_bytes / finished
                         : tasks > 0 ? stage.input_bytes / tasks
                                     : 0;
    return bytes > 0 ? std::optional(1 + bytes / kBytesOfFixedTime) : std::nullopt;
  }

  // Returns the mean time of a finished stage's tasks on warm slots, or nullopt if there is no
  // evidence. `before` contains the estimates of all stages before their start, or is null if they
  // have not been computed.
  std::optional<double> MeanOf(std::size_t index, std::vector<TaskEstimate>* before) const {
    const StageNow& stage = now_.stages[index];
    if (runs_[index].empty() && stage.finished.empty()) return std::nullopt;
    if (runs_[index].empty() && stage.mean_seconds) return stage.mean_seconds;
    const TaskEstimate expected = EstimateTasksNow(
        before != nullptr ? (*before)[index] : BeforeItBegan(index), stage, constants_);
    if (!expected.is_known) return std::nullopt;
    return expected.Of(Warmth::kRest).mean();
  }

  // Estimates stages that have neither past runs nor finished tasks from the other stages, with a
  // wide deviation.
  void GuessUnknown(std::vector<TaskEstimate>* before) {
    const auto is_unknown = [&](std::size_t i) {
      return !expected_[i].tasks.is_known && !IsOver(now_.stages[i]);
    };
    std::vector<std::size_t> unknown;
    for (std::size_t i = 0; i < expected_.size(); ++i) {
      if (is_unknown(i)) unknown.push_back(i);
    }
    if (unknown.empty()) return;
    // The line has two intercepts: one for stages that fetch the output of other stages, and one
    // for stages that read the input.
    durations::LogLine line(durations::kUnknownDeviation, kFetchingLess, kFetchingLessDeviation);
    durations::LogLine fixed = line;  // the fixed part of tasks whose input is known
    const auto place = [](bool fetches) { return fetches ? std::exp(1) : 1; };
    for (std::size_t i = 0; i < expected_.size(); ++i) {
      if (is_unknown(i)) continue;
      const std::optional<double> mean =
          IsOver(now_.stages[i]) ? MeanOf(i, before) : expected_[i].tasks.Of(Warmth::kRest).mean();
      if (!mean) continue;
      const double seconds = std::max(*mean, kTaskSecondsMin);
      line.Add(place(Fetches(now_.stages[i])), seconds);
      const std::optional<double> factor = TimeOfInput(now_.stages[i]);
      if (factor) fixed.Add(place(Fetches(now_.stages[i])), seconds / *factor);
    }
    for (const std::size_t i : unknown) {
      TaskEstimate& expected = expected_[i].tasks;
      const double at = place(Fetches(now_.stages[i]));
      const std::optional<double> factor = TimeOfInput(now_.stages[i]);
      const double longer = now_.may_grow && history_.empty() ? kUnknownLonger : 1;
      const double rest = line.empty()               ? LongestRunning()
                          : factor && !fixed.empty() ? *factor * std::exp(fixed.At(at).log)
                                                     : longer * std::exp(line.At(at).log);
      for (std::size_t kind = 0; kind < placement::kWarmths; ++kind) {
        expected.times[kind] = TimeDistribution::Empirical({rest * constants_.over_rest[kind]});
      }
      // Tasks that exceed the guess imply that later tasks are also longer.
      expected.times = WithEvidence(expected, now_.stages[i], constants_).times;
    }
  }

  // Returns twice the longest elapsed time of a running task. No task has ended, so running tasks
  // are assumed to be half done.
  double LongestRunning() const {
    double longest = 0;
    for (const StageNow& stage : now_.stages) {
      for (const RunningTask& task : stage.running) longest = std::max(longest, task.elapsed);
    }
    return std::max(2 * longest, 1.0);
  }

  const WorkflowNow& now_;
  std::span<const PastRun* const> history_;
  double slots_;
  const EstimateConstants& constants_;
  std::vector<std::vector<PastStageRun>> runs_;
  // Estimates by work and number of tasks.
  std::map<std::pair<std::uint64_t, std::uint64_t>, TaskEstimate> repeated_;
  std::vector<StageEstimate> expected_;
};

placement::StageWork WorkOf(const StageNow& stage, double lag) {
  const std::uint64_t begun = stage.finished.size() + stage.running.size();
  placement::StageWork left = {.parents = stage.parents,
                               .owner = stage.owner,
                               .container = stage.container,
                               .pending = stage.tasks > begun ? stage.tasks - begun : 0,
                               .lag = begun > 0 ? 0 : std::max(lag - stage.waited, 0.0),
                               .at_once_max = stage.at_once_max,
                               .demand = stage.demand};
  for (const RunningTask& task : stage.running) left.running.push_back(task.elapsed);
  return left;
}

// Returns the number of containers of the first stage's shape that fit at once.
double SlotsOf(const std::vector<StageNow>& stages, const placement::Resourcing& on) {
  const placement::Resources container =
      stages.empty() ? placement::Resources{.cores = 1} : stages.front().container;
  const double share = placement::DominantShare(container, on.cluster.capacity);
  return share > 0 ? std::max(std::floor(1 / share + 1e-9), 1.0) : 1;
}

// Returns a factor on all times of one or more stages, by draw.
Draws FactorsOf(Drawn what, std::uint64_t index, double deviation, double shift,
                const FixedDraws& draws) {
  Draws factors = draws.Normals(what, index);
  for (double& factor : factors) {
    factor = std::exp(deviation * factor - shift * deviation * deviation);
  }
  return factors;
}

durations::RemainingStage StageOf(const StageNow& stage, std::uint64_t stream,
                                  const StageEstimate& expected_stage, const FixedDraws& draws) {
  durations::RemainingStage left = {.work = WorkOf(stage, expected_stage.lag)};
  if (left.work.pending == 0 && left.work.running.empty()) return left;
  const TaskEstimate& expected = expected_stage.tasks;
  left.times.alike = expected.times;
  const double shift = expected.is_known ? kKnownShift : kUnknownShift;
  left.times.is_known = expected.is_known;
  if (const double late = stage.idle_for - expected_stage.lag; late > 0) {
    left.times.lag = draws.Uniforms(Drawn::kWait, durations::kOfRun);
    for (double& lag : left.times.lag) lag = durations::LateLeft(late, lag);
  }
  left.times.factor = FactorsOf(Drawn::kStage, stream, expected.deviation, shift, draws);
  if (expected.shared_deviation > 0) {
    const Draws shared =
        FactorsOf(Drawn::kAdjusted, expected.shared_by, expected.shared_deviation, shift, draws);
    for (std::size_t d = 0; d < shared.size(); ++d) left.times.factor[d] *= shared[d];
  }
  // In an iteration of a loop, the input sizes of the tasks are better evidence than the long tasks
  // of other iterations.
  TaskFactors factors = FactorsBySize(stage, expected, draws);
  if (factors.of_running.empty() && factors.of_waiting.empty() && factors.of_others.empty()) {
    factors = FactorsOfLongTasks(stage, expected, draws);
  }
  const auto task_factor = [&](std::size_t task, std::size_t draw) {
    return factors.of_running.empty() ? 1 : factors.of_running[task][draw];
  };
  const auto late_chance = [&](std::size_t draw) {
    return durations::RowNumber(durations::RowStart(draw, stream),
                                left.work.pending + stage.running.size());
  };
  const durations::ReadShare read_share = ReadShareOf(stage);
  // The ratio of the total time to the elapsed time of the running task that ends last, by draw.
  // Used if no finished task shows how long the work after reading takes.
  Draws lengthened;
  double latest = 0;
  const Draws& of_stage = left.times.factor;
  std::vector<Draws>& times = left.times.of_task;
  times.resize(stage.running.size());
  for (std::size_t n = 0; n < times.size(); ++n) {
    const RunningTask& task = stage.running[n];
    Draws totals;
    Draws places;
    for (std::size_t d = 0; d < of_stage.size(); ++d) {
      const double u = durations::RowNumber(durations::RowStart(d, stream), left.work.pending + n);
      const double factor = of_stage[d] * task_factor(n, d);
      const TimeDistribution& usual = expected.Of(task.warmth);
      const double alone = task.elapsed / factor;
      // Tasks of one stage are late for a common reason, so all of them share the random number of
      // a draw.
      times[n].push_back(factor * (usual.IsOutlastedBy(alone)
                                       ? durations::LateLeft(alone - usual.mean(), late_chance(d))
                                       : usual.Remaining(alone, u)));
      totals.push_back(std::max(task.elapsed + times[n].back(), kTaskSecondsMin));
      places.push_back(u);
    }
    if (!ShowsItsPace(task)) continue;
    const durations::PacedTotal paced = PacedTotalOf(task, read_share);
    const double late = task.elapsed - paced.seconds;
    if (late <= 0) {
      times[n] = durations::LeftByPace(totals, task.elapsed, paced, places);
      continue;
    }
    if (!expected.is_of_pace) continue;
    for (std::size_t d = 0; d < of_stage.size(); ++d) {
      times[n][d] = durations::LateLeft(late, late_chance(d));
    }
    if (late < latest) continue;
    latest = late;
    lengthened = times[n];
    for (double& longer : lengthened) longer = 1 + longer / task.elapsed;
  }
  for (std::size_t d = 0; d < lengthened.size(); ++d) left.times.factor[d] *= lengthened[d];
  // A long task has no longer start-up on a cold slot than other tasks.
  for (std::size_t n = 0; n < factors.of_waiting.size(); ++n) {
    Draws& more = left.times.more_of_first.emplace_back(std::move(factors.of_waiting[n]));
    for (std::size_t d = 0; d < more.size(); ++d) {
      const double u =
          durations::RowNumber(durations::RowStart(d, stream), factors.of_waiting.size() - 1 - n);
      more[d] = (more[d] - 1) * expected.Of(Warmth::kRest).Quantile(u);
    }
  }
  for (std::size_t d = 0; d < factors.of_others.size(); ++d) {
    left.times.factor[d] *= factors.of_others[d];
  }
  return left;
}

Draws Resampled(const Draws& draws, std::size_t count) {
  Draws resampled;
  if (draws.empty()) return resampled;
  for (std::size_t d = 0; d < count; ++d) resampled.push_back(draws[d * draws.size() / count]);
  return resampled;
}

// Replaces the estimate from tasks with the estimate from key groups.
void ApplyKeyGroups(const durations::RemainingStage& by_key_groups, std::size_t draws,
                    durations::RemainingStage& stage) {
  if (by_key_groups.work.running.size() != stage.work.running.size() ||
      by_key_groups.work.pending != stage.work.pending) {
    return;
  }
  stage.work.running = by_key_groups.work.running;
  stage.times = by_key_groups.times;
  for (Draws& times : stage.times.of_task) times = Resampled(times, draws);
  for (Draws* each : {&stage.times.factor, &stage.times.factor_of_bounds, &stage.times.lag}) {
    *each = Resampled(*each, draws);
  }
}

// Returns the time since the end of the last parent, or 0 if a parent has not ended.
double WaitedSoFar(const StageNow& stage, const WorkflowNow& now) {
  double waited = now.elapsed;
  for (const std::size_t number : stage.parents) {
    const StageNow& parent = now.stages[number];
    const bool is_done = parent.is_task_count_known && parent.finished.size() == parent.tasks;
    waited = std::min(waited, is_done ? parent.done_since : 0);
  }
  return waited;
}

// For each index in `before`, returns true if a started stage should have read from that past
// stage. The past stage then has no counterpart in this run.
std::vector<bool> PassedOver(const std::vector<PastStage>& before,
                             std::span<const std::optional<std::size_t>> matches,
                             std::span<const StageNow> stages) {
  std::vector<bool> passed(before.size());
  std::vector<std::size_t> reached;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const bool has_begun = !stages[i].finished.empty() || !stages[i].running.empty();
    if (matches[i] && has_begun) reached.push_back(*matches[i]);
  }
  while (!reached.empty()) {
    const PastStage& stage = before[reached.back()];
    reached.pop_back();
    if (!stage.fetches) continue;
    for (const std::size_t parent : stage.parents) {
      if (parent >= before.size() || passed[parent]) continue;
      passed[parent] = true;
      reached.push_back(parent);
    }
  }
  return passed;
}

void AddPlanned(WorkflowNow& now) {
  for (UnopenedStage& planned : now.planned) {
    now.stages.push_back({.name = "planned stage",
                          .parents = std::move(planned.parents),
                          .owner = planned.owner,
                          .tasks = planned.tasks,
                          .input_bytes = planned.input_bytes,
                          .number = planned.number,
                          .group = std::move(planned.group)});
  }
  now.planned.clear();
}

}  // namespace

void AddExpectedStages(std::span<const PastRun* const> history, WorkflowNow& now) {
  std::vector<std::optional<std::size_t>> matches;  // counterparts in the newest run
  for (const PastRun* run : history) {
    const auto of_run = MatchStages(now.stages, *run);
    for (std::size_t i = 0; i < of_run.size(); ++i) {
      StageNow& stage = now.stages[i];
      if (stage.is_task_count_known || !of_run[i]) continue;
      stage.tasks = std::max(stage.tasks, run->stages[*of_run[i]].tasks);
      stage.is_task_count_known = true;
    }
    if (run == history.front()) matches = of_run;
  }
  if (history.empty()) return AddPlanned(now);
  const std::vector<PastStage>& before = history.front()->stages;
  std::vector<std::optional<std::size_t>> place(before.size());
  for (std::size_t i = 0; i < matches.size(); ++i) {
    if (matches[i]) place[*matches[i]] = i;
  }
  const std::size_t seen = now.stages.size();
  const std::vector<bool> is_passed = PassedOver(before, matches, now.stages);
  std::vector<std::size_t> expected;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (place[i] || is_passed[i]) continue;
    place[i] = now.stages.size();
    expected.push_back(i);
    StageNow& stage = now.stages.emplace_back(StageNow{.name = before[i].name,
                                                       .title = before[i].title,
                                                       .work = before[i].work,
                                                       .tasks = before[i].tasks,
                                                       .lag = before[i].lag});
    // The number stays the same until the stage exists, even if other stages appear before it.
    stage.number = kExpectedStages + static_cast<std::uint32_t>(i);
    if (seen == 0) continue;
    stage.owner = now.stages.front().owner;
    stage.container = now.stages.front().container;
  }
  for (std::size_t n = 0; n < expected.size(); ++n) {
    StageNow& stage = now.stages[seen + n];
    for (const std::size_t parent : before[expected[n]].parents) {
      if (parent < place.size() && place[parent]) stage.parents.push_back(*place[parent]);
    }
    stage.waited = WaitedSoFar(stage, now);
  }
}

std::vector<durations::RemainingStage> LeftOfStages(
    const WorkflowNow& now, std::span<const PastRun* const> history, double slots,
    const EstimateConstants& constants, const FixedDraws& draws, std::uint64_t first_stream) {
  const std::vector<StageEstimate> expected =
      StageEstimator(now, history, slots, constants).Build();
  std::vector<durations::RemainingStage> left;
  left.reserve(expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    left.push_back(StageOf(now.stages[i], first_stream + i, expected[i], draws));
    left.back().measured = expected[i].measured;
  }
  return left;
}

Application ApplicationOfStages(const WorkflowNow& now, std::span<const PastRun* const> history,
                                const placement::Resourcing& on, const StagesOptions& options) {
  std::size_t tasks = 0;
  for (const StageNow& stage : now.stages) tasks += stage.tasks;
  Application application = {.on = on,
                             .draws = &FixedDraws::For(tasks),
                             .warm_slots = now.warm_slots,
                             .common_deviation = options.common_deviation};
  application.stages =
      LeftOfStages(now, history, SlotsOf(now.stages, on), options.expected, *application.draws);
  for (std::size_t i = 0; options.by_key_groups != nullptr && i < now.stages.size(); ++i) {
    if (now.stages[i].number != options.by_key_groups->number) continue;
    ApplyKeyGroups(*options.by_key_groups, application.draws->count(), application.stages[i]);
  }
  if (now.may_grow && history.empty()) {
    application.growth = GrowthOf(now.submissions, now.elapsed, now.worked, *application.draws);
  }
  return application;
}

}  // namespace tidemark::dag
