// Tests the equations of [GB] with numbers worked by hand. docs/internals/adr/0033 lists errors of
// the print.
#include <gtest/gtest.h>

#include <vector>

#include "master/forecast/durations/parameters.h"
#include "whatif/gray_box/black_box.h"
#include "whatif/gray_box/materialization.h"

namespace tidemark::gray_box {
namespace {

TEST(GrayBoxPaper, Equation1OfCores) { EXPECT_DOUBLE_EQ(AllocatedCores(4, 8), 32); }

// 100 tasks on 32 cores run in 4 waves.
TEST(GrayBoxPaper, Equation2OfAStage) {
  EXPECT_DOUBLE_EQ(StageSeconds(5, 100, 32), 20);
  EXPECT_DOUBLE_EQ(StageSeconds(5, 96, 32), 15);
  EXPECT_DOUBLE_EQ(StageSeconds(5, 0, 32), 0);
}

TEST(GrayBoxPaper, Equation3OfAJob) {
  EXPECT_DOUBLE_EQ(JobSeconds(3, std::vector<double>{20, 5}, 2), 30);
}

TEST(GrayBoxPaper, Equation4OfRecordsInAPartition) {
  EXPECT_DOUBLE_EQ(PartitionRecords(1e6, 40), 25'000);
}

// Section 5.3.1 drops words that start with a, f, h and n, which are 11.68, 4.03, 4.20 and 2.28 %
// of all words.
TEST(GrayBoxPaper, Equations6And7OfFilters) {
  const double letters = 1 - (0.1168 + 0.0403 + 0.0420 + 0.0228);
  EXPECT_NEAR(letters, 0.7781, 1e-12);
  EXPECT_NEAR(RecordsAfter(1e6, std::vector<double>{letters, 0.5}), 389'050, 1e-6);
}

// Reading 1,000,000 records of 100 bytes at 50 MB/s takes 2 s.
TEST(GrayBoxPaper, Equation11OfReading) { EXPECT_DOUBLE_EQ(ReadSeconds(1e6, 100, 5e7), 2); }

// Returns a source of 5 s, a filter of 3 s, a map of 2 s, and the end of the plan.
std::vector<Operator> Chain() {
  return {{.kind = "source", .seconds = 5},
          {.kind = "filter", .inputs = {0}, .seconds = 3},
          {.kind = "map", .inputs = {1}, .seconds = 2, .records = 1e6, .width = 100},
          {.kind = "sink", .inputs = {2}, .seconds = 1}};
}

TEST(GrayBoxPaper, Equation9OfAChain) {
  EXPECT_EQ(*TotalSeconds(Chain()), (std::vector<double>{5, 8, 10, 11}));
}

// The longer of the branches of 5 + 3 s and 9 s counts, plus the join's 4 s and the 2 s after it.
TEST(GrayBoxPaper, Equation10OfAJoin) {
  const std::vector<Operator> plan = {{.kind = "source", .seconds = 5},
                                      {.kind = "filter", .inputs = {0}, .seconds = 3},
                                      {.kind = "source", .seconds = 9},
                                      {.kind = "join", .inputs = {1, 2}, .seconds = 4},
                                      {.kind = "count", .inputs = {3}, .seconds = 2}};
  EXPECT_EQ(*TotalSeconds(plan), (std::vector<double>{5, 8, 9, 13, 15}));
}

// Computing takes 10 s, and reading 2 s.
TEST(GrayBoxPaper, Equation8OfTheBenefit) {
  const auto points = PointsOf(Chain(), 5e7);
  ASSERT_TRUE(points.ok()) << points.status();
  ASSERT_EQ(points->size(), 2);
  EXPECT_EQ(points->back().output_of, 2);
  EXPECT_DOUBLE_EQ(points->back().benefit_seconds(), 8);
}

// Section 5.3.2: two stages run at the start, one at the end, and one per iteration.
TEST(GrayBoxPaper, PageRankHasAStageForEachIteration) {
  const std::vector<durations::Parameters> parameters = {
      {{"iterations", "3"}}, {{"iterations", "5"}}, {{"iterations", "6"}}};
  const std::vector<durations::StageCounts> runs = {
      {{1, 2}, {2, 3}, {3, 1}}, {{1, 2}, {2, 5}, {3, 1}}, {{1, 2}, {2, 6}, {3, 1}}};
  const auto model = durations::RepetitionModel::Learn(parameters, runs);
  ASSERT_TRUE(model.ok()) << model.status();
  const auto counts = model->Predict({{"iterations", "20"}});
  EXPECT_DOUBLE_EQ(counts.at(1).value, 2);
  EXPECT_DOUBLE_EQ(counts.at(2).value, 20);
  EXPECT_DOUBLE_EQ(counts.at(3).value, 1);
  EXPECT_EQ(model->workflow_controls().size(), 1);
}

}  // namespace
}  // namespace tidemark::gray_box
