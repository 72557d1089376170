// The summary of one run of a job, from which the next run can be predicted before it begins.
//
//   const tidemark::JobSummary summary = monitor.Summary();   // at any time
//   if (const auto alpha = summary.map_selectivity()) ...     // output bytes per input byte
//
// A master keeps a summary of each ended job (docs/history.md). An embedder may keep summaries in
// its own store, and derive past runs from them (tidemark/past_run.h). Plain values: copyable,
// comparable, safe to share between threads when const. Memory: O(size bins), a few kilobytes at
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

// Totals over all tasks. Totals of reduce tasks include only attempts that finished. Sizes are in
// bytes, or 0 if the engine does not report them.
struct JobSummary {
  // The name under which runs of the job are stored (JobMonitor::history_name()).
  std::string name;
  std::string engine;
  // Numbers of tasks. Retries and speculative attempts of a task are not counted.
  std::uint32_t map_tasks = 0;
  std::uint32_t reduce_tasks = 0;
  // Size of the splits that map tasks read, and of the pairs that they emitted after any combiner.
  std::uint64_t map_input_bytes = 0;
  std::uint64_t map_output_bytes = 0;
  // Finished key groups.
  std::uint64_t reduce_groups = 0;
  std::uint64_t reduce_input_bytes = 0;
  std::uint64_t reduce_output_bytes = 0;
  // Time inside reduce functions.
  absl::Duration reduce_time;
  // Moments of the finished key groups, binned by the logarithm of their size
  // (streaming/size_histogram.h). Any cost curve of the reduce function can be fitted to these
  // moments.
  std::vector<GroupBin> bins;
  // Task times, for workflows that contain the job. Unset if no task finished.
  std::optional<JobProfile> profile;
  // Slots, parameters and stages of a job that is not MapReduce; named key groups of a MapReduce
  // job.
  PastRun run;
  // See PastRun::interval_score. Unset while the job runs or if no interval was published.
  std::optional<double> interval_score;

  // Returns the output bytes per input byte of all map (reduce) tasks together, or nullopt if
  // either is unknown or the input is empty.
  std::optional<double> map_selectivity() const;
  std::optional<double> reduce_selectivity() const;

  friend bool operator==(const JobSummary&, const JobSummary&) = default;
};

}  // namespace tidemark
