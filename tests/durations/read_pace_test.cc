#include "master/forecast/durations/read_pace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "master/facts/fold.h"
#include "tests/master/events.h"

namespace tidemark::cost {
namespace {

using test::At;
using test::M;
using test::R;

// Two reduce tasks of 400 and 600 bytes; the first starts at second 10.
class ReadPace : public testing::Test {
 protected:
  ReadPace() {
    Fold(source_.At(0, test::Opened(1, 2)));
    Fold(source_.At(1, test::Emitted(M(0), {test::Partition(0, 400), test::Partition(1, 600)})));
    Fold(source_.At(10, test::Started(R(0))));
    Fold(source_.At(10, test::Shuffled(R(0))));
  }
  void Fold(const Event& event) { EXPECT_TRUE(model::Apply(event, {}, state_).ok()); }
  void Read(double seconds, std::uint64_t bytes) {
    ReduceProfile profile{.attempt = R(0)};
    profile.running_group =
        RunningGroup{.elapsed = absl::Seconds(seconds - 10), .bytes_read = bytes};
    Fold(source_.At(seconds, profile));
  }

  std::optional<Draws> SecondsAt(absl::Time now) const {
    return SecondsByBytesRead(state_, now, FixedDraws::For(2));
  }

  model::JobRecord state_{10};
  test::Source source_{"app-master"};
};

TEST_F(ReadPace, SaysNothingBeforeAnythingIsRead) {
  EXPECT_FALSE(SecondsByBytesRead(model::JobRecord(10), At(12), FixedDraws::For(2)).has_value());
  EXPECT_FALSE(SecondsAt(At(12)).has_value());
}

// 100 of 1000 bytes in 5 s: 45 s for the other 900.
TEST_F(ReadPace, CountsWhatTheRunningGroupHasRead) {
  Read(15, 100);
  auto seconds = SecondsAt(At(15));
  ASSERT_TRUE(seconds.has_value());
  EXPECT_NEAR(QuantileOf(*seconds, 0.5), 45, 1e-9);
  EXPECT_NEAR(QuantileOf(*seconds, 0.95), 45 * std::exp(1.645), 5);
}

// What a process reads in its first moments tells nothing of its pace.
TEST_F(ReadPace, SaysNothingWhileAllWhoBeganAreCold) {
  ReduceProfile profile{.attempt = R(0), .bytes_done = 1};
  profile.reduce_time = absl::Milliseconds(400);
  profile.processor_use = ProcessorUse{absl::Milliseconds(400), absl::Milliseconds(300), 2};
  Fold(source_.At(11, profile));
  EXPECT_FALSE(SecondsAt(At(11)).has_value());
  profile.bytes_done = 100;
  profile.reduce_time = absl::Milliseconds(1400);
  profile.processor_use = ProcessorUse{absl::Milliseconds(1400), absl::Milliseconds(300), 2};
  Fold(source_.At(12, profile));
  EXPECT_TRUE(SecondsAt(At(12)).has_value());
}

// More than it should have counts as all it should have: 400 of 1000 bytes in 4 s.
TEST_F(ReadPace, ATaskReadsNoMoreThanItsInput) {
  Read(14, 5000);
  auto seconds = SecondsAt(At(14));
  ASSERT_TRUE(seconds.has_value());
  EXPECT_NEAR(QuantileOf(*seconds, 0.5), 6, 1e-9);
}

}  // namespace
}  // namespace tidemark::cost
