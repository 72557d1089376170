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
#include "tidemark/event.h"
#include "tidemark/job.h"

namespace tidemark::dag {
namespace {

using durations::Drawn;
using durations::Draws;
using durations::FixedDraws;
using durations::RemainingStage;
using durations::TimeDistribution;

// Assumed task time if no job is known. A job then has a minute of map tasks and a minute of reduce
// tasks on all slots. Chosen by hand.
constexpr double kUnknownTaskSeconds = 60;
// An unknown job runs fewer than twice this many concurrent tasks. On more slots, each task takes
// several slots.
constexpr std::uint64_t kUnknownTasks = 20;
// These constants limit the cost of untrusted jobs. If a job has too many stages or tasks with
// individual times, only its number of tasks counts. Its running tasks are then merged into at most
// kRunningMax wide tasks.
constexpr std::ptrdiff_t kRunningMax = 1'000;
constexpr std::ptrdiff_t kRunningMaxOfAllJobs = 20'000;
constexpr std::size_t kPlacedStagesMax = 10'000;
constexpr std::size_t kPlacedStagesMaxOfAllJobs = 20'000;
// Assumed number of waves in which the finished tasks of a running application have run.
constexpr double kMeasuredWaves = 4;
// Number of random streams per job.
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

// Returns true if the remaining time of a running job is a guess.
bool IsGuessed(const LiveJob& job) {
  return job.is_running && !job.expected.is_known && (!job.forecast || job.forecast->is_guess);
}

// A wave of tasks of an unknown job. The wave fills all slots.
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

// Returns the number of tasks that determines the number of draws. The result does not depend on
// the slots, so that forecasts for different slots come from the same draws.
std::uint64_t CountLeft(const LiveJob& job) {
  if (job.is_over) return 0;
  if (job.is_running) {
    return job.map.pending + job.map.running + job.reduce.pending + job.reduce.running;
  }
  if (IsUnknown(job)) return 2 * kUnknownTasks;
  return job.expected.map.tasks + job.expected.reduce.tasks;
}

// Returns a task time of this job that can serve for another job, or 0 if unknown. A job that was
// unknown before its run counts as one wave of map tasks and one wave of reduce tasks.
double TaskSecondsOf(const LiveJob& job) {
  if (job.expected.is_known) return job.expected.map.times.mean();
  if (job.is_over) return job.took / 2;
  return job.forecast ? (job.elapsed + job.forecast->remaining) / 2 : 0;
}

// Deviation of the logarithm of an unknown job's task time. Chosen by hand, close to the deviation
// of SecondsByMapSide() if the median of the rest is the duration of the map phase.
constexpr double kUnknownTaskDeviation = 1.8;

// Returns the deviation of ln(TaskSecondsOf()). For a running job, this is the deviation of its
// forecast.
double TaskDeviationOf(const LiveJob& job) {
  if (job.expected.is_known || job.is_over || !job.forecast) return 0;
  const double whole = job.elapsed + job.forecast->remaining;
  const double longest = std::max(job.elapsed + job.forecast->upper, whole);
  const double deviation = std::log(longest / whole) / durations::kDeviationsOf90Percent;
  return std::isfinite(deviation) ? std::min(deviation, kUnknownTaskDeviation)
                                  : kUnknownTaskDeviation;
}

// Assumed task time of unknown jobs.
struct Guess {
  double seconds = kUnknownTaskSeconds;
  // Deviation of ln(seconds) that all unknown jobs share, in addition to the deviation of each job.
  // If there is no evidence, it is the deviation of a single job before its reduce phase.
  double deviation = kUnknownTaskDeviation;
};

// Returns the geometric mean of the task times of the other jobs.
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

// Returns the time of one task of a phase that takes `seconds`. If k running tasks started at even
// intervals and p tasks are pending, the last task of time t ends after t (1 + p / k).
double OneTask(const TasksLeft& left, double seconds, double slots) {
  const double running = static_cast<double>(left.running);
  const double pending = static_cast<double>(left.pending);
  if (running > 0) return seconds / (1 + pending / running);
  return pending > 0 ? seconds / std::max(pending / slots, 1.0) : 0;
}

// The present speeds of a running job's tasks, relative to tasks alone on a node. If no task of a
// phase runs, its speed is the speed among tasks of that phase.
struct Speeds {
  double map = 1;
  double reduce = 1;
  // For an application of stages, the ratio of the processors that all running applications use to
  // the processors that it uses itself. At least 1, and at most the ratio of their running tasks.
  double crowding = 1;
};

// Returns the processors that the running tasks of an application use, if ended tasks of this run
// show their processor time.
double ProcessorsUsed(const LiveJob& job) {
  if (!job.is_running || !job.is_of_stages || job.left == nullptr) return 0;
  double used = 0;
  for (const RemainingStage& stage : job.left->stages) {
    const durations::MeasuredTask& task = stage.measured;
    if (!task.is_of_this_run || !(task.seconds > 0)) continue;
    used += static_cast<double>(stage.work.running.size()) * task.cpu_seconds / task.seconds;
  }
  return used;
}

// Returns the speeds of each job's tasks on `hosts`. Tasks are assumed to be evenly spread over the
// nodes and over the parts of their work.
std::vector<Speeds> SpeedsNow(std::span<const LiveJob> jobs,
                              const std::vector<placement::SharedHost>& hosts) {
  std::vector<Speeds> speeds(jobs.size());
  double cores = 0;
  double nodes = 0;
  for (const placement::SharedHost& host : hosts) {
    cores += host.processors;
    nodes += host.nodes;
  }
  std::vector<double> used;
  double all_used = 0;
  double running = 0;
  for (const LiveJob& job : jobs) {
    all_used += used.emplace_back(ProcessorsUsed(job));
    if (used.back() > 0) running += static_cast<double>(job.map.running);
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!(used[i] > 0)) continue;
    const double tasks = running / std::max(static_cast<double>(jobs[i].map.running), 1.0);
    speeds[i].crowding = std::clamp(std::min(all_used, cores) / used[i], 1.0, std::max(tasks, 1.0));
  }
  struct Place {
    double* speed;
    std::size_t parts;
  };
  std::vector<Place> places;
  std::vector<placement::NodeSharer> sharers;
  const auto add = [&](const PhaseEstimate& phase, const TasksLeft& left, double& speed) {
    if (!phase.demand.empty()) speed = phase.alone;
    if (left.running == 0 || phase.demand.empty()) return;
    places.push_back({&speed, phase.demand.size()});
    for (const placement::TaskPart& part : phase.demand) {
      sharers.push_back({part, static_cast<double>(left.running) * part.seconds});
    }
  };
  for (std::size_t i = 0; i < jobs.size() && !hosts.empty(); ++i) {
    if (!jobs[i].is_running || jobs[i].is_of_stages) continue;
    add(jobs[i].expected.map, jobs[i].map, speeds[i].map);
    add(jobs[i].expected.reduce, jobs[i].reduce, speeds[i].reduce);
  }
  if (sharers.empty()) return speeds;
  const std::vector<placement::PartRate> rates = placement::ShareNode(cores, nodes, sharers);
  std::size_t next = 0;
  for (const Place& place : places) {
    double seconds = 0;  // per second of the task's time alone
    for (std::size_t n = 0; n < place.parts; ++n) seconds += 1 / rates[next++].per_second;
    *place.speed = 1 / std::max(seconds, 1.0);
  }
  return speeds;
}

// Builds the stages of one job from its best evidence.
class JobStages {
 public:
  JobStages(const LiveJob& job, std::size_t index, double slots, const JobsOptions& options,
            const Guess& guess, std::uint64_t running_max, std::size_t stages_max,
            const Cluster& cluster, const Speeds& speeds, const FixedDraws& draws)
      : job_(job),
        index_(index),
        guess_(guess),
        cluster_(cluster),
        speeds_(speeds),
        slots_(slots),
        running_max_(running_max),
        stages_max_(stages_max),
        draws_(draws) {
    const double deviation =
        job.expected.is_known ? job.expected.deviation : durations::kUnknownDeviation;
    common_normals_ = draws.Normals(Drawn::kCommon, durations::kOfJobs);
    const Draws own = draws.Normals(Drawn::kStage, index);
    // Jobs without any evidence share the error of their guesses.
    uniforms_ = IsGuessed(job) ? draws.Uniforms(Drawn::kCommon, durations::kOfJobs)
                               : draws.Uniforms(Drawn::kStage, index);
    waits_ = draws.Uniforms(Drawn::kWait, index);
    for (std::size_t d = 0; d < draws.count(); ++d) {
      common_.push_back(std::exp(options.common_deviation * common_normals_[d]));
      factor_.push_back(common_.back() * std::exp(deviation * own[d]));
    }
  }

