

#include "tests/advise/plans.h"
#include "tests/test.h"
#include "whatif/advise/past_plan.h"

namespace tidemark::advise::normal_plan_test {
namespace {

std::vector<NormalOperator> Normal(const PastPlan& plan) {
  const auto normal = NormalPlan(plan);
  EXPECT_TRUE(normal.ok()) << normal.status();
  return normal.ok() ? *normal : std::vector<NormalOperator>();
}

std::vector<std::string> KindsOf(const PastPlan& plan) {
  std::vector<std::string> kinds;
  for (const NormalOperator& op : Normal(plan)) kinds.push_back(op.kind);
  return kinds;
}

std::uint64_t SignatureOf(const PastPlan& plan) { return Normal(plan).back().signature; }

TEST(NormalPlan, OmitsMovesOfRecordsAndLowerHalves) {
  EXPECT_THAT(KindsOf(Condensing("app-1", 0)),
              ElementsAre("Scan file:/data/events", "Filter", "Project", "Aggregate", "Filter"));
}

// The plan of Condensing() in the format of Spark 1.5.
TEST(NormalPlan, KnowsTheOperatorsOfOlderVersions) {
  const PastPlan plan = {
      .application = "app-1",
      .operators = {
          {.name = "TungstenSort", .text = "TungstenSort [site#1 ASC], true, 0", .inputs = {1}},
          {.name = "ConvertToSafe", .text = "ConvertToSafe", .inputs = {2}},
          {.name = "TungstenAggregate",
           .text = "TungstenAggregate(key=[site#1], functions=[(avg(tone#2),mode=Final)])",
           .inputs = {3}},
          {.name = "TungstenExchange", .text = "TungstenExchange hash(site#1)", .inputs = {4}},
          {.name = "TungstenAggregate",
           .text = "TungstenAggregate(key=[site#1], functions=[(avg(tone#2),mode=Partial)])",
           .inputs = {5}},
          {.name = "TungstenProject", .text = "TungstenProject [site#1,tone#2]", .inputs = {6}},
          {.name = "Scan", .text = "Scan[site#1,tone#2]", .table = "file:/data/events"}}};
  const auto normal = Normal(plan);
  EXPECT_THAT(KindsOf(plan), ElementsAre("Scan file:/data/events", "Project", "Aggregate", "Sort"));
  EXPECT_EQ(normal[1].text, "Project [site,tone]");
  EXPECT_EQ(normal[3].bar, "a stored result does not preserve the sort order");
}

// RDDs that SQL created before Spark 2.0 have the names of its operators.
TEST(NormalPlan, OmitsMovesOfRecordsInALineage) {
  const PastPlan plan = {
      .application = "app-1",
      .operators = {{.name = "TungstenExchange", .text = "ShuffledRowRDD", .inputs = {1}},
                    {.name = "map", .text = "MapPartitionsRDD", .inputs = {2}},
                    {.name = "textFile", .text = "a.csv", .table = "a.csv"}},
      .is_lineage = true};
  EXPECT_THAT(KindsOf(plan), ElementsAre("Scan a.csv", "map"));
}

TEST(NormalPlan, IgnoresTheNumbersOfColumns) {
  const auto one = Normal(Condensing("app-1", 0, 1));
  const auto other = Normal(Condensing("app-2", 50, 4711));
  ASSERT_EQ(one.size(), other.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].signature, other[i].signature) << i;
    EXPECT_EQ(one[i].text, other[i].text);
  }
  EXPECT_EQ(one[3].text, "Aggregate (keys=[site], functions=[avg(tone)])");
}

TEST(NormalPlan, DiffersAboveADifferentConstant) {
  const auto one = Normal(Condensing("app-1", 0, 1, "5"));
  const auto other = Normal(Condensing("app-1", 0, 1, "6"));
  EXPECT_EQ(one[3].signature, other[3].signature);
  EXPECT_NE(one[4].signature, other[4].signature);
}

TEST(NormalPlan, DiffersByTable) {
  PastPlan other = Condensing("app-1", 0);
  other.operators.back().table = "file:/data/others";
  EXPECT_NE(SignatureOf(Condensing("app-1", 0)), SignatureOf(other));
}

// Both sides have columns with the same name.
TEST(NormalPlan, DistinguishesColumnsOfTheSameName) {
  const auto join = [](const std::string& condition) {
    PastPlan plan;
    plan.operators = {
        {.name = "Filter", .text = "Filter (" + condition + " > 1)", .inputs = {1}},
        {.name = "SortMergeJoin", .text = "SortMergeJoin [id#1], [id#3], Inner", .inputs = {2, 3}},
        {.name = "Scan csv ", .text = "FileScan csv [id#1,value#2]", .table = "a"},
        {.name = "Scan csv ", .text = "FileScan csv [id#3,value#4]", .table = "b"}};
    return SignatureOf(plan);
  };
  EXPECT_NE(join("value#2"), join("value#4"));
}

