// Computes how many seconds each stage lost to each other stage. [PX] gives shares, which always
// sum to one. Seconds may be zero, since a stage without waits has lost nothing, regardless of its
// neighbours.
#pragma once

#include <cstddef>
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
  // The time by which the stage took longer if the other tasks continued. If one of n tasks waits
  // for a second, the stage is delayed by 1 / n seconds. At most the length of the stage. With the
  // slots that it lacked, the stage would have run more tasks at a time.
  double stage_seconds = 0;
};

// Divides the waits at each instant among the present tasks, by their use of the resource at that
// instant. For reasons that include service, only the excess over the undisturbed time of a unit
// is a delay. That time is the least observed one, or ServiceSeconds() if it is less.
//
// A wait whose cause is unknown is in no delay. The cause is unknown if the sources do not report
// their use, or if the units are unknown. kUnreported is a source like others.
//
// Sorted by target, host, source, resource. O(meetings of these stages).
std::vector<Delay> Delays(const Ledger& ledger, std::span<const Stage> targets);

// Returns the other queries to which these targets lost task seconds, the most first.
std::vector<Ranked<Query>> DelayingQueries(std::span<const Delay> delays,
                                           std::span<const QueryStage> stages, std::size_t k);

// A query that was present while a stage waited for a resource on a host.
struct Neighbour {
  Query query{};
  double seconds = 0;  // the delay that it caused
  // Upper limit of the waits in its presence. It is at most all waits, and at most the time that
  // its tasks overlapped with the waiting ones.
  double beside_seconds = 0;
};

struct Limits {
  double lower = 0;
  double upper = 0;
};

// Returns for each neighbour the limits of the seconds that its absence would have saved. The
// upper limit is the longest possible wait while the source ran, although others also used the
// resource. The lower limit is its seconds less the possible waits in the presence of all others,
// which may have used the freed capacity. lower <= seconds <= upper.
//
// Amounts must be finite and not negative. O(neighbours).
std::vector<Limits> LimitsOf(std::span<const Neighbour> neighbours);

}  // namespace tidemark::waits
