#include "bench/workflow/state_estimate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tidemark::papers {
namespace {

using placement::Resourcing;
using placement::StageWork;

// Smaller sums of fractions of tasks are rounding errors.
constexpr double kRounding = 1e-9;

// The remaining work of one stage, in tasks, for eq. 7 and eq. 8.
class Left {
 public:
  Left(const StageWork& stage, double task_seconds)
      : task_seconds_(task_seconds),
        pending_(static_cast<double>(stage.pending)),
        running_(static_cast<double>(stage.running.size())) {
    for (const double elapsed : stage.running) {
      // A task that outlasts its stage's task time is about to end.
      const double left = task_seconds > 0 ? std::max(1 - elapsed / task_seconds, 0.0) : 0;
      youngest_ = std::max(youngest_, left);
      running_work_ += left;
    }
  }

  std::uint64_t tasks() const {
    return static_cast<std::uint64_t>(std::ceil(pending_ + running_ - kRounding));
  }

  // Returns t_stage at this degree of parallelism.
  double Seconds(std::uint64_t degree, StageTimeForm form) const {
    const double slots = static_cast<double>(degree);
    if (form == StageTimeForm::kPrinted) {
      const double waves = std::ceil(pending_ / slots - kRounding);
      return task_seconds_ * ((running_ > 0 ? youngest_ : 0) + waves);
    }
    const double longest = pending_ > kRounding ? 1 : youngest_;
    return task_seconds_ * std::max((pending_ + running_work_) / slots, longest);
  }

  void Advance(double seconds, std::uint64_t degree, StageTimeForm form) {
    if (task_seconds_ <= 0) return;
    const double waves = seconds / task_seconds_;
    const double slots = static_cast<double>(degree);
    form == StageTimeForm::kPrinted ? AdvanceWaves(waves, slots) : AdvanceWork(waves, slots);
  }

 private:
  void AdvanceWaves(double waves, double slots) {
    double at = running_ > 0 ? youngest_ - waves : -waves;
    // A new wave starts whenever the running wave has ended. A wave that would start exactly now
    // starts in the next state, with the slots of that state.
    while (at < -kRounding && pending_ > kRounding) {
      running_ = std::min(slots, pending_);
      pending_ -= running_;
      at += 1;
    }
    youngest_ = std::max(at, 0.0);
    if (youngest_ < kRounding) running_ = 0;
    running_work_ = running_ * youngest_;
  }

  void AdvanceWork(double waves, double slots) {
    double work = std::max(pending_ + running_work_ - waves * slots, 0.0);
    const double started = std::min(pending_, std::max(waves * slots - running_work_, 0.0));
    pending_ = std::max(pending_ - started, 0.0);
    if (pending_ > kRounding) {
      running_ = slots;
      youngest_ = 1;
    } else {
      youngest_ = std::max((started > 0 ? 1 : youngest_) - waves, 0.0);
      work = std::max(work, youngest_);
      running_ = std::max(std::ceil(work - kRounding), 1.0);
    }
    running_work_ = std::max(work - pending_, 0.0);
  }

  double task_seconds_;
  double pending_;           // N_rm
  double running_;           // started tasks
  double running_work_ = 0;  // remaining work of the running tasks, in tasks
  double youngest_ = 0;      // largest 1 - p of the running tasks
};

class Estimation {
 public:
  Estimation(const std::vector<StageWork>& stages, std::span<const double> task_seconds,
             const Resourcing& on, StageTimeForm form)
      : stages_(stages),
        on_(on),
        form_(form),
        children_(placement::ChildrenOf(placement::ParentsOf(stages))) {
    estimate_.ends.resize(stages.size());
    for (std::size_t i = 0; i < stages.size(); ++i) left_.emplace_back(stages[i], task_seconds[i]);
  }

  absl::StatusOr<StateEstimate> Run() {
    FindReady();
    while (!ready_.empty() || !lagging_.empty()) {
      if (absl::Status ok = NextState(); !ok.ok()) return ok;
    }
    estimate_.seconds = now_;
    return std::move(estimate_);
  }

 private:
  void FindReady() {
    waits_for_.resize(stages_.size());
    for (const auto& children : children_) {
      for (const std::size_t child : children) ++waits_for_[child];
    }
    std::vector<std::size_t> roots;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      if (waits_for_[i] == 0) roots.push_back(i);
    }
    for (const std::size_t root : roots) Reach(root);
    Settle();
  }

  // Handles the end of the stage's last parent.
  void Reach(std::size_t stage) {
    if (left_[stage].tasks() == 0) {
      ended_.push_back(stage);
    } else if (stages_[stage].lag > 0 && stages_[stage].running.empty()) {
      lagging_.emplace_back(now_ + stages_[stage].lag, stage);
    } else {
      AddReady(stage);
    }
  }

