#include "whatif/spark_repeats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tidemark::cli {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

PlannedStage Named(const std::string& name, std::vector<std::string> after = {}) {
  return {.name = name, .after = std::move(after), .task_count = 1};
}

std::vector<std::string> Lines(const std::vector<PlannedStage>& stages) {
  std::vector<std::string> lines;
  for (const PlannedStage& stage : stages) {
    std::string line = stage.name + ":";
    for (const std::string& parent : stage.after) line += " " + parent;
    lines.push_back(line);
  }
  return lines;
}

// PageRank: links, then iterations that each read the one before, then the result.
std::vector<PlannedStage> Chain() {
  return {Named("links"), Named("turn 1", {"links"}), Named("turn 2", {"links", "turn 1"}),
          Named("result", {"turn 2"})};
}
const std::vector<std::uint64_t> kChainWorks = {1, 2, 2, 3};

TEST(Repeated, AddsTurnsAtTheEndOfTheirChain) {
  EXPECT_THAT(Lines(Repeated(Chain(), kChainWorks, {{2, 4}})),
              UnorderedElementsAre("links:", "turn 1: links", "turn 2: links turn 1",
                                   "turn 2 (+1): links turn 2", "turn 2 (+2): links turn 2 (+1)",
                                   "result: turn 2 (+2)"));
}

TEST(Repeated, LeavesTurnsOut) {
  EXPECT_THAT(Lines(Repeated(Chain(), kChainWorks, {{2, 1}})),
              ElementsAre("links:", "turn 1: links", "result: turn 1"));
}

TEST(Repeated, KeepsAtLeastOneAndWhatIsNotNamed) {
  EXPECT_EQ(Lines(Repeated(Chain(), kChainWorks, {{2, 0}})),
            Lines(Repeated(Chain(), kChainWorks, {{2, 1}})));
  EXPECT_EQ(Lines(Repeated(Chain(), kChainWorks, {{77, 5}})), Lines(Chain()));
  EXPECT_EQ(Lines(Repeated(Chain(), kChainWorks, {{2, 1'000'000}})), Lines(Chain()));
}

// K-Means: jobs of two stages each, one after the other.
TEST(Repeated, AddsTurnsOfSeveralStages) {
  const std::vector<PlannedStage> jobs = {Named("map 1"), Named("sum 1", {"map 1"}),
                                          Named("map 2", {"sum 1"}), Named("sum 2", {"map 2"})};
  EXPECT_THAT(Lines(Repeated(jobs, {1, 2, 1, 2}, {{1, 3}, {2, 3}})),
              UnorderedElementsAre("map 1:", "sum 1: map 1", "map 2: sum 1", "sum 2: map 2",
                                   "map 2 (+1): sum 2", "sum 2 (+1): map 2 (+1)"));
}

}  // namespace
}  // namespace tidemark::cli
