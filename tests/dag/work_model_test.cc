#include "master/forecast/dag/work_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "master/forecast/dag/match_stages.h"

namespace tidemark::workflow {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr std::uint64_t kRead = 1;
constexpr std::uint64_t kTurn = 2;

StageProfile Stage(std::uint64_t work, std::uint64_t tasks, double seconds, double read_bytes,
                   std::vector<std::size_t> parents = {}) {
  StageProfile stage = {
      .work = work, .parents = std::move(parents), .tasks = tasks, .read_bytes = read_bytes};
  stage.seconds[2] = {seconds, seconds};
  return stage;
}

// Runs whose only parameter is one of `values`, and what each made of it.
class Runs {
 public:
  template <typename Make>
  Runs(const std::vector<double>& values, const Make& make) {
    for (const double value : values) profiles_.push_back(make(value));
    for (std::size_t i = 0; i < values.size(); ++i) {
      seen_.push_back(SeenIn(profiles_[i], {values[i]}));
    }
  }
  const SeenRun& last() const { return seen_.back(); }
  WorkModel ModelOf(std::uint64_t work) const { return {WorkKey(work, ""), {"k"}, seen_}; }

 private:
  std::vector<RunProfile> profiles_;
  std::vector<SeenRun> seen_;
};

// Every task of a turn takes 1 s and 0.1 s more for each centre.
RunProfile KMeans(double k) {
  return {.slots = 4, .stages = {Stage(kRead, 4, 2, 0), Stage(kTurn, 4, 1 + 0.1 * k, 0, {0})}};
}

// 3,200 bytes in so many partitions, half a second a task and 100 bytes a second.
RunProfile Sorted(double partitions) {
  return {.slots = 4,
          .stages = {Stage(kRead, 4, 2, 3200), Stage(kTurn, static_cast<std::uint64_t>(partitions),
                                                     0.5 + 32 / partitions, 3200, {0})}};
}

// By hand: 4 tasks of 2 s and 2 of 5 s are 3 of 3 s each stage; 400 and 100 bytes are 250.
TEST(SeenIn, TakesTheMeanOfTheStagesOfAWork) {
  StageProfile driven = Stage(kRead, 1, 1, 30, {0});
  driven.fetches = false;
  const RunProfile run = {
      .stages = {Stage(kTurn, 4, 2, 400), Stage(kTurn, 2, 5, 100, {0}), driven}};
  const SeenRun seen = SeenIn(run, {7});
  EXPECT_THAT(seen.values, ElementsAre(7));
  EXPECT_EQ(seen.input_bytes, 430) << "of those that fetch nothing";
  ASSERT_THAT(seen.works, SizeIs(2));
  const WorkSeen& turn = seen.works.at(WorkKey(kTurn, ""));
  EXPECT_EQ(turn.stages, 2);
  EXPECT_EQ(turn.tasks, 3);
  EXPECT_EQ(turn.read_bytes, 250);
  EXPECT_DOUBLE_EQ(turn.task_seconds, 3);
  EXPECT_DOUBLE_EQ(turn.bytes_of_task(), 250.0 / 3);
}

// 9 s for 80 centres, 7 s for 60.
TEST(WorkModel, MultipliesWhatATaskTook) {
  const Runs runs({20, 40, 60}, KMeans);
  const WorkModel model = runs.ModelOf(kTurn);
  const Multiplied by = model.Now(runs.last(), {80}, /*input=*/2);
  EXPECT_EQ(by.tasks, 1);
  EXPECT_EQ(by.read_bytes, 2) << "as the input does";
  EXPECT_NEAR(by.task_seconds, 9.0 / 7, 1e-9);
  const auto times = model.Times(runs.last(), {80}, 1);
  ASSERT_TRUE(times.has_value());
  EXPECT_NEAR(times->value, 9, 1e-9);
  EXPECT_GT(times->deviation, 0);
  EXPECT_THAT(times->beyond, ElementsAre("k")) << "not bytes and slots, which no program is told";
  EXPECT_FALSE(model.Tasks({80}).has_value()) << "nothing moves it";
}

TEST(WorkModel, IsSureOfWhatNothingMoves) {
  const Runs runs({20, 40, 60}, KMeans);
  const auto times = runs.ModelOf(kRead).Times(runs.last(), {80}, 1);
  ASSERT_TRUE(times.has_value());
  EXPECT_NEAR(times->value, 2, 1e-9);
  EXPECT_EQ(times->deviation, 0);
}

// By hand: 64 partitions are twice the tasks of 32, with half the bytes each: 1 s and not 1.5.
TEST(WorkModel, KnowsTasksByWhatTheyRead) {
  const Runs runs({8, 16, 32}, Sorted);
  const WorkModel model = runs.ModelOf(kTurn);
  const Multiplied by = model.Now(runs.last(), {64}, 1);
  EXPECT_NEAR(by.tasks, 2, 1e-9);
  EXPECT_NEAR(by.read_bytes, 1, 1e-9);
  EXPECT_NEAR(by.task_seconds, 1 / 1.5, 1e-6);
  const auto tasks = model.Tasks({64});
  ASSERT_TRUE(tasks.has_value());
  EXPECT_NEAR(tasks->value, 64, 1e-6);
  EXPECT_EQ(tasks->deviation, 0) << "told, not found out";
  EXPECT_EQ(model.Tasks({0})->value, 1) << "there is a task";
}

TEST(WorkModel, KnowsNothingOfAWorkThatNoRunHad) {
  const Runs runs({20, 40, 60}, KMeans);
  const WorkModel model = runs.ModelOf(77);
  const Multiplied by = model.Now(runs.last(), {80}, 2);
  EXPECT_EQ(by.tasks, 1);
  EXPECT_EQ(by.task_seconds, 1);
  EXPECT_FALSE(model.Times(runs.last(), {80}, 2).has_value());
  EXPECT_FALSE(model.Tasks({80}).has_value());
}

}  // namespace
}  // namespace tidemark::workflow
