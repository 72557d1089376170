#include "proto/wire/snapshot_delta.h"

#include "proto/wire/job_codec.h"
#include "tests/test.h"
#include "tests/wire/random_snapshots.h"
#include "tidemark/v1/job.pb.h"
#include "tidemark/v1/job_service.pb.h"

namespace tidemark::wire::snapshot_delta_test {
namespace {

using ::testing::Key;

Snapshot OverTheWire(const Snapshot& snapshot) {
  v1::Snapshot message;
  EncodeSnapshot(snapshot, message);
  v1::Snapshot received;
  EXPECT_TRUE(received.ParseFromString(message.SerializeAsString()));
  const auto parsed = ParseSnapshot(received);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed.value_or(Snapshot{});
}

std::size_t WireBytes(const Snapshot& snapshot) {
  v1::Snapshot message;
  EncodeSnapshot(snapshot, message);
  return message.ByteSizeLong();
}

TEST(SnapshotDelta, AppliedToItsBaseGivesTheNewerSnapshot) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    test::RandomSnapshots snapshots(seed);
    const auto view = static_cast<View>(snapshots.Upto(3));
    Snapshot published = snapshots.First();
    Snapshot reader = WithView(published, view);
    for (int step = 0; step < 8; ++step) {
      published = snapshots.Next(published);
      const Snapshot newer = WithView(published, view);
      const Snapshot delta = OverTheWire(Delta(reader, newer));
      const auto applied = Apply(reader, delta).value();
      ASSERT_EQ(applied, newer) << "seed " << seed << ", step " << step;
      reader = applied;
    }
  }
}

TEST(SnapshotDelta, ContainsOnlyChanges) {
  Snapshot base = {.job_id = "a", .sequence = 4};
  base.info = JobInfo{.name = "a"};
  base.coverage = Coverage{};
  base.stage_infos = {{.id = {0, 0}}, {.id = {0, 1}}, {.id = {0, 2}}};
  base.stages = {{.id = {0, 0}}, {.id = {0, 1}, .fraction_done = 0.5}, {.id = {0, 2}}};
  Snapshot newer = base;
  newer.sequence = 6;
  newer.stages[1].fraction_done = 0.75;
  newer.stages.pop_back();
  newer.stage_infos.pop_back();
  const Snapshot delta = Delta(base, newer);
  EXPECT_EQ(delta.base_sequence, 4u);
  EXPECT_THAT(delta.stages, ElementsAre(newer.stages[1]));
  EXPECT_THAT(delta.stage_infos, IsEmpty());
  EXPECT_THAT(delta.removed_stages, ElementsAre(StageId{0, 2}));
  EXPECT_FALSE(delta.info.has_value());
  EXPECT_FALSE(delta.coverage.has_value());
}

// "Ends in 60 s" and, a second later, "in 59 s" are the same forecast.
TEST(SnapshotDelta, OmitsAnUnchangedForecast) {
  Snapshot base = {.job_id = "a", .sequence = 1};
  base.stages = {{.id = {0, 0}, .ends_in = Range{absl::Seconds(60), absl::ZeroDuration()}}};
  base.children = {{.number = 1, .starts_in = Range{absl::Seconds(5)}}};
  base.groups = {{.group = "sql/3", .ends_in = Range{absl::Seconds(5)}},
                 {.group = "sql/4", .ends_in = Range{absl::Seconds(5)}}};
  Snapshot newer = base;
  newer.sequence = 2;
  newer.at += absl::Seconds(1);
  newer.stages[0].ends_in = Range{absl::Seconds(59), absl::ZeroDuration()};
  newer.children[0].starts_in->median = absl::Seconds(4);
  newer.groups[0].ends_in->median = absl::Seconds(4);
  newer.groups[1].ends_in->median = absl::Seconds(9);
  const Snapshot delta = Delta(base, newer);
  EXPECT_THAT(delta.stages, IsEmpty());
  EXPECT_THAT(delta.children, IsEmpty());
  EXPECT_EQ(delta.groups, (std::vector<Group>{newer.groups[1]}));
  EXPECT_EQ(Apply(base, delta).value(), newer);
}

