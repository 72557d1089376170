#include "master/facts/stage.h"

#include "tests/facts/events.h"
#include "tests/test.h"

namespace tidemark::facts::stage_test {
namespace {

using enum AttemptState;

AttemptLife LifeOf(const std::vector<AttemptState>& states) {
  AttemptLife life;
  double at = 0;
  for (const AttemptState state : states) life.Enter(state, At(++at));
  return life;
}

TEST(AttemptLife, IsQueuedAtFirst) {
  const AttemptLife life;
  EXPECT_EQ(life.state(), kQueued);
  EXPECT_FALSE(life.is_running());
  EXPECT_FALSE(life.has_ended());
}

TEST(AttemptLife, RecordsWhenItEnteredEachState) {
  const AttemptLife life = LifeOf({kQueued, kStarted, kShuffled, kFinished});
  EXPECT_EQ(life.started_at(), At(2));
  EXPECT_EQ(life.shuffled_at(), At(3));
  EXPECT_EQ(life.ended_at(), At(4));
}

TEST(AttemptLife, OnlyAdvances) {
  const struct {
    const char* name;
    std::vector<AttemptState> before;
    AttemptState entered;
    bool fits;
    AttemptState after;
  } rows[] = {{"states may be skipped", {}, kFinished, true, kFinished},
              {"reported twice", {kStarted}, kStarted, true, kStarted},
              {"queued reported late", {kStarted}, kQueued, true, kStarted},
              {"started reported late", {kFinished}, kStarted, true, kFinished},
              {"shuffled reported late", {kFailed}, kShuffled, true, kFailed},
              {"started again", {kStarted, kFinished}, kStarted, false, kFinished},
              {"failed after finished", {kFinished}, kFailed, false, kFinished},
              {"finished after killed", {kKilled}, kFinished, false, kKilled},
              {"finished twice", {kFinished}, kFinished, true, kFinished},
              {"obsolete after finished", {kFinished}, kObsolete, true, kObsolete},
              {"obsolete while running", {kStarted}, kObsolete, false, kStarted},
              {"obsolete after failed", {kFailed}, kObsolete, false, kFailed},
              {"finished after obsolete", {kFinished, kObsolete}, kFinished, false, kObsolete},
              {"lost while running", {kStarted}, kLost, true, kLost},
              {"finished after lost", {kStarted, kLost}, kFinished, true, kFinished},
              {"killed after lost", {kStarted, kLost}, kKilled, true, kKilled},
              {"lost after finished", {kFinished}, kLost, false, kFinished},
              {"obsolete after lost", {kStarted, kLost}, kObsolete, false, kLost}};
  for (const auto& row : rows) {
    AttemptLife life = LifeOf(row.before);
    EXPECT_EQ(life.Enter(row.entered, At(100)), row.fits) << row.name;
    EXPECT_EQ(life.state(), row.after) << row.name;
  }
}

TEST(AttemptLife, KeepsTheFirstInstantOfAStateWhichMayBeReportedLate) {
  AttemptLife life = LifeOf({kFinished});
  life.Enter(kStarted, At(0.5));
  life.Enter(kStarted, At(0.7));
  EXPECT_EQ(life.started_at(), At(0.5));
  EXPECT_TRUE(life.Enter(kStarted, At(0.3)));
  EXPECT_EQ(life.started_at(), At(0.3)) << "an inferred start may be too late";
}

TEST(AttemptLife, NeverEndsBeforeItsStart) {
  AttemptLife set_back = LifeOf({kStarted});
  set_back.Enter(kFinished, At(0.5));
  EXPECT_EQ(set_back.ended_at(), set_back.started_at());
  AttemptLife told_late = LifeOf({kFinished});
  told_late.Enter(kStarted, At(50));
  EXPECT_EQ(told_late.started_at(), told_late.ended_at());
}

TEST(AttemptLife, AnObsoleteAttemptHasEndedButIsNotFinished) {
  const AttemptLife life = LifeOf({kStarted, kFinished, kObsolete});
  EXPECT_TRUE(life.has_ended());
  EXPECT_FALSE(life.is_finished());
  EXPECT_FALSE(life.is_running());
}

TEST(AttemptLife, ALostAttemptEndsWithItsLateReport) {
  AttemptLife life = LifeOf({kStarted, kLost});
  EXPECT_FALSE(life.is_running());
  EXPECT_FALSE(life.is_finished());
  life.Enter(kFinished, At(50));
  EXPECT_EQ(life.ended_at(), At(50));
}

TEST(AttemptLife, RunsFromStartedUntilItEnds) {
  EXPECT_TRUE(LifeOf({kStarted}).is_running());
  EXPECT_TRUE(LifeOf({kStarted, kShuffled}).is_running());
  EXPECT_FALSE(LifeOf({kStarted, kShuffled, kKilled}).is_running());
}

TEST(Task, ItsLeadingAttemptIsTheRunningOneThatHasReadMost) {
  Job job;
  job.Add(0, Opened(1, 1));
  EXPECT_EQ(job.state.reduce_tasks()[0].leading_attempt(), nullptr);
  for (const std::uint32_t attempt : {0u, 1u, 2u}) job.Add(10, Started(R(0, attempt)));
  job.Add(12, Reduced(R(0, 1), At(12), {Point(50, 1)}), Reduced(R(0, 2), At(12), {Point(90, 1)}));
  EXPECT_EQ(job.state.reduce_tasks()[0].leading_attempt(),
            &job.state.reduce_tasks()[0].attempts.at({0, 2}));
  job.Add(13, Killed(R(0, 2)));
  EXPECT_EQ(job.state.reduce_tasks()[0].leading_attempt(),
            &job.state.reduce_tasks()[0].attempts.at({0, 1}));
  job.Add(14, Finished(R(0, 0)));
  EXPECT_EQ(job.state.reduce_tasks()[0].leading_attempt(), nullptr);
}

// Returns a stage with four tasks, of which one has read 1,000 bytes in 100 records.
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

TEST(Stage, ProgressIsByBytesUntilRecordsPerByteAreKnown) {
  Stage stage = Scan();
  TaskAttempt& running = stage.tasks[1].attempts.at({0, 0});
  running.bytes_done = 3000;  // fetched immediately
  running.records_done = 60;
  EXPECT_DOUBLE_EQ(stage.RecordsPerByte(), 0);
  EXPECT_DOUBLE_EQ(stage.FractionDone(stage.tasks[1], running, 0).value_or(-1), 1);
  TaskAttempt& finished = stage.tasks[0].attempts.at({0, 0});
  finished.life.input_records = 100;
  finished.life.Enter(AttemptState::kFinished, At(5));
  EXPECT_DOUBLE_EQ(stage.RecordsPerByte(), 0.1);
  EXPECT_DOUBLE_EQ(stage.FractionDone(stage.tasks[1], running, 0.1).value_or(-1), 60.0 / 300);
}

TEST(Stage, ReportedRecordsPrecedeThoseOfOtherTasks) {
  Stage stage = Scan();
  stage.opened.task_records = {10, 240, 10, 10};
  TaskAttempt& running = stage.tasks[1].attempts.at({0, 0});
  running.records_done = 60;
  EXPECT_DOUBLE_EQ(stage.FractionDone(stage.tasks[1], running, 0.1).value_or(-1), 0.25);
  running.records_done = 1000;
  EXPECT_DOUBLE_EQ(stage.FractionDone(stage.tasks[1], running, 0.1).value_or(-1), 1);
}

TEST(Stage, InputReadBeforeTheFirstResultIsNotProgress) {
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
}  // namespace tidemark::facts::stage_test
