// Plans of jobs and snapshots of their jobs for tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "tidemark/event.h"
#include "tidemark/job.h"
#include "tidemark/plan.h"

namespace tidemark::test {

// Returns the time `seconds` after the submission.
inline absl::Time Second(double seconds) {
  return absl::FromUnixSeconds(1'700'000'000) + absl::Seconds(seconds);
}

// Returns map and reduce tasks with these times and no spread.
inline JobProfile Profile(std::uint32_t maps, double map_seconds, std::uint32_t reduces,
                          double reduce_seconds) {
  return {.map_tasks = maps,
          .reduce_tasks = reduces,
          .map_task_time = absl::Seconds(map_seconds),
          .reduce_task_time = absl::Seconds(reduce_seconds)};
}

// Returns a job with the given name and the id "NAME-1".
inline PlannedJob JobNamed(const std::string& name, std::vector<std::string> after = {}) {
  return {.name = name, .job_id = name + "-1", .after = std::move(after)};
}

// Returns one node with these cores, whose disks and network move `bytes_per_second` each.
inline Cluster OneNode(std::uint32_t slots, double cores, double bytes_per_second) {
  return {.slots = slots,
          .nodes = 1,
          .node = ResourceProfile{.disk_read = bytes_per_second,
                                  .disk_write = bytes_per_second,
                                  .dfs_read = bytes_per_second,
                                  .dfs_write = bytes_per_second,
                                  .network = bytes_per_second,
                                  .cores = cores}};
}

// Returns the plan a -> b, a -> c, b and c -> d, on 4 slots.
inline Plan Diamond() {
  return {.id = "wf",
          .jobs = {JobNamed("a"), JobNamed("b", {"a"}), JobNamed("c", {"a"}),
                   JobNamed("d", {"b", "c"})},
          .cluster = {.slots = 4}};
}

// Returns a snapshot at `at` of a job that started at `start`. Its own forecast is `remaining`.
inline Snapshot Running(const std::string& job_id, double start, double at, double remaining) {
  Snapshot snapshot = {.job_id = job_id, .sequence = 1, .at = Second(at)};
  snapshot.state = JobState::kRunning;
  snapshot.started_at = Second(start);
  snapshot.stage_infos = {{.id = {0, kReduceStage}, .name = "reduce", .kind = StageKind::kReduce}};
  snapshot.stages = {{.id = {0, kReduceStage},
                      .state = StageState::kRunning,
                      .tasks = 4,
                      .running_tasks = 4,
                      .started_at = Second(start)}};
  snapshot.estimate.state = EstimateState::kValid;
  snapshot.estimate.basis = Basis::kThisRun;
  snapshot.estimate.known_share = 1;
  snapshot.estimate.remaining = Range{.median = absl::Seconds(remaining),
                                      .lower = absl::Seconds(remaining * 0.8),
                                      .upper = absl::Seconds(remaining * 1.5)};
  return snapshot;
}

inline Snapshot Ended(const std::string& job_id, double start, double at,
                      JobState state = JobState::kSucceeded, std::string message = "") {
  Snapshot snapshot = {.job_id = job_id, .sequence = 2, .at = Second(at)};
  snapshot.state = state;
  snapshot.is_final = true;
  snapshot.message = std::move(message);
  snapshot.started_at = Second(start);
  snapshot.ended_at = Second(at);
  return snapshot;
}

// Returns the median in seconds, or -1 if there is no forecast.
inline double SecondsOf(const std::optional<Range>& range) {
  return range ? absl::ToDoubleSeconds(range->median) : -1;
}

}  // namespace tidemark::test
