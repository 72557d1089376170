// Which events to keep when there is no room for all.
#pragma once

#include <cstdint>
#include <variant>

#include "tidemark/event.h"

namespace tidemark::agent {

// What may be dropped first: a later profile or heartbeat makes up for much of a lost one, nothing
// makes up for the opening of the job.
enum class Importance : std::uint8_t { kProfile, kAttempt, kJob };

inline Importance ImportanceOf(const EventBody& body) {
  if (std::holds_alternative<JobOpened>(body) || std::holds_alternative<JobClosed>(body)) {
    return Importance::kJob;
  }
  return std::holds_alternative<AttemptChanged>(body) ? Importance::kAttempt : Importance::kProfile;
}

}  // namespace tidemark::agent
