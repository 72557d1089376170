#include "master/forecast/dag/jobs_application.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

#include "master/forecast/dag/stages_application.h"
#include "master/forecast/dag/task_estimate.h"
#include "master/forecast/durations/combined_estimates.h"
#include "master/forecast/durations/draws.h"
#include "master/forecast/durations/early_forecast.h"
#include "tidemark/event.h"
#include "tidemark/job.h"

namespace tidemark::dag {
namespace {

using durations::Drawn;
using durations::Draws;
using durations::FixedDraws;
using durations::RemainingStage;
using durations::TimeDistribution;

// Assumed task time if no job is known: a minute of map and a minute of reduce tasks on all slots.
// Chosen by hand.
constexpr double kUnknownTaskSeconds = 60;
// An unknown job runs fewer than twice as many concurrent tasks; on more slots each task takes
// several.
constexpr std::uint64_t kUnknownTasks = 20;
// Limit the cost of untrusted jobs. If a job has more stages or more tasks with individual times,
// only its number of tasks counts, and its running tasks are merged into this many wide ones.
constexpr std::ptrdiff_t kRunningMax = 1'000;
constexpr std::ptrdiff_t kRunningMaxOfAllJobs = 20'000;
constexpr std::size_t kPlacedStagesMax = 10'000;
constexpr std::size_t kPlacedStagesMaxOfAllJobs = 20'000;
// Random streams of the stages of one job.
constexpr std::uint64_t kStreamsOfJob = std::uint64_t{1} << 32;

// Returns the quantile at `u` of the forecast, with a normal distribution on each side of the
// median.
double ForecastAt(const RunningForecast& forecast, double u) {
  const double z = durations::NormalQuantile(u);
  const double side =
      z < 0 ? forecast.remaining - forecast.lower : forecast.upper - forecast.remaining;
  return std::max(forecast.remaining + z * std::max(side, 0.0) / durations::kDeviationsOf90Percent,
                  0.0);
}

bool IsUnknown(const LiveJob& job) { return !job.expected.is_known && job.expected.map.tasks == 0; }

// A wave of tasks of an unknown job that fills all slots.
struct UnknownWave {
  std::uint64_t tasks = 1;
  std::uint64_t slots_of_task = 1;
};

UnknownWave WaveOn(double slots) {
  const auto all = static_cast<std::uint64_t>(slots);
  const std::uint64_t each = std::max<std::uint64_t>(all / kUnknownTasks, 1);
  return {.tasks = all / each, .slots_of_task = each};
}

double Count(const TasksLeft& left) { return static_cast<double>(left.pending + left.running); }

// Returns the number of tasks that determines the number of draws. It does not depend on the slots,
// so that forecasts for different slots come from the same draws.
std::uint64_t CountLeft(const LiveJob& job) {
  if (job.is_over) return 0;
  if (job.is_running) {
    return job.map.pending + job.map.running + job.reduce.pending + job.reduce.running;
  }
  if (IsUnknown(job)) return 2 * kUnknownTasks;
  return job.expected.map.tasks + job.expected.reduce.tasks;
}

// Returns a task time of this job that can serve for another job; 0 if unknown. A job that was
// unknown before its run counts as one wave of map tasks and one of reduce tasks.
double TaskSecondsOf(const LiveJob& job) {
  if (job.expected.is_known) return job.expected.map.times.mean();
  if (job.is_over) return job.took / 2;
  return job.forecast ? (job.elapsed + job.forecast->remaining) / 2 : 0;
}

// Returns the deviation of the logarithm of TaskSecondsOf(); for a running job, that of its
// forecast.
double TaskDeviationOf(const LiveJob& job) {
  if (job.expected.is_known || job.is_over || !job.forecast) return 0;
  const double whole = job.elapsed + job.forecast->remaining;
  const double longest = std::max(job.elapsed + job.forecast->upper, whole);
  const double deviation = std::log(longest / whole) / durations::kDeviationsOf90Percent;
  return std::isfinite(deviation) ? std::min(deviation, durations::kMapSideDeviation)
                                  : durations::kMapSideDeviation;
}

// The task time of unknown jobs.
struct Guess {
  double seconds = kUnknownTaskSeconds;
  // Deviation of its logarithm for all of these jobs together, in addition to that of each. Without
  // evidence, it is that of a single job before its reduce phase.
  double deviation = durations::kMapSideDeviation;
};

// Returns the geometric mean over the other jobs.
Guess GuessTasks(std::span<const LiveJob> jobs) {
  double log_sum = 0;
  double variance = 0;
  double known = 0;
  for (const LiveJob& job : jobs) {
    const double seconds = TaskSecondsOf(job);
    if (seconds <= 0) continue;
    log_sum += std::log(std::max(seconds, kTaskSecondsMin));
    variance += TaskDeviationOf(job) * TaskDeviationOf(job);
    known += 1;
  }
  if (known == 0) return {};
  return {.seconds = std::exp(log_sum / known), .deviation = std::sqrt(variance) / known};
}

// Returns the time of one task of a phase that takes `seconds`. With k running tasks, evenly apart,
// and p pending ones, the last task of time t ends after t (1 + p / k).
double OneTask(const TasksLeft& left, double seconds, double slots) {
  const double running = static_cast<double>(left.running);
  const double pending = static_cast<double>(left.pending);
  if (running > 0) return seconds / (1 + pending / running);
  return pending > 0 ? seconds / std::max(pending / slots, 1.0) : 0;
}

// Builds the stages of one job from its best evidence.
class JobStages {
 public:
  JobStages(const LiveJob& job, std::size_t index, double slots, const JobsOptions& options,
            std::uint64_t running_max, std::size_t stages_max, const FixedDraws& draws)
      : job_(job),
        index_(index),
        slots_(slots),
        running_max_(running_max),
        stages_max_(stages_max),
        draws_(draws) {
    const double deviation =
        job.expected.is_known ? job.expected.deviation : durations::kUnknownDeviation;
    common_normals_ = draws.Normals(Drawn::kCommon, durations::kOfJobs);
    const Draws own = draws.Normals(Drawn::kStage, index);
    uniforms_ = draws.Uniforms(Drawn::kStage, index);
    waits_ = draws.Uniforms(Drawn::kWait, index);
    for (std::size_t d = 0; d < draws.count(); ++d) {
      common_.push_back(std::exp(options.common_deviation * common_normals_[d]));
      factor_.push_back(common_.back() * std::exp(deviation * own[d]));
    }
  }

