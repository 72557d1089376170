#include "master/forecast/durations/task_sizes.h"

#include "tests/test.h"

namespace tidemark::durations::task_sizes_test {
namespace {

using Tasks = std::vector<SizedTask>;

const FixedDraws& Numbers() { return FixedDraws::For(10); }

TaskTimes Times(const Tasks& finished, const Tasks& running, const Tasks& pending) {
  TaskTimes times;
  EXPECT_TRUE(TimesBySize(finished, running, pending, Numbers(), times));
  return times;
}

double Median(Draws draws) { return QuantileOf(draws, 0.5); }

// Returns the relative length of the interval.
double Width(Draws draws) { return QuantileOf(draws, 0.95) / QuantileOf(draws, 0.05); }

TEST(TaskSizes, GivesNoEstimateWithoutFinishedTasksOrProgress) {
  TaskTimes times;
  EXPECT_FALSE(TimesBySize({}, Tasks{{.bytes = 5, .seconds = 3}}, {}, Numbers(), times));
  EXPECT_TRUE(times.of_task.empty());
}

TEST(TaskSizes, TasksOfOneSizeHaveOneTime) {
  const Tasks ended(20, {.bytes = 1e6, .seconds = 10});
  EXPECT_NEAR(Median(Times(ended, {}, {{.bytes = 1e6}}).of_task[0]), 10, 1);
}

TEST(TaskSizes, TreatsTasksAsEqualWithoutSizes) {
  EXPECT_NEAR(Median(Times(Tasks(20, {.seconds = 10}), {}, {{}}).of_task[0]), 10, 1);
}

// An unknown size is not a size of zero.
TEST(TaskSizes, TreatsTasksAsEqualIfASizeIsMissing) {
  Tasks ended;
  for (int i = 0; i < 10; ++i) ended.push_back({.bytes = 64e6 + 7e6 * i, .seconds = 30.0 + 3 * i});
  const TaskTimes times = Times(ended, {{.seconds = 20}}, Tasks(9));
  EXPECT_GT(Median(times.of_task[0]), 10);
  EXPECT_NEAR(Median(times.of_task[1]), 43, 6);
}

TEST(TaskSizes, KeepsTheDrawsOfATaskWhenOthersEnd) {
  const Tasks ended(20, {.bytes = 1e6, .seconds = 10});
  const SizedTask third = {.index = 2, .bytes = 2e6};
  EXPECT_EQ(Times(ended, {}, {{.index = 1, .bytes = 1e6}, third}).of_task[1],
            Times(ended, {}, {third}).of_task[0]);
}

TEST(TaskSizes, LargerTasksTakeLongerByTheCurve) {
  Tasks ended;
  for (int i = 1; i <= 40; ++i) ended.push_back({.bytes = 1e6 * i, .seconds = 0.01 * i * i});
  const TaskTimes times = Times(ended, {}, {{.bytes = 5e6}, {.bytes = 80e6}});
  EXPECT_NEAR(Median(times.of_task[0]), 0.25, 0.1);
  EXPECT_NEAR(Median(times.of_task[1]), 64, 12);
}

TEST(TaskSizes, NarrowsWithMoreSimilarTasks) {
  const Tasks next = {{.bytes = 1e6}};
  EXPECT_LT(Width(Times(Tasks(100, {.bytes = 1e6, .seconds = 10}), {}, next).of_task[0]),
            Width(Times(Tasks(2, {.bytes = 1e6, .seconds = 10}), {}, next).of_task[0]));
}

TEST(TaskSizes, UsesThePaceOfARunningTask) {
  const Tasks ended(20, {.bytes = 1e6, .seconds = 10});
  const TaskTimes times = Times(ended,
                                {{.bytes = 1e6, .seconds = 5, .fraction = 0.5},
                                 {.bytes = 1e6, .seconds = 90, .fraction = 0.9}},
                                {});
  EXPECT_NEAR(Median(times.of_task[0]), 5, 1);
  EXPECT_NEAR(Median(times.of_task[1]), 10, 6);
}

// The tasks read for 10 s and then computed for 80 s.
TEST(TaskSizes, AddsTheTimeOfOthersAfterTheirLastByte) {
  const Tasks ended(4, {.bytes = 1e6, .seconds = 90, .read_for = 10});
  const TaskTimes times = Times(ended,
                                {{.bytes = 1e6, .seconds = 5, .fraction = 0.5, .read_for = 5},
                                 {.bytes = 1e6, .seconds = 40, .fraction = 1, .read_for = 10}},
                                {});
  EXPECT_NEAR(Median(times.of_task[0]), 85, 15);
  EXPECT_NEAR(Median(times.of_task[1]), 50, 15);
}

TEST(TaskSizes, OpensTheEndOfTheFirstTasksAfterTheirLastByte) {
  const TaskTimes times =
      Times({}, {{.bytes = 1e6, .seconds = 30, .fraction = 1, .read_for = 10}}, {{.bytes = 1e6}});
  EXPECT_NEAR(Median(times.of_task[0]), 20, 2);
  Draws left = times.of_task[0];
  EXPECT_GT(QuantileOf(left, 0.95), 200);
  EXPECT_LT(QuantileOf(left, 0.05), 2);
  EXPECT_NEAR(Median(times.of_task[1]), 50, 15) << "pending tasks take as long";
}

TEST(TaskSizes, ATaskThatOutlastsAllOthersHasRemainingTime) {
  const Tasks ended(50, {.bytes = 1e6, .seconds = 10});
  const Draws left = Times(ended, {{.bytes = 1e6, .seconds = 1e5}}, {}).of_task[0];
  for (const double seconds : left) {
    EXPECT_GE(seconds, 0);
    EXPECT_TRUE(std::isfinite(seconds));
  }
  EXPECT_GT(Median(left), 100);
}

TEST(TaskSizes, ManyPendingTasksShareADistribution) {
  const Tasks ended(50, {.bytes = 1e6, .seconds = 10});
  const TaskTimes times = Times(ended, {}, Tasks(10'000, {.bytes = 1e6}));
  EXPECT_TRUE(times.of_task.empty());
  EXPECT_NEAR(times.Of(placement::Warmth::kRest).mean() * Median(times.factor), 10, 1);
}

// Tasks that first fetch end later by the time of the fetch, regardless of the number of pending
// tasks.
TEST(TaskSizes, AddsTheFetchBeforeTheWork) {
  const Tasks ended(50, {.bytes = 1e6, .seconds = 10});
  const SizedTask fetching = {.bytes = 1e6, .fetches = 30};
  const TaskTimes few = Times(ended, {fetching}, {fetching});
  EXPECT_EQ(few.delay, (std::vector<double>{30, 30}));
  for (const Draws& seconds : few.of_task) EXPECT_NEAR(Median(seconds), 40, 1);
  const TaskTimes many = Times(ended, {}, Tasks(10'000, fetching));
  EXPECT_NEAR(many.Of(placement::Warmth::kRest).mean() * Median(many.factor), 40, 1);
}

// Reported sizes of finished or pending tasks may be wrong by a factor of 1,000 in either
// direction. The estimate is then wide but finite.
TEST(TaskSizes, WrongSizesGiveAWideFiniteEstimate) {
  std::mt19937_64 random(19);
  std::uniform_int_distribution<int> one_in(0, 9);
  std::uniform_real_distribution<double> uniform(1, 4);
  const auto wrong = [&](double bytes) {
    const int which = one_in(random);
    return which == 0 ? 1000 * bytes : which == 1 ? bytes / 1000 : bytes;
  };
  for (int round = 0; round < 50; ++round) {
    Tasks ended;
    for (int i = 0; i < 40; ++i) {
      const double bytes = 1e8 * uniform(random);
      ended.push_back({.bytes = wrong(bytes), .seconds = bytes / 1e7});
    }
    const TaskTimes times =
        Times(ended, {{.bytes = 2e11, .seconds = 7, .fraction = 0.0004}}, {{.bytes = 2e11}});
    for (const Draws& draws : times.of_task) {
      for (const double seconds : draws) {
        ASSERT_TRUE(std::isfinite(seconds)) << round;
        ASSERT_GE(seconds, 0) << round;
        ASSERT_LT(seconds, 1e9) << round;
      }
    }
    EXPECT_GT(Width(times.of_task[1]), 1.5) << round;
  }
}

TEST(TaskSizes, IgnoresInvalidTimesAndSizes) {
  const double nan = std::nan("");
  const double infinite = std::numeric_limits<double>::infinity();
  for (const double bad : {nan, infinite, -1.0, 0.0, 1e300, 5e-324}) {
    const Tasks odd = {{.bytes = bad, .seconds = bad, .fraction = bad},
                       {.bytes = 1e6, .seconds = bad, .fraction = 0.5},
                       {.bytes = bad, .seconds = 10, .fraction = 1}};
    TaskTimes times;
    if (!TimesBySize(odd, odd, odd, Numbers(), times)) continue;
    for (const Draws& draws : times.of_task) {
      for (const double seconds : draws) EXPECT_FALSE(std::isnan(seconds)) << bad;
    }
  }
}

}  // namespace
}  // namespace tidemark::durations::task_sizes_test
