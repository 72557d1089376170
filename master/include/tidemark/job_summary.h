// What one run of a job taught: enough to predict the next run before it has begun.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tidemark/event.h"
#include "tidemark/job_profile.h"

namespace tidemark {

// Totals over all tasks. Sizes are 0 where nobody told them.
struct JobSummary {
  std::string name;
  std::string engine;
  std::uint32_t map_tasks = 0;
  std::uint32_t reduce_tasks = 0;
  std::uint64_t map_input_bytes = 0;
  std::uint64_t map_output_bytes = 0;
  std::uint64_t reduce_groups = 0;  // finished key groups
  std::uint64_t reduce_input_bytes = 0;
  std::uint64_t reduce_output_bytes = 0;
  absl::Duration reduce_time;  // inside reduce functions
  // The cost model of the reduce function as data: moments of the finished key groups by logarithm
  // of size (streaming/size_histogram.h), from which any curve can be fitted again.
  std::vector<GroupBin> bins;
  // What its tasks took, for workflows that it is part of; empty: none finished.
  std::optional<JobProfile> profile;

  // Bytes out for a byte in; empty where either is not known.
  std::optional<double> map_selectivity() const;
  std::optional<double> reduce_selectivity() const;

  friend bool operator==(const JobSummary&, const JobSummary&) = default;
};

}  // namespace tidemark
