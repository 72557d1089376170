#include "master/forecast/placement/slot_use.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

namespace tidemark::placement {
namespace {

// A number of running tasks counts if it lasted for this share of the time. Gaps between two tasks
// of a slot are shorter, as are surpluses caused by late reports of ends.
constexpr double kHeldShare = 0.25;

}  // namespace

double SlotUse::IdleTime::Level() const {
  double above = 0;
  for (auto at = seconds_at_.rbegin(); at != seconds_at_.rend(); ++at) {
    above += at->second;
    if (above >= kHeldShare * seconds_) return std::max(at->first, 1.0);
  }
  return 1;
}

void SlotUse::AddTask(std::uint32_t stage, double start, double end) {
  changes_.push_back({start, Kind::kTaskStarts, stage});
  if (std::isfinite(end)) changes_.push_back({std::max(end, start), Kind::kTaskEnds, stage});
}

void SlotUse::AddWait(std::uint32_t stage, double from, double to) {
  if (!(from < to)) return;
  changes_.push_back({from, Kind::kWaitStarts, stage});
  changes_.push_back({to, Kind::kWaitEnds, stage});
  waits_until_[stage] = std::max(waits_until_[stage], to);
}

void SlotUse::SortChanges() {
  std::sort(changes_.begin(), changes_.end(), [](const Change& a, const Change& b) {
    return std::tuple(a.at, a.kind) < std::tuple(b.at, b.kind);
  });
}

SlotUse::Found SlotUse::Find(double now, double slots) {
  Found found = {.slots = slots};
  found.at_once_max.assign(waits_until_.size(), kNoLimit);
  SortChanges();
  const bool is_reported =
      past_.is_reported || std::ranges::any_of(changes_, [](const Change& change) {
        return change.kind == Kind::kSlots;
      });
  if (is_reported) found.slots = FindSlots(now, slots);
  FindStages(now, found.slots, found.at_once_max);
  return found;
}

void SlotUse::Fold(double before) {
  SortChanges();
  auto change = changes_.begin();
  for (; change != changes_.end() && change->at < before; ++change) {
    Advance(change->at, past_);
    Apply(*change, past_);
  }
  changes_.erase(changes_.begin(), change);
}

void SlotUse::DropSlots() {
  past_.is_reported = false;
  grown_at_ = -std::numeric_limits<double>::infinity();
  std::erase_if(changes_, [](const Change& change) { return change.kind == Kind::kSlots; });
}

void SlotUse::Learn(Use& use) {
  if (use.idle.IsLong()) use.used_share = std::max(use.used_share, use.idle.Level() / use.reported);
}

// Adds the time up to `until`, during which the state is constant.
void SlotUse::Advance(double until, Use& use) {
  const double seconds = until - use.at;
  if (!(seconds > 0)) return;
  use.at = until;
  if (use.reported > 0 && use.running >= use.reported) {
    use.used_share = 1;
    use.idle.Clear();
  } else if (use.waiting > 0 && use.reported > 0) {
    use.idle.Add(seconds, use.running);
  }
}

void SlotUse::Apply(const Change& change, Use& use) {
  switch (change.kind) {
    case Kind::kSlots:
      Learn(use);
      use.idle.Clear();
      use.reported += change.slots;
      use.is_reported = true;
      break;
    case Kind::kTaskStarts:
      use.running += 1;
      break;
    case Kind::kTaskEnds:
      use.running -= 1;
      break;
    case Kind::kWaitStarts:
      use.waiting += 1;
      break;
    case Kind::kWaitEnds:
      use.waiting -= 1;
      if (use.waiting > 0) break;
      // Short waits while small stages start their tasks must not add up.
      Learn(use);
      use.idle.Clear();
      break;
  }
}

// Returns the number of usable slots: the largest share in use at one time while tasks waited.
double SlotUse::FindSlots(double now, double slots) const {
  Use use = past_;
  for (const Change& change : changes_) {
    Advance(std::min(change.at, now), use);
    Apply(change, use);
  }
  Advance(now, use);
  Learn(use);
  const double share = use.used_share;
  return share > 0 ? std::clamp(std::round(share * slots), 1.0, slots) : slots;
}

// Finds stages that wait while slots are idle. Each such stage has its own limit.
void SlotUse::FindStages(double now, double slots, std::vector<std::uint64_t>& at_once_max) const {
  struct Stage {
    double running = 0;
    bool is_waiting = false;
    double seen_idle = 0;     // idle time that was already counted
    std::uint64_t epoch = 0;  // epoch of the counted time
    IdleTime idle;
  };
  std::vector<Stage> stages(waits_until_.size());
  double running = past_.running;
  double idle_seconds = 0;  // time since all slots were in use or slots were added
  std::uint64_t epoch = 0;  // number of times at which all slots were in use
  const auto account = [&](Stage& stage) {
    if (stage.epoch != epoch) {
      stage.idle.Clear();
      stage.seen_idle = 0;
      stage.epoch = epoch;
    }
    const double seconds = idle_seconds - stage.seen_idle;
    stage.seen_idle = idle_seconds;
    if (stage.is_waiting && seconds > 0) stage.idle.Add(seconds, stage.running);
  };
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    const Change& change = changes_[i];
    if (change.kind != Kind::kSlots) {
      Stage& stage = stages[change.stage];
      account(stage);
      const bool is_of_task = change.kind == Kind::kTaskStarts || change.kind == Kind::kTaskEnds;
      const double more = change.kind == Kind::kTaskStarts ? 1 : -1;
      if (is_of_task) {
        running += more;
        stage.running += more;
      } else if (change.at < now) {
        stage.is_waiting = change.kind == Kind::kWaitStarts;
      }
    }
    const double until = i + 1 < changes_.size() ? changes_[i + 1].at : now;
    const double seconds = std::min(until, now) - std::max(change.at, grown_at_);
    if (!(seconds > 0)) continue;
    if (running >= slots) {
      ++epoch;
      idle_seconds = 0;
    } else {
      idle_seconds += seconds;
    }
  }
  for (std::size_t i = 0; i < stages.size(); ++i) {
    account(stages[i]);
    if (waits_until_[i] < now || !stages[i].idle.IsLong()) continue;
    at_once_max[i] = static_cast<std::uint64_t>(stages[i].idle.Level());
  }
}

}  // namespace tidemark::placement
