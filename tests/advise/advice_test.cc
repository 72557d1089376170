#include "whatif/advise/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/advise/plans.h"

namespace tidemark::advise {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr double kHour = 3600;
constexpr double kWeek = 7 * 24 * kHour;

Advice Of(const std::vector<RanPlan>& history, const AdviceOptions& options = {}) {
  const auto advice = Advise(history, options);
  EXPECT_TRUE(advice.ok()) << advice.status();
  return advice.ok() ? *advice : Advice();
}

std::vector<std::string> AdvisedKinds(const Advice& advice) {
  std::vector<std::string> kinds;
  for (const ResultPoint& point : advice.points) {
    if (point.is_advised) kinds.push_back(point.kind);
  }
  return kinds;
}

const ResultPoint& PointOf(const Advice& advice, const std::string& kind) {
  for (const ResultPoint& point : advice.points) {
    if (point.kind == kind) return point;
  }
  ADD_FAILURE() << "no " << kind;
  static const ResultPoint none;
  return none;
}

// Three thresholds of one program, an hour apart. The aggregation takes 110 s less what the filter
// above it may take, is 1000 records of an exchange's 32 bytes, read at 20 MB/s (less than the 1e8
// bytes in 100 s that the log shows counts as that): 0.4 + 0.0016 s. It is written once and read
// twice.
TEST(Advise, KeepsWhatSavesMostOfWhatIsUsedAgain) {
  const Advice advice = Of({Condensing("app-1", 0, 1, "5"), Condensing("app-2", kHour, 9, "6"),
                            Condensing("app-3", 2 * kHour, 5, "7")});
  ASSERT_THAT(AdvisedKinds(advice), testing::ElementsAre("Aggregate"));
  const ResultPoint& point = advice.points.front();
  const double width = 100;  // of two columns, each as wide as those of the source: 50 bytes
  const double read = 0.4 + 1000 * width / 20e6;
  const double write = 0.4 + 3 * 1000 * width / 20e6;
  EXPECT_DOUBLE_EQ(*point.bytes, 1000 * width);
  EXPECT_NEAR(point.read_seconds, read, 1e-9);                  // eq. 11
  EXPECT_NEAR(point.benefit.expected, 109.99975 - read, 1e-6);  // eq. 8
  EXPECT_NEAR(point.saved_per_week.expected, 2 * (109.99975 - read) - write, 1e-6);
  EXPECT_EQ(point.uses.size(), 3);
  EXPECT_EQ(point.data, 1);
  EXPECT_TRUE(point.uses[0].is_first);
  EXPECT_EQ(point.uses[1].application, "app-2");
  EXPECT_EQ(point.uses[1].line, "count at Gdelt.scala:12");
  EXPECT_THAT(point.tables, testing::ElementsAre("file:/data/events"));
  EXPECT_EQ(point.max_benefit_of, 3);
  EXPECT_TRUE(point.is_on_skyline);
  EXPECT_NEAR(advice.saved_per_week, point.saved_per_week.expected, 1e-6);
  EXPECT_EQ(PointOf(advice, "Project").why_not, "what is advised saves the same");
}

// Over two weeks: half of it in each.
TEST(Advise, CountsByTheWeek) {
  const Advice advice = Of({Condensing("app-1", 0), Condensing("app-2", 2 * kWeek)});
  EXPECT_DOUBLE_EQ(advice.weeks, 2);
  EXPECT_DOUBLE_EQ(advice.points[0].uses_per_week, 1);
  EXPECT_NEAR(advice.points[0].saved_per_week.expected, (109.99975 - 0.405 - 0.415) / 2, 1e-6);
}

// A run of 110 s and one on another day of 60 s: each use saves something between.
TEST(Advise, SaysWhatTheLeastAndTheMostOfTheUsesSave) {
  RanPlan quick = Condensing("app-2", kHour);
  quick.stages[1].end -= 50;
  const Advice advice = Of({Condensing("app-1", 0), quick});
  const ResultPoint& point = PointOf(advice, "Aggregate");
  EXPECT_LT(point.benefit.lower, 60);
  EXPECT_GT(point.benefit.upper, 109);
  EXPECT_NEAR(point.benefit.expected, (109.99975 + 59.99975) / 2 - 0.405, 1e-6);
}

TEST(Advise, SaysOfOneRunThatNothingIsUsedAgain) {
  const Advice advice = Of({Condensing("app-1", 0)});
  EXPECT_THAT(AdvisedKinds(advice), testing::IsEmpty());
  EXPECT_THAT(PointOf(advice, "Aggregate").why_not, HasSubstr("used once"));
  EXPECT_EQ(PointOf(advice, "Aggregate").max_benefit_of, 1);
  EXPECT_THAT(advice.remarks, Contains(HasSubstr("one plan alone")));
}

TEST(Advise, DoesNotKeepWhoseDataChange) {
  RanPlan next_day = Condensing("app-2", kHour);
  next_day.operators.back().records = 1.1e6;
  const Advice advice = Of({Condensing("app-1", 0), next_day});
  EXPECT_THAT(AdvisedKinds(advice), testing::IsEmpty());
  EXPECT_THAT(PointOf(advice, "Aggregate").why_not, HasSubstr("others each time"));
}

TEST(Advise, NeverAdvisesWhatMayCostTime) {
  // All of it takes a tenth of a second: to read takes longer.
  std::vector<RanPlan> history = {Condensing("app-1", 0), Condensing("app-2", kHour),
                                  Condensing("app-3", 2 * kHour)};
  for (RanPlan& plan : history) {
    for (auto& [number, stage] : plan.stages) stage.end = stage.begin + 0.05;
  }
  const Advice quick = Of(history);
  EXPECT_THAT(AdvisedKinds(quick), testing::IsEmpty());
  EXPECT_THAT(PointOf(quick, "Aggregate").why_not, HasSubstr("longer than to compute"));
  // Functions of the program run above it in its stage: what they take is not known.
  history = {Condensing("app-1", 0), Condensing("app-2", kHour)};
  for (RanPlan& plan : history) {
    plan.operators[5].text = "HashAggregate(keys=[site#1], functions=[partial_myUDF(tone#2)])";
    plan.operators[2].text = "HashAggregate(keys=[site#1], functions=[myUDF(tone#2)])";
    plan.operators[1].text = "Filter (rand() > 0.5)";
    plan.operators[2].records = std::nullopt;  // no size, so it is out of the question
  }
  const Advice unknown = Of(history);
  EXPECT_THAT(AdvisedKinds(unknown), testing::IsEmpty());
  EXPECT_THAT(PointOf(unknown, "Project").why_not, HasSubstr("not told apart"));
  EXPECT_THAT(PointOf(unknown, "Aggregate").why_not, HasSubstr("size"));
}

// The aggregation is 100,000 bytes, the projection 1e7.
TEST(Advise, KeepsWithinTheSpace) {
  const std::vector<RanPlan> history = {Condensing("app-1", 0), Condensing("app-2", kHour)};
  EXPECT_THAT(AdvisedKinds(Of(history, {.space_bytes = 1e6})), testing::ElementsAre("Aggregate"));
  const Advice nothing = Of(history, {.space_bytes = 1000});
  EXPECT_THAT(AdvisedKinds(nothing), testing::IsEmpty());
  EXPECT_THAT(PointOf(nothing, "Aggregate").why_not, HasSubstr("does not fit"));
}

// Two programs share the projection and nothing above it: there is one result for both, although
// each has a larger one of its own that is never used again.
TEST(Advise, PrefersWhatIsSharedToWhatIsLarge) {
  RanPlan other = Condensing("app-2", kHour);
  other.operators[2].text = "HashAggregate(keys=[site#1], functions=[max(tone#2)])";
  const Advice advice = Of({Condensing("app-1", 0), other});
  EXPECT_THAT(AdvisedKinds(advice), testing::ElementsAre("Project"));
}

// Five runs share the projection, 98 s less at most 0.051 of above it, 1e7 bytes: 97.0745 s each,
// 1.9 s to write. Beside it, an aggregation saves what is left, 109.59475 - 97.0745 s, in two of
// three runs of one program and in one of two of the other, and 0.415 s to write each.
TEST(Advise, WeighsResultsWithinOthersBesideThese) {
  std::vector<RanPlan> history;
  for (int run = 0; run < 5; ++run) {
    history.push_back(
        Condensing("app-" + std::to_string(run), run * kHour, 1 + 10 * run, std::to_string(run)));
    if (run < 3) continue;
    RanOperator& condensing = history.back().operators[2];
    condensing.text.replace(condensing.text.find("avg("), 4, "max(");
  }
  const Advice advice = Of(history);
  EXPECT_THAT(AdvisedKinds(advice), testing::ElementsAre("Project", "Aggregate", "Aggregate"));
  const double rest = 109.59475 - 97.0745;
  EXPECT_NEAR(advice.saved_per_week, (4 * 97.0745 - 1.9) + (2 * rest - 0.415) + (rest - 0.415),
              1e-6);
  // In space for one projection and no more, that saves most; in less, both aggregations do.
  EXPECT_THAT(AdvisedKinds(Of(history, {.space_bytes = 1e7})), testing::ElementsAre("Project"));
  EXPECT_THAT(AdvisedKinds(Of(history, {.space_bytes = 1e6})),
              testing::ElementsAre("Aggregate", "Aggregate"));
}

TEST(Advise, ReplaysCachesOverTheHistory) {
  const Advice advice = Of({Condensing("app-1", 0, 1, "5"), Condensing("app-2", kHour, 9, "6")});
  ASSERT_EQ(advice.policies.size(), 4);
  EXPECT_EQ(advice.policies[0].policy, "advised");
  for (const PolicyReplay& policy : advice.policies) {
    EXPECT_EQ(policy.replayed.hits, 1) << policy.policy;
    EXPECT_EQ(policy.replayed.writes, 1) << policy.policy;
    EXPECT_NEAR(policy.replayed.saved_seconds, 109.99975 - 0.405 - 0.415, 1e-6) << policy.policy;
  }
}

TEST(Advise, RefusesAHistoryWithoutPlans) {
  EXPECT_THAT(Advise({}, {}).status().message(), HasSubstr("no plan"));
  RanPlan cycle = Condensing("app-1", 0);
  cycle.operators.back().inputs = {0};
  EXPECT_THAT(Advise({cycle}, {}).status().message(), HasSubstr("cycle"));
  const Advice advice = Of({cycle, Condensing("app-1", 0)});
  EXPECT_THAT(advice.remarks, Contains(HasSubstr("1 plan is left out: operators read each other")));
}

TEST(Advise, RefusesSpacesAndRatesThatCannotBe) {
  const std::vector<RanPlan> history = {Condensing("app-1", 0)};
  for (const double wrong :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EXPECT_FALSE(Advise(history, {.space_bytes = wrong}).ok());
    EXPECT_FALSE(Advise(history, {.read_rate = wrong}).ok());
  }
  EXPECT_FALSE(Advise(history, {.read_rate = 0}).ok());
}

TEST(Advise, BearsAbsurdCounters) {
  for (const double absurd : {-1.0, 1e300, std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN()}) {
    std::vector<RanPlan> history = {Condensing("app-1", 0), Condensing("app-2", kHour)};
    for (RanPlan& plan : history) {
      for (RanOperator& op : plan.operators) {
        op.records = absurd;
        op.bytes = absurd;
      }
    }
    for (const ResultPoint& point : Of(history).points) {
      EXPECT_TRUE(std::isfinite(point.saved_per_week.expected)) << absurd;
      EXPECT_FALSE(point.is_advised) << absurd;
    }
  }
}

TEST(Advise, SaysHowLikelyAPlanHasIt) {
  RanPlan other;
  other.operators = {
      {.name = "Sort", .text = "Sort", .inputs = {1}},
      {.name = "Scan csv ", .text = "FileScan csv [a#1]", .table = "file:/data/events"}};
  const Advice advice = Of({Condensing("app-1", 0), other});
  // Both begin with the table; from there half goes on to a filter, from which half goes on to the
  // projection (the other one ends the plan), and so on.
  EXPECT_DOUBLE_EQ(PointOf(advice, "Filter").reuse_probability, 0.5);
  EXPECT_GT(PointOf(advice, "Filter").reuse_probability, 0);
}

}  // namespace
}  // namespace tidemark::advise
