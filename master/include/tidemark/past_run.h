// An earlier run of a job of the same name, or of another job of the same cluster where there is
// none: what a forecast starts from before the job has shown anything itself.
//
//   // When a job has ended:
//   if (auto run = tidemark::PastRunOf(monitor.Tick(now), monitor.Summary())) Store(*run);
//   // When the next of that name begins, before its first tick:
//   next.SetPastRuns({run});
//
// A master with a data directory does this by itself. Plain values, safe to share between threads
// while nobody writes.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "tidemark/job.h"
#include "tidemark/job_summary.h"

namespace tidemark {

// Wall times of one run of a MapReduce job, whose three phases follow one another and add up to the
// run, or what the tasks of another job's stages took.
struct PastRun {
  absl::Duration map_time;            // from the start of the job to the end of its last map task
  absl::Duration shuffle_time;        // from there to the first reduce function
  absl::Duration reduce_time;         // from there to the end of the last reduce task
  std::uint64_t map_input_bytes = 0;  // 0: not known
  RunProfile stages;                  // of a job with other stages than those of MapReduce
  bool is_of_other_job = false;       // it had another name
  // How many half-widths the end was away from what was said, at nine of ten looks at most; 1: it
  // was at the edge of the interval. Empty: not known.
  std::optional<double> interval_score;
  friend bool operator==(const PastRun&, const PastRun&) = default;
};

// What the final snapshot and the summary of a job say. Empty for a job that did not succeed, for
// one of map tasks alone, and where an instant is not known.
std::optional<PastRun> PastRunOf(const Snapshot& final, const JobSummary& summary);

}  // namespace tidemark
