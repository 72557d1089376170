#include "master/facts/fold.h"

#include "tests/facts/events.h"
#include "tests/test.h"
#include "tidemark/limit.h"

namespace tidemark::facts::fold_test {
namespace {

using test::Failed;
using test::Obsolete;
using test::Read;

// Returns the counts of a job that are not 0.
std::string CountsOf(const Job& job) {
  std::string text;
  for (const auto& [count, name] : std::initializer_list<std::pair<std::uint64_t, const char*>>{
           {job.state.rejected_events, "rejected"},
           {job.state.lost_events, "lost"},
           {job.state.anomalies, "anomalies"},
           {job.state.unknown_events, "unknown"},
           {job.state.keys.profile_count(), "profiles"},
           {job.state.map_profiles_missing, "missing profiles"},
           {job.state.unused_profiles, "unused profiles"}}) {
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + name;
  }
  return text;
}

// Folds the events at consecutive seconds. The job must accept them. Returns the counts afterwards.
template <typename... Events>
std::string After(Job& job, Events... events) {
  double at = job.state.opened ? absl::ToDoubleSeconds(job.state.last_arrival_at - At(0)) : -1;
  (job.Fold({{++at, std::move(events)}}), ...);
  return CountsOf(job);
}

const TaskAttempt& MapAttempt(const Job& job) {
  return job.state.map_tasks()[0].attempts.at({0, 0});
}

const ReduceWork& ReduceWorkOf(const Job& job) {
  return *job.state.reduce_tasks()[0].attempts.at({0, 0}).reduce;
}

// Returns a job with three map tasks and two reduce tasks.
Job OpenJob() {
  Job job;
  job.Fold({{0, Opened(3, 2)}});
  return job;
}

class FoldIntoOpenJob : public ::testing::Test {
 protected:
  template <typename... Events>
  std::string After(Events... events) {
    return fold_test::After(job_, std::move(events)...);
  }

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
  EXPECT_THAT(status.message(), HasSubstr(GetParam().reason));
  EXPECT_EQ(CountsOf(job_), "1 rejected");
  EXPECT_EQ(job_.state.sources.at("app-master").accepted_sequence, 2u);
  EXPECT_EQ(job_.state.map_tasks().size(), 3u);
  EXPECT_EQ(job_.state.reduce_tasks().size(), 2u);
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
  EXPECT_THAT(status.message(), HasSubstr("job-1 is not open; send JobOpened first"));
  EXPECT_EQ(CountsOf(job), "1 rejected");
  EXPECT_EQ(job.state.sources.at("app-master").accepted_sequence, 1u);
}

TEST(Fold, ADeadlineThatOpensTheJobIsAnArrival) {
  Job job;
  JobOpened opened = Opened(2, 1);
  opened.replaces_deadline = true;
  job.Fold({{3, opened}});
  EXPECT_EQ(job.state.last_arrival_at, At(3));
  job.Fold({{5, opened}});
  EXPECT_EQ(job.state.last_arrival_at, At(3)) << "users set deadlines of silent jobs";
}

TEST(Fold, AnEventOfAnotherRunChangesNothing) {
  Job job;
  job.source = Source("app-master", "job-1", "a");
  After(job, Opened(2, 1));
  EXPECT_EQ(job.state.run_uid, "a");
  Source other("app-master", "job-1", "b");
  EXPECT_TRUE(absl::IsAlreadyExists(job.Take(other.At(5, Opened(9, 9)))));
  EXPECT_TRUE(absl::IsFailedPrecondition(job.Take(other.At(6, Started(M(0))))));
  EXPECT_EQ(job.state.map_tasks().size(), 2u);
  EXPECT_EQ(job.state.last_arrival_at, At(0));
  EXPECT_EQ(CountsOf(job), "");
  EXPECT_EQ(job.state.sources.at("app-master").accepted_sequence, 1u);
  EXPECT_TRUE(job.Take(Source("task of 0.1").At(7, Started(M(0)))).ok());
}

TEST(Fold, ARejectedJobStaysUnopened) {
  Job job;
  EXPECT_TRUE(absl::IsResourceExhausted(job.Say(0, Opened(200'001, 1))));
  EXPECT_FALSE(job.state.opened.has_value());
  EXPECT_TRUE(job.state.map_tasks().empty());
}

TEST(Fold, RejectsTasksAndPartitionsOverTheLimitWhileTheirNumberIsUnknown) {
  Job job;
  job.limits.map_tasks_max = 10;
  job.limits.reduce_tasks_max = 10;
  After(job, Opened(), Started(M(9)), Emitted(M(0), {Partition(9, 1)}));
  EXPECT_TRUE(absl::IsResourceExhausted(job.Say(2, Started(M(10)))));
  EXPECT_EQ(job.state.map_tasks().size(), 10u);
  EXPECT_FALSE(job.Say(2, Emitted(M(1), {Partition(10, 1)})).ok());
}

TEST_F(FoldIntoOpenJob, RejectsAttemptsOverTheLimit) {
  job_.limits.attempts_per_task_max = 2;
  After(Started(M(0, 0)), Started(M(0, 7)));
  const absl::Status status = job_.Say(3, Started(M(0, 1)));
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_THAT(status.message(), HasSubstr("at most 2 attempts per task"));
  EXPECT_TRUE(job_.Say(4, Finished(M(0, 7))).ok()) << "known attempts go on";
}

TEST_F(FoldIntoOpenJob, RejectsSourcesOverTheLimit) {
  job_.limits.sources_max = 2;
  EXPECT_TRUE(job_.Take(Source("m-0").At(1, Started(M(0)))).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(job_.Take(Source("m-1").At(1, Started(M(1))))));
  EXPECT_TRUE(job_.Say(2, Started(M(2))).ok()) << "known sources go on";
  EXPECT_EQ(CountsOf(job_), "1 rejected");
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
  EXPECT_TRUE(job_.Take(event).ok() && job_.Take(again).ok());
  EXPECT_FALSE(job_.state.map_tasks()[1].is_running());
  EXPECT_EQ(job_.state.sources.at("app-master").dropped_events, 0u);
  EXPECT_EQ(CountsOf(job_), "");
}

TEST_F(FoldIntoOpenJob, CountsAGapInTheSequenceAsLost) {
  for (int i = 0; i < 3; ++i) job_.source.At(1, Started(M(0)));  // These events never arrive.
  EXPECT_EQ(After(Started(M(1))), "3 lost");
}

TEST_F(FoldIntoOpenJob, ALateEventAfterAGapIsADuplicate) {
  const Event late = job_.source.At(1, Started(M(0)));
  After(Started(M(1)));
  EXPECT_TRUE(job_.Take(late).ok());
  EXPECT_FALSE(job_.state.map_tasks()[0].is_running());
  EXPECT_EQ(CountsOf(job_), "1 lost");
}

TEST_F(FoldIntoOpenJob, CountsSequencesPerSource) {
  EXPECT_TRUE(job_.Take(Source("other").At(1, Started(M(0)))).ok());
  EXPECT_EQ(After(Started(M(1))), "");
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
    job.Fold({{10, opened}});
    return job.state.started_at;
  };
  EXPECT_EQ(start(At(3)), At(3));
  EXPECT_EQ(start(absl::UnixEpoch()), At(10)) << "a submission in 1970 is ignored";
  EXPECT_EQ(start(std::nullopt), At(10));
}

// Returns the start of a job whose opening event is sent at 0 and arrives 0.7 s later. The closing
// event is sent at `closed`.
absl::Time StartWithSlowOpening(const std::string& run_uid, double closed) {
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
  return job.state.started_at;
}

TEST(Fold, ASlowFirstMessageDoesNotShortenAJob) {
  EXPECT_EQ(StartWithSlowOpening("run-1", 10), At(0));
  EXPECT_EQ(StartWithSlowOpening("run-1", 3610), At(0.7)) << "a step of the clock";
  EXPECT_EQ(StartWithSlowOpening("", 10), At(0.7)) << "a run without an id";
}

TEST(Fold, ALaterJobOpenedAddsUnknownFields) {
  Job job;
  JobOpened more = Opened(4, 2);
  more.engine = "hadoop";
  test::ReduceStage(more).slots = 2;
  test::MapStage(more).has_combiner = true;
  test::ReduceStage(more).is_grouping_opaque = true;
  more.user = "ann";
  EXPECT_EQ(After(job, JobOpened{.stages = MapReduceStages({}, {})}, more), "");
  EXPECT_EQ(job.state.opened->name, "word count");
  EXPECT_EQ(job.state.opened->engine, "hadoop");
  EXPECT_EQ(job.state.opened->user, "ann");
  EXPECT_EQ(job.state.reduce_slots(), 2u);
  EXPECT_EQ(job.state.map_stage()->opened.has_combiner, true);
  EXPECT_EQ(job.state.reduce_stage()->opened.is_grouping_opaque, true);
  EXPECT_EQ(job.state.map_tasks().size(), 4u);
  EXPECT_EQ(job.state.reduce_tasks().size(), 2u);
}

TEST_F(FoldIntoOpenJob, AContradictingJobOpenedIsCountedAndIgnored) {
  JobOpened other = Opened(5, 2);
  other.name = "sort";
  EXPECT_EQ(After(other), "1 anomalies");
  EXPECT_EQ(job_.state.map_stage()->opened.task_count, 3u);
  EXPECT_EQ(job_.state.opened->name, "word count");
}

TEST(Fold, ATaskMayBeReportedBeforeTheNumberOfTasks) {
  Job job;
  After(job, Opened(), Started(M(2)));
  EXPECT_EQ(job.state.map_tasks().size(), 3u);
  EXPECT_TRUE(job.state.map_tasks()[2].is_running());
}

TEST_F(FoldIntoOpenJob, IgnoresEventsAfterTheJobClosed) {
  EXPECT_EQ(After(Closed(JobOutcome::kKilled, "by its user"), Started(M(0)), Started(M(99)),
                  Closed(JobOutcome::kSucceeded)),
            "");
  EXPECT_EQ(job_.state.closed->outcome, JobOutcome::kKilled);
  EXPECT_EQ(job_.state.closed_at, At(1));
  EXPECT_FALSE(job_.state.map_tasks()[0].is_running());
  EXPECT_EQ(job_.state.sources.at("app-master").accepted_sequence, 5u) << "still acknowledged";
}

// --- attempts

// Returns the start or the end of the first map task, on an executor.
AttemptChanged OnExecutor(AttemptChanged changed, std::uint32_t executor) {
  changed.executor = executor;
  return changed;
}

TEST_F(FoldIntoOpenJob, CorrectsTheClockOfASource) {
  Event event = Source("m-0").At(10, Started(M(0)));
  event.sent_at = At(10 - 3600);
  std::get<AttemptChanged>(event.body).at = At(8 - 3600);
  EXPECT_TRUE(job_.Take(event).ok());
  EXPECT_EQ(MapAttempt(job_).life.started_at(), At(8));
}

TEST_F(FoldIntoOpenJob, RejectsATimeInAnotherUnit) {
  Event event = Source("m-0").At(10, Started(M(0)));
  event.sent_at = absl::FromUnixSeconds(1'750'000'000);
  std::get<AttemptChanged>(event.body).at = absl::FromUnixNanos(1'750'000'000'000);  // milliseconds
  EXPECT_THAT(job_.Take(event).message(),
              HasSubstr("changed_at is 1970-01-01, more than 999 d from sent_at; send both in "
                        "nanoseconds since 1970"));
  EXPECT_FALSE(job_.state.map_tasks()[0].is_running());
}

TEST_F(FoldIntoOpenJob, CountsAContradictingAttemptState) {
  EXPECT_EQ(After(Finished(M(0)), Failed(M(0))), "1 anomalies, 1 missing profiles");
  EXPECT_TRUE(job_.state.map_tasks()[0].is_finished());
}

TEST_F(FoldIntoOpenJob, KeepsTheFirstHostAndInputSizeOfAnAttempt) {
  AttemptChanged finished = OnExecutor(Finished(M(0)), 2);
  finished.input_bytes = 200;
  After(ExecutorOpened{.executor = 1, .host = "node-1"},
        ExecutorOpened{.executor = 2, .host = "node-2"}, OnExecutor(Started(M(0), 100), 1),
        finished);
  EXPECT_EQ(MapAttempt(job_).life.host, "node-1");
  EXPECT_EQ(job_.state.map_tasks()[0].input_bytes, 100u);
}

TEST_F(FoldIntoOpenJob, TheReducePhaseOfAnAttemptStartsWhenItHasShuffled) {
  job_.Add(1, Started(R(0))).Add(4, Shuffled(R(0)));
  EXPECT_EQ(ReduceWorkOf(job_).reduce_started_at, At(4));
}

TEST_F(FoldIntoOpenJob, RecordsTheMostTasksAtOnce) {
  job_.Fold({{1, Started(M(0))}, {1, Started(M(1))}, {2, Finished(M(0))}, {2, Started(M(2))}});
  EXPECT_EQ(job_.state.map_slots(), 2u);
  EXPECT_EQ(job_.state.reduce_slots(), 1u) << "at least one";
}

// Reports without input may continue beside profiles or another source that reports input.
TEST_F(FoldIntoOpenJob, AReportWithoutInputIsStartUpOnlyBeforeTheFirstInput) {
  After(Started(M(0)), Read(M(0), 0));
  EXPECT_EQ(MapAttempt(job_).start_up(), absl::ZeroDuration()) << "no input is known";
  After(Read(M(0), 0), Read(M(0), 100), Read(M(0), 0));
  EXPECT_EQ(MapAttempt(job_).start_up(), absl::Seconds(2));
  After(TaskHeartbeat{.attempt = M(0), .records_done = 1}, Read(M(0), 0));
  EXPECT_EQ(MapAttempt(job_).start_up(), absl::Seconds(2));
}

TEST_F(FoldIntoOpenJob, ShrinkingHeartbeatsAreCountedAndIgnored) {
  for (const AttemptId id : {M(0), R(0)}) After(Read(id, 100), Read(id, 60));
  EXPECT_EQ(MapAttempt(job_).bytes_done, 100u);
  EXPECT_EQ(ReduceWorkOf(job_).fetched_bytes, 100u);
  EXPECT_EQ(CountsOf(job_), "2 anomalies");
}

// The task counts no bytes of a combined split, but the application master knows its progress.
TEST_F(FoldIntoOpenJob, AHeartbeatWithoutBytesContradictsNoOther) {
  EXPECT_EQ(After(Read(M(0), 100), Read(M(0), 0)), "");
  EXPECT_EQ(MapAttempt(job_).bytes_done, 100u);
}

// --- map profiles

const std::vector<PartitionProfile> kPairs = {Partition(0, 100, {Key(1, 60)}), Partition(1, 10)};
const MapProfile kPairsOf0 = Emitted(M(0), kPairs);

TEST_F(FoldIntoOpenJob, AMapProfileCountsOnceItsAttemptHasFinished) {
  EXPECT_EQ(After(kPairsOf0), "");
  EXPECT_EQ(After(Finished(M(0))), "1 profiles");
  EXPECT_EQ(job_.state.keys.partition(0).total_bytes, 100u);
}

TEST_F(FoldIntoOpenJob, AMapProfileMayComeAfterItsAttemptHasFinished) {
  EXPECT_EQ(After(Finished(M(0))), "1 missing profiles");
  EXPECT_EQ(After(kPairsOf0), "1 profiles");
}

TEST_F(FoldIntoOpenJob, ASecondMapProfileIsIgnoredAndCounted) {
  EXPECT_EQ(After(kPairsOf0, Emitted(M(0), {Partition(0, 7)}), Finished(M(0)), kPairsOf0),
            "2 anomalies, 1 profiles");
  EXPECT_EQ(job_.state.keys.partition(0).total_bytes, 100u);
}

TEST_F(FoldIntoOpenJob, TheMapProfileOfAFailedAttemptNeverCounts) {
  Job late = OpenJob();
  EXPECT_EQ(After(kPairsOf0, Failed(M(0)), Finished(M(0, 1))), "1 missing profiles");
  EXPECT_EQ(After(Emitted(M(0, 1), kPairs)), "1 profiles");
  EXPECT_EQ(fold_test::After(late, Failed(M(0)), kPairsOf0, Finished(M(0, 1))),
            "1 anomalies, 1 missing profiles");
  EXPECT_EQ(fold_test::After(late, Emitted(M(0, 1), kPairs)), "1 anomalies, 1 profiles");
}

TEST_F(FoldIntoOpenJob, ARunningReduceFunctionEndsTheMapPhase) {
  EXPECT_EQ(After(Started(M(0)), Started(M(1)), kPairsOf0), "");  // Its end was lost.
  EXPECT_EQ(After(Shuffled(R(0))), "1 profiles, 2 missing profiles");
  EXPECT_EQ(After(Finished(M(0))), "1 profiles, 2 missing profiles") << "late, without effect";
}

TEST_F(FoldIntoOpenJob, ASpeculativeTwinCountsOnce) {
  EXPECT_EQ(After(kPairsOf0, Emitted(M(0, 1), kPairs), Finished(M(0, 1)), Killed(M(0, 0))),
            "1 profiles");
  EXPECT_EQ(job_.state.keys.partition(0).total_bytes, 100u);
}

TEST_F(FoldIntoOpenJob, ARerunOfALostMapTaskCountsOnce) {
  After(kPairsOf0, Finished(M(0, 0)), Obsolete(M(0, 0)));
  EXPECT_FALSE(job_.state.map_tasks()[0].is_finished());
  EXPECT_EQ(After(Emitted(M(0, 1), kPairs), Finished(M(0, 1))), "1 anomalies, 1 profiles");
  EXPECT_EQ(job_.state.keys.partition(0).total_bytes, 100u);
}

TEST_F(FoldIntoOpenJob, TheRerunOfALostMapTaskMaySendItsProfile) {
  EXPECT_EQ(After(Finished(M(0, 0)), Obsolete(M(0, 0))), "") << "not finished any more";
  EXPECT_EQ(After(Finished(M(0, 1))), "1 missing profiles");
  EXPECT_EQ(After(Emitted(M(0, 1), kPairs)), "1 profiles");
}

// Returns a job with an unknown number of map tasks, whose map phase ended after the profile of
// M(0).
Job AfterTheMapPhase() {
  Job job;
  EXPECT_EQ(After(job, Opened(std::nullopt, 2), kPairsOf0, Finished(M(0)), Shuffled(R(0))),
            "1 profiles");
  return job;
}

TEST(Fold, AMapTaskFirstReportedAfterTheMapPhaseHasAMissingProfile) {
  Job job = AfterTheMapPhase();
  EXPECT_EQ(After(job, Started(M(2))), "1 profiles, 2 missing profiles") << "implies M(1)";
}

TEST(Fold, ALateProfileOfAnUnknownMapTaskIsNotMissing) {
  Job job = AfterTheMapPhase();
  EXPECT_EQ(After(job, Emitted(M(1), kPairs)), "2 profiles");
  EXPECT_EQ(job.state.reduce_input_bytes(0), 200u);
}

TEST(Fold, AMapCountAfterTheMapPhaseShowsMissingProfiles) {
  Job job = AfterTheMapPhase();
  EXPECT_EQ(After(job, Opened(4, 2)), "1 profiles, 3 missing profiles");
  EXPECT_EQ(After(job, Emitted(M(3), kPairs)), "2 profiles, 2 missing profiles");
}

// --- events that could not be parsed

TEST_F(FoldIntoOpenJob, ARejectedEventIsNotLost) {
  Refuse({"app-master", 2}, job_.limits, job_.state);
  Event event = job_.source.At(1, Started(M(0)));
  event.sequence = 3;
  EXPECT_TRUE(job_.Take(event).ok());
  EXPECT_EQ(CountsOf(job_), "1 rejected");
}

TEST_F(FoldIntoOpenJob, ARejectedEventShowsTheGapBeforeItAndCountsOnce) {
  for (int i = 0; i < 2; ++i) Refuse({"app-master", 4}, job_.limits, job_.state);
  EXPECT_EQ(CountsOf(job_), "1 rejected, 2 lost");
  for (int i = 0; i < 2; ++i) Refuse({}, job_.limits, job_.state);
  EXPECT_EQ(CountsOf(job_), "3 rejected, 2 lost") << "events without a sequence are counted";
  EXPECT_EQ(job_.state.sources.size(), 1u);
}

TEST_F(FoldIntoOpenJob, ARejectedEventAddsNoSourceBeyondTheLimit) {
  job_.limits.sources_max = 1;
  Refuse({"other", 1}, job_.limits, job_.state);
  EXPECT_EQ(CountsOf(job_), "1 rejected");
  EXPECT_EQ(job_.state.sources.size(), 1u);
}

// --- the input of a reduce task

TEST_F(FoldIntoOpenJob, TheInputOfAReduceTaskIsReportedReadOrScaledUpForMissingProfiles) {
  After(Finished(M(0)), kPairsOf0, Finished(M(1)));
  EXPECT_EQ(job_.state.reduce_input_bytes(0), 200u);
  After(Started(R(0), 777), Reduced(R(1), At(3), {Point(5000, 1)}));
  EXPECT_EQ(job_.state.reduce_input_bytes(0), 777u);
  EXPECT_EQ(job_.state.reduce_input_bytes(1), 5000u) << "at least the bytes read";
}

TEST(Fold, AJobHasTheStagesThatAreReportedOrBoth) {
  const auto has_stages = [](std::vector<StageOpened> stages) {
    Job job;
    After(job, JobOpened{.stages = std::move(stages)});
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

StageOpened Generic(std::uint32_t stage, std::optional<std::uint32_t> tasks = {},
                    std::uint32_t attempt = 0) {
  return {.stage = stage, .attempt = attempt, .kind = StageKind::kGeneric, .task_count = tasks};
}

StageOpened WithParents(StageOpened stage, std::vector<std::uint32_t> parents) {
  stage.parents = std::move(parents);
  return stage;
}

Job OpenGeneric(std::vector<StageOpened> stages) {
  Job job;
  After(job, JobOpened{.name = "query", .stages = std::move(stages)});
  return job;
}

class FoldIntoJobWithoutStages : public FoldIntoOpenJob {
 protected:
  FoldIntoJobWithoutStages() { job_ = OpenGeneric({}); }
  // Opens a map stage of three tasks and a reduce stage of two tasks.
  std::string OpenMapAndReduceStages() {
    const std::vector<StageOpened> stages = MapReduceStages(3, 2);
    return After(stages[0], stages[1]);
  }
};

TEST(FoldStages, CountsTheTasksOfAStageOfAnyKind) {
  Job job = OpenGeneric({Generic(4, 3)});
  After(job, Started(Task(4, 0), 700), Started(Task(4, 2)), Read(Task(4, 0), 500),
        Finished(Task(4, 2)));
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
  After(job, Finished(Task(0, 0)));
  EXPECT_EQ(job.state.stages.at(0).finished_task_count(), 1u);
  EXPECT_EQ(job.state.stages.at(1).finished_task_count(), 0u);
}

// Events of different sources are not ordered, so a task may report before the driver.
TEST(FoldStages, AnAttemptOfAStageThatIsNotOpenYetIsKept) {
  Job job = OpenGeneric({Generic(0, 1)});
  Source task("task");
  EXPECT_TRUE(job.Take(task.At(1, Started(Task(7, 2)))).ok());
  EXPECT_TRUE(job.Take(task.At(2, Finished(Task(7, 2)))).ok());
  EXPECT_EQ(After(job, Generic(7, 5)), "");
  const Stage& stage = job.state.stages.at(7);
  EXPECT_EQ(stage.opened, Generic(7, 5));
  ASSERT_EQ(stage.tasks.size(), 1u);
  EXPECT_EQ(stage.tasks[0].index, 2u);
  EXPECT_TRUE(stage.tasks[0].is_finished());
}

TEST_F(FoldIntoJobWithoutStages, TasksReportedBeforeTheirMapAndReduceStagesAreKept) {
  After(Started(M(0), 700), Read(M(0), 300), Finished(M(1)), Started(R(0)), Read(R(0), 50),
        Shuffled(R(0)));
  OpenMapAndReduceStages();
  EXPECT_EQ(job_.state.anomalies, 0u);
  ASSERT_EQ(job_.state.map_tasks().size(), 3u);
  EXPECT_EQ(MapAttempt(job_).bytes_done, 300u);
  EXPECT_EQ(job_.state.map_tasks()[0].input_bytes, 700u);
  EXPECT_TRUE(job_.state.map_tasks()[1].is_finished());
  ASSERT_EQ(job_.state.reduce_tasks().size(), 2u);
  EXPECT_EQ(ReduceWorkOf(job_).fetched_bytes, 50u);
  EXPECT_EQ(ReduceWorkOf(job_).reduce_started_at, At(6));
  EXPECT_TRUE(job_.state.map_phase_is_over);
}

TEST_F(FoldIntoJobWithoutStages, AProfileImpliesTheKindOfItsStage) {
  EXPECT_EQ(After(Emitted(M(0), {Partition(0, 10)}), Finished(M(0)), Reduced(R(0), At(3), {})),
            "1 profiles");
  EXPECT_NE(job_.state.map_stage(), nullptr);
  EXPECT_NE(job_.state.reduce_stage(), nullptr);
}

TEST_F(FoldIntoJobWithoutStages, UnopenedStagesAreBounded) {
  job_.limits.stages_max = 2;
  After(Started(Task(7, 0)), Started(Task(8, 0)));
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
  const auto fail = [&](std::uint32_t stage_attempt, std::uint32_t attempt) {
    AttemptChanged failed = Failed(Task(2, 0, stage_attempt));
    failed.attempt.attempt = attempt;
    return job.Say(1, failed);
  };
  const std::uint32_t most = job.limits.attempts_per_task_max;
  for (std::uint32_t again = 0; again < 5; ++again) {
    for (std::uint32_t attempt = 0; attempt < most; ++attempt) {
      ASSERT_TRUE(fail(again, attempt).ok()) << again << " " << attempt;
    }
  }
  EXPECT_EQ(ExceededLimit(fail(3, most)), "attempts_per_task");
}

TEST_F(FoldIntoJobWithoutStages, AStageMayAppearAfterItsChildren) {
  EXPECT_EQ(After(WithParents(Generic(9, 2), {3}), Started(Task(9, 1)), Generic(3, 5)), "");
  EXPECT_EQ(job_.state.stages.size(), 2u);
  EXPECT_EQ(job_.state.stages.at(9).opened.parents, std::vector<std::uint32_t>{3});
}

// placement::TopologicalOrder() reports the cycle.
TEST(FoldStages, StagesInACycleAreKept) {
  const StageOpened first = WithParents(Generic(0, 1), {1, 1, kHuge});
  Job job = OpenGeneric({first, WithParents(Generic(1, 1), {0})});
  EXPECT_EQ(After(job, first, Finished(Task(0, 0)), Finished(Task(1, 0))), "");
  EXPECT_EQ(job.state.stages.at(0).opened.parents, (std::vector<std::uint32_t>{1, kHuge}));
  EXPECT_EQ(job.state.stages.at(1).finished_task_count(), 1u);
}

TEST(FoldStages, AResubmittedStageMayHaveFewerTasks) {
  Job job = OpenGeneric({Generic(2, 10)});
  After(job, Finished(Task(2, 9)), Generic(2, 3, /*attempt=*/1));
  EXPECT_EQ(job.state.stages.at(2).opened.task_count, 3u);
  EXPECT_TRUE(job.Say(3, Finished(Task(2, 2, 1))).ok());
  EXPECT_FALSE(job.Say(3, Finished(Task(2, 3, 1))).ok());
  EXPECT_TRUE(job.Say(4, Finished(Task(2, 8, 0))).ok()) << "late news of the first attempt";
  EXPECT_EQ(job.state.stages.at(2).finished_task_count(), 3u);
  EXPECT_EQ(CountsOf(job), "1 rejected");
}

// take() runs the first partition, and then some of the next partitions.
TEST_F(FoldIntoJobWithoutStages, AStageOfSomePartitionsHasTasksBeyondTheirNumber) {
  StageOpened some = Generic(2, 4);
  some.index_count = 34;
  After(some, Started(Task(2, 4)), Started(Task(2, 33)));
  const absl::Status refused = job_.Say(2, Started(Task(2, 34)));
  EXPECT_EQ(refused.message(), "task 34 of stage 2 does not exist: the stage has 34 indexes");
}

TEST(FoldStages, TheEndOfAStageIsThatOfItsNewestAttempt) {
  Job job = OpenGeneric({Generic(2, 10)});
  const auto& closed = job.state.stages.at(2).closed;
  After(job, StageClosed{.stage = 2, .outcome = JobOutcome::kFailed}, StageClosed{.stage = 2});
  EXPECT_EQ(closed->outcome, JobOutcome::kFailed) << "the first end";
  After(job, Generic(2, 3, /*attempt=*/1));
  EXPECT_FALSE(closed.has_value());
  After(job, StageClosed{.stage = 2});
  EXPECT_FALSE(closed.has_value()) << "late news of the first attempt";
  After(job, StageClosed{.stage = 2, .attempt = 1, .at = At(3.5)});
  EXPECT_EQ(closed->at, At(3.5));
  EXPECT_EQ(After(job, StageClosed{.stage = 7}), "");
  EXPECT_TRUE(job.state.stages.at(7).closed.has_value()) << "of a stage that is opened later";
}

TEST_F(FoldIntoJobWithoutStages, GroupsHaveTheLimitOfStages) {
  job_.limits.stages_max = 1;
  After(GroupOpened{"sql/1"});
  EXPECT_EQ(ExceededLimit(job_.Say(1, GroupOpened{"sql/2"})), "stages_per_job");
  After(GroupClosed{"sql/1"});
}

TEST_F(FoldIntoJobWithoutStages, ANewPlanReplacesTheOldOne) {
  const std::size_t empty = job_.state.memory_bytes;
  const auto plan = [&](std::vector<std::uint32_t> counts) {
    After(GroupOpened{.group = "sql/1", .planned_task_counts = counts});
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
  After(GroupOpened{"sql/1", std::string(600, 'x')});
  EXPECT_TRUE(absl::IsResourceExhausted(job_.Say(1, GroupOpened{"sql/2"})));
  EXPECT_TRUE(absl::IsResourceExhausted(job_.Say(1, GroupClosed{"sql/2"})));
  After(GroupClosed{"sql/1"});
}

TEST_F(FoldIntoOpenJob, AMapOrReduceStageHasOneAttempt) {
  StageOpened again = MapReduceStages(2, 1)[kMapStage];
  again.attempt = 1;
  EXPECT_TRUE(absl::IsInvalidArgument(job_.Say(1, again)));
  EXPECT_TRUE(absl::IsInvalidArgument(job_.Say(1, Started(Task(kMapStage, 0, 1)))));
  EXPECT_EQ(job_.state.map_tasks().size(), 3u);
}

const StageOpened kOfMaps = {.stage = kMapStage, .kind = StageKind::kMap};

TEST(FoldStages, AStageThatChangesItsKindIsCountedAndCompleted) {
  Job job = OpenGeneric({kOfMaps, WithParents(Generic(kMapStage), {9})});
  EXPECT_EQ(CountsOf(job), "1 anomalies");
  ASSERT_NE(job.state.map_stage(), nullptr);
  EXPECT_EQ(job.state.map_stage()->opened.parents, std::vector<std::uint32_t>{9});
}

TEST(FoldStages, AKindMayBeReportedLater) {
  const StageOpened unknown{.stage = kMapStage, .kind = StageKind::kUnknown};
  StageOpened stage = unknown;
  stage.task_count = 2;
  Job job = OpenGeneric({stage});
  EXPECT_EQ(job.state.map_stage(), nullptr);
  stage.kind = StageKind::kMap;
  EXPECT_EQ(After(job, stage, unknown), "");
  ASSERT_NE(job.state.map_stage(), nullptr);
  EXPECT_EQ(job.state.map_tasks().size(), 2u);
}

TEST(FoldStages, ACountReportedBeforeTheKindRespectsTheLimits) {
  Job job =
      OpenGeneric({{.stage = kMapStage, .task_count = kHuge, .partition_count = kHuge}, kOfMaps});
  EXPECT_LE(job.state.map_tasks().size(), job.limits.map_tasks_max);
  EXPECT_FALSE(job.Say(1, Emitted(M(0), {Partition(kHuge - 1, 10)})).ok());
  EXPECT_FALSE(job.Say(1, Started(M(kHuge - 1))).ok());
}

TEST_F(FoldIntoJobWithoutStages, ATaskBeyondALaterCountIsCountedAndDropped) {
  After(Started(M(7)));
  EXPECT_EQ(OpenMapAndReduceStages(), "1 anomalies");
  EXPECT_EQ(job_.state.map_tasks().size(), 3u);
}

// A map or reduce stage has only one attempt.
TEST_F(FoldIntoJobWithoutStages, AnotherAttemptAtALaterMapStageIsCountedAndDropped) {
  After(StageOpened{.stage = kMapStage, .kind = StageKind::kUnknown},
        Started(Task(kMapStage, 0, 1)), Started(M(0)));
  EXPECT_EQ(OpenMapAndReduceStages(), "1 anomalies");
  EXPECT_EQ(job_.state.map_tasks()[0].attempts.size(), 1u);
}

TEST_F(FoldIntoJobWithoutStages, TheInputOfAMapTaskIsThatOfItsFirstAttempt) {
  After(Started(M(1, 1), 200), Started(M(1, 0), 100), Started(Task(kMapStage, 0, 1), 300));
  OpenMapAndReduceStages();
  EXPECT_EQ(job_.state.map_tasks()[1].input_bytes, 100u);
  EXPECT_EQ(job_.state.map_tasks()[0].input_bytes, std::nullopt) << "no attempt of it is left";
}

TEST(FoldStages, TasksAreFoundInAnyOrderOfReports) {
  Job job = OpenGeneric({Generic(4)});
  for (const std::uint32_t i : {5u, 1u, 0u, 2u, 900u}) After(job, Started(Task(4, i)));
  for (const std::uint32_t i : {900u, 5u, 0u}) After(job, Finished(Task(4, i)));
  const Stage& stage = job.state.stages.at(4);
  EXPECT_EQ(stage.tasks.size(), 5u);
  EXPECT_EQ(stage.finished_task_count(), 3u);
  EXPECT_EQ(stage.running_task_count(), 2u);
  EXPECT_EQ(stage.running_tasks, 2u);
}

TEST_F(FoldIntoOpenJob, TheHostOfAMapTaskIsKept) {
  After(ExecutorOpened{.executor = 4, .host = "a", .slots = 2}, OnExecutor(Started(M(0)), 4));
  EXPECT_EQ(MapAttempt(job_).executor, 0u);
}

TEST(FoldStages, SizesOfAnotherCountAreIgnored) {
  Job job = OpenGeneric({Generic(4, 3)});
  StageOpened other = Generic(4, 5);
  other.task_bytes.assign(5, 1);
  EXPECT_EQ(After(job, other), "1 anomalies");
  EXPECT_TRUE(job.state.stages.at(4).opened.task_bytes.empty());
}

// Tez may have any number of map and reduce stages.
TEST(FoldStages, MapAndReduceTasksOfOtherStagesAreKeptWithoutTheirKeyGroups) {
  Job job = OpenGeneric({{.stage = 4, .kind = StageKind::kMap, .task_count = 1},
                         {.stage = 6, .kind = StageKind::kReduce, .task_count = 1}});
  EXPECT_EQ(After(job, Started(Task(4, 0)), Emitted(Task(4, 0), {Partition(0, 10)}),
                  Shuffled(Task(6, 0)), Reduced(Task(6, 0), At(2), {}), Finished(Task(6, 0))),
            "2 unused profiles");
  EXPECT_TRUE(job.state.stages.at(6).tasks.at(0).is_finished());
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
  After(Shuffled(R(0)));
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
  After(job, Started(Task(0, 0), 1'000'000), Read(Task(0, 0), 1'000'000));
  EXPECT_EQ(job.state.stages.at(0).opened.task_bytes[0], 1'000u);
  EXPECT_EQ(job.state.stages.at(0).tasks.at(0).attempts.at({0, 0}).bytes_done, 1'000'000u);
}

TEST(FoldStages, SizesOfMapTasksAreTheirInput) {
  JobOpened opened = Opened(2, 1);
  test::MapStage(opened).task_bytes = {100, 200};
  Job job;
  After(job, opened);
  EXPECT_EQ(job.state.map_tasks()[1].input_bytes, 200u);
}

TEST_F(FoldIntoOpenJob, EventsOfANewerSenderAreCountedAndIgnored) {
  EXPECT_EQ(After(UnknownEvent{}), "1 unknown");
  After(Started(M(0)));
}

TEST_F(FoldIntoOpenJob, KeepsTheReasonOfAFailure) {
  AttemptChanged failed = Failed(M(0));
  failed.failure = "disk full";
  After(failed);
  EXPECT_EQ(MapAttempt(job_).life.failure, "disk full");
}

TEST_F(FoldIntoOpenJob, AChangedExecutorIsCountedAndAnUnknownOneIsNot) {
  EXPECT_EQ(After(ExecutorOpened{.executor = 3, .host = "a"},
                  ExecutorOpened{.executor = 3, .host = "b"}, OnExecutor(Started(M(0)), 99)),
            "1 anomalies");
  EXPECT_EQ(MapAttempt(job_).life.host, "");
}

TEST_F(FoldIntoOpenJob, AClosedExecutorIsMarkedAndAnUnknownOneIsCounted) {
  After(ExecutorOpened{.executor = 3, .host = "a"}, ExecutorClosed{3});
  EXPECT_TRUE(job_.state.executors.at(0).is_closed());
  EXPECT_EQ(After(ExecutorClosed{4}), "1 anomalies");
}

TEST_F(FoldIntoOpenJob, NumbersOfExecutorsArePerSource) {
  Source other("other");
  After(ExecutorOpened{.executor = 3, .host = "a"});
  EXPECT_TRUE(job_.Take(other.At(1, ExecutorOpened{.executor = 3, .host = "b"})).ok());
  EXPECT_TRUE(job_.Take(other.At(2, OnExecutor(Started(M(0)), 3))).ok());
  EXPECT_EQ(MapAttempt(job_).life.host, "b");
}

}  // namespace
}  // namespace tidemark::facts::fold_test
