#include "spark/connector_parity.h"

#include <nlohmann/json.hpp>

#include "tests/test.h"
#include "tests/vectors/vectors.h"

namespace tidemark::spark::connector_parity_test {
namespace {

using nlohmann::json;

const std::string kLost =
    "Job aborted due to stage failure: Task 0 in stage 0.0 failed 4 times, most recent failure: "
    "Lost task 0.3 in stage 0.0 (TID 3) (10.0.0.1 executor 2): ";
const std::string kStack = "\n\tat org.apache.spark.Task.run(Task.scala:1)\n";

TEST(FailureCause, IsTheExceptionOfThePythonTraceback) {
  const std::string python =
      "org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n"
      "  File \"/app/worker.py\", line 1247, in main\n    process()\n"
      "    ^^^^^^^^^\nValueError: bad price\nof item 7\n" +
      kStack;
  EXPECT_EQ(FailureCause(kLost + python), "ValueError: bad price");
  EXPECT_EQ(FailureCause(python), "ValueError: bad price");
}

TEST(FailureCause, IsTheLastOfExceptionsThatFollowEachOther) {
  EXPECT_EQ(FailureCause("Traceback (most recent call last):\n  File \"a.py\"\nKeyError: 'a'\n\n"
                         "During handling of the above exception, another exception occurred:\n\n"
                         "Traceback (most recent call last):\r\n  File \"b.py\"\r\napp.Wrong\r\n"),
            "app.Wrong");
}

TEST(FailureCause, IsTheExceptionOfTheTaskThatFailedLast) {
  EXPECT_EQ(FailureCause(kLost + "java.lang.ArithmeticException: / by zero" + kStack),
            "java.lang.ArithmeticException: / by zero");
}

TEST(FailureCause, IsTheWholeTextWithoutANamedError) {
  for (const std::string& whole : {std::string(), std::string("boom"), "a.B: bad" + kStack, kLost,
                                   std::string("Traceback (most recent call last):\n  File \"a")}) {
    EXPECT_EQ(FailureCause(whole), whole);
  }
}

TEST(FailureCause, IsAbsentIfAQueryCancelsItsJob) {
  for (const char* reason :
       {"", " ", " The corresponding broadcast query stage is cancelled", " .\nat a.B"}) {
    EXPECT_TRUE(IsCancelledByItsQuery(std::string("Job 7 cancelled") + reason)) << reason;
  }
  for (const char* other :
       {"", "boom", "Job 7 cancelled because SparkContext was shut down",
        "Job 7 cancelled because killed via the Web UI",
        "Job 7 cancelled part of cancelled job group x",
        "Job 7 cancelled because Stage 3 was cancelled", "Job cancelled", "Job 7"}) {
    EXPECT_FALSE(IsCancelledByItsQuery(other)) << other;
  }
}

// The connector's tests use the same vectors.
TEST(PlannedStages, MatchTheVectors) {
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

TEST(PlannedStages, AreAbsentForATooLargePlan) {
  EXPECT_THAT(PlannedTaskCounts(Exchanges(kPlannedStagesMax - 1)), SizeIs(kPlannedStagesMax));
  EXPECT_THAT(PlannedTaskCounts(Exchanges(kPlannedStagesMax)), IsEmpty());
  EXPECT_THAT(PlannedTaskCounts(Exchanges(20'000)), IsEmpty());
}

TEST(PlannedStages, AreAbsentForOtherJson) {
  for (const char* text : {"null", "7", "[]", R"({"nodeName":3})", R"({"nodeName":"Scan"})"}) {
    EXPECT_THAT(PlannedTaskCounts(json::parse(text)), IsEmpty()) << text;
  }
  const json odd = json::parse(R"({"nodeName":"AdaptiveSparkPlan","children":7})");
  EXPECT_THAT(PlannedTaskCounts(odd), ElementsAre(0)) << "the stage of the result";
}

}  // namespace
}  // namespace tidemark::spark::connector_parity_test
