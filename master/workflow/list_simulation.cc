#include "master/workflow/list_simulation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tidemark::workflow {
namespace {

constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t kWarm = kNever - 1;  // has run something, but no stage of these

// Instants that differ by less are one: tasks that end together are followed together.
constexpr double kSameInstant = 1e-9;

struct TaskEnd {
  double at = 0;
  std::uint32_t stage = 0;
};
bool LaterFirst(const TaskEnd& a, const TaskEnd& b) {
  return a.at > b.at || (a.at == b.at && a.stage > b.stage);
}

// Those stages of one owner that have pending tasks and may start them, lowest index first.
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

// Free slots by what they ran last; a stage takes its own first, then others that are warm.
class FreeSlots {
 public:
  void Reset(std::size_t stages, std::size_t warm) {
    own_.assign(stages, 0);
    used_.clear();
    warm_ = warm;
    total_ = warm;
  }
  void Put(std::uint32_t stage) {
    if (own_[stage]++ == 0) used_.push_back(stage);
    ++total_;
  }
  // What the slot ran before; kNever: a new one.
  std::uint32_t Take(std::uint32_t stage) {
    if (total_ == 0) return kNever;
    --total_;
    if (own_[stage] > 0) {
      --own_[stage];
      return stage;
    }
    while (!used_.empty() && own_[used_.back()] == 0) used_.pop_back();
    if (!used_.empty()) {
      --own_[used_.back()];
      return used_.back();
    }
    --warm_;
    return kWarm;
  }

 private:
  std::vector<std::uint32_t> own_;   // by stage
  std::vector<std::uint32_t> used_;  // stages with free slots, some perhaps without by now
  std::size_t warm_ = 0;
  std::size_t total_ = 0;
};

}  // namespace

class ListSimulation::Impl {
 public:
  Impl(const std::vector<StageWork>& stages, const Resourcing& on, std::size_t warm_slots)
      : stages_(stages),
        on_(on),
        warm_slots_(warm_slots),
        children_(ChildrenOf(ParentsOf(stages))) {
    parents_.resize(stages_.size());
    std::size_t owners = 0;
    for (const auto& children : children_) {
      for (const std::size_t child : children) ++parents_[child];
    }
    for (const StageWork& stage : stages_) {
      owners = std::max(owners, stage.owner + 1);
      if (stage.pending > 0) least_cores_ = std::min(least_cores_, stage.container.cores);
    }
    ready_.resize(owners);
    used_.resize(owners);
    containers_.resize(owners);
    queue_used_.resize(on_.cluster.queue_shares.size());
  }

