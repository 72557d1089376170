// What every progress indicator is: a rule that predicts the end of the reduce phase.
//
// The map and shuffle phases, the slots and the display are the same for all; an indicator adds how
// long the reduce functions that are left will take. Several can run side by side on one job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "master/facts/checkpoint.h"
#include "master/facts/job_record.h"
#include "master/forecast/durations/interval_record.h"
#include "master/forecast/durations/task_times.h"
#include "tidemark/job.h"

namespace tidemark::model {

// When one unfinished reduce task will end, and what it still has to do.
struct ReduceTaskForecast {
  std::size_t index = 0;
  absl::Time ends_at;
  absl::Duration reduce_time_left;
  std::uint64_t explicit_groups_left = 0;
  ExplicitKey heaviest;  // explicit key group left; size 0: none known
  absl::Duration heaviest_time;
};

struct ReducePhaseForecast {
  std::optional<absl::Time> ends_at;        // e~(t); may lie before now. Empty: too early to tell
  std::optional<absl::Time> ends_at_lower;  // 90 % interval; empty: none is offered
  std::optional<absl::Time> ends_at_upper;
  Basis basis = Basis::kThisRun;          // what `ends_at` rests on
  std::vector<ReduceTaskForecast> tasks;  // unfinished ones, by index; empty: no view per task
  std::optional<Evidence> evidence;
  std::shared_ptr<const cost::StagesLeft> left;  // what `tasks` are made of; null: nothing
};

class ProgressIndicator {
 public:
  explicit ProgressIndicator(std::string name) : name_(std::move(name)) {}
  virtual ~ProgressIndicator() = default;
  const std::string& name() const { return name_; }

  // Deterministic in the sequence of calls; `now` never decreases. Not thread-safe.
  virtual ReducePhaseForecast Estimate(const JobRecord& state, absl::Time now) = 0;

  // What Estimate() remembers. One that resumes goes on as the other would have.
  virtual void Save(CheckpointWriter& checkpoint) const = 0;
  virtual void Resume(CheckpointReader& checkpoint) = 0;

 private:
  std::string name_;
};

}  // namespace tidemark::model
