#include "master/model/stage.h"

#include <gtest/gtest.h>

#include "tests/master/events.h"

namespace tidemark::model {
namespace {

using test::At;
using test::Finished;
using test::Job;
using test::Killed;
using test::Opened;
using test::Point;
using test::R;
using test::Reduced;
using test::Started;

TEST(Task, ItsLeadingAttemptIsTheRunningOneThatHasReadMost) {
  Job job;
  EXPECT_TRUE(job.Say(0, Opened(1, 1)).ok());
  EXPECT_EQ(job.state.reduce_tasks()[0].leading_attempt(), nullptr);
  for (const std::uint32_t attempt : {0u, 1u, 2u}) {
    EXPECT_TRUE(job.Say(10, Started(R(0, attempt))).ok());
  }
  EXPECT_TRUE(job.Say(12, Reduced(R(0, 1), At(12), {Point(50, 1)})).ok());
  EXPECT_TRUE(job.Say(12, Reduced(R(0, 2), At(12), {Point(90, 1)})).ok());
  EXPECT_EQ(job.state.reduce_tasks()[0].leading_attempt(),
            &job.state.reduce_tasks()[0].attempts.at({0, 2}));
  EXPECT_TRUE(job.Say(13, Killed(R(0, 2))).ok());
  EXPECT_EQ(job.state.reduce_tasks()[0].leading_attempt(),
            &job.state.reduce_tasks()[0].attempts.at({0, 1}));
  EXPECT_TRUE(job.Say(14, Finished(R(0, 0))).ok());
  EXPECT_EQ(job.state.reduce_tasks()[0].leading_attempt(), nullptr);
}

}  // namespace
}  // namespace tidemark::model
