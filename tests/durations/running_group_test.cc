#include "master/forecast/durations/running_group.h"

#include "tests/facts/events.h"
#include "tests/test.h"

namespace tidemark::durations::running_group_test {
namespace {

// A job with a reduce task inside a key group of 1000 bytes, with estimated emissions of 500 bytes.
class RunningGroupTest : public ::testing::Test {
 protected:
  RunningGroupTest() : state_(10) {
    facts::Stage& reduces = state_.stages[kReduceStage];
    reduces.opened = {.stage = kReduceStage, .kind = StageKind::kReduce};
    reduces.tasks.resize(1);
    work_.reduce_started_at = At(0);
    costs_ = regression::CostModel::Fit({{100, 50, 1, 0.01}, {200, 50, 2, 0.01}});
  }
  // Reports the elapsed time of the group, and the number of bytes read and emitted.
  void See(double seconds, std::uint64_t read, std::uint64_t emitted, double now) {
    work_.running_group = RunningGroup{KeyHash{1}, absl::Seconds(seconds), read, 1, emitted};
    work_.running_group_seen_at = At(seconds);
    Ask(now);
  }
  void Ask(double now) {
    groups_.Observe(state_, 0, work_, At(now), {.size_bytes = 1000, .emitted_bytes = 500});
  }
  // Returns the median of the remaining time if the model predicts 100 s within a factor of 2.
  double MedianLeft() const {
    const std::vector<double> model(costs_.curves().size(), 100);
    return groups_.TimeOf(0, costs_, model, 0.7, 0).Left(0, 0.5);
  }

  facts::JobRecord state_;
  facts::ReduceWork work_;
  regression::CostModel costs_;
  RunningGroups groups_{/*use_signals=*/true};
};

TEST_F(RunningGroupTest, StartsWithTheTimeOfTheModel) {
  See(0.001, 0, 0, 0.001);
  EXPECT_NEAR(MedianLeft(), 80, 25);
}

TEST_F(RunningGroupTest, LastsAtLeastItsElapsedTime) {
  See(150, 0, 0, 150);
  EXPECT_GT(MedianLeft(), 5);
  EXPECT_LT(MedianLeft(), 150);
}

TEST_F(RunningGroupTest, FollowsSteadyReading) {
  for (int i = 1; i <= 10; ++i) See(2 * i, 50 * i, 0, 2 * i);
  EXPECT_NEAR(MedianLeft(), 20, 6);  // Half is read after 20 s.
}

TEST_F(RunningGroupTest, LearnsThatReadingSlowsDown) {
  // The number of bytes read grows with the square root of time, so 500 bytes at 25 s correspond to
  // 1000 at 100 s.
  for (int i = 1; i <= 10; ++i) See(0.25 * i * i, 50 * i, 0, 0.25 * i * i);
  EXPECT_GT(MedianLeft(), 50);
}

TEST_F(RunningGroupTest, FollowsEmissionsAfterTheLastByte) {
  for (int i = 1; i <= 8; ++i) See(5 * i, 1000, 50 * i, 5 * i);
  EXPECT_NEAR(MedianLeft(), 10, 3);  // 400 of 500 bytes after 40 s
}

TEST_F(RunningGroupTest, CountersBelongToTheInstantOfTheirReport) {
  for (int i = 1; i <= 8; ++i) See(5 * i, 1000, 50 * i, 5 * i);
  Ask(45);  // No report arrives.
  EXPECT_NEAR(MedianLeft(), 5, 3);
}

// The group has 900 bytes instead of the estimated 1000.
TEST_F(RunningGroupTest, DetectsTheLastByteFromEmissionsAlone) {
  for (int i = 1; i <= 4; ++i) See(5 * i, 225 * i, 0, 5 * i);
  EXPECT_FALSE(groups_.HasReadAll(0, *work_.running_group));
  for (int i = 1; i <= 3; ++i) See(20 + 5 * i, 900, 50 * i, 20 + 5 * i);
  EXPECT_TRUE(groups_.HasReadAll(0, *work_.running_group));
  See(40, 950, 200, 40);
  EXPECT_FALSE(groups_.HasReadAll(0, *work_.running_group));
}

// The model predicts 100 s, and the emissions predict 1000 s. Both are uncertain, so the estimate
// lies in between.
TEST_F(RunningGroupTest, HalvesAContradictionByVagueTotals) {
  for (int i = 1; i <= 10; ++i) {
    work_.running_group =
        RunningGroup{KeyHash{1}, absl::Seconds(5 * i), 1000, 1, static_cast<std::uint64_t>(10 * i)};
    work_.running_group_seen_at = At(5 * i);
    groups_.Observe(state_, 0, work_, At(5 * i),
                    {.size_bytes = 1000, .emitted_bytes = 2000, .emission_error = 0.3});
  }
  const std::vector<double> model(costs_.curves().size(), 100);
  const double left = groups_.TimeOf(0, costs_, model, 0.04, 0).Left(0, 0.5);
  EXPECT_GT(left, 150);
  EXPECT_LT(left, 600);
}

TEST_F(RunningGroupTest, IgnoresCountersWithoutSignals) {
  groups_ = RunningGroups(false);
  for (int i = 1; i <= 8; ++i) See(5 * i, 1000, 50 * i, 5 * i);
  EXPECT_GT(MedianLeft(), 30);
}

TEST(SignalRecord, ShortGroupsCountLess) {
  SignalRecord record;
  for (int i = 0; i < 5; ++i) record.Learn(std::log(100.0), 100);
  const double before = record.squared_error;
  record.Learn(std::log(1.0), 0.01);  // A hundredfold error in a very short group.
  EXPECT_LT(record.squared_error - before, 0.01);
  EXPECT_TRUE(record.is_trusted());
}

TEST(SignalRecord, DetectsAMisleadingCounter) {
  SignalRecord record;
  for (int i = 0; i < 3; ++i) record.Learn(std::log(10.0), 100);
  EXPECT_TRUE(record.is_useless());
}

}  // namespace
}  // namespace tidemark::durations::running_group_test