TEST(SnapshotDelta, IsWholeIfNoDeltaIsPossible) {
  Snapshot base = {.job_id = "a", .sequence = 1};
  base.children = {{.number = 1}, {.number = 2}};
  Snapshot newer = {.job_id = "a", .sequence = 2};
  newer.children = {{.number = 2}};
  EXPECT_EQ(Delta(base, newer), newer);
  EXPECT_EQ(Apply(base, newer).value(), newer);
}

TEST(SnapshotDelta, DoesNotApplyToAnotherSnapshot) {
  Snapshot base = {.job_id = "a", .run_uid = "1", .sequence = 4};
  Snapshot newer = base;
  newer.sequence = 5;
  const Snapshot delta = Delta(base, newer);
  Snapshot other = base;
  other.sequence = 3;
  EXPECT_TRUE(absl::IsFailedPrecondition(Apply(other, delta).status()));
  other = base;
  other.run_uid = "2";
  EXPECT_TRUE(absl::IsFailedPrecondition(Apply(other, delta).status()));
  EXPECT_TRUE(Apply(base, delta).ok());
}

// Returns an application in progress with 300 stages that are done, 40 that are running, and others
// that are pending.
Snapshot LargeApplication() {
  const absl::Time start = absl::FromUnixMillis(1'700'000'000'123);
  Snapshot snapshot = {.job_id = "application_1700000000000_0042",
                       .run_uid = "a1b2c3d4-0001",
                       .sequence = 1000,
                       .at = start + absl::Seconds(300),
                       .state = JobState::kRunning};
  snapshot.info = JobInfo{.name = "tpcds q64", .kind = JobKind::kApplication, .engine = "spark"};
  snapshot.started_at = start;
  snapshot.estimate = {EstimateState::kValid,
                       0.3123,
                       0.2817,
                       0.3544,
                       Range{absl::Seconds(612.3), absl::Seconds(550.1), absl::Seconds(801.7)},
                       Basis::kThisRun,
                       0.9};
  for (std::uint32_t i = 0; i < 1000; ++i) {
    snapshot.stage_infos.push_back(
        {.id = {0, i}, .name = "map at query.scala:42", .kind = StageKind::kGeneric});
    StageProgress stage = {.id = {0, i}, .state = StageState::kPending, .tasks = 200};
    if (i < 340) stage.started_at = start + absl::Milliseconds(900 * i);
    if (i < 300) {
      stage.state = StageState::kDone;
      stage.fraction_done = 1;
      stage.finished_tasks = 200;
      stage.ended_at = start + absl::Milliseconds(900 * i + 750);
    } else if (i >= 340) {
      stage.starts_in = Range{absl::Seconds(i + 0.1), absl::Seconds(i - 9.9), absl::Seconds(i * 2)};
    }
    if (i >= 300) {
      stage.ends_in = Range{absl::Seconds(i + 2.1), absl::Seconds(i + 1.1), absl::Seconds(i * 3)};
      stage.task_time = absl::Milliseconds(1234);
    }
    snapshot.stages.push_back(stage);
  }
  for (std::uint32_t i = 0; i < 5; ++i) {
    snapshot.named_tasks.push_back({.attempt = {310 + i, 0, 17, 1},
                                    .host = "worker-117.example.org",
                                    .remaining = Range{absl::Seconds(41.7)},
                                    .reason = "it reads three times as much as the others"});
  }
  snapshot.coverage = Coverage{.newest_event_at = snapshot.at};
  snapshot.counts = CountParts(snapshot);
  return snapshot;
}

