#include "master/forecast/placement/dag.h"

#include "tests/test.h"

namespace tidemark::placement::dag_test {
namespace {

TEST(Dag, OrdersStagesAfterTheirParentsLowestIndexFirst) {
  EXPECT_THAT(TopologicalOrder({{2}, {}, {}, {0, 1}}).value(), ElementsAre(1, 2, 0, 3));
}

TEST(Dag, CountsADuplicateParentOnce) {
  EXPECT_THAT(TopologicalOrder({{}, {0, 0}}).value(), ElementsAre(0, 1));
  EXPECT_THAT(ChildrenOf({{}, {0, 0}}), ElementsAre(ElementsAre(1), ElementsAre()));
}

TEST(Dag, NamesACycle) {
  const std::string message(TopologicalOrder({{}, {3}, {1}, {2, 0}}).status().message());
  EXPECT_THAT(message, HasSubstr("1 waits for 3 waits for 2 waits for 1"));
}

TEST(Dag, ACycleStartsAndEndsWithTheSameStage) {
  EXPECT_THAT(CycleOf({{1}, {2}, {1}}), ElementsAre(1, 2, 1));
  EXPECT_THAT(CycleOf({{0}}), ElementsAre(0, 0));
  EXPECT_TRUE(CycleOf({{}, {0}}).empty());
}

TEST(Dag, RejectsAnUnknownParent) {
  EXPECT_THAT(TopologicalOrder({{7}}).status().message(), HasSubstr("stage 7"));
}

TEST(Dag, IsEmptyWithoutStages) { EXPECT_TRUE(TopologicalOrder({}).value().empty()); }

TEST(Dag, OrdersALongChainWithoutRecursion) {
  Parents parents(100'000);
  for (std::size_t i = 1; i < parents.size(); ++i) parents[i] = {i - 1};
  EXPECT_EQ(TopologicalOrder(parents).value().size(), parents.size());
}

}  // namespace
}  // namespace tidemark::placement::dag_test
