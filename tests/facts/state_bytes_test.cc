// Tests that the memory of one job is bounded for any events.

#include "master/facts/fold.h"
#include "tests/facts/events.h"
#include "tests/test.h"
#include "tidemark/limit.h"

namespace tidemark::facts::state_bytes_test {
namespace {

constexpr JobLimits kLimits = {.state_bytes_max = 100'000};

// Applies events from `next` until one is rejected.
template <typename Next>
absl::Status ApplyUntilRefused(JobRecord& state, Next next) {
  for (std::uint32_t n = 1; n < 100'000; ++n) {
    if (absl::Status status = Apply(next(n), kLimits, state); !status.ok()) return status;
  }
  return absl::OkStatus();
}

class StateBytes : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(Apply(app_.At(0, Opened(1000, 50)), kLimits, state_).ok()); }
  MapProfile ProfileOf(std::uint32_t task) {
    PartitionProfile partition{.partition = 0, .total_bytes = 1'000'000};
    partition.explicit_keys.assign(1000, test::Key(7, 10));
    return {.attempt = M(task), .partitions = {partition}};
  }

  Source app_;
  JobRecord state_{10};
};

TEST_F(StateBytes, PointsOfReduceTasksCount) {
  const absl::Status refused = ApplyUntilRefused(state_, [&](std::uint32_t n) {
    ReduceProfile profile{.attempt = R(n % 50)};
    for (std::uint64_t i = 1; i <= 100; ++i) {
      profile.points.push_back({i * 100'003 + n * 1'000'000'007ULL, 1, absl::Seconds(1)});
    }
    return app_.At(n, profile);
  });
  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  EXPECT_EQ(ExceededLimit(refused), "state_bytes_per_job");
}

TEST_F(StateBytes, AttemptsAndSourcesCount) {
  const absl::Status attempts = ApplyUntilRefused(
      state_, [&](std::uint32_t n) { return app_.At(n, Started(M(n % 1000, n / 1000))); });
  EXPECT_EQ(ExceededLimit(attempts), "state_bytes_per_job");
  Source stranger("stranger");
  EXPECT_EQ(ExceededLimit(Apply(stranger.At(1, test::Read(M(1), 1)), kLimits, state_)),
            "state_bytes_per_job");
}

// Tasks with lower indexes do not need to exist.
TEST_F(StateBytes, ATaskOfAHighIndexCountsAsOneTask) {
  StageOpened counted = {.stage = 9, .kind = StageKind::kGeneric, .task_count = 2'000'000};
  EXPECT_TRUE(Apply(app_.At(1, counted), kLimits, state_).ok());
  for (const std::uint32_t stage : {7U, 8U, 9U}) {
    EXPECT_TRUE(Apply(app_.At(1, Started({.stage = stage, .index = 0})), kLimits, state_).ok());
    const std::size_t before = state_.memory_bytes;
    EXPECT_TRUE(
        Apply(app_.At(1, Started({.stage = stage, .index = 1'000'000})), kLimits, state_).ok());
    EXPECT_LT(state_.memory_bytes - before, 1'000u);
    EXPECT_EQ(state_.stages.at(stage).tasks.size(), 2u);
  }
}

TEST_F(StateBytes, TasksOfAMapStageCountTheSameBeforeItsKindIsKnown) {
  const StageOpened map = {.stage = kMapStage, .kind = StageKind::kMap, .task_count = 9};
  AttemptChanged of_none = Started({.stage = kMapStage, .index = 3, .stage_attempt = 1});
  of_none.failure = "there is no such attempt";
  const auto bytes_after = [](std::vector<EventBody> events) {
    Source driver;
    JobRecord state{10};
    EXPECT_TRUE(Apply(driver.At(0, JobOpened{.name = "query"}), kLimits, state).ok());
    for (EventBody& event : events) {
      EXPECT_TRUE(Apply(driver.At(1, std::move(event)), kLimits, state).ok());
    }
    return state.memory_bytes;
  };
  EXPECT_EQ(bytes_after({Started(M(4)), Started(M(20)), Started(M(2)), of_none, map}),
            bytes_after({map, Started(M(2)), Started(M(4))}));
}

TEST_F(StateBytes, ProfilesCountUntilTheirTaskEnds) {
  const absl::Status refused =
      ApplyUntilRefused(state_, [&](std::uint32_t n) { return app_.At(n, ProfileOf(n)); });
  EXPECT_EQ(ExceededLimit(refused), "state_bytes_per_job");
  for (const std::uint32_t task : {1U, 2U}) {
    EXPECT_TRUE(Apply(app_.At(9, test::Finished(M(task))), kLimits, state_).ok());
  }
  EXPECT_TRUE(Apply(app_.At(9, ProfileOf(999)), kLimits, state_).ok());
}

TEST_F(StateBytes, EventsThatAddNothingAreAccepted) {
  EXPECT_TRUE(Apply(app_.At(1, Started(M(1))), kLimits, state_).ok());
  ASSERT_FALSE(ApplyUntilRefused(state_, [&](std::uint32_t n) {
                 return app_.At(n, ProfileOf(n + 10));
               }).ok());
  EXPECT_TRUE(Apply(app_.At(9, test::Finished(M(1))), kLimits, state_).ok());
  EXPECT_TRUE(Apply(app_.At(9, test::Closed()), kLimits, state_).ok());
  EXPECT_TRUE(state_.closed);
}

}  // namespace
}  // namespace tidemark::facts::state_bytes_test
