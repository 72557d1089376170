// What one run of a job has taught: enough to predict the next run before it has begun.
//
//   const tidemark::JobSummary summary = monitor.Summary();   // at any time
//   if (const auto alpha = summary.map_selectivity()) ...     // bytes out for a byte in
//
// The master keeps one for each job that has ended (docs/history.md); an embedder that has a store
// of its own keeps it there and makes PastRuns of it (tidemark/past_run.h). Plain values: copyable,
// comparable, safe to share between threads when const. Memory: O(size bins), at most some
// kilobytes, and of a job with other stages than those of MapReduce its RunProfile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tidemark/event.h"
#include "tidemark/job_profile.h"
#include "tidemark/stage_profile.h"

namespace tidemark {

// Totals over all tasks, of reduce tasks by the attempts that finished. Sizes are bytes, 0 where
// the engine does not report them.
struct JobSummary {
  // As the application master named them when it opened the job.
  std::string name;
  std::string engine;
  // Tasks, not attempts: retries and speculative attempts count once.
  std::uint32_t map_tasks = 0;
  std::uint32_t reduce_tasks = 0;
  // As the tasks reported them: splits read, pairs emitted after any combiner.
  std::uint64_t map_input_bytes = 0;
  std::uint64_t map_output_bytes = 0;
  // Finished key groups.
  std::uint64_t reduce_groups = 0;
  std::uint64_t reduce_input_bytes = 0;
  std::uint64_t reduce_output_bytes = 0;
  // Inside reduce functions.
  absl::Duration reduce_time;
  // The cost model of the reduce function as data: moments of the finished key groups by logarithm
  // of size (streaming/size_histogram.h), from which any curve can be fitted again.
  std::vector<GroupBin> bins;
  // What its tasks took, for workflows that it is part of; empty: none finished.
  std::optional<JobProfile> profile;
  // What the tasks of its stages took, of a job that has others than those of MapReduce.
  RunProfile stages;
  // How far the end was from the intervals said while the job ran (PastRun::interval_score). Empty
  // while it runs, and where none was said.
  std::optional<double> interval_score;

  // Bytes written for a byte read, by all map (reduce) tasks together. Empty where either is not
  // known, or nothing was read.
  std::optional<double> map_selectivity() const;
  std::optional<double> reduce_selectivity() const;

  friend bool operator==(const JobSummary&, const JobSummary&) = default;
};

}  // namespace tidemark