  // Returns the job's own stages, with parents among themselves; empty if unknown. Cost: O(stages).
  std::vector<RemainingStage> Own(double shift) const {
    if (job_.is_running) return AreTasksKnown() ? Running() : std::vector<RemainingStage>();
    return job_.expected.stages ? FromPastRuns(shift) : std::vector<RemainingStage>();
  }

  void FillRunning(RemainingStage& map, RemainingStage& reduce) const {
    const bool has_maps = Count(job_.map) > 0;
    const bool has_reduces = Count(job_.reduce) > 0;
    Draws of_maps;
    Draws of_reduces;
    for (std::size_t d = 0; d < draws_.count(); ++d) {
      const double remaining = Remaining(d);
      const double share = job_.forecast ? job_.forecast->map_share : 0.5;
      const double maps = !has_maps ? 0 : has_reduces ? remaining * share : remaining;
      if (!has_maps && !has_reduces) map.times.lag.push_back(remaining);
      of_maps.push_back(maps);
      of_reduces.push_back(remaining - maps);
    }
    Spread(job_.map, std::move(of_maps), map);
    Spread(job_.reduce, std::move(of_reduces), reduce);
    // Reduce tasks that run beside map tasks fetch their output.
    reduce.work.waits_in_slots = true;
    map.times.is_known = reduce.times.is_known =
        job_.expected.is_known || (job_.forecast && !job_.forecast->is_guess);
  }

  void FillWaiting(const Guess& guess, double shift, RemainingStage& map,
                   RemainingStage& reduce) const {
    const bool is_guess = !job_.expected.is_known;
    const auto fill = [&](const PhaseEstimate& phase, RemainingStage& stage) {
      stage.work.pending = phase.tasks;
      if (IsUnknown(job_)) {
        const UnknownWave wave = WaveOn(slots_);
        stage.work.pending = wave.tasks;
        stage.work.container = {.cores = static_cast<double>(wave.slots_of_task)};
        stage.work.tasks_per_container = wave.slots_of_task;
      }
      stage.times.alike.fill(is_guess ? TimeDistribution::Empirical({guess.seconds}) : phase.times);
      stage.times.factor = factor_;
      for (double& factor : stage.times.factor) factor *= shift;
      stage.times.is_known = !is_guess;
      if (!is_guess || !(guess.deviation > 0)) return;
      // The error of a common guess affects all jobs, so it does not average out along the
      // workflow.
      for (std::size_t d = 0; d < factor_.size(); ++d) {
        stage.times.factor_of_bounds.push_back(stage.times.factor[d] *
                                               std::exp(guess.deviation * common_normals_[d]));
      }
    };
    fill(job_.expected.map, map);
    fill(job_.expected.reduce, reduce);
  }

  // Sets the lag of an awaited job's first stage to the rest of its delay.
  void FillAwaited(RemainingStage& map) const {
    if (job_.is_running || !(job_.awaited > 0)) return;
    for (const double u : waits_) map.times.lag.push_back(durations::LateLeft(job_.awaited, u));
  }

