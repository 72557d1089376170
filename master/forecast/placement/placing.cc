#include "master/forecast/placement/placing.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <functional>
#include <limits>
#include <utility>

namespace tidemark::placement {
namespace {

constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t kWarm = kNever - 1;  // has run a task, but not of these stages

// Tolerance for times (seconds) and amounts (cores). Smaller differences are rounding errors. Tasks
// whose ends differ by less are handled together.
constexpr double kSumTolerance = 1e-9;
// Limits processor time if a stage runs in bunches. The last waves run task by task, since they
// determine the end of the stage.
constexpr std::uint64_t kWavesPlayedMin = 4;

// The stages of one owner with pending tasks that may start, lowest index first.
class ReadyStages {
 public:
  void Add(std::uint32_t stage) {
    heap_.push_back(stage);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
  void Clear() { heap_.clear(); }
  bool empty() const { return heap_.empty(); }
  std::uint32_t first() const { return heap_.front(); }
  void PopFirst() {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
  }

 private:
  std::vector<std::uint32_t> heap_;
};

struct Slot {
  std::uint32_t ran = kNever;  // stage of the last task, kNever or kWarm
  std::uint32_t host = 0;
};

// Free slots by their last stage. A stage takes its own slots first, then other warm slots.
class FreeSlots {
 public:
  void Reset(std::size_t stages, std::size_t warm) {
    free_.resize(stages);
    for (auto& slots : free_) slots.clear();
    used_.clear();
    warm_ = warm;
  }
  void Put(std::uint32_t stage, std::uint32_t host, std::uint32_t count) {
    std::vector<Alike>& slots = free_[stage];
    if (slots.empty()) used_.push_back(stage);
    if (!slots.empty() && slots.back().host == host) {
      slots.back().count += count;
    } else {
      slots.push_back({host, count});
    }
  }
  // Takes `count` slots and returns the first. A slot with kNever is new. New and warm slots have
  // no host yet.
  Slot Take(std::uint32_t stage, std::uint32_t count) {
    const Slot first = TakeSome(stage, count);
    while (count > 0 && first.ran != kNever && TakeSome(stage, count).ran != kNever) {
    }
    return first;
  }

 private:
  struct Alike {
    std::uint32_t host = 0;
    std::uint64_t count = 0;
  };
  // Takes up to `count` slots with the same history, and subtracts their number from `count`.
  Slot TakeSome(std::uint32_t stage, std::uint32_t& count) {
    if (!free_[stage].empty()) return TakeFrom(stage, count);
    while (!used_.empty() && free_[used_.back()].empty()) used_.pop_back();
    if (!used_.empty()) return TakeFrom(used_.back(), count);
    if (warm_ == 0) return {};
    const auto taken = static_cast<std::uint32_t>(std::min<std::uint64_t>(warm_, count));
    warm_ -= taken;
    count -= taken;
    return {.ran = kWarm};
  }
  Slot TakeFrom(std::uint32_t stage, std::uint32_t& count) {
    Alike& alike = free_[stage].back();
    const Slot slot = {.ran = stage, .host = alike.host};
    const auto taken = static_cast<std::uint32_t>(std::min<std::uint64_t>(alike.count, count));
    count -= taken;
    alike.count -= taken;
    if (alike.count == 0) free_[stage].pop_back();
    return slot;
  }

  std::vector<std::vector<Alike>> free_;  // by the slots' last stage
  std::vector<std::uint32_t> used_;       // stages that had free slots when they were added
  std::size_t warm_ = 0;
};

double Clean(double seconds) {
  return seconds < kForever ? std::max(seconds, 0.0) : kForever;  // NaN becomes kForever.
}

// Counts the tasks on nodes. A task goes to the node with the fewest tasks and, among several such
// nodes, the fewest tasks of its stage.
class NodeTasks {
 public:
  void Reset(std::size_t nodes, std::size_t stages) {
    all_.assign(nodes, 0);
    of_stage_.resize(stages);
    for (auto& tasks : of_stage_) tasks.assign(nodes, 0);
  }
  bool empty() const { return all_.empty(); }
  std::uint32_t Emptiest(std::uint32_t stage) const {
    std::size_t best = 0;
    for (std::size_t node = 1; node < all_.size(); ++node) {
      if (std::pair(all_[node], of_stage_[stage][node]) <
          std::pair(all_[best], of_stage_[stage][best])) {
        best = node;
      }
    }
    return static_cast<std::uint32_t>(best);
  }
  void Add(std::uint32_t stage, std::uint32_t node, double tasks) {
    all_[node] += tasks;
    of_stage_[stage][node] += tasks;
  }

