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
// run, or the task times of the stages of another job.
struct PastRun {
  absl::Duration map_time;      // from the start of the job to the end of its last map task
  absl::Duration shuffle_time;  // from there to the first reduce function
  // From there to the end of the job. A job of map tasks alone has neither a shuffle nor this time:
  // its map time is that of the whole job.
  absl::Duration reduce_time;
  std::uint64_t map_input_bytes = 0;  // 0 if unknown
  RunProfile stages;                  // of a job with stages other than map, shuffle and reduce
  bool is_of_other_job = false;       // it had another name
  // Distance of the actual end from the forecast, in half-widths of the interval: the 90th
  // percentile over all ticks. 1 is the edge of the interval. Empty if unknown.
  std::optional<double> interval_score;
  // The shape of a MapReduce job. Both 0 if it is unknown, or if the job had other stages.
  std::uint32_t map_tasks = 0;
  std::uint32_t reduce_tasks = 0;
  friend bool operator==(const PastRun&, const PastRun&) = default;
};

// Returns the past run that the final snapshot and the summary of a job describe. Empty if the job
// did not succeed, or if the instants that split it into phases are unknown.
std::optional<PastRun> PastRunOf(const Snapshot& final, const JobSummary& summary);

}  // namespace tidemark
