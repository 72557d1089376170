// Tests how the time of a reduce task is divided into units, with vectors that agents in other
// languages also use.

#include "agent/monotonic.h"
#include "agent/reduce_recorder.h"
#include "agent/shared.h"
#include "tests/agent/reduce_profiles.h"
#include "tests/test.h"
#include "tests/vectors/vectors.h"
#include "tidemark/v1/ingest_service.pb.h"

namespace tidemark::agent::reduce_units_test {
namespace {

using nlohmann::json;

class SetClock final : public Clock {
 public:
  ClockReading Now() const override { return {absl::FromUnixSeconds(1'700'000'000), nanos}; }
  std::int64_t Nanos() const override { return nanos; }
  std::int64_t nanos = 0;
};

void Call(const json& call, SetClock& clock, ReduceTaskAgent& task) {
  const std::string name = call[0];
  if (name == "at") clock.nanos = call[1];
  if (name == "begin") task.BeginGroup(vectors::FromHex(call[1]));
  if (name == "read") task.ValueRead(call[1]);
  if (name == "emit") task.BytesEmitted(call[1]);
  if (name == "end") task.EndGroup();
  if (name == "finish") task.Finish();
}

void ExpectPoints(const json& expected, const v1::ReduceProfile& profile) {
  ASSERT_EQ(static_cast<std::size_t>(profile.point_bytes_size()), expected.size());
  for (int i = 0; i < profile.point_bytes_size(); ++i) {
    const json& point = expected[static_cast<std::size_t>(i)];
    EXPECT_EQ(profile.point_bytes(i), point[0]);
    EXPECT_EQ(profile.point_counts(i), point[1]);
    EXPECT_NEAR(static_cast<double>(profile.point_nanos(i)), point[2], 1.0);
  }
}

void ExpectNamed(const json& expected, const v1::ReduceProfile& profile) {
  ASSERT_EQ(static_cast<std::size_t>(profile.finished_key_hashes_size()), expected.size());
  for (int i = 0; i < profile.finished_key_hashes_size(); ++i) {
    const json& key = expected[static_cast<std::size_t>(i)];
    EXPECT_EQ(profile.finished_key_hashes(i), vectors::ParseHash(key[0]));
    EXPECT_EQ(profile.finished_key_bytes(i), key[1]);
    EXPECT_EQ(profile.finished_key_nanos(i), key[2]);
    EXPECT_EQ(profile.finished_key_emitted_bytes(i), key[3]);
  }
}

TEST(ReduceRecorder, AgreesWithTheSharedVectors) {
  for (const auto& vector : vectors::Read("reduce_units.json")) {
    SCOPED_TRACE(vector["name"]);
    SetClock clock;
    AgentOptions options;
    options.burst_threshold_bytes = vector["burst_threshold_bytes"];
    options.burst_groups_max = vector["burst_groups_max"];
    const auto shared = std::make_shared<Shared>(options, "source", clock);
    v1::Control control;
    control.set_send_points(true);
    shared->settings.Apply(control);
    ReduceRecorder task({}, shared);
    task.Shuffled();
    for (const json& call : vector["calls"]) Call(call, clock, task);
    const v1::ReduceProfile profile = SentProfiles(*shared, clock).back();
    const json& expected = vector["profile"];
    EXPECT_EQ(profile.groups_done(), expected["groups_done"]);
    EXPECT_EQ(profile.bytes_done(), expected["bytes_done"]);
    EXPECT_EQ(profile.reduce_nanos(), expected["reduce_nanos"]);
    ExpectPoints(expected["points"], profile);
    ExpectNamed(expected["named"], profile);
  }
}

}  // namespace
}  // namespace tidemark::agent::reduce_units_test