 private:
  std::vector<double> all_;                    // by node
  std::vector<std::vector<double>> of_stage_;  // by stage and node
};

// Returns the demands by stage, if any host has nodes.
std::vector<TaskDemand> DemandsOf(const std::vector<StageWork>& stages,
                                  const std::vector<SharedHost>& hosts) {
  std::vector<TaskDemand> demands;
  if (hosts.empty() || hosts.front().nodes == 0) return demands;
  for (const StageWork& stage : stages) demands.push_back(stage.demand);
  return demands;
}

HostUse Difference(const HostUse& after, const HostUse& before) {
  HostUse use = {.seconds = after.seconds - before.seconds, .work = after.work - before.work};
  for (std::size_t r = 0; r < kResources; ++r) use.bound[r] = after.bound[r] - before.bound[r];
  return use;
}

}  // namespace

class Placing::Impl {
 public:
  Impl(const std::vector<StageWork>& stages, const Resourcing& on, PlacingOptions options)
      : stages_(stages),
        on_(on),
        options_(std::move(options)),
        children_(ChildrenOf(ParentsOf(stages))),
        tasks_(options_.hosts, DemandsOf(stages, options_.hosts)),
        has_nodes_(!options_.hosts.empty() && options_.hosts.front().nodes > 0) {
    parents_.resize(stages_.size());
    std::size_t owners = 0;
    for (const auto& children : children_) {
      for (const std::size_t child : children) ++parents_[child];
    }
    for (const StageWork& stage : stages_) {
      owners = std::max(owners, stage.owner + 1);
      if (stage.pending > 0) least_cores_ = std::min(least_cores_, stage.container.cores);
    }
    options_.has_own_times.resize(stages_.size());
    options_.host_of_running.resize(stages_.size());
    options_.bunch = std::max<std::uint64_t>(options_.bunch, 1);
    ready_.resize(owners);
    used_.resize(owners);
    containers_.resize(owners);
    queue_used_.resize(on_.cluster.queue_shares.size());
    now_of_.resize(stages_.size());
  }

  const Placed& Run(SecondsOf seconds_of, LagOf lag_of, OnEnd on_end) {
    seconds_of_ = &seconds_of;
    lag_of_ = &lag_of;
    on_end_ = &on_end;
    if (stages_.size() == 1 && stages_[0].pending == 0 && options_.hosts.empty()) {
      return RunOfTasksThatRun();
    }
    Reset();
    for (std::uint32_t i = 0; i < stages_.size(); ++i) {
      for (std::uint32_t n = 0; n < stages_[i].running.size(); ++n) {
        const auto& hosts = options_.host_of_running[i];
        const std::uint32_t host = !nodes_.empty()    ? nodes_.Emptiest(i)
                                   : n < hosts.size() ? hosts[n]
                                                      : 0;
        if (!slots_on_.empty()) ++slots_on_[host].slots;
        Start({.stage = i, .task = n}, host, 1, 1);
      }
    }
    std::make_heap(slots_on_.begin(), slots_on_.end(), std::greater<>());
    for (std::uint32_t i = 0; i < stages_.size(); ++i) {
      // A running stage may start more tasks.
      if (now_of_[i].running > 0) Admit(i);
    }
    for (std::uint32_t i = 0; i < stages_.size(); ++i) {
      if (parents_[i] == 0) Reach(i);
    }
    Settle();
    Dispatch();
    if (options_.records_states) NoteState();
    do {
      while (const auto event = tasks_.Next(INFINITY)) Step(*event);
    } while (BeginHeld());
    result_.seconds = now_;
    const std::vector<HostUse>& use = tasks_.UseUntil(now_);
    for (std::size_t i = 0; i < use.size(); ++i) result_.stages[i].use = use[i];
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      if (now_of_[i].pending == 0 && now_of_[i].running == 0) continue;
      result_.stages[i].end = result_.stages[i].settled = result_.seconds = kForever;
    }
    for (PlacedStage& stage : result_.stages) stage.start = std::max(stage.start, 0.0);
    return result_;
  }

