// Stages for tests, with one owner and slots of one core each.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "master/forecast/placement/allocation.h"

namespace tidemark::placement {

inline StageWork Stage(std::uint64_t pending, std::vector<std::size_t> parents = {},
                       std::vector<double> running = {}) {
  return {.parents = std::move(parents), .pending = pending, .running = std::move(running)};
}

inline StageWork OwnedBy(std::size_t owner, StageWork stage) {
  stage.owner = owner;
  return stage;
}

inline Resourcing Slots(double slots, Policy policy = Policy::kFifo) {
  return {.cluster = {.capacity = {.cores = slots}, .policy = policy}};
}

}  // namespace tidemark::placement
