#include "master/service/job_table.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/time/clock.h"
#include "proto/wire/encode_event.h"
#include "tests/barrier.h"
#include "tests/facts/events.h"
#include "tests/monitor/estimates.h"
#include "tests/scratch_directory.h"
#include "tests/service/published.h"
#include "tests/test.h"

namespace tidemark::service::job_table_test {
namespace {

using test::AllOf;
using test::IdsOf;
using test::Values;

// An attempt_changed without content.
const std::string kMalformed("\x2a\x00", 2);

absl::Status Ingest(JobTable& jobs, const Event& event) {
  return jobs.Ingest(wire::EncodeEvent(event), event.arrived_at).status;
}
absl::Status IngestMalformed(JobTable& jobs, const Event& event) {
  wire::ReceivedEvent malformed = wire::EncodeEvent(event);
  malformed.body = kMalformed;
  return jobs.Ingest(malformed, event.arrived_at).status;
}

JobTableOptions WithTicks(absl::Duration at_least, absl::Duration at_most) {
  return {.pace = {.interval = at_least, .interval_min = at_most}};
}

// Returns a source for each job, by its id.
Source SourceOf(const std::string& job_id) { return Source("app-master", job_id); }

void Open(JobTable& jobs, const std::string& job_id, double seconds = 0) {
  EXPECT_TRUE(Ingest(jobs, SourceOf(job_id).At(seconds, Opened(1, 1))).ok());
}

// Opens a job and ends it.
void OpenAndEnd(JobTable& jobs, const std::string& job_id, double seconds = 0) {
  Source source = SourceOf(job_id);
  EXPECT_TRUE(Ingest(jobs, source.At(seconds, Opened(1, 1))).ok());
  EXPECT_TRUE(Ingest(jobs, source.At(seconds, Closed())).ok());
  jobs.TickDue(At(seconds));
  EXPECT_EQ(jobs.Newest(job_id)->state, JobState::kSucceeded);
}

// --- jobs

TEST(JobTable, HasNoJobAtFirst) {
  JobHub hub("i", 1);
  const JobTable jobs({.hub = &hub});
  EXPECT_EQ(jobs.Newest("job-1"), nullptr);
  EXPECT_TRUE(IdsOf(hub).empty());
}

TEST(JobTable, AJobExistsAfterItIsOpened) {
  JobTable jobs({});
  EXPECT_TRUE(absl::IsFailedPrecondition(Ingest(jobs, Source().At(0, Started(M(0))))));
  EXPECT_EQ(jobs.Newest("job-1"), nullptr);
  Open(jobs, "job-1", 3);
  const auto snapshot = jobs.Newest("job-1");
  ASSERT_NE(snapshot, nullptr);
  EXPECT_EQ(snapshot->state, JobState::kRunning);
  EXPECT_EQ(snapshot->at, At(3));
}

JobTableOptions WithDeadlines() {
  return {.deadline_of = [](const std::string& name, absl::Time now) {
    return name == "nightly" ? std::optional(now + absl::Hours(2)) : std::nullopt;
  }};
}

TEST(JobTable, AJobWithoutADeadlineGetsTheDeadlineOfItsName) {
  JobTable jobs(WithDeadlines());
  const auto open = [&](const std::string& id, JobOpened opened) {
    EXPECT_TRUE(Ingest(jobs, SourceOf(id).At(3, std::move(opened))).ok());
    jobs.TickDue(At(4));
    return jobs.Newest(id)->deadline;
  };
  EXPECT_EQ(open("a", {.name = "nightly"}), At(3) + absl::Hours(2));
  EXPECT_EQ(open("b", {.name = "nightly", .deadline = At(50)}), At(50));
  EXPECT_EQ(open("c", {.name = "daily"}), std::nullopt);
  EXPECT_EQ(open("d", {}), std::nullopt);
}

TEST(JobTable, AJobThatIsOpenedAgainKeepsItsDeadline) {
  JobTable jobs(WithDeadlines());
  Source source = SourceOf("a");
  for (const int at : {3, 300}) {
    EXPECT_TRUE(Ingest(jobs, source.At(at, JobOpened{.name = "nightly"})).ok());
    jobs.TickDue(At(at + 1));
    EXPECT_EQ(jobs.Newest("a")->deadline, At(3) + absl::Hours(2));
  }
  EXPECT_EQ(jobs.Newest("a")->coverage->anomalies, 0U);
}

TEST(JobTable, AUserReplacesADeadlineAndEndsNoSilence) {
  JobTable jobs({});
  EXPECT_TRUE(Ingest(jobs, SourceOf("a").At(3, JobOpened{.deadline = At(50)})).ok());
  jobs.TickDue(At(300));
  const auto silent_since = jobs.Newest("a")->silent_since;
  EXPECT_TRUE(silent_since.has_value());
  EXPECT_TRUE((*jobs.SetDeadline("a", At(900), At(301), nullptr)).ok());
  jobs.TickDue(At(302));
  EXPECT_EQ(jobs.Newest("a")->deadline, At(900));
  EXPECT_EQ(jobs.Newest("a")->silent_since, silent_since);
}

TEST(JobTable, ADeadlineThatCannotBeSetIsAnError) {
  JobTable jobs({});
  Source source = Source("users of the master", "a");
  Event last = source.At(3, JobOpened{.name = "nightly"});
  last.sequence = std::numeric_limits<std::uint64_t>::max();
  EXPECT_TRUE(Ingest(jobs, last).ok());
  EXPECT_FALSE((*jobs.SetDeadline("a", At(900), At(301), nullptr)).ok());
}

TEST(JobTable, RemainingStagesBelongToTheTickOfTheirSnapshot) {
  JobTable jobs({});
  Source source = SourceOf("job-1");
  EXPECT_EQ(jobs.GetRunning("job-1").snapshot, nullptr);
  EXPECT_TRUE(Ingest(jobs, source.At(0, Opened(4, 0))).ok());
  for (const std::uint32_t i : {0U, 1U})
    EXPECT_TRUE(Ingest(jobs, source.At(0, Started(M(i)))).ok());
  EXPECT_TRUE(Ingest(jobs, source.At(5, Finished(M(0)))).ok());
  jobs.TickDue(At(5));
  ASSERT_NE(jobs.GetRunning("job-1").left, nullptr);
  EXPECT_EQ(jobs.GetRunning("job-1").snapshot, jobs.Newest("job-1"));
  EXPECT_TRUE(Ingest(jobs, source.At(6, Closed())).ok());
  EXPECT_NE(jobs.GetRunning("job-1").left, nullptr) << "no newer tick is published";
  jobs.TickDue(At(6));
  EXPECT_TRUE(jobs.GetRunning("job-1").snapshot->is_final);
  EXPECT_EQ(jobs.GetRunning("job-1").left, nullptr);
}

TEST(JobTable, ListsTheNewestJobFirst) {
  JobHub hub("i", 1);
  JobTable jobs({.hub = &hub});
  Open(jobs, "b", 1);
  Open(jobs, "a", 2);
  Open(jobs, "c", 3);
  EXPECT_THAT(IdsOf(hub), ElementsAre("c", "a", "b"));
}

TEST(JobTable, JobsAreIndependent) {
  JobTable jobs({});
  Open(jobs, "a");
  OpenAndEnd(jobs, "b", 5);
  EXPECT_EQ(jobs.Newest("a")->state, JobState::kRunning);
  EXPECT_EQ(jobs.Newest("a")->coverage->lost_events, 0u) << "sequences count within a job";
  EXPECT_EQ(jobs.Newest("b")->state, JobState::kSucceeded);
}

TEST(JobTable, EvictsTheOldestEndedJob) {
  JobHub hub("i", 1);
  JobTable jobs({.jobs_max = 3, .hub = &hub});
  Open(jobs, "running");
  OpenAndEnd(jobs, "old");
  OpenAndEnd(jobs, "new", 10);
  Open(jobs, "newest", 20);
  EXPECT_THAT(IdsOf(hub), ElementsAre("newest", "new", "running"));
}

TEST(JobTable, RejectsAJobWhenAllRun) {
  JobHub hub("i", 1);
  JobTable jobs({.jobs_max = 2, .hub = &hub});
  Open(jobs, "a");
  Open(jobs, "b");
  const absl::Status status = Ingest(jobs, SourceOf("c").At(0, Opened(1, 1)));
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("at most 2 jobs at once"));
  EXPECT_THAT(IdsOf(hub), ElementsAre("b", "a"));
}

TEST(JobTable, ARejectedJobTakesNoPlace) {
  JobHub hub("i", 1);
  JobTable jobs({.jobs_max = 1, .hub = &hub});
  OpenAndEnd(jobs, "ended");
  EXPECT_TRUE(absl::IsResourceExhausted(Ingest(jobs, SourceOf("giant").At(0, Opened(900'000, 1)))));
  EXPECT_THAT(IdsOf(hub), ElementsAre("ended"));
}

TEST(JobTable, TheIdOfAnEndedJobCannotBeReused) {
  JobTable jobs({});
  OpenAndEnd(jobs, "job-1");
  const absl::Status status = Ingest(jobs, Source("other").At(9, Opened(1, 1)));
  EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(status.message()), HasSubstr("open the new run under another id"));
}

TEST(JobTable, ResendingTheEventsOfAnEndedJobIsHarmless) {
  JobTable jobs({});
  OpenAndEnd(jobs, "job-1");
  const Snapshot before = *jobs.Newest("job-1");
  EXPECT_TRUE(Ingest(jobs, Source().At(9, Opened(1, 1))).ok());  // sequence number 1 again
  EXPECT_TRUE(jobs.TickDue(At(100)).empty());
  EXPECT_EQ(*jobs.Newest("job-1"), before);
}

// --- runs of a job id

// Returns a source for a run of job-1. The sources of both runs have the same names, which is the
// worst case.
Source OfRun(const std::string& run_uid, const std::string& source_id = "app-master") {
  return Source(source_id, "job-1", run_uid);
}

// Opens and ends the run within one second.
void EndRun(JobTable& jobs, Source& run) {
  EXPECT_TRUE(Ingest(jobs, run.At(0, Opened(1, 1))).ok());
  EXPECT_TRUE(Ingest(jobs, run.At(1, Closed())).ok());
}

TEST(JobTable, AnotherRunOfAnEndedJobIsWatchedFromItsBeginning) {
  JobHub hub("i", 1);
  JobTable jobs({.hub = &hub});
  Source first = OfRun("a");
  EndRun(jobs, first);
  const PublishedJob ended = jobs.TickDue(At(1)).at(0);
  EXPECT_EQ(ended.newest->state, JobState::kSucceeded);
  EXPECT_EQ(ended.newest->run_uid, "a");

  EXPECT_TRUE(Ingest(jobs, OfRun("b").At(9, Opened(7, 1))).ok());
  EXPECT_EQ(jobs.Newest("job-1")->state, JobState::kRunning);
  const auto ticked = jobs.TickDue(At(10));
  ASSERT_EQ(ticked.size(), 1u);
  EXPECT_NE(ticked[0].run, ended.run) << "a resume token of the first run is told so";
  const Snapshot& newest = *ticked[0].newest;
  EXPECT_EQ(newest.run_uid, "b");
  EXPECT_EQ(newest.sequence, 1u);
  EXPECT_EQ(newest.started_at, At(9));
  EXPECT_EQ(newest.stages.at(0).tasks, 7u);
  EXPECT_EQ(Values(AllOf(hub)), Values(ticked)) << "one id, one job";
}

TEST(JobTable, RejectsAnotherRunWhileTheFirstRuns) {
  JobTable jobs(WithTicks(absl::Seconds(1), absl::Seconds(1)));
  Source first = OfRun("a");
  EXPECT_TRUE(Ingest(jobs, first.At(0, Opened(1, 1))).ok());
  jobs.TickDue(At(0));
  Source second = OfRun("b", "other");
  const absl::Status refused = Ingest(jobs, second.At(2, Opened(7, 7)));
  EXPECT_TRUE(absl::IsAlreadyExists(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()),
              AllOf(HasSubstr("another run of job job-1, started at 2023-11-14 22:13:20 UTC"),
                    HasSubstr("use another id")));
  EXPECT_TRUE(absl::IsFailedPrecondition(Ingest(jobs, second.At(3, Started(M(0))))));
  EXPECT_TRUE(absl::IsFailedPrecondition(Ingest(jobs, second.At(4, Closed()))));
  EXPECT_FALSE(IngestMalformed(jobs, second.At(4, Started(M(0)))).ok());

  const Snapshot shown = *jobs.TickDue(At(5)).at(0).newest;
  EXPECT_EQ(shown.state, JobState::kRunning);
  EXPECT_EQ(shown.run_uid, "a");
  EXPECT_EQ(shown.stages.at(0).tasks, 1u);
  EXPECT_EQ(shown.stages.at(0).running_tasks, 0u);
  EXPECT_EQ(shown.coverage->newest_event_at, At(0)) << "the reports of a stranger are no news";
  EXPECT_EQ(shown.coverage->rejected_events, 0u);
}

TEST(JobTable, ARestartedApplicationMasterContinuesItsRun) {
  JobTable jobs({});
  EXPECT_TRUE(Ingest(jobs, OfRun("a", "attempt 1").At(0, Opened(3))).ok());
  Source second = OfRun("a", "attempt 2");
  EXPECT_TRUE(Ingest(jobs, second.At(60, Opened(3, 2))).ok());
  EXPECT_TRUE(Ingest(jobs, second.At(61, Started(M(1)))).ok());
  const Snapshot shown = *jobs.TickDue(At(61)).at(0).newest;
  EXPECT_EQ(shown.started_at, At(0));
  EXPECT_EQ(shown.stages.at(0).running_tasks, 1u);
  EXPECT_TRUE(Ingest(jobs, second.At(62, Closed())).ok());
  jobs.TickDue(At(62));
  const absl::Status late = Ingest(jobs, OfRun("a", "attempt 3").At(63, Opened(3, 2)));
  EXPECT_TRUE(absl::IsAlreadyExists(late)) << "a run that has ended is not opened again: " << late;
  EXPECT_EQ(jobs.Newest("job-1")->state, JobState::kSucceeded);
}

TEST(JobTable, IgnoresLateReportsOfAnEarlierRun) {
  JobTable jobs({});
  Source first = OfRun("a");
  EndRun(jobs, first);
  jobs.TickDue(At(1));
  EXPECT_TRUE(Ingest(jobs, OfRun("b").At(9, Opened(1, 1))).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(Ingest(jobs, OfRun("a", "task").At(10, Started(M(0))))));
  EXPECT_TRUE(absl::IsAlreadyExists(Ingest(jobs, first.At(10, Opened(1, 1)))));
  EXPECT_EQ(jobs.TickDue(At(10)).at(0).newest->stages.at(0).running_tasks, 0u);
}

TEST(JobTable, ASenderWithoutARunReportsOnTheRunningOne) {
  JobTable jobs({});
  EXPECT_TRUE(Ingest(jobs, OfRun("a").At(0, Opened(1, 1))).ok());
  Source old = Source("task of 0.1");
  EXPECT_TRUE(Ingest(jobs, old.At(1, Opened(1, 1))).ok());
  EXPECT_TRUE(Ingest(jobs, old.At(1, Started(M(0)))).ok());
  EXPECT_EQ(jobs.TickDue(At(1)).at(0).newest->stages.at(0).running_tasks, 1u);
}

TEST(JobTable, ANamedRunMayFollowAnUnnamedOne) {
  JobTable jobs({});
  Open(jobs, "job-1");
  EXPECT_TRUE(absl::IsAlreadyExists(Ingest(jobs, OfRun("b", "other").At(1, Opened(1, 1)))));
  EXPECT_TRUE(absl::IsAlreadyExists(Ingest(jobs, OfRun("b").At(1, Opened(1, 1))))) << "same source";
  Source old;
  old.At(0, Opened());
  EXPECT_TRUE(Ingest(jobs, old.At(2, Closed())).ok());
  jobs.TickDue(At(2));
  EXPECT_TRUE(Ingest(jobs, OfRun("b").At(3, Opened(1, 1))).ok());
  EXPECT_EQ(jobs.Newest("job-1")->state, JobState::kRunning);
}

// --- locks

// Blocks the first estimate of jobs with a name until it is released.
class BlockedEstimate : public test::Barrier {
 public:
  explicit BlockedEstimate(std::string name) : name_(std::move(name)) {}
  auto PastRuns() {
    return [this](const std::string& name, const store::Reported&) {
      if (name == name_) Pass();
      return std::vector<PastRun>();
    };
  }

 private:
  const std::string name_;
};

TEST(JobTable, OpeningAJobAtTheLimitWaitsForNoOther) {
  BlockedEstimate busy("busy");
  JobHub hub("i", 1);
  JobTable jobs({.jobs_max = 2, .past_runs = busy.PastRuns(), .hub = &hub});
  OpenAndEnd(jobs, "ended");
  EXPECT_TRUE(Ingest(jobs, SourceOf("busy").At(
                               1, JobOpened{.name = "busy", .stages = MapReduceStages({}, {})}))
                  .ok());
  std::thread ticking([&] { jobs.TickDue(At(2)); });  // This thread holds the lock of the job.
  busy.AwaitReached();
  auto opened = std::async(std::launch::async,
                           [&] { return Ingest(jobs, SourceOf("new").At(3, Opened(1, 1))); });
  // Takes this long only if the test fails.
  EXPECT_EQ(opened.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  busy.Open();
  EXPECT_TRUE(opened.get().ok());
  ticking.join();
  EXPECT_THAT(IdsOf(hub), ElementsAre("new", "busy"));
}

// --- events

TEST(JobTable, CountsMalformedEventsOfAJob) {
  JobTable jobs({});
  Open(jobs, "job-1");
  EXPECT_TRUE(absl::IsInvalidArgument(IngestMalformed(jobs, Source("other").At(1, Started(M(0))))));
  EXPECT_EQ(jobs.TickDue(At(1)).back().newest->coverage->rejected_events, 1u);
}

TEST(JobTable, AcceptsAnEventOfANewerVersionAndNotesIt) {
  JobTable jobs({});
  Open(jobs, "job-1");
  EXPECT_TRUE(Ingest(jobs, Source("agent").At(1, UnknownEvent{})).ok());
  const Snapshot shown = *jobs.TickDue(At(1)).back().newest;
  EXPECT_EQ(shown.coverage->rejected_events, 0u);
  EXPECT_EQ(shown.coverage->lost_events, 0u);
  EXPECT_THAT(shown.notes, ElementsAre("ignored 1 report from a newer version of Tidemark; "
                                       "update the master"));
}

TEST(JobTable, AnEventRefusedAtParsingIsNotLost) {
  JobTable jobs({});
  Open(jobs, "job-1");
  Source source("agent");
  for (int i = 0; i < 3; ++i) {
    wire::ReceivedEvent event = wire::EncodeEvent(source.At(1, Started(M(0))));
    if (i == 1) event.body = kMalformed;
    for (int send = 0; send < 2; ++send) {
      EXPECT_EQ(jobs.Ingest(event, At(1)).status.ok(), i != 1);
    }
  }
  const Coverage coverage = *jobs.TickDue(At(1)).back().newest->coverage;
  EXPECT_EQ(coverage.rejected_events, 1u);
  EXPECT_EQ(coverage.lost_events, 0u);
}

TEST(JobTable, RefusesAMalformedEventOfNoJob) {
  JobHub hub("i", 1);
  JobTable jobs({.hub = &hub});
  EXPECT_TRUE(absl::IsInvalidArgument(jobs.Ingest({}, At(0)).status));
  EXPECT_TRUE(IdsOf(hub).empty());
}

TEST(JobTable, ReturnsTheSizeOfTheSmallestExplicitKey) {
  JobTable jobs({});
  Source source;
  EXPECT_TRUE(Ingest(jobs, source.At(0, Opened(1, 1))).ok());
  EXPECT_TRUE(Ingest(jobs, source.At(1, Emitted(M(0), {Partition(0, 90, {Key(1, 50)})}))).ok());
  EXPECT_EQ(jobs.Ingest(wire::EncodeEvent(source.At(1, Finished(M(0)))), At(1)).wanted.bytes_min,
            50u);
}

// --- ticks

TEST(JobTable, TicksARunningJobAtLeastOncePerInterval) {
  JobTable jobs(WithTicks(absl::Seconds(10), absl::Seconds(1)));
  Open(jobs, "job-1");
  EXPECT_EQ(jobs.TickDue(At(0)).size(), 1u);
  EXPECT_EQ(jobs.TickDue(At(9)).size(), 0u);
  EXPECT_EQ(jobs.TickDue(At(10)).size(), 1u);
}

TEST(JobTable, TicksAJobWithNewsAtMostOncePerShortInterval) {
  JobTable jobs(WithTicks(absl::Seconds(10), absl::Seconds(1)));
  Source source;
  EXPECT_TRUE(Ingest(jobs, source.At(0, Opened(1, 1))).ok());
  EXPECT_EQ(jobs.TickDue(At(0)).size(), 1u);
  EXPECT_TRUE(Ingest(jobs, source.At(0.5, Started(M(0)))).ok());
  EXPECT_EQ(jobs.TickDue(At(0.5)).size(), 0u);
  EXPECT_EQ(jobs.TickDue(At(1)).size(), 1u);
  EXPECT_EQ(jobs.TickDue(At(2)).size(), 0u) << "no more news";
}

TEST(JobTable, GivesTheNewestSnapshotOfTheTick) {
  JobHub hub("i", 1);
  JobTable jobs({.hub = &hub});
  Open(jobs, "job-1");
  const std::vector<Snapshot> published = Values(jobs.TickDue(At(1)));
  ASSERT_EQ(published.size(), 1u);
  EXPECT_EQ(*jobs.Newest("job-1"), published[0]);
  EXPECT_EQ(Values(AllOf(hub)), published);
}

// Returns options with which jobs that have a name have a past run of 40 s. `asked` collects the
// names.
JobTableOptions WithPastRuns(std::vector<std::string>& asked) {
  JobTableOptions options = WithTicks(absl::Seconds(1), absl::Seconds(1));
  options.past_runs = [&asked](const std::string& name, const store::Reported&) {
    asked.push_back(name);
    std::vector<PastRun> runs;
    if (!name.empty()) {
      runs.push_back({.map_time = absl::Seconds(10), .reduce_time = absl::Seconds(30)});
    }
    return runs;
  };
  return options;
}

double SecondsLeft(const JobTable& jobs) {
  const Estimate forecast = jobs.Newest("job-1")->estimate;
  return absl::ToDoubleSeconds(Left(forecast).value_or(absl::ZeroDuration()));
}

TEST(JobTable, AJobWithPastRunsIsForecastFromItsFirstSnapshotOn) {
  std::vector<std::string> asked;
  JobTable jobs(WithPastRuns(asked));
  Open(jobs, "job-1");
  jobs.TickDue(At(1));
  EXPECT_EQ(jobs.Newest("job-1")->estimate.state, EstimateState::kValid);
  EXPECT_NEAR(SecondsLeft(jobs), 39, 1e-6);
  jobs.TickDue(At(3));
  EXPECT_THAT(asked, ElementsAre(Opened(1, 1).name));
}

TEST(JobTable, AJobWhoseNameIsReportedLateIsForecastFromItsPastRuns) {
  std::vector<std::string> asked;
  JobTable jobs(WithPastRuns(asked));
  Source task("task");
  ASSERT_TRUE(Ingest(jobs, task.At(0, JobOpened{.stages = MapReduceStages(1, 1)})).ok());
  jobs.TickDue(At(1));
  EXPECT_NE(jobs.Newest("job-1")->estimate.state, EstimateState::kValid);
  Source app;
  ASSERT_TRUE(Ingest(jobs, app.At(2, Opened(1, 1))).ok());
  for (const double seconds : {3, 5}) jobs.TickDue(At(seconds));
  EXPECT_THAT(asked, ElementsAre("", Opened(1, 1).name));
  EXPECT_NEAR(SecondsLeft(jobs), 35, 1);
}

TEST(JobTable, PublishesTheFinalSnapshotOnce) {
  JobTable jobs({});
  OpenAndEnd(jobs, "job-1");
  EXPECT_TRUE(jobs.TickDue(At(1000)).empty());
}

TEST(JobTable, EndsAJobWithoutReports) {
  JobTable jobs({});
  Open(jobs, "job-1");
  jobs.TickDue(At(0));
  EXPECT_EQ(jobs.TickDue(At(3600)).back().newest->state, JobState::kAbandoned);
}

// The ticking thread has read the clock before the thread that received the event.
TEST(JobTable, InstantsThatCrossBetweenThreadsDoNotGoBack) {
  JobTable jobs({});
  Open(jobs, "job-1", 5);
  EXPECT_EQ(jobs.TickDue(At(4.9)).back().newest->at, At(5));
}

// --- event logs

class JobTableLog : public ::testing::Test {
 protected:
  // Returns the snapshots of a replay of the job's log.
  std::vector<Snapshot> Replayed(const std::string& job_id) const {
    std::vector<Snapshot> snapshots;
    auto reader = store::EventLogReader::Open(store::EventLogPath(options_.event_log_dir, job_id));
    EXPECT_TRUE(reader.ok()) << reader.status();
    if (!reader.ok()) return snapshots;
    JobMonitor monitor((*reader)->job_id(), (*reader)->options());
    for (auto record = (*reader)->Next(); record.ok() && record->has_value();
         record = (*reader)->Next()) {
      if (auto snapshot = store::Replay(**record, monitor)) snapshots.push_back(*snapshot);
    }
    return snapshots;
  }

  const test::ScratchDirectory directory_;
  JobTableOptions options_ = {.event_log_dir = directory_.path()};
};

TEST_F(JobTableLog, ReplaysToTheSameSnapshots) {
  JobTable jobs(options_);
  std::vector<Snapshot> live;
  const auto tick = [&](double seconds) {
    for (const Snapshot& snapshot : Values(jobs.TickDue(At(seconds)))) live.push_back(snapshot);
  };
  Source source;
  EXPECT_TRUE(Ingest(jobs, source.At(0, Opened(1, 1))).ok());
  tick(0);
  EXPECT_TRUE(Ingest(jobs, source.At(5, Started(M(0), 100))).ok());
  EXPECT_FALSE(jobs.Ingest({.job_id = "job-1"}, At(5)).status.ok());
  EXPECT_FALSE(IngestMalformed(jobs, source.At(5, Started(M(0)))).ok());
  // The threads have read the clock in the opposite order.
  EXPECT_TRUE(Ingest(jobs, source.At(3, test::Read(M(0), 40))).ok());
  EXPECT_FALSE(Ingest(jobs, source.At(7, Started(M(9)))).ok());
  tick(8);
  EXPECT_TRUE(Ingest(jobs, source.At(9, Closed())).ok());
  tick(10);
  ASSERT_EQ(live.size(), 3u);
  EXPECT_EQ(live.back().coverage->rejected_events, 3u);
  EXPECT_EQ(live.back().coverage->lost_events, 0u);
  EXPECT_EQ(Replayed("job-1"), live);
}

// Without a log, the same events give the same snapshots.
TEST_F(JobTableLog, EventsOfThisProcessAreLoggedLikeReceivedOnes) {
  JobTable logged(options_);
  JobTable unlogged({});
  std::vector<Snapshot> live;
  Source source;
  const Event events[] = {source.At(0, Opened(1, 1)),         source.At(5, Started(M(0), 100)),
                          source.At(6, test::Read(M(0), 40)), source.At(7, Started(M(9))),
                          source.At(8, GroupOpened{}),        source.At(9, Closed())};
  for (const Event& event : events) {
    const absl::Status status = logged.IngestLocal(event, event.arrived_at).status;
    EXPECT_EQ(unlogged.IngestLocal(event, event.arrived_at).status, status);
    logged.TickDue(event.arrived_at);
    unlogged.TickDue(event.arrived_at);
    live.push_back(*logged.Newest("job-1"));
    EXPECT_EQ(*unlogged.Newest("job-1"), live.back());
  }
  EXPECT_TRUE(live.back().is_final);
  EXPECT_EQ(live.back().coverage->rejected_events, 2u);
  EXPECT_EQ(live.back().coverage->lost_events, 0u);
  EXPECT_EQ(Replayed("job-1").back(), live.back());
}

TEST_F(JobTableLog, AJobWithAnUnwritableLogContinuesWithANote) {
  options_.event_log_dir += "/gone";
  JobTable jobs(options_);
  Open(jobs, "job-1");
  const std::vector<Snapshot> ticked = Values(jobs.TickDue(At(1)));
  ASSERT_EQ(ticked.size(), 1u);
  EXPECT_THAT(ticked[0].notes,
              ElementsAre(AllOf(HasSubstr("the event log ends here"), HasSubstr("gone"))));
}

TEST_F(JobTableLog, ARejectedJobLeavesNoLog) {
  JobTable jobs(options_);
  EXPECT_FALSE(Ingest(jobs, Source().At(0, Opened(900'000, 1))).ok());
  EXPECT_TRUE(std::filesystem::is_empty(options_.event_log_dir));
}

// --- heavy jobs

// Opens a job that takes some megabytes, so its first estimate is heavy.
void OpenLarge(JobTable& jobs, const std::string& job_id, const std::string& name) {
  JobOpened opened{.name = name};
  for (std::uint32_t stage = 0; stage < 6; ++stage) {
    opened.stages.push_back({.stage = stage,
                             .kind = StageKind::kGeneric,
                             .task_count = 100'000,
                             .task_bytes = std::vector<std::uint64_t>(100'000, 1)});
  }
  EXPECT_TRUE(Ingest(jobs, SourceOf(job_id).At(0, std::move(opened))).ok());
}

TEST(JobTable, AHeavyEstimateDelaysNeitherSnapshotsOfOthersNorThreadsThatServeThem) {
  BlockedEstimate huge("huge");
  JobTableOptions options = WithTicks(absl::ZeroDuration(), absl::ZeroDuration());
  options.past_runs = huge.PastRuns();
  options.has_heavy_thread = true;
  JobTable jobs(std::move(options));
  OpenLarge(jobs, "huge-1", "huge");
  Open(jobs, "calm", 0);
  EXPECT_THAT(Values(jobs.TickDue(At(1))),
              ElementsAre(::testing::Field(&Snapshot::job_id, "calm")));
  huge.AwaitReached();

  // The estimate of this job runs and blocks.
  int calls = 0;
  Source task("task", "huge-1");
  const auto event = wire::EncodeEvent(task.At(2, test::Read(M(0), 1)));
  EXPECT_FALSE(jobs.IngestUnlessBusy(event, At(2), {}, [&] { ++calls; }));
  EXPECT_FALSE(jobs.ListTasks("huge-1", {}, At(2), [&] { ++calls; }));
  EXPECT_FALSE(jobs.ListForecasts("huge-1", [&] { ++calls; }));
  EXPECT_EQ(jobs.Newest("huge-1")->sequence, 0u) << "what is published is known all the same";
  Source source = SourceOf("calm");
  source.At(0, Opened(1, 1));
  for (int i = 2; i < 5; ++i) {
    EXPECT_TRUE(Ingest(jobs, source.At(i, Started(M(0)))).ok());
    const auto published = Values(jobs.TickDue(At(i)));
    EXPECT_THAT(published, ElementsAre(::testing::Field(&Snapshot::job_id, "calm"))) << i;
  }
  EXPECT_EQ(calls, 0);

  huge.Open();
  for (int i = 5; jobs.Newest("huge-1")->sequence == 0; ++i) jobs.TickDue(At(i));
  EXPECT_EQ(calls, 3) << "the job is free again, and each callback ran";
  EXPECT_TRUE(jobs.IngestUnlessBusy(event, At(2), {}, [&] { ++calls; }));
  EXPECT_TRUE(jobs.ListTasks("huge-1", {}, At(9), [&] { ++calls; }));
  EXPECT_TRUE(jobs.ListForecasts("huge-1", [&] { ++calls; }));
}

TEST(JobTable, ADiskThatDelaysACheckpointDelaysNoSnapshot) {
  const test::ScratchDirectory directory;
  // The writer of the checkpoint waits until the pipe is read.
  const std::string path =
      store::CheckpointPath(store::EventLogPath(directory.path(), "job-1")) + ".next";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  constexpr int kPipeBytes = 4096;
  ASSERT_EQ(fcntl(reader, F_SETPIPE_SZ, kPipeBytes), kPipeBytes);
  JobTableOptions options = WithTicks(absl::ZeroDuration(), absl::ZeroDuration());
  options.data_dir = directory.path();
  options.disk = store::MakeFileDisk(/*sync=*/false);
  options.checkpoints = {.after = absl::ZeroDuration(), .ticks_over = 0};
  options.has_heavy_thread = true;
  JobTable jobs(std::move(options));
  JobOpened opened = Opened(1, 1);
  opened.name = opened.user = opened.queue = std::string(2000, 'x');
  EXPECT_TRUE(Ingest(jobs, SourceOf("job-1").At(0, std::move(opened))).ok());
  EXPECT_EQ(jobs.TickDue(At(1)).size(), 1u);
  char bytes[kPipeBytes];
  const absl::Time deadline = absl::Now() + absl::Seconds(100);
  while (read(reader, bytes, 1) != 1) {
    ASSERT_LT(absl::Now(), deadline);
    usleep(1000);
  }
  EXPECT_EQ(jobs.TickDue(At(2)).size(), 1u);
  EXPECT_EQ(jobs.TickDue(At(3)).size(), 1u);
  while (read(reader, bytes, sizeof(bytes)) != 0) {
    ASSERT_LT(absl::Now(), deadline);
    usleep(1000);
  }
  close(reader);
}

// Returns tasks on two hosts, sorted by start.
JobTasks Four() {
  JobTasks tasks;
  tasks.hosts = {{.host = "a"}, {.host = "b"}};
  for (const std::uint32_t index : {0, 1, 2, 3}) {
    tasks.tasks.push_back({.attempt = {.index = index},
                           .host = index < 3 ? "a" : "b",
                           .started_at = absl::FromUnixSeconds(index),
                           .remaining = Range{.median = absl::Seconds(1)}});
  }
  return tasks;
}

TEST(EndedTasks, HaveNoPredictedKeyGroups) {
  EndedTasks ended;
  const auto kept = ended.Add(Four()).lock();
  ASSERT_NE(kept, nullptr);
  EXPECT_FALSE(kept->tasks[0].remaining);
}

TEST(EndedTasks, TheOldestListsAreDroppedWhenTheMemoryIsFull) {
  EndedTasks ended(10 * sizeof(TaskProgress));
  const auto first = ended.Add(Four());
  const auto second = ended.Add(Four());
  EXPECT_EQ(first.lock(), nullptr);
  EXPECT_NE(second.lock(), nullptr);
  JobTasks large = Four();
  large.tasks.resize(100);
  EXPECT_EQ(ended.Add(large).lock(), nullptr);
}

TEST(EndedTasks, AreSelectedLikeTasksOfARunningJob) {
  const JobTasks kept = Four();
  EXPECT_THAT(SelectTasks(kept, {}).tasks, SizeIs(4));
  const JobTasks too_many = SelectTasks(kept, {.tasks_max = 3});
  EXPECT_THAT(too_many.tasks, IsEmpty());
  EXPECT_EQ(too_many.tasks_left_out, 4u);
  EXPECT_THAT(too_many.hosts, SizeIs(2));
  JobTasks incomplete = kept;
  incomplete.tasks_left_out = 9;
  EXPECT_THAT(SelectTasks(incomplete, {.tasks_max = 12}).tasks, IsEmpty());
  EXPECT_EQ(SelectTasks(incomplete, {.tasks_max = 12}).tasks_left_out, 13u);
  EXPECT_THAT(SelectTasks(incomplete, {.tasks_max = 13}).tasks, SizeIs(4));
  const JobTasks of_host = SelectTasks(kept, {.host = "a", .tasks_max = 2});
  ASSERT_THAT(of_host.tasks, SizeIs(2));
  EXPECT_EQ(of_host.tasks[0].attempt.index, 1u);
  EXPECT_EQ(of_host.tasks_left_out, 1u);
}

}  // namespace
}  // namespace tidemark::service::job_table_test
