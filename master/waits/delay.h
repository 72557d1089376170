// Computes which stage lost how many seconds to which other. [PX] gives shares, which always sum to
// one; these are seconds, which may be zero: a stage without waits has lost nothing, regardless of
// its neighbours.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "master/waits/ledger.h"
#include "master/waits/proto_graph.h"

namespace tidemark::waits {

// Seconds that tasks of the target lost on a host because the source used the resource for which
// they waited. For slots: slot seconds that the target lacked. The source may be the target itself,
// with its other tasks.
struct Delay {
  Stage target{};
  WaitReason resource = WaitReason::kSlots;
  Host host{};
  Stage source{};
  double task_seconds = 0;
  // The time by which the stage took longer if the other tasks continued: a second of one of n
  // waiting tasks delays it by 1 / n. It is at most the length of the stage. For slots: with the
  // lacking slots, the stage would have run more tasks at a time.
  double stage_seconds = 0;
};

// Divides the waits at each instant among the present tasks, by their use of the resource then. For
// reasons that include service, only the excess over the undisturbed time of a unit is a delay.
// That time is the least observed one, or ServiceSeconds() if it is less.
//
// A wait without a known cause is in no delay: the sources do not report their use, or the units
// are unknown. kUnreported is a source like others.
//
// Sorted by target, host, source, resource. Cost: O(meetings of these stages).
std::vector<Delay> Delays(const Ledger& ledger, std::span<const Stage> targets);

// Return the other queries, resources or hosts by which these targets lost task seconds to other
// queries, the most first.
std::vector<Ranked<Query>> DelayingQueries(std::span<const Delay> delays,
                                           std::span<const QueryStage> stages, std::size_t k);
std::vector<Ranked<WaitReason>> DelayingResources(std::span<const Delay> delays,
                                                  std::span<const QueryStage> stages,
                                                  std::size_t k);
std::vector<Ranked<Host>> DelayingHosts(std::span<const Delay> delays,
                                        std::span<const QueryStage> stages, std::size_t k);

// A query beside a stage that waited for a resource on a host.
struct Neighbour {
  Query query{};
  double seconds = 0;  // the delay that it caused
  // Upper limit of the waits in its presence: at most all waits, and at most the time that its
  // tasks were beside the waiting ones.
  double beside_seconds = 0;
};

struct Limits {
  double lower = 0;
  double upper = 0;
};

// Returns for each neighbour the limits of the seconds that its absence would have saved. The upper
// limit is the longest possible wait while the source ran, although others also used the resource.
// The lower limit is its seconds less the possible waits beside all others, which may have used the
// freed capacity. lower <= seconds <= upper.
//
// Amounts must be finite and not negative. Cost: O(neighbours).
std::vector<Limits> LimitsOf(std::span<const Neighbour> neighbours);

}  // namespace tidemark::waits
