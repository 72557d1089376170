// Workflows of jobs for tests, and what their jobs say.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "tidemark/job.h"
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
inline next::Snapshot Running(const std::string& job_id, double start, double at,
                              double remaining) {
  return {.job_id = job_id,
          .sequence = 1,
          .at = Second(at),
          .state = next::JobState::kRunning,
          .started_at = Second(start),
          .estimate = {.state = next::EstimateState::kValid,
                       .remaining =
                           next::Range{absl::Seconds(remaining), absl::Seconds(remaining * 0.8),
                                       absl::Seconds(remaining * 1.5)},
                       .indicator = "tidemark"},
          .stage_infos = {{.id = {0, kReduceStage}, .kind = StageKind::kReduce}},
          .stages = {{.id = {0, kReduceStage},
                      .state = next::StageState::kRunning,
                      .tasks = 4,
                      .running_tasks = 4,
                      .started_at = Second(start)}}};
}

inline next::Snapshot Ended(const std::string& job_id, double start, double at,
                            next::JobState state = next::JobState::kSucceeded,
                            std::string message = "") {
  return {.job_id = job_id,
          .sequence = 2,
          .at = Second(at),
          .state = state,
          .is_final = true,
          .message = std::move(message),
          .started_at = Second(start),
          .ended_at = Second(at)};
}

}  // namespace tidemark::test
