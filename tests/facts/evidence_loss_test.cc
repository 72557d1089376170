#include "master/facts/evidence_loss.h"

#include "tests/monitor/monitored_job.h"
#include "tests/test.h"

namespace tidemark::facts::evidence_loss_test {
namespace {

JobRecord Told(const std::vector<Event>& events) {
  JobRecord state(10);
  for (const Event& event : events) EXPECT_TRUE(Apply(event, {}, state).ok());
  return state;
}

ReduceProfile Reduced(std::uint64_t groups, std::uint64_t dropped) {
  return {.attempt = R(0), .groups_done = groups, .dropped_points = dropped};
}

// Five events arrived. The end of the other task did not.
TEST(EvidenceLoss, AnUnreportedEndIsMissing) {
  Source source;
  const auto task = [](std::uint32_t index, AttemptState state) {
    return AttemptChanged{.attempt = {.stage = 4, .index = index}, .state = state};
  };
  EXPECT_DOUBLE_EQ(
      MissingEvidenceShare(Told({source.At(0, JobOpened{.name = "query"}),
                                 source.At(0, StageOpened{.stage = 4, .task_count = 2}),
                                 source.At(1, task(0, AttemptState::kStarted)),
                                 source.At(2, task(0, AttemptState::kFinished)),
                                 source.At(3, StageClosed{.stage = 4})})),
      1.0 / 6);
}

// Half of the events are missing if the source dropped as many as arrived.
TEST(EvidenceLoss, LossesOfEventsAndPointsMultiply) {
  const auto share = [](std::uint64_t groups, std::uint64_t dropped_points, std::uint64_t dropped) {
    Source source;
    std::vector<Event> events = {source.At(0, Opened(1, 1)),
                                 source.At(1, Reduced(groups, dropped_points))};
    events[1].dropped_events = dropped;
    return MissingEvidenceShare(Told(events));
  };
  EXPECT_DOUBLE_EQ(share(400, 300, 0), 0.75);
  EXPECT_DOUBLE_EQ(share(400, 200, 2), 0.75);
  EXPECT_DOUBLE_EQ(share(4, 9, 0), 1) << "more is dropped than done";
  EXPECT_EQ(MissingEvidenceShare(JobRecord(10)), 0) << "no event has arrived";
}

// One source sent the sequence numbers 1, 2 and 5, and dropped another event without a number.
// Three events arrived, and three did not.
TEST(EvidenceLoss, CountsLostAndDroppedEvents) {
  Source source;
  std::vector<Event> events = {source.At(0, Opened(1, 1)), source.At(1, Started(R(0))),
                               source.At(2, Started(R(0)))};
  events[2].sequence = 5;
  events[2].dropped_events = 1;
  EXPECT_DOUBLE_EQ(MissingEvidenceShare(Told(events)), 0.5);
}

// A damaged record also appears as a gap when its source reports again. It counts only once.
TEST(EvidenceLoss, RecordsOfADamagedLogCountOnce) {
  Source source;
  std::vector<Event> events = {source.At(0, Opened(1, 1)), source.At(1, Started(R(0)))};
  JobRecord state = Told(events);
  state.log_damage.records = 2;
  EXPECT_DOUBLE_EQ(MissingEvidenceShare(state), 0.5);
  state.lost_events = 2;
  EXPECT_DOUBLE_EQ(MissingEvidenceShare(state), 0.5);
}

// With a quarter of the observations, an interval is twice as wide.
TEST(EvidenceLoss, AnIntervalGrowsAsWithFewerObservations) {
  const EndPrediction said{.at = At(0), .end = At(100), .lower = At(90), .upper = At(130)};
  const EndPrediction widened = WidenForLoss(0.75, said);
  EXPECT_EQ(widened.end, At(100));
  EXPECT_EQ(widened.lower, At(80));
  EXPECT_EQ(widened.upper, At(160));
}

TEST(EvidenceLoss, AnIntervalGrowsAtMostTenfold) {
  const EndPrediction said{.at = At(0), .end = At(100), .lower = At(99), .upper = At(101)};
  EXPECT_EQ(WidenForLoss(1, said).upper, At(110));
  EXPECT_EQ(WidenForLoss(0.9999, said).lower, At(90));
  EXPECT_EQ(WidenForLoss(0, said).lower, At(99)) << "without loss, it is unchanged";
  EXPECT_FALSE(WidenForLoss(0.5, {.at = At(0), .end = At(9)}).upper);
  EXPECT_FALSE(WidenForLoss(0.5, {.at = At(0)}).end);
}

AttemptChanged In(AttemptState state, std::uint32_t index, std::uint32_t executor = 0) {
  return {.attempt = {.stage = 0, .index = index}, .state = state, .executor = executor};
}

// An application with one stage of eight tasks, on two executors with two slots each.
struct Application : test::MonitoredJob {
  Application() {
    Say(0, JobOpened{.name = "query", .engine = "spark"});
    for (const std::uint32_t executor : {0, 1}) {
      Say(0,
          ExecutorOpened{.executor = executor, .host = "h" + std::to_string(executor), .slots = 2});
    }
    Say(0, StageOpened{.stage = 0, .name = "scan", .group = "sql/0", .task_count = 8});
  }
  void Start(double seconds, std::uint32_t index, std::uint32_t executor = 0) {
    Say(seconds, In(AttemptState::kStarted, index, executor));
  }
  void Finish(double seconds, std::uint32_t index) {
    Say(seconds, In(AttemptState::kFinished, index));
  }
  Coverage CoverageAt(double seconds) { return *Tick(seconds).coverage; }
};

TEST(MissingEnds, AnEndedStageShowsTasksWithoutAnEnd) {
  Application job;
  for (const std::uint32_t index : {0, 1, 2}) job.Start(1, index, index % 2);
  for (const std::uint32_t index : {0, 1}) job.Finish(2, index);
  EXPECT_EQ(job.CoverageAt(3).missing_task_ends, 0u);
  job.Say(4, StageClosed{.stage = 0, .at = At(4)});
  EXPECT_EQ(job.CoverageAt(5).missing_task_ends, 6u);
  job.Finish(6, 2);  // This end is reported late.
  EXPECT_EQ(job.CoverageAt(7).missing_task_ends, 5u);
}

TEST(MissingEnds, AFailedOrRepeatedStageHasNone) {
  for (const StageClosed& closed : {StageClosed{.stage = 0, .outcome = JobOutcome::kFailed},
                                    StageClosed{.stage = 0, .outcome = JobOutcome::kKilled},
                                    StageClosed{.stage = 0, .attempt = 1}}) {
    Application job;
    job.Start(1, 0);
    job.Say(4, closed);
    EXPECT_EQ(job.CoverageAt(5).missing_task_ends, 0u);
  }
}

TEST(MissingEnds, ALostAttemptCountsUntilItsTaskEnds) {
  Application job;
  job.Start(1, 0);
  job.Say(2, In(AttemptState::kLost, 0));
  EXPECT_EQ(job.CoverageAt(3).missing_task_ends, 1u);
  EXPECT_EQ(job.monitor.job().counts.running_tasks, 0u);
  job.Finish(4, 0);
  EXPECT_EQ(job.CoverageAt(5).missing_task_ends, 0u);
}

// Tasks 2 and 3 are newer, and take both slots of executor 0.
TEST(BeyondSlots, TasksBeyondTheSlotsHaveEnded) {
  Application job;
  for (std::uint32_t index = 0; index < 4; ++index) job.Start(1 + index, index);
  for (std::uint32_t index = 4; index < 6; ++index) job.Start(1, index, 1);
  EXPECT_EQ(job.CoverageAt(12).tasks_beyond_slots, 0u) << "their ends may be on their way";
  EXPECT_EQ(job.monitor.job().counts.running_tasks, 6u);
  EXPECT_EQ(job.CoverageAt(13).tasks_beyond_slots, 2u);
  EXPECT_EQ(job.monitor.job().counts.running_tasks, 4u) << "as many as there are slots";
  job.Finish(15, 0);
  job.Finish(15, 1);
  EXPECT_EQ(job.CoverageAt(16).tasks_beyond_slots, 0u);
}

TEST(BeyondSlots, TasksWithReportedProgressCountAndRun) {
  Application job;
  for (std::uint32_t index = 0; index < 4; ++index) job.Start(1, index);
  for (double at = 2; at < 20; ++at) {
    for (std::uint32_t index = 0; index < 4; ++index) {
      job.Say(at, test::Read({.stage = 0, .index = index}, static_cast<std::uint64_t>(at)));
    }
  }
  EXPECT_EQ(job.CoverageAt(20).tasks_beyond_slots, 2u);
  EXPECT_EQ(job.monitor.job().counts.running_tasks, 4u);
}

// Slots of the stage precede slots of the executor.
TEST(BeyondSlots, MapTasksAreLimitedByTheirStageOrExecutor) {
  using Slots = std::optional<std::uint32_t>;
  const auto beyond = [](Slots stage_slots, Slots executor_slots) {
    test::MonitoredJob job;
    JobOpened opened = Opened(4, 1);
    test::MapStage(opened).slots = stage_slots;
    job.Say(0, opened);
    if (executor_slots) job.Say(0, ExecutorOpened{.host = "h", .slots = *executor_slots});
    for (std::uint32_t index = 0; index < 4; ++index) {
      AttemptChanged started = Started(M(index));
      if (executor_slots) started.executor = 0;
      job.Say(1, started);
    }
    EXPECT_EQ(job.Tick(5).coverage->tasks_beyond_slots, 0u);
    return job.Tick(12).coverage->tasks_beyond_slots;
  };
  EXPECT_EQ(beyond(3, {}), 1u);
  EXPECT_EQ(beyond(4, 1), 0u);
  EXPECT_EQ(beyond({}, 2), 2u);
  EXPECT_EQ(beyond({}, {}), 0u);
}

// Two tasks of ten seconds run at the same time. The end of each task arrives after the start of
// the next one.
TEST(BeyondSlots, LateEndsAreTolerated) {
  Application job;
  for (std::uint32_t index = 0; index < 8; ++index) {
    job.Start(5 * index, index);
    if (index >= 2) job.Finish(5 * index + 0.1, index - 2);
    EXPECT_EQ(job.CoverageAt(5 * index + 0.2).tasks_beyond_slots, 0u);
  }
}

TEST(BeyondSlots, ExecutorsOfUnknownSlotsHaveNone) {
  Application job;
  job.Say(0, ExecutorOpened{.executor = 2, .host = "h2"});
  for (std::uint32_t index = 0; index < 8; ++index) job.Start(1, index, 2);
  EXPECT_EQ(job.CoverageAt(60).tasks_beyond_slots, 0u);
}

// Returns the named tasks of a job in which two tasks of executor 0 have been running for a minute
// according to reports. Other tasks took five seconds.
std::vector<NamedTask> NamedWhen(const std::function<void(Application&)>& more) {
  Application job;
  for (std::uint32_t index = 0; index < 2; ++index) job.Start(0, index, 0);
  for (std::uint32_t index = 2; index < 5; ++index) {
    job.Start(5 * index, index, 1);
    job.Finish(5 * index + 5, index);
  }
  more(job);
  return job.monitor.Tick(At(60)).named_tasks;
}

TEST(MayHaveEnded, SuchATaskIsNoStraggler) {
  EXPECT_THAT(NamedWhen([](Application&) {}), SizeIs(2));
  const auto two_more_start = [](Application& job) {
    for (std::uint32_t index = 5; index < 7; ++index) job.Start(45, index, 0);
  };
  EXPECT_THAT(NamedWhen(two_more_start), IsEmpty());
  EXPECT_THAT(NamedWhen([&](Application& job) {
                two_more_start(job);
                for (std::uint32_t index = 5; index < 7; ++index) job.Finish(50, index);
              }),
              IsEmpty())
      << "the slots are free again, and it is not known by whose end";
}

TEST(MayHaveEnded, ATaskThatRanWhenEventsWereLostIsNoStraggler) {
  const auto lose_one = [](Application& job) {
    Event event = job.source.At(40, JobOpened{});
    ++event.sequence;
    ASSERT_TRUE(job.monitor.Apply(event).ok());
  };
  EXPECT_THAT(NamedWhen(lose_one), IsEmpty());
  EXPECT_THAT(NamedWhen([](Application& job) { job.monitor.NoteGap(At(40)); }), IsEmpty());
  EXPECT_THAT(NamedWhen([&](Application& job) {
                lose_one(job);
                Event event =
                    job.source.At(50, TaskHeartbeat{.attempt = {.stage = 0}, .bytes_done = 1});
                ++event.sequence;
                ASSERT_TRUE(job.monitor.Apply(event).ok());
              }),
              SizeIs(1))
      << "a task that reads runs";
}

}  // namespace
}  // namespace tidemark::facts::evidence_loss_test