  const std::vector<StageWork>& stages() const { return stages_; }

 private:
  // The state of a stage in this simulation.
  struct StageNow {
    std::uint64_t pending = 0;
    std::uint64_t bunches = 0;  // started bunches
    std::uint64_t running = 0;
    std::uint32_t waits_for = 0;  // unfinished parents
    bool is_admitted = false;     // whether its tasks may start
    bool is_full = false;  // whether at_once_max is reached, so that pending tasks are not ready
    std::vector<std::uint32_t> held;  // tasks that hold a slot and wait for parents
  };
  struct HostSlots {
    std::size_t slots = 0;
    std::uint32_t host = 0;
    auto operator<=>(const HostSlots&) const = default;
  };
  struct Task {
    std::uint32_t stage = 0;
    std::uint32_t host = 0;
    std::uint32_t wide = 1;    // number of concurrent tasks
    std::uint64_t number = 0;  // index in its stage
    TaskSeconds seconds;       // set for a held task
  };

  void Reset() {
    now_ = 0;
    tasks_.Clear();
    started_.clear();
    settled_.clear();
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      StageNow& stage = now_of_[i];
      stage.pending = stages_[i].pending;
      stage.running = stage.bunches = 0;
      stage.waits_for = parents_[i];
      stage.is_admitted = stage.is_full = false;
      stage.held.clear();
    }
    pending_ready_ = 0;
    for (ReadyStages& ready : ready_) ready.Clear();
    std::fill(used_.begin(), used_.end(), Resources{});
    std::fill(containers_.begin(), containers_.end(), 0);
    std::fill(queue_used_.begin(), queue_used_.end(), Resources{});
    free_ = on_.cluster.capacity;
    slots_.Reset(stages_.size(), options_.warm_slots);
    slots_on_.clear();
    nodes_.Reset(has_nodes_ ? options_.hosts.size() : 0, stages_.size());
    for (std::uint32_t host = 0; host < options_.hosts.size() && !has_nodes_; ++host) {
      slots_on_.push_back({0, host});
    }
    result_.stages.assign(stages_.size(), {.start = -1, .use = {}});
    result_.states.clear();
    state_ = {};
  }

  // Simulates one stage without pending tasks. No end depends on another end, so the order is
  // irrelevant.
  const Placed& RunOfTasksThatRun() {
    result_.stages.assign(1, {});
    PlacedStage& stage = result_.stages[0];
    stage.settled = Clean((*lag_of_)(0));
    for (std::uint64_t n = 0; n < stages_[0].running.size(); ++n) {
      const double end = Clean((*seconds_of_)({.task = n}).total);
      (*on_end_)(0, n, end);
      stage.end = std::max(stage.end, end);
      stage.busy += end;
    }
    if (!stages_[0].running.empty()) stage.settled = stage.end;
    result_.seconds = stage.settled;
    return result_;
  }

  // Handles the end of the stage's last parent.
  void Reach(std::uint32_t index) {
    StageNow& stage = now_of_[index];
    for (const std::uint32_t id : std::exchange(stage.held, {}))
      BeginWork(id, started_[id].seconds);
    if (stage.is_admitted) {
      if (stage.pending == 0 && stage.running == 0) settled_.push_back(index);
      return;
    }
    const double lag = Clean((*lag_of_)(index));
    if (lag > 0) {
      tasks_.WakeUp(index, now_ + lag);
    } else {
      Arrive(index);
    }
  }

  void Arrive(std::uint32_t index) {
    if (now_of_[index].pending == 0) {
      settled_.push_back(index);
    } else {
      Admit(index);
    }
  }

  void Admit(std::uint32_t index) {
    StageNow& stage = now_of_[index];
    stage.is_admitted = true;
    stage.is_full = stage.running >= stages_[index].at_once_max;
    if (!stage.is_full) MakeReady(index);
  }

