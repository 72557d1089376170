#include "master/forecast/dag/check_workflow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/dag/some_workflows.h"
#include "tidemark/field_error.h"
#include "tidemark/limit.h"

namespace tidemark::workflow {
namespace {

using test::Diamond;
using test::JobNamed;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CheckWorkflow, TakesADiamond) {
  EXPECT_TRUE(CheckWorkflow(Diamond(), 4).ok());
  EXPECT_THAT(ParentsOf(Diamond()),
              ElementsAre(IsEmpty(), ElementsAre(0), ElementsAre(0), ElementsAre(1, 2)));
}

TEST(CheckWorkflow, RefusesWhatMakesNoSenseAsAPlan) {
  Plan plan = Diamond();
  plan.jobs[0].after = {"d"};
  EXPECT_EQ(CheckWorkflow(plan, 4).message(),
            "jobs[0].after: is part of a cycle: a waits for d waits for c waits for a");
  plan = Diamond();
  plan.cluster.policy = SchedulingPolicy::kCapacity;
  EXPECT_EQ(WrongFieldOf(CheckWorkflow(plan, 4)).path, "cluster.queues");
}

TEST(CheckWorkflow, RefusesAPlanWithoutAnId) {
  Plan plan = Diamond();
  plan.id.clear();
  EXPECT_EQ(CheckWorkflow(plan, 4).message(), "id: is missing");
}

TEST(CheckWorkflow, RefusesJobsThatAreDescribedByStages) {
  Plan plan = Diamond();
  plan.jobs[1].stages = {{.name = "scan", .task_count = 1, .task_times = {absl::Seconds(1)}}};
  EXPECT_TRUE(CheckPlan(plan).ok());
  EXPECT_EQ(WrongFieldOf(CheckWorkflow(plan, 4)).path, "jobs[1].stages");
}

TEST(CheckWorkflow, RefusesMoreJobsThanTheLimit) {
  EXPECT_EQ(ExceededLimit(CheckWorkflow(Diamond(), 3)), "jobs_per_workflow");
}

TEST(CheckWorkflow, ALongChainIsCheckedInLinearTime) {
  Plan plan = {.id = "w", .cluster = {.slots = 1}};
  plan.jobs.push_back(JobNamed("0"));
  for (int i = 1; i < 50'000; ++i) {
    plan.jobs.push_back(JobNamed(std::to_string(i), {std::to_string(i - 1)}));
  }
  EXPECT_TRUE(CheckWorkflow(plan, 50'000).ok());
}

}  // namespace
}  // namespace tidemark::workflow
