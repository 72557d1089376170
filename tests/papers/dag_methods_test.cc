#include "bench/workflow/dag_methods.h"

#include "tests/placement/some_stages.h"
#include "tests/test.h"

namespace tidemark::papers::dag_methods_test {
namespace {

using dag::StageNow;
using placement::Slots;

// The edges are 0 (3 s) -> 1 (5 s) and 0 -> 2 (1 s) -> 3 (9 s). The path 0, 2, 3 takes 13 s, and 0,
// 1 takes 8 s.
TEST(LongestPath, IsTheLongestChainOfStages) {
  const placement::Parents parents = {{}, {0}, {0}, {2}};
  const auto order = placement::TopologicalOrder(parents).value();
  const CriticalPath path = LongestPath(parents, order, std::vector<double>{3, 5, 1, 9});
  EXPECT_THAT(path.stages, ElementsAre(0, 2, 3));
  EXPECT_DOUBLE_EQ(path.seconds, 13);
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
}  // namespace tidemark::papers::dag_methods_test