TEST(SnapshotDelta, FortyOfAThousandStagesTakeAtMostFourKilobytes) {
  const Snapshot base = LargeApplication();
  Snapshot newer = base;
  ++newer.sequence;
  newer.at += absl::Seconds(1);
  for (StageProgress& stage : newer.stages) {
    for (std::optional<Range>* range : {&stage.starts_in, &stage.ends_in}) {
      if (!*range) continue;
      for (absl::Duration* left : {&(*range)->median, &*(*range)->lower, &*(*range)->upper}) {
        *left = std::max(*left - absl::Seconds(1), absl::ZeroDuration());
      }
    }
  }
  for (std::uint32_t i = 300; i < 340; ++i) {
    StageProgress& stage = newer.stages[i];
    stage.state = StageState::kRunning;
    stage.running_tasks = 8;
    stage.finished_tasks = 137;
    stage.fraction_done = 0.6871;
    stage.ends_in = Range{absl::Seconds(31.234567), absl::Seconds(27.654321), absl::Seconds(99.1)};
    stage.task_time = absl::Milliseconds(1301);
    stage.is_critical = true;
  }
  newer.coverage->newest_event_at = newer.at;
  newer.counts = CountParts(newer);
  const Snapshot delta = Delta(base, newer);
  EXPECT_THAT(delta.stages, SizeIs(40));
  EXPECT_EQ(Apply(base, delta).value(), newer);
  EXPECT_LE(WireBytes(delta), 4096u);
  EXPECT_GT(WireBytes(newer), 90'000u);
  RecordProperty("delta_bytes", static_cast<int>(WireBytes(delta)));
}

TEST(JobView, OmitsThePartsOutsideOfTheView) {
  const Snapshot full = LargeApplication();
  const Snapshot stages = WithView(full, View::kStages);
  EXPECT_THAT(stages.stages, SizeIs(1000));
  EXPECT_THAT(stages.named_tasks, IsEmpty());
  EXPECT_FALSE(stages.coverage.has_value());
  const Snapshot basic = WithView(full, View::kBasic);
  EXPECT_THAT(basic.stages, IsEmpty());
  EXPECT_EQ(basic.counts.stages, 1000u);
  EXPECT_EQ(basic.counts.finished_stages, 300u);
  EXPECT_EQ(basic.estimate, full.estimate);
  EXPECT_LT(WireBytes(basic), 300u);
  EXPECT_EQ(WithView(full, View::kUnknown), full);
}

TEST(JobView, TheSmallestViewContainsTheGroupOfTheHeadline) {
  Snapshot full = LargeApplication();
  full.groups = {{.group = "sql/0", .state = JobState::kSucceeded},
                 {.group = "sql/1", .state = JobState::kRunning}};
  EXPECT_THAT(WithView(full, View::kBasic).groups, IsEmpty());
  full.headline_group = "sql/1";
  EXPECT_EQ(WithView(full, View::kBasic).groups, std::vector<Group>{full.groups[1]});
}

TEST(JobView, AListContainsTheErrorOfItsIndicator) {
  Snapshot ended = LargeApplication();
  ended.errors = {{.indicator = "hadoop", .job_avg_points = 30},
                  {.indicator = "tidemark", .job_avg_points = 2}};
  ended.estimate.indicator.clear();
  ASSERT_THAT(WithView(ended, View::kBasic).errors, SizeIs(1));
  EXPECT_EQ(WithView(ended, View::kBasic).errors[0].indicator, "tidemark");
  EXPECT_THAT(WithView(ended, View::kFull).errors, SizeIs(2));
  ended.estimate.indicator = "hadoop";
  EXPECT_EQ(WithView(ended, View::kStages).errors[0].indicator, "hadoop");
}

TEST(JobView, AViewOfAViewIsTheSmaller) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Snapshot snapshot = test::RandomSnapshots(seed).First();
    for (const View a : {View::kBasic, View::kStages, View::kFull}) {
      for (const View b : {View::kBasic, View::kStages, View::kFull}) {
        ASSERT_EQ(WithView(WithView(snapshot, a), b), WithView(snapshot, std::min(a, b)));
      }
    }
  }
}

TEST(JobFilter, MatchesAllConditions) {
  Snapshot job = {.job_id = "etl/parse-17", .state = JobState::kRunning};
  job.info =
      JobInfo{.name = "parse visits", .kind = JobKind::kMapReduce, .user = "ann", .queue = "q"};
  EXPECT_TRUE(Matches({}, job));
  EXPECT_TRUE(Matches({.states = {JobState::kQueued, JobState::kRunning}, .user = "ann"}, job));
  EXPECT_FALSE(Matches({.states = {JobState::kQueued}, .user = "ann"}, job));
  EXPECT_FALSE(Matches({.states = {JobState::kRunning}, .user = "bob"}, job));
  EXPECT_FALSE(Matches({.kinds = {JobKind::kWorkflow}}, job));
  EXPECT_FALSE(Matches({.queue = "other"}, job));
  EXPECT_FALSE(Matches({.workflow_id = "visits"}, job));
  EXPECT_TRUE(Matches({.name_prefix = "parse"}, job));
  EXPECT_FALSE(Matches({.name_prefix = "etl"}, job)) << "it has a name";
  job.info->name.clear();
  EXPECT_TRUE(Matches({.name_prefix = "etl/"}, job));
}

