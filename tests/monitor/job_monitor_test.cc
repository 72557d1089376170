#include "tidemark/job_monitor.h"

#include "master/forecast/dag/shown_progress.h"
#include "tests/matchers.h"
#include "tests/monitor/monitored_job.h"
#include "tests/monitor/virtual_job.h"
#include "tests/test.h"
#include "tidemark/late_probability.h"

namespace tidemark::job_monitor_test {
namespace {

using test::EstimateOf;
using test::EstimatesOf;
using test::LastStagesOf;
using test::MonitoredJob;
using test::QuadraticJob;
using test::Read;
using test::Story;
using test::VirtualJob;

// Returns options with the paper's indicators, whose values can be computed by hand.
JobMonitorOptions ClassicIndicators() {
  JobMonitorOptions options;
  options.indicators = {"nearestfit", "hadoop", "jobratio", "taskratio"};
  return options;
}

// A job with the paper's indicators.
struct Watched : MonitoredJob {
  Watched() { monitor = JobMonitor("job-1", ClassicIndicators()); }
};

// Returns a job with one map and one reduce task. The reduce functions begin at 12 s, with 4000
// bytes.
Watched AboutToReduce(const JobMonitorOptions& options = ClassicIndicators()) {
  Watched job;
  job.monitor = JobMonitor("job-1", options);
  job.Say(0, Opened(1, 1), Started(M(0))).Say(10, Emitted(M(0), {Partition(0, 4000)}));
  job.Say(10, Finished(M(0)), Started(R(0))).Say(12, Shuffled(R(0)));
  return job;
}

// Returns the same job after one of its four key groups, which took 3 s.
Watched Reducing() {
  Watched job = AboutToReduce();
  job.Say(15, Reduced(R(0), At(15), {Point(1000, 3)}));
  return job;
}

class ReducingJob : public ::testing::Test {
 protected:
  Watched job_ = Reducing();
};

// Returns a job whose reduce tasks have ten key groups each, of 1000 bytes and one second.
VirtualJob EvenJob(std::size_t reduces) {
  VirtualJob job;
  job.seconds = [](std::uint64_t) { return 1.0; };
  job.groups.resize(reduces);
  std::uint64_t hash = 0;
  for (auto& task : job.groups) {
    for (int i = 0; i < 10; ++i) task.push_back(Key(++hash, 1000));
  }
  return job;
}

// --- estimates while the job runs

TEST(JobMonitor, IsNotOpenBeforeJobOpened) {
  Watched job;
  EXPECT_TRUE(absl::IsFailedPrecondition(job.monitor.Apply(job.source.At(0, Started(M(0))))));
  EXPECT_FALSE(job.monitor.is_open());
  job.Say(0, Opened(1, 1));
  EXPECT_TRUE(job.monitor.is_open());
}

TEST(JobMonitor, TicksBeforeTheOpeningHaveNoFacts) {
  Watched job;
  const Snapshot snapshot = job.Tick(1);
  EXPECT_EQ(snapshot.sequence, 1u);
  EXPECT_EQ(snapshot.at, At(1));
  EXPECT_EQ(snapshot.state, JobState::kRunning);
  ASSERT_TRUE(snapshot.info.has_value());
  EXPECT_EQ(*snapshot.info, JobInfo{});
  EXPECT_FALSE(snapshot.started_at.has_value());
  EXPECT_TRUE(snapshot.stages.empty());
}

TEST(JobMonitor, WarmsUpUntilTheFirstGroupEnds) {
  Watched job = AboutToReduce();
  const Snapshot snapshot = job.Tick(14);
  ASSERT_EQ(EstimatesOf(snapshot).size(), 4u);
  for (const Estimate& forecast : EstimatesOf(snapshot)) {
    EXPECT_EQ(forecast.state, EstimateState::kWarmingUp) << forecast.indicator;
    EXPECT_EQ(forecast.fraction_done, 0) << forecast.indicator;
    EXPECT_FALSE(Left(forecast).has_value()) << forecast.indicator;
  }
}

TEST_F(ReducingJob, ForecastsOnceAGroupHasEnded) {
  const Snapshot snapshot = job_.Tick(15);
  const auto shown_after = [&](double seconds) {
    return dag::FractionDone(absl::Seconds(seconds), absl::Seconds(9));
  };
  for (const Estimate& forecast : EstimatesOf(snapshot)) {
    EXPECT_EQ(forecast.state, EstimateState::kValid) << forecast.indicator;
    EXPECT_EQ(Left(forecast), absl::Seconds(9)) << forecast.indicator;
    EXPECT_NEAR(forecast.fraction_done, 15.0 / 24, 0.004) << forecast.indicator;
    EXPECT_DOUBLE_EQ(forecast.fraction_done, shown_after(15)) << forecast.indicator;
  }
  ASSERT_EQ(LastStagesOf(snapshot).size(), 4u);
  for (const double fraction : LastStagesOf(snapshot)) EXPECT_DOUBLE_EQ(fraction, shown_after(3));
}

TEST_F(ReducingJob, PublishesTheProbabilityOfBeingLate) {
  EXPECT_EQ(job_.Tick(16).deadline, std::nullopt);
  EXPECT_EQ(job_.Tick(16).late_probability, std::nullopt);
  Watched due = Reducing();
  due.Say(15, JobOpened{.deadline = At(40)});
  const Snapshot now = due.Tick(16);
  EXPECT_EQ(now.deadline, At(40));
  ASSERT_TRUE(now.estimate.remaining.has_value());
  ASSERT_TRUE(now.late_probability.has_value());
  EXPECT_EQ(now.late_probability, LateProbability(now, At(40)));
}

// The map phase took 10 s, and there is no other evidence.
TEST(JobMonitor, BeforeTheFirstKeyGroupTheEndIsAGuess) {
  Watched job = AboutToReduce(JobMonitorOptions());
  const Estimate guess = job.Tick(13).estimate;
  ASSERT_TRUE(guess.remaining.has_value());
  EXPECT_EQ(guess.basis, Basis::kGuess);
  EXPECT_EQ(guess.method, EstimateMethod::kMapPhase);
  EXPECT_EQ(guess.known_share, 0);
  job.Say(15, Reduced(R(0), At(15), {Point(1000, 3)}));
  const Estimate told = job.Tick(16).estimate;
  ASSERT_TRUE(told.remaining.has_value());
  EXPECT_EQ(told.basis, Basis::kThisRun);
  EXPECT_EQ(told.method, EstimateMethod::kKeyGroups);
  EXPECT_EQ(told.known_share, 1);
}

TEST(JobMonitor, BeforeTheFirstKeyGroupTheEndIsThatOfPastRuns) {
  Watched job = AboutToReduce(JobMonitorOptions());
  job.monitor.SetPastRuns({PastRun{.map_time = absl::Seconds(10),
                                   .shuffle_time = absl::Seconds(2),
                                   .reduce_time = absl::Seconds(20)}});
  const Estimate before = job.Tick(13).estimate;
  ASSERT_TRUE(before.remaining.has_value());
  EXPECT_EQ(before.basis, Basis::kEarlierRuns);
  EXPECT_EQ(before.method, EstimateMethod::kPastRuns);
  EXPECT_EQ(before.known_share, 1);
}

// The interval of a guess is wide compared with the distance of the deadline.
TEST(JobMonitor, AGuessIsNeverCertainlyLate) {
  const std::optional<absl::Duration> left =
      Left(AboutToReduce(JobMonitorOptions()).Tick(13).estimate);
  ASSERT_TRUE(left.has_value());
  Watched due = AboutToReduce(JobMonitorOptions());
  due.Say(13, JobOpened{.deadline = At(13) + 0.6 * *left});
  const double late = due.Tick(13).late_probability.value();
  // At 13 s, 14.8 s remain, and at least 0.7 s. The deadline at 21.9 s is before the median of the
  // total time, 27.8 s, by ln(27.8 / 21.9) / ln(27.8 / 13.7) = 0.34 half-widths. A normal
  // distribution has 1 - P(z > 0.34 * 1.645) = 0.71 after it.
  EXPECT_NEAR(late, 0.71, 0.02);
}

TEST(JobMonitor, KeepsTheFirstDeadlineUncorrected) {
  Watched job = AboutToReduce();
  job.Fold({{13, JobOpened{.deadline = At(40)}}, {14, JobOpened{.deadline = At(90)}}});
  EXPECT_EQ(job.Tick(16).deadline, At(40)) << "whatever the clock of the source says";
}

TEST(JobMonitor, AfterItsDeadlineAJobIsCertainlyLate) {
  Watched job = AboutToReduce();
  job.Say(13, JobOpened{.deadline = At(14)});
  EXPECT_EQ(job.Tick(16).late_probability, 1);
}

TEST(JobMonitor, AnEndedJobWasLateOrNot) {
  for (const auto& [deadline, late] : {std::pair(20, 1.0), std::pair(60, 0.0)}) {
    Watched job = Reducing();
    job.Fold({{15, JobOpened{.deadline = At(deadline)}}, {30, Closed()}});
    EXPECT_EQ(job.Tick(31).late_probability, late);
  }
  Watched failed = Reducing();
  failed.Say(15, JobOpened{.deadline = At(60)}).Say(30, JobClosed{.outcome = JobOutcome::kFailed});
  EXPECT_EQ(failed.Tick(31).late_probability, std::nullopt);
}

TEST(JobMonitor, PublishesIndicatorsInTheOrderOfTheOptions) {
  JobMonitorOptions options;
  options.indicators = {"taskratio", "nearestfit"};
  JobMonitor monitor("job-1", options);
  EXPECT_TRUE(monitor.Apply(Source().At(0, Opened(1, 1))).ok());
  const Snapshot snapshot = monitor.Tick(At(1));
  ASSERT_EQ(EstimatesOf(snapshot).size(), 2u);
  EXPECT_EQ(snapshot.estimate.indicator, "taskratio");
  EXPECT_EQ(snapshot.indicators[0].estimate.indicator, "nearestfit");
}

TEST_F(ReducingJob, PublishesTheFactsOfTheJob) {
  const Snapshot snapshot = job_.Tick(15);
  EXPECT_EQ(snapshot.job_id, "job-1");
  EXPECT_EQ(snapshot.info->name, "word count");
  EXPECT_EQ(snapshot.at, At(15));
  EXPECT_EQ(snapshot.started_at, At(0));
  EXPECT_EQ(snapshot.elapsed(), absl::Seconds(15));
  EXPECT_EQ(snapshot.state, JobState::kRunning);
}

TEST_F(ReducingJob, PublishesTheStagesInOrder) {
  const Snapshot snapshot = job_.Tick(15);
  ASSERT_EQ(snapshot.stages.size(), 2u);
  EXPECT_EQ(snapshot.stage_infos[0].kind, StageKind::kMap);
  EXPECT_EQ(snapshot.stages[0].state, StageState::kDone);
  EXPECT_EQ(snapshot.stage_infos[1].kind, StageKind::kReduce);
  EXPECT_EQ(snapshot.stages[1].state, StageState::kRunning);
  EXPECT_EQ(snapshot.stages[1].shuffle->fraction_done, 1);
  EXPECT_EQ(snapshot.stages[1].shuffle->finished_tasks, snapshot.stages[1].tasks);
  EXPECT_GT(snapshot.stages[1].fraction_done, 0);
}

TEST_F(ReducingJob, NamesTheStraggler) {
  const Snapshot snapshot = job_.Tick(15);
  ASSERT_EQ(snapshot.named_tasks.size(), 1u);
  EXPECT_EQ(snapshot.named_tasks[0].attempt, R(0));
  EXPECT_EQ(snapshot.named_tasks[0].remaining->median, absl::Seconds(9));
}

TEST_F(ReducingJob, AfterThePredictedEndItIsOverdueWithAnOpenInterval) {
  job_.Tick(15);
  job_.Say(60, Read(R(0), 1000));
  // The predicted end is at 24 s.
  const Estimate forecast = EstimateOf(job_.Tick(60), "nearestfit");
  EXPECT_EQ(forecast.state, EstimateState::kOverdue);
  EXPECT_EQ(Left(forecast), absl::Seconds(36)) << "as late as it is";
  EXPECT_EQ(Lower(forecast), absl::ZeroDuration());
  EXPECT_GT(*Upper(forecast), absl::Minutes(10)) << "nothing shows how much further it is";
}

// Four map tasks read all of their input in 10 s. The tasks from `last_from` on run for another
// 80 s.
// Expects the true remaining time within the interval in 87 % of the ticks.
void ExpectOpenIntervals(std::uint32_t last_from, bool is_overdue) {
  MonitoredJob job;
  job.Say(0, Opened(4, 0));
  for (std::uint32_t i = 0; i < 4; ++i) job.Say(0, Started(M(i), 100));
  int held = 0;
  for (double at = 1; at < 90; ++at) {
    for (std::uint32_t i = at < 11 ? 0 : last_from; i < 4; ++i) {
      job.Say(at, Read(M(i), static_cast<std::uint64_t>(10 * std::min(at, 10.0))));
    }
    for (std::uint32_t i = 0; at == 11 && i < last_from; ++i) job.Say(at, Finished(M(i)));
    const Estimate estimate = job.Tick(at).estimate;
    if (is_overdue && at >= 14) {
      EXPECT_EQ(estimate.state, EstimateState::kOverdue) << at;
      EXPECT_GT(*Upper(estimate), absl::Seconds(10)) << at;
    }
    held +=
        *Lower(estimate) <= absl::Seconds(90 - at) && absl::Seconds(90 - at) <= *Upper(estimate);
  }
  EXPECT_GE(held, 0.87 * 89);
}

TEST(JobMonitor, MapTasksThatContinueAfterTheirLastByteOpenTheInterval) {
  ExpectOpenIntervals(/*last_from=*/0, /*is_overdue=*/true);
}

TEST(JobMonitor, AMapTaskThatWaitsLongerThanItsFinishedSiblingsOpensTheInterval) {
  ExpectOpenIntervals(/*last_from=*/3, /*is_overdue=*/false);
}

TEST(JobMonitor, NamesAClockThatWasSet) {
  struct Case {
    double step;
    const char* note;
  };
  for (const Case& each :
       {Case{3600,
             "the clock of source app-master was set forward by 1 h at 2023-11-14 22:13:40 UTC; "
             "later times are moved back by the same amount"},
        Case{-3600,
             "the clock of source app-master was set back by 1 h at 2023-11-14 22:13:40 UTC; later "
             "times are moved forward by the same amount"}}) {
    Watched job;
    job.Fold({{0, Opened(1, 0)}, {1, Started(M(0), 100)}, {10, Read(M(0), 50)}});
    EXPECT_THAT(job.Tick(10).notes, IsEmpty());
    Event finished = job.source.At(20, Finished(M(0)));
    finished.sent_at = At(20 + each.step);
    std::get<AttemptChanged>(finished.body).at = At(19 + each.step);
    EXPECT_TRUE(job.monitor.Apply(finished).ok());
    const Snapshot snapshot = job.Tick(20);
    EXPECT_THAT(snapshot.notes, ElementsAre(each.note));
    EXPECT_EQ(snapshot.stages[0].ended_at, At(19));
  }
}

TEST(JobMonitor, AJobThatContinuesAfterItsLastTaskIsOverdue) {
  MonitoredJob job;
  job.Fold({{0, Opened(1, 0)}, {0, Started(M(0), 100)}, {10, Finished(M(0))}});
  EXPECT_EQ(job.Tick(11).estimate.state, EstimateState::kValid);
  const Estimate estimate = job.Tick(20).estimate;
  EXPECT_EQ(estimate.state, EstimateState::kOverdue);
  EXPECT_GT(*Upper(estimate), absl::Minutes(2));
}

TEST(JobMonitor, AJobThatEndsSoonAfterItsLastTaskKeepsItsBounds) {
  MonitoredJob job;
  job.Fold({{0, Opened(1, 0)}, {0, Started(M(0), 100)}, {9, Read(M(0), 90)}});
  const double before = job.Tick(9).estimate.fraction_done;
  job.Say(10, Finished(M(0)));
  for (const double at : {10.5, 11.5}) {
    const Snapshot snapshot = job.Tick(at);
    EXPECT_EQ(Left(snapshot.estimate), absl::ZeroDuration()) << at;
    EXPECT_LT(*Upper(snapshot.estimate), absl::Seconds(10)) << at;
    EXPECT_GE(snapshot.estimate.fraction_done, before) << at;
    EXPECT_FALSE(snapshot.estimate_raised.has_value()) << at;
  }
  EXPECT_GT(*Upper(job.Tick(12.5).estimate), absl::Minutes(1)) << "later than the grace of 2 s";
}

TEST_F(ReducingJob, ShortlyAfterThePredictedEndItIsNotOverdue) {
  job_.Say(25, TaskHeartbeat{.attempt = R(0)});
  const Estimate forecast = EstimateOf(job_.Tick(25.5), "nearestfit");
  EXPECT_EQ(forecast.state, EstimateState::kValid);
  EXPECT_EQ(Left(forecast), absl::Seconds(1.5));
}

// NearestFit and the linear indicators predict only the reduce phase of MapReduce jobs.
TEST(JobMonitor, AnApplicationOfStagesHasNoEstimatesOfOtherIndicators) {
  Watched job;
  job.monitor = JobMonitor("job-1", {.indicators = {"tidemark", "nearestfit"}});
  job.Say(0, JobOpened{.name = "query"}, ExecutorOpened{.executor = 0, .host = "a", .slots = 1});
  job.Say(0, StageOpened{.stage = 4, .task_count = 2}, Started({.stage = 4, .index = 0}));
  job.Say(5, Finished({.stage = 4, .index = 0}), Started({.stage = 4, .index = 1}));
  const Snapshot snapshot = job.Tick(6);
  EXPECT_TRUE(snapshot.estimate.remaining.has_value());
  EXPECT_EQ(snapshot.estimate.method, EstimateMethod::kTaskTimes);
  EXPECT_TRUE(snapshot.indicators.empty());
}

TEST(JobMonitor, AMapOnlyJobIsForecastByItsMapPhase) {
  Watched job;
  job.Fold({{0, Opened(1, 0)}, {0, Started(M(0), 100)}, {10, Read(M(0), 25)}});
  const Snapshot snapshot = job.Tick(10);
  ASSERT_EQ(snapshot.stages.size(), 1u);
  EXPECT_EQ(snapshot.stage_infos[0].kind, StageKind::kMap);
  EXPECT_TRUE(snapshot.named_tasks.empty());
  EXPECT_EQ(snapshot.estimate.method, EstimateMethod::kTaskSizes);
  for (const Indicator& other : snapshot.indicators) {
    EXPECT_EQ(other.last_stage_fraction_done, 0) << other.estimate.indicator;
  }
  for (const Estimate& forecast : EstimatesOf(snapshot)) {
    EXPECT_NEAR(SecondsLeft(forecast), 30, 2) << forecast.indicator;
    EXPECT_NEAR(forecast.fraction_done, 0.25, 0.01) << forecast.indicator;
    // A quarter of one task predicts the end within a factor of two.
    ASSERT_TRUE(Lower(forecast) && Upper(forecast)) << forecast.indicator;
    EXPECT_GT(*Upper(forecast), absl::Seconds(50)) << forecast.indicator;
    EXPECT_LT(*Lower(forecast), absl::Seconds(18)) << forecast.indicator;
  }
  job.Say(40, Finished(M(0)));
  for (const Estimate& forecast : EstimatesOf(job.Tick(41))) {
    EXPECT_EQ(Left(forecast), absl::ZeroDuration()) << forecast.indicator;
    EXPECT_TRUE(Lower(forecast) && Upper(forecast)) << forecast.indicator;
  }
  job.Say(42, Closed());
  EXPECT_EQ(job.Tick(43).estimate.fraction_done, 1);
}

// Twice the bytes take twice the time, so the second of two waves is longer.
TEST(JobMonitor, MapTasksAreForecastByTheirSizes) {
  MonitoredJob job;
  job.Say(0, Opened(12, 0));
  for (std::uint32_t i = 0; i < 10; ++i) job.Say(0, Started(M(i), std::uint64_t{100} * (i + 1)));
  for (std::uint32_t i = 0; i < 10; ++i) job.Say(i + 1, Finished(M(i)));
  job.Fold({{10, Started(M(10), 500)}, {10, Started(M(11), 2000)}});
  const Estimate forecast = job.Tick(10).estimate;
  EXPECT_NEAR(SecondsLeft(forecast), 20, 4);
}

// The engine reports the progress and the ends of reduce tasks, but no key groups.
TEST(JobMonitor, ReduceTasksWithoutKeyGroupsAreForecastByTheirSizes) {
  MonitoredJob job;
  job.Fold({{0, Opened(1, 4)}, {0, Started(M(0))}});
  job.Say(10, Emitted(M(0), {Partition(0, 1000), Partition(1, 2000), Partition(2, 4000),
                             Partition(3, 4000)}));
  job.Say(10, Finished(M(0)));
  for (std::uint32_t i = 0; i < 3; ++i) job.Fold({{10, Started(R(i))}, {10, Shuffled(R(i))}});
  job.Fold({{20, Finished(R(0))}, {30, Finished(R(1))}, {30, Read(R(2), 2000)}});
  const Snapshot snapshot = job.Tick(30);
  const Estimate forecast = snapshot.estimate;
  // Task 2 has half of its 4,000 bytes left, which take 20 s. According to two and a half tasks,
  // task 3 takes 40 s on a free slot.
  EXPECT_NEAR(SecondsLeft(forecast), 40, 12);
  EXPECT_EQ(Only(snapshot.named_tasks).attempt.index, 3u);
}

// Returns a job with four reduce tasks of equal size and without key groups. At 20 s, the first of
// two waves of 10 s ends.
MonitoredJob HalfOfTheReduceTasksDone() {
  MonitoredJob job;
  job.Fold({{0, Opened(1, 4)}, {0, Started(M(0))}, {10, Finished(M(0))}});
  for (std::uint32_t i = 0; i < 2; ++i) job.Say(10, Started(R(i), 1000));
  for (std::uint32_t i = 0; i < 2; ++i) job.Say(20, Finished(R(i)));
  for (std::uint32_t i = 2; i < 4; ++i) job.Say(20, Started(R(i), 1000));
  return job;
}

// Some jobs in Rumen traces have reduce tasks without sizes. This job has 20 of them, half of which
// have ended.
TEST(JobMonitor, ReduceTasksWithoutSizesAreForecastByFinishedTasks) {
  MonitoredJob job;
  job.Fold({{0, Opened(1, 20)}, {0, Started(M(0))}, {10, Finished(M(0))}});
  for (std::uint32_t i = 0; i < 10; ++i) job.Say(10, Started(R(i)));
  for (std::uint32_t i = 0; i < 10; ++i) job.Say(210, Finished(R(i)));
  for (std::uint32_t i = 10; i < 20; ++i) job.Say(210, Started(R(i)));
  const Estimate forecast = job.Tick(210).estimate;
  // Since the times of ten tasks vary, the last task ends after the median.
  EXPECT_NEAR(SecondsLeft(forecast), 250, 50);
  for (std::uint32_t i = 10; i < 20; ++i) job.Say(410, Finished(R(i)));
  EXPECT_EQ(Left(job.Tick(411).estimate), absl::ZeroDuration());
}

// Without past runs, 10 s remain. With eight past runs, 20 s remain.
TEST(JobMonitor, PastRunsCountInAdditionToTheSizesOfTasks) {
  MonitoredJob alone = HalfOfTheReduceTasksDone();
  MonitoredJob known = HalfOfTheReduceTasksDone();
  known.monitor.SetPastRuns(
      std::vector<PastRun>(8, {.map_time = absl::Seconds(10), .reduce_time = absl::Seconds(30)}));
  const auto left = [](MonitoredJob& job) { return SecondsLeft(job.Tick(20).estimate); };
  const double by_sizes = left(alone);
  EXPECT_GT(left(known), 1.2 * by_sizes);
}

TEST(JobMonitor, IntervalsHaveTheWidthThatPastRunsNeeded) {
  MonitoredJob alone = HalfOfTheReduceTasksDone();
  MonitoredJob known = HalfOfTheReduceTasksDone();
  // Scores without times do not predict the end.
  known.monitor.SetPastRuns(std::vector<PastRun>(8, {.interval_score = 1.5}));
  const Estimate without = alone.Tick(20).estimate;
  const Estimate with = known.Tick(20).estimate;
  ASSERT_TRUE(Left(without) && Upper(without) && Upper(with));
  EXPECT_EQ(Left(with), Left(without));
  EXPECT_EQ(*Upper(with) - *Left(with), 1.5 * (*Upper(without) - *Left(without)));
}

TEST(JobMonitor, TheSummaryOfAnEndedJobHasItsIntervalScore) {
  MonitoredJob job = HalfOfTheReduceTasksDone();
  for (double now = 20; now < 30; ++now) job.Tick(now);
  EXPECT_FALSE(job.monitor.Summary().interval_score);
  const Estimate said = job.Tick(30).estimate;
  ASSERT_TRUE(Left(said) && Upper(said));
  job.Say(500, Closed());
  job.Tick(500);
  // The end is far beyond all upper bounds.
  ASSERT_TRUE(job.monitor.Summary().interval_score);
  EXPECT_GT(*job.monitor.Summary().interval_score, 2);
  EXPECT_LE(*job.monitor.Summary().interval_score, 20);
}

TEST(JobMonitor, AnEndThatMovedHasAWiderInterval) {
  MonitoredJob steady = HalfOfTheReduceTasksDone();
  MonitoredJob moved = HalfOfTheReduceTasksDone();
  for (double now = 20; now < 30; ++now) moved.Tick(now);
  const auto width = [](MonitoredJob& job) {
    const Estimate forecast = job.Tick(30).estimate;
    return Upper(forecast).value_or(absl::ZeroDuration()) -
           Lower(forecast).value_or(absl::ZeroDuration());
  };
  EXPECT_GT(width(moved), width(steady));
}

// The end of the shuffle is not reported, so the time of a reduce task counts from its start.
TEST(JobMonitor, ReduceTasksWithoutAShuffleApproachTheirEnd) {
  MonitoredJob job;
  job.Say(0, Opened(1, 2), Started(M(0))).Say(10, Finished(M(0)), Started(R(0), 1000));
  job.Say(15, Started(R(1), 1000)).Say(70, Finished(R(0)));
  const Estimate forecast = job.Tick(70).estimate;
  ASSERT_TRUE(Left(forecast).has_value());
  EXPECT_LT(*Left(forecast), absl::Seconds(35));
}

TEST(JobMonitor, AMapOnlyJobOfAnUnknownNumberOfTasksHasNoForecast) {
  Watched job;
  job.Fold({{0, Opened({}, 0)}, {0, Started(M(0), 100)}, {1, Finished(M(0))}});
  const Snapshot snapshot = job.Tick(1);
  EXPECT_EQ(snapshot.estimate.state, EstimateState::kWarmingUp);
  EXPECT_EQ(snapshot.estimate.fraction_done, 0);
}

TEST(JobMonitor, PredictsAJobOfTwoWaves) {
  VirtualJob job = EvenJob(4);
  job.slots = 2;
  const Story story = Tell(job);
  EXPECT_EQ(story.ends, 34);  // 10 + 2 x (2 + 10)
  JobMonitor monitor("job-1", {.indicators = {"nearestfit"}});
  for (const Snapshot& snapshot : Watch(story, 1, monitor)) {
    if (snapshot.at < At(14) || snapshot.is_final) continue;
    const Estimate forecast = EstimateOf(snapshot, "nearestfit");
    ASSERT_TRUE(Left(forecast).has_value()) << snapshot.at;
    EXPECT_NEAR(absl::ToDoubleSeconds(snapshot.at + *Left(forecast) - At(0)), 34, 0.01);
  }
}

// --- the noise-free quadratic job with a giant last group

class QuadraticJobTest : public ::testing::Test {
 protected:
  Story story_ = Tell(QuadraticJob());
  JobMonitor monitor_{"job-1", {.indicators = ComparedIndicators()}};
  std::vector<Snapshot> snapshots_ = Watch(story_, 5, monitor_);

