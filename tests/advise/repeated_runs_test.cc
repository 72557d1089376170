

#include "tests/advise/plans.h"
#include "tests/test.h"
#include "whatif/advise/advice.h"
#include "whatif/advise/points.h"

namespace tidemark::advise::repeated_runs_test {
namespace {

std::vector<RepeatedRuns> RepeatedIn(const std::vector<PastPlan>& plans) {
  const auto history = Compared(plans);
  EXPECT_TRUE(history.ok()) << history.status();
  return history.ok() ? RepeatedRunsIn(*history, 20e6) : std::vector<RepeatedRuns>();
}

// Each run takes 110 s. The result has 50 records of two columns. Their width is that of the
// source, which has 100 bytes in two columns. Reading these 5,000 bytes takes 0.4 s, plus the time
// at 20 MB/s.
TEST(RepeatedRuns, WouldHaveReadTheResultsOfTheFirst) {
  const auto repeated =
      RepeatedIn({Condensing("app-1", 0), Condensing("app-2", 1000), Condensing("app-3", 2000)});
  ASSERT_EQ(repeated.size(), 1u);
  EXPECT_EQ(repeated[0].program, "gdelt");
  EXPECT_EQ(repeated[0].runs, 3u);
  EXPECT_DOUBLE_EQ(repeated[0].seconds, 220);
  EXPECT_NEAR(repeated[0].saved_seconds, 2 * (110 - 0.4), 0.01);
  EXPECT_FALSE(repeated[0].has_own_code);
}

TEST(RepeatedRuns, HaveEqualPlansOnEqualData) {
  EXPECT_TRUE(RepeatedIn({Condensing("app-1", 0), Condensing("app-2", 1000, 1, "6")}).empty())
      << "another threshold";
  PastPlan grown = Condensing("app-2", 1000);
  grown.operators.back().bytes = 2e8;
  EXPECT_TRUE(RepeatedIn({Condensing("app-1", 0), grown}).empty()) << "other data";
  PastPlan unknown = Condensing("app-1", 0);
  for (PastOperator& op : unknown.operators) op.records = op.bytes = std::nullopt;
  PastPlan unknown_too = unknown;
  unknown_too.application = "app-2";
  EXPECT_TRUE(RepeatedIn({unknown, unknown_too}).empty()) << "unknown data";
  EXPECT_TRUE(RepeatedIn({Condensing("app-1", 0), Condensing("app-1", 1000)}).empty())
      << "two plans of one run";
  EXPECT_TRUE(RepeatedIn({Condensing("app-1", 0), Condensing("app-2", 1000),
                          Condensing("app-2", 1200, 1, "6")})
                  .empty())
      << "the second run has one plan more";
}

TEST(RepeatedRuns, AreNotRandom) {
  std::vector<PastPlan> plans = {Condensing("app-1", 0), Condensing("app-2", 1000)};
  for (PastPlan& plan : plans) plan.operators[1].text = "Filter (rand(7) > 0.5)";
  EXPECT_TRUE(RepeatedIn(plans).empty());
}

TEST(RepeatedRuns, AreNotPartial) {
  std::vector<PastPlan> plans = {Condensing("app-1", 0), Condensing("app-2", 1000)};
  plans[1].is_of_partial_run = true;
  EXPECT_TRUE(RepeatedIn(plans).empty()) << "another query of the second run failed";
}

TEST(RepeatedRuns, HaveOwnCodeIfAnyOfThemHas) {
  std::vector<PastPlan> plans = {Condensing("app-1", 0), Condensing("app-2", 1000)};
  auto history = Compared(plans);
  ASSERT_TRUE(history.ok()) << history.status();
  history->plans[0].operators.back().doubts = {"a function of the program"};
  const auto repeated = RepeatedRunsIn(*history, 20e6);
  ASSERT_EQ(repeated.size(), 1u);
  EXPECT_TRUE(repeated[0].has_own_code);
}

}  // namespace
}  // namespace tidemark::advise::repeated_runs_test
