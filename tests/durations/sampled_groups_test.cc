#include "master/forecast/durations/sampled_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "streaming/key_sample.h"
#include "tests/master/events.h"

namespace tidemark::cost {
namespace {

using test::At;
using test::Emitted;
using test::Key;
using test::M;
using test::Opened;
using test::Partition;
using test::R;

// One map task that names key 1 (600 bytes) and samples keys 2 and 3 (100 and 40 bytes); another
// that only samples: 50 bytes of key 1 and 60 of key 2.
model::JobRecord TwoMapTasks(std::uint64_t sampled_below = streaming::kEveryRank) {
  model::JobRecord state(10);
  test::Source app;
  const auto say = [&](double seconds, EventBody body) {
    EXPECT_TRUE(model::Apply(app.At(seconds, std::move(body)), JobLimits(), state).ok());
  };
  say(0, Opened(2, 1));
  PartitionProfile first = Partition(0, 740, {Key(1, 600)});
  first.sampled_keys = {Key(2, 100), Key(3, 40)};
  PartitionProfile second = Partition(0, 110, {});
  second.sampled_keys = {Key(1, 50), Key(2, 60)};
  MapProfile one = Emitted(M(0), {first});
  MapProfile two = Emitted(M(1), {second});
  one.sampled_below = two.sampled_below = sampled_below;
  say(1, one);
  say(1, two);
  say(2, test::Finished(M(0)));
  say(2, test::Finished(M(1)));
  say(3, test::Shuffled(R(0)));
  return state;
}

double ImplicitBytes(const SampledGroups& groups) {
  double bytes = 0;
  for (const RecentSizes::Bin& bin : groups.implicit_bins()) bytes += bin.bytes;
  return bytes;
}

TEST(SampledGroups, KnowsTheWholeSizeOfWhatMapTasksNamedInPart) {
  SampledGroups groups;
  groups.Update(TwoMapTasks());
  ASSERT_TRUE(groups.has_sample());
  ASSERT_EQ(groups.explicit_groups().size(), 1u);
  EXPECT_EQ(groups.explicit_groups()[0].size_bytes, 650);
  EXPECT_EQ(groups.explicit_groups()[0].explicit_bytes, 600);
  EXPECT_EQ(groups.explicit_groups()[0].map_task, 0u);
  EXPECT_EQ(groups.implicit_count(), 2u);
  EXPECT_EQ(ImplicitBytes(groups), 200);
}

TEST(SampledGroups, IsWithoutWhatHasFinished) {
  model::JobRecord state = TwoMapTasks();
  test::Source reducer("reducer");
  ReduceProfile profile{.attempt = R(0),
                        .groups_done = 2,
                        .bytes_done = 690,
                        .reduce_time = absl::Seconds(1),
                        .keys_named = true};
  profile.finished_keys = {{KeyHash{1}, 650, absl::Seconds(1)}, {KeyHash{3}, 40}};
  ASSERT_TRUE(model::Apply(reducer.At(4, profile), JobLimits(), state).ok());
  SampledGroups groups;
  groups.Update(state);
  EXPECT_TRUE(groups.explicit_groups().empty());
  EXPECT_EQ(groups.implicit_count(), 1u);
  EXPECT_EQ(ImplicitBytes(groups), 160);
}

TEST(SampledGroups, NeedsEveryMapTaskToSample) {
  SampledGroups groups;
  groups.Update(TwoMapTasks(0));
  EXPECT_FALSE(groups.has_sample());
  EXPECT_EQ(groups.implicit_count(), 0u);
}

}  // namespace
}  // namespace tidemark::cost
