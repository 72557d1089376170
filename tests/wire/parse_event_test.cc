#include "proto/wire/parse_event.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "proto/wire/encode_event.h"
#include "tests/wire/some_events.h"
#include "tidemark/v1/event.pb.h"

namespace tidemark::wire {
namespace {

using ::testing::HasSubstr;

const absl::Time kArrived = absl::FromUnixMillis(1'700'000'000'250);

v1::Envelope Encoded(const Event& event) {
  v1::Envelope envelope;
  EncodeEvent(event, envelope);
  return envelope;
}

TEST(ParseEvent, IsTheInverseOfEncodeEvent) {
  for (const Event& event : SomeEvents()) {
    v1::Envelope received;
    ASSERT_TRUE(received.ParseFromString(Encoded(event).SerializeAsString()));
    const absl::StatusOr<Event> parsed = ParseEvent(received, event.arrived_at);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, event) << received.DebugString();
  }
}

TEST(ParseEvent, KnowsEveryStateAndOutcome) {
  for (int state = 0; state <= static_cast<int>(AttemptState::kObsolete); ++state) {
    AttemptChanged changed = SomeAttemptChanged();
    changed.state = static_cast<AttemptState>(state);
    EXPECT_EQ(ParseEvent(Encoded(WithBody(changed)), kArrived).value(), WithBody(changed));
  }
  for (int outcome = 0; outcome <= static_cast<int>(JobOutcome::kKilled); ++outcome) {
    const JobClosed closed{static_cast<JobOutcome>(outcome), "", {}};
    EXPECT_EQ(ParseEvent(Encoded(WithBody(closed)), kArrived).value(), WithBody(closed));
  }
}

TEST(ParseEvent, AnEventOfANewerVersionIsUnimplemented) {
  v1::Envelope envelope = Encoded(WithBody(JobOpened{}));
  envelope.clear_event();
  EXPECT_EQ(ParseEvent(envelope, kArrived).status().code(), absl::StatusCode::kUnimplemented);
}

TEST(HasPlace, NeedsNoEventAndNoInstant) {
  v1::Envelope envelope = Encoded(WithBody(JobOpened{}));
  envelope.clear_event();
  envelope.clear_sent_at();
  EXPECT_TRUE(HasPlace(envelope));
}

TEST(HasPlace, NeedsASourceAJobAndASequence) {
  const v1::Envelope whole = Encoded(WithBody(JobOpened{}));
  v1::Envelope no_source = whole;
  no_source.clear_source_id();
  v1::Envelope long_source = whole;
  long_source.set_source_id(std::string(129, 's'));
  v1::Envelope no_job = whole;
  no_job.clear_job_id();
  v1::Envelope no_sequence = whole;
  no_sequence.clear_sequence();
  for (const v1::Envelope& envelope : {no_source, long_source, no_job, no_sequence}) {
    EXPECT_FALSE(HasPlace(envelope));
  }
}

TEST(ParseEvent, CutsLongTextsBetweenCharacters) {
  JobClosed closed;
  for (int i = 0; i < 3000; ++i) closed.message += "\u00E9";  // two bytes each
  EnvelopeLimits limits;
  limits.text_bytes_max = 4095;
  const absl::StatusOr<Event> parsed = ParseEvent(Encoded(WithBody(closed)), kArrived, limits);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(std::get<JobClosed>(parsed->body).message, closed.message.substr(0, 4094));
}

TEST(ParseEvent, PointTimesTooLongForADurationSaturate) {
  v1::Envelope envelope = Encoded(WithBody(SomeReduceProfile()));
  envelope.mutable_reduce_profile()->set_point_nanos(0, std::numeric_limits<std::uint64_t>::max());
  const absl::StatusOr<Event> parsed = ParseEvent(envelope, kArrived);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_GT(std::get<ReduceProfile>(parsed->body).points[0].total_time, absl::Hours(24 * 365));
}

TEST(ParseEvent, IgnoresTheOrderOfPartitionsAndKeepsIt) {
  MapProfile profile = SomeMapProfile();
  std::swap(profile.partitions[0], profile.partitions[1]);
  EXPECT_EQ(ParseEvent(Encoded(WithBody(profile)), kArrived).value(), WithBody(profile));
}

// One envelope that must be refused: a good one, with one thing spoilt.
struct Malformed {
  const char* name;
  EventBody body;
  std::function<void(v1::Envelope&)> spoil;
  const char* message_part;
};

class ParseEventRefuses : public ::testing::TestWithParam<Malformed> {};

TEST_P(ParseEventRefuses, NamingFieldAndValue) {
  v1::Envelope envelope = Encoded(WithBody(GetParam().body));
  GetParam().spoil(envelope);
  const absl::StatusOr<Event> parsed = ParseEvent(envelope, kArrived);
  ASSERT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument) << envelope.DebugString();
  EXPECT_THAT(std::string(parsed.status().message()), HasSubstr(GetParam().message_part));
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();

const Malformed kHeaders[] = {
    {"NoSource", JobOpened{}, [](auto& e) { e.clear_source_id(); },
     "source_id has 0 bytes; send 1 to 128"},
    {"LongSource", JobOpened{}, [](auto& e) { e.set_source_id(std::string(129, 'x')); },
     "source_id has 129 bytes"},
    {"NoJob", JobOpened{}, [](auto& e) { e.clear_job_id(); }, "job_id has 0 bytes; send 1 to 256"},
    {"LongJob", JobOpened{}, [](auto& e) { e.set_job_id(std::string(257, 'x')); },
     "job_id has 257 bytes"},
    {"LongRun", JobOpened{}, [](auto& e) { e.set_run_uid(std::string(129, 'x')); },
     "run_uid has 129 bytes; send at most 128"},
    {"SequenceZero", JobOpened{}, [](auto& e) { e.set_sequence(0); },
     "sequence is 0; count from 1"},
    {"NoSentAt", JobOpened{}, [](auto& e) { e.clear_sent_at(); }, "sent_at is missing"},
    {"SentAtNanos", JobOpened{}, [](auto& e) { e.mutable_sent_at()->set_nanos(-1); },
     "envelope 42 of host-7: sent_at is 1700000000 s and -1 ns"},
};
INSTANTIATE_TEST_SUITE_P(Headers, ParseEventRefuses, ::testing::ValuesIn(kHeaders),
                         [](const auto& row) { return row.param.name; });

const Malformed kJobs[] = {
    {"PhaseUnspecified", JobOpened{},
     [](auto& e) { e.mutable_job_opened()->add_phases(v1::PHASE_UNSPECIFIED); }, "phases has 0"},
    {"PhaseUnknown", JobOpened{},
     [](auto& e) { e.mutable_job_opened()->add_phases(static_cast<v1::Phase>(77)); },
     "phases has 77"},
    {"PhaseTwice", SomeJobOpened(),
     [](auto& e) { e.mutable_job_opened()->add_phases(v1::PHASE_REDUCE); }, "phases has 3 after 3"},
    {"TooManyMapTasks", JobOpened{},
     [](auto& e) { e.mutable_job_opened()->set_map_task_count(1'000'001); },
     "map_task_count is 1000001; send at most 1000000"},
    {"TooManyReduceTasks", JobOpened{},
     [](auto& e) { e.mutable_job_opened()->set_reduce_task_count(1'000'001); },
     "reduce_task_count is 1000001"},
    {"TooManyPartitions", JobOpened{},
     [](auto& e) { e.mutable_job_opened()->set_partition_count(1'000'001); },
     "partition_count is 1000001"},
    {"SlowStartNan", JobOpened{},
     [](auto& e) { e.mutable_job_opened()->set_slow_start_fraction(kNan); },
     "slow_start_fraction is nan"},
    {"SlowStartAboveOne", JobOpened{},
     [](auto& e) { e.mutable_job_opened()->set_slow_start_fraction(1.5); },
     "slow_start_fraction is 1.5; send 0..1"},
    {"SubmittedAt", SomeJobOpened(),
     [](auto& e) { e.mutable_job_opened()->mutable_submitted_at()->set_seconds(253'402'300'800); },
     "submitted_at is 253402300800 s"},
    {"OutcomeUnspecified", JobClosed{}, [](auto& e) { e.mutable_job_closed()->clear_outcome(); },
     "outcome is 0"},
    {"OutcomeUnknown", JobClosed{},
     [](auto& e) { e.mutable_job_closed()->set_outcome(static_cast<v1::JobOutcome>(9)); },
     "outcome is 9"},
    {"ClosedAt", JobClosed{},
     [](auto& e) { e.mutable_job_closed()->mutable_at()->set_nanos(1'000'000'000); },
     "job closed: at is 0 s and 1000000000 ns"},
};
INSTANTIATE_TEST_SUITE_P(Jobs, ParseEventRefuses, ::testing::ValuesIn(kJobs),
                         [](const auto& row) { return row.param.name; });

const Malformed kAttempts[] = {
    {"NoAttempt", SomeAttemptChanged(),
     [](auto& e) { e.mutable_attempt_changed()->clear_attempt(); },
     "attempt changed: attempt.kind is 0"},
    {"KindUnknown", SomeAttemptChanged(),
     [](auto& e) {
       e.mutable_attempt_changed()->mutable_attempt()->set_kind(static_cast<v1::TaskKind>(5));
     },
     "attempt.kind is 5"},
    {"IndexTooLarge", SomeAttemptChanged(),
     [](auto& e) { e.mutable_attempt_changed()->mutable_attempt()->set_index(1'000'001); },
     "attempt.index is 1000001; send at most 1000000"},
    {"LongStage", SomeAttemptChanged(),
     [](auto& e) {
       e.mutable_attempt_changed()->mutable_attempt()->set_stage_id(std::string(257, 's'));
     },
     "attempt changed of r-3.1: attempt.stage_id has 257 bytes"},
    {"StateUnspecified", SomeAttemptChanged(),
     [](auto& e) { e.mutable_attempt_changed()->clear_state(); },
     "attempt changed of r-3.1: state is 0"},
    {"StateUnknown", SomeAttemptChanged(),
     [](auto& e) { e.mutable_attempt_changed()->set_state(static_cast<v1::AttemptState>(99)); },
     "state is 99"},
    {"MapTaskShuffles", AttemptChanged{},
     [](auto& e) { e.mutable_attempt_changed()->set_state(v1::ATTEMPT_STATE_SHUFFLED); },
     "only reduce tasks shuffle"},
    {"AtNanos", SomeAttemptChanged(),
     [](auto& e) { e.mutable_attempt_changed()->mutable_at()->set_nanos(-5); },
     "attempt changed of r-3.1: at is"},
    {"HeartbeatKind", TaskHeartbeat{}, [](auto& e) { e.mutable_task_heartbeat()->clear_attempt(); },
     "task heartbeat: attempt.kind is 0"},
    {"CpuTimeNegative", TaskHeartbeat{},
     [](auto& e) { e.mutable_task_heartbeat()->mutable_cpu_time()->set_seconds(-1); },
     "task heartbeat of m-0: cpu_time is -1 s"},
};
INSTANTIATE_TEST_SUITE_P(Attempts, ParseEventRefuses, ::testing::ValuesIn(kAttempts),
                         [](const auto& row) { return row.param.name; });

v1::PartitionProfile& FirstPartition(v1::Envelope& envelope) {
  return *envelope.mutable_map_profile()->mutable_partitions(0);
}

const Malformed kMapProfiles[] = {
    {"OfAReduceTask", SomeMapProfile(),
     [](auto& e) { e.mutable_map_profile()->mutable_attempt()->set_kind(v1::TASK_KIND_REDUCE); },
     "map profile of r-17: wrong kind of attempt; only map tasks"},
    {"HashWithoutSize", SomeMapProfile(),
     [](auto& e) { FirstPartition(e).add_explicit_key_hashes(1); },
     "map profile of m-17: 3 explicit_key_hashes but 2 explicit_key_bytes; send one size for each "
     "hash"},
    {"PartitionTwice", SomeMapProfile(), [](auto& e) { FirstPartition(e).set_partition(3); },
     "map profile of m-17: partition 3 appears twice"},
    {"PartitionTooLarge", SomeMapProfile(),
     [](auto& e) { FirstPartition(e).set_partition(1'000'000); },
     "partition 1000000; send one below 1000000"},
    {"ExplicitAboveTotal", SomeMapProfile(),
     [](auto& e) { FirstPartition(e).set_explicit_key_bytes(1, 101); },
     "map profile of m-17, partition 0: 701 bytes of explicit_key_bytes and 300 implicit_bytes but "
     "1000 total_bytes"},
    {"SumWraps", SomeMapProfile(),
     [](auto& e) { FirstPartition(e).set_explicit_key_bytes(1, kHuge); }, "but 1000 total_bytes"},
    {"ScannedAboveTotal", SomeMapProfile(),
     [](auto& e) { FirstPartition(e).set_scanned_bytes(1001); },
     "1001 scanned_bytes but 1000 total_bytes"},
};
INSTANTIATE_TEST_SUITE_P(MapProfiles, ParseEventRefuses, ::testing::ValuesIn(kMapProfiles),
                         [](const auto& row) { return row.param.name; });

const Malformed kReduceProfiles[] = {
    {"OfAMapTask", SomeReduceProfile(),
     [](auto& e) { e.mutable_reduce_profile()->mutable_attempt()->set_kind(v1::TASK_KIND_MAP); },
     "only reduce tasks"},
    {"PointCountsShort", SomeReduceProfile(),
     [](auto& e) { e.mutable_reduce_profile()->mutable_point_counts()->RemoveLast(); },
     "reduce profile of r-2: 2 point_bytes but 1 point_counts"},
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
     "bin_indexes[0] is 384; send one below 384"},
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
     "1 finished_key_hashes but 0 finished_key_bytes; send one size for each hash"},
    {"ReduceTimeNegative", SomeReduceProfile(),
     [](auto& e) {
       e.mutable_reduce_profile()->mutable_reduce_time()->set_seconds(-1);
       e.mutable_reduce_profile()->mutable_reduce_time()->set_nanos(0);
     },
     "reduce_time is -1 s and 0 ns; send zero or more"},
    {"LastFinishedAt", SomeReduceProfile(),
     [](auto& e) {
       e.mutable_reduce_profile()->mutable_last_group_finished_at()->set_nanos(1'000'000'000);
     },
     "last_group_finished_at is"},
    {"RunningElapsed", SomeReduceProfile(),
     [](auto& e) {
       e.mutable_reduce_profile()->mutable_running_group()->mutable_elapsed()->set_seconds(-3);
     },
     "running_group.elapsed is -3 s"},
    {"ProcessorUseWatched", SomeReduceProfile(),
     [](auto& e) {
       e.mutable_reduce_profile()->mutable_processor_use()->mutable_watched()->set_seconds(-3);
     },
     "processor_use.watched is -3 s"},
    {"ProcessorUseWaited", SomeReduceProfile(),
     [](auto& e) {
       e.mutable_reduce_profile()->mutable_processor_use()->mutable_waited()->set_seconds(-3);
     },
     "processor_use.waited is -3 s"},
    {"DroppedAboveDone", SomeReduceProfile(),
     [](auto& e) { e.mutable_reduce_profile()->set_dropped_points(41); },
     "dropped_points is 41 but groups_done is 40"},
};
INSTANTIATE_TEST_SUITE_P(ReduceProfiles, ParseEventRefuses, ::testing::ValuesIn(kReduceProfiles),
                         [](const auto& row) { return row.param.name; });

TEST(ParseEventLimits, HoldForArraysOfAllKinds) {
  EnvelopeLimits limits;
  limits.array_items_max = 1;
  const absl::Status points =
      ParseEvent(Encoded(WithBody(SomeReduceProfile())), kArrived, limits).status();
  EXPECT_EQ(points.message(),
            "reduce profile of r-2: 2 point_bytes; send at most 1 in one envelope");
  const absl::Status keys =
      ParseEvent(Encoded(WithBody(SomeMapProfile())), kArrived, limits).status();
  EXPECT_EQ(keys.message(),
            "map profile of m-17: 2 explicit_key_hashes; send at most 1 in one envelope");
}

}  // namespace
}  // namespace tidemark::wire
