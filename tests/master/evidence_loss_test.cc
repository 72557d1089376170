#include "master/facts/evidence_loss.h"

#include <gtest/gtest.h>

#include "tests/master/events.h"

namespace tidemark::model {
namespace {

using test::At;
using test::Opened;
using test::R;
using test::Source;
using test::Started;

JobRecord Told(const std::vector<Event>& events) {
  JobRecord state(10);
  for (const Event& event : events) EXPECT_TRUE(Apply(event, {}, state).ok());
  return state;
}

ReduceProfile Reduced(std::uint64_t groups, std::uint64_t dropped) {
  return {.attempt = R(0), .groups_done = groups, .dropped_points = dropped};
}

// Five events came, and the end of the other task did not.
TEST(EvidenceLoss, AnEndThatOthersShowToBeMissingIsMissing) {
  Source source;
  const auto task = [](std::uint32_t index, AttemptState state) {
    return AttemptChanged{.attempt = {.stage = 4, .index = index}, .state = state};
  };
  EXPECT_DOUBLE_EQ(LostShare(Told({source.At(0, JobOpened{.name = "query"}),
                                   source.At(0, StageOpened{.stage = 4, .task_count = 2}),
                                   source.At(1, task(0, AttemptState::kStarted)),
                                   source.At(2, task(0, AttemptState::kFinished)),
                                   source.At(3, StageClosed{.stage = 4})})),
                   1.0 / 6);
}

TEST(EvidenceLoss, NothingIsLostOfNothing) { EXPECT_EQ(LostShare(JobRecord(10)), 0); }

TEST(EvidenceLoss, ThreeOfFourPointsDroppedAreThreeQuarters) {
  Source source;
  EXPECT_DOUBLE_EQ(LostShare(Told({source.At(0, Opened(1, 1)), source.At(1, Reduced(400, 300))})),
                   0.75);
}

// Sequences 1, 2 and 5 of one source, which dropped one more before it had a number: three came,
// three did not.
TEST(EvidenceLoss, EventsThatNeverCameAreMissing) {
  Source source;
  std::vector<Event> events = {source.At(0, Opened(1, 1)), source.At(1, Started(R(0))),
                               source.At(2, Started(R(0)))};
  events[2].sequence = 5;
  events[2].dropped_events = 1;
  EXPECT_DOUBLE_EQ(LostShare(Told(events)), 0.5);
}

// What damage took shows as a gap, too, once its source is heard again: it counts once.
TEST(EvidenceLoss, RecordsOfADamagedLogAreMissingUntilTheirGapIsSeen) {
  Source source;
  std::vector<Event> events = {source.At(0, Opened(1, 1)), source.At(1, Started(R(0)))};
  JobRecord state = Told(events);
  state.log_damage.records = 2;
  EXPECT_DOUBLE_EQ(LostShare(state), 0.5);
  state.lost_events = 2;
  EXPECT_DOUBLE_EQ(LostShare(state), 0.5);
}

TEST(EvidenceLoss, LossesOfBothKindsMultiplyWhatIsLeft) {
  Source source;
  std::vector<Event> events = {source.At(0, Opened(1, 1)), source.At(1, Reduced(400, 200))};
  events[1].dropped_events = 2;  // two came, two did not
  EXPECT_DOUBLE_EQ(LostShare(Told(events)), 0.75);
}

TEST(EvidenceLoss, MoreDroppedThanDoneIsAllOfIt) {
  Source source;
  EXPECT_DOUBLE_EQ(LostShare(Told({source.At(0, Opened(1, 1)), source.At(1, Reduced(4, 9))})), 1);
}

// With a quarter of the observations left, an interval is twice as wide.
TEST(EvidenceLoss, AnIntervalGrowsAsOfFewerObservations) {
  const EndPrediction said{.at = At(0), .end = At(100), .lower = At(90), .upper = At(130)};
  const EndPrediction widened = WidenedFor(0.75, said);
  EXPECT_EQ(widened.end, At(100));
  EXPECT_EQ(widened.lower, At(80));
  EXPECT_EQ(widened.upper, At(160));
}

TEST(EvidenceLoss, ItGrowsTenfoldAtMost) {
  const EndPrediction said{.at = At(0), .end = At(100), .lower = At(99), .upper = At(101)};
  EXPECT_EQ(WidenedFor(1, said).upper, At(110));
  EXPECT_EQ(WidenedFor(0.9999, said).lower, At(90));
}

TEST(EvidenceLoss, WithoutLossOrIntervalNothingChanges) {
  const EndPrediction said{.at = At(0), .end = At(100), .lower = At(99), .upper = At(101)};
  EXPECT_EQ(WidenedFor(0, said).lower, At(99));
  EXPECT_FALSE(WidenedFor(0.5, {.at = At(0), .end = At(9)}).upper);
  EXPECT_FALSE(WidenedFor(0.5, {.at = At(0)}).end);
}

}  // namespace
}  // namespace tidemark::model
