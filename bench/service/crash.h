// Kills a master under load, again and again, and holds it to what it has acknowledged.
//
// The load keeps its own record of every acknowledgement; the events themselves are a function
// of job, source and sequence, so that what the journal kept can be compared with what was sent.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace tidemark::bench {

struct CrashOptions {
  std::string tidemark;   // the binary
  std::string directory;  // for the data of the master; empty at first
  std::uint32_t kills = 500;
  std::uint32_t jobs = 4;             // at once
  std::uint32_t sources_per_job = 2;  // each with a stream of its own
  std::uint32_t kills_per_job = 25;   // then the jobs end, are audited and make room for others
  std::uint32_t seed = 1;
};

struct CrashReport {
  std::uint32_t kills = 0;
  std::uint32_t kills_in_recovery = 0;  // of these, before the master listened
  std::uint64_t acknowledged = 0;       // events
  std::uint64_t lost_acknowledged = 0;  // of these, not in the journal as they were sent
  std::uint64_t counted_twice = 0;      // events that the journal holds more than once
  std::uint64_t lost_in_snapshots = 0;  // events that final snapshots miss
  std::uint64_t sequences_reused = 0;   // snapshots that differ under one sequence, or go back
  double restart_median_s = 0;          // from the start of a process until it listens
  double restart_max_s = 0;
};

// Errors: the master cannot be run, or does not come back.
absl::StatusOr<CrashReport> Crash(const CrashOptions& options);

}  // namespace tidemark::bench
