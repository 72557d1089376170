#include "whatif/gray_box/materialization.h"

#include "tests/test.h"

namespace tidemark::gray_box::materialization_test {
namespace {

Candidate Of(double total, double read, double bytes, double uses) {
  return {.point = {.total_seconds = total, .read_seconds = read, .bytes = bytes}, .uses = uses};
}

TEST(TotalSeconds, RejectsCyclesAndUnknownInputs) {
  EXPECT_FALSE(TotalSeconds({{.inputs = {1}}, {.inputs = {0}}}).ok());
  EXPECT_FALSE(TotalSeconds({{.inputs = {0}}}).ok());
  EXPECT_FALSE(TotalSeconds({{.inputs = {7}}}).ok());
  EXPECT_FALSE(TotalSeconds({{.seconds = -1}}).ok());
  EXPECT_TRUE(TotalSeconds({})->empty());
}

TEST(TotalSeconds, AcceptsALongPlanInAnyOrder) {
  constexpr std::size_t kOperators = 5000;
  std::vector<Operator> plan(kOperators);
  for (std::size_t i = 0; i < kOperators; ++i) {
    plan[i].seconds = 1;
    if (i + 1 < kOperators) plan[i].inputs = {i + 1};
  }
  EXPECT_DOUBLE_EQ(TotalSeconds(plan)->front(), kOperators);
}

// Both plans start with "read". One of them continues with "filter", which always leads to "map".
TEST(ReuseChain, IsTheProductAlongTheInputs) {
  const std::vector<Operator> one = {
      {.kind = "read"}, {.kind = "filter", .inputs = {0}}, {.kind = "map", .inputs = {1}}};
  const std::vector<Operator> other = {{.kind = "read"}, {.kind = "sort", .inputs = {0}}};
  ReuseChain chain;
  chain.Add(one);
  chain.Add(other);
  EXPECT_DOUBLE_EQ(chain.Probability("read", "filter"), 0.5);
  EXPECT_DOUBLE_EQ(chain.OfPrefix(one, 2), 0.5);
  EXPECT_DOUBLE_EQ(chain.Probability("map", "read"), 0);
  EXPECT_DOUBLE_EQ(chain.OfPrefix({{.kind = "other"}}, 0), 0);
  EXPECT_DOUBLE_EQ(ReuseChain().OfPrefix(one, 2), 0);
}

TEST(MaxBenefit, IsThePointWithTheLargestPositiveBenefit) {
  EXPECT_EQ(MaxBenefit({Of(10, 8, 1, 1), Of(20, 12, 1, 1), Of(9, 1, 1, 1)}), 1);
  EXPECT_EQ(MaxBenefit({Of(1, 2, 1, 1)}), 1);  // This is not a candidate.
  EXPECT_EQ(MaxBenefit({}), 0);
}

TEST(Skyline, KeepsPointsThatNoOtherExceedsInBoth) {
  // The benefits are 8, 5, 5, 3 and -1. The uses are 1, 4, 2, 9 and 20.
  const std::vector<Candidate> candidates = {Of(10, 2, 1, 1), Of(6, 1, 1, 4), Of(7, 2, 1, 2),
                                             Of(4, 1, 1, 9), Of(1, 2, 1, 20)};
  EXPECT_THAT(Skyline(candidates), ElementsAre(0, 1, 3));
  EXPECT_THAT(Skyline({}), IsEmpty());
}

}  // namespace
}  // namespace tidemark::gray_box::materialization_test
