// Learns how many slots of a cluster can be in use, where tasks wait although slots are idle.
//
// A task may need more than a core: a GPU, a licence, memory, room in a pool, an executor of its
// resource profile. Whatever the reason, tasks that wait beside idle slots for some seconds show
// that no more of them can run at once.
//
// For one thread. Times are seconds on any one clock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "master/forecast/placement/stage_work.h"

namespace tidemark::schedule {

class SlotUse {
 public:
  // After this many seconds beside idle slots, waiting tasks are assumed not to get them. Spark
  // holds a task back for 3 s to wait for a slot near its data (spark.locality.wait).
  static constexpr double kIdleFor = 4;

  explicit SlotUse(std::size_t stages = 0) : waits_until_(stages, 0) {}

  // There are more stages now.
  void SetStages(std::size_t stages) { waits_until_.resize(stages, 0); }

  // Adds `change` slots from `at` on; a negative number removes slots.
  void AddSlots(double at, double change) {
    changes_.push_back({at, Kind::kSlots, 0, change});
    if (change > 0) grown_at_ = std::max(grown_at_, at);
  }
  // Adds a task of the stage that runs from `start` to `end`, which is infinite while it runs.
  void AddTask(std::uint32_t stage, double start, double end);
  // Adds a time in which tasks of the stage wait.
  void AddWait(std::uint32_t stage, double from, double to);

  struct Found {
    // Slots that can be in use at once.
    double slots = 0;
    // Tasks that can run at once, by stage.
    std::vector<std::uint64_t> at_once_max;
  };
  // Returns the limits at `now`. A stage whose wait ends at `now` is still waiting. `slots`: the
  // slots at `now`. Only added slots can turn out to be unusable. Cost: O(n log n) for n additions.
  Found Find(double now, double slots);

  // Adds up the use before `before`, which is not later than now, so that Find() does not visit it
  // again. Later additions must be at `before` or after it. Find() stays the same except for stages
  // that have begun before. Cost: O(n log n) for the remaining additions.
  void Fold(double before);
  // Discards the slots that were added.
  void DropSlots();

 private:
  // A time in which slots were idle while tasks waited, by the number of running tasks.
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
    // Returns the number of running tasks that was reached for long enough; at least 1.
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
  // The use of slots up to an instant.
  struct Use {
    double at = -std::numeric_limits<double>::infinity();
    double told = 0;
    double running = 0;
    double waiting = 0;
    double used_share = 0;  // 0 while it is unknown
    IdleTime idle;
    bool are_told = false;
  };

  void SortChanges();
  static void Learn(Use& use);
  static void Pass(double until, Use& use);
  static void Happen(const Change& change, Use& use);
  double FindSlots(double now, double slots) const;
  void FindStages(double now, double slots, std::vector<std::uint64_t>& at_once_max) const;

  Use past_;  // before all of `changes_`
  std::vector<Change> changes_;
  double grown_at_ = -std::numeric_limits<double>::infinity();  // when slots were added last
  std::vector<double> waits_until_;  // the end of the last wait, by stage
};

}  // namespace tidemark::schedule
