#include "agent/reduce_meter.h"
#include "tests/test.h"

namespace tidemark::agent::group_ring_test {
namespace {

std::vector<FinishedGroup> DrainAll(GroupRing& ring) {
  std::vector<FinishedGroup> groups;
  ring.Drain([&](const FinishedGroup& group) { groups.push_back(group); });
  return groups;
}

TEST(GroupRing, ShowsOnlyTimedUnits) {
  GroupRing ring;
  ring.Write(KeyHash{1}, 10, 0);
  ring.Write(KeyHash{2}, 20, 0);
  EXPECT_TRUE(DrainAll(ring).empty());
  ring.Publish(500);
  const std::vector<FinishedGroup> groups = DrainAll(ring);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].key, KeyHash{1});
  EXPECT_EQ(groups[0].size_bytes, 10u);
  EXPECT_EQ(groups[0].nanos, FinishedGroup::kTimedWithNext);
  EXPECT_EQ(groups[1].nanos, 500);
  EXPECT_TRUE(DrainAll(ring).empty());
}

TEST(GroupRing, DropsAUnitThatDoesNotFit) {
  GroupRing ring;
  for (std::size_t i = 0; i + 2 < GroupRing::kCapacity; ++i) {
    ring.Write(KeyHash{i}, i, 0);
    ring.Publish(1);
  }
  for (int i = 0; i < 5; ++i) ring.Write(KeyHash{0}, 77, 0);
  EXPECT_FALSE(ring.unit_fits());
  ring.Publish(1);
  EXPECT_TRUE(ring.unit_fits());
  ring.Write(KeyHash{9}, 99, 0);  // A smaller group fits.
  ring.Publish(1);
  const std::vector<FinishedGroup> groups = DrainAll(ring);
  ASSERT_EQ(groups.size(), GroupRing::kCapacity - 1);
  EXPECT_EQ(groups.back().size_bytes, 99u);
}

TEST(GroupRing, WakesTheConsumerOnceForEachQuarter) {
  GroupRing ring;
  int wakes = 0;
  for (std::size_t i = 0; i < GroupRing::kCapacity; ++i) {
    ring.Write(KeyHash{i}, i, 0);
    ring.Publish(1);
    wakes += ring.ShouldWakeConsumer() ? 1 : 0;
  }
  EXPECT_EQ(wakes, 1);
  DrainAll(ring);
  for (std::size_t i = 0; i < GroupRing::kCapacity / 2; ++i) {
    ring.Write(KeyHash{i}, i, 0);
    ring.Publish(1);
    wakes += ring.ShouldWakeConsumer() ? 1 : 0;
  }
  EXPECT_EQ(wakes, 2);
}

TEST(GroupRing, TwoThreadsKeepUnitsWhole) {
  GroupRing ring;
  constexpr std::uint64_t kUnits = 200'000;
  std::uint64_t published = 0;
  std::atomic<bool> done{false};
  std::thread producer([&] {
    for (std::uint64_t unit = 0; unit < kUnits; ++unit) {
      const std::uint64_t groups = 1 + unit % 7;
      for (std::uint64_t i = 0; i < groups; ++i) ring.Write(KeyHash{unit}, groups, 0);
      if (ring.unit_fits()) published += groups;
      ring.Publish(static_cast<std::int64_t>(unit));
    }
    done.store(true);
  });
  std::uint64_t drained = 0;
  std::uint64_t in_unit = 0;
  bool whole = true;
  const auto take = [&](const FinishedGroup& group) {
    ++drained;
    ++in_unit;
    if (group.nanos == FinishedGroup::kTimedWithNext) return;
    whole = whole && in_unit == group.size_bytes &&
            static_cast<std::uint64_t>(group.key) == static_cast<std::uint64_t>(group.nanos);
    in_unit = 0;
  };
  while (!done.load()) ring.Drain(take);
  producer.join();
  ring.Drain(take);
  EXPECT_TRUE(whole);
  EXPECT_EQ(drained, published);
}

}  // namespace
}  // namespace tidemark::agent::group_ring_test
