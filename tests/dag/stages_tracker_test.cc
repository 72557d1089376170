// Compares two StagesTrackers: one that has seen the whole past of a job, and a new one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "master/forecast/dag/stages_now.h"
#include "tests/master/events.h"

namespace tidemark::workflow {
namespace {

using test::At;
using test::Finished;
using test::Started;

struct Job {
  Job() { Say(0, JobOpened{.name = "query", .submitted_at = At(0)}); }
  void Say(double seconds, EventBody body) {
    model::Apply(driver.At(seconds, std::move(body)), {}, state).IgnoreError();
  }
  void Start(double seconds, const AttemptId& task, std::uint32_t executor) {
    AttemptChanged started = Started(task);
    started.executor = executor;
    Say(seconds, started);
  }
  // A stage of `tasks` tasks of a second each, one after the other.
  double RunStage(double from, std::uint32_t number, std::uint32_t tasks) {
    Say(from, StageOpened{.stage = number, .task_count = tasks, .opened_at = At(from)});
    for (std::uint32_t index = 0; index < tasks; ++index) {
      Start(from + index, {.stage = number, .index = index}, 0);
      Say(from + index + 1, Finished({.stage = number, .index = index}));
    }
    Say(from + tasks, StageClosed{.stage = number});
    return from + tasks;
  }

  test::Source driver;
  model::JobRecord state{1};
};

void ExpectSame(const StageNow& a, const StageNow& b) {
  SCOPED_TRACE(a.number);
  EXPECT_EQ(a.number, b.number);
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.title, b.title);
  EXPECT_EQ(a.parents, b.parents);
  EXPECT_EQ(a.owner, b.owner);
  EXPECT_EQ(a.tasks, b.tasks);
  EXPECT_EQ(a.is_task_count_known, b.is_task_count_known);
  EXPECT_EQ(a.has_failed, b.has_failed);
  EXPECT_EQ(a.lag, b.lag);
  EXPECT_EQ(a.waited, b.waited);
  EXPECT_EQ(a.done_since, b.done_since);
  EXPECT_EQ(a.read_bytes, b.read_bytes);
  EXPECT_EQ(a.idle_for, b.idle_for);
  if (a.finished.size() < a.tasks) {
    EXPECT_EQ(a.at_once_max, b.at_once_max);
  }
  ASSERT_EQ(a.finished.size(), b.finished.size());
  for (std::size_t n = 0; n < a.finished.size(); ++n) {
    EXPECT_EQ(a.finished[n].seconds, b.finished[n].seconds);
    EXPECT_EQ(a.finished[n].warmth, b.finished[n].warmth) << n;
    EXPECT_EQ(a.finished[n].index, b.finished[n].index);
  }
  ASSERT_EQ(a.running.size(), b.running.size());
  for (std::size_t n = 0; n < a.running.size(); ++n) {
    EXPECT_EQ(a.running[n].elapsed, b.running[n].elapsed);
    EXPECT_EQ(a.running[n].warmth, b.running[n].warmth) << n;
    EXPECT_EQ(a.running[n].id, b.running[n].id);
  }
}

void ExpectSame(const WorkflowNow& a, const WorkflowNow& b) {
  EXPECT_EQ(a.elapsed, b.elapsed);
  EXPECT_EQ(a.warm_slots, b.warm_slots);
  EXPECT_EQ(a.slots, b.slots);
  EXPECT_EQ(a.are_slots_told, b.are_slots_told);
  EXPECT_EQ(a.slots_per_executor, b.slots_per_executor);
  EXPECT_EQ(a.used_share, b.used_share);
  EXPECT_EQ(a.executors, b.executors);
  EXPECT_EQ(a.gone_executors, b.gone_executors);
  EXPECT_EQ(a.idle_tasks, b.idle_tasks);
  EXPECT_EQ(a.submissions.count, b.submissions.count);
  EXPECT_EQ(a.submissions.kinds, b.submissions.kinds);
  EXPECT_EQ(a.submissions.is_newest_repeated, b.submissions.is_newest_repeated);
  EXPECT_EQ(a.cycle, b.cycle);
  EXPECT_EQ(a.planned.size(), b.planned.size());
  ASSERT_EQ(a.stages.size(), b.stages.size());
  for (std::size_t i = 0; i < a.stages.size(); ++i) ExpectSame(a.stages[i], b.stages[i]);
}

// A driver that makes all permitted reports: parallel stages, tasks on executors or none, lost
// ends, late starts, attempts at stages that have ended.
class Hectic {
 public:
  explicit Hectic(std::uint32_t seed) : random_(seed) {
    for (std::uint32_t number = 0; number < Below(4); ++number) {
      job_.Say(0, ExecutorOpened{.executor = number, .host = "h", .slots = Below(3)});
    }
  }

  const model::JobRecord& state() const { return job_.state; }
  double now() const { return now_; }

