// Cuts a reduce profile into several of a bounded size: points and names are spread over them, the
// bins stand in the first, the running group in the last, the totals and the use of processors in
// each.
#pragma once

#include <cstddef>
#include <vector>

#include "tidemark/event.h"

namespace tidemark::agent {

// At least one profile; each at most `bytes_max` on the wire, but for the first one's bins (18 kB).
std::vector<ReduceProfile> SplitProfile(ReduceProfile profile, std::size_t bytes_max);

}  // namespace tidemark::agent
