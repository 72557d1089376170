// Events of every kind with every field set, which tests encode and parse.
#pragma once

#include <vector>

#include "tidemark/event.h"

namespace tidemark::wire {

inline Event WithBody(EventBody body) {
  Event event;
  event.job_id = "job-1";
  event.run_uid = "run-1";
  event.source_id = "host-7";
  event.sequence = 42;
  event.sent_at = absl::FromUnixMillis(1'700'000'000'001);
  event.arrived_at = absl::FromUnixMillis(1'700'000'000'250);
  event.dropped_events = 3;
  event.body = std::move(body);
  return event;
}

inline StageOpened SomeStage() {
  StageOpened stage;
  stage.stage = 7;
  stage.attempt = 1;
  stage.name = "join";
  stage.signature = "join of orders and lines";
  stage.parents = {3, 5};
  stage.group = "query 4";
  stage.kind = StageKind::kGeneric;
  stage.task_count = 2;
  stage.skipped = true;
  stage.pool = "etl";
  stage.index_count = 3;
  stage.work = 0xfedcba9876543210;
  stage.task_bytes = {1'000, 1ull << 40, 0};
  stage.task_records = {10, 0, 0};
  stage.size_precision = SizePrecision::kRounded;
  stage.slots = 4;
  stage.opened_at = absl::FromUnixMillis(1'700'000'000'100);
  return stage;
}

inline JobOpened SomeJobOpened() {
  JobOpened job;
  job.name = "word count";
  job.engine = "local";
  job.application_id = "application_1";
  job.user = "ann";
  job.queue = "default";
  job.submitted_at = absl::FromUnixMillis(1'700'000'000'000);
  job.deadline = absl::FromUnixMillis(1'700'000'600'000);
  job.application_master_attempt = 2;
  job.parameters = {{"k", "80"}, {"letters", "a,f,h"}};
  job.workflow = JobWorkflow{.id = "pig_1",
                             .name = "s.pig",
                             .node = "b",
                             .nodes = {{"a", {}}, {"b", {"a"}}},
                             .parent_job_ids = {"job_1"},
                             .quiet = absl::Seconds(30)};
  job.stages = MapReduceStages(30, 4);
  job.stages[kMapStage].slots = 8;
  job.stages[kMapStage].partition_count = 4;
  job.stages[kMapStage].has_combiner = false;
  job.stages[kReduceStage].is_grouping_opaque = true;
  return job;
}

inline AttemptChanged SomeAttemptChanged() {
  AttemptChanged changed;
  changed.attempt = {kReduceStage, 3, 1};
  changed.state = AttemptState::kFailed;
  changed.at = absl::FromUnixMillis(1'700'000'000'200);
  changed.executor = 0;
  changed.speculative = true;
  changed.input_bytes = 1 << 20;
  changed.input_records = 0;
  changed.input_name = "orders";
  changed.failure = "disk full";
  changed.task_failed = true;
  return changed;
}

inline TaskHeartbeat SomeHeartbeat() {
  TaskHeartbeat heartbeat{{.stage = 7, .index = 1, .attempt = 2, .stage_attempt = 1}, 5, 6, 7};
  heartbeat.time = {
      .cpu = absl::Microseconds(8),
      .waits = {{WaitReason::kSlots, absl::ZeroDuration()},
                {WaitReason::kProcessor, absl::Microseconds(9)},
                {WaitReason::kMemory, absl::Seconds(1)},
                {WaitReason::kNetwork, absl::Seconds(2)},
                {WaitReason::kIo, absl::Seconds(3)},
                {WaitReason::kScan, absl::Seconds(4)}},
      .moved_bytes = {{WaitReason::kNetwork, 0}, {WaitReason::kIo, 10}, {WaitReason::kScan, 11}}};
  heartbeat.input_is_read_first = true;
  return heartbeat;
}

inline MapProfile SomeMapProfile() {
  MapProfile profile;
  profile.attempt = {kMapStage, 17, 0};
  PartitionProfile first;
  first.partition = 0;
  first.total_bytes = 1000;
  first.explicit_keys = {{KeyHash{0xFEED}, 600}, {KeyHash{0xBEEF}, 100}};
  first.implicit_key_count = 12;
  first.implicit_bytes = 300;
  first.scanned_bytes = 1000;
  PartitionProfile second;
  second.partition = 3;
  second.total_bytes = 5;
  second.implicit_key_count = 1;
  second.implicit_bytes = 5;
  second.sampled_keys = {{KeyHash{0xCAFE}, 5}};
  profile.partitions = {first, second};
  profile.sampled_below = 0xFFFF'FFFF'FFFF'0000;
  profile.sampled_below_per_byte = 0x1234'5678'9ABC;
  return profile;
}

inline ReduceProfile SomeReduceProfile() {
  ReduceProfile profile;
  profile.attempt = {kReduceStage, 2, 0};
  profile.last_group_finished_at = absl::FromUnixMillis(1'700'000'000'300);
  profile.groups_done = 40;
  profile.bytes_done = 9'000;
  profile.reduce_time = absl::Milliseconds(1234);
  profile.points = {{10, 4, absl::Nanoseconds(900)}, {700, 1, absl::Milliseconds(2)}};
  profile.bins = {{19, 4, 40, 9e-7, 2e-13, 12}, {56, 1, 700, 2e-3, 4e-6, 0}};
  profile.keys_named = true;
  profile.named_group_bytes_min = 50;
  profile.finished_keys = {{KeyHash{0xFEED}, 700, absl::Milliseconds(2), 77}};
  profile.running_group = RunningGroup{KeyHash{0xBEEF}, absl::Seconds(3), 100, 7, 20};
  profile.dropped_points = 1;
  profile.processor_use = ProcessorUse{absl::Seconds(8), absl::Seconds(2), 4};
  profile.time = {
      .cpu = absl::Microseconds(8),
      .waits = {{WaitReason::kSlots, absl::Microseconds(1)},
                {WaitReason::kProcessor, absl::Microseconds(2)},
                {WaitReason::kMemory, absl::Microseconds(3)},
                {WaitReason::kNetwork, absl::Microseconds(4)},
                {WaitReason::kIo, absl::Microseconds(5)},
                {WaitReason::kScan, absl::Microseconds(6)}},
      .moved_bytes = {{WaitReason::kNetwork, 6}, {WaitReason::kIo, 7}, {WaitReason::kScan, 8}}};
  return profile;
}

inline std::vector<Event> SomeEvents() {
  return {WithBody(SomeJobOpened()),
          WithBody(JobOpened{}),
          WithBody(JobClosed{JobOutcome::kKilled, "by hand", absl::FromUnixSeconds(1'700'000'009)}),
          WithBody(JobClosed{}),
          WithBody(StageClosed{.stage = 7,
                               .attempt = 1,
                               .outcome = JobOutcome::kFailed,
                               .message = "fetch failed",
                               .at = absl::FromUnixSeconds(1'700'000'005)}),
          WithBody(GroupOpened{
              "sql/3", "the sales of May", absl::FromUnixSeconds(1'700'000'001), {12, 0, 1}}),
          WithBody(GroupClosed{.group = "sql/3",
                               .outcome = JobOutcome::kFailed,
                               .message = "no such table",
                               .at = absl::FromUnixSeconds(1'700'000'007)}),
          WithBody(ExecutorClosed{4}),
          WithBody(SomeAttemptChanged()),
          WithBody(AttemptChanged{}),
          WithBody(SomeStage()),
          WithBody(StageOpened{}),
          WithBody(ExecutorOpened{3, "node-5", "/rack-1", "container_7", 2}),
          WithBody(ExecutorOpened{}),
          WithBody(UnknownEvent{}),
          WithBody(TaskHeartbeat{{kMapStage, 9, 0}, 100, 10, 50}),
          WithBody(SomeHeartbeat()),
          WithBody(SomeMapProfile()),
          WithBody(MapProfile{}),
          WithBody(SomeReduceProfile()),
          WithBody(ReduceProfile{.attempt = {kReduceStage, 0, 0}})};
}

}  // namespace tidemark::wire
