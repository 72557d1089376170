#include "proto/wire/parse_event.h"

#include <malloc.h>

#include "proto/wire/count_fields.h"
#include "proto/wire/encode_event.h"
#include "tests/test.h"
#include "tests/wire/encode_request.h"
#include "tests/wire/some_events.h"
#include "tidemark/job.h"
#include "tidemark/v1/event.pb.h"
#include "tidemark/v1/ingest_service.pb.h"

namespace tidemark::wire::parse_event_test {
namespace {

const absl::Time kArrived = absl::FromUnixMillis(1'700'000'000'250);

v1::Event Encoded(const EventBody& body) {
  v1::Event message;
  EncodeBody(body, message);
  return message;
}

// Returns the body after encoding and parsing.
EventBody Parsed(const EventBody& body) { return ParseBody(Encoded(body)).value(); }

TEST(ParseEvent, IsTheInverseOfEncodeEvent) {
  for (const Event& event : SomeEvents()) {
    const absl::StatusOr<Event> parsed = ParseEvent(EncodeEvent(event), event.arrived_at);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, event) << Encoded(event.body).DebugString();
  }
}

TEST(ParseEvent, ParsesEveryStateOutcomeAndKind) {
  for (int state = 0; state <= static_cast<int>(AttemptState::kLost); ++state) {
    AttemptChanged changed = SomeAttemptChanged();
    changed.state = static_cast<AttemptState>(state);
    EXPECT_EQ(Parsed(changed), EventBody(changed));
  }
  for (int outcome = 0; outcome <= static_cast<int>(JobOutcome::kUnknown); ++outcome) {
    const JobClosed closed{static_cast<JobOutcome>(outcome), "", {}};
    EXPECT_EQ(Parsed(closed), EventBody(closed));
  }
  for (int kind = 0; kind <= static_cast<int>(StageKind::kGeneric); ++kind) {
    const StageOpened stage{.kind = static_cast<StageKind>(kind)};
    EXPECT_EQ(Parsed(stage), EventBody(stage));
  }
  for (int precision = 0; precision <= static_cast<int>(SizePrecision::kEstimated); ++precision) {
    const StageOpened stage{.size_precision = static_cast<SizePrecision>(precision)};
    EXPECT_EQ(Parsed(stage), EventBody(stage));
  }
}

TEST(ParseEvent, ParsesAMapOnlyJob) {
  const auto job = std::get<JobOpened>(Parsed(JobOpened{.stages = MapReduceStages(3, 0)}));
  ASSERT_EQ(job.stages.size(), 1u);
  EXPECT_EQ(job.stages[0].kind, StageKind::kMap);
}

TEST(ParseEvent, KeepsSixtyFourParametersAndCutsLongOnes) {
  JobOpened job;
  for (int i = 100; i < 170; ++i) job.parameters[std::to_string(i)] = std::string(5000, 'x');
  job.parameters[""] = "nameless";
  const auto parsed = std::get<JobOpened>(Parsed(job));
  ASSERT_EQ(parsed.parameters.size(), 64u);
  EXPECT_EQ(parsed.parameters.begin()->first, "100");
  EXPECT_LE(parsed.parameters.begin()->second.size(), 1024u);
}

TEST(ParseEvent, ACombinerCanBeDenied) {
  StageOpened stage{.kind = StageKind::kMap};
  EXPECT_EQ(std::get<StageOpened>(Parsed(stage)).has_combiner, std::nullopt);
  stage.has_combiner = false;
  EXPECT_EQ(std::get<StageOpened>(Parsed(stage)).has_combiner, false);
}

TEST(CheckEvent, GivesTheEventThatParsingItsMessageGives) {
  for (const Event& event : SomeEvents()) {
    const absl::StatusOr<Event> checked = CheckEvent(event, event.arrived_at);
    const absl::StatusOr<Event> parsed = ParseEvent(EncodeEvent(event), event.arrived_at);
    ASSERT_TRUE(checked.ok() && parsed.ok()) << checked.status() << parsed.status();
    EXPECT_EQ(*checked, *parsed);
  }
}

TEST(CheckEvent, MakesTextsValidAndCutsThem) {
  JobOpened job{
      .name = std::string(5000, 'x') + "\xff", .user = "a\xff", .parameters = {{"", "v"}}};
  job.stages = {{.stage = 3, .name = "\xc0"}};
  const Event event = WithBody(job);
  const absl::StatusOr<Event> checked = CheckEvent(event, event.arrived_at);
  ASSERT_TRUE(checked.ok()) << checked.status();
  EXPECT_EQ(*checked, *ParseEvent(EncodeEvent(event), event.arrived_at));
  EXPECT_EQ(std::get<JobOpened>(checked->body).user, "a?");
}

TEST(CheckEvent, LimitsAndRoundsAsParsingDoes) {
  const EventBody bodies[] = {
      JobOpened{.deadline = absl::InfiniteFuture()}, AttemptChanged{.at = absl::InfinitePast()},
      TaskHeartbeat{.time = {.cpu = absl::Seconds(-1)}},
      TaskHeartbeat{.time = {.cpu = absl::Nanoseconds(1500)}},
      ReduceProfile{.groups_done = 1,
                    .reduce_time = absl::InfiniteDuration(),
                    .points = {{.count = 1, .total_time = absl::Seconds(-1)}}}};
  for (const EventBody& body : bodies) {
    const Event event = WithBody(body);
    const absl::StatusOr<Event> checked = CheckEvent(event, event.arrived_at);
    const absl::StatusOr<Event> parsed = ParseEvent(EncodeEvent(event), event.arrived_at);
    ASSERT_TRUE(checked.ok() && parsed.ok()) << checked.status() << parsed.status();
    EXPECT_EQ(*checked, *parsed) << body.index();
  }
}

// ParseEventRefuses tests these checks, which are the same.
TEST(CheckEvent, RejectsWhatParsingRejects) {
  const EventBody invalid[] = {AttemptChanged{.attempt = {.stage = kExpectedStages}},
                               TaskHeartbeat{.attempt = {.index = 2'000'000}},
                               JobOpened{.stages = {{.stage = 1, .parents = {1}}}},
                               StageOpened{.stage = 1, .task_records = {1}},
                               GroupOpened{},
                               GroupClosed{},
                               MapProfile{.partitions = {{.total_bytes = 1, .implicit_bytes = 2}}},
                               ReduceProfile{.groups_done = 1, .points = {{.count = 2}}}};
  for (const EventBody& body : invalid) {
    const Event event = WithBody(body);
    const absl::Status checked = CheckEvent(event, event.arrived_at).status();
    EXPECT_TRUE(absl::IsInvalidArgument(checked)) << body.index();
    EXPECT_EQ(checked, ParseEvent(EncodeEvent(event), event.arrived_at).status());
  }
  Event unnamed = WithBody(JobOpened{});
  unnamed.source_id.clear();
  EXPECT_FALSE(CheckEvent(unnamed, unnamed.arrived_at).ok());
  unnamed = WithBody(JobOpened{});
  unnamed.sequence = 0;
  EXPECT_FALSE(CheckEvent(unnamed, unnamed.arrived_at).ok());
}

// --- events of newer versions, which are accepted so that they are not lost

TEST(ParseNewer, AnUnknownEvent) {
  // Field 99, which no version defines.
  v1::Event message;
  ASSERT_TRUE(message.ParseFromString(std::string("\x9a\x06\x01x", 4)));
  EXPECT_EQ(ParseBody(message).value(), EventBody(UnknownEvent{}));
}

TEST(ParseNewer, RejectsAnEmptyEvent) {
  EXPECT_EQ(ParseBody(v1::Event()).status().message(), "it is empty; set one of its fields");
}

TEST(ParseNewer, AnUnknownState) {
  v1::Event message = Encoded(SomeAttemptChanged());
  message.mutable_attempt_changed()->set_state(static_cast<v1::AttemptState>(77));
  EXPECT_EQ(ParseBody(message).value(), EventBody(UnknownEvent{}));
}

TEST(ParseNewer, AnUnknownOutcomeIsAnEnd) {
  v1::Event message = Encoded(JobClosed{});
  message.mutable_job_closed()->set_outcome(static_cast<v1::JobOutcome>(77));
  const EventBody body = ParseBody(message).value();
  EXPECT_EQ(std::get<JobClosed>(body).outcome, JobOutcome::kUnknown);
  EXPECT_THAT(std::get<JobClosed>(body).message,
              ::testing::HasSubstr("a newer version of Tidemark reports outcome 77"));
}

TEST(ParseNewer, AStageOfAnUnknownKindIsGeneric) {
  v1::Event message = Encoded(SomeStage());
  message.mutable_stage_opened()->set_kind(static_cast<v1::StageKind>(77));
  message.mutable_stage_opened()->set_size_precision(static_cast<v1::SizePrecision>(77));
  StageOpened expected = SomeStage();
  expected.size_precision = SizePrecision::kUnknown;
  EXPECT_EQ(ParseBody(message).value(), EventBody(expected));
}

TEST(CheckPlace, NeedsNoEventAndNoInstant) {
  EXPECT_TRUE(CheckPlace({.job_id = "j", .source_id = "s", .sequence = 1}).ok());
}

TEST(CheckPlace, NeedsASourceAJobAndASequence) {
  const ReceivedEvent whole = EncodeEvent(WithBody(JobOpened{}));
  const auto refused = [&whole](auto spoil) {
    ReceivedEvent event = whole;
    spoil(event);
    const absl::StatusOr<Event> parsed = ParseEvent(event, kArrived);
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(parsed.status().message());
  };
  EXPECT_THAT(refused([](auto& e) { e.source_id.clear(); }),
              HasSubstr("source_id has 0 bytes; send 1 to 128"));
  EXPECT_THAT(refused([](auto& e) { e.source_id = std::string(129, 'x'); }),
              HasSubstr("source_id has 129 bytes"));
  EXPECT_THAT(refused([](auto& e) { e.job_id.clear(); }),
              HasSubstr("job_id has 0 bytes; send 1 to 256"));
  EXPECT_THAT(refused([](auto& e) { e.job_id = std::string(257, 'x'); }),
              HasSubstr("job_id has 257 bytes"));
  EXPECT_THAT(refused([](auto& e) { e.run_uid = std::string(129, 'x'); }),
              HasSubstr("run_uid has 129 bytes; send 0 to 128"));
  EXPECT_THAT(refused([](auto& e) { e.sequence = 0; }),
              "an event of host-7: its sequence is 0; count from 1");
  EXPECT_THAT(refused([](auto& e) { e.body = ""; }),
              "event 42 of host-7: it is empty; set one of its fields");
  EXPECT_THAT(refused([](auto& e) { e.sent_at.reset(); }),
              HasSubstr("event 42 of host-7: sent_at is missing or 0"));
  EXPECT_THAT(refused([](auto& e) { e.sent_at = absl::UnixEpoch(); }),
              HasSubstr("event 42 of host-7: sent_at is missing or 0"));
  EXPECT_THAT(refused([](auto& e) { e.body = "nonsense"; }),
              HasSubstr("event 42 of host-7: is not a tidemark.v1.Event"));
}

// Logs of earlier versions contain such ids.
TEST(CheckSource, RejectsControlCharactersThatLogsMayContain) {
  for (const char* id : {"a\nb", "\x1b[2J", "\x7f"}) {
    const ReceivedEvent event = {.job_id = id, .source_id = "s", .sequence = 1};
    EXPECT_THAT(std::string(CheckSource(event).message()),
                HasSubstr("job_id contains control characters; remove them"));
    EXPECT_TRUE(CheckPlace(event).ok());
  }
}

TEST(ParseEvent, CutsLongTextsBetweenCharacters) {
  JobClosed closed;
  for (int i = 0; i < 3000; ++i) closed.message += "\u00E9";  // two bytes each
  EventLimits limits;
  limits.text_bytes_max = 4095;
  const absl::StatusOr<EventBody> parsed = ParseBody(Encoded(closed), limits);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(std::get<JobClosed>(*parsed).message, closed.message.substr(0, 4094));
}

TEST(ParseEvent, TimesTooLongForADurationSaturate) {
  v1::Event message = Encoded(SomeReduceProfile());
  v1::ReduceProfile& reduce = *message.mutable_reduce_profile();
  reduce.set_point_nanos(0, std::numeric_limits<std::uint64_t>::max());
  reduce.set_reduce_nanos(std::numeric_limits<std::uint64_t>::max());
  const auto profile = std::get<ReduceProfile>(ParseBody(message).value());
  EXPECT_GT(profile.points[0].total_time, absl::Hours(24 * 365));
  EXPECT_GT(profile.reduce_time, absl::Hours(24 * 365));
  message = Encoded(SomeHeartbeat());
  message.mutable_task_heartbeat()->set_io_wait_micros(std::numeric_limits<std::uint64_t>::max());
  EXPECT_GT(std::get<TaskHeartbeat>(ParseBody(message).value()).time.waits[WaitReason::kIo],
            absl::Hours(24 * 365));
}

TEST(ParseEvent, IgnoresTheOrderOfPartitionsAndKeepsIt) {
  MapProfile profile = SomeMapProfile();
  std::swap(profile.partitions[0], profile.partitions[1]);
  EXPECT_EQ(Parsed(profile), EventBody(profile));
}

// An event that is valid except for one fault, and must be rejected.
struct Malformed {
  const char* name;
  EventBody body;
  std::function<void(v1::Event&)> spoil;
  const char* message_part;
};

class ParseEventRefuses : public ::testing::TestWithParam<Malformed> {};

TEST_P(ParseEventRefuses, NamingFieldAndValue) {
  v1::Event message = Encoded(GetParam().body);
  GetParam().spoil(message);
  const absl::StatusOr<EventBody> parsed = ParseBody(message);
  ASSERT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument) << message.DebugString();
  EXPECT_THAT(std::string(parsed.status().message()), HasSubstr(GetParam().message_part));
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();

v1::StageOpened& Stage(v1::Event& event) { return *event.mutable_stage_opened(); }

v1::PartitionProfile& FirstPartition(v1::Event& event) {
  return *event.mutable_map_profile()->mutable_partitions(0);
}

const Malformed kMalformed[] = {
    {"TooManyTasks", StageOpened{}, [](auto& e) { Stage(e).set_task_count(1'000'001); },
     "stage opened: stage 0: task_count is 1000001; send at most 1000000"},
    {"TooManyTasksOfAStageOfTheJob", SomeJobOpened(),
     [](auto& e) { e.mutable_job_opened()->mutable_stages(1)->set_task_count(1'000'001); },
     "job opened: stage 1: task_count is 1000001; send at most 1000000"},
    {"TooManyPartitions", StageOpened{}, [](auto& e) { Stage(e).set_partition_count(1'000'001); },
     "partition_count is 1000001"},
    {"LongSignature", StageOpened{}, [](auto& e) { Stage(e).set_signature(std::string(257, 'x')); },
     "size of signature in bytes is 257; send at most 256"},
    {"NumberOfTheMaster", StageOpened{}, [](auto& e) { Stage(e).set_stage(1U << 31); },
     "stage opened: stage is 2147483648; send at most 2147483647"},
    {"ParentOfTheMaster", SomeStage(), [](auto& e) { Stage(e).add_parents(1U << 31); },
     "stage opened: parent is 2147483648; send at most 2147483647"},
    {"EndOfAStageOfTheMaster", StageClosed{},
     [](auto& e) { e.mutable_stage_closed()->set_stage(1U << 31); },
     "stage closed: stage is 2147483648; send at most 2147483647"},
    {"ItsOwnParent", SomeStage(), [](auto& e) { Stage(e).add_parents(7); },
     "stage 7 is among its own parents"},
    {"FewerSizesThanTasks", SomeStage(),
     [](auto& e) { Stage(e).mutable_task_bytes()->RemoveLast(); },
     "stage 7 has 2 task_bytes but 3 indexes"},
    {"SizesOfUnknownTasks", SomeStage(), [](auto& e) { Stage(e).clear_task_count(); },
     "stage 7 has 3 task_bytes but no task_count; send task_count, and one size for each task"},
    {"MoreRecordsThanTasks", SomeStage(),
     [](auto& e) {
       Stage(e).clear_index_count();
       Stage(e).clear_task_bytes();
     },
     "stage 7 has 3 task_records but 2 tasks"},
    {"FewerIndexesThanTasks", SomeStage(), [](auto& e) { Stage(e).set_index_count(1); },
     "stage 7: index_count is 1, but it has 2 tasks; send at least as many indexes"},
    {"TooManyIndexes", StageOpened{}, [](auto& e) { Stage(e).set_index_count(1'000'001); },
     "index_count is 1000001; send at most 1000000"},
    {"EndOfAStageWithoutOutcome", StageClosed{},
     [](auto& e) { e.mutable_stage_closed()->clear_outcome(); },
     "stage closed: outcome is missing; send how the stage ended"},
    {"GroupWithoutName", GroupOpened{}, [](auto&) {},
     "group opened: group is missing; send the group of its stages"},
    {"PlanOfTooManyStages", GroupOpened{.group = "sql/1"},
     [](auto& e) {
       for (int i = 0; i <= 10'000; ++i) e.mutable_group_opened()->add_planned_task_counts(1);
     },
     "10001 planned_task_counts; send at most 10000"},
    {"PlanOfTooManyTasks", GroupOpened{.group = "sql/1"},
     [](auto& e) { e.mutable_group_opened()->add_planned_task_counts(1'000'001); },
     "planned_task_counts is 1000001; send at most 1000000"},
    {"EndOfNoGroup", GroupClosed{}, [](auto&) {}, "group closed: group is missing"},
    {"OutcomeUnspecified", JobClosed{}, [](auto& e) { e.mutable_job_closed()->clear_outcome(); },
     "outcome is missing"},
    {"NoAttempt", SomeAttemptChanged(),
     [](auto& e) { e.mutable_attempt_changed()->clear_attempt(); },
     "attempt changed: attempt is missing"},
    {"IndexTooLarge", SomeAttemptChanged(),
     [](auto& e) { e.mutable_attempt_changed()->mutable_attempt()->set_index(1'000'001); },
     "attempt.index is 1000001; send at most 1000000"},
    {"StageOfTheMaster", SomeAttemptChanged(),
     [](auto& e) { e.mutable_attempt_changed()->mutable_attempt()->set_stage(1U << 31); },
     "attempt.stage is 2147483648; send at most 2147483647"},
    {"StateUnspecified", SomeAttemptChanged(),
     [](auto& e) { e.mutable_attempt_changed()->clear_state(); },
     "attempt changed of task 3 of stage 1, attempt 1: state is missing"},
    {"HeartbeatOfNobody", TaskHeartbeat{},
     [](auto& e) { e.mutable_task_heartbeat()->clear_attempt(); },
     "task heartbeat: attempt is missing"},
    {"MapProfileOfNobody", SomeMapProfile(),
     [](auto& e) { e.mutable_map_profile()->clear_attempt(); }, "map profile: attempt is missing"},
    {"HashWithoutSize", SomeMapProfile(),
     [](auto& e) { FirstPartition(e).add_explicit_key_hashes(1); },
     "map profile of task 17 of stage 0: 3 explicit_key_hashes but 2 explicit_key_bytes; send one "
     "of each for each item"},
    {"PartitionTwice", SomeMapProfile(), [](auto& e) { FirstPartition(e).set_partition(3); },
     "map profile of task 17 of stage 0: partition 3 appears twice"},
    {"PartitionTooLarge", SomeMapProfile(),
     [](auto& e) { FirstPartition(e).set_partition(1'000'000); },
     "partition 1000000; send a number below 1000000"},
    {"ExplicitAboveTotal", SomeMapProfile(),
     [](auto& e) { FirstPartition(e).set_explicit_key_bytes(1, 101); },
     "partition 0: 701 bytes of explicit_key_bytes and 300 implicit_bytes but 1000 total_bytes"},
    {"SumWraps", SomeMapProfile(),
     [](auto& e) { FirstPartition(e).set_explicit_key_bytes(1, kHuge); }, "but 1000 total_bytes"},
    {"ScannedAboveTotal", SomeMapProfile(),
     [](auto& e) { FirstPartition(e).set_scanned_bytes(1001); },
     "1001 scanned_bytes but 1000 total_bytes"},
    {"ReduceProfileOfNobody", SomeReduceProfile(),
     [](auto& e) { e.mutable_reduce_profile()->clear_attempt(); },
     "reduce profile: attempt is missing"},
    {"PointCountsShort", SomeReduceProfile(),
     [](auto& e) { e.mutable_reduce_profile()->mutable_point_counts()->RemoveLast(); },
     "reduce profile of task 2 of stage 1: 2 point_bytes but 1 point_counts"},
    {"PointNanosLong", SomeReduceProfile(),
     [](auto& e) { e.mutable_reduce_profile()->add_point_nanos(1); },
     "2 point_bytes but 3 point_nanos"},
    {"PointOfNoGroups", SomeReduceProfile(),
     [](auto& e) { e.mutable_reduce_profile()->set_point_counts(1, 0); }, "point_counts[1] is 0"},
    {"MorePointsThanGroups", SomeReduceProfile(),
     [](auto& e) { e.mutable_reduce_profile()->set_point_counts(1, 37); },
     "point_counts add up to 41 but groups_done is 40"},
    {"PointSumWraps", SomeReduceProfile(),
     [](auto& e) { e.mutable_reduce_profile()->set_point_counts(1, kHuge); }, "groups_done is 40"},
    {"BinCountsShort", SomeReduceProfile(),
     [](auto& e) { e.mutable_reduce_profile()->mutable_bin_counts()->RemoveLast(); },
     "2 bin_indexes but 1 bin_counts"},
    {"BinBytesLong", SomeReduceProfile(),
     [](auto& e) { e.mutable_reduce_profile()->add_bin_bytes(1); }, "but 3 bin_bytes"},
    {"BinSecondsLong", SomeReduceProfile(),
     [](auto& e) { e.mutable_reduce_profile()->add_bin_seconds(1); }, "but 3 bin_seconds"},
    {"BinSquaresLong", SomeReduceProfile(),
     [](auto& e) { e.mutable_reduce_profile()->add_bin_seconds_squared(1); },
     "but 3 bin_seconds_squared"},
    {"BinTooLarge", SomeReduceProfile(),
     [](auto& e) { e.mutable_reduce_profile()->set_bin_indexes(0, 384); },
     "bin_indexes[0] is 384; send a number below 384"},
    {"BinTwice", SomeReduceProfile(),
     [](auto& e) { e.mutable_reduce_profile()->set_bin_indexes(0, 56); }, "bin 56 appears twice"},
    {"BinOfNoGroups", SomeReduceProfile(),
     [](auto& e) { e.mutable_reduce_profile()->set_bin_counts(0, 0); }, "bin_counts[0] is 0"},
    {"MoreBinsThanGroups", SomeReduceProfile(),
     [](auto& e) { e.mutable_reduce_profile()->set_bin_counts(0, 40); }, "bin_counts add up to 41"},
    {"SecondsNan", SomeReduceProfile(),
     [](auto& e) { e.mutable_reduce_profile()->set_bin_seconds(1, kNan); }, "bin_seconds is nan"},
    {"SecondsNegative", SomeReduceProfile(),
     [](auto& e) { e.mutable_reduce_profile()->set_bin_seconds(1, -1); }, "bin_seconds is -1"},
    {"SquaresInfinite", SomeReduceProfile(),
     [](auto& e) { e.mutable_reduce_profile()->set_bin_seconds_squared(0, kInfinity); },
     "bin_seconds_squared is inf"},
    {"KeyWithoutSize", SomeReduceProfile(),
     [](auto& e) { e.mutable_reduce_profile()->clear_finished_key_bytes(); },
     "1 finished_key_hashes but 0 finished_key_bytes; send one of each for each item"},
    {"DroppedAboveDone", SomeReduceProfile(),
     [](auto& e) { e.mutable_reduce_profile()->set_dropped_points(41); },
     "dropped_points is 41 but groups_done is 40"},
};
INSTANTIATE_TEST_SUITE_P(All, ParseEventRefuses, ::testing::ValuesIn(kMalformed),
                         [](const auto& row) { return row.param.name; });

TEST(ParseEventLimits, HoldForArraysOfAllKinds) {
  EventLimits limits;
  limits.array_items_max = 1;
  EXPECT_EQ(ParseBody(Encoded(SomeReduceProfile()), limits).status().message(),
            "reduce profile of task 2 of stage 1: 2 point_bytes; send at most 1 in one event");
  EXPECT_EQ(
      ParseBody(Encoded(SomeMapProfile()), limits).status().message(),
      "map profile of task 17 of stage 0: 2 explicit_key_hashes; send at most 1 in one event");
  limits.stages_max = 1;
  EXPECT_EQ(ParseBody(Encoded(SomeJobOpened()), limits).status().message(),
            "job opened: 2 stages; send at most 1 in one event, and the others as separate events");
}

TEST(CountFields, CountsThemWhereverTheyStand) {
  v1::StreamEventsRequest request;
  EncodeRequest(WithBody(SomeJobOpened()), request);
  request.add_events();
  const std::string bytes = request.SerializeAsString();
  EXPECT_EQ(CountFields(bytes, {v1::StreamEventsRequest::kEventsFieldNumber}), 2u);
  EXPECT_EQ(CountFields(bytes, {7, 1, 8}), 2u) << "stages of the job in the first of them";
  EXPECT_EQ(CountFields(bytes, {99}), 0u);
  EXPECT_EQ(CountFields("", {1}), 0u);
}

TEST(CountFields, StopsAtUnreadableBytes) {
  EXPECT_EQ(CountFields(std::string("\x3a\x00\x3a\x7f", 4), {7}), 1u) << "cut short";
  EXPECT_EQ(CountFields(std::string("\x3a\x00\xff\xff\xff\xff\xff", 7), {7}), 1u) << "no tag";
}

// A thread does not keep the memory of a hostile message.
TEST(ParseEvent, KeepsNoMemoryOfRejectedEventsOrOtherBytes) {
  const struct {
    const char* item;
    const char* body;
    const char* error;
  } rows[] = {{"\x42", "\x0a", "job opened: 100000 stages"},  // JobOpened.stages
              {"\x12", "\x3a", "map profile"}};               // MapProfile.partitions
  for (const auto& [item, body, error] : rows) {
    ReceivedEvent event = EncodeEvent(WithBody(JobOpened{}));
    std::string items;
    for (int i = 0; i < 100'000; ++i) items += item + std::string(1, '\0');
    event.body = body + std::string("\xc0\x9a\x0c") + items;  // 200,000 bytes
    const std::size_t before = mallinfo2().uordblks;
    EXPECT_THAT(std::string(ParseEvent(event, kArrived).status().message()), HasSubstr(error));
    EXPECT_LT(mallinfo2().uordblks, before + (std::size_t{1} << 20));
  }
}

// --- serialized sizes of reports

// Returns the size of a batch with one of these events, and the size that a second event adds to
// it.
std::pair<std::size_t, std::size_t> AloneAndInABatch(const EventBody& body) {
  v1::StreamEventsRequest batch;
  EncodeRequest(WithBody(body), batch);
  batch.clear_sources();  // Sources are sent only once per stream.
  batch.set_first_sequence(10'000);
  batch.set_dropped_events(0);
  const std::size_t alone = batch.ByteSizeLong();
  EncodeBody(body, *batch.add_events());
  return {alone, batch.ByteSizeLong() - alone};
}

TEST(WireSize, OfAHeartbeatIsLimited) {
  const struct {
    TaskHeartbeat heartbeat;
    std::size_t alone_max;
    std::size_t in_a_batch_max;
  } rows[] = {{{.attempt = {.stage = 1, .index = 123},
                .bytes_done = 64 << 20,
                .records_done = 1'000'000,
                .bytes_emitted = 64 << 20},
               40,
               25},
              // After an hour in a stage with many tasks, a heartbeat of Spark has six times and
              // two byte counts.
              {{.attempt = {.stage = 300, .index = 50'000},
                .bytes_done = 4ull << 30,
                .records_done = 100'000'000,
                .bytes_emitted = 1ull << 30,
                .time = {.cpu = absl::Minutes(50),
                         .waits = {{WaitReason::kProcessor, absl::Minutes(2)},
                                   {WaitReason::kMemory, absl::Minutes(2)},
                                   {WaitReason::kNetwork, absl::Minutes(4)},
                                   {WaitReason::kIo, absl::Minutes(2)}},
                         .moved_bytes = {{WaitReason::kNetwork, 3ull << 30},
                                         {WaitReason::kIo, 1ull << 30}}}},
               87,
               72},
              // After ten minutes, the heartbeat of a map task of Hadoop has its processor time and
              // two waits.
              {{.attempt = {.stage = 1, .index = 5'000},
                .bytes_done = 256 << 20,
                .records_done = 10'000'000,
                .bytes_emitted = 256 << 20,
                .time = {.cpu = absl::Minutes(12),
                         .waits = {{WaitReason::kProcessor, absl::Minutes(3)},
                                   {WaitReason::kMemory, absl::Seconds(20)}}}},
               58,
               46}};
  for (const auto& row : rows) {
    const auto [alone, in_a_batch] = AloneAndInABatch(row.heartbeat);
    EXPECT_LE(alone, row.alone_max);
    EXPECT_LE(in_a_batch, row.in_a_batch_max);
  }
}

TEST(WireSize, TheTimesOfAReduceTaskTakeAtMost20BytesOfItsProfile) {
  ReduceProfile profile;
  const std::size_t before = Encoded(profile).ByteSizeLong();
  profile.time = {.cpu = absl::Minutes(50),
                  .waits = {{WaitReason::kProcessor, absl::Minutes(4)},
                            {WaitReason::kMemory, absl::Minutes(1)}}};
  EXPECT_LE(Encoded(profile).ByteSizeLong() - before, 20u);
}

TEST(WireSize, AWaitTakesAtMostSixBytes) {
  TaskHeartbeat heartbeat;
  const std::size_t before = Encoded(heartbeat).ByteSizeLong();
  const absl::Duration wait = absl::Minutes(4);
  heartbeat.time = {.waits = {{WaitReason::kSlots, wait},
                              {WaitReason::kProcessor, wait},
                              {WaitReason::kMemory, wait},
                              {WaitReason::kNetwork, wait},
                              {WaitReason::kIo, wait}}};
  EXPECT_LE(Encoded(heartbeat).ByteSizeLong() - before, 5 * 6u);
}

}  // namespace
}  // namespace tidemark::wire::parse_event_test