  void AddReady(std::size_t stage) {
    const auto order = [this](std::size_t a, std::size_t b) {
      return std::pair(stages_[a].owner, a) < std::pair(stages_[b].owner, b);
    };
    ready_.insert(std::lower_bound(ready_.begin(), ready_.end(), stage, order), stage);
  }

  // Propagates the ends of stages, also through stages without work.
  void Settle() {
    while (!ended_.empty()) {
      const std::size_t stage = ended_.back();
      ended_.pop_back();
      for (const std::size_t child : children_[stage]) {
        if (--waits_for_[child] == 0) Reach(child);
      }
    }
  }

  absl::StatusOr<std::vector<std::uint64_t>> Degrees() const {
    std::vector<placement::Claim> claims;
    for (const std::size_t i : ready_) {
      const StageWork& stage = stages_[i];
      const std::size_t queue =
          stage.owner < on_.queue_of_owner.size() ? on_.queue_of_owner[stage.owner] : 0;
      claims.push_back({.container = stage.container,
                        .wanted = left_[i].tasks(),
                        .owner = stage.owner,
                        .queue = queue});
    }
    return placement::DegreesOfParallelism(on_.cluster, claims);
  }

  absl::Status NextState() {
    const absl::StatusOr<std::vector<std::uint64_t>> degrees = Degrees();
    if (!degrees.ok()) return degrees.status();
    double next = INFINITY;
    for (std::size_t k = 0; k < ready_.size(); ++k) {
      if ((*degrees)[k] == 0) continue;
      next = std::min(next, left_[ready_[k]].Seconds((*degrees)[k], form_));
    }
    for (const auto& [at, stage] : lagging_) next = std::min(next, at - now_);
    if (std::isinf(next)) return absl::InternalError("no ready stage got a container");
    next = std::max(next, 0.0);
    Record(next, *degrees);
    now_ += next;
    Advance(next, *degrees);
    return absl::OkStatus();
  }

  void Record(double seconds, const std::vector<std::uint64_t>& degrees) {
    State state = {.seconds = seconds};
    for (std::size_t k = 0; k < ready_.size(); ++k) {
      if (degrees[k] == 0) continue;
      state.stages.push_back(ready_[k]);
      state.degrees.push_back(degrees[k]);
    }
    estimate_.states.push_back(std::move(state));
  }

  void Advance(double seconds, const std::vector<std::uint64_t>& degrees) {
    std::vector<std::size_t> going;
    for (std::size_t k = 0; k < ready_.size(); ++k) {
      const std::size_t stage = ready_[k];
      const bool ends = degrees[k] > 0 && left_[stage].Seconds(degrees[k], form_) <=
                                              seconds * (1 + kRounding) + kRounding;
      if (!ends && degrees[k] > 0) left_[stage].Advance(seconds, degrees[k], form_);
      (ends ? ended_ : going).push_back(stage);
      if (ends) estimate_.ends[stage] = now_;
    }
    ready_ = std::move(going);
    std::vector<std::pair<double, std::size_t>> later;
    for (const auto& [at, stage] : std::exchange(lagging_, {})) {
      if (at <= now_ + kRounding) {
        AddReady(stage);
      } else {
        later.emplace_back(at, stage);
      }
    }
    lagging_ = std::move(later);
    Settle();
  }

  const std::vector<StageWork>& stages_;
  const Resourcing& on_;
  StageTimeForm form_;
  std::vector<std::vector<std::size_t>> children_;
  std::vector<Left> left_;
  std::vector<std::size_t> waits_for_;  // unfinished parents
  std::vector<std::size_t> ready_;      // by owner, then index
  std::vector<std::pair<double, std::size_t>>
      lagging_;                     // time at which the stage is ready, and the stage
  std::vector<std::size_t> ended_;  // stages whose children have not been notified yet
  double now_ = 0;
  StateEstimate estimate_;
};

}  // namespace

absl::StatusOr<StateEstimate> EstimateByStates(const std::vector<StageWork>& stages,
                                               std::span<const double> task_seconds,
                                               const Resourcing& on, StageTimeForm form) {
  if (absl::Status ok = placement::Check(stages, on); !ok.ok()) return ok;
  if (task_seconds.size() != stages.size()) {
    return absl::InvalidArgumentError("every stage needs a task time");
  }
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (std::isfinite(task_seconds[i]) && task_seconds[i] >= 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("stage ", i, ": its task time must be finite and not negative"));
  }
  return Estimation(stages, task_seconds, on, form).Run();
}

}  // namespace tidemark::papers
