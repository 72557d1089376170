// An earlier run of a job of the same name: what a forecast starts from before the job has shown
// anything itself.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "tidemark/job_summary.h"
#include "tidemark/snapshot.h"

namespace tidemark {

struct PastRun {
  absl::Duration map_time;            // from the start of the job to the end of its last map task
  absl::Duration shuffle_time;        // from there to the first reduce function
  absl::Duration reduce_time;         // from there to the end of the last reduce task
  std::uint64_t map_input_bytes = 0;  // 0: nobody told
  friend bool operator==(const PastRun&, const PastRun&) = default;
};

// Of a job that succeeded and had a reduce phase; empty of any other, and where an instant is not
// known.
std::optional<PastRun> PastRunOf(const Snapshot& final, const JobSummary& summary);

}  // namespace tidemark
