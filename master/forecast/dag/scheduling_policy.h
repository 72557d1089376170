// The policy that a plan names, as placing knows it.
#pragma once

#include "master/forecast/placement/allocation.h"
#include "tidemark/plan.h"

namespace tidemark::workflow {

// kUnknown is taken for kFifo, as the plan's header says.
inline schedule::Policy PolicyOf(SchedulingPolicy policy) {
  switch (policy) {
    case SchedulingPolicy::kFair:
      return schedule::Policy::kFair;
    case SchedulingPolicy::kDrf:
      return schedule::Policy::kDrf;
    case SchedulingPolicy::kCapacity:
      return schedule::Policy::kCapacity;
    case SchedulingPolicy::kUnknown:
    case SchedulingPolicy::kFifo:
      break;
  }
  return schedule::Policy::kFifo;
}

}  // namespace tidemark::workflow
