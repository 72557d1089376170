#include "spark/failure_cause.h"

#include <gtest/gtest.h>

namespace tidemark::spark {
namespace {

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

TEST(FailureCause, IsAllThereIsWhereNoneIsNamed) {
  for (const std::string& whole : {std::string(), std::string("boom"), "a.B: bad" + kStack, kLost,
                                   std::string("Traceback (most recent call last):\n  File \"a")}) {
    EXPECT_EQ(FailureCause(whole), whole);
  }
}

TEST(FailureCause, IsNoneWhereAQueryCancelsItsJob) {
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

}  // namespace
}  // namespace tidemark::spark
