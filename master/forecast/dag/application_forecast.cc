#include "master/forecast/dag/application_forecast.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

namespace tidemark::dag {
namespace {

using durations::Drawn;
using durations::Draws;
using durations::QuantileOf;
using durations::RemainingStage;
using durations::TaskTimes;

// These constants limit the cost of an untrusted workflow. More similar tasks than
// kDetailedTasksMax run in bunches. The policy visits all owners at each bunch, so more owners mean
// fewer bunches.
constexpr double kDetailedTasksMax = 20'000;
constexpr double kLooksMax = 1e6;
// Replaces kDetailedTasksMax for tasks that share nodes, since each task may change the rates of
// others.
constexpr double kSharedTasksMax = 4'000;
// Limits processor time. If there are more nodes, one host represents all of them.
constexpr std::size_t kNodesMax = 100;
// Limits the cost and the length of the displayed list of states.
constexpr std::size_t kStatesStagesMax = 100;
// Assumed cores of a node if they are unknown. They are then never scarce.
constexpr double kUnknownCores = 1e18;

std::vector<std::size_t> OwnerOfStages(const Application& application) {
  std::vector<std::size_t> owners;
  for (const RemainingStage& stage : application.stages) owners.push_back(stage.work.owner);
  return owners;
}

std::uint64_t CountLeft(const placement::StageWork& work) {
  return work.pending + work.running.size();
}

// Returns the number of pending tasks that have no individual times.
std::uint64_t Alike(const RemainingStage& stage) {
  const std::uint64_t left = CountLeft(stage.work);
  return left > stage.times.of_task.size() ? left - stage.times.of_task.size() : 0;
}

std::uint64_t BunchOf(const Application& application, std::size_t owners) {
  double alike = 0;
  bool is_shared = false;
  for (const RemainingStage& stage : application.stages) {
    alike += static_cast<double>(Alike(stage));
    is_shared |= !application.hosts.empty() && !stage.work.demand.empty();
  }
  const double most = std::min(is_shared ? kSharedTasksMax : kDetailedTasksMax,
                               kLooksMax / static_cast<double>(std::max<std::size_t>(owners, 1)));
  return static_cast<std::uint64_t>(std::clamp(std::ceil(alike / most), 1.0, 1e12));
}

bool AreNodes(const std::vector<placement::SharedHost>& hosts) {
  return !hosts.empty() && hosts.front().nodes > 0;
}

// Returns one host that represents several nodes.
placement::SharedHost Together(double cores_of_node, double nodes) {
  return {.processors = cores_of_node * nodes, .nodes = nodes};
}

// Returns the hosts to simulate. If tasks run in bunches, one host represents all nodes, which are
// identical. Returns no hosts if no stage has a demand.
std::vector<placement::SharedHost> SimulatedHosts(const Application& application,
                                                  const std::vector<std::size_t>& open,
                                                  std::uint64_t bunch) {
  if (!AreNodes(application.hosts)) return application.hosts;
  const bool is_shared = std::ranges::any_of(
      open, [&](std::size_t i) { return !application.stages[i].work.demand.empty(); });
  if (!is_shared) return {};
  if (bunch == 1) return application.hosts;
  const placement::SharedHost& first = application.hosts.front();
  const double nodes = static_cast<double>(application.hosts.size()) * first.nodes;
  return {Together(first.processors / first.nodes, nodes)};
}

double At(const Draws& draws, std::size_t draw, double otherwise) {
  return draws.empty() ? otherwise : draws[draw];
}

// Returns the indexes of the stages that a simulation needs. All other stages have no remaining
// task and wait for none of these stages, so they end immediately. A stage that waits for a stage
// with a higher index is always returned.
std::vector<std::size_t> OpenStages(const Application& application) {
  std::vector<std::size_t> open;
  std::vector<bool> is_over(application.stages.size());
  for (std::size_t i = 0; i < application.stages.size(); ++i) {
    const RemainingStage& stage = application.stages[i];
    const std::vector<std::size_t>& parents = stage.work.parents;
    is_over[i] = CountLeft(stage.work) == 0 && stage.times.lag.empty() &&
                 std::all_of(parents.begin(), parents.end(),
                             [&](std::size_t parent) { return parent < i && is_over[parent]; });
    if (!is_over[i]) open.push_back(i);
  }
  return open;
}

// Returns the work of the stages at `open`, whose parents are only stages at `open`.
std::vector<placement::StageWork> WorkOf(const Application& application,
                                         const std::vector<std::size_t>& open) {
  std::vector<std::size_t> place(application.stages.size(), open.size());
  for (std::size_t k = 0; k < open.size(); ++k) place[open[k]] = k;
  std::vector<placement::StageWork> work;
  work.reserve(open.size());
  for (const std::size_t i : open) {
    std::vector<std::size_t>& parents = work.emplace_back(application.stages[i].work).parents;
    // An unknown parent is kept, so that Placing::Create() rejects it.
    for (std::size_t& parent : parents) parent = parent < place.size() ? place[parent] : parent;
    if (open.size() < place.size()) std::erase(parents, open.size());
  }
  return work;
}

// Returns the elements of `by_stage` for the stages at `open`. Missing elements have the default
// value.
template <typename T>
std::vector<T> Of(const std::vector<std::size_t>& open, const std::vector<T>& by_stage) {
  std::vector<T> of_open;
  for (const std::size_t i : open) of_open.push_back(i < by_stage.size() ? by_stage[i] : T());
  return of_open;
}

std::size_t CountSets(const std::vector<std::size_t>& set_of_stage) {
  std::size_t sets = 0;
  for (const std::size_t set : set_of_stage) sets = std::max(sets, set + 1);
  return sets;
}

// Collects, for each draw, the end of the last stage in each of several sets.
class LastEnds {
 public:
  // `set_of_stage[i]` is the set of stage i of a simulation, below `sets`.
  LastEnds(std::vector<std::size_t> set_of_stage, std::size_t sets)
      : set_of_stage_(std::move(set_of_stage)), by_set_(sets) {}
  // Adds a draw in which stage i ends at `ends[i]`.
  void Add(const std::vector<double>& ends) {
    std::vector<double> last(by_set_.size());
    for (std::size_t i = 0; i < set_of_stage_.size(); ++i) {
      last[set_of_stage_[i]] = std::max(last[set_of_stage_[i]], ends[i]);
    }
    for (std::size_t k = 0; k < last.size(); ++k) by_set_[k].push_back(last[k]);
  }
  std::vector<Draws>& by_set() { return by_set_; }

