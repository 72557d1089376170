// Who took how many seconds from whom. Where [PX] gives shares, which always sum to one, this gives
// time, which may be none: who waited for nothing has lost nothing, whoever was there.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "master/waits/ledger.h"
#include "master/waits/questions.h"
#include "master/waits/stage.h"

namespace tidemark::blame {

// Seconds that tasks of a stage lost on a host because a source took of a resource what they waited
// for. For the scheduler: slot seconds that the stage lacked. The source may be the target itself:
// its own other tasks.
struct Delay {
  Stage target{};
  Resource resource = Resource::kScheduler;
  Host host{};
  Stage source{};
  double task_seconds = 0;
  // By so much the stage took longer, if the tasks that ran beside those that waited went on: of a
  // second that one of n tasks waited, 1 / n. Never more than the stage lasted. Of slots: with
  // those that it lacked, too, it would have run so many more tasks at a time.
  double stage_seconds = 0;
};

// At each instant what tasks wait is divided among those that were there by what each took of the
// resource then. Of the network and of IO only what exceeds the time that a unit takes undisturbed
// is a delay: the least that it was seen to take, or less where waits went with the crowd
// (crowding.h). Moving bytes takes time where nobody is in the way, too. A wait that
// nobody is shown to have caused is in none: sources that do not tell what they took, units that
// are not known, memory whose holders are not known.
//
// kUnreported is a source like others.
//
// Sorted by target, host, source, resource. Cost: O(meetings of these stages).
std::vector<Delay> Delays(const Ledger& ledger, std::span<const Stage> targets);

// Task seconds that other queries took from these targets, the most first.
std::vector<Ranked<Query>> DelayingQueries(std::span<const Delay> delays,
                                           std::span<const StageInfo> stages, std::size_t k);
// Resources for which, and hosts where, other queries took them.
std::vector<Ranked<Resource>> DelayingResources(std::span<const Delay> delays,
                                                std::span<const StageInfo> stages, std::size_t k);
std::vector<Ranked<Host>> DelayingHosts(std::span<const Delay> delays,
                                        std::span<const StageInfo> stages, std::size_t k);

}  // namespace tidemark::blame