TEST(NormalPlan, TreatsAllKindsOfJoinsAlike) {
  const auto join = [](const char* name, const char* text) {
    PastPlan plan;
    plan.operators = {
        {.name = name, .text = text, .inputs = {1, 3}},
        {.name = "Sort", .text = "Sort [id#1 ASC NULLS FIRST], false, 0", .inputs = {2}},
        {.name = "Scan csv ", .text = "FileScan csv [id#1]", .table = "a"},
        {.name = "BroadcastExchange", .text = "BroadcastExchange", .inputs = {4}},
        {.name = "Scan csv ", .text = "FileScan csv [key#3]", .table = "b"}};
    return SignatureOf(plan);
  };
  EXPECT_EQ(
      join("SortMergeJoin", "SortMergeJoin [id#1], [key#3], Inner"),
      join("BroadcastHashJoin", "BroadcastHashJoin [id#1], [key#3], Inner, BuildRight, false"));
}

TEST(NormalPlan, BarsRandomResultsAndAllAboveThem) {
  PastPlan plan = Condensing("app-1", 0);
  plan.operators[7].text = "Filter (rand(42) < 0.1)";
  const auto normal = Normal(plan);
  EXPECT_THAT(normal[0].bar, IsEmpty());
  for (std::size_t i = 1; i < normal.size(); ++i) EXPECT_THAT(normal[i].bar, HasSubstr("random"));
}

// show() stops early, so operators up to the aggregation, which reads all of its input, are
// incomplete.
TEST(NormalPlan, BarsResultsBelowALimit) {
  PastPlan plan = Condensing("app-1", 0);
  plan.operators[0] = {.name = "CollectLimit", .text = "CollectLimit 21", .inputs = {1}};
  const auto normal = Normal(plan);
  EXPECT_THAT(normal[3].bar, HasSubstr("LIMIT"));  // the aggregation
  EXPECT_THAT(normal[2].bar, IsEmpty());           // below the aggregation
}

TEST(NormalPlan, RecognizesUnnamedDataWithinOneApplicationOnly) {
  const auto of = [](const char* application, const char* source) {
    PastPlan plan;
    plan.application = application;
    plan.operators = {{.name = "Project", .text = "Project [a#1]", .inputs = {1}},
                      {.name = source, .text = "[a#1]"}};
    return SignatureOf(plan);
  };
  EXPECT_EQ(of("app-1", "LocalTableScan"), of("app-1", "LocalTableScan"));
  EXPECT_NE(of("app-1", "LocalTableScan"), of("app-2", "LocalTableScan"));
  EXPECT_EQ(of("app-1", "Range"), of("app-2", "Range")) << "its text defines its data";
}

TEST(NormalPlan, ReportsPointsToCheck) {
  PastPlan plan = Condensing("app-1", 0);
  plan.operators[6].is_cut = true;
  plan.operators[7].text = "Filter UDF(tone#2)";
  const auto normal = Normal(plan);
  EXPECT_THAT(normal.back().doubts, testing::SizeIs(2));
  EXPECT_THAT(normal.front().doubts, IsEmpty());
  PastPlan other = plan;
  other.program = "another";
  EXPECT_NE(SignatureOf(plan), SignatureOf(other));
}

TEST(NormalPlan, RejectsCyclesUnknownInputsAndTooManyOperators) {
  PastPlan cycle;
  cycle.operators = {{.name = "map", .inputs = {1}}, {.name = "filter", .inputs = {0}}};
  EXPECT_THAT(NormalPlan(cycle).status().message(), HasSubstr("cycle"));
  PastPlan itself;
  itself.operators = {{.name = "map", .inputs = {0}}};
  EXPECT_FALSE(NormalPlan(itself).ok());
  PastPlan unknown;
  unknown.operators = {{.name = "map", .inputs = {7}}};
  EXPECT_FALSE(NormalPlan(unknown).ok());
  PastPlan large;
  large.operators.resize(kOperatorsMax + 1);
  EXPECT_THAT(NormalPlan(large).status().message(), HasSubstr("5001 operators"));
  EXPECT_TRUE(NormalPlan(PastPlan())->empty());
}

TEST(NormalPlan, AcceptsAChainOf5000Operators) {
  PastPlan plan;
  for (std::size_t i = 0; i < kOperatorsMax; ++i) {
    plan.operators.push_back(
        {.name = "Filter", .text = "Filter (a#1 > " + std::to_string(i) + ")"});
    if (i > 0) plan.operators[i - 1].inputs = {i};
  }
  const auto normal = Normal(plan);
  EXPECT_EQ(normal.size(), kOperatorsMax);
  std::set<std::uint64_t> signatures;
  for (const NormalOperator& op : normal) signatures.insert(op.signature);
  EXPECT_EQ(signatures.size(), kOperatorsMax);
}

}  // namespace
}  // namespace tidemark::advise::normal_plan_test