  void Go() {
    now_ += 0.125 * Below(8);  // sums are exact in any order
    switch (Below(12)) {
      case 0:
        return Open(Below(20) == 0 ? Below(40) : stages_);
      case 1:
        return job_.Say(now_, GroupClosed{.group = Group(Below(5))});
      case 2:
      case 3:
        return Close();
      case 4:
        if (Below(10) > 0) return;
        if (Below(2) == 0) return job_.Say(now_, ExecutorClosed{Below(6)});
        return job_.Say(now_, ExecutorOpened{.executor = 3 + Below(3), .host = "h", .slots = 1});
      default:
        return running_.size() < 6 ? StartTask() : EndTask();
    }
  }

 private:
  std::uint32_t Below(std::uint32_t most) {
    return std::uniform_int_distribution<std::uint32_t>(0, most - 1)(random_);
  }
  static std::string Group(std::uint32_t number) { return "job/" + std::to_string(number); }

  void Open(std::uint32_t number) {
    StageOpened stage = {.stage = number,
                         .attempt = Below(15) == 0 ? 1u : 0u,
                         .name = "stage " + std::to_string(Below(4)),
                         .group = Below(3) == 0 ? "" : Group(Below(5)),
                         .pool = Below(4) == 0 ? "slow" : "",
                         .opened_at = At(now_)};
    stage.task_count = 5;
    if (number > 0 && Below(2) == 0) stage.parents = {Below(number), Below(number + 3)};
    stage.skipped = Below(8) == 0;
    job_.Say(now_, std::move(stage));
    stages_ = std::max(stages_, number + 1);
  }
  void Close() {
    if (stages_ == 0) return;
    const std::uint32_t number = stages_ - 1 - std::min(Below(3), stages_ - 1);
    // Most tasks end with their stage.
    for (std::size_t n = running_.size(); n-- > 0;) {
      if (running_[n].stage == number && Below(20) > 0) End(n);
    }
    job_.Say(now_,
             StageClosed{.stage = number,
                         .attempt = 1,
                         .outcome = Below(6) == 0 ? JobOutcome::kFailed : JobOutcome::kSucceeded});
  }
  void StartTask() {
    if (stages_ == 0) return;
    const AttemptId task = {.stage = stages_ - 1 - std::min(Below(3), stages_ - 1),
                            .index = Below(5),
                            .attempt = Below(10) == 0 ? 1u : 0u,
                            .stage_attempt = Below(15) == 0 ? 1u : 0u};
    AttemptChanged started = Started(task);
    if (Below(5) > 0) started.executor = Below(5);
    started.at = At(Below(15) == 0 ? std::max(now_ - 3, 0.0) : now_);
    job_.Say(now_, started);
    running_.push_back(task);
  }
  void EndTask() { End(Below(static_cast<std::uint32_t>(running_.size()))); }
  void End(std::size_t n) {
    AttemptChanged ended = Below(8) == 0 ? test::Failed(running_[n]) : Finished(running_[n]);
    ended.at = At(now_);
    job_.Say(now_, ended);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(n));
  }

  std::mt19937 random_;
  Job job_;
  double now_ = 0;
  std::uint32_t stages_ = 0;
  std::vector<AttemptId> running_;
};

TEST(StagesTracker, SeesWhatOneSeesThatHasNotSeenThePast) {
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    Hectic job(seed);
    StagesTracker tracker;
    for (int n = 0; n < 120; ++n) {
      for (int events = 0; events < 3; ++events) job.Go();
      const WorkflowNow& seen = tracker.At(job.state(), At(job.now()));
      StagesTracker fresh;
      ExpectSame(seen, fresh.At(job.state(), At(job.now())));
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(StagesTracker, VisitsTheTasksOfAStageThatHasEndedOnce) {
  const auto steps_with = [](std::uint32_t tasks) {
    Job job;
    job.Say(0, ExecutorOpened{.executor = 0, .host = "h", .slots = 1});
    StagesTracker tracker;
    double now = 0;
    std::size_t steps = 0;
    for (std::uint32_t number = 0; number < 50; ++number) {
      now = job.RunStage(now, number, tasks);
      tracker.At(job.state, At(now));
      for (int n = 0; n < 4; ++n) {
        tracker.At(job.state, At(now));
        steps += tracker.steps();
      }
    }
    return steps;
  };
  EXPECT_EQ(steps_with(2), steps_with(40));
}

TEST(StagesTracker, LeavesOutExpectedStagesOfTheCallBefore) {
  Job job;
  job.RunStage(0, 0, 2);
  StagesTracker tracker;
  tracker.At(job.state, At(2)).stages.emplace_back();
  EXPECT_EQ(tracker.At(job.state, At(3)).stages.size(), 1u);
}

}  // namespace
}  // namespace tidemark::workflow
