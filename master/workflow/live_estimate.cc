#include "master/workflow/live_estimate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "master/model/tidemark/normal.h"
#include "master/workflow/drawn_numbers.h"
#include "master/workflow/list_simulation.h"

namespace tidemark::workflow {
namespace {

// More tasks than this are simulated in bunches: at each, the policy looks at all jobs, so of many
// jobs there are fewer. What a stranger's workflow may cost is bounded by it.
constexpr double kTasksMax = 20'000;
constexpr double kLooksMax = 1e6;
double TasksMax(std::size_t jobs) {
  return std::min(kTasksMax, kLooksMax / static_cast<double>(std::max<std::size_t>(jobs, 1)));
}
// Of the log of a job's task times when nothing is known of it, and what its tasks are taken to be
// when nothing is known of any job. Taste: a factor of e either way, and a minute of map and one of
// reduce tasks on all slots.
constexpr double kUnknownDeviation = 1;
constexpr double kUnknownTaskSeconds = 60;
// How far the slots of a cluster a job without any count of tasks is taken to go round.
constexpr double kUnknownWaves = 1;
// Of a job that is past its predicted end: it may take a tenth of what it has taken so far, and
// longer than t more with probability w / (w + t) for that w.
constexpr double kOverdueShare = 0.1;
// A container that takes no slot: for what is waited for without using the cluster.
constexpr double kNoSlot = 1e-6;
// The 95 % quantile of a normal variable.
constexpr double kZ95 = 1.6448536269514722;

// Rows of drawn numbers that belong to no stage of the simulation.
constexpr std::uint64_t kCommonRow = std::uint64_t{1} << 40;
constexpr std::uint64_t kJobRows = std::uint64_t{1} << 41;
constexpr std::uint64_t kWaitRows = std::uint64_t{1} << 42;

// Three stages for each job: what keeps it from its tasks, its map tasks, its reduce tasks.
constexpr std::size_t kStages = 3;
enum Part : std::size_t { kWait = 0, kMaps = 1, kReduces = 2 };
std::size_t StageOf(std::size_t job, Part part) { return kStages * job + part; }

double Laplace(double waited, double u) { return waited * (1 / u - 1); }

// A normal variable on each side of the median.
double ForecastAt(const RunningForecast& forecast, double u) {
  const double z = model::NormalQuantile(u);
  const double side =
      z < 0 ? forecast.remaining - forecast.lower : forecast.upper - forecast.remaining;
  return std::max(forecast.remaining + z * std::max(side, 0.0) / kZ95, 0.0);
}

bool IsUnknown(const LiveJob& job) { return !job.outlook.is_known && job.outlook.map.tasks == 0; }
std::uint64_t WaveOf(double slots) {
  return static_cast<std::uint64_t>(std::ceil(kUnknownWaves * slots));
}

// One job as the simulation takes it, whatever is known of it.
class Job {
 public:
  Job(const LiveJob& job, double slots, double guess_seconds, double bunch)
      : job_(job), slots_(slots), guess_seconds_(guess_seconds) {
    const bool is_bunched = !job.is_running && IsUnknown(job);
    map_ = Bunched(job.is_running ? job.map : Whole(job.outlook.map), is_bunched ? 1 : bunch);
    reduce_ =
        Bunched(job.is_running ? job.reduce : Whole(job.outlook.reduce), is_bunched ? 1 : bunch);
    if (job.is_over) map_ = reduce_ = {};
  }

  const TasksLeft& map() const { return map_; }
  const TasksLeft& reduce() const { return reduce_; }
  bool has_wait() const {
    if (job_.is_over) return false;
    return job_.is_running ? Count(map_) + Count(reduce_) == 0 : job_.awaited > 0;
  }

  // Draws what the job takes this time.
  void Draw(double u, double u_wait, double common, double deviation_factor, double time_factor) {
    wait_ = 0;
    if (job_.is_over) return;
    if (job_.is_running) {
      DrawRunning(u, common * deviation_factor);
      return;
    }
    if (job_.awaited > 0) wait_ = Laplace(job_.awaited, u_wait);
    factor_ = common * deviation_factor * time_factor;
  }