  // Returns the job's own stages, whose parents are among them, or an empty list if they are
  // unknown. O(stages).
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
    for (double& seconds : of_maps) seconds *= speeds_.map;
    for (double& seconds : of_reduces) seconds *= speeds_.reduce;
    Spread(job_.map, std::move(of_maps), map);
    Spread(job_.reduce, std::move(of_reduces), reduce);
    if (!job_.is_of_stages) {
      map.work.demand = DemandOf(job_.expected.map);
      reduce.work.demand = DemandOf(job_.expected.reduce);
    }
    // Reduce tasks that run at the same time as map tasks fetch the map output.
    reduce.work.waits_in_slots = true;
    map.times.is_known = reduce.times.is_known =
        job_.expected.is_known || (job_.forecast && !job_.forecast->is_guess);
  }

  void FillWaiting(double shift, RemainingStage& map, RemainingStage& reduce) const {
    const bool is_guess = !job_.expected.is_known;
    const auto fill = [&](const PhaseEstimate& phase, RemainingStage& stage) {
      stage.work.pending = phase.tasks;
      if (IsUnknown(job_)) {
        const UnknownWave wave = WaveOn(slots_);
        stage.work.pending = wave.tasks;
        stage.work.container = {.cores = static_cast<double>(wave.slots_of_task)};
        stage.work.tasks_per_container = wave.slots_of_task;
      }
      stage.work.demand = DemandOf(phase);
      stage.times.alike.fill(is_guess ? TimeDistribution::Empirical({guess_.seconds})
                             : stage.work.demand.empty() ? phase.times
                                                         : phase.times.Scaled(phase.alone));
      stage.times.factor = factor_;
      for (double& factor : stage.times.factor) factor *= shift;
      stage.times.slot_idle = job_.expected.slot_idle;
      stage.times.is_known = !is_guess;
      if (!is_guess || !(guess_.deviation > 0)) return;
      // The error of a common guess affects all jobs, so it does not average out along the
      // workflow.
      for (std::size_t d = 0; d < factor_.size(); ++d) {
        stage.times.factor_of_bounds.push_back(stage.times.factor[d] *
                                               std::exp(guess_.deviation * common_normals_[d]));
      }
    };
    fill(job_.expected.map, map);
    fill(job_.expected.reduce, reduce);
  }

