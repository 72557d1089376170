#include "spark/planned_stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/vectors/vectors.h"

namespace tidemark::spark {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// The connector is held to the same.
TEST(PlannedStages, AreThoseOfTheVectors) {
  for (const json& vector : vectors::Read("spark_plans.json")) {
    SCOPED_TRACE(vector["what"]);
    EXPECT_EQ(PlannedTaskCounts(vector["plan"]),
              vector["task_counts"].get<std::vector<std::uint32_t>>());
  }
}

json Exchanges(std::size_t count) {
  json plan = {{"nodeName", "Scan"}};
  for (std::size_t i = 0; i < count; ++i) {
    plan = {{"nodeName", "Exchange"}, {"children", json::array({std::move(plan)})}};
  }
  return {{"nodeName", "AdaptiveSparkPlan"}, {"children", json::array({std::move(plan)})}};
}

TEST(PlannedStages, OfATooLargePlanNothingIsSaid) {
  EXPECT_THAT(PlannedTaskCounts(Exchanges(kPlannedStagesMax - 1)), SizeIs(kPlannedStagesMax));
  EXPECT_THAT(PlannedTaskCounts(Exchanges(kPlannedStagesMax)), IsEmpty());
  EXPECT_THAT(PlannedTaskCounts(Exchanges(20'000)), IsEmpty());
}

TEST(PlannedStages, WhatIsNoPlanHasNone) {
  for (const char* text : {"null", "7", "[]", R"({"nodeName":3})", R"({"nodeName":"Exchange"})"}) {
    EXPECT_THAT(PlannedTaskCounts(json::parse(text)), IsEmpty()) << text;
  }
  const json odd = json::parse(R"({"nodeName":"AdaptiveSparkPlan","children":7})");
  EXPECT_THAT(PlannedTaskCounts(odd), ElementsAre(0)) << "its result";
}

}  // namespace
}  // namespace tidemark::spark
