#include "master/forecast/durations/parameters.h"
#include "tests/test.h"

namespace tidemark::durations::repeated_stages_test {
namespace {

std::vector<std::string> Lines(const std::vector<RepeatedStage>& stages) {
  std::vector<std::string> lines;
  for (const RepeatedStage& stage : stages) {
    std::string line = std::to_string(stage.like) + "+" + std::to_string(stage.turns_later) + ":";
    for (const std::size_t parent : stage.after) line += " " + std::to_string(parent);
    lines.push_back(line);
  }
  return lines;
}

// Returns the stages of PageRank. Stage 0 reads the links, stages 1 and 2 are iterations that read
// the links and the previous iteration, and stage 3 is the result.
std::vector<RepeatableStage> Chain() { return {{1}, {2, {0}}, {2, {0, 1}}, {3, {2}}}; }

TEST(Repeated, AddsTurnsThatWaitForTheTurnBefore) {
  EXPECT_THAT(Lines(Repeated(Chain(), {{2, 4}})),
              ElementsAre("0+0:", "1+0: 0", "2+0: 0 1", "3+0: 5", "2+1: 0 2", "2+2: 0 4"));
}

TEST(Repeated, LeavesTurnsOutAndKeepsOne) {
  for (const std::uint32_t count : {1u, 0u}) {
    EXPECT_THAT(Lines(Repeated(Chain(), {{2, count}})), ElementsAre("0+0:", "1+0: 0", "3+0: 1"));
  }
}

TEST(Repeated, ChangesNothingOfWorksThatAreNotNamedOrNotKnown) {
  const std::vector<std::string> as_it_was = Lines(Repeated(Chain(), {}));
  EXPECT_EQ(Lines(Repeated(Chain(), {{77, 5}})), as_it_was);
  EXPECT_EQ(Lines(Repeated(Chain(), {{2, 1'000'000}})), as_it_was) << "too many";
  EXPECT_EQ(Lines(Repeated({{0}, {0, {0}}}, {{0, 7}})), Lines(Repeated({{0}, {0, {0}}}, {})));
  EXPECT_THAT(Repeated({}, {{2, 3}}), testing::IsEmpty());
}

TEST(Repeated, ChangesNothingWhereWhatIsAddedWouldWaitForTooMuch) {
  std::vector<RepeatableStage> ran(200);
  for (std::size_t i = 0; i < ran.size(); ++i) ran[i].work = 1000 + i;
  RepeatableStage& last = ran.back();
  for (std::size_t i = 0; i + 1 < ran.size(); ++i) last.after.push_back(i);
  EXPECT_EQ(Repeated(ran, {{last.work, 501}}).size(), 700u) << "500 x 199 edges";
  EXPECT_EQ(Repeated(ran, {{last.work, 601}}).size(), 200u) << "600 x 199 edges";
}

// The iterations have two stages. One of the first kind and two of the second kind remain.
TEST(Repeated, AStageWaitsForTheLastTurnThatIsLeft) {
  const std::vector<RepeatableStage> ran = {{1}, {2, {0}}, {1, {1}}, {2, {2}}};
  EXPECT_THAT(Lines(Repeated(ran, {{1, 1}})), ElementsAre("0+0:", "1+0: 0", "3+0: 0"));
}

// Stage 2 waits for the last iteration of work 1. It precedes the last iteration of work 2, for
// which work 1 would have to wait.
TEST(Repeated, NeverMakesStagesWaitForEachOther) {
  const std::vector<RepeatableStage> ran = {{1}, {2, {0}}, {3, {0}}, {2, {1, 2}}};
  const std::vector<RepeatedStage> more = Repeated(ran, {{1, 4}, {2, 6}});
  for (std::size_t i = 0; i < more.size(); ++i) {
    for (const std::size_t parent : more[i].after) EXPECT_NE(parent, i);
  }
  // Stage 1 waits for stage 3 (work 9), which waits for the last iteration of work 1. This is a
  // cycle.
  const std::vector<RepeatableStage> circle = {{1}, {9, {0}}, {1, {1}}};
  EXPECT_EQ(Lines(Repeated(circle, {{1, 4}})), Lines(Repeated(circle, {})));
}

}  // namespace
}  // namespace tidemark::durations::repeated_stages_test
