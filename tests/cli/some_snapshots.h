// Snapshots to draw.
#pragma once

#include <string>

#include "tidemark/snapshot.h"

namespace tidemark::console {

inline Forecast SomeForecast(const std::string& indicator, double fraction_done) {
  return {.indicator = indicator, .state = ForecastState::kValid, .fraction_done = fraction_done};
}

// In the reduce phase, at 41 %, with a straggler.
inline Snapshot SomeSnapshot() {
  const absl::Time start = absl::FromUnixSeconds(1'700'000'000);
  Snapshot snapshot{.job_id = "job-1",
                    .job_name = "two-path",
                    .sequence = 7,
                    .at = start + absl::Seconds(72),
                    .started_at = start,
                    .elapsed = absl::Seconds(72)};
  snapshot.phases = {{.phase = Phase::kMap,
                      .state = PhaseState::kDone,
                      .fraction_done = 1,
                      .task_count = 8,
                      .finished_task_count = 8},
                     {.phase = Phase::kShuffle,
                      .state = PhaseState::kDone,
                      .fraction_done = 1,
                      .task_count = 4,
                      .finished_task_count = 4},
                     {.phase = Phase::kReduce,
                      .state = PhaseState::kRunning,
                      .fraction_done = 0.3,
                      .task_count = 4,
                      .running_task_count = 2,
                      .finished_task_count = 1}};
  Forecast main = SomeForecast("nearestfit", 0.41);
  main.remaining = absl::Seconds(198);
  main.remaining_lower = absl::Seconds(171);
  main.remaining_upper = absl::Seconds(249);
  Forecast hadoop = SomeForecast("hadoop", 0.88);
  hadoop.remaining = absl::Seconds(10);
  snapshot.forecasts = {main, hadoop, SomeForecast("jobratio", 0.79)};
  snapshot.straggler = {
      .attempt = {.stage = kReduceStage, .index = 2},
      .in_heaviest_group = true,
      .reason = "Reduce task 2 ends last: 1.2 MB key, 61 % of its remaining time"};
  snapshot.coverage.map_profiles = 1;
  return snapshot;
}

inline Snapshot WarmingUp() {
  Snapshot snapshot = SomeSnapshot();
  snapshot.phases[0] = {.phase = Phase::kMap,
                        .state = PhaseState::kRunning,
                        .fraction_done = 0.375,
                        .task_count = 8,
                        .running_task_count = 2,
                        .finished_task_count = 3};
  snapshot.phases[1].state = PhaseState::kPending;
  snapshot.phases[2].state = PhaseState::kPending;
  snapshot.forecasts = {{.indicator = "nearestfit"}};
  snapshot.straggler.reset();
  return snapshot;
}

inline Snapshot Overdue() {
  Snapshot snapshot = SomeSnapshot();
  snapshot.forecasts[0] = {
      .indicator = "nearestfit", .state = ForecastState::kOverdue, .fraction_done = 0.999};
  return snapshot;
}

inline Snapshot Ended(JobState state) {
  Snapshot snapshot = SomeSnapshot();
  snapshot.state = state;
  snapshot.phases[2].state = PhaseState::kDone;
  snapshot.straggler.reset();
  for (Forecast& forecast : snapshot.forecasts) {
    const double fraction = state == JobState::kSucceeded ? 1 : forecast.fraction_done;
    forecast = {
        .indicator = forecast.indicator, .state = ForecastState::kFinal, .fraction_done = fraction};
  }
  return snapshot;
}

inline Snapshot Succeeded() {
  Snapshot snapshot = Ended(JobState::kSucceeded);
  snapshot.errors = {{.indicator = "nearestfit",
                      .reduce_avg_error_points = 2.14,
                      .reduce_max_error_points = 8.9,
                      .job_avg_error_points = 1.8,
                      .job_max_error_points = 9.1,
                      .interval_coverage = 0.92},
                     {.indicator = "hadoop",
                      .reduce_avg_error_points = 31,
                      .reduce_max_error_points = 62.1,
                      .job_avg_error_points = 30.2,
                      .job_max_error_points = 61}};
  return snapshot;
}

inline Snapshot Failed() {
  Snapshot snapshot = Ended(JobState::kFailed);
  snapshot.message = "r-1 failed four times: out of memory";
  return snapshot;
}

}  // namespace tidemark::console
