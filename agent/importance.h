// Which events to keep when there is no room for all.
#pragma once

#include <cstdint>
#include <variant>

#include "tidemark/event.h"

namespace tidemark::agent {

// What may be dropped first: a later profile or heartbeat makes up for much of a lost one, nothing
// makes up for the opening of the job or of a stage.
enum class Importance : std::uint8_t { kProfile, kAttempt, kJob };

inline Importance ImportanceOf(const EventBody& body) {
  if (std::holds_alternative<JobOpened>(body) || std::holds_alternative<JobClosed>(body) ||
      std::holds_alternative<StageOpened>(body)) {
    return Importance::kJob;
  }
  const bool is_of_attempts =
      std::holds_alternative<AttemptChanged>(body) || std::holds_alternative<ExecutorOpened>(body);
  return is_of_attempts ? Importance::kAttempt : Importance::kProfile;
}

}  // namespace tidemark::agent
