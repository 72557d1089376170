// Applications whose earlier runs were told other parameters, from their events alone: what is said
// in the first second, and how it is corrected.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "master/forecast/durations/task_times.h"
#include "master/store/run_profile.h"
#include "tests/master/estimates.h"
#include "tests/master/events.h"
#include "tidemark/job_monitor.h"
#include "tidemark/past_run.h"

namespace tidemark {
namespace {

using test::At;
using test::Finished;
using test::Left;
using test::Lower;
using test::Source;
using test::Started;
using test::Upper;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

using Parameters = std::map<std::string, std::string>;

// A program that reads for 4 s and then repeats a step; its driver submits one after the other, and
// nobody knows how many will come. On two slots, two tasks each, so that 4 + turns x seconds pass.
class Program {
 public:
  Program(Parameters told, int turns, double seconds)
      : told_(std::move(told)), turns_(turns), seconds_(seconds) {}

  double total() const { return 4 + turns_ * seconds_; }

  // Tells the monitor of everything until that second.
  void RunUntil(double now, JobMonitor& monitor) const {
    Source driver;
    const auto say = [&](double seconds, EventBody body) {
      if (seconds > now) return;
      const absl::Status applied = monitor.Apply(driver.At(seconds, std::move(body)));
      EXPECT_TRUE(applied.ok()) << applied;
    };
    say(0, JobOpened{.name = "clusters", .submitted_at = At(0), .parameters = told_});
    say(0, ExecutorOpened{.executor = 0, .host = "h", .slots = 2});
    double start = 0;
    for (int stage = 0; stage <= turns_; ++stage) {
      const double end = start + (stage == 0 ? 4 : seconds_);
      say(start, Opened(stage));
      for (const std::uint32_t index : {0u, 1u}) {
        AttemptChanged started =
            Started({.stage = static_cast<std::uint32_t>(stage), .index = index});
        started.executor = 0;
        say(start, started);
      }
      for (const std::uint32_t index : {0u, 1u}) {
        say(end, Finished({.stage = static_cast<std::uint32_t>(stage), .index = index}));
      }
      start = end;
    }
    if (now >= total()) say(total(), test::Closed());
  }

  // As the history keeps it and hands it out.
  PastRun Past() const {
    JobMonitor run("job-1", {});
    RunUntil(total(), run);
    auto past = PastRunOf(run.Tick(At(total())), run.Summary());
    EXPECT_TRUE(past.has_value());
    if (!past) return {};
    storage::v1::LoggedRunProfile bytes;
    store::EncodeRunProfile(past->stages, bytes);
    past->stages = store::DecodeRunProfile(bytes);
    return *past;
  }

 private:
  static StageOpened Opened(int stage) {
    const bool is_turn = stage > 0;
    StageOpened opened = {.stage = static_cast<std::uint32_t>(stage),
                          .name = is_turn ? "collect at Clusters.scala:40" : "read",
                          .signature = "s" + std::to_string(stage),
                          .group = "job/" + std::to_string(stage),
                          .task_count = 2,
                          .work = is_turn ? 7u : 5u};
    return opened;
  }