  double wait() const { return wait_; }
  double TaskSeconds(Part part, double u) const {
    if (job_.is_running) return part == kMaps ? map_seconds_ : reduce_seconds_;
    const TaskTimes& times = part == kMaps ? job_.outlook.map.times : job_.outlook.reduce.times;
    return factor_ * (job_.outlook.is_known ? times.Quantile(u) : guess_seconds_);
  }
  // Evenly apart, the last at the end of the phase: all there is to know from outside the job.
  double Remaining(Part part, std::size_t nth) const {
    const TasksLeft& left = part == kMaps ? map_ : reduce_;
    const double share = static_cast<double>(nth + 1) / static_cast<double>(left.running);
    if (part == kMaps) return map_seconds_ * share;
    return maps_left_seconds_ + reduce_seconds_ * share;
  }

 private:
  static double Count(const TasksLeft& left) {
    return static_cast<double>(left.pending + left.running);
  }
  // One of which nothing is known goes round slots that are bunched already.
  TasksLeft Whole(const PhaseOutlook& phase) const {
    if (IsUnknown(job_)) return {.pending = WaveOf(slots_)};
    return {.pending = phase.tasks};
  }
  static TasksLeft Bunched(TasksLeft left, double bunch) {
    const auto some = [&](std::uint64_t tasks) {
      return static_cast<std::uint64_t>(std::ceil(static_cast<double>(tasks) / bunch));
    };
    return {.pending = some(left.pending), .running = some(left.running)};
  }

  // The remaining time goes to the phases by their shares, and within a phase to tasks of one
  // length t: with k of them running evenly apart and p pending, the last ends after t (1 + p / k).
  void DrawRunning(double u, double factor) {
    const double remaining = DrawRemaining(u, factor);
    const bool has_maps = Count(map_) > 0;
    const bool has_reduces = Count(reduce_) > 0;
    const double share = job_.forecast ? job_.forecast->map_share : 0.5;
    const double maps = !has_maps ? 0 : has_reduces ? remaining * share : remaining;
    map_seconds_ = OneTask(map_, maps);
    maps_left_seconds_ = maps;
    reduce_seconds_ = OneTask(reduce_, remaining - maps);
    if (!has_maps && !has_reduces) wait_ = remaining;
  }

  double OneTask(const TasksLeft& left, double seconds) const {
    const double running = static_cast<double>(left.running);
    const double pending = static_cast<double>(left.pending);
    if (running > 0) return seconds / (1 + pending / running);
    return pending > 0 ? seconds / std::max(pending / slots_, 1.0) : 0;
  }

  double DrawRemaining(double u, double factor) const {
    if (job_.forecast) return ForecastAt(*job_.forecast, u);
    const double whole = SecondsAlone(job_.outlook, slots_) * factor;
    if (whole > job_.elapsed) return whole - job_.elapsed;
    const double waited = job_.outlook.is_known ? kOverdueShare * job_.elapsed : job_.elapsed;
    return Laplace(std::max(waited, 1.0), u);
  }

