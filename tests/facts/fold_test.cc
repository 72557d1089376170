#include "master/facts/fold.h"

#include "tests/facts/events.h"
#include "tests/test.h"
#include "tidemark/limit.h"

namespace tidemark::facts::fold_test {
namespace {

using test::Failed;
using test::Obsolete;
using test::Read;

// Returns a job with three map tasks and two reduce tasks.
Job OpenJob() {
  Job job;
  EXPECT_TRUE(job.Say(0, Opened(3, 2)).ok());
  return job;
}

class FoldIntoOpenJob : public ::testing::Test {
 protected:
  Job job_ = OpenJob();
};

// --- rejected events

struct Refusal {
  const char* name;
  EventBody body;
  absl::StatusCode code;
  const char* reason;
};

class FoldRefuses : public FoldIntoOpenJob, public ::testing::WithParamInterface<Refusal> {};

TEST_P(FoldRefuses, RejectsAndCountsTheEventOnly) {
  const absl::Status status = job_.Say(1, GetParam().body);
  EXPECT_EQ(status.code(), GetParam().code) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().reason));
  EXPECT_EQ(job_.state.rejected_events, 1u);
  EXPECT_EQ(job_.state.anomalies, 0u);
  EXPECT_EQ(job_.state.sources.at("app-master").accepted_sequence, 2u);
  EXPECT_EQ(job_.state.map_tasks().size(), 3u);
  EXPECT_EQ(job_.state.reduce_tasks().size(), 2u);
  EXPECT_EQ(job_.state.keys.profile_count(), 0u);
}

JobOpened WithPartitions(std::uint32_t partitions) {
  JobOpened opened = Opened();
  test::MapStage(opened).partition_count = partitions;
  return opened;
}

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kExhausted = absl::StatusCode::kResourceExhausted;
constexpr std::uint32_t kHuge = std::numeric_limits<std::uint32_t>::max();

