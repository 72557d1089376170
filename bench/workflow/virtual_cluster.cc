#include "bench/workflow/virtual_cluster.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <tuple>

namespace tidemark::bench {
namespace {

struct Slot {
  std::optional<std::size_t> last_stage;
};

class VirtualCluster {
 public:
  VirtualCluster(const std::vector<MeasuredStage>& stages, std::size_t slots,
                 placement::Policy policy)
      : stages_(stages), policy_(policy), slots_(slots) {
    trace_.slots = static_cast<double>(slots);
    trace_.policy = policy;
    for (const MeasuredStage& stage : stages) {
      trace_.stages.push_back({.name = stage.name, .parents = stage.parents, .owner = stage.owner});
      trace_.owners = std::max(trace_.owners, stage.owner + 1);
    }
    started_.resize(stages.size());
    ended_.resize(stages.size());
    running_of_owner_.resize(trace_.owners);
    for (std::size_t slot = 0; slot < slots; ++slot) idle_.push_back(slot);
    trace_.executors.resize(slots);
  }

  Trace Run() {
    Dispatch();
    while (!ends_.empty()) {
      now_ = std::get<0>(ends_.top());
      while (!ends_.empty() && std::get<0>(ends_.top()) <= now_) {
        const auto [at, slot, stage] = ends_.top();
        ends_.pop();
        ++ended_[stage];
        --running_of_owner_[stages_[stage].owner];
        idle_.push_back(slot);
      }
      Dispatch();
    }
    Finish(trace_);
    return std::move(trace_);
  }

 private:
  bool CanStart(std::size_t stage) const {
    if (started_[stage] == stages_[stage].seconds.size()) return false;
    return std::all_of(stages_[stage].parents.begin(), stages_[stage].parents.end(),
                       [this](std::size_t p) { return ended_[p] == stages_[p].seconds.size(); });
  }

  std::optional<std::size_t> NextStage() const {
    std::optional<std::size_t> best;
    const auto rank = [this](std::size_t stage) {
      const std::size_t owner = stages_[stage].owner;
      const std::size_t turn = policy_ == placement::Policy::kFifo ? 0 : running_of_owner_[owner];
      return std::tuple(turn, owner, stage);
    };
    for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
      if (CanStart(stage) && (!best || rank(stage) < rank(*best))) best = stage;
    }
    return best;
  }

  // Prefers a slot that has run a task of the stage, then one that has run any task, and then a new
  // one.
  std::size_t TakeSlot(std::size_t stage) {
    const auto coldness = [&](std::size_t slot) {
      const auto& last = slots_[slot].last_stage;
      return last == stage ? 0 : last.has_value() ? 1 : 2;
    };
    const auto slot =
        std::min_element(idle_.begin(), idle_.end(), [&](std::size_t a, std::size_t b) {
          return std::pair(coldness(a), a) < std::pair(coldness(b), b);
        });
    const std::size_t taken = *slot;
    idle_.erase(slot);
    return taken;
  }

  void Dispatch() {
    while (!idle_.empty()) {
      const std::optional<std::size_t> stage = NextStage();
      if (!stage) return;
      const std::size_t slot = TakeSlot(*stage);
      std::optional<std::size_t>& last = slots_[slot].last_stage;
      last = *stage;
      const double end = now_ + stages_[*stage].seconds[started_[*stage]++];
      ++running_of_owner_[stages_[*stage].owner];
      trace_.stages[*stage].tasks.push_back({now_, end, static_cast<std::uint32_t>(slot)});
      ends_.emplace(end, slot, *stage);
    }
  }

  const std::vector<MeasuredStage>& stages_;
  placement::Policy policy_;
  std::vector<Slot> slots_;
  std::vector<std::size_t> idle_;
  std::vector<std::size_t> started_;
  std::vector<std::size_t> ended_;
  std::vector<std::size_t> running_of_owner_;
  using End = std::tuple<double, std::size_t, std::size_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  double now_ = 0;
  Trace trace_;
};

}  // namespace

Trace RunOnVirtualCluster(const std::vector<MeasuredStage>& stages, std::size_t slots,
                          placement::Policy policy) {
  return VirtualCluster(stages, slots, policy).Run();
}

}  // namespace tidemark::bench
