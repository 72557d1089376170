#include "master/facts/stage.h"

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

// A stage of four tasks of which one has read 1,000 bytes in 100 records.
Stage Scan() {
  Stage stage;
  stage.opened.task_count = 4;
  stage.opened.task_bytes = {1000, 3000, 1000, 1000};
  for (std::uint32_t index = 0; index < 2; ++index) {
    Task& task = stage.tasks.emplace_back();
    task.index = index;
    task.input_bytes = stage.opened.task_bytes[index];
    task.attempts[{0, 0}].life.Enter(AttemptState::kStarted, At(0));
  }
  return stage;
}

TEST(Stage, ByBytesATaskIsAsFarAsItHasReadUntilAnotherHasShownItsRecords) {
  Stage stage = Scan();
  TaskAttempt& running = stage.tasks[1].attempts.at({0, 0});
  running.bytes_done = 3000;  // fetched at once
  running.records_done = 60;
  EXPECT_DOUBLE_EQ(stage.RecordsPerByte(), 0);
  EXPECT_DOUBLE_EQ(stage.FractionDone(stage.tasks[1], running, 0).value_or(-1), 1);
  TaskAttempt& finished = stage.tasks[0].attempts.at({0, 0});
  finished.life.input_records = 100;
  finished.life.Enter(AttemptState::kFinished, At(5));
  EXPECT_DOUBLE_EQ(stage.RecordsPerByte(), 0.1);
  EXPECT_DOUBLE_EQ(stage.FractionDone(stage.tasks[1], running, 0.1).value_or(-1), 60.0 / 300);
}

TEST(Stage, ToldRecordsGoBeforeThoseOfOtherTasks) {
  Stage stage = Scan();
  stage.opened.task_records = {10, 240, 10, 10};
  TaskAttempt& running = stage.tasks[1].attempts.at({0, 0});
  running.records_done = 60;
  EXPECT_DOUBLE_EQ(stage.FractionDone(stage.tasks[1], running, 0.1).value_or(-1), 0.25);
  running.records_done = 1000;
  EXPECT_DOUBLE_EQ(stage.FractionDone(stage.tasks[1], running, 0.1).value_or(-1), 1);
}

TEST(Stage, WhatIsReadBeforeTheFirstResultIsNoProgress) {
  Stage stage = Scan();
  TaskAttempt& running = stage.tasks[1].attempts.at({0, 0});
  running.records_done = 60;
  running.input_is_read_first = true;
  EXPECT_EQ(stage.FractionDone(stage.tasks[1], running, 0.1), std::nullopt);
  running.input_is_read_first = false;
  stage.tasks[1].input_bytes.reset();
  stage.opened.task_bytes.clear();
  EXPECT_EQ(stage.FractionDone(stage.tasks[1], running, 0), std::nullopt);
}

}  // namespace
}  // namespace tidemark::model
