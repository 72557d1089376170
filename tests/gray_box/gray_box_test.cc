// Tests the equations of [GB] with numbers that were computed by hand. docs/internals/adr/0033
// lists errors in the paper.

#include "master/forecast/durations/parameters.h"
#include "tests/test.h"
#include "whatif/gray_box/materialization.h"

namespace tidemark::gray_box::gray_box_test {
namespace {

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

// One branch takes 5 + 3 s and the other 9 s. The longer branch counts, plus 4 s for the join and 2
// s for the operator after it.
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
  const MaterializationPoint point = {.total_seconds = TotalSeconds(Chain())->at(2),
                                      .read_seconds = ReadSeconds(1e6, 100, 5e7)};
  EXPECT_DOUBLE_EQ(point.benefit_seconds(), 8);
}

// According to section 5.3.2, two stages run at the start, one at the end, and one in each
// iteration.
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
}  // namespace tidemark::gray_box::gray_box_test
