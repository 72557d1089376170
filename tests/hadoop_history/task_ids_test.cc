#include "hadoop/task_ids.h"

#include "tests/test.h"

namespace tidemark::hadoop::task_ids_test {
namespace {

TEST(TaskIds, HaveAStageAnIndexAndAnAttempt) {
  EXPECT_EQ(ParseTaskId("task_1700000000000_0001_m_000017"),
            (AttemptId{.stage = kMapStage, .index = 17}));
  EXPECT_EQ(ParseAttemptId("attempt_1700000000000_0001_r_000002_1000"),
            (AttemptId{.stage = kReduceStage, .index = 2, .attempt = 1000}));
}

TEST(TaskIds, OfOtherFormsAreRejected) {
  for (const char* const id : {"", "m_", "_m_1_", "task_1_1_s_000001", "1", "m_1_-1", "m_1_ 1",
                               "m_99999999999_1", "r_1_1x"}) {
    EXPECT_EQ(ParseAttemptId(id), std::nullopt) << id;
  }
}

TEST(JobIds, HaveTwoNumbers) {
  EXPECT_TRUE(IsJobId("job_1700000000000_0001"));
  for (const char* const id : {"", "job_", "job__1", "job_1_", "job_1", "job_1_1/..", "jot_1_1",
                               "job_../../x_1", "job_123456789012345678901_1"}) {
    EXPECT_FALSE(IsJobId(id)) << id;
  }
}

}  // namespace
}  // namespace tidemark::hadoop::task_ids_test