 private:
  std::vector<std::size_t> set_of_stage_;
  std::vector<Draws> by_set_;
};

// The simulations of an application, and their results. Stages are numbered by their index among
// the open stages.
class Futures {
 public:
  // `open` contains the stages that `placing` simulates.
  Futures(const Application& application, const std::vector<std::size_t>& open,
          placement::Placing placing)
      : application_(application),
        open_(open),
        placing_(std::move(placing)),
        starts_(open.size()),
        ends_(open.size()),
        settled_(open.size()),
        busy_(open.size()),
        use_(open.size()),
        task_ends_(open.size()),
        owner_ends_(Of(open, OwnerOfStages(application)), CountSets(OwnerOfStages(application))),
        group_ends_(application.group_of_stage.empty() ? std::vector<std::size_t>()
                                                       : Of(open, application.group_of_stage),
                    CountSets(application.group_of_stage)),
        drawn_(open.size()) {
    for (std::size_t i = 0; i < open.size(); ++i) {
      task_ends_[i].resize(stage(i).times.of_task.size());
    }
  }

  // Runs all draws. If `bounds` is true, uses the factors for the bounds.
  void Play(bool bounds) {
    const std::size_t draws = application_.draws->count();
    const Draws common = application_.draws->Normals(Drawn::kCommon, durations::kOfRun);
    for (std::size_t draw = 0; draw < draws; ++draw) {
      const placement::Placed& future = PlayOne(draw, bounds);
      const double growth = At(application_.growth, draw, 0);
      const double factor = std::exp(application_.common_deviation * common[draw]);
      totals_.push_back(future.seconds);
      stretches_.push_back(factor);
      stretched_.push_back(future.seconds * factor + growth);
      AddStages(future);
    }
  }

