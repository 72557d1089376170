// What Tidemark believes about a job at one instant, as a value.
//
// The plain counterpart of proto/tidemark/v1/progress.proto. Every fraction is finite, within 0..1;
// no fraction_done is less than in an earlier snapshot. A duration that is not known is empty,
// never a guess. Two estimates from the same events and ticks are equal to the last bit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tidemark/event.h"

namespace tidemark {

enum class JobState : std::uint8_t { kRunning, kSucceeded, kFailed, kKilled, kAbandoned };

enum class Phase : std::uint8_t { kMap, kShuffle, kReduce };

enum class PhaseState : std::uint8_t { kPending, kRunning, kDone };

struct PhaseProgress {
  Phase phase = Phase::kMap;
  PhaseState state = PhaseState::kPending;
  double fraction_done = 0;
  std::uint32_t task_count = 0;
  std::uint32_t running_task_count = 0;
  std::uint32_t finished_task_count = 0;
  std::optional<absl::Time> started_at;
  std::optional<absl::Time> finished_at;
  friend bool operator==(const PhaseProgress&, const PhaseProgress&) = default;
};

enum class ForecastState : std::uint8_t {
  kWarmingUp,  // too early: remaining is empty
  kValid,
  kOverdue,  // past the predicted end: remaining is empty
  kFinal,    // the job has ended
};

// Where predicted reduce time comes from: shares that add up to 1, or all 0.
struct Evidence {
  double own_neighbours = 0;
  double own_fit = 0;
  double other_neighbours = 0;
  double other_fit = 0;
  double ratio = 0;
  friend bool operator==(const Evidence&, const Evidence&) = default;
};

struct Forecast {
  std::string indicator;
  ForecastState state = ForecastState::kWarmingUp;
  // To be shown: the part of the job's time that has passed, never less than in an earlier
  // snapshot. 1 only when the job has succeeded.
  double fraction_done = 0;
  double reduce_fraction_done = 0;  // the same of the reduce phase alone
  std::optional<absl::Duration> remaining;
  std::optional<absl::Duration> remaining_lower;  // 90 % interval
  std::optional<absl::Duration> remaining_upper;
  std::optional<Evidence> evidence;
  friend bool operator==(const Forecast&, const Forecast&) = default;
};

// The reduce task that will end last, and why.
struct Straggler {
  AttemptId attempt;
  std::string host;
  std::optional<absl::Duration> remaining;
  std::uint64_t explicit_groups_left = 0;
  std::uint64_t heaviest_group_bytes = 0;
  double heaviest_group_share = 0;  // of the task's remaining time
  bool in_heaviest_group = false;
  std::string reason;
  friend bool operator==(const Straggler&, const Straggler&) = default;
};

struct Coverage {
  absl::Duration data_age;
  std::uint64_t lost_envelopes = 0;
  std::uint64_t dropped_events = 0;
  std::uint64_t dropped_points = 0;
  std::uint64_t anomalies = 0;
  std::uint64_t rejected_envelopes = 0;
  double map_profiles = 0;
  std::uint32_t silent_tasks = 0;
  std::vector<std::string> notes;
  // For how long a running job has been silent: no news for three report intervals. Zero: there is
  // news.
  absl::Duration silent_for = absl::ZeroDuration();
  friend bool operator==(const Coverage&, const Coverage&) = default;
};

// How wrong an indicator was ([NF] 7.4), in points of progress, 0..100.
struct IndicatorError {
  std::string indicator;
  double reduce_avg_error_points = 0;
  double reduce_max_error_points = 0;
  double job_avg_error_points = 0;
  double job_max_error_points = 0;
  std::optional<double> interval_coverage;
  friend bool operator==(const IndicatorError&, const IndicatorError&) = default;
};

struct Snapshot {
  std::string job_id;
  std::string run_uid;  // which run of the job; empty: not said
  std::string job_name;
  std::uint64_t sequence = 0;
  absl::Time at;
  JobState state = JobState::kRunning;
  std::string message;
  absl::Time started_at;
  absl::Duration elapsed;
  std::vector<PhaseProgress> phases;
  std::vector<Forecast> forecasts;  // the first is the one to show
  std::optional<Straggler> straggler;
  Coverage coverage;
  std::vector<IndicatorError> errors;  // in the final snapshot of a job that succeeded

  bool is_final() const { return state != JobState::kRunning; }
  friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

}  // namespace tidemark
