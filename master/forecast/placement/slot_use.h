// Estimates how many slots of a cluster can be in use at once, if tasks wait while slots are idle.
//
// A task may need more than a core: a GPU, a licence, memory, a place in a pool, or an executor of
// its resource profile. If tasks wait for several seconds while slots are idle, the number of
// running tasks is assumed to be at its limit.
//
// Not thread-safe. Times are in seconds on any one clock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "master/forecast/placement/allocation.h"

namespace tidemark::placement {

class SlotUse {
 public:
  // Tasks that wait for this many seconds while slots are idle are assumed to be unable to use
  // these slots. Spark delays a task by 3 s to get a slot near its data (spark.locality.wait).
  static constexpr double kIdleFor = 4;

  explicit SlotUse(std::size_t stages = 0) : waits_until_(stages, 0) {}

  void SetStages(std::size_t stages) { waits_until_.resize(stages, 0); }

  // Adds `change` slots at `at`. A negative number removes slots.
  void AddSlots(double at, double change) {
    changes_.push_back({at, Kind::kSlots, 0, change});
    if (change > 0) grown_at_ = std::max(grown_at_, at);
  }
  // Adds a task of the stage that runs from `start` to `end`. `end` is infinite while the task
  // runs.
  void AddTask(std::uint32_t stage, double start, double end);
  // Adds a period in which tasks of the stage wait.
  void AddWait(std::uint32_t stage, double from, double to);

  struct Found {
    // Number of slots that can be in use at once.
    double slots = 0;
    // By stage, the number of tasks that can run at once.
    std::vector<std::uint64_t> at_once_max;
  };
  // Returns the limits at `now`. A stage whose wait ends at `now` is still waiting. `slots` is the
  // number of slots at `now`. Only slots that were added can turn out to be unusable. O(n log n)
  // for n additions.
  Found Find(double now, double slots);

  // Aggregates the use before `before`, so that Find() does not visit it again. Find() then returns
  // the same result, except for stages that started earlier. REQUIRES: `before` is not later than
  // now, and later additions are not before it. O(n log n) for n aggregated additions.
  void Fold(double before);
  // Discards the added slots.
  void DropSlots();

 private:
  // The time in which slots were idle while tasks waited, by the number of running tasks.
  class IdleTime {
   public:
    void Add(double seconds, double running) {
      seconds_ += seconds;
      seconds_at_[running] += seconds;
    }
    void Clear() {
      seconds_ = 0;
      seconds_at_.clear();
    }
    bool IsLong() const { return seconds_ >= kIdleFor; }
    // Returns the largest n such that at least n tasks ran for a share kHeldShare of this time; at
    // least 1.
    double Level() const;

   private:
    double seconds_ = 0;
    std::map<double, double> seconds_at_;  // by running tasks
  };
  enum class Kind : std::uint8_t { kTaskEnds, kWaitEnds, kSlots, kTaskStarts, kWaitStarts };
  struct Change {
    double at = 0;
    Kind kind = Kind::kSlots;
    std::uint32_t stage = 0;
    double slots = 0;
  };
  // The use of slots up to one time.
  struct Use {
    double at = -std::numeric_limits<double>::infinity();
    double reported = 0;
    double running = 0;
    double waiting = 0;
    double used_share = 0;  // 0 if unknown
    IdleTime idle;
    bool is_reported = false;
  };

  void SortChanges();
  static void Learn(Use& use);
  static void Advance(double until, Use& use);
  static void Apply(const Change& change, Use& use);
  double FindSlots(double now, double slots) const;
  void FindStages(double now, double slots, std::vector<std::uint64_t>& at_once_max) const;

  Use past_;  // use before every entry of `changes_`
  std::vector<Change> changes_;
  double grown_at_ = -std::numeric_limits<double>::infinity();  // time of the last added slots
  std::vector<double> waits_until_;  // the end of the last wait, by stage
};

}  // namespace tidemark::placement
