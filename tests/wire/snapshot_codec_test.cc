#include "proto/wire/snapshot_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "tidemark/v1/progress.pb.h"

namespace tidemark::wire {
namespace {

using ::testing::HasSubstr;

PhaseProgress SomePhase() {
  PhaseProgress phase;
  phase.phase = Phase::kReduce;
  phase.state = PhaseState::kRunning;
  phase.fraction_done = 0.25;
  phase.task_count = 4;
  phase.running_task_count = 2;
  phase.finished_task_count = 1;
  phase.started_at = absl::FromUnixMillis(1'700'000'001'500);
  phase.finished_at = absl::FromUnixMillis(1'700'000'002'500);
  return phase;
}

Forecast SomeForecast() {
  Forecast forecast;
  forecast.indicator = "nearestfit";
  forecast.state = ForecastState::kValid;
  forecast.fraction_done = 0.5;
  forecast.reduce_fraction_done = 0.125;
  forecast.remaining = absl::Seconds(90);
  forecast.remaining_lower = absl::Seconds(80);
  forecast.remaining_upper = absl::Milliseconds(123'456);
  forecast.evidence = Evidence{0.5, 0.25, 0.125, 0.0625, 0.0625};
  return forecast;
}

Snapshot SomeSnapshot() {
  Snapshot snapshot;
  snapshot.job_id = "job-1";
  snapshot.run_uid = "run-1";
  snapshot.job_name = "word count";
  snapshot.sequence = 7;
  snapshot.at = absl::FromUnixMillis(1'700'000'009'001);
  snapshot.state = JobState::kSucceeded;
  snapshot.message = "done";
  snapshot.started_at = absl::FromUnixMillis(1'700'000'000'001);
  snapshot.elapsed = absl::Seconds(9);
  snapshot.phases = {SomePhase(), PhaseProgress{}};
  snapshot.forecasts = {SomeForecast(), Forecast{.indicator = "hadoop"}};
  snapshot.straggler =
      Straggler{{kReduceStage, 3, 1}, "node-5", absl::Seconds(88), 12, 4096, 0.75, true, "heavy"};
  snapshot.coverage =
      Coverage{absl::Milliseconds(40), 1, 2, 3, 4, 5, 0.5, 6, {"log is full"}, absl::Seconds(12)};
  snapshot.errors = {{"nearestfit", 1, 2, 3, 4, 0.9}, {"hadoop", 10, 20, 30, 40, {}}};
  return snapshot;
}

v1::Snapshot Encoded(const Snapshot& snapshot) {
  v1::Snapshot message;
  EncodeSnapshot(snapshot, message);
  return message;
}

TEST(SnapshotCodec, EverythingSurvivesTheTrip) {
  for (const Snapshot& snapshot : {SomeSnapshot(), Snapshot{}}) {
    v1::Snapshot received;
    ASSERT_TRUE(received.ParseFromString(Encoded(snapshot).SerializeAsString()));
    const absl::StatusOr<Snapshot> parsed = ParseSnapshot(received);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, snapshot) << received.DebugString();
  }
}

TEST(SnapshotCodec, EveryStateSurvivesTheTrip) {
  for (int state = 0; state <= static_cast<int>(JobState::kAbandoned); ++state) {
    Snapshot snapshot;
    snapshot.state = static_cast<JobState>(state);
    EXPECT_EQ(ParseSnapshot(Encoded(snapshot)).value(), snapshot);
  }
  for (int state = 0; state <= static_cast<int>(ForecastState::kFinal); ++state) {
    Snapshot snapshot;
    snapshot.forecasts = {Forecast{.state = static_cast<ForecastState>(state)}};
    EXPECT_EQ(ParseSnapshot(Encoded(snapshot)).value(), snapshot);
  }
  for (int state = 0; state <= static_cast<int>(PhaseState::kDone); ++state) {
    Snapshot snapshot;
    snapshot.phases = {PhaseProgress{.state = static_cast<PhaseState>(state)}};
    EXPECT_EQ(ParseSnapshot(Encoded(snapshot)).value(), snapshot);
  }
}

TEST(SnapshotCodec, UnknownEnumValuesBecomeTheirZeroMeaning) {
  v1::Snapshot message = Encoded(SomeSnapshot());
  message.set_state(static_cast<v1::JobState>(70));
  message.mutable_phases(0)->set_state(static_cast<v1::PhaseState>(71));
  message.mutable_phases(0)->set_phase(static_cast<v1::Phase>(72));
  message.mutable_forecasts(0)->set_state(static_cast<v1::ForecastState>(73));
  const Snapshot snapshot = ParseSnapshot(message).value();
  EXPECT_EQ(snapshot.state, JobState::kRunning);
  EXPECT_EQ(snapshot.phases[0].state, PhaseState::kPending);
  EXPECT_EQ(snapshot.phases[0].phase, Phase::kMap);
  EXPECT_EQ(snapshot.forecasts[0].state, ForecastState::kWarmingUp);
}

struct Malformed {
  const char* name;
  std::function<void(v1::Snapshot&)> spoil;
  const char* message_part;
};

class ParseSnapshotRefuses : public ::testing::TestWithParam<Malformed> {};

TEST_P(ParseSnapshotRefuses, NamingFieldAndValue) {
  v1::Snapshot message = Encoded(SomeSnapshot());
  GetParam().spoil(message);
  const absl::StatusOr<Snapshot> parsed = ParseSnapshot(message);
  ASSERT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(parsed.status().message()), HasSubstr(GetParam().message_part));
}

const Malformed kMalformed[] = {
    {"PhaseFraction", [](auto& s) { s.mutable_phases(0)->set_fraction_done(1.01); },
     "phases.fraction_done is 1.01; send 0..1"},
    {"ForecastFractionNan",
     [](auto& s) {
       s.mutable_forecasts(0)->set_fraction_done(std::numeric_limits<double>::quiet_NaN());
     },
     "forecasts.fraction_done is nan"},
    {"ReduceFractionNegative",
     [](auto& s) { s.mutable_forecasts(0)->set_reduce_fraction_done(-0.5); },
     "forecasts.reduce_fraction_done is -0.5"},
    {"Evidence", [](auto& s) { s.mutable_forecasts(0)->mutable_evidence()->set_ratio(2); },
     "ratio is 2"},
    {"StragglerShare", [](auto& s) { s.mutable_straggler()->set_heaviest_group_share(7); },
     "straggler.heaviest_group_share is 7"},
    {"Coverage", [](auto& s) { s.mutable_coverage()->set_map_profiles(-1); },
     "coverage.map_profiles is -1"},
    {"IntervalCoverage", [](auto& s) { s.mutable_errors(0)->set_interval_coverage(1.5); },
     "errors.interval_coverage is 1.5"},
    {"ErrorInfinite",
     [](auto& s) {
       s.mutable_errors(0)->set_job_avg_error_points(std::numeric_limits<double>::infinity());
     },
     "errors.job_avg_error_points is inf"},
    {"At", [](auto& s) { s.mutable_at()->set_nanos(-1); }, "snapshot: at is"},
    {"Elapsed",
     [](auto& s) {
       s.mutable_elapsed()->set_seconds(1);
       s.mutable_elapsed()->set_nanos(-1);
     },
     "snapshot: elapsed is 1 s and -1 ns"},
    {"Remaining",
     [](auto& s) { s.mutable_forecasts(0)->mutable_remaining()->set_seconds(1LL << 62); },
     "forecasts.remaining is"},
};
INSTANTIATE_TEST_SUITE_P(Fields, ParseSnapshotRefuses, ::testing::ValuesIn(kMalformed),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace tidemark::wire
