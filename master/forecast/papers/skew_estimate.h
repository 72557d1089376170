// The end of a workflow with the skew of its tasks ([BOE] section 6, Algorithm 2).
//
// The paper leaves t_state of tasks that differ open. Read as "which container is free next", it is
// list scheduling of drawn task times, which is what this does, some times over.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "master/forecast/durations/time_distribution.h"
#include "master/forecast/placement/placing.h"
#include "master/forecast/placement/stage_work.h"

namespace tidemark::papers {

struct SkewEstimate {
  double seconds = 0;        // mean over the draws
  std::vector<double> ends;  // of each stage, mean
};

// `times`: of each stage, normal or empirical. The same arguments give the same result. Errors:
// those of Check(), no draw, other than one distribution for each stage. Cost: O(draws x tasks x
// log containers).
absl::StatusOr<SkewEstimate> EstimateWithSkew(const std::vector<schedule::StageWork>& stages,
                                              std::span<const cost::TimeDistribution> times,
                                              const schedule::Resourcing& on, std::size_t draws);

}  // namespace tidemark::papers