namespace tidemark {
namespace {

using test::Read;
using test::SilentFor;

double SilentSeconds(const Job& job, double at) {
  return absl::ToDoubleSeconds(facts::SilentFor(job.state, At(at)));
}

// Returns a job with one map task that starts at 0 s. The task sends `reports` reports, one every
// `interval` seconds.
Job Reporting(double interval, int reports = 10) {
  Job job;
  job.Fold({{0, Opened(2, 1)}, {0, Started(M(0))}});
  for (int i = 1; i <= reports; ++i) EXPECT_TRUE(job.Say(i * interval, Read(M(0), 7)).ok());
  return job;
}

// The job is silent after three missing reports and at least three seconds. Without a known
// interval, it is silent after ten seconds.
TEST(Silence, BeginsAfterThreeMissingReportsOfARunningTask) {
  const struct {
    double interval;
    int reports;
    double silent_after;
  } rows[] = {{4, 10, 12}, {0.1, 10, 3}, {1, 2, 10}};
  for (const auto& row : rows) {
    const Job job = Reporting(row.interval, row.reports);
    const double last = row.interval * row.reports;
    EXPECT_EQ(SilentSeconds(job, last + row.silent_after), 0);
    EXPECT_EQ(SilentSeconds(job, last + row.silent_after + 0.5), row.silent_after + 0.5);
  }
}

TEST(Silence, EndsWithAnyReport) {
  Job job = Reporting(4);
  EXPECT_GT(SilentSeconds(job, 60), 0);
  ASSERT_TRUE(job.Say(60, Read(M(0), 7)).ok());
  EXPECT_EQ(SilentSeconds(job, 61), 0);
}

TEST(Silence, IsPublishedFromTheStartOfTheMaster) {
  EXPECT_EQ(facts::SilentSince(At(10), absl::InfinitePast(), At(50)), At(10));
  EXPECT_EQ(facts::SilentSince(At(10), At(40), At(50)), At(40));
  EXPECT_EQ(facts::SilentSince(At(10), At(60), At(50)), At(50)) << "never in the future";
}

TEST(Silence, WidensTheRemainingTimeAndRaisesTheMedianToItsOwnLength) {
  const Range left = {absl::Seconds(100), absl::Seconds(80), absl::Seconds(150)};
  const auto during = [&](int seconds, int listened) {
    return facts::WidenForSilence(left, absl::Seconds(seconds - 10), absl::Seconds(seconds),
                                  absl::Seconds(listened));
  };
  EXPECT_EQ(during(40, 40),
            (Range{absl::Seconds(100), absl::Seconds(50), absl::Seconds(150 + 19 * 40)}));
  EXPECT_EQ(during(210, 210),
            (Range{absl::Seconds(210), absl::ZeroDuration(), absl::Seconds(150 + 19 * 210)}));
  EXPECT_EQ(during(210, 5),
            (Range{absl::Seconds(100), absl::ZeroDuration(), absl::Seconds(150 + 19 * 210)}))
      << "the master was down for most of the silence";
  EXPECT_EQ(facts::WidenForSilence({absl::Seconds(100)}, {}, absl::Seconds(10), absl::Seconds(10)),
            (Range{absl::Seconds(100), absl::Seconds(100), absl::Seconds(100 + 19 * 10)}));
  EXPECT_EQ(facts::WidenForSilence({absl::Seconds(4)}, {}, {}, absl::Seconds(10)),
            (Range{absl::Seconds(10), absl::Seconds(4), absl::Seconds(10)}))
      << "no upper bound is below the median";
}

TEST(Silence, BeginsAfterTenSecondsWithoutARunningTask) {
  Job job = Reporting(1);
  ASSERT_TRUE(job.Say(10, Finished(M(0))).ok());
  EXPECT_EQ(SilentSeconds(job, 10 + 10), 0);
  EXPECT_EQ(SilentSeconds(job, 10 + 11), 11);
}

TEST(Silence, AnOutageIsNotAReportInterval) {
  Job job = Reporting(1, 4);
  // After 90 s, the source sends all waiting events.
  for (int i = 0; i < 90; ++i) ASSERT_TRUE(job.Say(94 + 0.001 * i, Read(M(0), 7)).ok());
  for (int i = 1; i < 5; ++i) ASSERT_TRUE(job.Say(95 + i, Read(M(0), 7)).ok());
  EXPECT_EQ(SilentSeconds(job, 99 + 4), 4);
}

TEST(Silence, AJobBeforeItsOpeningOrAfterItsEndIsNotSilent) {
  EXPECT_EQ(SilentSeconds(Job(), 100), 0);
  Job job = Reporting(1);
  ASSERT_TRUE(job.Say(11, Closed()).ok());
  EXPECT_EQ(SilentSeconds(job, 100), 0);
}

// A job with one task that reported every second until 10 s.
struct MonitoredTask : test::MonitoredJob {
  MonitoredTask() {
    Fold({{0, Opened(2, 1)}, {0, Started(M(0))}});
    for (int i = 1; i <= 10; ++i) Say(i, Read(M(0), 7));
  }
};

TEST(Silence, IsPublishedUntilTheJobIsAbandoned) {
  MonitoredTask job;
  EXPECT_EQ(SilentFor(job.Tick(12)), absl::ZeroDuration());
  EXPECT_EQ(SilentFor(job.Tick(22)), absl::Seconds(12));
  const Snapshot final = job.Tick(10 + 15 * 60 + 1);
  EXPECT_EQ(final.state, JobState::kAbandoned);
  EXPECT_EQ(SilentFor(final), absl::ZeroDuration());
}

TEST(Silence, CountsFromARestartOfTheMasterOrTheLastReportAfterIt) {
  MonitoredTask silent;
  silent.monitor.NoteRestart(At(100));
  EXPECT_EQ(silent.Tick(102).silent_since, At(100));
  EXPECT_EQ(SilentFor(silent.Tick(400)), absl::Seconds(300));
  silent.Say(402, Read(M(0), 7));
  EXPECT_EQ(silent.Tick(403).silent_since, std::nullopt);
  MonitoredTask reporting;
  reporting.monitor.NoteRestart(At(5));
  EXPECT_EQ(reporting.Tick(22).silent_since, At(10));
}

TEST(Silence, WithoutAMasterAbandonsNoJob) {
  MonitoredTask job;
  job.monitor.NoteRestart(At(10'000));
  EXPECT_EQ(job.Tick(10'000 + 15 * 60).state, JobState::kRunning);
  EXPECT_EQ(job.Tick(10'000 + 15 * 60 + 1).state, JobState::kAbandoned);
}

TEST(Silence, OfTheOpenRunIsNamedToAnotherRun) {
  MonitoredTask job;
  Event other = Source("other").At(11, Opened(2, 1));
  other.run_uid = "b";
  EXPECT_THAT(std::string(job.monitor.CheckRun(other).message()), HasSubstr("is still running"));
  other.arrived_at = At(60.5);
  EXPECT_THAT(std::string(job.monitor.CheckRun(other).message()),
              HasSubstr("has not ended or reported for 50 s and will be considered abandoned in 14 "
                        "min 10 s; wait until then, or use another id"));
  job.monitor.NoteRestart(At(1000));
  other.arrived_at = At(1001);
  EXPECT_THAT(std::string(job.monitor.CheckRun(other).message()),
              HasSubstr("has not ended or reported since the master started, 1 s ago and will be "
                        "considered abandoned in 14 min 59 s; wait"));
}

}  // namespace
}  // namespace tidemark