  void MakeReady(std::uint32_t index) {
    if (now_of_[index].pending == 0) return;
    ready_[stages_[index].owner].Add(index);
    pending_ready_ += now_of_[index].pending;
  }

  void Settle() {
    while (!settled_.empty()) {
      const std::uint32_t stage = settled_.back();
      settled_.pop_back();
      result_.stages[stage].settled = now_;
      for (const std::size_t child : children_[stage]) {
        if (--now_of_[child].waits_for == 0) Reach(static_cast<std::uint32_t>(child));
      }
    }
  }

  void Count(std::size_t stage, double containers) {
    const Resources change = stages_[stage].container * containers;
    free_ = free_ - change;
    if (on_.cluster.policy == Policy::kFifo) return;  // FIFO needs no usage per owner.
    const std::size_t owner = stages_[stage].owner;
    used_[owner] = used_[owner] + change;
    containers_[owner] += containers * static_cast<double>(stages_[stage].tasks_per_container);
    if (owner < on_.queue_of_owner.size() && on_.queue_of_owner[owner] < queue_used_.size()) {
      Resources& used = queue_used_[on_.queue_of_owner[owner]];
      used = used + change;
    }
  }

  void CountOnNode(std::uint32_t stage, std::uint32_t node, double containers) {
    if (nodes_.empty()) return;
    nodes_.Add(stage, node, containers * static_cast<double>(stages_[stage].tasks_per_container));
  }

  // Starts `wide` concurrent tasks. Each is followed by others until it represents `in_row` tasks.
  void Start(const TaskStart& start, std::uint32_t host, std::uint32_t wide, double in_row) {
    const auto index = static_cast<std::uint32_t>(start.stage);
    Count(start.stage, wide);
    CountOnNode(index, host, wide);
    StageNow& stage = now_of_[index];
    stage.running += wide;
    PlacedStage& placed = result_.stages[index];
    if (placed.start < 0) placed.start = now_;
    placed.busy -= wide * now_;
    TaskSeconds seconds = (*seconds_of_)(start);
    seconds.total = Clean(seconds.total * in_row);
    seconds.delay = std::min(Clean(seconds.delay * in_row), seconds.total);
    const auto id = static_cast<std::uint32_t>(started_.size());
    started_.push_back(
        {.stage = index, .host = host, .wide = wide, .number = start.task, .seconds = seconds});
    if (stage.waits_for > 0 && stages_[index].waits_in_slots) {
      stage.held.push_back(id);
    } else {
      BeginWork(id, seconds);
    }
  }

  // Starts the held tasks, which would otherwise wait forever for tasks that need their slots. An
  // engine would preempt them. Returns true if there were any.
  bool BeginHeld() {
    bool has_begun = false;
    for (StageNow& stage : now_of_) {
      for (const std::uint32_t id : std::exchange(stage.held, {})) {
        BeginWork(id, started_[id].seconds);
        has_begun = true;
      }
    }
    return has_begun;
  }

  void BeginWork(std::uint32_t id, const TaskSeconds& seconds) {
    const Task& task = started_[id];
    tasks_.Begin({.task = id,
                  .host = task.host,
                  .at = now_,
                  .delay = seconds.delay,
                  .seconds = seconds.total - seconds.delay,
                  .stage = task.stage,
                  .wide = static_cast<double>(task.wide) *
                          static_cast<double>(stages_[task.stage].tasks_per_container)});
  }

  // If the set of running stages has changed, ends the current state and starts a new one.
  void NoteState() {
    std::vector<PlacedState::Running> running;
    for (std::size_t i = 0; i < now_of_.size(); ++i) {
      if (now_of_[i].running > 0) running.push_back({.stage = i, .use = {}});
    }
    const bool is_same =
        std::equal(running.begin(), running.end(), state_.stages.begin(), state_.stages.end(),
                   [](const auto& a, const auto& b) { return a.stage == b.stage; });
    if (is_same) return;
    const std::vector<HostUse>& use = tasks_.UseUntil(now_);
    if (use.empty()) return;
    state_.end = now_;
    for (PlacedState::Running& each : state_.stages) {
      each.use = Difference(use[each.stage], each.use);
    }
    if (!state_.stages.empty() && state_.end > state_.start) {
      result_.states.push_back(std::move(state_));
    }
    for (PlacedState::Running& each : running) each.use = use[each.stage];
    state_ = {.start = now_, .stages = std::move(running)};
  }

