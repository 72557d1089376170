// The interface of a progress indicator, which predicts the end of the reduce phase.
//
// All indicators share the map and shuffle phases, the slots and the display. An indicator adds the
// time of the remaining reduce functions. Several indicators can follow the same job.
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
#include "master/forecast/durations/intervals.h"
#include "master/forecast/durations/task_times.h"
#include "tidemark/job.h"

namespace tidemark::forecast {

// The forecast of one unfinished reduce task.
struct ReduceTaskForecast {
  std::size_t index = 0;
  absl::Time ends_at;
  absl::Duration reduce_time_left;
  std::uint64_t explicit_groups_left = 0;
  ExplicitKey heaviest;  // heaviest remaining explicit key group; size 0 if none is known
  absl::Duration heaviest_time;
};

struct ReducePhaseForecast {
  std::optional<absl::Time> ends_at;  // e~(t). May be in the past. nullopt if unknown.
  // 90 % interval. nullopt if the indicator has none.
  std::optional<absl::Time> ends_at_lower;
  std::optional<absl::Time> ends_at_upper;
  Basis basis = Basis::kThisRun;  // the strongest evidence for `ends_at`
  EstimateMethod method = EstimateMethod::kUnknown;
  std::vector<ReduceTaskForecast> tasks;  // unfinished tasks, by index; may be empty
  std::optional<Evidence> evidence;
  std::shared_ptr<const durations::RemainingStages> left;  // the draws of `tasks`; may be null
};

class ProgressIndicator {
 public:
  explicit ProgressIndicator(std::string name) : name_(std::move(name)) {}
  virtual ~ProgressIndicator() = default;
  const std::string& name() const { return name_; }

  // Estimates are deterministic in the sequence of calls. `now` never decreases. Not thread-safe.
  virtual ReducePhaseForecast Estimate(const facts::JobRecord& state, absl::Time now) = 0;

  // Writes and reads the state between calls of Estimate(). A resumed indicator returns the same
  // forecasts as the saved one.
  virtual void Save(facts::CheckpointWriter& checkpoint) const = 0;
  virtual void Resume(facts::CheckpointReader& checkpoint) = 0;

 private:
  std::string name_;
};

}  // namespace tidemark::forecast