  Parameters told_;
  int turns_;
  double seconds_;
};

// 1 s and a tenth for each of k; a turn for each iteration.
Program Clusters(int k, int iterations, double slower = 1) {
  return Program({{"k", std::to_string(k)}, {"iterations", std::to_string(iterations)}}, iterations,
                 slower * (1 + 0.1 * k));
}

std::vector<PastRun> EarlierRuns() {
  return {Clusters(60, 10).Past(), Clusters(40, 15).Past(), Clusters(20, 5).Past(),
          Clusters(40, 10).Past()};
}

std::vector<PastRun> WithoutParameters(std::vector<PastRun> runs) {
  for (PastRun& run : runs) run.stages.parameters.clear();
  return runs;
}

Snapshot SnapshotAt(double seconds, const Program& program, std::vector<PastRun> runs) {
  JobMonitor monitor("job-1", {});
  monitor.SetPastRuns(std::move(runs));
  program.RunUntil(seconds, monitor);
  return monitor.Tick(At(seconds));
}

double EndSaid(double seconds, const Program& program, std::vector<PastRun> runs) {
  const Snapshot snapshot = SnapshotAt(seconds, program, std::move(runs));
  EXPECT_TRUE(Left(snapshot.estimate).has_value());
  return seconds + absl::ToDoubleSeconds(Left(snapshot.estimate).value_or(absl::ZeroDuration()));
}

// 4 + 20 x 9 s. Of earlier runs the newest took 4 + 10 x 7 s.
TEST(ForetoldJob, TheFirstSecondKnowsWhatOtherParametersDo) {
  const Program program = Clusters(80, 20);
  const double truth = program.total();
  ASSERT_DOUBLE_EQ(truth, 184);
  const double plain = EndSaid(0.5, program, WithoutParameters(EarlierRuns()));
  const double foretold = EndSaid(0.5, program, EarlierRuns());
  EXPECT_NEAR(foretold, truth, 0.1 * truth);
  EXPECT_GT(std::abs(plain - truth), 0.4 * truth) << "as far as earlier runs can tell";
  const Snapshot snapshot = SnapshotAt(0.5, program, EarlierRuns());
  EXPECT_LT(0.5 + absl::ToDoubleSeconds(*Lower(snapshot.estimate)), truth);
  EXPECT_GT(0.5 + absl::ToDoubleSeconds(*Upper(snapshot.estimate)), truth);
  EXPECT_THAT(snapshot.notes, Contains("parameters beyond those of earlier runs: iterations, k"));
}

TEST(ForetoldJob, WithinWhatWasSeenTheIntervalIsNarrowerAndNothingIsNoted) {
  const auto width = [](int k, int iterations) {
    const Snapshot snapshot = SnapshotAt(0.5, Clusters(k, iterations), EarlierRuns());
    return absl::FDivDuration(*Upper(snapshot.estimate) - *Lower(snapshot.estimate),
                              *Left(snapshot.estimate));
  };
  EXPECT_LT(width(50, 12), width(160, 12));
  EXPECT_THAT(SnapshotAt(0.5, Clusters(50, 12), EarlierRuns()).notes,
              Not(Contains(HasSubstr("parameters"))));
}

// While executors register, on as many slots as the run before had, whatever it was told, and not
// on as many as the one whose parameters were the same. From the end of a task on they are told.
TEST(ForetoldJob, TheNewestRunSaysHowManySlotsThereWillBe) {
  std::vector<PastRun> runs = EarlierRuns();
  for (PastRun& run : runs) run.stages.slots = 4;
  runs[0].stages.slots = 8;
  ASSERT_EQ(runs[1].stages.parameters, (Parameters{{"k", "40"}, {"iterations", "15"}}));
  const Program program = Clusters(40, 15);
  const auto slots_at = [&](double seconds) {
    JobMonitor monitor("job-1", {});
    monitor.SetPastRuns(runs);
    program.RunUntil(seconds, monitor);
    monitor.Tick(At(seconds));
    EXPECT_NE(monitor.stages_left(), nullptr);
    return monitor.stages_left() == nullptr ? 0 : monitor.stages_left()->slots;
  };
  EXPECT_EQ(slots_at(0.5), 8u);
  EXPECT_EQ(slots_at(4.5), 2u);
}

// Every turn takes a fifth longer than foretold.
TEST(ForetoldJob, TurnsThatAreDoneCorrectThoseToCome) {
  const Program program = Clusters(80, 20, 1.2);
  const double truth = program.total();
  const double ten_turns = 4 + 10 * 10.8 + 0.1;
  EXPECT_NEAR(EndSaid(ten_turns, program, EarlierRuns()), truth, 0.08 * (truth - ten_turns));
  EXPECT_LT(EndSaid(0.5, program, EarlierRuns()), 0.9 * truth);
  double error_before = truth;
  for (const double at : {0.5, 30.0, 120.0, 200.0}) {
    const double error = std::abs(EndSaid(at, program, EarlierRuns()) - truth);
    EXPECT_LE(error, error_before + 1) << at;
    error_before = error;
  }
}

// Whatever the signature of a stage that no earlier run had, nothing is expected twice.
TEST(ForetoldJob, StagesThatNoEarlierRunHadAreThoseThatWereExpected) {
  const Program program = Clusters(80, 20);
  JobMonitor monitor("job-1", {});
  monitor.SetPastRuns(EarlierRuns());
  program.RunUntil(program.total() - 1, monitor);
  const Snapshot snapshot = monitor.Tick(At(program.total() - 1));
  EXPECT_EQ(monitor.stage_forecasts().size(), 21u);
  EXPECT_NEAR(absl::ToDoubleSeconds(*Left(snapshot.estimate)), 1, 1);
}

TEST(ForetoldJob, WithoutParametersOrWithFewRunsNothingChanges) {
  const auto said = [](const Program& program, const std::vector<PastRun>& runs) {
    return SnapshotAt(0.5, program, runs).estimate;
  };
  const Program silent({}, 20, 9);
  EXPECT_EQ(said(silent, EarlierRuns()), said(silent, WithoutParameters(EarlierRuns())));
  std::vector<PastRun> two = EarlierRuns();
  two.resize(2);
  EXPECT_EQ(said(Clusters(80, 20), two), said(Clusters(80, 20), WithoutParameters(two)));
}

// An executor may report before the driver has told of parameters.
TEST(ForetoldJob, ParametersThatAreToldLateCount) {
  JobMonitor monitor("job-1", {});
  monitor.SetPastRuns(EarlierRuns());
  Source executor("executor-1");
  ASSERT_TRUE(monitor.Apply(executor.At(0, JobOpened{.name = "clusters"})).ok());
  const Snapshot before = monitor.Tick(At(0.1));
  const Program program = Clusters(80, 20);
  program.RunUntil(0.5, monitor);
  const Snapshot after = monitor.Tick(At(0.5));
  EXPECT_LT(*Left(before.estimate), absl::Seconds(110));
  EXPECT_NEAR(absl::ToDoubleSeconds(*Left(after.estimate)), 184, 19);
}

}  // namespace
}  // namespace tidemark
