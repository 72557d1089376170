#include "proto/wire/workflow_codec.h"

#include <gtest/gtest.h>

#include "tests/workflow/some_workflows.h"
#include "tidemark/v1/workflow.pb.h"

namespace tidemark::wire {
namespace {

using test::Second;

TEST(WorkflowCodec, AWorkflowComesBackAsItWent) {
  WorkflowSpec workflow = test::Diamond();
  workflow.name = "nightly";
  workflow.retry_within = absl::Minutes(3);
  workflow.jobs[1].history_name = "count";
  workflow.jobs[1].map_tasks = 7;
  workflow.jobs[1].input_bytes = std::uint64_t{1} << 40;
  workflow.jobs[2].profile = test::Profile(3, 1.5, 2, 2.5);
  workflow.jobs[2].profile->reduce_task_variation = 0.5;
  workflow.jobs[3].queue = "etl";
  workflow.cluster = {.slots = 8,
                      .nodes = 2,
                      .policy = SchedulingPolicy::kCapacity,
                      .queues = {{"etl", 2}},
                      .node = ResourceProfile{.disk_read = 1, .network = 5, .cores = 6}};
  v1::Workflow message;
  EncodeWorkflow(workflow, message);
  const auto parsed = ParseWorkflow(message);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(*parsed, workflow);
}

TEST(WorkflowCodec, RefusesATimeThatIsNone) {
  v1::Workflow message;
  message.mutable_retry_within()->set_seconds(-1);
  EXPECT_TRUE(absl::IsInvalidArgument(ParseWorkflow(message).status()));
}

TEST(WorkflowCodec, ASnapshotComesBackAsItWent) {
  WorkflowSnapshot snapshot = {.workflow_id = "w",
                               .name = "nightly",
                               .sequence = 9,
                               .at = Second(7),
                               .state = JobState::kAbandoned,
                               .message = "silence",
                               .started_at = Second(1),
                               .elapsed = absl::Seconds(6),
                               .fraction_done = 0.5,
                               .fraction_done_lower = 0.25,
                               .fraction_done_upper = 0.75,
                               .remaining = absl::Seconds(3),
                               .remaining_lower = absl::Seconds(2),
                               .remaining_upper = absl::Seconds(4),
                               .critical_path = {"a"},
                               .known_share = 0.5,
                               .notes = {"one"}};
  snapshot.jobs = {{.name = "a",
                    .job_id = "a-1",
                    .state = WorkflowJobState::kRetried,
                    .fraction_done = 0.5,
                    .started_at = Second(1),
                    .ended_at = Second(2),
                    .starts_in = absl::Seconds(1),
                    .ends_in = absl::Seconds(2),
                    .ends_in_lower = absl::Seconds(1.5),
                    .ends_in_upper = absl::Seconds(2.5),
                    .is_critical = true,
                    .basis = WorkflowBasis::kForecast,
                    .failed_attempts = 2,
                    .message = "out of disk",
                    .stages = {{.phase = Phase::kReduce,
                                .tasks = 5,
                                .pending = 2,
                                .running = 1,
                                .starts_in = absl::Seconds(1),
                                .ends_in = absl::Seconds(2),
                                .task_time = absl::Seconds(3),
                                .bottleneck = "network",
                                .is_critical = true}}},
                   {.name = "b", .state = WorkflowJobState::kCancelled}};
  v1::WorkflowSnapshot message;
  EncodeWorkflowSnapshot(snapshot, message);
  const auto parsed = ParseWorkflowSnapshot(message);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(*parsed, snapshot);
}

TEST(WorkflowCodec, RefusesAFractionBeyondItsBounds) {
  v1::WorkflowSnapshot message;
  message.set_fraction_done(1.5);
  EXPECT_TRUE(absl::IsInvalidArgument(ParseWorkflowSnapshot(message).status()));
}

}  // namespace
}  // namespace tidemark::wire
