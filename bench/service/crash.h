// Repeatedly kills a master under load, and checks its acknowledgements.
//
// The load records every acknowledgement. Events are a function of job, source and sequence, so the
// journal can be compared with the sent events.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace tidemark::bench {

struct CrashOptions {
  std::string tidemark;   // the program
  std::string directory;  // for the data of the master; initially empty
  std::uint32_t kills = 500;
  std::uint32_t jobs = 4;             // concurrent jobs
  std::uint32_t sources_per_job = 2;  // each with a separate stream
  std::uint32_t kills_per_job = 25;   // the jobs then end, are checked and make room for others
  std::uint32_t seed = 1;
};

struct CrashReport {
  std::uint32_t kills = 0;
  std::uint32_t kills_in_recovery = 0;  // kills before the master listened
  std::uint64_t acknowledged = 0;       // events
  std::uint64_t lost_acknowledged = 0;  // acknowledged events that the journal lacks or changed
  std::uint64_t counted_twice = 0;      // events stored more than once
  std::uint64_t lost_in_snapshots = 0;  // events missing in final snapshots
  std::uint64_t sequences_reused = 0;   // reused or falling sequences of snapshots
  double restart_median_s = 0;          // from the start of a process until it listens
  double restart_max_s = 0;
};

// Returns an error if the master does not start or does not come back.
absl::StatusOr<CrashReport> Crash(const CrashOptions& options);

}  // namespace tidemark::bench
