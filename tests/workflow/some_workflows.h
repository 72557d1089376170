// Workflows of jobs for tests, and what their jobs say.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "tidemark/snapshot.h"
#include "tidemark/workflow.h"

namespace tidemark::test {

// Seconds after the submission.
inline absl::Time Second(double seconds) {
  return absl::FromUnixSeconds(1'700'000'000) + absl::Seconds(seconds);
}

// Map and reduce tasks that take so long each, without any spread.
inline JobProfile Profile(std::uint32_t maps, double map_seconds, std::uint32_t reduces,
                          double reduce_seconds) {
  return {.map_tasks = maps,
          .reduce_tasks = reduces,
          .map_task_time = absl::Seconds(map_seconds),
          .reduce_task_time = absl::Seconds(reduce_seconds)};
}

// A job named `name` with the id "NAME-1".
inline WorkflowJob JobNamed(const std::string& name, std::vector<std::string> after = {}) {
  return {.name = name, .job_id = name + "-1", .after = std::move(after)};
}

// a -> b, a -> c, b and c -> d, on 4 slots.
inline WorkflowSpec Diamond() {
  return {.id = "wf",
          .jobs = {JobNamed("a"), JobNamed("b", {"a"}), JobNamed("c", {"a"}),
                   JobNamed("d", {"b", "c"})},
          .cluster = {.slots = 4}};
}

// A snapshot of a job that began at `start`, at `at`, with so much left by its own forecast.
inline Snapshot Running(const std::string& job_id, double start, double at, double remaining) {
  Snapshot snapshot = {.job_id = job_id, .sequence = 1, .at = Second(at)};
  snapshot.started_at = Second(start);
  snapshot.elapsed = absl::Seconds(at - start);
  snapshot.phases = {{.phase = Phase::kReduce,
                      .state = PhaseState::kRunning,
                      .task_count = 4,
                      .running_task_count = 4}};
  snapshot.forecasts = {{.indicator = "tidemark",
                         .state = ForecastState::kValid,
                         .remaining = absl::Seconds(remaining),
                         .remaining_lower = absl::Seconds(remaining * 0.8),
                         .remaining_upper = absl::Seconds(remaining * 1.5)}};
  return snapshot;
}

inline Snapshot Ended(const std::string& job_id, double start, double at,
                      JobState state = JobState::kSucceeded, std::string message = "") {
  Snapshot snapshot = {.job_id = job_id,
                       .sequence = 2,
                       .at = Second(at),
                       .state = state,
                       .message = std::move(message)};
  snapshot.started_at = Second(start);
  snapshot.elapsed = absl::Seconds(at - start);
  return snapshot;
}

}  // namespace tidemark::test