INSTANTIATE_TEST_SUITE_P(
    All, FoldRefuses,
    ::testing::Values(
        Refusal{"AnUnknownMapTask", Started(M(3)), kInvalid,
                "task 3 of stage 0 does not exist: the stage has 3 tasks"},
        Refusal{"AnUnknownReduceTask", Started(R(2)), kInvalid,
                "task 2 of stage 1 does not exist: the stage has 2 tasks"},
        Refusal{"AHeartbeatOfAnUnknownTask", Read(M(9), 1), kInvalid, "task 9 of stage 0"},
        Refusal{"AReduceProfileOfAnUnknownTask", Reduced(R(7), At(1), {}), kInvalid,
                "task 7 of stage 1"},
        Refusal{"AMapProfileOfAnUnknownTask", Emitted(M(5), {}), kInvalid, "task 5 of stage 0"},
        Refusal{"AMapProfileOfAReduceTask", Emitted(R(0), {}), kInvalid,
                "send map profiles of map tasks"},
        Refusal{"AReduceProfileOfAMapTask", Reduced(M(0), At(1), {}), kInvalid,
                "send reduce profiles of reduce tasks"},
        Refusal{"AnUnknownPartition", Emitted(M(0), {Partition(2, 10)}), kInvalid, "partition 2"},
        Refusal{"TooManyMapTasks", Opened(200'001, 1), kExhausted, "200001 map tasks"},
        Refusal{"TooManyReduceTasks", Opened(1, 20'001), kExhausted, "20001 reduce tasks"},
        Refusal{"TooManyPartitions", WithPartitions(kHuge), kExhausted, "partitions"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(Fold, RejectsEventsOfAJobThatIsNotOpen) {
  Job job;
  const absl::Status status = job.Say(0, Started(M(0)));
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("job-1 is not open; send JobOpened first"));
  EXPECT_EQ(job.state.rejected_events, 1u);
  EXPECT_EQ(job.state.sources.at("app-master").accepted_sequence, 1u);
}

TEST(Fold, ADeadlineThatOpensTheJobIsAnArrival) {
  Job job;
  JobOpened opened = Opened(2, 1);
  opened.replaces_deadline = true;
  EXPECT_TRUE(job.Say(3, opened).ok());
  EXPECT_EQ(job.state.last_arrival_at, At(3));
  EXPECT_TRUE(job.Say(5, opened).ok());
  EXPECT_EQ(job.state.last_arrival_at, At(3)) << "users set deadlines of silent jobs";
}

TEST(Fold, AnEventOfAnotherRunChangesNothing) {
  Job job;
  job.source = Source("app-master", "job-1", "a");
  EXPECT_TRUE(job.Say(0, Opened(2, 1)).ok());
  EXPECT_EQ(job.state.run_uid, "a");
  Source other("app-master", "job-1", "b");
  EXPECT_TRUE(absl::IsAlreadyExists(job.Take(other.At(5, Opened(9, 9)))));
  EXPECT_TRUE(absl::IsFailedPrecondition(job.Take(other.At(6, Started(M(0))))));
  EXPECT_EQ(job.state.map_tasks().size(), 2u);
  EXPECT_EQ(job.state.last_arrival_at, At(0));
  EXPECT_EQ(job.state.rejected_events, 0u);
  EXPECT_EQ(job.state.sources.at("app-master").accepted_sequence, 1u);
  Source unsaid("task of 0.1");
  EXPECT_TRUE(job.Take(unsaid.At(7, Started(M(0)))).ok());
}

TEST(Fold, ARejectedJobStaysUnopened) {
  Job job;
  EXPECT_TRUE(absl::IsResourceExhausted(job.Say(0, Opened(200'001, 1))));
  EXPECT_FALSE(job.state.opened.has_value());
  EXPECT_TRUE(job.state.map_tasks().empty());
}

TEST(Fold, RejectsTasksOverTheLimitWhileTheirNumberIsUnknown) {
  Job job;
  job.limits.map_tasks_max = 10;
  job.Fold({{0, Opened()}, {1, Started(M(9))}});
  EXPECT_TRUE(absl::IsResourceExhausted(job.Say(2, Started(M(10)))));
  EXPECT_EQ(job.state.map_tasks().size(), 10u);
}

TEST(Fold, RejectsPartitionsOverTheLimitWhileTheirNumberIsUnknown) {
  Job job;
  job.limits.reduce_tasks_max = 10;
  job.Fold({{0, Opened()}, {1, Emitted(M(0), {Partition(9, 1)})}});
  EXPECT_FALSE(job.Say(2, Emitted(M(1), {Partition(10, 1)})).ok());
}

TEST_F(FoldIntoOpenJob, RejectsAttemptsOverTheLimit) {
  job_.limits.attempts_per_task_max = 2;
  job_.Fold({{1, Started(M(0, 0))}, {2, Started(M(0, 7))}});
  const absl::Status status = job_.Say(3, Started(M(0, 1)));
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("at most 2 attempts per task"));
  EXPECT_TRUE(job_.Say(4, Finished(M(0, 7))).ok()) << "known attempts go on";
}

TEST_F(FoldIntoOpenJob, RejectsSourcesOverTheLimit) {
  job_.limits.sources_max = 2;
  EXPECT_TRUE(job_.Take(Source("m-0").At(1, Started(M(0)))).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(job_.Take(Source("m-1").At(1, Started(M(1))))));
  EXPECT_TRUE(job_.Say(2, Started(M(2))).ok()) << "known sources go on";
  EXPECT_EQ(job_.state.rejected_events, 1u);
  EXPECT_EQ(job_.state.sources.size(), 2u);
}

TEST_F(FoldIntoOpenJob, RejectsAnInfiniteArrival) {
  Event event = job_.source.At(1, Started(M(0)));
  event.arrived_at = absl::InfiniteFuture();
  EXPECT_TRUE(absl::IsInvalidArgument(job_.Take(event)));
  EXPECT_EQ(job_.state.last_arrival_at, At(0));
}

// --- events

TEST_F(FoldIntoOpenJob, IgnoresADuplicateEvent) {
  const Event event = job_.source.At(1, Started(M(0)));
  Event again = event;
  again.body = Started(M(1));
  again.dropped_events = 9;
  EXPECT_TRUE(job_.Take(event).ok());
  EXPECT_TRUE(job_.Take(again).ok());
  EXPECT_FALSE(job_.state.map_tasks()[1].is_running());
  EXPECT_EQ(job_.state.sources.at("app-master").dropped_events, 0u);
  EXPECT_EQ(job_.state.anomalies, 0u);
}

TEST_F(FoldIntoOpenJob, CountsAGapInTheSequenceAsLost) {
  for (int i = 0; i < 3; ++i) job_.source.At(1, Started(M(0)));  // These events never arrive.
  EXPECT_TRUE(job_.Say(2, Started(M(1))).ok());
  EXPECT_EQ(job_.state.lost_events, 3u);
}

TEST_F(FoldIntoOpenJob, ALateEventAfterAGapIsADuplicate) {
  const Event late = job_.source.At(1, Started(M(0)));
  EXPECT_TRUE(job_.Say(2, Started(M(1))).ok());
  EXPECT_TRUE(job_.Take(late).ok());
  EXPECT_FALSE(job_.state.map_tasks()[0].is_running());
  EXPECT_EQ(job_.state.lost_events, 1u);
}

TEST_F(FoldIntoOpenJob, CountsSequencesPerSource) {
  Source other("other");
  EXPECT_TRUE(job_.Take(other.At(1, Started(M(0)))).ok());
  EXPECT_TRUE(job_.Say(1, Started(M(1))).ok());
  EXPECT_EQ(job_.state.lost_events, 0u);
  EXPECT_EQ(job_.state.sources.at("other").accepted_sequence, 1u);
}

TEST_F(FoldIntoOpenJob, TheCountOfLostEventsSaturates) {
  for (const char* source : {"a", "b"}) {
    Event event = Source(source).At(1, Started(M(0)));
    event.sequence = std::numeric_limits<std::uint64_t>::max();
    EXPECT_TRUE(job_.Take(event).ok());
  }
  EXPECT_EQ(job_.state.lost_events, std::numeric_limits<std::uint64_t>::max());
}

TEST_F(FoldIntoOpenJob, KeepsTheLargestCountOfDroppedEvents) {
  for (const std::uint64_t dropped : {4u, 2u}) {
    Event event = job_.source.At(1, Started(M(0)));
    event.dropped_events = dropped;
    EXPECT_TRUE(job_.Take(event).ok());
  }
  EXPECT_EQ(job_.state.sources.at("app-master").dropped_events, 4u);
}

// --- the shape of the job

TEST(Fold, AJobStartsAtItsSubmissionOrElseAtItsFirstEvent) {
  const auto start = [](std::optional<absl::Time> submitted_at) {
    Job job;
    JobOpened opened = Opened(1, 1);
    opened.submitted_at = submitted_at;
    EXPECT_TRUE(job.Say(10, opened).ok());
    return job.state.started_at;
  };
  EXPECT_EQ(start(At(3)), At(3));
  EXPECT_EQ(start(absl::UnixEpoch()), At(10)) << "a submission in 1970 is ignored";
  EXPECT_EQ(start(std::nullopt), At(10));
}

// Returns a job whose opening event is sent at 0 and arrives 0.7 s later. The closing event is sent
// at `closed`.
Job WithSlowOpening(const std::string& run_uid, double closed) {
  Job job;
  job.source = Source("app-master", "job-1", run_uid);
  JobOpened opened = Opened(1, 1);
  opened.submitted_at = At(0);
  Event first = job.source.At(0, opened);
  first.arrived_at = At(0.7);
  EXPECT_TRUE(job.Take(first).ok());
  EXPECT_EQ(job.state.started_at, At(0.7));
  Event last = job.source.At(closed, Closed());
  last.arrived_at = At(10);
  EXPECT_TRUE(job.Take(last).ok());
  EXPECT_EQ(job.state.closed_at, At(10));
  return job;
}

TEST(Fold, ASlowFirstMessageDoesNotShortenAJob) {
  EXPECT_EQ(WithSlowOpening("run-1", 10).state.started_at, At(0));
  EXPECT_EQ(WithSlowOpening("run-1", 3610).state.started_at, At(0.7)) << "a step of the clock";
  EXPECT_EQ(WithSlowOpening("", 10).state.started_at, At(0.7)) << "a run without an id";
}

TEST(Fold, ALaterJobOpenedAddsUnknownFields) {
  Job job;
  EXPECT_TRUE(job.Say(0, JobOpened{.stages = MapReduceStages({}, {})}).ok());
  JobOpened more = Opened(4, 2);
  more.engine = "hadoop";
  test::ReduceStage(more).slots = 2;
  test::MapStage(more).has_combiner = true;
  test::ReduceStage(more).is_grouping_opaque = true;
  more.user = "ann";
  EXPECT_TRUE(job.Say(1, more).ok());
  EXPECT_EQ(job.state.opened->name, "word count");
  EXPECT_EQ(job.state.opened->engine, "hadoop");
  EXPECT_EQ(job.state.opened->user, "ann");
  EXPECT_EQ(job.state.reduce_slots(), 2u);
  EXPECT_EQ(job.state.map_stage()->opened.has_combiner, true);
  EXPECT_EQ(job.state.reduce_stage()->opened.is_grouping_opaque, true);
  EXPECT_EQ(job.state.map_tasks().size(), 4u);
  EXPECT_EQ(job.state.reduce_tasks().size(), 2u);
  EXPECT_EQ(job.state.anomalies, 0u);
}

TEST_F(FoldIntoOpenJob, AContradictingJobOpenedIsCountedAndIgnored) {
  JobOpened other = Opened(5, 2);
  other.name = "sort";
  EXPECT_TRUE(job_.Say(1, other).ok());
  EXPECT_EQ(job_.state.map_stage()->opened.task_count, 3u);
  EXPECT_EQ(job_.state.opened->name, "word count");
  EXPECT_EQ(job_.state.anomalies, 1u);
}

TEST(Fold, ATaskMayBeReportedBeforeTheNumberOfTasks) {
  Job job;
  job.Fold({{0, Opened()}, {1, Started(M(2))}});
  EXPECT_EQ(job.state.map_tasks().size(), 3u);
  EXPECT_TRUE(job.state.map_tasks()[2].is_running());
}

TEST_F(FoldIntoOpenJob, IgnoresEventsAfterTheJobClosed) {
  job_.Fold({{1, Closed(JobOutcome::kKilled, "by its user")},
             {2, Started(M(0))},
             {3, Started(M(99))},
             {4, Closed(JobOutcome::kSucceeded)}});
  EXPECT_EQ(job_.state.closed->outcome, JobOutcome::kKilled);
  EXPECT_EQ(job_.state.closed_at, At(1));
  EXPECT_FALSE(job_.state.map_tasks()[0].is_running());
  EXPECT_EQ(job_.state.rejected_events, 0u);
  EXPECT_EQ(job_.state.sources.at("app-master").accepted_sequence, 5u) << "still acknowledged";
}

// --- attempts

TEST_F(FoldIntoOpenJob, CorrectsTheClockOfASource) {
  Event event = job_.source.At(10, Started(M(0)));
  event.source_id = "m-0";
  event.sequence = 1;
  event.sent_at = At(10 - 3600);
  std::get<AttemptChanged>(event.body).at = At(8 - 3600);
  EXPECT_TRUE(job_.Take(event).ok());
  EXPECT_EQ(job_.state.map_tasks()[0].attempts.at({0, 0}).life.started_at(), At(8));
}

TEST_F(FoldIntoOpenJob, CountsAContradictingAttemptState) {
  job_.Fold({{1, Finished(M(0))}, {2, Failed(M(0))}});
  EXPECT_EQ(job_.state.anomalies, 1u);
  EXPECT_TRUE(job_.state.map_tasks()[0].is_finished());
}

TEST_F(FoldIntoOpenJob, KeepsTheFirstHostAndInputSizeOfAnAttempt) {
  job_.Fold({{0, ExecutorOpened{.executor = 1, .host = "node-1"}},
             {0, ExecutorOpened{.executor = 2, .host = "node-2"}}});
  AttemptChanged started = Started(M(0), 100);
  started.executor = 1;
  AttemptChanged finished = Finished(M(0));
  finished.executor = 2;
  finished.input_bytes = 200;
  job_.Fold({{1, started}, {2, finished}});
  EXPECT_EQ(job_.state.map_tasks()[0].attempts.at({0, 0}).life.host, "node-1");
  EXPECT_EQ(job_.state.map_tasks()[0].input_bytes, 100u);
}

TEST_F(FoldIntoOpenJob, TheReducePhaseOfAnAttemptStartsWhenItHasShuffled) {
  job_.Fold({{1, Started(R(0))}, {4, Shuffled(R(0))}});
  EXPECT_EQ(job_.state.reduce_tasks()[0].attempts.at({0, 0}).reduce->reduce_started_at, At(4));
}

TEST_F(FoldIntoOpenJob, RecordsTheMostTasksAtOnce) {
  job_.Fold({{1, Started(M(0))}, {1, Started(M(1))}, {2, Finished(M(0))}, {2, Started(M(2))}});
  EXPECT_EQ(job_.state.map_slots(), 2u);
  EXPECT_EQ(job_.state.reduce_slots(), 1u) << "at least one";
}

TEST_F(FoldIntoOpenJob, ShrinkingHeartbeatsAreCountedAndIgnored) {
  for (const AttemptId id : {M(0), R(0)}) {
    job_.Fold({{1, Read(id, 100)}, {2, Read(id, 60)}});
  }
  EXPECT_EQ(job_.state.map_tasks()[0].attempts.at({0, 0}).bytes_done, 100u);
  EXPECT_EQ(job_.state.reduce_tasks()[0].attempts.at({0, 0}).reduce->fetched_bytes, 100u);
  EXPECT_EQ(job_.state.anomalies, 2u);
}

// The task counts no bytes of a combined split, but the application master knows its progress.
TEST_F(FoldIntoOpenJob, AHeartbeatWithoutBytesContradictsNoOther) {
  job_.Fold({{1, Read(M(0), 100)}, {2, Read(M(0), 0)}});
  EXPECT_EQ(job_.state.map_tasks()[0].attempts.at({0, 0}).bytes_done, 100u);
  EXPECT_EQ(job_.state.anomalies, 0u);
}

// --- map profiles

const std::vector<PartitionProfile> kPairs = {Partition(0, 100, {Key(1, 60)}), Partition(1, 10)};

TEST_F(FoldIntoOpenJob, AMapProfileCountsOnceItsAttemptHasFinished) {
  EXPECT_TRUE(job_.Say(1, Emitted(M(0), kPairs)).ok());
  EXPECT_EQ(job_.state.keys.profile_count(), 0u);
  EXPECT_TRUE(job_.Say(2, Finished(M(0))).ok());
  EXPECT_EQ(job_.state.keys.profile_count(), 1u);
  EXPECT_EQ(job_.state.keys.partition(0).total_bytes, 100u);
  EXPECT_EQ(job_.state.map_profiles_missing, 0u);
}

TEST_F(FoldIntoOpenJob, AMapProfileMayComeAfterItsAttemptHasFinished) {
  EXPECT_TRUE(job_.Say(1, Finished(M(0))).ok());
  EXPECT_EQ(job_.state.map_profiles_missing, 1u);
  EXPECT_TRUE(job_.Say(2, Emitted(M(0), kPairs)).ok());
  EXPECT_EQ(job_.state.keys.profile_count(), 1u);
  EXPECT_EQ(job_.state.map_profiles_missing, 0u);
  EXPECT_EQ(job_.state.anomalies, 0u);
}

TEST_F(FoldIntoOpenJob, ASecondMapProfileIsIgnoredAndCounted) {
  job_.Fold({{1, Emitted(M(0), kPairs)},
             {2, Emitted(M(0), {Partition(0, 7)})},
             {3, Finished(M(0))},
             {4, Emitted(M(0), kPairs)}});
  EXPECT_EQ(job_.state.keys.partition(0).total_bytes, 100u);
  EXPECT_EQ(job_.state.keys.profile_count(), 1u);
  EXPECT_EQ(job_.state.anomalies, 2u);
}

TEST(Fold, TheMapProfileOfAFailedAttemptNeverCounts) {
  for (const bool profile_first : {true, false}) {
    Job job = OpenJob();
    const std::vector<EventBody> events =
        profile_first ? std::vector<EventBody>{Emitted(M(0, 0), kPairs), Failed(M(0, 0))}
                      : std::vector<EventBody>{Failed(M(0, 0)), Emitted(M(0, 0), kPairs)};
    for (const EventBody& event : events) EXPECT_TRUE(job.Say(1, event).ok());
    EXPECT_TRUE(job.Say(4, Finished(M(0, 1))).ok());
    EXPECT_EQ(job.state.keys.profile_count(), 0u);
    EXPECT_TRUE(job.Say(5, Emitted(M(0, 1), kPairs)).ok());
    EXPECT_EQ(job.state.keys.profile_count(), 1u);
  }
}

TEST_F(FoldIntoOpenJob, ARunningReduceFunctionEndsTheMapPhase) {
  job_.Fold({{1, Started(M(0))}, {1, Started(M(1))}});
  EXPECT_TRUE(job_.Say(2, Emitted(M(0), kPairs)).ok());  // Its end was lost.
  EXPECT_EQ(job_.state.keys.profile_count(), 0u);
  EXPECT_TRUE(job_.Say(3, Shuffled(R(0))).ok());
  EXPECT_EQ(job_.state.keys.profile_count(), 1u);
  EXPECT_EQ(job_.state.map_profiles_missing, job_.state.map_tasks().size() - 1);
  EXPECT_TRUE(job_.Say(4, Finished(M(0))).ok());  // late, and without effect
  EXPECT_EQ(job_.state.keys.profile_count(), 1u);
  EXPECT_EQ(job_.state.map_profiles_missing, job_.state.map_tasks().size() - 1);
}

TEST_F(FoldIntoOpenJob, ASpeculativeTwinCountsOnce) {
  job_.Fold({{1, Emitted(M(0, 0), kPairs)},
             {1, Emitted(M(0, 1), kPairs)},
             {2, Finished(M(0, 1))},
             {3, Killed(M(0, 0))}});
  EXPECT_EQ(job_.state.keys.profile_count(), 1u);
  EXPECT_EQ(job_.state.keys.partition(0).total_bytes, 100u);
}

TEST_F(FoldIntoOpenJob, ARerunOfALostMapTaskCountsOnce) {
  job_.Fold({{1, Emitted(M(0, 0), kPairs)}, {2, Finished(M(0, 0))}, {3, Obsolete(M(0, 0))}});
  EXPECT_FALSE(job_.state.map_tasks()[0].is_finished());
  job_.Fold({{4, Emitted(M(0, 1), kPairs)}, {5, Finished(M(0, 1))}});
  EXPECT_EQ(job_.state.keys.partition(0).total_bytes, 100u);
  EXPECT_EQ(job_.state.keys.profile_count(), 1u);
  EXPECT_EQ(job_.state.map_profiles_missing, 0u);
}

TEST_F(FoldIntoOpenJob, TheRerunOfALostMapTaskMaySendItsProfile) {
  job_.Fold({{1, Finished(M(0, 0))}, {2, Obsolete(M(0, 0))}});
  EXPECT_EQ(job_.state.map_profiles_missing, 0u) << "not finished any more";
  EXPECT_TRUE(job_.Say(3, Finished(M(0, 1))).ok());
  EXPECT_EQ(job_.state.map_profiles_missing, 1u);
  EXPECT_TRUE(job_.Say(4, Emitted(M(0, 1), kPairs)).ok());
  EXPECT_EQ(job_.state.keys.profile_count(), 1u);
  EXPECT_EQ(job_.state.map_profiles_missing, 0u);
}

// Returns a job with an unknown number of map tasks, whose map phase ended after the profile of
// M(0).
Job AfterTheMapPhase() {
  Job job;
  job.Fold({{0, Opened(std::nullopt, 2)},
            {1, Emitted(M(0), kPairs)},
            {1, Finished(M(0))},
            {2, Shuffled(R(0))}});
  EXPECT_EQ(job.state.map_profiles_missing, 0u);
  return job;
}

TEST(Fold, AMapTaskFirstReportedAfterTheMapPhaseHasAMissingProfile) {
  Job job = AfterTheMapPhase();
  EXPECT_TRUE(job.Say(3, Started(M(2))).ok());  // implies M(1)
  EXPECT_EQ(job.state.map_profiles_missing, 2u);
}

TEST(Fold, ALateProfileOfAnUnknownMapTaskIsNotMissing) {
  Job job = AfterTheMapPhase();
  EXPECT_TRUE(job.Say(3, Emitted(M(1), kPairs)).ok());
  EXPECT_EQ(job.state.keys.profile_count(), 2u);
  EXPECT_EQ(job.state.map_profiles_missing, 0u);
  EXPECT_EQ(job.state.reduce_input_bytes(0), 200u);
}

TEST(Fold, AMapCountAfterTheMapPhaseShowsMissingProfiles) {
  Job job = AfterTheMapPhase();
  EXPECT_TRUE(job.Say(3, Opened(4, 2)).ok());
  EXPECT_EQ(job.state.map_profiles_missing, 3u);
  EXPECT_TRUE(job.Say(4, Emitted(M(3), kPairs)).ok());
  EXPECT_EQ(job.state.map_profiles_missing, 2u);
}

// --- events that could not be parsed

TEST_F(FoldIntoOpenJob, ARejectedEventIsNotLost) {
  Refuse({"app-master", 2}, job_.limits, job_.state);
  Event event = job_.source.At(1, Started(M(0)));
  event.sequence = 3;
  EXPECT_TRUE(job_.Take(event).ok());
  EXPECT_EQ(job_.state.rejected_events, 1u);
  EXPECT_EQ(job_.state.lost_events, 0u);
}

TEST_F(FoldIntoOpenJob, ARejectedEventShowsTheGapBeforeItAndCountsOnce) {
  for (int i = 0; i < 2; ++i) Refuse({"app-master", 4}, job_.limits, job_.state);
  EXPECT_EQ(job_.state.rejected_events, 1u);
  EXPECT_EQ(job_.state.lost_events, 2u);
  for (int i = 0; i < 2; ++i) Refuse({}, job_.limits, job_.state);
  EXPECT_EQ(job_.state.rejected_events, 3u) << "events without a sequence are counted";
  EXPECT_EQ(job_.state.lost_events, 2u);
  EXPECT_EQ(job_.state.sources.size(), 1u);
}

TEST_F(FoldIntoOpenJob, ARejectedEventAddsNoSourceBeyondTheLimit) {
  job_.limits.sources_max = 1;
  Refuse({"other", 1}, job_.limits, job_.state);
  EXPECT_EQ(job_.state.rejected_events, 1u);
  EXPECT_EQ(job_.state.sources.size(), 1u);
}

// --- the input of a reduce task

TEST_F(FoldIntoOpenJob, TheInputOfAReduceTaskIsReportedReadOrScaledUpForMissingProfiles) {
  job_.Fold({{1, Finished(M(0))}, {1, Emitted(M(0), kPairs)}, {2, Finished(M(1))}});
  EXPECT_EQ(job_.state.reduce_input_bytes(0), 200u);
  job_.Fold({{2, Started(R(0), 777)}, {3, Reduced(R(1), At(3), {Point(5000, 1)})}});
  EXPECT_EQ(job_.state.reduce_input_bytes(0), 777u);
  EXPECT_EQ(job_.state.reduce_input_bytes(1), 5000u) << "at least the bytes read";
}

TEST(Fold, AJobHasTheStagesThatAreReportedOrBoth) {
  const auto has_stages = [](std::vector<StageOpened> stages) {
    Job job;
    EXPECT_TRUE(job.Say(0, JobOpened{.stages = std::move(stages)}).ok());
    return std::pair(job.state.has_map_stage(), job.state.has_reduce_stage());
  };
  EXPECT_EQ(has_stages({}), std::pair(true, true));
  EXPECT_EQ(has_stages(MapReduceStages(1, 0)), std::pair(true, false));
  EXPECT_EQ(has_stages(MapReduceStages(1, 3)), std::pair(true, true));
  EXPECT_EQ(has_stages(MapReduceStages({}, {})), std::pair(true, true));
  EXPECT_EQ(has_stages({{.stage = 0}}), std::pair(false, false)) << "of another engine";
}

// --- stages

AttemptId Task(std::uint32_t stage, std::uint32_t index, std::uint32_t stage_attempt = 0) {
  return {.stage = stage, .index = index, .stage_attempt = stage_attempt};
}

StageOpened Generic(std::uint32_t stage, std::optional<std::uint32_t> tasks = {}) {
  return {.stage = stage, .kind = StageKind::kGeneric, .task_count = tasks};
}

Job OpenGeneric(std::vector<StageOpened> stages) {
  Job job;
  EXPECT_TRUE(job.Say(0, JobOpened{.name = "query", .stages = std::move(stages)}).ok());
  return job;
}

class FoldIntoJobWithoutStages : public ::testing::Test {
 protected:
  Job job_ = OpenGeneric({});
};

TEST(FoldStages, CountsTheTasksOfAStageOfAnyKind) {
  Job job = OpenGeneric({Generic(4, 3)});
  job.Fold({{1, Started(Task(4, 0), 700)},
            {1, Started(Task(4, 2))},
            {2, Read(Task(4, 0), 500)},
            {3, Finished(Task(4, 2))}});
  const Stage& stage = job.state.stages.at(4);
  EXPECT_EQ(stage.opened.task_count, 3u);
  EXPECT_EQ(stage.running_task_count(), 1u);
  EXPECT_EQ(stage.running_tasks, 1u);
  EXPECT_EQ(stage.finished_task_count(), 1u);
  const TaskAttempt& attempt = stage.tasks.at(0).attempts.at({0, 0});
  EXPECT_EQ(attempt.life.input_bytes, 700u);
  EXPECT_EQ(attempt.bytes_done, 500u);
  EXPECT_TRUE(job.state.map_tasks().empty());
}

TEST(FoldStages, TasksOfTheSameIndexInTwoStagesAreDistinct) {
  Job job = OpenGeneric({Generic(0, 1), Generic(1, 1)});
  EXPECT_TRUE(job.Say(1, Finished(Task(0, 0))).ok());
  EXPECT_EQ(job.state.stages.at(0).finished_task_count(), 1u);
  EXPECT_EQ(job.state.stages.at(1).finished_task_count(), 0u);
}

// Events of different sources are not ordered, so a task may report before the driver.
TEST(FoldStages, AnAttemptOfAStageThatIsNotOpenYetIsKept) {
  Job job = OpenGeneric({Generic(0, 1)});
  Source task("task");
  EXPECT_TRUE(job.Take(task.At(1, Started(Task(7, 2)))).ok());
  EXPECT_TRUE(job.Take(task.At(2, Finished(Task(7, 2)))).ok());
  EXPECT_TRUE(job.Say(3, Generic(7, 5)).ok());
  const Stage& stage = job.state.stages.at(7);
  EXPECT_EQ(stage.opened, Generic(7, 5));
  ASSERT_EQ(stage.tasks.size(), 1u);
  EXPECT_EQ(stage.tasks[0].index, 2u);
  EXPECT_TRUE(stage.tasks[0].is_finished());
  EXPECT_EQ(job.state.anomalies, 0u);
}

TEST_F(FoldIntoJobWithoutStages, TasksReportedBeforeTheirMapAndReduceStagesAreKept) {
  job_.Fold({{1, Started(M(0), 700)},
             {2, Read(M(0), 300)},
             {2, Finished(M(1))},
             {3, Started(R(0))},
             {3, Read(R(0), 50)},
             {4, Shuffled(R(0))}});
  for (const StageOpened& stage : MapReduceStages(3, 2)) EXPECT_TRUE(job_.Say(5, stage).ok());
  ASSERT_EQ(job_.state.map_tasks().size(), 3u);
  EXPECT_EQ(job_.state.map_tasks()[0].attempts.at({0, 0}).bytes_done, 300u);
  EXPECT_EQ(job_.state.map_tasks()[0].input_bytes, 700u);
  EXPECT_TRUE(job_.state.map_tasks()[1].is_finished());
  ASSERT_EQ(job_.state.reduce_tasks().size(), 2u);
  EXPECT_EQ(job_.state.reduce_tasks()[0].attempts.at({0, 0}).reduce->fetched_bytes, 50u);
  EXPECT_EQ(job_.state.reduce_tasks()[0].attempts.at({0, 0}).reduce->reduce_started_at, At(4));
  EXPECT_TRUE(job_.state.map_phase_is_over);
  EXPECT_EQ(job_.state.anomalies, 0u);
}

TEST_F(FoldIntoJobWithoutStages, AProfileImpliesTheKindOfItsStage) {
  job_.Fold(
      {{1, Emitted(M(0), {Partition(0, 10)})}, {2, Finished(M(0))}, {3, Reduced(R(0), At(3), {})}});
  EXPECT_NE(job_.state.map_stage(), nullptr);
  EXPECT_NE(job_.state.reduce_stage(), nullptr);
  EXPECT_EQ(job_.state.keys.profile_count(), 1u);
}

TEST_F(FoldIntoJobWithoutStages, UnopenedStagesAreBounded) {
  job_.limits.stages_max = 2;
  job_.Fold({{1, Started(Task(7, 0))}, {1, Started(Task(8, 0))}});
  EXPECT_EQ(ExceededLimit(job_.Say(1, Started(Task(9, 0)))), "stages_per_job");
}

TEST(FoldStages, ARejectedTaskChangesNothing) {
  Job job = OpenGeneric({Generic(5, 100)});
  job.limits.state_bytes_max = 0;
  EXPECT_EQ(ExceededLimit(job.Say(1, Started(Task(5, 3)))), "state_bytes_per_job");
  EXPECT_TRUE(job.state.stages.at(5).tasks.empty());
}

TEST(FoldStages, EveryAttemptAtAStageHasTheSameLimitOfAttempts) {
  Job job = OpenGeneric({Generic(2, 1)});
  for (std::uint32_t again = 0; again < 5; ++again) {
    for (std::uint32_t attempt = 0; attempt < job.limits.attempts_per_task_max; ++attempt) {
      AttemptChanged failed = Failed(Task(2, 0, again));
      failed.attempt.attempt = attempt;
      ASSERT_TRUE(job.Say(1, failed).ok()) << again << " " << attempt;
    }
  }
  AttemptChanged failed = Failed(Task(2, 0, 3));
  failed.attempt.attempt = job.limits.attempts_per_task_max;
  EXPECT_EQ(ExceededLimit(job.Say(2, failed)), "attempts_per_task");
}

TEST_F(FoldIntoJobWithoutStages, AStageMayAppearAfterItsChildren) {
  StageOpened child = Generic(9, 2);
  child.parents = {3};
  job_.Fold({{1, child}, {2, Started(Task(9, 1))}, {3, Generic(3, 5)}});
  EXPECT_EQ(job_.state.stages.size(), 2u);
  EXPECT_EQ(job_.state.stages.at(9).opened.parents, std::vector<std::uint32_t>{3});
  EXPECT_EQ(job_.state.anomalies, 0u);
}

// placement::TopologicalOrder() reports the cycle.
TEST(FoldStages, StagesInACycleAreKept) {
  StageOpened first = Generic(0, 1);
  first.parents = {1, 1, kHuge};
  StageOpened second = Generic(1, 1);
  second.parents = {0};
  Job job = OpenGeneric({first, second});
  job.Fold({{1, first}, {2, Finished(Task(0, 0))}, {2, Finished(Task(1, 0))}});
  EXPECT_EQ(job.state.stages.at(0).opened.parents, (std::vector<std::uint32_t>{1, kHuge}));
  EXPECT_EQ(job.state.stages.at(1).finished_task_count(), 1u);
  EXPECT_EQ(job.state.anomalies, 0u);
}

TEST(FoldStages, AResubmittedStageMayHaveFewerTasks) {
  Job job = OpenGeneric({Generic(2, 10)});
  EXPECT_TRUE(job.Say(1, Finished(Task(2, 9))).ok());
  StageOpened again = Generic(2, 3);
  again.attempt = 1;
  EXPECT_TRUE(job.Say(2, again).ok());
  EXPECT_EQ(job.state.stages.at(2).opened.task_count, 3u);
  EXPECT_TRUE(job.Say(3, Finished(Task(2, 2, 1))).ok());
  EXPECT_FALSE(job.Say(3, Finished(Task(2, 3, 1))).ok());
  EXPECT_TRUE(job.Say(4, Finished(Task(2, 8, 0))).ok()) << "late news of the first attempt";
  EXPECT_EQ(job.state.stages.at(2).finished_task_count(), 3u);
  EXPECT_EQ(job.state.anomalies, 0u);
}

// take() runs the first partition, and then some of the next partitions.
TEST_F(FoldIntoJobWithoutStages, AStageOfSomePartitionsHasTasksBeyondTheirNumber) {
  StageOpened some = Generic(2, 4);
  some.index_count = 34;
  job_.Fold({{1, some}, {2, Started(Task(2, 4))}, {2, Started(Task(2, 33))}});
  const absl::Status refused = job_.Say(2, Started(Task(2, 34)));
  EXPECT_EQ(refused.message(), "task 34 of stage 2 does not exist: the stage has 34 indexes");
}

TEST(FoldStages, TheEndOfAStageIsThatOfItsNewestAttempt) {
  Job job = OpenGeneric({Generic(2, 10)});
  const auto& closed = job.state.stages.at(2).closed;
  StageOpened again = Generic(2, 3);
  again.attempt = 1;
  job.Fold(
      {{1, StageClosed{.stage = 2, .outcome = JobOutcome::kFailed}}, {1, StageClosed{.stage = 2}}});
  EXPECT_EQ(closed->outcome, JobOutcome::kFailed) << "the first end";
  EXPECT_TRUE(job.Say(2, again).ok());
  EXPECT_FALSE(closed.has_value());
  EXPECT_TRUE(job.Say(3, StageClosed{.stage = 2}).ok());
  EXPECT_FALSE(closed.has_value()) << "late news of the first attempt";
  EXPECT_TRUE(job.Say(4, StageClosed{.stage = 2, .attempt = 1, .at = At(3.5)}).ok());
  EXPECT_EQ(closed->at, At(3.5));
  EXPECT_TRUE(job.Say(5, StageClosed{.stage = 7}).ok());
  EXPECT_TRUE(job.state.stages.at(7).closed.has_value()) << "of a stage that is opened later";
  EXPECT_EQ(job.state.anomalies, 0u);
}

TEST_F(FoldIntoJobWithoutStages, GroupsHaveTheLimitOfStages) {
  job_.limits.stages_max = 1;
  EXPECT_TRUE(job_.Say(1, GroupOpened{"sql/1"}).ok());
  EXPECT_EQ(ExceededLimit(job_.Say(1, GroupOpened{"sql/2"})), "stages_per_job");
  EXPECT_TRUE(job_.Say(1, GroupClosed{"sql/1"}).ok());
}

TEST_F(FoldIntoJobWithoutStages, ANewPlanReplacesTheOldOne) {
  const std::size_t empty = job_.state.memory_bytes;
  const auto plan = [&](std::vector<std::uint32_t> counts) {
    EXPECT_TRUE(job_.Say(1, GroupOpened{.group = "sql/1", .planned_task_counts = counts}).ok());
    return job_.state.groups.at("sql/1").opened.planned_task_counts;
  };
  EXPECT_THAT(plan({8, 0, 1}), ElementsAre(8, 0, 1));
  const std::size_t planned = job_.state.memory_bytes;
  EXPECT_THAT(plan({}), ElementsAre(8, 0, 1)) << "nothing new is said of it";
  EXPECT_THAT(plan({8}), ElementsAre(8));
  EXPECT_LT(job_.state.memory_bytes, planned);
  EXPECT_GT(job_.state.memory_bytes, empty);
}

TEST_F(FoldIntoJobWithoutStages, GroupsCountAsMemory) {
  job_.limits.state_bytes_max = job_.state.memory_bytes + 900;
  EXPECT_TRUE(job_.Say(1, GroupOpened{"sql/1", std::string(600, 'x')}).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(job_.Say(1, GroupOpened{"sql/2"})));
  EXPECT_TRUE(absl::IsResourceExhausted(job_.Say(1, GroupClosed{"sql/2"})));
  EXPECT_TRUE(job_.Say(1, GroupClosed{"sql/1"}).ok());
}

TEST_F(FoldIntoOpenJob, AMapOrReduceStageHasOneAttempt) {
  StageOpened again = MapReduceStages(2, 1)[kMapStage];
  again.attempt = 1;
  EXPECT_TRUE(absl::IsInvalidArgument(job_.Say(1, again)));
  EXPECT_TRUE(absl::IsInvalidArgument(job_.Say(1, Started(Task(kMapStage, 0, 1)))));
  EXPECT_EQ(job_.state.map_tasks().size(), 3u);
}

TEST(FoldStages, AStageThatChangesItsKindIsCountedAndCompleted) {
  Job job;
  const StageOpened map{.stage = kMapStage, .kind = StageKind::kMap};
  const StageOpened generic{.stage = kMapStage, .parents = {9}, .kind = StageKind::kGeneric};
  EXPECT_TRUE(job.Say(0, JobOpened{.stages = {map, generic}}).ok());
  EXPECT_EQ(job.state.anomalies, 1u);
  ASSERT_NE(job.state.map_stage(), nullptr);
  EXPECT_EQ(job.state.map_stage()->opened.parents, std::vector<std::uint32_t>{9});
}

TEST(FoldStages, AKindMayBeReportedLater) {
  Job job;
  StageOpened stage{.stage = kMapStage, .kind = StageKind::kUnknown, .task_count = 2};
  EXPECT_TRUE(job.Say(0, JobOpened{.stages = {stage}}).ok());
  EXPECT_EQ(job.state.map_stage(), nullptr);
  stage.kind = StageKind::kMap;
  job.Fold({{1, stage}, {2, StageOpened{.stage = kMapStage, .kind = StageKind::kUnknown}}});
  ASSERT_NE(job.state.map_stage(), nullptr);
  EXPECT_EQ(job.state.map_tasks().size(), 2u);
  EXPECT_EQ(job.state.anomalies, 0u);
}

TEST(FoldStages, ACountReportedBeforeTheKindRespectsTheLimits) {
  Job job;
  const StageOpened map{.stage = kMapStage, .kind = StageKind::kMap};
  StageOpened huge{.stage = kMapStage, .task_count = kHuge, .partition_count = kHuge};
  EXPECT_TRUE(job.Say(0, JobOpened{.stages = {huge, map}}).ok());
  EXPECT_LE(job.state.map_tasks().size(), job.limits.map_tasks_max);
  EXPECT_FALSE(job.Say(1, Emitted(M(0), {Partition(kHuge - 1, 10)})).ok());
  EXPECT_FALSE(job.Say(1, Started(M(kHuge - 1))).ok());
}

TEST_F(FoldIntoJobWithoutStages, ATaskBeyondALaterCountIsCountedAndDropped) {
  EXPECT_TRUE(job_.Say(1, Started(M(7))).ok());
  for (const StageOpened& stage : MapReduceStages(3, 2)) EXPECT_TRUE(job_.Say(5, stage).ok());
  EXPECT_EQ(job_.state.map_tasks().size(), 3u);
  EXPECT_EQ(job_.state.anomalies, 1u);
}

// A map or reduce stage has only one attempt.
TEST(FoldStages, AnotherAttemptAtALaterMapStageIsCountedAndDropped) {
  Job job = OpenGeneric({{.stage = kMapStage, .kind = StageKind::kUnknown}});
  job.Fold({{1, Started(Task(kMapStage, 0, 1))}, {2, Started(M(0))}});
  for (const StageOpened& stage : MapReduceStages(3, 2)) EXPECT_TRUE(job.Say(5, stage).ok());
  EXPECT_EQ(job.state.map_tasks()[0].attempts.size(), 1u);
  EXPECT_EQ(job.state.anomalies, 1u);
}

TEST_F(FoldIntoJobWithoutStages, TheInputOfAMapTaskIsThatOfItsFirstAttempt) {
  job_.Fold({{1, Started(M(1, 1), 200)},
             {2, Started(M(1, 0), 100)},
             {3, Started(Task(kMapStage, 0, 1), 300)}});
  for (const StageOpened& stage : MapReduceStages(3, 2)) EXPECT_TRUE(job_.Say(5, stage).ok());
  EXPECT_EQ(job_.state.map_tasks()[1].input_bytes, 100u);
  EXPECT_EQ(job_.state.map_tasks()[0].input_bytes, std::nullopt) << "no attempt of it is left";
}

TEST(FoldStages, TasksAreFoundInAnyOrderOfReports) {
  Job job = OpenGeneric({Generic(4)});
  for (const std::uint32_t index : {5u, 1u, 0u, 2u, 900u}) {
    EXPECT_TRUE(job.Say(1, Started(Task(4, index))).ok());
  }
  for (const std::uint32_t index : {900u, 5u, 0u}) {
    EXPECT_TRUE(job.Say(2, Finished(Task(4, index))).ok());
  }
  const Stage& stage = job.state.stages.at(4);
  EXPECT_EQ(stage.tasks.size(), 5u);
  EXPECT_EQ(stage.finished_task_count(), 3u);
  EXPECT_EQ(stage.running_task_count(), 2u);
  EXPECT_EQ(stage.running_tasks, 2u);
}

TEST_F(FoldIntoOpenJob, TheHostOfAMapTaskIsKept) {
  EXPECT_TRUE(job_.Say(1, ExecutorOpened{.executor = 4, .host = "a", .slots = 2}).ok());
  AttemptChanged started = Started(M(0));
  started.executor = 4;
  EXPECT_TRUE(job_.Say(2, started).ok());
  EXPECT_EQ(job_.state.map_tasks()[0].attempts.at({0, 0}).executor, 0u);
}

TEST(FoldStages, SizesOfAnotherCountAreIgnored) {
  Job job = OpenGeneric({Generic(4, 3)});
  StageOpened other = Generic(4, 5);
  other.task_bytes.assign(5, 1);
  EXPECT_TRUE(job.Say(1, other).ok());
  EXPECT_TRUE(job.state.stages.at(4).opened.task_bytes.empty());
  EXPECT_EQ(job.state.anomalies, 1u);
}

// Tez may have any number of map and reduce stages.
TEST(FoldStages, MapAndReduceTasksOfOtherStagesAreKeptWithoutTheirKeyGroups) {
  Job job = OpenGeneric({{.stage = 4, .kind = StageKind::kMap, .task_count = 1},
                         {.stage = 6, .kind = StageKind::kReduce, .task_count = 1}});
  job.Fold({{1, Started(Task(4, 0))},
            {1, Emitted(Task(4, 0), {Partition(0, 10)})},
            {2, Shuffled(Task(6, 0))},
            {2, Reduced(Task(6, 0), At(2), {})},
            {3, Finished(Task(6, 0))}});
  EXPECT_TRUE(job.state.stages.at(6).tasks.at(0).is_finished());
  EXPECT_EQ(job.state.unused_profiles, 2u);
  EXPECT_EQ(job.state.keys.profile_count(), 0u);
  EXPECT_EQ(job.state.rejected_events, 0u);
}

TEST(FoldStages, TasksOfAnotherKindHaveNoKeyGroups) {
  Job job = OpenGeneric({Generic(4, 1)});
  EXPECT_EQ(job.Say(1, Emitted(Task(4, 0), {})).message(),
            "map profile of task 0 of stage 4: its stage is of a different kind; send map profiles "
            "of map tasks");
  EXPECT_EQ(job.Say(1, Reduced(Task(4, 0), At(1), {})).message(),
            "reduce profile of task 0 of stage 4: its stage is of a different kind; send reduce "
            "profiles of reduce tasks");
}

TEST_F(FoldIntoOpenJob, OnlyReduceTasksShuffle) {
  EXPECT_TRUE(absl::IsInvalidArgument(job_.Say(1, Shuffled(M(0)))));
  EXPECT_TRUE(job_.Say(1, Shuffled(R(0))).ok());
}

TEST_F(FoldIntoJobWithoutStages, StagesUpToTheLimitAreKept) {
  const auto most = static_cast<std::uint32_t>(job_.limits.stages_max);
  for (std::uint32_t i = 0; i < most; ++i) ASSERT_TRUE(job_.Say(1, Generic(i, 1)).ok());
  const absl::Status status = job_.Say(2, Generic(most, 1));
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_EQ(ExceededLimit(status), "stages_per_job");
  EXPECT_TRUE(job_.Say(3, Generic(7, 1)).ok()) << "known stages are updated";
  EXPECT_EQ(job_.state.stages.size(), job_.limits.stages_max);
}

TEST_F(FoldIntoJobWithoutStages, SizesOfTasksCountAsMemory) {
  job_.limits.state_bytes_max = 1'000'000;
  absl::Status status;
  for (std::uint32_t i = 0; i < 100 && status.ok(); ++i) {
    StageOpened stage = Generic(i, 10'000);
    stage.task_bytes.assign(10'000, 5);
    status = job_.Say(1, stage);
  }
  EXPECT_EQ(ExceededLimit(status), "state_bytes_per_job");
}

TEST(FoldStages, ImplausibleSizesAreKept) {
  StageOpened stage = Generic(0, 2);
  stage.task_bytes = {1'000, 1'000};
  stage.size_precision = SizePrecision::kEstimated;
  Job job = OpenGeneric({stage});
  job.Fold({{1, Started(Task(0, 0), 1'000'000)}, {2, Read(Task(0, 0), 1'000'000)}});
  EXPECT_EQ(job.state.stages.at(0).opened.task_bytes[0], 1'000u);
  EXPECT_EQ(job.state.stages.at(0).tasks.at(0).attempts.at({0, 0}).bytes_done, 1'000'000u);
}

TEST(FoldStages, SizesOfMapTasksAreTheirInput) {
  JobOpened opened = Opened(2, 1);
  test::MapStage(opened).task_bytes = {100, 200};
  Job job;
  EXPECT_TRUE(job.Say(0, opened).ok());
  EXPECT_EQ(job.state.map_tasks()[1].input_bytes, 200u);
}

TEST_F(FoldIntoOpenJob, EventsOfANewerSenderAreCountedAndIgnored) {
  EXPECT_TRUE(job_.Say(1, UnknownEvent{}).ok());
  EXPECT_EQ(job_.state.unknown_events, 1u);
  EXPECT_EQ(job_.state.rejected_events, 0u);
  EXPECT_EQ(job_.state.lost_events, 0u);
  EXPECT_TRUE(job_.Say(2, Started(M(0))).ok());
}

TEST_F(FoldIntoOpenJob, KeepsTheReasonOfAFailure) {
  AttemptChanged failed = Failed(M(0));
  failed.failure = "disk full";
  EXPECT_TRUE(job_.Say(1, failed).ok());
  EXPECT_EQ(job_.state.map_tasks()[0].attempts.at({0, 0}).life.failure, "disk full");
}

TEST_F(FoldIntoOpenJob, AChangedExecutorIsCountedAndAnUnknownOneIsNot) {
  job_.Fold({{1, ExecutorOpened{.executor = 3, .host = "a"}},
             {1, ExecutorOpened{.executor = 3, .host = "b"}}});
  EXPECT_EQ(job_.state.anomalies, 1u);
  AttemptChanged started = Started(M(0));
  started.executor = 99;
  EXPECT_TRUE(job_.Say(2, started).ok());
  EXPECT_EQ(job_.state.map_tasks()[0].attempts.at({0, 0}).life.host, "");
}

TEST_F(FoldIntoOpenJob, AClosedExecutorIsMarkedAndAnUnknownOneIsCounted) {
  job_.Fold({{1, ExecutorOpened{.executor = 3, .host = "a"}}, {2, ExecutorClosed{3}}});
  EXPECT_TRUE(job_.state.executors.at(0).is_closed());
  EXPECT_TRUE(job_.Say(2, ExecutorClosed{4}).ok());
  EXPECT_EQ(job_.state.anomalies, 1u);
}

TEST_F(FoldIntoOpenJob, NumbersOfExecutorsArePerSource) {
  Source other("other");
  EXPECT_TRUE(job_.Say(1, ExecutorOpened{.executor = 3, .host = "a"}).ok());
  EXPECT_TRUE(job_.Take(other.At(1, ExecutorOpened{.executor = 3, .host = "b"})).ok());
  AttemptChanged started = Started(M(0));
  started.executor = 3;
  EXPECT_TRUE(job_.Take(other.At(2, started)).ok());
  EXPECT_EQ(job_.state.map_tasks()[0].attempts.at({0, 0}).life.host, "b");
}

}  // namespace
}  // namespace tidemark::facts::fold_test
