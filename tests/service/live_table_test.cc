#include "master/service/live_table.h"

#include "tests/test.h"

namespace tidemark::service::live_table_test {
namespace {

class KeptEndedTest : public ::testing::Test {
 protected:
  void Ended(const std::string& reporter, int count) {
    for (int i = 0; i < count; ++i) {
      ++number_;
      kept_.Enter(reporter);
      kept_.Add({reporter, number_, reporter + std::to_string(number_)});
    }
  }
  void Running(const std::string& reporter, int count) {
    for (int i = 0; i < count; ++i) kept_.Enter(reporter);
  }
  std::string NextToEvict(const std::string& reporter) const {
    const auto one = kept_.NextToEvict(reporter);
    return one ? one->id : "";
  }

  EvictionOrder kept_;
  std::uint64_t number_ = 0;
};

TEST_F(KeptEndedTest, EvictsNoRunningEntry) {
  Running("a", 3);
  EXPECT_EQ(NextToEvict("a"), "");
  EXPECT_EQ(NextToEvict("b"), "");
}

TEST_F(KeptEndedTest, EvictsTheOldestOfASingleReporter) {
  Ended("a", 3);
  EXPECT_EQ(NextToEvict("a"), "a1");
}

TEST_F(KeptEndedTest, EvictsFromTheReporterThatKeepsTheMost) {
  Ended("victim", 5);
  Ended("attacker", 6);
  EXPECT_EQ(NextToEvict("attacker"), "attacker6");
  EXPECT_EQ(NextToEvict("victim"), "attacker6");
  EXPECT_EQ(NextToEvict("new"), "attacker6");
}

TEST_F(KeptEndedTest, NeverEvictsForAReporterThatKeepsAsManyOrMore) {
  Ended("victim", 5);
  Running("attacker", 5);
  EXPECT_EQ(NextToEvict("attacker"), "");
  EXPECT_EQ(NextToEvict("victim"), "victim1");
  Running("attacker", 5);
  EXPECT_EQ(NextToEvict("attacker"), "");
}

TEST_F(KeptEndedTest, EvictsAnEntryOnce) {
  Ended("a", 2);
  kept_.Remove("a", 1);
  kept_.Leave("a");
  EXPECT_EQ(NextToEvict("a"), "a2");
  kept_.Remove("a", 2);
  kept_.Leave("a");
  EXPECT_EQ(NextToEvict("a"), "");
}

constexpr TickPace kPace = {.interval = absl::Seconds(1), .interval_min = absl::Milliseconds(200)};

TEST(TickPace, TicksNewsSoonerThanSilence) {
  EXPECT_FALSE(kPace.IsDue(absl::Milliseconds(100), /*has_news=*/true));
  EXPECT_TRUE(kPace.IsDue(absl::Milliseconds(200), /*has_news=*/true));
  EXPECT_FALSE(kPace.IsDue(absl::Milliseconds(200), /*has_news=*/false));
  EXPECT_TRUE(kPace.IsDue(absl::Seconds(1), /*has_news=*/false));
}

TEST(TickPace, APauseThatEndsSlightlyEarlyCostsNoRound) {
  EXPECT_TRUE(kPace.IsDue(absl::Milliseconds(199), /*has_news=*/true));
  EXPECT_TRUE(kPace.IsDue(absl::Milliseconds(999), /*has_news=*/false));
  EXPECT_FALSE(kPace.IsDue(absl::Milliseconds(970), /*has_news=*/false));
}

TEST(TickPace, RoundsBeginAnIntervalApart) {
  EXPECT_EQ(kPace.PauseAfter(absl::ZeroDuration(), absl::ZeroDuration()), absl::Milliseconds(200));
  EXPECT_EQ(kPace.PauseAfter(absl::Milliseconds(60), absl::Milliseconds(50)),
            absl::Milliseconds(140));
}

TEST(TickPace, RoundsThatComputeForLongLeaveHalfOfTheProcessor) {
  EXPECT_EQ(kPace.PauseAfter(absl::Milliseconds(150), absl::Milliseconds(150)),
            absl::Milliseconds(150));
  EXPECT_EQ(kPace.PauseAfter(absl::Seconds(2), absl::Seconds(2)), absl::Seconds(2));
}

TEST(TickPace, RoundsThatWaitedForTheProcessorAreNotFollowedByMoreWaiting) {
  EXPECT_EQ(kPace.PauseAfter(absl::Milliseconds(190), absl::Milliseconds(60)),
            absl::Milliseconds(60));
  EXPECT_EQ(kPace.PauseAfter(absl::Seconds(1), absl::ZeroDuration()), absl::ZeroDuration());
}

DueJob Job(int cost_millis, int ticked_at) {
  return {absl::Milliseconds(cost_millis), absl::FromUnixSeconds(ticked_at)};
}

TEST(TickRound, SelectsNothingIfNoJobIsDue) { EXPECT_THAT(TickRound({}), IsEmpty()); }

TEST(TickRound, CheapJobsComeFirst) {
  EXPECT_THAT(TickRound({Job(9, 0), Job(1, 0), Job(5, 0)}), ElementsAre(1, 2, 0));
}

TEST(TickRound, SelectsTheHeavyJobThatWaitedLongest) {
  EXPECT_THAT(TickRound({Job(900, 7), Job(60, 3), Job(1, 9), Job(51, 5)}), ElementsAre(2, 1));
}

TEST(TickRound, HeavyJobsTakeTurns) {
  std::vector<DueJob> due = {Job(100, 1), Job(100, 2)};
  EXPECT_THAT(TickRound(due), ElementsAre(0));
  due[0].ticked_at = absl::FromUnixSeconds(3);
  EXPECT_THAT(TickRound(due), ElementsAre(1));
}

}  // namespace
}  // namespace tidemark::service::live_table_test
