#include "cli/console/workflow_frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cli/console/text.h"

namespace tidemark::console {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

absl::Time At(double seconds) {
  return absl::FromUnixSeconds(1'700'000'000) + absl::Seconds(seconds);
}

WorkflowSnapshot Visits() {
  WorkflowSnapshot snapshot = {.workflow_id = "visits-1",
                               .name = "page visits",
                               .sequence = 7,
                               .at = At(72),
                               .started_at = At(0),
                               .elapsed = absl::Seconds(72),
                               .fraction_done = 0.414,
                               .remaining = absl::Seconds(200),
                               .remaining_lower = absl::Seconds(170),
                               .remaining_upper = absl::Seconds(250)};
  snapshot.jobs = {{.name = "parse",
                    .state = WorkflowJobState::kSucceeded,
                    .fraction_done = 1,
                    .started_at = At(0),
                    .ended_at = At(40)},
                   {.name = "count",
                    .state = WorkflowJobState::kRunning,
                    .fraction_done = 0.31,
                    .started_at = At(40),
                    .ends_in = absl::Seconds(60),
                    .ends_in_lower = absl::Seconds(50),
                    .ends_in_upper = absl::Seconds(70),
                    .is_critical = true},
                   {.name = "revenue",
                    .state = WorkflowJobState::kPending,
                    .starts_in = absl::Seconds(60),
                    .ends_in = absl::Seconds(200)}};
  return snapshot;
}

TEST(WorkflowFrame, HasABarForEachJobAndOneForTheWhole) {
  EXPECT_THAT(
      RenderWorkflow(Visits(), {.width = 80}),
      ElementsAre("page visits | 1 of 3 jobs done | 1 min 12 s",
                  "[########............]  41 %  ~ 3 min 20 s left (2 min 50 s - 4 min 10 s)",
                  "  parse   [############################] 100 %  done",
                  "* count   [########....................]  31 %  ~ 1 min left",
                  "  revenue [............................]   0 %  starts in ~ 1 min",
                  "* critical path: a delay here delays the workflow"));
}

TEST(WorkflowFrame, ANumberThatRoundsToNothingIsNotShown) {
  WorkflowSnapshot snapshot = Visits();
  snapshot.remaining = absl::Milliseconds(300);
  snapshot.remaining_lower = absl::ZeroDuration();
  snapshot.remaining_upper = absl::Seconds(7);
  snapshot.jobs[1].ends_in = snapshot.jobs[1].ends_in_lower = snapshot.jobs[1].ends_in_upper =
      snapshot.jobs[2].starts_in = absl::Milliseconds(300);
  const auto lines = RenderWorkflow(snapshot, {.width = 80});
  EXPECT_THAT(lines[1], EndsWith(" less than 7 s left"));
  EXPECT_THAT(lines[4], EndsWith(" about to start"));
}

TEST(WorkflowFrame, AStartIsAGuess) {
  WorkflowSnapshot snapshot = Visits();
  snapshot.jobs[2].starts_in = absl::Seconds(147);
  EXPECT_THAT(RenderWorkflow(snapshot, {.width = 80})[4], EndsWith(" starts in ~ 2 min 30 s"));
}

TEST(WorkflowFrame, NoLineIsWiderThanTheScreen) {
  WorkflowSnapshot snapshot = Visits();
  snapshot.jobs[0].name = std::string(300, 'x') + "\x1b[31m";
  snapshot.notes = {std::string(500, 'n')};
  for (int width = 0; width < 120; ++width) {
    for (const std::string& line : RenderWorkflow(snapshot, {.width = width})) {
      EXPECT_LE(Columns(line), width);
      EXPECT_THAT(line, Not(HasSubstr("\x1b")));
    }
  }
}

TEST(WorkflowFrame, APlainLineSaysWhoRunsAndWhoWaits) {
  EXPECT_EQ(WorkflowPlainLine(Visits(), {}),
            "[1 min 12 s] page visits: 1 of 3 jobs done, 41 %, ~ 3 min 20 s left (2 min 50 s - 4 "
            "min 10 s); running: count 31 %; not started: revenue");
}

TEST(WorkflowFrame, LinesComeWhenThereIsNews) {
  WorkflowPlainLines lines({});
  WorkflowSnapshot snapshot = Visits();
  EXPECT_TRUE(lines.Next(snapshot).has_value());
  snapshot.at = At(73);
  EXPECT_FALSE(lines.Next(snapshot).has_value());
  snapshot.jobs[1].state = WorkflowJobState::kSucceeded;
  EXPECT_TRUE(lines.Next(snapshot).has_value());
  snapshot.notes = {"job revenue could have started"};
  EXPECT_TRUE(lines.Next(snapshot).has_value());
  snapshot.at = At(90);
  EXPECT_TRUE(lines.Next(snapshot).has_value());
}

TEST(WorkflowFrame, TheSummarySaysHowItEndedAndWhatEachJobTook) {
  WorkflowSnapshot snapshot = Visits();
  snapshot.state = JobState::kFailed;
  snapshot.message = "job count failed: out of disk";
  EXPECT_THAT(RenderWorkflowSummary(snapshot, {}),
              ElementsAre("page visits failed after 1 min 12 s", "job count failed: out of disk",
                          "  parse: 40 s"));
  snapshot.jobs[0].ended_at = At(0.6);
  EXPECT_EQ(RenderWorkflowSummary(snapshot, {})[2], "  parse: 0.6 s");
}

}  // namespace
}  // namespace tidemark::console
