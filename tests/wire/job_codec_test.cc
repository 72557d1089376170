#include "proto/wire/job_codec.h"

#include "proto/wire/job_fields.h"
#include "tests/test.h"
#include "tests/wire/random_snapshots.h"
#include "tidemark/v1/job.pb.h"
#include "tidemark/v1/job_service.pb.h"

namespace tidemark::wire::job_codec_test {
namespace {

v1::Snapshot Encoded(const Snapshot& snapshot) {
  v1::Snapshot message;
  EncodeSnapshot(snapshot, message);
  return message;
}

// Returns a snapshot in which every field has another value.
Snapshot Full() {
  const absl::Time at = absl::FromUnixMillis(1'700'000'009'001);
  const Range range = {absl::Seconds(90), absl::Seconds(80), absl::Milliseconds(123'456)};
  const Estimate estimate = {
      EstimateState::kValid,     0.5, 0.25, 0.75, range, Basis::kThisRun, 0.875, "nearestfit",
      EstimateMethod::kKeyGroups};
  Snapshot snapshot = {.job_id = "job-1",
                       .run_uid = "run-1",
                       .sequence = 7,
                       .base_sequence = 5,
                       .at = at,
                       .state = JobState::kSucceeded,
                       .is_final = true,
                       .message = "done"};
  snapshot.info = {"word count", JobKind::kWorkflow, "hadoop", "app-1", "ann", "etl", "flow-1"};
  snapshot.started_at = at - absl::Seconds(9);
  snapshot.ended_at = at - absl::Seconds(1);
  snapshot.estimate = estimate;
  snapshot.counts = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  snapshot.silent_since = at - absl::Seconds(2);
  snapshot.estimate_raised = {RaiseCause::kMoreStages, 2, 0.625};
  snapshot.idle_since = at - absl::Seconds(3);
  snapshot.notes = {"log is full"};
  snapshot.stage_infos = {{{1, 2}, 3, "parse", StageKind::kReduce, {0, 1}, "query 1", "pool 1"}};
  const StageId stage = {1, 2};
  const ShuffleProgress shuffle = {0.5, 2, 1};
  const Throughput throughput = {900, 8, 112.5, 1};
  snapshot.stages = {{stage, StageState::kRunning, 0.25, 4, 2, 1, 6, at, at + absl::Seconds(1),
                      range, range, absl::Seconds(3), "cpu", true, shuffle, "out of memory",
                      throughput}};
  const std::vector<std::uint32_t> after = {2, 3};
  snapshot.children = {
      {1, "a", "job-2", ChildState::kRetryable, estimate, at, at, range, true, 2, "failed", after}};
  snapshot.groups = {{"sql/3", "the sales of May", JobState::kFailed, "no such table", 0.5, at, at,
                      range, Basis::kThisRun, EstimateState::kOverdue}};
  snapshot.headline_group = "sql/3";
  snapshot.may_grow = true;
  snapshot.throughput = Throughput{900, 8, 90, 0.8};
  snapshot.removed_stages = {{1, 3}, {2, 0}};
  const AttemptId attempt = {.stage = 1, .index = 3, .attempt = 4, .stage_attempt = 2};
  snapshot.named_tasks = {{attempt, 1, "node-5", range, 12, 4096, 0.75, true, "heavy"}};
  snapshot.indicators = {{estimate, 0.125, Evidence{0.5, 0.25, 0.125, 0.0625, 0.0625}}};
  snapshot.coverage = {at, 1, 2, 3, 4, 5, 0.5, 6};
  snapshot.errors = {{"nearestfit", 1.5, 2.5, 3, 4, 0.9, 1.5, absl::Seconds(24), absl::Seconds(15)},
                     {.indicator = "hadoop"}};
  return snapshot;
}

TEST(JobCodec, CoversAllFieldsOfAMessage) {
  EXPECT_TRUE(CoversAllFields<Snapshot>(*v1::Snapshot::descriptor()));
  EXPECT_TRUE(CoversAllFields<Range>(*v1::Range::descriptor()));
  EXPECT_TRUE(CoversAllFields<Estimate>(*v1::Estimate::descriptor()));
  EXPECT_TRUE(CoversAllFields<JobInfo>(*v1::JobInfo::descriptor()));
  EXPECT_TRUE(CoversAllFields<Counts>(*v1::Counts::descriptor()));
  EXPECT_TRUE(CoversAllFields<StageId>(*v1::StageId::descriptor()));
  EXPECT_TRUE(CoversAllFields<StageInfo>(*v1::StageInfo::descriptor()));
  EXPECT_TRUE(CoversAllFields<ShuffleProgress>(*v1::ShuffleProgress::descriptor()));
  EXPECT_TRUE(CoversAllFields<Throughput>(*v1::Throughput::descriptor()));
  EXPECT_TRUE(CoversAllFields<StageProgress>(*v1::StageProgress::descriptor()));
  EXPECT_TRUE(CoversAllFields<Child>(*v1::Child::descriptor()));
  EXPECT_TRUE(CoversAllFields<AttemptId>(*v1::TaskAttemptId::descriptor()));
  EXPECT_TRUE(CoversAllFields<NamedTask>(*v1::NamedTask::descriptor()));
  EXPECT_TRUE(CoversAllFields<Evidence>(*v1::Evidence::descriptor()));
  EXPECT_TRUE(CoversAllFields<Indicator>(*v1::Indicator::descriptor()));
  EXPECT_TRUE(CoversAllFields<Coverage>(*v1::Coverage::descriptor()));
  EXPECT_TRUE(CoversAllFields<IndicatorError>(*v1::IndicatorError::descriptor()));
}

// The codec casts enum values, so values and messages must use the same numbers.
TEST(JobCodec, EnumsHaveTheNumbersOfTheirMessages) {
  EXPECT_EQ(static_cast<int>(JobKind::kWorkflow), v1::JobKind_MAX);
  EXPECT_EQ(static_cast<int>(JobState::kUnknownEnd), v1::JobState_MAX);
  EXPECT_EQ(static_cast<int>(EstimateState::kFinal), v1::EstimateState_MAX);
  EXPECT_EQ(static_cast<int>(Basis::kDone), v1::Basis_MAX);
  EXPECT_EQ(static_cast<int>(EstimateMethod::kJobs), v1::EstimateMethod_MAX);
  EXPECT_EQ(static_cast<int>(StageKind::kGeneric), v1::StageKind_MAX);
  EXPECT_EQ(static_cast<int>(StageState::kUnknownEnd), v1::StageState_MAX);
  EXPECT_EQ(static_cast<int>(ChildState::kCancelled), v1::ChildState_MAX);
}

TEST(JobCodec, RoundTripKeepsEverything) {
  for (const Snapshot& snapshot : {Full(), Snapshot{}}) {
    v1::Snapshot received;
    ASSERT_TRUE(received.ParseFromString(Encoded(snapshot).SerializeAsString()));
    const absl::StatusOr<Snapshot> parsed = ParseSnapshot(received);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, snapshot) << received.DebugString();
  }
}

TEST(JobCodec, RoundTripKeepsRandomSnapshots) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Snapshot snapshot = test::RandomSnapshots(seed).First();
    const absl::StatusOr<Snapshot> parsed = ParseSnapshot(Encoded(snapshot));
    ASSERT_TRUE(parsed.ok()) << "seed " << seed << ": " << parsed.status();
    ASSERT_EQ(*parsed, snapshot) << "seed " << seed;
  }
}

TEST(JobCodec, DistinguishesPresenceFromZero) {
  Snapshot snapshot;
  snapshot.coverage = Coverage{};
  snapshot.info = JobInfo{};
  snapshot.estimate.remaining = Range{};
  snapshot.errors = {{.indicator = "exact", .last_stage_avg_points = 0}};
  EXPECT_EQ(ParseSnapshot(Encoded(snapshot)).value(), snapshot);
}

TEST(JobCodec, TreatsValuesOfANewerMasterAsUnknown) {
  v1::Snapshot message = Encoded(Full());
  message.set_state(static_cast<v1::JobState>(70));
  message.mutable_stages(0)->set_state(static_cast<v1::StageState>(71));
  message.mutable_children(0)->set_state(static_cast<v1::ChildState>(72));
  message.mutable_estimate()->set_basis(static_cast<v1::Basis>(73));
  const Snapshot snapshot = ParseSnapshot(message).value();
  EXPECT_EQ(snapshot.state, JobState::kUnknown);
  EXPECT_TRUE(snapshot.is_final);
  EXPECT_EQ(snapshot.stages[0].state, StageState::kUnknown);
  EXPECT_EQ(snapshot.children[0].state, ChildState::kUnknown);
  EXPECT_EQ(snapshot.estimate.basis, Basis::kUnknown);
}

TEST(JobCodec, InvalidUtf8DoesNotSpoilTheMessage) {
  Snapshot snapshot = Full();
  snapshot.notes = {"caf\xe9"};
  snapshot.stages[0].failure = "\xff";
  const Snapshot parsed = ParseSnapshot(Encoded(snapshot)).value();
  EXPECT_EQ(parsed.notes[0], "caf?");
  EXPECT_EQ(parsed.stages[0].failure, "?");
}

struct Malformed {
  const char* name;
  std::function<void(v1::Snapshot&)> spoil;
  const char* message;
};

class ParseJobSnapshotRefuses : public ::testing::TestWithParam<Malformed> {};

TEST_P(ParseJobSnapshotRefuses, NamingFieldAndValue) {
  v1::Snapshot message = Encoded(Full());
  GetParam().spoil(message);
  const absl::Status status = ParseSnapshot(message).status();
  ASSERT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().message));
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const Malformed kMalformed[] = {
    {"StageFraction", [](auto& s) { s.mutable_stages(0)->set_fraction_done(1.01); },
     "stages[0].fraction_done: must be from 0 to 1, not 1.01"},
    {"FractionNan",
     [](auto& s) {
       s.mutable_estimate()->set_fraction_done(std::numeric_limits<double>::quiet_NaN());
     },
     "estimate.fraction_done: must be a finite number, not nan"},
    {"FractionNegative",
     [](auto& s) { s.mutable_children(0)->mutable_estimate()->set_known_share(-1); },
     "children[0].estimate.known_share: must be from 0 to 1, not -1"},
    {"Evidence", [](auto& s) { s.mutable_indicators(0)->mutable_evidence()->set_ratio(2); },
     "indicators[0].evidence.ratio: must be from 0 to 1, not 2"},
    {"TaskShare", [](auto& s) { s.mutable_named_tasks(0)->set_heaviest_group_share(7); },
     "named_tasks[0].heaviest_group_share: must be from 0 to 1, not 7"},
    {"Coverage", [](auto& s) { s.mutable_coverage()->set_map_profiles(-1); },
     "coverage.map_profiles: must be from 0 to 1, not -1"},
    {"IntervalCoverage", [](auto& s) { s.mutable_errors(0)->set_interval_coverage(1.5); },
     "errors[0].interval_coverage: must be from 0 to 1, not 1.5"},
    {"IntervalWidth", [](auto& s) { s.mutable_errors(0)->set_interval_width(-1); },
     "errors[0].interval_width: must be 0 or more, not -1"},
    {"ErrorInfinite", [](auto& s) { s.mutable_errors(0)->set_job_avg_points(kInfinity); },
     "errors[0].job_avg_points: must be a finite number, not inf"},
    {"ErrorNegative", [](auto& s) { s.mutable_errors(0)->set_last_stage_max_points(-2); },
     "errors[0].last_stage_max_points: must be 0 or more, not -2"},
    {"At", [](auto& s) { s.mutable_at()->set_nanos(-1); },
     "at: must be from year 1 to year 9999 with 0 to 999999999 ns, not 1700000009 s and -1 ns"},
    {"Negative",
     [](auto& s) { s.mutable_estimate()->mutable_remaining()->mutable_median()->set_seconds(-1); },
     "estimate.remaining.median: must be from 0 to 315576000000 s, not -1 s and 0 ns"},
    {"Huge",
     [](auto& s) {
       s.mutable_stages(0)->mutable_ends_in()->mutable_upper()->set_seconds(1LL << 62);
     },
     "stages[0].ends_in.upper: must be from 0 to 315576000000 s"},
    {"Bounds",
     [](auto& s) { s.mutable_estimate()->mutable_remaining()->mutable_upper()->set_seconds(1); },
     "estimate.remaining: the median must be within the bounds"},
    {"StageTwice", [](auto& s) { *s.add_stages() = s.stages(0); },
     "stages: must be sorted by id, each id once"},
    {"StageWithoutInfo",
     [](auto& s) {
       s.set_base_sequence(0);
       s.mutable_stage_infos()->RemoveLast();
     },
     "stage_infos: must have the same stages as field stages"},
    {"ChildTwice", [](auto& s) { *s.add_children() = s.children(0); },
     "children: must be sorted by number, each number once"},
    {"GroupTwice", [](auto& s) { *s.add_groups() = s.groups(0); },
     "groups: must be sorted by group, each group once"},
};
INSTANTIATE_TEST_SUITE_P(Fields, ParseJobSnapshotRefuses, ::testing::ValuesIn(kMalformed),
                         [](const auto& row) { return row.param.name; });