v1::WatchJobResponse Response(const Snapshot& snapshot, const std::string& token) {
  v1::WatchJobResponse response;
  EncodeSnapshot(snapshot, *response.mutable_snapshot());
  response.set_resume_token(token);
  return response;
}

TEST(JobReader, MakesWholeSnapshotsOfDeltas) {
  test::RandomSnapshots random(1);
  Snapshot published = random.First();
  JobReader reader;
  EXPECT_EQ(reader.Take(Response(published, "1")).value(), published);
  for (int i = 0; i < 20; ++i) {
    const Snapshot newer = random.Next(published);
    EXPECT_EQ(reader.Take(Response(Delta(published, newer), "2")).value(), newer);
    published = newer;
  }
  EXPECT_EQ(reader.resume_token(), "2");
}

TEST(JobReader, ARejectedResponseChangesNothing) {
  test::RandomSnapshots random(2);
  const Snapshot first = random.First();
  const Snapshot second = random.Next(first);
  const Snapshot third = random.Next(second);
  JobReader reader;
  ASSERT_TRUE(reader.Take(Response(first, "1")).ok());
  EXPECT_TRUE(
      absl::IsFailedPrecondition(reader.Take(Response(Delta(second, third), "3")).status()));
  v1::WatchJobResponse broken = Response(Delta(first, second), "2");
  broken.mutable_snapshot()->mutable_estimate()->set_fraction_done(7);
  EXPECT_TRUE(absl::IsInvalidArgument(reader.Take(broken).status()));
  EXPECT_EQ(reader.resume_token(), "1");
  EXPECT_EQ(reader.Take(Response(Delta(first, second), "2")).value(), second);
}

v1::WatchJobsResponse ListResponse(const std::vector<Snapshot>& jobs, const std::string& token) {
  v1::WatchJobsResponse response;
  for (const Snapshot& job : jobs) EncodeSnapshot(job, *response.add_snapshots());
  response.set_resume_token(token);
  return response;
}

TEST(JobListReader, KeepsTheListedJobs) {
  JobListReader reader;
  ASSERT_TRUE(reader.Take(ListResponse({{.job_id = "a"}, {.job_id = "b"}}, "1")).ok());
  EXPECT_FALSE(reader.is_synced());
  v1::WatchJobsResponse response = ListResponse({{.job_id = "b", .sequence = 2}}, "2");
  response.add_removed_job_ids("a");
  response.add_removed_job_ids("never seen");
  response.set_synced(true);
  ASSERT_TRUE(reader.Take(response).ok());
  EXPECT_TRUE(reader.is_synced());
  EXPECT_THAT(reader.jobs(), ElementsAre(Key("b")));
  EXPECT_EQ(reader.jobs().at("b").sequence, 2u);
  EXPECT_EQ(reader.resume_token(), "2");
}

TEST(JobListReader, RestartsOnRequest) {
  JobListReader reader;
  ASSERT_TRUE(reader.Take(ListResponse({{.job_id = "a"}}, "1")).ok());
  v1::WatchJobsResponse response = ListResponse({{.job_id = "c"}}, "2");
  response.set_restarted(true);
  ASSERT_TRUE(reader.Take(response).ok());
  EXPECT_THAT(reader.jobs(), ElementsAre(Key("c")));
}

TEST(JobListReader, RejectsADeltaInAList) {
  JobListReader reader;
  const auto status =
      reader.Take(ListResponse({{.job_id = "a", .sequence = 2, .base_sequence = 1}}, "1"));
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(reader.jobs(), IsEmpty());
  EXPECT_EQ(reader.resume_token(), "");
}

}  // namespace
}  // namespace tidemark::wire::snapshot_delta_test