  ApplicationForecast Result() {
    ApplicationForecast forecast = {.end = RangeOf(stretched_), .ends = totals_};
    forecast.end.median = QuantileOf(totals_, 0.5);
    std::vector<double> settled;
    KnownWork of_all;
    std::vector<KnownWork> of_groups(group_ends_.by_set().size());
    for (const RemainingStage& stage : application_.stages) {
      forecast.stages.push_back({.owner = stage.work.owner, .number = stage.number});
    }
    for (std::size_t i = 0; i < open_.size(); ++i) {
      StageEnds& stage_ends = forecast.stages[open_[i]];
      AddRanges(i, stage_ends);
      stage_ends.busy = busy_[i];
      stage_ends.bottleneck = BottleneckOf(use_[i]);
      // Tasks that share nodes take longer than alone.
      stage_ends.shares_nodes = use_[i].seconds > 0 && !stage(i).work.demand.empty();
      const double left = stage_ends.shares_nodes ? busy_[i] : SecondsOf(stage(i));
      const double work = stage(i).work.container.cores * left;
      of_all.Add(work, stage(i).times.is_known);
      if (!of_groups.empty()) {
        of_groups[application_.group_of_stage[open_[i]]].Add(work, stage(i).times.is_known);
      }
      stage_ends.task_time = MeanOfTasks(stage(i).work, left);
      settled.push_back(QuantileOf(settled_[i], 0.5));
      for (Draws& ends : task_ends_[i]) {
        stage_ends.task_ends.push_back(ends.empty() ? 0 : QuantileOf(ends, 0.5));
      }
    }
    for (Draws& ends : owner_ends_.by_set()) forecast.owner_ends.push_back(Stretched(ends));
    for (Draws& ends : group_ends_.by_set()) forecast.group_ends.push_back(Stretched(ends));
    forecast.known_share = of_all.share();
    for (const KnownWork& work : of_groups) forecast.group_known_shares.push_back(work.share());
    if (Draws growth = application_.growth; !growth.empty()) {
      forecast.end.median += QuantileOf(growth, 0.5);
    }
    forecast.end.lower = std::min(forecast.end.lower, forecast.end.median);
    forecast.end.upper = std::max(forecast.end.upper, forecast.end.median);
    MarkCriticalPath(settled, forecast);
    return forecast;
  }

  // Returns the states of a simulation without random factors. The times of a stage's tasks vary,
  // so the tasks are not in step.
  std::vector<ForecastState> States() {
    const placement::Placed& future = placing_.Run(
        [&](const placement::TaskStart& start) -> placement::TaskSeconds {
          const TaskTimes& times = stage(start.stage).times;
          if (start.task < times.of_task.size()) return TypicalSeconds(start.stage, start.task);
          const double u =
              durations::RowNumber(durations::RowStart(0, open_[start.stage]), start.task);
          const double seconds =
              times.Of(placement::Warmth::kRest).Quantile(u) * TypicalOf(times.factor);
          return {seconds + times.slot_idle, times.slot_idle};
        },
        [&](std::size_t index) {
          Draws lag = stage(index).times.lag;
          if (!lag.empty()) return QuantileOf(lag, 0.5);
          return CountLeft(stage(index).work) > 0 ? stage(index).work.lag : 0;
        },
        [](std::size_t, std::uint64_t, double) {});
    std::vector<ForecastState> states;
    for (const placement::PlacedState& placed : future.states) {
      ForecastState& state = states.emplace_back(
          ForecastState{.start = placed.start, .end = placed.end, .stages = {}});
      for (const auto& [index, use] : placed.stages) {
        const double alone = TypicalSeconds(index, stage(index).times.of_task.size());
        state.stages.push_back({.stage = open_[index],
                                .tasks = use.seconds / (placed.end - placed.start),
                                .task_seconds = use.work > 0 ? alone * use.seconds / use.work : 0,
                                .bottleneck = BottleneckOf(use)});
      }
    }
    return states;
  }