 private:
  double Remaining(std::size_t draw) const {
    const double u = uniforms_[draw];
    if (job_.forecast) return ForecastAt(*job_.forecast, u);
    const double whole = SecondsAlone(job_.expected, slots_) * factor_[draw];
    if (whole > job_.elapsed) return whole - job_.elapsed;
    if (job_.expected.is_known) return durations::ParetoLeft(std::max(job_.elapsed, 1.0), u);
    return durations::LateLeft(std::max(job_.elapsed, durations::kMapSideSecondsMin), u);
  }

  bool AreTasksKnown() const {
    if (job_.left == nullptr || !job_.forecast || job_.left->stages.size() > stages_max_) {
      return false;
    }
    std::size_t known = 0;
    bool is_anything_left = false;
    for (const RemainingStage& stage : job_.left->stages) {
      known += stage.times.of_task.size() + stage.times.more_of_first.size();
      is_anything_left |= stage.work.pending > 0 || !stage.work.running.empty();
    }
    // Between the jobs of an application, only the forecast includes future work.
    return is_anything_left && known <= running_max_;
  }

  // Returns the stages by the job's own estimate. The job's forecast has more evidence (past runs,
  // errors of earlier forecasts, losses). An early end of the forecast is therefore paired with an
  // early end of the tasks, and all tasks of a draw are stretched to end with the forecast.
  std::vector<RemainingStage> Running() const {
    const durations::RemainingStages& theirs = *job_.left;
    std::vector<std::size_t> by_end(theirs.ends.size());
    std::iota(by_end.begin(), by_end.end(), std::size_t{0});
    std::stable_sort(by_end.begin(), by_end.end(),
                     [&](std::size_t a, std::size_t b) { return theirs.ends[a] < theirs.ends[b]; });
    std::vector<std::size_t> draw_of(draws_.count());
    Draws age(draws_.count());
    Draws stretch(draws_.count());
    for (std::size_t d = 0; d < draws_.count(); ++d) {
      const auto rank = static_cast<std::size_t>(uniforms_[d] * static_cast<double>(by_end.size()));
      draw_of[d] = by_end[rank];
      const double end = theirs.ends[draw_of[d]];
      age[d] = end > job_.left_age ? job_.left_age : 0;
      stretch[d] = end - age[d] > 0 ? Remaining(d) / (end - age[d]) : 1;
    }
    std::vector<RemainingStage> stages;
    for (const RemainingStage& their : theirs.stages) {
      RemainingStage& stage = stages.emplace_back();
      stage.work = their.work;
      stage.number = their.number;
      if (their.work.pending == 0 && their.work.running.empty()) continue;
      stage.times.alike = their.times.alike;
      stage.times.is_known = their.times.is_known;
      stage.times.of_task.resize(their.times.of_task.size());
      stage.times.more_of_first.resize(their.times.more_of_first.size());
      for (std::size_t d = 0; d < draws_.count(); ++d) {
        for (std::size_t n = 0; n < their.times.of_task.size(); ++n) {
          const double passed = n < their.work.running.size() ? age[d] : 0;
          const double left = std::max(their.times.of_task[n][draw_of[d]] - passed, 0.0);
          stage.times.of_task[n].push_back(stretch[d] * left);
        }
        for (std::size_t n = 0; n < their.times.more_of_first.size(); ++n) {
          stage.times.more_of_first[n].push_back(their.times.more_of_first[n][draw_of[d]]);
        }
        const Draws& factor = their.times.factor;
        stage.times.factor.push_back(stretch[d] * (factor.empty() ? 1 : factor[draw_of[d]]));
        if (their.work.lag > 0) stage.times.lag.push_back(stretch[d] * their.work.lag);
      }
    }
    return stages;
  }

  std::vector<RemainingStage> FromPastRuns(double shift) const {
    const StageRuns& runs = *job_.expected.stages;
    if (runs.front().stages.size() > stages_max_) return {};
    std::vector<const PastRun*> history;
    for (const PastRun& run : runs) history.push_back(&run);
    WorkflowNow now;
    AddExpectedStages(history, now);
    std::vector<RemainingStage> stages = LeftOfStages(now, history, slots_, EstimateConstants(),
                                                      draws_, kStreamsOfJob * (index_ + 1));
    for (std::size_t i = 0; i < stages.size(); ++i) {
      stages[i].number = kExpectedStages + static_cast<std::uint32_t>(i);
      Draws& factor = stages[i].times.factor;
      for (std::size_t d = 0; d < factor.size(); ++d) factor[d] *= shift * common_[d];
    }
    return stages;
  }