  double Rank(std::size_t owner) const {
    switch (on_.cluster.policy) {
      case Policy::kFifo:
        return 0;
      case Policy::kFair:
        return containers_[owner];
      case Policy::kDrf:
        return DominantShare(used_[owner], on_.cluster.capacity);
      case Policy::kCapacity: {
        const std::size_t queue = on_.queue_of_owner[owner];
        return DominantShare(queue_used_[queue], on_.cluster.capacity) /
               on_.cluster.queue_shares[queue];
      }
    }
    return 0;
  }

  // Returns the owner of the next task, or the number of owners if no task fits.
  std::size_t NextOwner() const {
    std::size_t best = ready_.size();
    double least = INFINITY;
    if (least_cores_ > free_.cores + kSumTolerance) return best;
    for (std::size_t owner = 0; owner < ready_.size(); ++owner) {
      if (ready_[owner].empty() || !FitsNow(ready_[owner].first())) continue;
      const double rank = Rank(owner);
      if (rank >= least) continue;
      least = rank;
      best = owner;
      if (on_.cluster.policy == Policy::kFifo) break;
    }
    return best;
  }

  bool FitsNow(std::size_t stage) const {
    const Resources& container = stages_[stage].container;
    return container.cores <= free_.cores + kSumTolerance &&
           container.memory_bytes <= free_.memory_bytes + 1;
  }

  void Dispatch() {
    while (pending_ready_ > 0) {
      const std::size_t owner = NextOwner();
      if (owner == ready_.size()) return;
      const std::uint32_t index = ready_[owner].first();
      StageNow& stage = now_of_[index];
      std::uint32_t wide = 1;
      std::uint64_t in_row = 1;
      const bool is_bunched = options_.bunch > 1 && !options_.has_own_times[index];
      if (is_bunched) {
        wide = WidthOf(index);
        const std::uint64_t waves = stage.pending / (kWavesPlayedMin * (stage.running + wide));
        in_row =
            std::clamp<std::uint64_t>(options_.bunch / wide, 1, std::max<std::uint64_t>(waves, 1));
      }
      const Slot slot = slots_.Take(index, wide);
      const std::uint64_t taken = wide * in_row;
      const std::uint64_t number =
          stages_[index].running.size() + (stages_[index].pending - stage.pending);
      pending_ready_ -= taken;
      stage.pending -= taken;
      stage.is_full = stage.running + wide >= stages_[index].at_once_max;
      if (stage.pending == 0 || stage.is_full) ready_[owner].PopFirst();
      if (stage.is_full) pending_ready_ -= stage.pending;
      const TaskStart start = {.stage = index,
                               .task = number,
                               .left = stage.pending,
                               .place = is_bunched ? stage.bunches++ : stage.pending,
                               .warmth = WarmthOf(index, slot.ran)};
      Start(start, HostOf(index, slot), wide, static_cast<double>(in_row));
    }
  }

  // Returns the number of concurrent tasks of the stage that are simulated as one.
  std::uint32_t WidthOf(std::uint32_t index) const {
    const StageWork& work = stages_[index];
    const StageNow& stage = now_of_[index];
    double room = static_cast<double>(std::min(options_.bunch, stage.pending));
    room = std::min(room, static_cast<double>(work.at_once_max - stage.running));
    if (work.container.cores > 0) {
      room = std::min(room, (free_.cores + kSumTolerance) / work.container.cores);
    }
    if (work.container.memory_bytes > 0) {
      room = std::min(room, (free_.memory_bytes + 1) / work.container.memory_bytes);
    }
    return static_cast<std::uint32_t>(std::clamp(room, 1.0, 1e9));
  }

