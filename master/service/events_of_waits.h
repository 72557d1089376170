// Events and past runs as blame::ClusterWaits takes them. Pure.
#pragma once

#include <optional>
#include <span>

#include "master/waits/data_growth.h"
#include "tidemark/event.h"
#include "tidemark/past_run.h"

namespace tidemark::service {

// Returns the part of an event that is about waits, or nullopt if it has none. It keeps
// only the longest key group, since all together are large.
std::optional<Event> EventOfWaits(const Event& event);

// Returns the sizes that past runs of the same job read.
blame::EarlierData EarlierDataOf(std::span<const PastRun> runs);

}  // namespace tidemark::service