  const LiveJob& job_;
  const double slots_;
  const double guess_seconds_;
  TasksLeft map_;
  TasksLeft reduce_;
  double factor_ = 1;
  double wait_ = 0;
  double map_seconds_ = 0;
  double maps_left_seconds_ = 0;
  double reduce_seconds_ = 0;
};

double TasksOf(const LiveJob& job, double slots) {
  if (job.is_over) return 0;
  if (!job.is_running && IsUnknown(job)) return 2 * static_cast<double>(WaveOf(slots));
  if (!job.is_running) return static_cast<double>(job.outlook.map.tasks + job.outlook.reduce.tasks);
  return static_cast<double>(job.map.pending + job.map.running + job.reduce.pending +
                             job.reduce.running);
}

// What a task of this job takes, as far as it can serve for another; 0: not known. A job that was
// not known before it ran is taken for a wave of map and one of reduce tasks.
double TaskSecondsOf(const LiveJob& job) {
  if (job.outlook.is_known) return job.outlook.map.times.mean();
  if (job.is_over) return job.took / 2;
  return job.forecast ? (job.elapsed + job.forecast->remaining) / 2 : 0;
}

// A job nobody knows has tasks like those of the others, in the geometric mean.
double GuessTaskSeconds(std::span<const LiveJob> jobs) {
  double log_sum = 0;
  double known = 0;
  for (const LiveJob& job : jobs) {
    const double seconds = TaskSecondsOf(job);
    if (seconds <= 0) continue;
    log_sum += std::log(std::max(seconds, 1e-3));
    known += 1;
  }
  return known > 0 ? std::exp(log_sum / known) : kUnknownTaskSeconds;
}

class Drawing {
 public:
  Drawing(std::span<const LiveJob> jobs, const Parents& parents, const Resourcing& on,
          const LiveOptions& options)
      : live_(jobs), parents_(parents), on_(on), options_(options) {
    double tasks = 0;
    const double slots = std::max(std::floor(on.cluster.capacity.cores), 1.0);
    for (const LiveJob& job : jobs) tasks += TasksOf(job, slots);
    const double bunch = std::max(std::ceil(tasks / TasksMax(jobs.size())), 1.0);
    const double bunched_slots = std::max(std::floor(slots / bunch), 1.0);
    // The same work on as much of the cluster.
    bunch_factor_ = bunch * bunched_slots / slots;
    on_.cluster.capacity.cores = bunched_slots + kNoSlot * static_cast<double>(jobs.size());
    const double guess = GuessTaskSeconds(jobs);
    for (const LiveJob& job : jobs) jobs_.emplace_back(job, bunched_slots, guess, bunch);
    AddWork();
  }

  absl::Status Draw() {
    absl::StatusOr<ListSimulation> simulation = ListSimulation::Create(work_, on_, 0);
    if (!simulation.ok()) return simulation.status();
    futures_.reserve(options_.draws);
    for (std::size_t draw = 0; draw < options_.draws; ++draw) {
      Prepare(draw);
      futures_.push_back(simulation->Run(
          [&](const TaskStart& start) {
            return jobs_[start.stage / kStages].TaskSeconds(
                       static_cast<Part>(start.stage % kStages),
                       RowNumber(RowStart(draw, start.stage), start.left)) *
                   BunchFactor(live_[start.stage / kStages]);
          },
          [&](std::size_t stage, std::size_t nth) {
            const Job& job = jobs_[stage / kStages];
            const Part part = static_cast<Part>(stage % kStages);
            return part == kWait ? job.wait() : job.Remaining(part, nth);
          }));
    }
    return absl::OkStatus();
  }

  LiveEstimate Result() const {
    LiveEstimate estimate;
    std::vector<double> totals;
    for (const Simulated& future : futures_) totals.push_back(future.seconds);
    estimate.remaining = QuantileOf(totals, 0.5);
    estimate.lower = QuantileOf(totals, 0.05);
    estimate.upper = QuantileOf(totals, 0.95);
    double all = 0;
    double known = 0;
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      estimate.jobs.push_back(ResultOf(job));
      const double seconds = estimate.jobs.back().end - estimate.jobs.back().start;
      const bool is_known = live_[job].outlook.is_known || live_[job].forecast.has_value();
      all += seconds;
      known += is_known ? seconds : 0;
    }
    estimate.known_share = all > 0 ? std::clamp(known / all, 0.0, 1.0) : 1;
    MarkCriticalPath(estimate);
    return estimate;
  }

 private:
  void AddWork() {
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      StageWork wait = {.owner = i, .container = {.cores = kNoSlot}};
      for (const std::size_t parent : parents_[i])
        wait.parents.push_back(StageOf(parent, kReduces));
      if (jobs_[i].has_wait()) wait.running.push_back(0);
      work_.push_back(std::move(wait));
      work_.push_back(WorkOf(jobs_[i].map(), i, StageOf(i, kWait)));
      work_.push_back(WorkOf(jobs_[i].reduce(), i, StageOf(i, kMaps)));
    }
  }

