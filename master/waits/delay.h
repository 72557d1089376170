// Computes how many seconds each stage lost to each other stage. The shares in [PX] always sum to
// one. The seconds here may be zero, since a stage without waits has lost nothing, regardless of
// its neighbours.
#pragma once

#include <span>
#include <vector>

#include "master/waits/ledger.h"
#include "master/waits/proto_graph.h"

namespace tidemark::waits {

// Seconds that tasks of the target lost on a host because the source used the resource for which
// they waited. For slots, these are the slot seconds that the target lacked. The source may be the
// target itself, because of its other tasks.
struct Delay {
  Stage target{};
  WaitReason resource = WaitReason::kSlots;
  Host host{};
  Stage source{};
  double task_seconds = 0;
  // The time by which the stage took longer, assuming that its other tasks continued. If one of n
  // tasks waits for a second, the stage is delayed by 1 / n seconds. Never more than the length of
  // the stage. For slots, it is assumed that with the slots that it lacked, the stage would have
  // run more tasks at a time.
  double stage_seconds = 0;
};

// Divides the waits at each time among the present tasks, by their use of the resource at that
// time. For reasons that include service, only the excess over the undisturbed time of a unit is a
// delay. The undisturbed time is the least observed time, or ServiceSeconds() if that is less.
//
// A wait whose cause is unknown is in no delay. The cause is unknown if the sources do not report
// their use, or if the units are unknown. kUnreported is a source like others.
//
// Sorted by target, host, source, resource. O(meetings of these stages).
std::vector<Delay> Delays(const Ledger& ledger, std::span<const Stage> targets);

// A query that was present while a stage waited for a resource on a host.
struct Neighbour {
  Query query{};
  double seconds = 0;  // delay that the query caused
  // Upper limit of the waits in the presence of the query: all waits, or the time for which its
  // tasks overlapped with the waiting tasks if that is less.
  double beside_seconds = 0;
};

struct Limits {
  double lower = 0;
  double upper = 0;
};

// For each neighbour, returns the limits of the seconds that its absence would have saved. The
// upper limit is the longest possible wait while the source ran, although other queries also used
// the resource. The lower limit is its seconds minus the possible waits in the presence of all
// other queries, which may have used the freed capacity. lower <= seconds <= upper.
//
// Amounts must be finite and not negative. O(neighbours).
std::vector<Limits> LimitsOf(std::span<const Neighbour> neighbours);

}  // namespace tidemark::waits
