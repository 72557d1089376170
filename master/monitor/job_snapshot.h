// What a monitor publishes of a job, made of what its estimate says and what the fold knows.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "master/model/job_state.h"
#include "master/monitor/stages_estimate.h"
#include "tidemark/job.h"
#include "tidemark/snapshot.h"

namespace tidemark::monitor {

// What the stages of a job have shown, so that none goes back. Not thread-safe.
class ShownStages {
 public:
  // Raises the fraction of each stage to what the same attempt of it has shown before.
  void NeverBack(next::Snapshot& job);

  // For checkpoints (master/model/checkpoint.h).
  template <class Archive>
  void serialize(Archive& archive) {
    archive(shown_);
  }

 private:
  std::map<std::uint32_t, std::pair<std::uint32_t, double>> shown_;  // attempt, fraction; by stage
};

// `said` with the stages of `state`, all else that is told of them and, unless the job has ended,
// what `stages` predicts of them. Pure. O(tasks).
next::Snapshot JobSnapshot(const Snapshot& said, const model::JobState& state,
                           const StagesEstimate& stages);

// The same of a snapshot alone: without names, failures and stages other than those of a MapReduce
// job.
next::Snapshot JobSnapshot(const Snapshot& said);

}  // namespace tidemark::monitor
