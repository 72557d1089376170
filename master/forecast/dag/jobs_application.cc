#include "master/forecast/dag/jobs_application.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

#include "master/forecast/dag/expected_tasks.h"
#include "master/forecast/dag/stages_application.h"
#include "master/forecast/durations/map_side.h"
#include "master/forecast/durations/normal.h"
#include "master/forecast/durations/opinions.h"
#include "tidemark/event.h"
#include "tidemark/job.h"

namespace tidemark::workflow {
namespace {

using cost::Drawn;
using cost::Draws;
using cost::FixedDraws;
using cost::StageLeft;
using cost::TimeDistribution;

// Assumed task times when no job is known. Chosen by hand: a minute of map and one of reduce tasks
// on all slots.
constexpr double kUnknownTaskSeconds = 60;
// An unknown job runs fewer than twice as many tasks at once: on more slots each takes several.
constexpr std::uint64_t kUnknownTasks = 20;
// Of a job with more tasks that are known one by one than this, or more stages, only the number of
// tasks counts, and more running ones are taken for so many wide ones. What the running tasks and
// the stages of a stranger's many jobs cost is bounded, too.
constexpr std::ptrdiff_t kRunningMax = 1'000;
constexpr std::ptrdiff_t kRunningMaxOfAllJobs = 20'000;
constexpr std::size_t kStagesMax = 10'000;
constexpr std::size_t kStagesMaxOfAllJobs = 20'000;
// Streams of draws of the stages of one job.
constexpr std::uint64_t kStreamsOfJob = std::uint64_t{1} << 32;

// A normal variable on each side of the median.
double ForecastAt(const RunningForecast& forecast, double u) {
  const double z = cost::NormalQuantile(u);
  const double side =
      z < 0 ? forecast.remaining - forecast.lower : forecast.upper - forecast.remaining;
  return std::max(forecast.remaining + z * std::max(side, 0.0) / cost::kDeviationsOf90Percent, 0.0);
}

bool IsUnknown(const LiveJob& job) { return !job.expected.is_known && job.expected.map.tasks == 0; }

// Returns the wave of tasks of an unknown job, which fills all slots.
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

// Returns the number of tasks that decides how many draws there are. It does not depend on the
// slots, so that answers for different slots come from the same draws.
std::uint64_t CountLeft(const LiveJob& job) {
  if (job.is_over) return 0;
  if (job.is_running) {
    return job.map.pending + job.map.running + job.reduce.pending + job.reduce.running;
  }
  if (IsUnknown(job)) return 2 * kUnknownTasks;
  return job.expected.map.tasks + job.expected.reduce.tasks;
}

// What a task of this job takes, as far as it can serve for another; 0: not known. A job that was
// not known before it ran is taken for a wave of map and one of reduce tasks.
double TaskSecondsOf(const LiveJob& job) {
  if (job.expected.is_known) return job.expected.map.times.mean();
  if (job.is_over) return job.took / 2;
  return job.forecast ? (job.elapsed + job.forecast->remaining) / 2 : 0;
}

// How unsure that is, as the deviation of its logarithm: of a job that runs as its forecast is.
double TaskDeviationOf(const LiveJob& job) {
  if (job.expected.is_known || job.is_over || !job.forecast) return 0;
  const double whole = job.elapsed + job.forecast->remaining;
  const double longest = std::max(job.elapsed + job.forecast->upper, whole);
  const double deviation = std::log(longest / whole) / cost::kDeviationsOf90Percent;
  return std::isfinite(deviation) ? std::min(deviation, cost::kMapSideDeviation)
                                  : cost::kMapSideDeviation;
}

// What tasks of unknown jobs take.
struct Guess {
  double seconds = kUnknownTaskSeconds;
  // Of its logarithm, for all of these jobs together, beside that of each. If there is nothing to
  // go by, as unsure as a single job's end before its reduce phase.
  double deviation = cost::kMapSideDeviation;
};

// As those of the others, in the geometric mean.
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

// What one task of a phase takes that takes `seconds` in all: with k of them running evenly apart
// and p pending, the last ends after t (1 + p / k).
double OneTask(const TasksLeft& left, double seconds, double slots) {
  const double running = static_cast<double>(left.running);
  const double pending = static_cast<double>(left.pending);
  if (running > 0) return seconds / (1 + pending / running);
  return pending > 0 ? seconds / std::max(pending / slots, 1.0) : 0;
}

// The stages of one job, whatever is known of it.
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
        job.expected.is_known ? job.expected.deviation : cost::kUnknownDeviation;
    common_normals_ = draws.Normals(Drawn::kCommon, cost::kOfJobs);
    const Draws own = draws.Normals(Drawn::kStage, index);
    uniforms_ = draws.Uniforms(Drawn::kStage, index);
    waits_ = draws.Uniforms(Drawn::kWait, index);
    for (std::size_t d = 0; d < draws.count(); ++d) {
      common_.push_back(std::exp(options.common_deviation * common_normals_[d]));
      factor_.push_back(common_.back() * std::exp(deviation * own[d]));
    }
  }

  // Those that it has of its own, which name each other as parents; empty: not known. O(stages).
  std::vector<StageLeft> Own(double shift) const {
    if (job_.is_running) return AreTasksKnown() ? Running() : std::vector<StageLeft>();
    return job_.expected.stages ? Expected(shift) : std::vector<StageLeft>();
  }

  void FillRunning(StageLeft& map, StageLeft& reduce) const {
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
    // Reduce tasks that run beside map tasks fetch what those leave behind.
    reduce.work.waits_in_slots = true;
    map.times.is_known = reduce.times.is_known =
        job_.expected.is_known || (job_.forecast && !job_.forecast->is_guess);
  }