  // Returns the end that `indicator` predicted at the first tick after `seconds`, divided by the
  // true end.
  double EndRatio(const std::string& indicator, double seconds) const {
    for (const Snapshot& snapshot : snapshots_) {
      const auto remaining = Left(EstimateOf(snapshot, indicator));
      if (snapshot.at < At(seconds) || !remaining) continue;
      return absl::ToDoubleSeconds(snapshot.at + *remaining - At(0)) / story_.ends;
    }
    return 0;
  }
  IndicatorError ErrorOf(const std::string& indicator) const {
    for (const IndicatorError& error : snapshots_.back().errors) {
      if (error.indicator == indicator) return error;
    }
    return {};
  }
};

TEST_F(QuadraticJobTest, NearestFitPredictsTheEndBeforeTheGiantStarts) {
  EXPECT_NEAR(EndRatio("nearestfit", story_.reduce_starts + 35), 1, 0.001);
}

TEST_F(QuadraticJobTest, LinearIndicatorsDoNot) {
  for (const char* indicator : {"hadoop", "jobratio", "taskratio"}) {
    EXPECT_LT(EndRatio(indicator, story_.reduce_starts + 35), 0.6) << indicator;
  }
}

TEST_F(QuadraticJobTest, NearestFitStaysAccurateInsideTheGiant) {
  EXPECT_NEAR(EndRatio("nearestfit", story_.ends - 200), 1, 0.001);
}

TEST_F(QuadraticJobTest, TheErrorsOfTheFinalSnapshotDiffer) {
  EXPECT_LT(ErrorOf("nearestfit").last_stage_avg_points, 2);
  for (const char* indicator : {"hadoop", "jobratio", "taskratio"}) {
    EXPECT_GT(ErrorOf(indicator).last_stage_avg_points, 10) << indicator;
    EXPECT_GT(ErrorOf(indicator).last_stage_max_points, 40) << indicator;
  }
}

TEST_F(QuadraticJobTest, TheStragglerIsInsideTheGiant) {
  const auto inside = std::find_if(snapshots_.begin(), snapshots_.end(),
                                   [&](const Snapshot& s) { return s.at > At(story_.ends - 200); });
  ASSERT_EQ(inside->named_tasks.size(), 1u);
  EXPECT_EQ(inside->named_tasks[0].attempt, R(1));
  EXPECT_TRUE(inside->named_tasks[0].in_heaviest_group);
  EXPECT_EQ(inside->named_tasks[0].heaviest_group_bytes, 20'000u);
  EXPECT_NEAR(inside->named_tasks[0].heaviest_group_share, 1, 1e-6);
}

TEST_F(QuadraticJobTest, OnlyTheFinalSnapshotShowsAllDone) {
  for (const Snapshot& snapshot : snapshots_) {
    for (const Estimate& forecast : EstimatesOf(snapshot)) {
      EXPECT_EQ(forecast.fraction_done == 1, snapshot.is_final) << forecast.indicator;
    }
    for (const double fraction : LastStagesOf(snapshot)) {
      EXPECT_EQ(fraction == 1, snapshot.is_final) << snapshot.at;
    }
  }
}

TEST_F(QuadraticJobTest, SequencesGrowByOne) {
  for (std::size_t i = 0; i < snapshots_.size(); ++i) EXPECT_EQ(snapshots_[i].sequence, i + 1);
}

TEST_F(QuadraticJobTest, TheSameCallsGiveTheSameSnapshots) {
  JobMonitor again("job-1", {.indicators = ComparedIndicators()});
  EXPECT_EQ(Watch(story_, 5, again), snapshots_);
}

TEST_F(QuadraticJobTest, KeysRecognisedBySizeGiveTheSameForecast) {
  VirtualJob job = QuadraticJob();
  job.keys_named = false;
  story_ = Tell(job);
  JobMonitor monitor("job-1", {.indicators = {"nearestfit"}});
  snapshots_ = Watch(story_, 5, monitor);
  EXPECT_NEAR(EndRatio("nearestfit", story_.reduce_starts + 35), 1, 0.02);
  EXPECT_LT(ErrorOf("nearestfit").last_stage_avg_points, 2);
}

// --- the end

TEST_F(ReducingJob, TheFinalSnapshotComesOnceAndIsThenRepeated) {
  job_.Tick(15);
  job_.Say(20, Closed());
  EXPECT_TRUE(job_.monitor.is_closed());
  const Snapshot final_snapshot = job_.Tick(21);
  EXPECT_EQ(final_snapshot.state, JobState::kSucceeded);
  EXPECT_EQ(final_snapshot.sequence, 2u);
  job_.Say(22, Started(R(0, 1)));
  EXPECT_EQ(job_.Tick(500), final_snapshot);
}

TEST_F(ReducingJob, AJobThatSucceededIsAllDone) {
  job_.Say(20, Closed());
  const Snapshot snapshot = job_.Tick(25);
  EXPECT_EQ(snapshot.elapsed(), absl::Seconds(20)) << "until it ended, not until it was looked at";
  EXPECT_TRUE(snapshot.named_tasks.empty());
  EXPECT_EQ(snapshot.message, "");
  ASSERT_EQ(snapshot.errors.size(), 4u);
  for (const double fraction : LastStagesOf(snapshot)) EXPECT_EQ(fraction, 1);
  for (const Estimate& forecast : EstimatesOf(snapshot)) {
    EXPECT_EQ(forecast.state, EstimateState::kFinal);
    EXPECT_EQ(forecast.basis, Basis::kDone);
    EXPECT_EQ(forecast.fraction_done, 1);
    EXPECT_EQ(forecast.fraction_done_lower, 1);
    EXPECT_EQ(forecast.fraction_done_upper, 1);
    EXPECT_FALSE(Left(forecast).has_value());
    EXPECT_FALSE(Upper(forecast).has_value());
  }
}

// At 15 s, 9 s are left.
TEST_F(ReducingJob, TheErrorsContainTheFirstForecast) {
  EXPECT_FALSE(job_.Tick(15).is_final);
  job_.Tick(17);
  job_.Say(20, Closed());
  const Snapshot ended = job_.Tick(21);
  ASSERT_FALSE(ended.errors.empty());
  EXPECT_EQ(ended.errors[0].first_forecast, absl::Seconds(24));
  EXPECT_EQ(ended.errors[0].first_forecast_after, absl::Seconds(15));
}

TEST(JobMonitor, AGuessIsNoFirstForecast) {
  Watched job = AboutToReduce(JobMonitorOptions());
  ASSERT_EQ(job.Tick(13).estimate.basis, Basis::kGuess);
  job.Say(20, Closed());
  const Snapshot ended = job.Tick(21);
  ASSERT_FALSE(ended.errors.empty());
  EXPECT_FALSE(ended.errors[0].first_forecast);
}

TEST(JobMonitor, ErrorsOfAReduceStageNeedATickDuringIt) {
  for (const bool is_looked_at : {false, true}) {
    Watched job = Reducing();
    if (is_looked_at) job.Tick(15);
    job.Fold({{20, Finished(R(0))}, {21, Closed()}});
    for (const IndicatorError& error : job.Tick(25).errors) {
      EXPECT_EQ(error.last_stage_avg_points.has_value(), is_looked_at) << error.indicator;
      EXPECT_EQ(error.last_stage_max_points.has_value(), is_looked_at) << error.indicator;
    }
  }
}

TEST(JobMonitor, AnEndedJobNamesItsStartToAnotherRun) {
  const Snapshot final = {.job_id = "job-1",
                          .run_uid = "a",
                          .at = At(9),
                          .state = JobState::kSucceeded,
                          .is_final = true,
                          .started_at = At(0)};
  const JobMonitor ended = JobMonitor::OfEnded(final, {});
  Event opening = Source().At(10, Opened(1, 1));
  opening.run_uid = "b";
  EXPECT_THAT(ended.CheckRun(opening).message(), HasSubstr("started at 2023-11-14 22:13:20 UTC"));
}

using Ending = std::pair<JobOutcome, JobState>;
const Ending kEndings[] = {{JobOutcome::kFailed, JobState::kFailed},
                           {JobOutcome::kKilled, JobState::kKilled}};

TEST(JobMonitor, PublishesTheReasonAndNoErrorsOfAJobThatDidNotSucceed) {
  for (const auto& [outcome, state] : kEndings) {
    Watched job = Reducing();
    job.Say(20, Closed(outcome, "out of memory"));
    const Snapshot snapshot = job.Tick(21);
    EXPECT_EQ(snapshot.state, state);
    EXPECT_EQ(snapshot.message, "out of memory");
    EXPECT_TRUE(snapshot.errors.empty());
    EXPECT_EQ(snapshot.estimate.state, EstimateState::kFinal);
    EXPECT_LT(snapshot.estimate.fraction_done, 1) << "it was not all done";
  }
}

// With only the map phase as evidence, the end is a guess with a wide interval.
TEST(JobMonitor, AJobThatDidNotSucceedKeepsTheLastShownFractionAndItsBounds) {
  for (const auto& [outcome, state] : kEndings) {
    Watched job = AboutToReduce(JobMonitorOptions());
    const Estimate shown = job.Tick(13).estimate;
    ASSERT_LT(shown.fraction_done_lower, shown.fraction_done_upper);
    job.Say(14, Closed(outcome, "out of memory"));
    const Snapshot ended = job.Tick(14);
    ASSERT_TRUE(ended.is_final);
    EXPECT_FALSE(ended.estimate.remaining.has_value());
    EXPECT_DOUBLE_EQ(ended.estimate.fraction_done, shown.fraction_done);
    EXPECT_DOUBLE_EQ(ended.estimate.fraction_done_lower, shown.fraction_done_lower);
    EXPECT_DOUBLE_EQ(ended.estimate.fraction_done_upper, shown.fraction_done_upper);
  }
}

TEST(JobMonitor, OtherIndicatorsHaveNoIntervalInASilence) {
  Watched job = Reducing();
  const Snapshot silent = job.Tick(15 + 300);
  ASSERT_TRUE(silent.silent_since);
  ASSERT_TRUE(silent.estimate.remaining && silent.estimate.remaining->upper);
  int estimates = 0;
  for (const Indicator& other : silent.indicators) {
    if (!other.estimate.remaining) continue;
    ++estimates;
    EXPECT_FALSE(other.estimate.remaining->lower) << other.estimate.indicator;
    EXPECT_FALSE(other.estimate.remaining->upper) << other.estimate.indicator;
  }
  EXPECT_GT(estimates, 0);
}

// The silence has opened the interval of the job.
TEST(JobMonitor, AnAbandonedJobKeepsTheBoundsOfItsFraction) {
  Watched job = AboutToReduce(JobMonitorOptions());
  job.Tick(13);
  const Estimate silent = job.Tick(12 + 15 * 60).estimate;
  ASSERT_LT(silent.fraction_done_lower, silent.fraction_done_upper);
  const Snapshot ended = job.Tick(12 + 15 * 60 + 1);
  ASSERT_EQ(ended.state, JobState::kAbandoned);
  EXPECT_NEAR(ended.estimate.fraction_done_lower, silent.fraction_done_lower, 0.01);
  EXPECT_NEAR(ended.estimate.fraction_done_upper, silent.fraction_done_upper, 0.01);
}

TEST_F(ReducingJob, AJobWithoutReportsIsAbandoned) {
  const double silent_since = 15;
  EXPECT_EQ(job_.Tick(silent_since + 15 * 60).state, JobState::kRunning);
  EXPECT_FALSE(job_.monitor.is_closed());
  const Snapshot snapshot = job_.Tick(silent_since + 15 * 60 + 1);
  EXPECT_EQ(snapshot.state, JobState::kAbandoned);
  EXPECT_EQ(snapshot.message, "no event of the job arrived for 15 min");
  EXPECT_TRUE(job_.monitor.is_closed());
  EXPECT_TRUE(snapshot.errors.empty());
}

TEST_F(ReducingJob, AnAbandonedJobStaysAbandoned) {
  const Snapshot snapshot = job_.Tick(10'000);
  job_.Say(10'001, Closed());
  EXPECT_EQ(job_.Tick(10'002), snapshot);
}

// --- coverage

TEST_F(ReducingJob, CountsMissingEvidence) {
  Event event = job_.source.At(16, Read(M(0), 1));
  event.dropped_events = 6;
  event.sequence += 3;
  EXPECT_TRUE(job_.monitor.Apply(event).ok());
  event.sequence += 1;
  event.body = Started(M(99));
  EXPECT_FALSE(job_.monitor.Apply(event).ok());
  job_.monitor.CountRejected();
  ReduceProfile profile = Reduced(R(0), At(15), {Point(1000, 3)});
  profile.points.clear();
  profile.dropped_points = 8;
  event.sequence += 1;
  event.body = profile;
  EXPECT_TRUE(job_.monitor.Apply(event).ok());
  const Coverage coverage = *job_.Tick(20).coverage;
  EXPECT_EQ(coverage.newest_event_at, At(16));
  EXPECT_EQ(coverage.lost_events, 3u);
  EXPECT_EQ(coverage.dropped_events, 6u);
  EXPECT_EQ(coverage.rejected_events, 2u);
  EXPECT_EQ(coverage.dropped_points, 8u);
  EXPECT_EQ(coverage.anomalies, 0u);
  EXPECT_EQ(coverage.map_profiles, 1);
}

// A profile may be on its way for ten seconds after the end of its task, but not after the job.
TEST(JobMonitor, PublishesTheShareOfMapTasksWithAProfile) {
  Watched job;
  job.Say(0, Opened(4, 1));
  EXPECT_EQ(job.Tick(0).coverage->map_profiles, std::nullopt);
  job.Say(1, Finished(M(0)));
  EXPECT_EQ(job.Tick(2).coverage->map_profiles, 1);
  job.Fold({{2, Emitted(M(0), {})}, {8, Finished(M(1))}});
  EXPECT_EQ(job.Tick(18).coverage->map_profiles, 1);
  EXPECT_EQ(job.Tick(19).coverage->map_profiles, 0.5);
  Watched ended;
  ended.Fold({{0, Opened(2, 1)}, {1, Finished(M(0))}, {1, Finished(M(1))}});
  ended.Fold({{1, Emitted(M(0), {})}, {2, Closed()}});
  EXPECT_EQ(ended.Tick(2).coverage->map_profiles, 0.5);
}

TEST(JobMonitor, NotesThatAPartOfTheMapOutputWasNotScanned) {
  Watched job;
  job.Say(0, Opened(2, 1));
  for (const std::uint32_t i : {0u, 1u}) job.Say(1, Finished(M(i)));
  job.Say(1, Emitted(M(0), {Partition(0, 1000, {Key(1, 100)})}));
  EXPECT_TRUE(job.Tick(1).notes.empty());
  PartitionProfile unread = Partition(0, 1000, {});
  unread.scanned_bytes = 0;
  job.Say(1, Emitted(M(1), {unread}));
  ASSERT_EQ(job.Tick(2).notes.size(), 1u);
  EXPECT_EQ(job.Tick(2).notes[0],
            "keys known for 50 % of the map output; for the rest, only the size is known");
}

TEST(JobMonitor, NotesAGroupingComparator) {
  Watched job;
  JobOpened opened = Opened(2, 1);
  test::ReduceStage(opened).is_grouping_opaque = true;
  job.Say(0, opened);
  ASSERT_EQ(job.Tick(1).notes.size(), 1u);
  EXPECT_EQ(job.Tick(1).notes[0],
            "keys do not identify key groups, because the job has a grouping comparator");
}

TEST(JobMonitor, NotesThatItsMapTasksHaveNotStarted) {
  MonitoredJob job;
  job.Say(0, Opened(4, 1));
  EXPECT_THAT(job.Tick(9).notes, IsEmpty()) << "its application master starts";
  EXPECT_THAT(job.Tick(10).notes,
              ElementsAre("cannot predict the end: 4 map tasks have not started"));
  job.Say(11, Started(M(0)));
  EXPECT_THAT(job.Tick(12).notes, IsEmpty());
}

TEST(JobMonitor, NotesIgnoredKeyGroupsOfOtherStages) {
  Watched job;
  job.Say(0, JobOpened{.stages = {{.stage = 4, .kind = StageKind::kMap, .task_count = 1}}});
  job.Say(1, MapProfile{.attempt = {.stage = 4}});
  EXPECT_THAT(job.Tick(2).notes,
              Contains("key groups of stages other than 0 and 1 are not estimated: 1 profile was "
                       "ignored"));
}

TEST(JobMonitor, AJobMayEndWithAnUnknownOutcome) {
  Watched job;
  job.Say(0, Opened(1, 0));
  job.Say(1, JobClosed{.outcome = JobOutcome::kUnknown, .message = "preempted"});
  const Snapshot final = job.Tick(2);
  EXPECT_EQ(final.message, "preempted");
  EXPECT_TRUE(final.is_final);
  EXPECT_EQ(final.state, JobState::kUnknownEnd);
  EXPECT_LT(final.estimate.fraction_done, 1);
}

TEST_F(ReducingJob, StagesInACycleDoNotChangeTheForecast) {
  Watched in_circles = Reducing();
  StageOpened map = {.stage = kMapStage, .parents = {kReduceStage}, .kind = StageKind::kMap};
  in_circles.Say(16, map, StageOpened{.stage = 2, .parents = {3}});
  in_circles.Say(16, StageOpened{.stage = 3, .parents = {2}});
  const Snapshot snapshot = in_circles.Tick(17);
  EXPECT_EQ(EstimatesOf(snapshot), EstimatesOf(job_.Tick(17)));
  EXPECT_EQ(snapshot.coverage->anomalies, 0u);
}

TEST_F(ReducingJob, ATaskWithoutReportsForTenSecondsIsSilent) {
  EXPECT_EQ(job_.Tick(25).coverage->silent_tasks, 0u);
  EXPECT_EQ(job_.Tick(26).coverage->silent_tasks, 1u) << "the map task has finished and may be";
}

// The kind of a stage may be reported after a tick.
TEST(JobMonitor, ASilentTaskOfALateMapStageIsCounted) {
  Watched job;
  job.Say(0, JobOpened{.stages = {{.stage = kMapStage, .task_count = 1}}});
  EXPECT_EQ(job.Tick(1).coverage->silent_tasks, 0u);
  job.Say(2, StageOpened{.stage = kMapStage, .kind = StageKind::kMap}, Started(M(0), 100));
  EXPECT_EQ(job.Tick(13).coverage->silent_tasks, 1u);
}

TEST_F(ReducingJob, AddsANoteOnceUpToALimit) {
  for (const char* note : {"no log", "slow disk", "no log"}) job_.monitor.AddNote(note);
  EXPECT_THAT(job_.Tick(15).notes, ElementsAre("no log", "slow disk"));
  for (int i = 0; i < 1000; ++i) job_.monitor.AddNote(std::to_string(i));
  EXPECT_EQ(job_.Tick(16).notes.size(), 16u);
}

// Seven events arrived, and seven were lost, so half of the evidence is missing.
TEST(JobMonitor, NotesDamageToItsLog) {
  JobMonitor whole("job-1", {});
  JobMonitor damaged("job-1", {});
  Source source;
  const std::vector<Event> events = {source.At(0, Opened(1, 1)),
                                     source.At(0, Started(M(0))),
                                     source.At(10, Emitted(M(0), {Partition(0, 4000)})),
                                     source.At(10, Finished(M(0))),
                                     source.At(10, Started(R(0))),
                                     source.At(12, Shuffled(R(0))),
                                     source.At(15, Reduced(R(0), At(15), {Point(1000, 3)}))};
  for (const Event& event : events) {
    EXPECT_TRUE(whole.Apply(event).ok());
    EXPECT_TRUE(damaged.Apply(event).ok());
  }
  damaged.NoteDamage({.at = 300, .bytes = 700, .records = 7, .ticks_max = 50});
  EXPECT_TRUE(damaged.has_news());
  const Snapshot before = whole.Tick(At(15));
  const Snapshot after = damaged.Tick(At(15));
  EXPECT_EQ(after.sequence, before.sequence + 50) << "lost ticks may have had these numbers";
  EXPECT_THAT(
      after.notes,
      ElementsAre("the master's log of this job was damaged at byte 300: about 7 records were "
                  "lost (700 bytes); estimates therefore have wider intervals"));
  ASSERT_TRUE(Upper(before.estimate) && Upper(after.estimate));
  EXPECT_EQ(Left(after.estimate), Left(before.estimate));
  EXPECT_GT(*Upper(after.estimate), *Upper(before.estimate));
  damaged.NoteDamage({.at = 2000, .bytes = 50, .records = 1, .ticks_max = 5});
  EXPECT_THAT(damaged.Tick(At(16)).notes,
              ElementsAre(HasSubstr("in 2 places, the first at byte 300: about 8 records")));
}

TEST(JobMonitor, DamageToACopyOrBeforeTheOpeningIsNoLoss) {
  JobMonitor monitor("job-1", {});
  monitor.NoteDamage({.at = 24, .bytes = 100, .records = 1, .ticks_max = 9});
  EXPECT_TRUE(monitor.Apply(Source().At(0, Opened(1, 1))).ok());
  monitor.NoteDamage({.at = 200, .bytes = 100, .records = 0, .ticks_max = 9});
  const Snapshot snapshot = monitor.Tick(At(1));
  EXPECT_EQ(snapshot.sequence, 1u);
  EXPECT_TRUE(snapshot.notes.empty());
}

// --- accessors for the service

TEST_F(ReducingJob, HasNewsFromAnEventToTheNextTick) {
  EXPECT_TRUE(job_.monitor.has_news());
  job_.Tick(15);
  EXPECT_FALSE(job_.monitor.has_news());
}

TEST(JobMonitor, ReturnsTheSequenceOfEachSource) {
  Watched job;
  EXPECT_EQ(job.monitor.accepted_sequence("app-master"), 0u);
  EXPECT_FALSE(job.monitor.Apply(job.source.At(0, Started(M(0)))).ok());
  EXPECT_EQ(job.monitor.accepted_sequence("app-master"), 1u) << "refused, but not to be resent";
}

TEST_F(ReducingJob, ReturnsTheSmallestExplicitKey) {
  EXPECT_EQ(job_.monitor.wanted_names().bytes_min, 0u);
  Watched with_keys;
  with_keys.Say(0, Opened(1, 1));
  with_keys.Say(1, Emitted(M(0), {Partition(0, 90, {Key(1, 50), Key(2, 40)})}), Finished(M(0)));
  EXPECT_EQ(with_keys.monitor.wanted_names().bytes_min, 40u);
}

TEST_F(ReducingJob, ContinuesAfterAMove) {
  JobMonitor moved = std::move(job_.monitor);
  EXPECT_EQ(moved.Tick(At(15)).sequence, 1u);
}

// --- options

TEST(JobMonitorOptions, NamesAnInvalidOption) {
  const std::pair<JobMonitorOptions, const char*> rows[] = {
      {{.indicators = {}}, "at least one is needed"},
      {{.indicators = {"hadoop", "oracle"}}, "unknown indicator oracle; indicators: tidemark"},
      {{.lambda = 0}, "lambda"},
      {{.abandon_after = absl::ZeroDuration()}, "abandon_after"}};
  for (const auto& [options, reason] : rows) {
    const absl::Status status = Validate(options);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << reason;
    EXPECT_THAT(status.message(), HasSubstr(reason));
  }
}

// The published methods run only if they are requested.
TEST(JobMonitorOptions, RunTidemarkAloneByDefault) {
  EXPECT_TRUE(Validate({}).ok());
  EXPECT_THAT(JobMonitorOptions().indicators, ElementsAre("tidemark"));
  EXPECT_TRUE(Validate({.indicators = ComparedIndicators()}).ok());
}

}  // namespace
}  // namespace tidemark::job_monitor_test