  // Sets the lag of a waiting job's first stage to the remainder of its usual delay. A job that is
  // later than usual is expected to take as long again.
  void FillAwaited(RemainingStage& map) const {
    if (job_.is_running || !(job_.awaited > 0 || job_.lag > 0)) return;
    for (const double u : waits_) {
      map.times.lag.push_back(job_.awaited > job_.lag ? durations::LateLeft(job_.awaited, u)
                                                      : job_.lag - job_.awaited);
    }
  }

 private:
  placement::TaskDemand DemandOf(const PhaseEstimate& phase) const {
    return cluster_.node ? phase.demand : placement::TaskDemand();
  }

  // Returns the demand of a stage of the running job. A MapReduce job has its present speed. Task
  // times of other jobs were measured while tasks of the same stage ran and, in this run, while
  // other applications ran. The tasks of these applications count as further tasks of the stage.
  StageDemand DemandOfStage(const RemainingStage& stage) const {
    if (job_.is_of_stages) {
      const double own = static_cast<double>(std::max<std::uint64_t>(job_.left->slots, 1));
      const double slots = stage.measured.is_of_this_run ? speeds_.crowding * own : own;
      return dag::DemandOf(stage.measured, kMeasuredWaves * slots, slots, cluster_);
    }
    return stage.number == kMapStage ? StageDemand{DemandOf(job_.expected.map), speeds_.map}
                                     : StageDemand{DemandOf(job_.expected.reduce), speeds_.reduce};
  }