  // Fills a stage whose tasks are known only by number: running tasks end evenly apart, the last
  // one after a whole task. `of_task`: by draw, the seconds until the last task ends on the job's
  // own slots.
  void Spread(TasksLeft left, Draws of_task, RemainingStage& stage) const {
    for (double& seconds : of_task) seconds = OneTask(left, seconds, slots_);
    const auto widest = static_cast<std::uint64_t>(slots_);
    const std::uint64_t wide =
        std::clamp<std::uint64_t>((left.running + running_max_ - 1) / running_max_, 1, widest);
    left.running = (left.running + wide - 1) / wide;
    stage.work.pending = (left.pending + wide - 1) / wide;
    stage.work.container = {.cores = static_cast<double>(wide)};
    stage.work.tasks_per_container = wide;
    stage.work.running.resize(left.running);
    for (std::uint64_t n = 0; n < left.running; ++n) {
      Draws& times = stage.times.of_task.emplace_back(of_task);
      const double share = static_cast<double>(n + 1) / static_cast<double>(left.running);
      for (double& seconds : times) seconds *= share;
    }
    stage.times.alike.fill(TimeDistribution::Empirical({1}));
    stage.times.factor = std::move(of_task);
  }

  const LiveJob& job_;
  const std::size_t index_;
  const double slots_;
  const std::uint64_t running_max_;  // running tasks with individual times
  const std::size_t stages_max_;
  const FixedDraws& draws_;
  Draws uniforms_;
  Draws waits_;
  Draws common_normals_;
  Draws common_;  // the factor on all jobs
  Draws factor_;  // the factor on this job
};

// Inserts a job's own stages between its start and its end.
void Insert(std::size_t job, std::vector<RemainingStage> own, Application& application) {
  const std::size_t first = application.stages.size();
  std::vector<bool> is_parent(own.size());
  for (RemainingStage& stage : own) {
    for (std::size_t& parent : stage.work.parents) {
      is_parent[parent] = true;
      parent += first;
    }
    if (stage.work.parents.empty()) stage.work.parents = {MapStageOf(job)};
    stage.work.owner = job;
  }
  std::vector<std::size_t>& ends = application.stages[ReduceStageOf(job)].work.parents;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (!is_parent[i]) ends.push_back(first + i);
  }
  std::ranges::move(own, std::back_inserter(application.stages));
}

}  // namespace

Application ApplicationOfJobs(std::span<const LiveJob> jobs, const placement::Parents& parents,
                              const placement::Resourcing& on, const JobsOptions& options) {
  const double slots = std::max(std::floor(on.cluster.capacity.cores), 1.0);
  std::size_t tasks = 0;
  for (const LiveJob& job : jobs) tasks += CountLeft(job);
  const Guess guess = GuessTasks(jobs);
  const std::ptrdiff_t running =
      std::count_if(jobs.begin(), jobs.end(), [](const LiveJob& job) { return job.is_running; });
  const auto running_max = static_cast<std::uint64_t>(std::clamp<std::ptrdiff_t>(
      kRunningMaxOfAllJobs / std::max<std::ptrdiff_t>(running, 1), 1, kRunningMax));
  const auto of_stages = static_cast<std::size_t>(
      std::count_if(jobs.begin(), jobs.end(), [](const LiveJob& job) { return !job.is_over; }));
  const std::size_t stages_max =
      std::min(kPlacedStagesMaxOfAllJobs / std::max<std::size_t>(of_stages, 1), kPlacedStagesMax);
  Application application = {.on = on, .draws = &FixedDraws::For(tasks)};
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    application.stages.push_back({.work = {.owner = i}, .times = {}});
    application.stages.push_back({.work = {.parents = {MapStageOf(i)}, .owner = i}, .times = {}});
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    RemainingStage& map = application.stages[MapStageOf(i)];
    RemainingStage& reduce = application.stages[ReduceStageOf(i)];
    // A running job waits for no other job, despite the plan.
    if (!jobs[i].is_running) {
      for (const std::size_t parent : parents[i]) map.work.parents.push_back(ReduceStageOf(parent));
    }
    if (jobs[i].is_over) continue;
    const JobStages stages(jobs[i], i, slots, options, running_max, stages_max, *application.draws);
    stages.FillAwaited(map);
    std::vector<RemainingStage> own = stages.Own(options.shift);
    if (!own.empty()) {
      Insert(i, std::move(own), application);
    } else if (jobs[i].is_running) {
      stages.FillRunning(map, reduce);
    } else {
      stages.FillWaiting(guess, options.shift, map, reduce);
    }
  }
  return application;
}

absl::StatusOr<ApplicationForecast> ForecastJobs(const JobsNow& question) {
  return ForecastApplication(
      ApplicationOfJobs(question.jobs, question.parents, question.on, question.options));
}

}  // namespace tidemark::dag