TEST(SnapshotJson, ContainsNoLineBreak) {
  Snapshot snapshot = {.job_id = "job-1", .message = "x\xe2\x81\xa6y\xe2\x80\xaez"};
  EXPECT_THAT(SnapshotJson(snapshot), HasSubstr(R"("message":"x\u2066y\u202ez")"));
}

TEST(SnapshotJson, HasTheNamesOfTheProtoAndWritesZeros) {
  Snapshot snapshot = {.job_id = "job-1", .sequence = 3, .state = JobState::kRunning};
  snapshot.at = absl::FromUnixSeconds(1'700'000'000);
  snapshot.estimate = {.state = EstimateState::kValid,
                       .fraction_done = 0.5,
                       .remaining = Range{absl::Milliseconds(1500)}};
  snapshot.stages = {{.id = {0, 1}, .state = StageState::kPending}};
  const std::string json = SnapshotJson(snapshot);
  EXPECT_THAT(json, HasSubstr(R"("state":"JOB_STATE_RUNNING","final":false)"));
  EXPECT_THAT(json, HasSubstr(R"("at":"2023-11-14T22:13:20Z")"));
  EXPECT_THAT(json, HasSubstr(R"("remaining":{"median":"1.500s"})"));
  EXPECT_THAT(json, HasSubstr(R"("id":{"child":0,"stage":1},"state":"STAGE_STATE_PENDING")"));
  EXPECT_THAT(json, ::testing::Not(HasSubstr("\n")));
  EXPECT_EQ(json, SnapshotJson(snapshot));
}

// A median of zero must be present in addition to a lower bound.
TEST(SnapshotJson, HasEachFieldThatIsNotOptionalWhateverItsValue) {
  Snapshot snapshot;
  snapshot.estimate.remaining = Range{absl::ZeroDuration(), absl::ZeroDuration(), absl::Seconds(2)};
  snapshot.stage_infos = {StageInfo{}};
  snapshot.stages = {StageProgress{.starts_in = Range{}}};
  snapshot.children = {Child{.starts_in = Range{.lower = absl::ZeroDuration()}}};
  snapshot.named_tasks = {NamedTask{.remaining = Range{}}};
  const std::string json = SnapshotJson(snapshot);
  for (const char* part :
       {R"("remaining":{"median":"0s","lower":"0s","upper":"2s"})",
        R"("starts_in":{"median":"0s"})", R"("starts_in":{"median":"0s","lower":"0s"})",
        R"("stages":[{"id":{"child":0,"stage":0})", R"("stage_infos":[{"id":{"child":0,"stage":0})",
        R"("groups":[])", R"("final":false)",
        R"("estimate":{"state":"ESTIMATE_STATE_UNSPECIFIED","fraction_done":0)",
        R"("counts":{"stage_count":0)", R"("heaviest_group_bytes":"0")", R"("attempt":{"stage":0)",
        R"("remaining":{"median":"0s"})"}) {
    EXPECT_THAT(json, HasSubstr(part));
  }
  EXPECT_THAT(json, ::testing::Not(HasSubstr("late_probability"))) << "it is optional";
  EXPECT_THAT(json, ::testing::Not(HasSubstr("ends_in"))) << "it is not known";
}

TEST(WatchResponse, ItsHeadIsThatOfTheMessage) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    test::RandomSnapshots random(seed);
    v1::WatchJobResponse response;
    EncodeSnapshot(random.First(), *response.mutable_snapshot());
    response.mutable_snapshot()->set_base_sequence(random.Upto(300));
    response.set_skipped_snapshots(random.Upto(300));
    response.set_restarted(random.Chance(2));
    response.set_resume_token(random.Text());
    const auto head = ReadWatchResponseHead(response.SerializeAsString());
    ASSERT_TRUE(head);
    EXPECT_EQ(head->base_sequence, response.snapshot().base_sequence());
    EXPECT_EQ(head->skipped_snapshots, response.skipped_snapshots());
    EXPECT_EQ(head->restarted, response.restarted());
    EXPECT_EQ(head->resume_token, response.resume_token());
  }
}

TEST(WatchResponse, OmittedFieldsAreZero) {
  const auto head = ReadWatchResponseHead("");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->base_sequence, 0u);
  EXPECT_EQ(head->resume_token, "");
}

TEST(WatchResponse, RejectsTruncatedBytes) {
  v1::WatchJobResponse response;
  response.mutable_snapshot()->set_job_id("job-1");
  response.set_resume_token("1-2");
  const std::string bytes = response.SerializeAsString();
  int whole = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    v1::WatchJobResponse parsed;
    const bool is_response = parsed.ParseFromString(bytes.substr(0, size));
    EXPECT_EQ(ReadWatchResponseHead(bytes.substr(0, size)).has_value(), is_response) << size;
    whole += is_response ? 1 : 0;
  }
  EXPECT_EQ(whole, 2) << "nothing, and the snapshot alone";
}

}  // namespace
}  // namespace tidemark::wire::job_codec_test