  // Widens the bounds of the forecast to the bounds of these simulations.
  void WidenBounds(ApplicationForecast& forecast) {
    Widen(RangeOf(stretched_), forecast.end);
    WidenEach(owner_ends_, forecast.owner_ends);
    WidenEach(group_ends_, forecast.group_ends);
    for (std::size_t i = 0; i < open_.size(); ++i) {
      StageEnds wide;
      AddRanges(i, wide);
      Widen(wide.starts, forecast.stages[open_[i]].starts);
      Widen(wide.ends, forecast.stages[open_[i]].ends);
    }
  }

 private:
  // Remaining work in container seconds.
  struct KnownWork {
    double known = 0;  // the part whose times are known
    double all = 0;

    void Add(double work, bool is_known) {
      all += work;
      known += is_known ? work : 0;
    }
    double share() const { return all > 0 && std::isfinite(all) ? known / all : 1; }
  };

  // Values of a draw that all similar tasks of a stage share.
  struct DrawnStage {
    double row_start = 0;
    double factor = 1;
  };

  const RemainingStage& stage(std::size_t index) const { return application_.stages[open_[index]]; }

  // Returns the resource that limits tasks for the longest time. Returns nullopt if tasks have no
  // demand, or if they are unlimited for even longer.
  static std::optional<placement::Resource> BottleneckOf(const placement::HostUse& use) {
    const auto longest = std::ranges::max_element(use.bound);
    double unbound = use.seconds;
    for (const double seconds : use.bound) unbound -= seconds;
    if (!(*longest > 0) || *longest < unbound) return std::nullopt;
    return static_cast<placement::Resource>(longest - use.bound.begin());
  }

  double TypicalOf(Draws factor) const {
    if (factor.empty()) return 1;
    if (application_.is_median_typical) return QuantileOf(factor, 0.5);
    return std::accumulate(factor.begin(), factor.end(), 0.0) / static_cast<double>(factor.size());
  }

  double TypicalSeconds(std::size_t index, std::uint64_t task) const {
    const TaskTimes& times = stage(index).times;
    if (task < times.of_task.size()) {
      Draws seconds = times.of_task[task];
      return QuantileOf(seconds, 0.5);
    }
    return times.Of(placement::Warmth::kRest).mean() * TypicalOf(times.factor);
  }

  const placement::Placed& PlayOne(std::size_t draw, bool bounds) {
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const TaskTimes& times = stage(i).times;
      const Draws& factor =
          bounds && !times.factor_of_bounds.empty() ? times.factor_of_bounds : times.factor;
      // The row of a stage stays the same when another stage ends.
      drawn_[i] = {.row_start = durations::RowStart(draw, open_[i]), .factor = At(factor, draw, 1)};
    }
    return placing_.Run(
        [&](const placement::TaskStart& start) -> placement::TaskSeconds {
          const TaskTimes& times = stage(start.stage).times;
          if (start.task < times.of_task.size()) {
            const double delay = start.task < times.delay.size() ? times.delay[start.task] : 0;
            return {times.of_task[start.task][draw], delay};
          }
          const DrawnStage& drawn = drawn_[start.stage];
          const double u = durations::RowNumber(drawn.row_start, start.place);
          const std::uint64_t number = start.task - times.of_task.size();
          const double more =
              number < times.more_of_first.size() ? times.more_of_first[number][draw] : 0;
          const double seconds = (times.Of(start.warmth).Quantile(u) + more) * drawn.factor;
          return {seconds + times.slot_idle, times.slot_idle};
        },
        [&](std::size_t index) {
          const RemainingStage& left = stage(index);
          return At(left.times.lag, draw, CountLeft(left.work) > 0 ? left.work.lag : 0);
        },
        [&](std::size_t index, std::uint64_t task, double at) {
          if (task < task_ends_[index].size()) task_ends_[index][task].push_back(at);
        });
  }

