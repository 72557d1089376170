// What is left of pieces that are over: sums by stage and host, and by pairs of stages that met
// there. The number of tasks does not matter.
#pragma once

#include <compare>
#include <optional>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_set.h"
#include "master/waits/crowding.h"
#include "master/waits/piece.h"
#include "master/waits/resource.h"

namespace tidemark::blame {

// Of the tasks of a stage on a host, one resource.
struct Waited {
  double wait_seconds = 0;
  double stage_seconds = 0;     // likewise, of which each task has its part of the stage
  double measured_seconds = 0;  // of their time, where the wait is known
  // Where both the wait and the units are known.
  double rated_wait_seconds = 0;
  double rated_units = 0;
  // The least wait for a unit in a piece whose task did little but wait for this resource: what a
  // unit takes where nobody is in the way, or less than that is not known. 0: none.
  double least_seconds_per_unit = 0;
};

// Of the tasks of a stage on a host, or in a queue.
struct StageOnHost {
  double seconds = 0;        // of the tasks, summed
  double stage_seconds = 0;  // summed over all hosts: in which any task of the stage ran
  double processor_seconds = 0;
  double processor_measured_seconds = 0;
  PerResource<Waited> waited;
  // Of the network and of IO; from a sweep.
  Crowding network;
  Crowding io;
  // REQUIRES: WaitHoldsService(resource).
  const Crowding& crowding(Resource resource) const {
    return resource == Resource::kNetwork ? network : io;
  }
  Crowding& crowding(Resource resource) { return resource == Resource::kNetwork ? network : io; }
};

// A stage that waits and one that was there meanwhile, maybe itself, on one host.
struct Meeting {
  // Summed over pairs of different tasks; in a queue, of tasks that wait both.
  double overlap_seconds = 0;
  // The part of the target's wait that goes to the source: at every instant its waits are divided
  // by what others took of the resource then, the target's own other tasks among them. Taken of a
  // processor: processor seconds; of the scheduler: slots held; otherwise units.
  //
  // No task waits for a processor longer than others use them: what exceeds that goes to
  // kUnreported, of which nothing else is known.
  //
  // A stage that waits for slots has lost no more of them than other stages hold: the wait of the
  // scheduler is counted in slots that it lacked, not in tasks that queued.
  PerResource<double> wait_seconds;
  // The target's own units, divided in the same way.
  PerResource<double> units;
};

struct StageSpan {
  double from = 0;
  double to = 0;
  double seconds() const { return to - from; }
};

struct StageHost {
  Stage stage{};
  Host host{};
  friend auto operator<=>(const StageHost&, const StageHost&) = default;
};

struct MeetingKey {
  Stage target{};
  Host host{};
  Stage source{};
  friend auto operator<=>(const MeetingKey&, const MeetingKey&) = default;
};

// Memory: O(hosts x stages that met there).
struct Ledger {
  absl::btree_map<StageHost, StageOnHost> stages;
  absl::btree_map<MeetingKey, Meeting> meetings;
  absl::btree_map<Stage, StageSpan> spans;  // of tasks that have a slot

  // What concerns the piece alone; meetings are those of a sweep. `share`: which part of its stage
  // the task was meanwhile (StageShares); empty: as those that were added before, 1 for the first.
  void Add(const Piece& piece, std::optional<double> share = std::nullopt);

  // As if what is in `other` had been added here. Cost: O(size of other), and a logarithm.
  void Merge(const Ledger& other);

  // The same of what is in `other` of this target. Cost: O(that), and a logarithm.
  void MergeTarget(const Ledger& other, Stage target);

  // What is of these stages is gone, but for what others waited because of them: that is of
  // `instead` from now on. Cost: O(size), and a logarithm.
  void Forget(const absl::flat_hash_set<Stage>& gone, Stage instead);
};

}  // namespace tidemark::blame