  std::uint32_t HostOf(std::uint32_t stage, const Slot& slot) {
    if (!nodes_.empty()) return nodes_.Emptiest(stage);
    if (slots_on_.empty()) return 0;
    if (slot.ran != kNever && slot.ran != kWarm) return slot.host;
    std::pop_heap(slots_on_.begin(), slots_on_.end(), std::greater<>());
    HostSlots& emptiest = slots_on_.back();
    ++emptiest.slots;
    const std::uint32_t host = emptiest.host;
    std::push_heap(slots_on_.begin(), slots_on_.end(), std::greater<>());
    return host;
  }

  // Returns the warmth. A task is in the last wave if fewer tasks are pending than running.
  Warmth WarmthOf(std::uint32_t index, std::uint32_t ran) const {
    if (ran == kNever) return Warmth::kFresh;
    if (ran != index) return Warmth::kFirst;
    return now_of_[index].pending < now_of_[index].running ? Warmth::kLast : Warmth::kRest;
  }

  void Step(const RunningTasks::Event& first) {
    now_ = first.at;
    Happen(first);
    while (const auto event = tasks_.Next(now_ + kSumTolerance)) Happen(*event);
    Settle();
    Dispatch();
    if (options_.records_states) NoteState();
  }

  void Happen(const RunningTasks::Event& event) {
    if (event.is_end) {
      End(event.number);
    } else {
      Arrive(event.number);
    }
  }

  void End(std::uint32_t id) {
    const Task& task = started_[id];
    StageNow& stage = now_of_[task.stage];
    (*on_end_)(task.stage, task.number, now_);
    Count(task.stage, -static_cast<double>(task.wide));
    CountOnNode(task.stage, task.host, -static_cast<double>(task.wide));
    slots_.Put(task.stage, task.host, task.wide);
    stage.running -= task.wide;
    result_.stages[task.stage].busy += task.wide * now_;
    if (stage.is_full && stage.running < stages_[task.stage].at_once_max) {
      stage.is_full = false;
      MakeReady(task.stage);
    }
    if (stage.running > 0 || stage.pending > 0) return;
    result_.stages[task.stage].end = now_;
    if (stage.waits_for == 0) settled_.push_back(task.stage);
  }

  const std::vector<StageWork> stages_;
  const Resourcing on_;
  PlacingOptions options_;
  const std::vector<std::vector<std::size_t>> children_;
  std::vector<std::uint32_t> parents_;  // number of parents
  double least_cores_ = INFINITY;       // smallest container that may have to wait

  SecondsOf* seconds_of_ = nullptr;  // argument of the current run
  LagOf* lag_of_ = nullptr;
  OnEnd* on_end_ = nullptr;
  double now_ = 0;
  RunningTasks tasks_;
  std::vector<Task> started_;
  std::vector<std::uint32_t> settled_;
  std::vector<StageNow> now_of_;
  std::uint64_t pending_ready_ = 0;  // tasks that can start
  std::vector<ReadyStages> ready_;   // by owner
  std::vector<Resources> used_;
  std::vector<double> containers_;
  std::vector<Resources> queue_used_;
  Resources free_;
  FreeSlots slots_;
  const bool has_nodes_;             // whether its hosts are nodes
  NodeTasks nodes_;                  // empty if there are no nodes
  std::vector<HostSlots> slots_on_;  // by host; a heap once the running tasks have started
  PlacedState state_;                // current state, with the uses before its start
  Placed result_;
};

absl::StatusOr<Placing> Placing::Create(const std::vector<StageWork>& stages, const Resourcing& on,
                                        PlacingOptions options) {
  if (absl::Status ok = Check(stages, on); !ok.ok()) return ok;
  return Placing(std::make_unique<Impl>(stages, on, std::move(options)));
}

Placing::Placing(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Placing::Placing(Placing&&) noexcept = default;
Placing::~Placing() = default;

const Placed& Placing::Run(SecondsOf seconds_of, LagOf lag_of, OnEnd on_end) {
  return impl_->Run(seconds_of, lag_of, on_end);
}

const Placed& Placing::Run(SecondsOf seconds_of) {
  return impl_->Run(
      seconds_of,
      [this](std::size_t stage) {
        const StageWork& work = impl_->stages()[stage];
        return work.pending > 0 ? work.lag : 0;
      },
      [](std::size_t, std::uint64_t, double) {});
}

}  // namespace tidemark::placement
