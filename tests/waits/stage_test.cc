#include "master/waits/stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/waits/example_2_2.h"

namespace tidemark::blame {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// [PX] Example 2.1: s5 has depth 1, s1 depth 4.
TEST(Figure1, DepthIsTheNumberOfStagesToTheLast) {
  const auto depths = Depths(ExampleStages());
  ASSERT_TRUE(depths.ok()) << depths.status();
  EXPECT_THAT(*depths, ElementsAre(4, 4, 4, 3, 2, 1, 1, 1, 1, 1));
}

TEST(Depths, LongestPathCounts) {
  const std::vector<StageInfo> stages = {{.query = Q(0)},
                                         {.query = Q(0), .parents = {S(0)}},
                                         {.query = Q(0), .parents = {S(0), S(1)}}};
  const auto depths = Depths(stages);
  ASSERT_TRUE(depths.ok());
  EXPECT_THAT(*depths, ElementsAre(3, 2, 1));
}

TEST(Depths, WrongParentsAreSaid) {
  const auto error = [](std::vector<StageInfo> stages) {
    return std::string(Depths(stages).status().message());
  };
  EXPECT_THAT(error({{.query = Q(0), .parents = {S(7)}}}),
              HasSubstr("stage 0: parent 7 is no stage of its query"));
  EXPECT_THAT(error({{.query = Q(0)}, {.query = Q(1), .parents = {S(0)}}}),
              HasSubstr("stage 1: parent 0"));
  EXPECT_THAT(error({{.query = Q(0), .parents = {S(1)}}, {.query = Q(0), .parents = {S(0)}}}),
              HasSubstr("cycle"));
}

TEST(CriticalPath, OfAQueryThatHasNotRunIsSomePathOfIt) {
  const auto path = CriticalPath(ExampleStages(), Ledger{}, kQ1);
  ASSERT_TRUE(path.ok());
  for (const Stage stage : *path) EXPECT_EQ(stage, kR3);
}

}  // namespace
}  // namespace tidemark::blame
