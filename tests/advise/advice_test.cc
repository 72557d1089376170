#include "whatif/advise/advice.h"

#include "tests/advise/plans.h"
#include "tests/test.h"

namespace tidemark::advise::advice_test {
namespace {

constexpr double kHour = 3600;
constexpr double kWeek = 7 * 24 * kHour;

Advice Of(const std::vector<PastPlan>& history, const AdviceOptions& options = {}) {
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

// Three runs of one program, one hour apart, differ in a threshold. The aggregation takes 110 s
// without the time of the filter above it. Its output has 1,000 records with an exchange's 32
// bytes. Reading them at 20 MB/s takes 0.4 + 0.0016 s. The log shows 1e8 bytes in 100 s, which is
// less than that rate. The result is written once and read twice.
TEST(Advise, KeepsTheReusedResultsThatSaveMost) {
  const Advice advice = Of({Condensing("app-1", 0, 1, "5"), Condensing("app-2", kHour, 9, "6"),
                            Condensing("app-3", 2 * kHour, 5, "7")});
  ASSERT_THAT(AdvisedKinds(advice), testing::ElementsAre("Aggregate"));
  const ResultPoint& point = advice.points.front();
  const double width = 100;  // two columns of 50 bytes each, as in the source
  const double read = 0.4 + 1000 * width / 20e6;
  const double write = 0.4 + 3 * 1000 * width / 20e6;
  EXPECT_DOUBLE_EQ(*point.bytes, 1000 * width);
  EXPECT_NEAR(point.read_seconds, read, 1e-9);                  // equation 11
  EXPECT_NEAR(point.benefit.expected, 109.99975 - read, 1e-6);  // equation 8
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
  EXPECT_EQ(PointOf(advice, "Project").why_not, "advised results already save this time");
}

// The history covers two weeks, with half of the uses in each week.
TEST(Advise, CountsByTheWeek) {
  const Advice advice = Of({Condensing("app-1", 0), Condensing("app-2", 2 * kWeek)});
  EXPECT_DOUBLE_EQ(advice.weeks, 2);
  EXPECT_DOUBLE_EQ(advice.points[0].uses_per_week, 1);
  EXPECT_NEAR(advice.points[0].saved_per_week.expected, (109.99975 - 0.405 - 0.415) / 2, 1e-6);
}

// Runs of 110 s and 60 s on different days bound the savings of each use.
TEST(Advise, ReportsTheLeastAndTheMostSavingsOfUses) {
  PastPlan quick = Condensing("app-2", kHour);
  quick.stages[1].end -= 50;
  const Advice advice = Of({Condensing("app-1", 0), quick});
  const ResultPoint& point = PointOf(advice, "Aggregate");
  EXPECT_LT(point.benefit.lower, 60);
  EXPECT_GT(point.benefit.upper, 109);
  EXPECT_NEAR(point.benefit.expected, (109.99975 + 59.99975) / 2 - 0.405, 1e-6);
}

TEST(Advise, ReportsOneRunAsWithoutReuse) {
  const Advice advice = Of({Condensing("app-1", 0)});
  EXPECT_THAT(AdvisedKinds(advice), testing::IsEmpty());
  EXPECT_THAT(PointOf(advice, "Aggregate").why_not, HasSubstr("used once"));
  EXPECT_EQ(PointOf(advice, "Aggregate").max_benefit_of, 1);
  EXPECT_THAT(advice.remarks, Contains(HasSubstr("one plan, so")));
}

TEST(Advise, DoesNotKeepResultsOfChangingData) {
  PastPlan next_day = Condensing("app-2", kHour);
  next_day.operators.back().records = 1.1e6;
  const Advice advice = Of({Condensing("app-1", 0), next_day});
  EXPECT_THAT(AdvisedKinds(advice), testing::IsEmpty());
  EXPECT_THAT(PointOf(advice, "Aggregate").why_not, HasSubstr("differ at each use"));
}

TEST(Advise, NeverAdvisesResultsThatMayCostTime) {
  // Computing the result takes a tenth of a second, which is less than reading it.
  std::vector<PastPlan> history = {Condensing("app-1", 0), Condensing("app-2", kHour),
                                   Condensing("app-3", 2 * kHour)};
  for (PastPlan& plan : history) {
    for (auto& [number, stage] : plan.stages) stage.end = stage.begin + 0.05;
  }
  const Advice quick = Of(history);
  EXPECT_THAT(AdvisedKinds(quick), testing::IsEmpty());
  EXPECT_THAT(PointOf(quick, "Aggregate").why_not, HasSubstr("longer than computing"));
  // Functions of the program, whose cost is unknown, run in the same stage above the result.
  history = {Condensing("app-1", 0), Condensing("app-2", kHour)};
  for (PastPlan& plan : history) {
    plan.operators[5].text = "HashAggregate(keys=[site#1], functions=[partial_myUDF(tone#2)])";
    plan.operators[2].text = "HashAggregate(keys=[site#1], functions=[myUDF(tone#2)])";
    plan.operators[1].text = "Filter (rand() > 0.5)";
    plan.operators[2].records = std::nullopt;  // A result of unknown size is excluded.
  }
  const Advice unknown = Of(history);
  EXPECT_THAT(AdvisedKinds(unknown), testing::IsEmpty());
  EXPECT_THAT(PointOf(unknown, "Project").why_not, HasSubstr("cannot be separated"));
  EXPECT_THAT(PointOf(unknown, "Aggregate").why_not, HasSubstr("size"));
}

// The aggregation has 100,000 bytes, and the projection 1e7.
TEST(Advise, KeepsWithinTheSpace) {
  const std::vector<PastPlan> history = {Condensing("app-1", 0), Condensing("app-2", kHour)};
  EXPECT_THAT(AdvisedKinds(Of(history, {.space_bytes = 1e6})), testing::ElementsAre("Aggregate"));
  const Advice nothing = Of(history, {.space_bytes = 1000});
  EXPECT_THAT(AdvisedKinds(nothing), testing::IsEmpty());
  EXPECT_THAT(PointOf(nothing, "Aggregate").why_not, HasSubstr("does not fit"));
}

// Two programs share only the projection. One result serves both programs, although each of them
// has a larger result that is never used again.
TEST(Advise, PrefersSharedResultsToLargeOnes) {
  PastPlan other = Condensing("app-2", kHour);
  other.operators[2].text = "HashAggregate(keys=[site#1], functions=[max(tone#2)])";
  const Advice advice = Of({Condensing("app-1", 0), other});
  EXPECT_THAT(AdvisedKinds(advice), testing::ElementsAre("Project"));
}

// Five runs share the projection of 1e7 bytes. It takes 98 s without the operators above it, which
// take at most 0.051 s. It saves 97.0745 s in each run, and takes 1.9 s to write. An aggregation
// above it saves the remaining 109.59475 - 97.0745 s, and takes 0.415 s to write. It saves them in
// two of three runs of one program, and in one of two runs of the other.
TEST(Advise, WeighsNestedResultsTogether) {
  std::vector<PastPlan> history;
  for (int run = 0; run < 5; ++run) {
    history.push_back(
        Condensing("app-" + std::to_string(run), run * kHour, 1 + 10 * run, std::to_string(run)));
    if (run < 3) continue;
    PastOperator& condensing = history.back().operators[2];
    condensing.text.replace(condensing.text.find("avg("), 4, "max(");
  }
  const Advice advice = Of(history);
  EXPECT_THAT(AdvisedKinds(advice), testing::ElementsAre("Project", "Aggregate", "Aggregate"));
  const double rest = 109.59475 - 97.0745;
  EXPECT_NEAR(advice.saved_per_week, (4 * 97.0745 - 1.9) + (2 * rest - 0.415) + (rest - 0.415),
              1e-6);
  // If there is space for one projection, the projection saves most. In less space, both
  // aggregations save most.
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

TEST(Advise, RejectsAHistoryWithoutPlans) {
  EXPECT_THAT(Advise({}, {}).status().message(), HasSubstr("no plan"));
  PastPlan cycle = Condensing("app-1", 0);
  cycle.operators.back().inputs = {0};
  EXPECT_THAT(Advise({cycle}, {}).status().message(), HasSubstr("cycle"));
  const Advice advice = Of({cycle, Condensing("app-1", 0)});
  EXPECT_THAT(advice.remarks, Contains(HasSubstr("1 plan is omitted: operators read each other")));
}

TEST(Advise, RejectsImpossibleSpacesAndRates) {
  const std::vector<PastPlan> history = {Condensing("app-1", 0)};
  for (const double wrong :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EXPECT_FALSE(Advise(history, {.space_bytes = wrong}).ok());
    EXPECT_FALSE(Advise(history, {.read_rate = wrong}).ok());
  }
  EXPECT_FALSE(Advise(history, {.read_rate = 0}).ok());
}

TEST(Advise, AcceptsAbsurdCounters) {
  for (const double absurd : {-1.0, 1e300, std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN()}) {
    std::vector<PastPlan> history = {Condensing("app-1", 0), Condensing("app-2", kHour)};
    for (PastPlan& plan : history) {
      for (PastOperator& op : plan.operators) {
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

TEST(Advise, ReportsTheProbabilityThatAPlanHasAResult) {
  PastPlan other;
  other.operators = {
      {.name = "Sort", .text = "Sort", .inputs = {1}},
      {.name = "Scan csv ", .text = "FileScan csv [a#1]", .table = "file:/data/events"}};
  const Advice advice = Of({Condensing("app-1", 0), other});
  // Both plans start with the table. Half of the plans continue to a filter, half of these plans to
  // the projection, and so on. The other plans end.
  EXPECT_DOUBLE_EQ(PointOf(advice, "Filter").reuse_probability, 0.5);
  EXPECT_GT(PointOf(advice, "Filter").reuse_probability, 0);
}

}  // namespace
}  // namespace tidemark::advise::advice_test
