#include "master/monitor/held_forecasts.h"

#include "master/monitor/stragglers.h"
#include "tests/facts/events.h"
#include "tests/test.h"

namespace tidemark::monitor::held_forecasts_test {
namespace {

Range Seconds(double lower, double median, double upper) {
  return {.median = absl::Seconds(median),
          .lower = absl::Seconds(lower),
          .upper = absl::Seconds(upper)};
}

Snapshot Says(double at, const Range& ends_in) {
  Snapshot snapshot;
  snapshot.at = At(at);
  snapshot.stages.emplace_back().ends_in = ends_in;
  snapshot.stages.back().started_at = At(0);
  return snapshot;
}

// The forecasts differ by 0.25 s, which is less than a 32nd of 40 s.
TEST(HeldForecasts, AForecastThatHoldsIsRepeatedAndAged) {
  HeldForecasts held;
  Snapshot first = Says(0, Seconds(30, 40, 50));
  held.Hold(first);
  Snapshot second = Says(1, Seconds(29, 39.25, 49));
  held.Hold(second);
  EXPECT_EQ(second.stages[0].ends_in->median, absl::Seconds(39));
}

TEST(HeldForecasts, AForecastThatNoLongerHoldsIsReplaced) {
  HeldForecasts held;
  Snapshot first = Says(0, Seconds(30, 40, 50));
  held.Hold(first);
  Snapshot second = Says(1, Seconds(29, 45, 49));
  held.Hold(second);
  EXPECT_EQ(second.stages[0].ends_in->median, absl::Seconds(45));
}

TEST(HeldForecasts, ARunningStageDoesNotEndNow) {
  HeldForecasts held;
  Snapshot first = Says(0, Seconds(0.8, 0.9, 1));
  held.Hold(first);
  Snapshot second = Says(1, Seconds(0, 0.05, 0.1));
  held.Hold(second);
  EXPECT_EQ(second.stages[0].ends_in->upper, absl::Milliseconds(100));
}

TEST(HeldForecasts, NewForecastsAgreeWithEachOtherAndWithTheEndOfTheJob) {
  Snapshot snapshot;
  snapshot.at = At(0);
  snapshot.estimate.remaining = Seconds(40, 50, 60);
  snapshot.stage_infos = {{.id = {0, 0}}, {.id = {0, 1}, .parents = {0}}};
  snapshot.stages = {
      {.id = {0, 0}, .started_at = At(0), .ends_in = Seconds(20, 31, 40)},
      {.id = {0, 1}, .starts_in = Seconds(19, 30, 41), .ends_in = Seconds(30, 45, 62)}};
  HeldForecasts held;
  held.Hold(snapshot);
  EXPECT_EQ(snapshot.stages[1].starts_in, Seconds(20, 31, 41));
  EXPECT_EQ(snapshot.stages[1].ends_in, Seconds(40, 50, 60));
}

// Returns the reason that is shown at `at` if the first of the tasks is the reduce task `index`.
std::string ReasonShown(HeldForecasts& held, const facts::JobRecord& state, double at,
                        std::uint32_t index, const std::string& reason) {
  std::vector<NamedTask> named = {{.attempt = test::R(index), .reason = reason}};
  held.HoldReason(state, At(at), named);
  return named.front().reason;
}

TEST(HeldReason, IsShownForFiveSeconds) {
  test::Job job;
  job.Fold(
      {{0, test::Opened(1, 2)}, {1, test::Started(test::R(0))}, {1, test::Started(test::R(1))}});
  HeldForecasts held;
  EXPECT_EQ(ReasonShown(held, job.state, 10, 0, "it has 2 MB left"), "it has 2 MB left");
  EXPECT_EQ(ReasonShown(held, job.state, 12, 1, "it has 3 MB left"), "it has 2 MB left");
  EXPECT_EQ(ReasonShown(held, job.state, 14.9, 0, "it has 1 MB left"), "it has 2 MB left");
  EXPECT_EQ(ReasonShown(held, job.state, 15, 1, "it has 3 MB left"), "it has 3 MB left");
  EXPECT_EQ(ReasonShown(held, job.state, 19, 1, "it has 3 MB left"), "it has 3 MB left");
  EXPECT_EQ(ReasonShown(held, job.state, 20, 1, "it has 2 MB left"), "it has 2 MB left")
      << "the last one was shown for 5 s";
}

TEST(HeldReason, KeepsAllTasksAndAgesTheFirst) {
  test::Job job;
  job.Fold(
      {{0, test::Opened(1, 2)}, {1, test::Started(test::R(0))}, {1, test::Started(test::R(1))}});
  const auto named = [](std::uint32_t index, const char* reason) {
    return NamedTask{.attempt = test::R(index),
                     .remaining = Range{.median = absl::Seconds(9)},
                     .reason = reason};
  };
  HeldForecasts held;
  std::vector<NamedTask> tasks = {named(0, "first")};
  held.HoldReason(job.state, At(10), tasks);
  for (const double at : {11.0, 13.0}) {
    tasks = {named(1, "second")};
    held.HoldReason(job.state, At(at), tasks);
    ASSERT_EQ(tasks.size(), 2U);
    EXPECT_EQ(tasks[0].remaining->median, absl::Seconds(19 - at));
    EXPECT_EQ(tasks[1].remaining->median, absl::Seconds(9));
  }
  tasks = std::vector<NamedTask>(kStragglersMax, named(1, "second"));
  held.HoldReason(job.state, At(14), tasks);
  EXPECT_EQ(tasks.size(), kStragglersMax);
}

TEST(HeldReason, EndsWithItsTask) {
  test::Job job;
  job.Fold(
      {{0, test::Opened(1, 2)}, {1, test::Started(test::R(0))}, {1, test::Started(test::R(1))}});
  HeldForecasts held;
  ReasonShown(held, job.state, 10, 0, "it has 2 MB left");
  job.Fold({{11, test::Finished(test::R(0))}});
  EXPECT_EQ(ReasonShown(held, job.state, 11, 1, "it has 3 MB left"), "it has 3 MB left");
  std::vector<NamedTask> none;
  held.HoldReason(job.state, At(12), none);
  EXPECT_TRUE(none.empty());
}

}  // namespace
}  // namespace tidemark::monitor::held_forecasts_test
