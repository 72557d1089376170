// Sends the profiles of reduce tasks without the background thread.
#pragma once

#include <chrono>
#include <variant>
#include <vector>

#include "agent/monotonic.h"
#include "agent/shared.h"
#include "tidemark/v1/ingest_service.pb.h"

namespace tidemark::agent {

// Executes the commands so far. Returns the profiles that the agent sends as a result.
inline std::vector<v1::ReduceProfile> SentProfiles(Shared& shared, const Clock& clock) {
  for (const Command& command : shared.inbox.WaitUntil(std::chrono::steady_clock::now())) {
    if (const auto* profiles = std::get_if<StartProfiles>(&command)) {
      profiles->reporter->BeginProfiles();
    }
    if (const auto* end = std::get_if<EndReports>(&command)) end->reporter->ReportLast();
  }
  std::vector<v1::ReduceProfile> profiles;
  while (const auto batch = shared.outbox.Next(clock.Now())) {
    for (const v1::Event& event : batch->events()) {
      if (event.has_reduce_profile()) profiles.push_back(event.reduce_profile());
    }
  }
  return profiles;
}

}  // namespace tidemark::agent
