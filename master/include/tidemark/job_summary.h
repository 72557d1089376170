// The summary of one run of a job: enough to predict the next run before it has begun.
//
//   const tidemark::JobSummary summary = monitor.Summary();   // at any time
//   if (const auto alpha = summary.map_selectivity()) ...     // output bytes per input byte
//
// A master keeps one for each job that has ended (docs/history.md). An embedder with its own store
// keeps it there and derives past runs from it (tidemark/past_run.h). Plain values: copyable,
// comparable, safe to share between threads when const. Memory: O(size bins), some kilobytes at
// most, plus the stages of `run`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tidemark/event.h"
#include "tidemark/job_profile.h"
#include "tidemark/past_run.h"

namespace tidemark {

// Totals over all tasks. Totals of reduce tasks count the attempts that finished. Sizes are bytes,
// 0 if the engine does not report them.
struct JobSummary {
  // From the event that opened the job.
  std::string name;
  std::string engine;
  // Tasks, not attempts: retries and speculative attempts count once.
  std::uint32_t map_tasks = 0;
  std::uint32_t reduce_tasks = 0;
  // Splits that tasks read, and pairs that they emitted after any combiner.
  std::uint64_t map_input_bytes = 0;
  std::uint64_t map_output_bytes = 0;
  // Finished key groups.
  std::uint64_t reduce_groups = 0;
  std::uint64_t reduce_input_bytes = 0;
  std::uint64_t reduce_output_bytes = 0;
  // Time inside reduce functions.
  absl::Duration reduce_time;
  // The cost of the reduce function as data: moments of the finished key groups by logarithm of
  // their size (streaming/size_histogram.h). Any curve can be fitted to them again.
  std::vector<GroupBin> bins;
  // Task times, for workflows that contain the job. Empty if no task finished.
  std::optional<JobProfile> profile;
  // Slots, parameters and stages of a job that is not MapReduce.
  PastRun run;
  // PastRun::interval_score. Empty while the job runs or without a published interval.
  std::optional<double> interval_score;

  // Returns the output bytes per input byte of all map (reduce) tasks together. Returns nullopt if
  // either is unknown or the input is empty.
  std::optional<double> map_selectivity() const;
  std::optional<double> reduce_selectivity() const;

  friend bool operator==(const JobSummary&, const JobSummary&) = default;
};

}  // namespace tidemark
