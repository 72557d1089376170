#include "master/workflow/check_workflow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "tests/workflow/some_workflows.h"
#include "tidemark/limit.h"

namespace tidemark::workflow {
namespace {

using test::Diamond;
using test::JobNamed;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(CheckWorkflow, TakesADiamond) {
  EXPECT_TRUE(CheckWorkflow(Diamond(), {}).ok());
  EXPECT_THAT(ParentsOf(Diamond()),
              ElementsAre(IsEmpty(), ElementsAre(0), ElementsAre(0), ElementsAre(1, 2)));
}

struct Fault {
  const char* name;
  std::function<void(WorkflowSpec&)> spoil;
  const char* says;
};

class CheckWorkflowFault : public ::testing::TestWithParam<Fault> {};

TEST_P(CheckWorkflowFault, IsNamed) {
  WorkflowSpec workflow = Diamond();
  GetParam().spoil(workflow);
  const absl::Status status = CheckWorkflow(workflow, {});
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Faults, CheckWorkflowFault,
    ::testing::Values(
        Fault{"NoId", [](auto& w) { w.id.clear(); }, "workflow: id has 0 bytes"},
        Fault{"NoJobs", [](auto& w) { w.jobs.clear(); }, "has no jobs"},
        Fault{"NoName", [](auto& w) { w.jobs[2].name.clear(); }, "job 3: name has 0 bytes"},
        Fault{"TwoOfAName", [](auto& w) { w.jobs[1].name = "c"; }, "job c: the name is taken"},
        Fault{"TwoOfAnId", [](auto& w) { w.jobs[1].job_id = "a-1"; }, "job b: job_id a-1 is taken"},
        Fault{"EdgeToNowhere", [](auto& w) { w.jobs[1].after = {"x"}; },
              "job b: after: unknown job x"},
        Fault{"Cycle", [](auto& w) { w.jobs[0].after = {"d"}; }, "a cycle: "},
        Fault{"WaitsForItself", [](auto& w) { w.jobs[3].after = {"d"}; }, "d waits for d"},
        Fault{"NoSlots", [](auto& w) { w.cluster.slots = 0; }, "slots must be 1 to "},
        Fault{"QueueThatIsNone",
              [](auto& w) {
                w.cluster.policy = SchedulingPolicy::kCapacity;
                w.cluster.queues = {{"etl", 1}};
              },
              "job a: queue is missing"},
        Fault{"CapacityWithoutQueues",
              [](auto& w) { w.cluster.policy = SchedulingPolicy::kCapacity; },
              "policy capacity needs queues"},
        Fault{"QueueWithoutShare",
              [](auto& w) {
                w.cluster.queues = {{"etl", 0}};
              },
              "queue etl: its share must be a finite number above 0, not 0"},
        Fault{"NegativeSpeed", [](auto& w) { w.cluster.node = ResourceProfile{.network = -1}; },
              "the speeds of a node"},
        Fault{"NegativeVariation",
              [](auto& w) {
                w.jobs[0].profile = test::Profile(1, 1, 1, 1);
                w.jobs[0].profile->map_task_variation = -1;
              },
              "job a: profile.map_task_variation must be a finite number of at least 0, not -1"},
        Fault{"NoNumber",
              [](auto& w) {
                w.jobs[0].profile = test::Profile(1, 1, 1, 1);
                w.jobs[0].profile->split_bytes = NAN;
              },
              "job a: profile.split_bytes must be a finite number of at least 0, not nan"},
        Fault{"ProfileWithoutTime", [](auto& w) { w.jobs[0].profile = JobProfile{}; },
              "job a: the profile has no task time"}),
    [](const auto& tested) { return tested.param.name; });

TEST(CheckWorkflow, NamesTheJobsOfACycleInOrder) {
  WorkflowSpec workflow = {.id = "w", .cluster = {.slots = 1}};
  workflow.jobs = {JobNamed("before"), JobNamed("x", {"z", "before"}), JobNamed("y", {"x"}),
                   JobNamed("z", {"y"}), JobNamed("after", {"z"})};
  EXPECT_EQ(CheckWorkflow(workflow, {}).message(),
            "workflow: its jobs form a cycle: x waits for z waits for y waits for x");
}

TEST(CheckWorkflow, RefusesMoreJobsThanTheLimit) {
  const absl::Status status = CheckWorkflow(Diamond(), {.jobs_max = 3});
  EXPECT_EQ(ExceededLimit(status), "jobs_per_workflow");
}

TEST(CheckWorkflow, ALongChainIsCheckedInLinearTime) {
  WorkflowSpec workflow = {.id = "w", .cluster = {.slots = 1}};
  workflow.jobs.push_back(JobNamed("0"));
  for (int i = 1; i < 50'000; ++i) {
    workflow.jobs.push_back(JobNamed(std::to_string(i), {std::to_string(i - 1)}));
  }
  EXPECT_TRUE(CheckWorkflow(workflow, {.jobs_max = 50'000}).ok());
}

}  // namespace
}  // namespace tidemark::workflow
