// Tests forecasts of applications whose past runs had other parameters. The tests cover the first
// forecast and its correction during the run.

#include "master/forecast/durations/task_times.h"
#include "master/store/log_record.h"
#include "tests/facts/events.h"
#include "tests/monitor/estimates.h"
#include "tests/test.h"
#include "tidemark/job_monitor.h"
#include "tidemark/past_run.h"
#include "tidemark/storage/v1/event_log.pb.h"

namespace tidemark::adjusted_runs_test {
namespace {

using Parameters = std::map<std::string, std::string>;

// A program that reads for 4 s and then repeats a step. Its driver submits the steps one at a time,
// so the number of steps is unknown. Each stage has two tasks on two slots, so the program takes 4
// + turns x seconds.
class Program {
 public:
  Program(Parameters told, int turns, double seconds)
      : told_(std::move(told)), turns_(turns), seconds_(seconds) {}

  double total() const { return 4 + turns_ * seconds_; }

  // Applies all events up to `now`.
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
        auto started = Started({.stage = static_cast<std::uint32_t>(stage), .index = index});
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

  // Returns the past run as the history stores it.
  PastRun Past() const {
    JobMonitor run("job-1", {});
    RunUntil(total(), run);
    auto past = PastRunOf(run.Tick(At(total())), run.Summary());
    EXPECT_TRUE(past.has_value());
    if (!past) return {};
    storage::v1::LoggedRunProfile bytes;
    store::EncodeRunProfile(*past, bytes);
    PastRun kept = store::DecodeRunProfile(bytes);
    kept.interval_score = past->interval_score;
    return kept;
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

// Returns a program with one step per iteration. A step takes 1 s, plus 0.1 s for each of k.
Program Clusters(int k, int iterations, double slower = 1) {
  return Program({{"k", std::to_string(k)}, {"iterations", std::to_string(iterations)}}, iterations,
                 slower * (1 + 0.1 * k));
}

std::vector<PastRun> EarlierRuns() {
  return {Clusters(60, 10).Past(), Clusters(40, 15).Past(), Clusters(20, 5).Past(),
          Clusters(40, 10).Past()};
}

std::vector<PastRun> WithoutParameters(std::vector<PastRun> runs) {
  for (PastRun& run : runs) run.parameters.clear();
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
  return seconds + SecondsLeft(snapshot.estimate);
}

// This run takes 4 + 20 x 9 s. The newest past run took 4 + 10 x 7 s.
TEST(AdjustedRuns, TheFirstForecastScalesPastRunsToTheParameters) {
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
  EXPECT_THAT(snapshot.notes, Contains("parameters outside the range of past runs: iterations, k"));
}

TEST(AdjustedRuns, WithinThePastParametersTheIntervalIsNarrowerWithoutANote) {
  const auto width = [](int k, int iterations) {
    const Snapshot snapshot = SnapshotAt(0.5, Clusters(k, iterations), EarlierRuns());
    return absl::FDivDuration(*Upper(snapshot.estimate) - *Lower(snapshot.estimate),
                              *Left(snapshot.estimate));
  };
  EXPECT_LT(width(50, 12), width(160, 12));
  EXPECT_THAT(SnapshotAt(0.5, Clusters(50, 12), EarlierRuns()).notes,
              Not(Contains(HasSubstr("parameters"))));
}

// While executors register, the forecast uses the slots of the newest past run, not the slots of
// the run with the same parameters. After the end of a task, it uses the reported slots.
TEST(AdjustedRuns, TheNewestRunPredictsTheSlots) {
  std::vector<PastRun> runs = EarlierRuns();
  for (PastRun& run : runs) run.slots = 4;
  runs[0].slots = 8;
  ASSERT_EQ(runs[1].parameters, (Parameters{{"k", "40"}, {"iterations", "15"}}));
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

// Every step takes a fifth longer than predicted.
TEST(AdjustedRuns, FinishedTurnsCorrectLaterOnes) {
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

TEST(AdjustedRuns, StagesOfNewSignaturesReplaceExpectedOnes) {
  const Program program = Clusters(80, 20);
  JobMonitor monitor("job-1", {});
  monitor.SetPastRuns(EarlierRuns());
  program.RunUntil(program.total() - 1, monitor);
  const Snapshot snapshot = monitor.Tick(At(program.total() - 1));
  EXPECT_EQ(monitor.stage_forecasts().size(), 21u);
  EXPECT_NEAR(SecondsLeft(snapshot.estimate), 1, 1);
}

TEST(AdjustedRuns, WithoutParametersOrWithFewRunsNothingChanges) {
  const auto said = [](const Program& program, const std::vector<PastRun>& runs) {
    return SnapshotAt(0.5, program, runs).estimate;
  };
  const Program silent({}, 20, 9);
  EXPECT_EQ(said(silent, EarlierRuns()), said(silent, WithoutParameters(EarlierRuns())));
  std::vector<PastRun> two = EarlierRuns();
  two.resize(2);
  EXPECT_EQ(said(Clusters(80, 20), two), said(Clusters(80, 20), WithoutParameters(two)));
}

// An executor may report before the driver reports the parameters.
TEST(AdjustedRuns, LateParametersCount) {
  JobMonitor monitor("job-1", {});
  monitor.SetPastRuns(EarlierRuns());
  Source executor("executor-1");
  ASSERT_TRUE(monitor.Apply(executor.At(0, JobOpened{.name = "clusters"})).ok());
  const Snapshot before = monitor.Tick(At(0.1));
  const Program program = Clusters(80, 20);
  program.RunUntil(0.5, monitor);
  const Snapshot after = monitor.Tick(At(0.5));
  EXPECT_LT(*Left(before.estimate), absl::Seconds(110));
  EXPECT_NEAR(SecondsLeft(after.estimate), 184, 19);
}

}  // namespace
}  // namespace tidemark::adjusted_runs_test
