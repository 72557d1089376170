// Keeps what our code throws from the engine and its threads, and from gRPC's.
#pragma once

#include <new>

#include "agent/shared.h"

namespace tidemark::agent {

// Runs `work`; whether it came to its end. What it throws turns the agent off, for there is no
// telling what was left half done.
template <typename Work>
bool Guarded(Shared& shared, Work work) noexcept {
  try {
    work();
    return true;
  } catch (const std::bad_alloc&) {
    shared.TurnOff("out of memory");
  } catch (...) {
    shared.TurnOff("something was thrown that should not have been");
  }
  return false;
}

}  // namespace tidemark::agent
