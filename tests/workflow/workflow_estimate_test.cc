#include "master/workflow/workflow_estimate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/workflow/some_stages.h"

namespace tidemark::workflow {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr EstimateOptions kOptions;

WorkflowEstimate Estimate(const WorkflowNow& now,
                          const std::vector<const WorkflowProfile*>& history, double slots,
                          const EstimateOptions& options = kOptions) {
  const auto estimate = EstimateWorkflow(now, history, Slots(slots), options);
  EXPECT_TRUE(estimate.ok()) << estimate.status();
  return estimate.value_or(WorkflowEstimate{});
}

StageProfile Profile(std::string name, std::uint64_t tasks, double seconds,
                     std::vector<std::size_t> parents = {}) {
  StageProfile profile = {.name = std::move(name), .parents = std::move(parents), .tasks = tasks};
  for (auto& kind : profile.seconds) kind = {seconds};
  return profile;
}

StageNow Shape(const StageProfile& profile) {
  return {.name = profile.name, .parents = profile.parents, .tasks = profile.tasks};
}

// Scan 8 x 10 s, join 4 x 5 s on 4 slots: 20 + 5 s.
WorkflowProfile ScanAndJoin() {
  return {.slots = 4, .stages = {Profile("scan", 8, 10), Profile("join", 4, 5, {0})}};
}

TEST(WorkflowEstimate, FollowsTheEarlierRun) {
  const WorkflowProfile run = ScanAndJoin();
  const WorkflowNow now = {.stages = {Shape(run.stages[0]), Shape(run.stages[1])}};
  const WorkflowEstimate estimate = Estimate(now, {&run}, 4);
  EXPECT_NEAR(estimate.remaining, 25, 2.5);
  EXPECT_LT(estimate.lower, estimate.remaining);
  EXPECT_LT(estimate.remaining, estimate.upper);
  EXPECT_THAT(estimate.critical_path, ElementsAre(0, 1));
  EXPECT_DOUBLE_EQ(estimate.known_share, 1);
}

TEST(WorkflowEstimate, ExpectsStagesThatAreNotThereYet) {
  const WorkflowProfile run = ScanAndJoin();
  const WorkflowNow now = {.stages = {Shape(run.stages[0])}};
  const WorkflowEstimate estimate = Estimate(now, {&run}, 4);
  ASSERT_EQ(estimate.stages.size(), 2u);
  EXPECT_TRUE(estimate.stages[1].is_expected_only);
  EXPECT_NEAR(estimate.remaining, 25, 2.5);
}

TEST(WorkflowEstimate, CountsDownAsTasksEnd) {
  const WorkflowProfile run = ScanAndJoin();
  WorkflowNow now = {.stages = {Shape(run.stages[0]), Shape(run.stages[1])}, .elapsed = 10};
  now.stages[0].finished.assign(4, {.seconds = 10, .warmth = Warmth::kRest});
  now.stages[0].running.assign(4, {.elapsed = 0, .warmth = Warmth::kRest});
  EXPECT_NEAR(Estimate(now, {&run}, 4).remaining, 15, 1.5);
  now.stages[0].finished.assign(8, {.seconds = 10, .warmth = Warmth::kRest});
  now.stages[0].running.clear();
  now.stages[1].finished.assign(4, {.seconds = 5, .warmth = Warmth::kRest});
  EXPECT_EQ(Estimate(now, {&run}, 4).remaining, 0);
}

TEST(WorkflowEstimate, TheSameArgumentsGiveTheSameBits) {
  const WorkflowProfile run = ScanAndJoin();
  const WorkflowNow now = {.stages = {Shape(run.stages[0])}};
  EXPECT_EQ(Estimate(now, {&run}, 4).remaining, Estimate(now, {&run}, 4).remaining);
}

TEST(WorkflowEstimate, IsWideWithoutAnyHistoryAndNarrowsWithTasks) {
  WorkflowNow now = {.stages = {{.name = "scan", .tasks = 100}}, .elapsed = 10};
  now.stages[0].running.assign(4, {.elapsed = 10, .warmth = Warmth::kFresh});
  const WorkflowEstimate blind = Estimate(now, {}, 4);
  EXPECT_DOUBLE_EQ(blind.known_share, 0);
  now.stages[0].finished.assign(50, {.seconds = 10, .warmth = Warmth::kRest});
  now.stages[0].running.clear();
  const WorkflowEstimate half = Estimate(now, {}, 4);
  EXPECT_GT(blind.upper / blind.lower, 4);
  EXPECT_LT(half.upper / half.lower, 2);
  EXPECT_NEAR(half.remaining, 50 * 10 / 4, 20);
}

TEST(WorkflowEstimate, AdmitsStagesThatNobodyKnowsOf) {
  WorkflowNow now = {.stages = {{.name = "scan", .tasks = 4}}, .elapsed = 100};
  now.stages[0].finished.assign(4, {.seconds = 10, .warmth = Warmth::kRest});
  EstimateOptions options;
  options.may_grow = true;
  EXPECT_GT(Estimate(now, {}, 4, options).upper, 100);
}

TEST(WorkflowEstimate, SaysWhatIsWrong) {
  WorkflowNow now = {.stages = {{.name = "a", .parents = {0}, .tasks = 1}}};
  EXPECT_THAT(EstimateWorkflow(now, {}, Slots(1), kOptions).status().message(), HasSubstr("cycle"));
  EXPECT_FALSE(EstimateWorkflow({}, {}, Slots(1), {.draws = 0}).ok());
}

TEST(WorkflowEstimate, IsZeroWithoutStages) { EXPECT_EQ(Estimate({}, {}, 1).remaining, 0); }

// Whatever state a workflow is in: finite, ordered, not negative.
TEST(WorkflowEstimate, IsFiniteAndOrderedInAnyState) {
  std::mt19937_64 random(21);
  const WorkflowProfile run = ScanAndJoin();
  for (int round = 0; round < 300; ++round) {
    WorkflowNow now = {.elapsed = static_cast<double>(random() % 100)};
    for (std::size_t i = 0; i < 1 + random() % 6; ++i) {
      StageNow stage = {.name = random() % 2 == 0 ? "scan" : "other", .tasks = random() % 9};
      if (i > 0 && random() % 2 == 0) stage.parents = {random() % i};
      for (std::size_t k = 0; k < random() % 4; ++k) {
        stage.finished.push_back(
            {static_cast<double>(random() % 3) * 1e6, static_cast<Warmth>(random() % kWarmths)});
      }
      for (std::size_t k = 0; k < random() % 3; ++k) {
        stage.running.push_back(
            {static_cast<double>(random() % 50), static_cast<Warmth>(random() % kWarmths)});
      }
      now.stages.push_back(std::move(stage));
    }
    EstimateOptions options;
    options.may_grow = random() % 2 == 0;
    const WorkflowEstimate estimate =
        random() % 2 == 0 ? Estimate(now, {&run}, 3, options) : Estimate(now, {}, 3, options);
    EXPECT_TRUE(std::isfinite(estimate.upper)) << round;
    EXPECT_GE(estimate.lower, 0) << round;
    EXPECT_LE(estimate.lower, estimate.remaining) << round;
    EXPECT_LE(estimate.remaining, estimate.upper) << round;
  }
}

}  // namespace
}  // namespace tidemark::workflow
