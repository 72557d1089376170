#include "master/forecast/dag/application_forecast.h"

#include "tests/test.h"

namespace tidemark::dag::application_forecast_test {
namespace {

using durations::TimeDistribution;

durations::RemainingStage Stage(std::vector<std::size_t> parents, std::uint64_t pending,
                                double seconds = 1) {
  durations::RemainingStage stage = {.work = {.parents = std::move(parents), .pending = pending}};
  stage.times.alike.fill(TimeDistribution::Empirical({seconds}));
  return stage;
}

ApplicationForecast Estimated(std::vector<durations::RemainingStage> stages) {
  Application application = {.stages = std::move(stages), .draws = &durations::FixedDraws::For(10)};
  application.on.cluster = {.capacity = {.cores = 2}, .policy = placement::Policy::kFifo};
  for (std::size_t i = 0; i < application.stages.size(); ++i) {
    application.stages[i].number = static_cast<std::uint32_t>(10 * i);
    application.group_of_stage.push_back(i / 2);
  }
  return ForecastApplication(application).value();
}

TEST(ForecastApplication, OmitsCompletedStages) {
  std::vector<durations::RemainingStage> stages = {Stage({}, 0)};
  for (std::size_t i = 1; i < 100; ++i) stages.push_back(Stage({i - 1}, 0));
  stages.push_back(Stage({99}, 4, 5));
  stages.push_back(Stage({100}, 2, 3));
  const ApplicationForecast estimate = Estimated(std::move(stages));
  EXPECT_EQ(estimate.stages_placed, 2u);
  EXPECT_DOUBLE_EQ(estimate.end.median, 13);
  ASSERT_EQ(estimate.stages.size(), 102u);
  EXPECT_EQ(estimate.stages[99].number, 990u);
  EXPECT_EQ(estimate.stages[99].end, 0);
  EXPECT_EQ(estimate.stages[100].number, 1000u);
  EXPECT_DOUBLE_EQ(estimate.stages[100].end, 10);
  EXPECT_DOUBLE_EQ(estimate.stages[101].start, 10);
  EXPECT_THAT(estimate.critical_path, ElementsAre(100, 101));
  ASSERT_EQ(estimate.group_ends.size(), 51u);
  EXPECT_EQ(estimate.group_ends[49].median, 0);
  EXPECT_DOUBLE_EQ(estimate.group_ends[50].median, 13);
}

TEST(ForecastApplication, EndsAtOnceWithoutTasks) {
  const ApplicationForecast estimate = Estimated({Stage({}, 0), Stage({0}, 0)});
  EXPECT_EQ(estimate.stages_placed, 0u);
  EXPECT_EQ(estimate.end.upper, 0);
  EXPECT_EQ(estimate.stages.size(), 2u);
}

// A stage without tasks occurs when a stage runs again because its output was lost.
TEST(ForecastApplication, WaitsThroughAStageWithoutTasks) {
  const auto estimate = Estimated({Stage({}, 2, 7), Stage({0}, 0), Stage({1}, 2, 1)});
  EXPECT_DOUBLE_EQ(estimate.stages[2].start, 7);
  EXPECT_THAT(estimate.critical_path, ElementsAre(0, 2));
}

// Each group takes 10 s on the two slots, one after the other. More work may come to the
// application, but not to its groups.
TEST(ForecastApplication, GroupsDoNotGrow) {
  Application application = {.stages = {Stage({}, 4, 5), Stage({0}, 4, 5)},
                             .draws = &durations::FixedDraws::For(10),
                             .group_of_stage = {0, 1}};
  application.on.cluster = {.capacity = {.cores = 2}, .policy = placement::Policy::kFifo};
  application.stages[0].times.is_known = true;
  application.growth.assign(application.draws->count(), 7.0);
  const ApplicationForecast estimate = *ForecastApplication(application);
  EXPECT_THAT(estimate.group_known_shares, ElementsAre(1, 0));
  EXPECT_DOUBLE_EQ(estimate.known_share, 0.5);
  EXPECT_DOUBLE_EQ(estimate.end.median, 27);
  EXPECT_DOUBLE_EQ(estimate.group_ends[0].median, 10);
  EXPECT_DOUBLE_EQ(estimate.group_ends[1].median, 20);
}

TEST(ForecastApplication, RejectsAnUnknownParent) {
  Application application = {.draws = &durations::FixedDraws::For(1)};
  application.on.cluster = {.capacity = {.cores = 2}, .policy = placement::Policy::kFifo};
  for (const std::size_t unknown : {2, 3, 7}) {
    application.stages = {Stage({}, 0), Stage({0, unknown}, 1)};
    EXPECT_EQ(ForecastApplication(application).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace tidemark::dag::application_forecast_test
