// Example snapshots.
#pragma once

#include <string>

#include "tidemark/job.h"

namespace tidemark::console {

inline Estimate SomeEstimate(const std::string& indicator, double fraction_done) {
  return {.state = EstimateState::kValid,
          .fraction_done = fraction_done,
          .fraction_done_lower = fraction_done,
          .fraction_done_upper = fraction_done,
          .indicator = indicator};
}

// Returns a MapReduce job in its reduce stage, at 41 %, with a slow task.
inline Snapshot SomeSnapshot() {
  const absl::Time start = absl::FromUnixSeconds(1'700'000'000);
  Snapshot snapshot{.job_id = "job-1",
                    .sequence = 7,
                    .at = start + absl::Seconds(72),
                    .state = JobState::kRunning};
  snapshot.info = JobInfo{.name = "two-path", .kind = JobKind::kMapReduce};
  snapshot.started_at = start;
  snapshot.stage_infos = {{.id = {0, 0}, .name = "map", .kind = StageKind::kMap},
                          {.id = {0, 1}, .name = "reduce", .kind = StageKind::kReduce}};
  snapshot.stages = {{.id = {0, 0},
                      .state = StageState::kDone,
                      .fraction_done = 1,
                      .tasks = 8,
                      .finished_tasks = 8},
                     {.id = {0, 1},
                      .state = StageState::kRunning,
                      .fraction_done = 0.3,
                      .tasks = 4,
                      .running_tasks = 2,
                      .finished_tasks = 1,
                      .shuffle = ShuffleProgress{.fraction_done = 1, .finished_tasks = 4}}};
  snapshot.counts = {
      .stages = 2, .finished_stages = 1, .tasks = 12, .running_tasks = 2, .finished_tasks = 9};
  snapshot.estimate = SomeEstimate("", 0.41);
  snapshot.estimate.fraction_done_lower = 0.35;
  snapshot.estimate.fraction_done_upper = 0.5;
  snapshot.estimate.basis = Basis::kThisRun;
  snapshot.estimate.known_share = 1;
  snapshot.estimate.remaining = Range{absl::Seconds(198), absl::Seconds(171), absl::Seconds(249)};
  Estimate hadoop = SomeEstimate("hadoop", 0.88);
  hadoop.remaining = Range{absl::Seconds(10)};
  snapshot.indicators = {{.estimate = hadoop}, {.estimate = SomeEstimate("nearestfit", 0.79)}};
  snapshot.named_tasks = {
      {.attempt = {.stage = 1, .index = 2},
       .in_heaviest_group = true,
       .reason = "Reduce task 2 will end last: a key of 1.2 MB takes 61 % of its remaining time"}};
  snapshot.coverage = Coverage{.map_profiles = 1};
  return snapshot;
}

// Returns a job in its map stage, without an estimate.
inline Snapshot WarmingUp() {
  Snapshot snapshot = SomeSnapshot();
  snapshot.stages = {
      {.id = {0, 0},
       .state = StageState::kRunning,
       .fraction_done = 0.375,
       .tasks = 8,
       .running_tasks = 2,
       .finished_tasks = 3},
      {.id = {0, 1}, .state = StageState::kPending, .tasks = 4, .shuffle = ShuffleProgress{}}};
  snapshot.estimate = {.state = EstimateState::kWarmingUp, .indicator = "nearestfit"};
  snapshot.indicators.clear();
  snapshot.named_tasks.clear();
  return snapshot;
}

inline Snapshot Overdue() {
  Snapshot snapshot = SomeSnapshot();
  snapshot.estimate = {.state = EstimateState::kOverdue, .fraction_done = 0.999};
  return snapshot;
}

inline Snapshot Ended(JobState state) {
  Snapshot snapshot = SomeSnapshot();
  snapshot.state = state;
  snapshot.is_final = true;
  snapshot.ended_at = snapshot.at;
  snapshot.stages[1].state = StageState::kDone;
  snapshot.named_tasks.clear();
  const auto end = [&](Estimate& estimate) {
    const double fraction = state == JobState::kSucceeded ? 1 : estimate.fraction_done;
    estimate = {
        .state = EstimateState::kFinal, .fraction_done = fraction, .indicator = estimate.indicator};
  };
  end(snapshot.estimate);
  for (Indicator& indicator : snapshot.indicators) end(indicator.estimate);
  return snapshot;
}

inline Snapshot Succeeded() {
  Snapshot snapshot = Ended(JobState::kSucceeded);
  snapshot.errors = {{.indicator = "nearestfit",
                      .last_stage_avg_points = 2.14,
                      .last_stage_max_points = 8.9,
                      .job_avg_points = 1.8,
                      .job_max_points = 9.1,
                      .interval_coverage = 0.92},
                     {.indicator = "hadoop",
                      .last_stage_avg_points = 31,
                      .last_stage_max_points = 62.1,
                      .job_avg_points = 30.2,
                      .job_max_points = 61}};
  return snapshot;
}

inline Snapshot Failed() {
  Snapshot snapshot = Ended(JobState::kFailed);
  snapshot.message = "r-1 failed four times: out of memory";
  return snapshot;
}

// Returns a workflow of three jobs, of which one has ended, one is running and one is waiting.
inline Snapshot Visits() {
  const absl::Time start = absl::FromUnixSeconds(1'700'000'000);
  Snapshot snapshot{.job_id = "visits-1",
                    .sequence = 7,
                    .at = start + absl::Seconds(72),
                    .state = JobState::kRunning};
  snapshot.info = JobInfo{.name = "page visits", .kind = JobKind::kWorkflow};
  snapshot.started_at = start;
  snapshot.estimate = {
      .state = EstimateState::kValid,
      .fraction_done = 0.414,
      .fraction_done_lower = 0.22,
      .fraction_done_upper = 0.5,
      .remaining = Range{absl::Seconds(200), absl::Seconds(170), absl::Seconds(250)}};
  snapshot.counts = {.children = 3, .finished_children = 1};
  Child parse = {.number = 1, .name = "parse", .state = ChildState::kSucceeded};
  parse.estimate.fraction_done = 1;
  parse.started_at = start;
  parse.ended_at = start + absl::Seconds(40);
  Child count = {.number = 2, .name = "count", .state = ChildState::kRunning};
  count.estimate.state = EstimateState::kValid;
  count.estimate.fraction_done = 0.31;
  count.estimate.fraction_done_lower = 0.28;
  count.estimate.fraction_done_upper = 0.4;
  count.estimate.remaining = Range{absl::Seconds(60), absl::Seconds(50), absl::Seconds(70)};
  count.started_at = start + absl::Seconds(40);
  count.is_critical = true;
  Child revenue = {.number = 3, .name = "revenue", .state = ChildState::kPending};
  revenue.starts_in = Range{absl::Seconds(60)};
  revenue.estimate.remaining = Range{absl::Seconds(200)};
  revenue.after = {2};
  snapshot.children = {parse, count, revenue};
  return snapshot;
}

// Returns an application with fourteen stages, of which four are done and ten are running.
inline Snapshot Query() {
  Snapshot snapshot = Visits();
  snapshot.info = JobInfo{.name = "q64", .kind = JobKind::kApplication, .engine = "spark"};
  snapshot.children.clear();
  for (std::uint32_t i = 0; i < 14; ++i) {
    StageProgress stage = {.id = {0, i}, .state = StageState::kRunning, .fraction_done = 0.25};
    if (i < 4) stage.state = StageState::kDone;
    if (i >= 4) stage.ends_in = Range{absl::Seconds(60)};
    stage.is_critical = i == 5;
    snapshot.stages.push_back(stage);
    snapshot.stage_infos.push_back({.id = {0, i}, .name = i == 4 ? "scan" : ""});
  }
  snapshot.counts = {.stages = 14, .finished_stages = 4, .tasks = 100, .finished_tasks = 30};
  snapshot.estimate.known_share = 1;
  return snapshot;
}

// Returns an application without past runs, whose second query runs.
inline Snapshot SecondQuery() {
  Snapshot snapshot = Query();
  snapshot.stages.resize(6);
  snapshot.stage_infos.resize(6);
  for (StageInfo& info : snapshot.stage_infos) info.group = "sql/1";
  snapshot.headline_group = "sql/1";
  snapshot.counts.finished_groups = 1;
  snapshot.groups = {{.group = "sql/0", .state = JobState::kSucceeded, .fraction_done = 1},
                     {.group = "sql/1",
                      .name = "load",
                      .state = JobState::kRunning,
                      .fraction_done = 0.25,
                      .started_at = snapshot.at - absl::Seconds(20),
                      .ends_in = Range{absl::Seconds(60), absl::Seconds(40), absl::Seconds(80)},
                      .basis = Basis::kThisRun,
                      .estimate_state = EstimateState::kValid}};
  return snapshot;
}

// Returns a group that has run for 60 s and will end in 60 s.
inline Group HalfDoneGroup(const Snapshot& application) {
  return {.group = "sql/3",
          .state = JobState::kRunning,
          .fraction_done = 0.5,
          .started_at = application.at - absl::Seconds(60),
          .ends_in = Range{absl::Seconds(60)}};
}

// Returns an application without past runs. At 50 %, its total time may be between a tenth longer
// and ten times as long.
inline Snapshot UnknownQuery() {
  Snapshot snapshot = Query();
  snapshot.estimate = {.state = EstimateState::kValid,
                       .fraction_done = 0.5,
                       .fraction_done_lower = 0.09,
                       .fraction_done_upper = 0.91,
                       .remaining = Range{absl::Seconds(72), absl::Seconds(7), absl::Seconds(720)}};
  snapshot.may_grow = true;
  return snapshot;
}

}  // namespace tidemark::console