  void AddStages(const placement::Placed& future) {
    std::vector<double> last_ends(open_.size());
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const placement::PlacedStage& placed = future.stages[i];
      starts_[i].push_back(placed.start);
      // A stage with a lag has an end even if no task remains.
      const double end =
          stage(i).times.lag.empty() ? placed.end : std::max(placed.end, placed.settled);
      ends_[i].push_back(end);
      settled_[i].push_back(placed.settled);
      busy_[i] += placed.busy / static_cast<double>(application_.draws->count());
      use_[i].seconds += placed.use.seconds;
      for (std::size_t r = 0; r < placement::kResources; ++r) {
        use_[i].bound[r] += placed.use.bound[r];
      }
      last_ends[i] = end;
    }
    owner_ends_.Add(last_ends);
    group_ends_.Add(last_ends);
  }

  // Walks back from the stage that ends last, each time to the parent that ends last, through
  // parents without remaining work. `settled` is by stage of a simulation.
  void MarkCriticalPath(const std::vector<double>& settled, ApplicationForecast& forecast) const {
    std::vector<double> settled_at(application_.stages.size());
    std::optional<std::size_t> at;
    for (std::size_t k = 0; k < open_.size(); ++k) {
      const std::size_t i = open_[k];
      settled_at[i] = settled[k];
      const double end = forecast.stages[i].end;
      if (end > 0 && (!at || end > forecast.stages[*at].end)) at = i;
    }
    while (at) {
      if (forecast.stages[*at].end > 0) {
        forecast.stages[*at].is_critical = true;
        forecast.critical_path.push_back(*at);
      }
      std::optional<std::size_t> before;
      for (const std::size_t parent : application_.stages[*at].work.parents) {
        const bool is_later = !before || settled_at[parent] > settled_at[*before];
        if (settled_at[parent] > 0 && is_later) before = parent;
      }
      at = before;
    }
    std::reverse(forecast.critical_path.begin(), forecast.critical_path.end());
  }

  // Returns the median of `seconds`, and its bounds, widened by the common factor.
  SecondsRange Stretched(Draws& seconds) const {
    Draws stretched = seconds;
    for (std::size_t d = 0; d < stretched.size(); ++d) stretched[d] *= stretches_[d];
    SecondsRange range = RangeOf(std::move(stretched));
    range.median = QuantileOf(seconds, 0.5);
    range.lower = std::min(range.lower, range.median);
    range.upper = std::max(range.upper, range.median);
    return range;
  }

  void AddRanges(std::size_t index, StageEnds& stage) {
    stage.starts = Stretched(starts_[index]);
    stage.ends = Stretched(ends_[index]);
    stage.start = stage.starts.median;
    stage.end = stage.ends.median;
  }

  static void Widen(const SecondsRange& bounds, SecondsRange& range) {
    range.lower = std::min(range.lower, bounds.lower);
    range.upper = std::max(range.upper, bounds.upper);
  }

  void WidenEach(LastEnds& ends, std::vector<SecondsRange>& ranges) const {
    for (std::size_t k = 0; k < ranges.size(); ++k) Widen(Stretched(ends.by_set()[k]), ranges[k]);
  }

  static double MeanOfTasks(const placement::StageWork& work, double left) {
    const std::uint64_t tasks = CountLeft(work);
    for (const double elapsed : work.running) left += elapsed;
    return tasks > 0 ? left / static_cast<double>(tasks) : 0;
  }