  const Simulated& Run(TaskSeconds task_seconds, RemainingSeconds remaining) {
    Reset();
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      for (std::size_t n = 0; n < stages_[i].running.size(); ++n) {
        Occupy(i, std::max(remaining(i, n), 0.0));
      }
    }
    for (std::uint32_t i = 0; i < stages_.size(); ++i) {
      // What runs already waits for nobody (reduce tasks that started before the last map task).
      if (running_[i] > 0) Admit(i);
    }
    for (std::uint32_t i = 0; i < stages_.size(); ++i) {
      if (parents_[i] == 0) Reach(i);
    }
    Settle();
    Dispatch(task_seconds);
    while (!ends_.empty() || !lags_.empty()) Step(task_seconds);
    result_.seconds = now_;
    for (SimulatedStage& stage : result_.stages) stage.start = std::max(stage.start, 0.0);
    return result_;
  }

 private:
  void Reset() {
    now_ = 0;
    ends_.clear();
    lags_.clear();
    settled_.clear();
    waits_for_ = parents_;
    pending_.resize(stages_.size());
    running_.assign(stages_.size(), 0);
    admitted_.assign(stages_.size(), false);
    for (std::size_t i = 0; i < stages_.size(); ++i) pending_[i] = stages_[i].pending;
    pending_ready_ = 0;
    for (ReadyStages& ready : ready_) ready.Clear();
    std::fill(used_.begin(), used_.end(), schedule::Resources{});
    std::fill(containers_.begin(), containers_.end(), 0);
    std::fill(queue_used_.begin(), queue_used_.end(), schedule::Resources{});
    free_ = on_.cluster.capacity;
    slots_.Reset(stages_.size(), warm_slots_);
    result_.stages.assign(stages_.size(), {.start = -1});
  }

  void Reach(std::uint32_t stage) {
    if (pending_[stage] == 0 && running_[stage] == 0) {
      settled_.push_back(stage);
    } else if (admitted_[stage]) {
      return;
    } else if (stages_[stage].lag > 0) {
      lags_.push_back({now_ + stages_[stage].lag, stage});
      std::push_heap(lags_.begin(), lags_.end(), LaterFirst);
    } else {
      Admit(stage);
    }
  }

  void Admit(std::uint32_t stage) {
    admitted_[stage] = true;
    if (pending_[stage] == 0) return;
    ready_[stages_[stage].owner].Add(stage);
    pending_ready_ += pending_[stage];
  }

  void Settle() {
    while (!settled_.empty()) {
      const std::uint32_t stage = settled_.back();
      settled_.pop_back();
      for (const std::size_t child : children_[stage]) {
        if (--waits_for_[child] == 0) Reach(static_cast<std::uint32_t>(child));
      }
    }
  }

  void Count(std::size_t stage, double containers) {
    const schedule::Resources change = stages_[stage].container * containers;
    const std::size_t owner = stages_[stage].owner;
    free_ = free_ - change;
    used_[owner] = used_[owner] + change;
    containers_[owner] += containers;
    if (owner < on_.queue_of_owner.size() && on_.queue_of_owner[owner] < queue_used_.size()) {
      schedule::Resources& used = queue_used_[on_.queue_of_owner[owner]];
      used = used + change;
    }
  }

  void Occupy(std::size_t stage, double seconds) {
    Count(stage, 1);
    ++running_[stage];
    SimulatedStage& simulated = result_.stages[stage];
    if (simulated.start < 0) simulated.start = now_;
    ends_.push_back({now_ + seconds, static_cast<std::uint32_t>(stage)});
    std::push_heap(ends_.begin(), ends_.end(), LaterFirst);
  }

  double Rank(std::size_t owner) const {
    switch (on_.cluster.policy) {
      case schedule::Policy::kFifo:
        return 0;
      case schedule::Policy::kFair:
        return containers_[owner];
      case schedule::Policy::kDrf:
        return schedule::DominantShare(used_[owner], on_.cluster.capacity);
      case schedule::Policy::kCapacity: {
        const std::size_t queue = on_.queue_of_owner[owner];
        return schedule::DominantShare(queue_used_[queue], on_.cluster.capacity) /
               on_.cluster.queue_shares[queue];
      }
    }
    return 0;
  }

  // Whose first stage is next; the number of owners when nobody's fits.
  std::size_t NextOwner() const {
    std::size_t best = ready_.size();
    double least = INFINITY;
    if (least_cores_ > free_.cores + kSameInstant) return best;
    for (std::size_t owner = 0; owner < ready_.size(); ++owner) {
      if (ready_[owner].empty() || !FitsNow(ready_[owner].first())) continue;
      const double rank = Rank(owner);
      if (rank >= least) continue;
      least = rank;
      best = owner;
      if (on_.cluster.policy == schedule::Policy::kFifo) break;
    }
    return best;
  }

  bool FitsNow(std::size_t stage) const {
    const schedule::Resources& container = stages_[stage].container;
    return container.cores <= free_.cores + kSameInstant &&
           container.memory_bytes <= free_.memory_bytes + 1;
  }

  void Dispatch(TaskSeconds task_seconds) {
    while (pending_ready_ > 0) {
      const std::size_t owner = NextOwner();
      if (owner == ready_.size()) return;
      const std::uint32_t stage = ready_[owner].first();
      const std::uint32_t before = slots_.Take(stage);
      --pending_ready_;
      if (--pending_[stage] == 0) ready_[owner].PopFirst();
      const TaskStart start = {.stage = stage,
                               .left = pending_[stage],
                               .running = running_[stage],
                               .warmth = WarmthOf(stage, before)};
      Occupy(stage, std::max(task_seconds(start), 0.0));
    }
  }

  // A task is among the last of its stage when those that run will not all find a follower.
  Warmth WarmthOf(std::uint32_t stage, std::uint32_t before) const {
    if (before == kNever) return Warmth::kFresh;
    if (before != stage) return Warmth::kFirst;
    return pending_[stage] < running_[stage] ? Warmth::kLast : Warmth::kRest;
  }

  void Step(TaskSeconds task_seconds) {
    now_ = INFINITY;
    if (!ends_.empty()) now_ = ends_.front().at;
    if (!lags_.empty()) now_ = std::min(now_, lags_.front().at);
    while (!ends_.empty() && ends_.front().at <= now_ + kSameInstant) {
      std::pop_heap(ends_.begin(), ends_.end(), LaterFirst);
      const std::uint32_t stage = ends_.back().stage;
      ends_.pop_back();
      Count(stage, -1);
      slots_.Put(stage);
      if (--running_[stage] > 0 || pending_[stage] > 0) continue;
      result_.stages[stage].end = now_;
      if (waits_for_[stage] == 0) settled_.push_back(stage);
    }
    while (!lags_.empty() && lags_.front().at <= now_ + kSameInstant) {
      std::pop_heap(lags_.begin(), lags_.end(), LaterFirst);
      const std::uint32_t stage = lags_.back().stage;
      lags_.pop_back();
      Admit(stage);
    }
    Settle();
    Dispatch(task_seconds);
  }

  std::vector<StageWork> stages_;
  Resourcing on_;
  std::size_t warm_slots_;
  std::vector<std::vector<std::size_t>> children_;
  std::vector<std::uint32_t> parents_;  // number of
  double least_cores_ = INFINITY;       // of a container that may have to wait

  double now_ = 0;
  std::vector<TaskEnd> ends_;  // heap
  std::vector<TaskEnd> lags_;  // heap: instants at which stages become ready
  std::vector<std::uint32_t> settled_;
  std::vector<std::uint32_t> waits_for_;
  std::vector<std::uint64_t> pending_;
  std::vector<std::uint64_t> running_;
  std::vector<bool> admitted_;       // may start its tasks
  std::uint64_t pending_ready_ = 0;  // tasks that could start
  std::vector<ReadyStages> ready_;   // by owner
  std::vector<schedule::Resources> used_;
  std::vector<double> containers_;
  std::vector<schedule::Resources> queue_used_;
  schedule::Resources free_;
  FreeSlots slots_;
  Simulated result_;
};

absl::StatusOr<ListSimulation> ListSimulation::Create(const std::vector<StageWork>& stages,
                                                      const Resourcing& on,
                                                      std::size_t warm_slots) {
  if (absl::Status ok = Check(stages, on); !ok.ok()) return ok;
  return ListSimulation(std::make_unique<Impl>(stages, on, warm_slots));
}

ListSimulation::ListSimulation(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ListSimulation::ListSimulation(ListSimulation&&) noexcept = default;
ListSimulation::~ListSimulation() = default;

const Simulated& ListSimulation::Run(TaskSeconds task_seconds, RemainingSeconds remaining) {
  return impl_->Run(task_seconds, remaining);
}

}  // namespace tidemark::workflow
