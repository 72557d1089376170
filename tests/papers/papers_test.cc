#include "master/forecast/papers/papers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/placement/some_stages.h"

namespace tidemark::papers {
namespace {

using dag::StageNow;
using placement::Slots;
using ::testing::DoubleNear;
using ::testing::Optional;

TEST(JobMethods, AreCreatedByTheirListedNames) {
  for (const std::string& name : JobMethods()) {
    const auto method = MakeJobMethod(name);
    ASSERT_NE(method, nullptr) << name;
    EXPECT_EQ(method->name(), name);
  }
  EXPECT_EQ(MakeJobMethod("tidemark"), nullptr);
}

// Returns the forecast for two stages in sequence on two slots, 10 s after the start. The first has
// finished two of its four tasks, of 5 s each; the second, of four tasks, waits.
DagForecast After10s(const std::string& method) {
  StageNow first = {.name = "a", .tasks = 4};
  first.finished = {{.seconds = 5}, {.seconds = 5}};
  const std::vector<StageNow> stages = {first, {.name = "b", .parents = {0}, .tasks = 4}};
  return EstimateDag(method, {.stages = stages, .elapsed = 10, .history = {}, .on = Slots(2)});
}

TEST(DagMethods, AllForecastAnEndAfterTheFirstTasks) {
  for (const std::string& name : DagMethods()) {
    const DagForecast forecast = After10s(name);
    ASSERT_TRUE(forecast.remaining.has_value()) << name;
    EXPECT_TRUE(std::isfinite(*forecast.remaining) && *forecast.remaining > 0) << name;
  }
  EXPECT_EQ(After10s("tidemark").remaining, std::nullopt);
}

// 2 of 8 tasks, or half of one of two stages, are done in 10 s.
TEST(DagMethods, CountTasksOrStages) {
  EXPECT_THAT(After10s("tasks-done").remaining, Optional(DoubleNear(30, 1e-9)));
  EXPECT_THAT(After10s("stage-weighted").remaining, Optional(DoubleNear(30, 1e-9)));
}

// 2 tasks of 5 s run on 2 slots, then 4 more: 5 s and 10 s, by work and by waves.
TEST(DagMethods, UseFinishedTasksForTheOthers) {
  EXPECT_THAT(After10s("critical-path").remaining, Optional(DoubleNear(15, 1e-9)));
  EXPECT_THAT(After10s("mean-times-waves").remaining, Optional(DoubleNear(15, 1e-9)));
  EXPECT_THAT(After10s("alg1-mean").remaining, Optional(DoubleNear(15, 1e-9)));
  EXPECT_THAT(After10s("alg2-empirical").remaining, Optional(DoubleNear(15, 1e-9)));
}

}  // namespace
}  // namespace tidemark::papers
