// Between what limits a query cost another so many seconds: what is left of them where others may
// have taken its place, and what can have been waited beside it.
#pragma once

#include <span>
#include <vector>

#include "master/waits/resource.h"

namespace tidemark::blame {

// A query beside a stage that waited for a resource on a host.
struct Neighbour {
  Query query{};
  double seconds = 0;  // that it is said to have taken
  // That can have been waited while it was there: no more than were waited in all, nor than its
  // tasks were beside those that waited.
  double beside_seconds = 0;
};

struct Limits {
  double lower = 0;
  double upper = 0;
};

// Of each neighbour in turn, had it not been there. Upper: all that can have been waited beside it,
// though others took of the resource then, too. Lower: its seconds less what was waited beside each
// of the others, which may have taken what it would have left. lower <= seconds <= upper. Amounts
// must be finite and not negative. Cost: O(neighbours).
std::vector<Limits> LimitsOf(std::span<const Neighbour> neighbours);

}  // namespace tidemark::blame