  void FillWaiting(const Guess& guess, double shift, StageLeft& map, StageLeft& reduce) const {
    const bool is_guess = !job_.expected.is_known;
    const auto fill = [&](const ExpectedPhase& phase, StageLeft& stage) {
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
      // What is guessed of all is wrong of all, so it does not average out along the workflow.
      for (std::size_t d = 0; d < factor_.size(); ++d) {
        stage.times.factor_of_bounds.push_back(stage.times.factor[d] *
                                               std::exp(guess.deviation * common_normals_[d]));
      }
    };
    fill(job_.expected.map, map);
    fill(job_.expected.reduce, reduce);
  }

  // The lag of an awaited job's first stage: how long it has yet to wait.
  void FillAwaited(StageLeft& map) const {
    if (job_.is_running || !(job_.awaited > 0)) return;
    for (const double u : waits_) map.times.lag.push_back(cost::LateLeft(job_.awaited, u));
  }

 private:
  double Remaining(std::size_t draw) const {
    const double u = uniforms_[draw];
    if (job_.forecast) return ForecastAt(*job_.forecast, u);
    const double whole = SecondsAlone(job_.expected, slots_) * factor_[draw];
    if (whole > job_.elapsed) return whole - job_.elapsed;
    if (job_.expected.is_known) return cost::ParetoLeft(std::max(job_.elapsed, 1.0), u);
    return cost::LateLeft(std::max(job_.elapsed, cost::kSecondsWorthWatching), u);
  }

  bool AreTasksKnown() const {
    if (job_.left == nullptr || !job_.forecast || job_.left->stages.size() > stages_max_) {
      return false;
    }
    std::size_t known = 0;
    bool is_anything_left = false;
    for (const StageLeft& stage : job_.left->stages) {
      known += stage.times.of_task.size() + stage.times.more_of_first.size();
      is_anything_left |= stage.work.pending > 0 || !stage.work.running.empty();
    }
    // Between the jobs of an application, only the forecast knows that more is to come.
    return is_anything_left && known <= running_max_;
  }

  // As the job's own estimate has them, of which its forecast knows more: earlier runs, how far the
  // end has moved, what was lost. So an early end of the forecast is an early one of the tasks, and
  // all tasks of a draw are stretched to end when the forecast does.
  std::vector<StageLeft> Running() const {
    const cost::StagesLeft& theirs = *job_.left;
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
    std::vector<StageLeft> stages;
    for (const StageLeft& their : theirs.stages) {
      StageLeft& stage = stages.emplace_back();
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

  std::vector<StageLeft> Expected(double shift) const {
    const StageRuns& runs = *job_.expected.stages;
    if (runs.front().stages.size() > stages_max_) return {};
    std::vector<const RunProfile*> history;
    for (const RunProfile& run : runs) history.push_back(&run);
    WorkflowNow now;
    ExpectStages(history, now);
    std::vector<StageLeft> stages = LeftOfStages(now, history, slots_, ExpectationConstants(),
                                                 draws_, kStreamsOfJob * (index_ + 1));
    for (std::size_t i = 0; i < stages.size(); ++i) {
      stages[i].number = kExpectedStages + static_cast<std::uint32_t>(i);
      Draws& factor = stages[i].times.factor;
      for (std::size_t d = 0; d < factor.size(); ++d) factor[d] *= shift * common_[d];
    }
    return stages;
  }

  // Running tasks end evenly apart, the last of them after a whole task: all there is to know from
  // outside the job.
  // `of_task`: by draw, until the last of them ends if the job keeps its slots.
  void Spread(TasksLeft left, Draws of_task, StageLeft& stage) const {
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
  const std::uint64_t running_max_;  // tasks of it that are told apart
  const std::size_t stages_max_;
  const FixedDraws& draws_;
  Draws uniforms_;
  Draws waits_;
  Draws common_normals_;
  Draws common_;  // a factor of all jobs
  Draws factor_;  // of this one
};

// Puts a job's own stages between where it begins and where it ends.
void Insert(std::size_t job, std::vector<StageLeft> own, estimate::Application& application) {
  const std::size_t first = application.stages.size();
  std::vector<bool> is_parent(own.size());
  for (StageLeft& stage : own) {
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

estimate::Application ApplicationOfJobs(std::span<const LiveJob> jobs,
                                        const schedule::Parents& parents,
                                        const schedule::Resourcing& on,
                                        const JobsOptions& options) {
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
      std::min(kStagesMaxOfAllJobs / std::max<std::size_t>(of_stages, 1), kStagesMax);
  estimate::Application application = {.on = on, .draws = &FixedDraws::For(tasks)};
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    application.stages.push_back({.work = {.owner = i}, .times = {}});
    application.stages.push_back({.work = {.parents = {MapStageOf(i)}, .owner = i}, .times = {}});
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    StageLeft& map = application.stages[MapStageOf(i)];
    StageLeft& reduce = application.stages[ReduceStageOf(i)];
    // A running job waits for no other job, whatever the plan says.
    if (!jobs[i].is_running) {
      for (const std::size_t parent : parents[i]) map.work.parents.push_back(ReduceStageOf(parent));
    }
    if (jobs[i].is_over) continue;
    const JobStages stages(jobs[i], i, slots, options, running_max, stages_max, *application.draws);
    stages.FillAwaited(map);
    std::vector<StageLeft> own = stages.Own(options.shift);
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

absl::StatusOr<estimate::Estimate> EstimateJobs(const JobsNow& question) {
  return estimate::EstimateApplication(
      ApplicationOfJobs(question.jobs, question.parents, question.on, question.options));
}

}  // namespace tidemark::workflow