  // How much longer a bunch takes than a task. Those of a running job, and of one that is unknown,
  // are made for the slots that are simulated.
  double BunchFactor(const LiveJob& job) const {
    return job.is_running || IsUnknown(job) ? 1 : bunch_factor_;
  }

  static StageWork WorkOf(const TasksLeft& left, std::size_t owner, std::size_t parent) {
    return {.parents = {parent},
            .owner = owner,
            .container = {.cores = 1},
            .pending = left.pending,
            .running = std::vector<double>(left.running)};
  }

  void Prepare(std::size_t draw) {
    const auto spread = [&](std::uint64_t what) {
      return SpreadOverDraws(draw, options_.draws, what);
    };
    const double common =
        std::exp(options_.common_deviation * model::NormalQuantile(spread(kCommonRow)));
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      const JobOutlook& outlook = live_[i].outlook;
      const double deviation = outlook.is_known ? outlook.deviation : kUnknownDeviation;
      const double u = spread(kJobRows + i);
      jobs_[i].Draw(u, spread(kWaitRows + i), common,
                    std::exp(deviation * model::NormalQuantile(u)), options_.shift);
    }
  }

  std::vector<double> Each(auto of) const {
    std::vector<double> values;
    for (const Simulated& future : futures_) values.push_back(of(future));
    return values;
  }
  LiveStage StageResult(std::size_t stage) const {
    return {.start = QuantileOf(
                Each([&](const Simulated& future) { return future.stages[stage].start; }), 0.5),
            .end = QuantileOf(
                Each([&](const Simulated& future) { return future.stages[stage].end; }), 0.5)};
  }

  LiveJobEstimate ResultOf(std::size_t job) const {
    LiveJobEstimate result;
    if (live_[job].is_over) return result;
    result.map = StageResult(StageOf(job, kMaps));
    result.reduce = StageResult(StageOf(job, kReduces));
    const std::vector<double> ends = Each([&](const Simulated& future) {
      double end = 0;
      for (const Part part : {kWait, kMaps, kReduces}) {
        end = std::max(end, future.stages[StageOf(job, part)].end);
      }
      return end;
    });
    result.end = QuantileOf(ends, 0.5);
    result.lower = QuantileOf(ends, 0.05);
    result.upper = QuantileOf(ends, 0.95);
    if (!live_[job].is_running) {
      result.start = jobs_[job].map().pending > 0 ? result.map.start : result.reduce.start;
    }
    return result;
  }

  // Back from the job that ends last, each time to the parent that ends last.
  void MarkCriticalPath(LiveEstimate& estimate) const {
    std::optional<std::size_t> at;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      if (!live_[i].is_over && (!at || estimate.jobs[i].end > estimate.jobs[*at].end)) at = i;
    }
    while (at) {
      estimate.jobs[*at].is_critical = true;
      estimate.critical_path.push_back(*at);
      std::optional<std::size_t> before;
      for (const std::size_t parent : parents_[*at]) {
        if (live_[parent].is_over) continue;
        if (!before || estimate.jobs[parent].end > estimate.jobs[*before].end) before = parent;
      }
      at = before;
    }
    std::reverse(estimate.critical_path.begin(), estimate.critical_path.end());
  }

  std::span<const LiveJob> live_;
  const Parents& parents_;
  Resourcing on_;
  const LiveOptions& options_;
  double bunch_factor_ = 1;
  std::vector<Job> jobs_;
  std::vector<StageWork> work_;
  std::vector<Simulated> futures_;
};

}  // namespace

absl::StatusOr<LiveEstimate> EstimateLive(std::span<const LiveJob> jobs, const Parents& parents,
                                          const Resourcing& on, const LiveOptions& options) {
  if (options.draws == 0) return absl::InvalidArgumentError("an estimate needs a draw");
  Drawing drawing(jobs, parents, on, options);
  if (absl::Status drawn = drawing.Draw(); !drawn.ok()) return drawn;
  return drawing.Result();
}

}  // namespace tidemark::workflow