  // Returns the remaining time of a stage, summed over its tasks: the median over the draws.
  double SecondsOf(const RemainingStage& stage) const {
    if (CountLeft(stage.work) == 0) return 0;
    const double usual = stage.times.Of(placement::Warmth::kRest).mean();
    Draws seconds(application_.draws->count());
    for (std::size_t d = 0; d < seconds.size(); ++d) {
      double alike = static_cast<double>(Alike(stage)) * usual;
      for (const Draws& more : stage.times.more_of_first) alike += more[d];
      seconds[d] = alike * At(stage.times.factor, d, 1);
      for (const Draws& task : stage.times.of_task) seconds[d] += task[d];
    }
    return QuantileOf(seconds, 0.5);
  }

  const Application& application_;
  const std::vector<std::size_t>& open_;
  placement::Placing placing_;
  Draws totals_;
  Draws stretches_;  // common factor, by draw
  Draws stretched_;  // totals_ with the factor and the growth
  std::vector<Draws> starts_;
  std::vector<Draws> ends_;
  std::vector<Draws> settled_;
  std::vector<double> busy_;                   // mean over the draws
  std::vector<placement::HostUse> use_;        // summed over the draws
  std::vector<std::vector<Draws>> task_ends_;  // by stage and task
  LastEnds owner_ends_;
  LastEnds group_ends_;
  std::vector<DrawnStage> drawn_;
};

}  // namespace

SecondsRange RangeOf(Draws seconds) {
  return {.median = QuantileOf(seconds, 0.5),
          .lower = QuantileOf(seconds, 0.05),
          .upper = QuantileOf(seconds, 0.95)};
}

std::vector<placement::SharedHost> HostsOf(const Cluster& cluster) {
  if (!cluster.node) return {};
  const double cores = cluster.node->cores > 0 ? cluster.node->cores : kUnknownCores;
  const std::size_t nodes = std::max<std::size_t>(cluster.nodes, 1);
  if (nodes > kNodesMax) return {Together(cores, static_cast<double>(nodes))};
  return std::vector(nodes, placement::SharedHost{.processors = cores, .nodes = 1});
}

placement::Resourcing RoomForAll() {
  constexpr double kCores = 1e9;
  return {.cluster = {.capacity = {.cores = kCores}, .policy = placement::Policy::kFifo}};
}

absl::StatusOr<ApplicationForecast> ForecastApplication(const Application& application) {
  if (application.draws == nullptr) return absl::InvalidArgumentError("a forecast needs draws");
  const std::vector<std::size_t> open = OpenStages(application);
  const std::uint64_t bunch = BunchOf(application, CountSets(OwnerOfStages(application)));
  placement::PlacingOptions options = {.warm_slots = application.warm_slots,
                                       .hosts = SimulatedHosts(application, open, bunch),
                                       .host_of_running = Of(open, application.host_of_running),
                                       .bunch = bunch};
  bool has_bounds = false;
  for (const std::size_t i : open) {
    const RemainingStage& stage = application.stages[i];
    options.has_own_times.push_back(stage.times.of_task.size() > stage.work.running.size() ||
                                    !stage.times.more_of_first.empty());
    has_bounds |= !stage.times.factor_of_bounds.empty();
  }
  const std::vector<placement::StageWork> work = WorkOf(application, open);
  auto placing = placement::Placing::Create(work, application.on, options);
  if (!placing.ok()) return placing.status();
  Futures futures(application, open, *std::move(placing));
  futures.Play(/*bounds=*/false);
  ApplicationForecast forecast = futures.Result();
  forecast.stages_placed = open.size();
  if (AreNodes(options.hosts) && open.size() <= kStatesStagesMax) {
    options.records_states = true;
    auto states = placement::Placing::Create(work, application.on, options);
    if (!states.ok()) return states.status();
    forecast.states = Futures(application, open, *std::move(states)).States();
    options.records_states = false;
  }
  if (!has_bounds) return forecast;
  auto again = placement::Placing::Create(work, application.on, std::move(options));
  if (!again.ok()) return again.status();
  Futures wide(application, open, *std::move(again));
  wide.Play(/*bounds=*/true);
  wide.WidenBounds(forecast);
  return forecast;
}

}  // namespace tidemark::dag