  double Remaining(std::size_t draw) const {
    const double u = uniforms_[draw];
    if (job_.forecast) return ForecastAt(*job_.forecast, u);
    const double whole = SecondsAlone(job_.expected, slots_) * factor_[draw];
    if (whole > job_.elapsed) return whole - job_.elapsed;
    if (job_.expected.is_known) return durations::ParetoLeft(std::max(job_.elapsed, 1.0), u);
    // A wave of map tasks and a wave of reduce tasks remain, as for a job that has not started.
    return durations::LateLeft(std::max(job_.elapsed, 2 * guess_.seconds), u);
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

  // Returns the stages according to the job's own estimate. The job's forecast has more evidence
  // (past runs, errors of earlier forecasts, losses). Therefore an early end of the forecast is
  // paired with an early end of the tasks, and all tasks of a draw are stretched to end with the
  // forecast.
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
      const StageDemand demand = DemandOfStage(their);
      const double speed = demand.alone;
      stage.work.demand = demand.parts;
      if (their.work.pending == 0 && their.work.running.empty()) continue;
      stage.times.alike = their.times.alike;
      stage.times.is_known = their.times.is_known;
      stage.times.of_task.resize(their.times.of_task.size());
      stage.times.more_of_first.resize(their.times.more_of_first.size());
      for (std::size_t d = 0; d < draws_.count(); ++d) {
        for (std::size_t n = 0; n < their.times.of_task.size(); ++n) {
          const double passed = n < their.work.running.size() ? age[d] : 0;
          const double left = std::max(their.times.of_task[n][draw_of[d]] - passed, 0.0);
          stage.times.of_task[n].push_back(speed * stretch[d] * left);
        }
        for (std::size_t n = 0; n < their.times.more_of_first.size(); ++n) {
          stage.times.more_of_first[n].push_back(their.times.more_of_first[n][draw_of[d]]);
        }
        const Draws& factor = their.times.factor;
        stage.times.factor.push_back(speed * stretch[d] *
                                     (factor.empty() ? 1 : factor[draw_of[d]]));
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
    // If this run has no stages, `now` contains the stages of the newest past run.
    std::vector<StageDemand> demands;
    for (std::size_t i = 0; i < now.stages.size(); ++i) {
      const PastStage& before = runs.front().stages[i];
      demands.push_back(dag::DemandOf(MeasuredTaskOf(before), static_cast<double>(before.tasks),
                                      runs.front().slots, cluster_));
      now.stages[i].demand = demands[i].parts;
    }
    std::vector<RemainingStage> stages = LeftOfStages(now, history, slots_, EstimateConstants(),
                                                      draws_, kStreamsOfJob * (index_ + 1));
    for (std::size_t i = 0; i < stages.size(); ++i) {
      stages[i].number = kExpectedStages + static_cast<std::uint32_t>(i);
      Draws& factor = stages[i].times.factor;
      for (std::size_t d = 0; d < factor.size(); ++d) {
        factor[d] *= shift * common_[d] * demands[i].alone;
      }
    }
    return stages;
  }

  // Fills a stage of which only the number of tasks is known. Running tasks end at equal intervals,
  // the last one after the time of a whole task. `of_task` contains, by draw, the seconds until the
  // last task ends on the job's own slots.
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
  const Guess& guess_;
  const Cluster& cluster_;
  const Speeds speeds_;
  const double slots_;
  const std::uint64_t running_max_;  // Maximum number of running tasks with individual times.
  const std::size_t stages_max_;
  const FixedDraws& draws_;
  Draws uniforms_;
  Draws waits_;
  Draws common_normals_;
  Draws common_;  // factor on all jobs, by draw
  Draws factor_;  // factor on this job, by draw
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
                              const placement::Resourcing& on, const JobsOptions& options,
                              const Cluster& cluster) {
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
  Application application = {.on = on,
                             .draws = &FixedDraws::For(tasks),
                             .hosts = HostsOf(cluster),
                             .is_median_typical = true};
  const std::vector<Speeds> speeds = SpeedsNow(jobs, application.hosts);
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
    const JobStages stages(jobs[i], i, slots, options, guess, running_max, stages_max, cluster,
                           speeds[i], *application.draws);
    stages.FillAwaited(map);
    std::vector<RemainingStage> own = stages.Own(options.shift);
    if (!own.empty()) {
      Insert(i, std::move(own), application);
    } else if (jobs[i].is_running) {
      stages.FillRunning(map, reduce);
    } else {
      stages.FillWaiting(options.shift, map, reduce);
    }
  }
  if (options.submissions) {
    application.growth =
        GrowthOf(*options.submissions, options.elapsed, options.elapsed, *application.draws);
  }
  return application;
}

absl::StatusOr<ApplicationForecast> ForecastJobs(const JobsNow& question) {
  return ForecastApplication(ApplicationOfJobs(question.jobs, question.parents, question.on,
                                               question.options, question.cluster));
}

}  // namespace tidemark::dag
