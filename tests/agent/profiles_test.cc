// Tests the pure functions for profiles: splitting, trimming, naming, settings and backoff.
#include "agent/profiles.h"

#include "agent/connection.h"
#include "agent/reduce_meter.h"
#include "agent/reduce_recorder.h"
#include "agent/shared.h"
#include "tests/test.h"
#include "tidemark/v1/ingest_service.pb.h"

namespace tidemark::agent::profiles_test {
namespace {

TEST(SplitProfile, KeepsASmallProfileWhole) {
  ReduceProfile profile;
  profile.points = {{10, 1, absl::Nanoseconds(1)}};
  profile.running_group = RunningGroup{};
  EXPECT_THAT(SplitProfile(profile, 1 << 20), ElementsAre(profile));
}

TEST(SplitProfile, DistributesPointsAndNamesOnce) {
  ReduceProfile profile;
  profile.groups_done = 5'000;
  for (std::uint64_t i = 0; i < 5'000; ++i) profile.points.push_back({i, 1, absl::ZeroDuration()});
  for (std::uint64_t i = 0; i < 300; ++i) profile.finished_keys.push_back({KeyHash{i}, i});
  profile.bins = {{0, 1, 1, 0, 0}};
  profile.running_group = RunningGroup{};
  profile.processor_use = ProcessorUse{absl::Seconds(2), absl::Seconds(1), 4};
  profile.time = {.cpu = absl::Seconds(3)};
  const std::vector<ReduceProfile> parts = SplitProfile(profile, 16 << 10);
  ASSERT_GT(parts.size(), 10u);
  std::vector<GroupPoint> points;
  std::vector<FinishedKey> keys;
  for (const ReduceProfile& part : parts) {
    EXPECT_EQ(part.groups_done, 5'000u);
    EXPECT_EQ(part.processor_use, profile.processor_use);
    EXPECT_EQ(part.time, profile.time);
    EXPECT_EQ(part.bins.empty(), &part != &parts.front());
    EXPECT_EQ(part.running_group.has_value(), &part == &parts.back());
    points.insert(points.end(), part.points.begin(), part.points.end());
    keys.insert(keys.end(), part.finished_keys.begin(), part.finished_keys.end());
  }
  EXPECT_EQ(points, profile.points);
  EXPECT_EQ(keys, profile.finished_keys);
}

std::vector<PartitionProfile> TwoPartitions() {
  PartitionProfile first;
  first.partition = 0;
  first.total_bytes = 130;
  first.explicit_keys = {{KeyHash{1}, 100}, {KeyHash{2}, 20}};
  first.implicit_key_count = 1;
  first.implicit_bytes = 10;
  PartitionProfile second;
  second.partition = 2;
  second.total_bytes = 70;
  second.explicit_keys = {{KeyHash{3}, 50}, {KeyHash{4}, 20}};
  return {first, second};
}

TEST(KeepHeaviest, MakesTheLightestKeysImplicit) {
  std::vector<PartitionProfile> partitions = TwoPartitions();
  KeepHeaviest(4, partitions);
  EXPECT_EQ(partitions, TwoPartitions());
  KeepHeaviest(3, partitions);
  EXPECT_THAT(partitions[0].explicit_keys, SizeIs(2));  // The second of equal keys is dropped.
  EXPECT_THAT(partitions[1].explicit_keys, ElementsAre(ExplicitKey{KeyHash{3}, 50}));
  EXPECT_EQ(partitions[1].implicit_key_count, 1u);
  EXPECT_EQ(partitions[1].implicit_bytes, 20u);
  EXPECT_EQ(partitions[1].total_bytes, 70u);
  KeepHeaviest(0, partitions);
  EXPECT_THAT(partitions[0].explicit_keys, IsEmpty());
  EXPECT_EQ(partitions[0].implicit_bytes, 130u);
  EXPECT_EQ(partitions[0].implicit_key_count, 3u);
}

TEST(AddImplicit, AddsPartitionsInOrder) {
  std::vector<PartitionProfile> partitions = TwoPartitions();
  AddImplicit({{1, {3, 30}}, {2, {1, 5}}, {7, {2, 2}}}, partitions);
  ASSERT_THAT(partitions, SizeIs(4));
  EXPECT_EQ(partitions[1].partition, 1u);
  EXPECT_EQ(partitions[1].total_bytes, 30u);
  EXPECT_EQ(partitions[2].total_bytes, 75u);
  EXPECT_EQ(partitions[2].implicit_key_count, 1u);
  EXPECT_EQ(partitions[3].partition, 7u);
}

TEST(NamedKeys, NamesAllGroupsOfAtLeastTheSize) {
  NamedKeys names(1'000);
  names.Add({KeyHash{1}, 10}, {.bytes_min = 50});
  names.Add({KeyHash{2}, 60}, {.bytes_min = 50});
  names.Add({KeyHash{3}, 90}, {.bytes_min = 80});  // Later requests include smaller groups.
  names.Add({KeyHash{4}, 70}, {.bytes_min = 80});
  const NamedKeys::Named named = names.Take(80);
  EXPECT_EQ(named.bytes_min, 80u);
  EXPECT_THAT(named.keys, ElementsAre(FinishedKey{KeyHash{3}, 90}));
  names.Add({KeyHash{5}, 10}, {.bytes_min = 5});
  EXPECT_EQ(names.Take(5).bytes_min, 5u);
}

TEST(NamedKeys, NamesSmallGroupsOfLowRankPerByte) {
  NamedKeys names(1'000);
  const std::uint64_t rank = streaming::SampleRank(KeyHash{1});
  const NamedGroups wanted = {
      .bytes_min = 50, .sampled_below = rank / 4, .sampled_below_per_byte = rank / 20};
  names.Add({KeyHash{1}, 19}, wanted);
  names.Add({KeyHash{1}, 21}, wanted);
  names.Add({KeyHash{1}, 0}, wanted);
  names.Add({KeyHash{1}, 30}, {.bytes_min = 50, .sampled_below_per_byte = rank / 20});
  EXPECT_THAT(names.Take(50).keys, ElementsAre(FinishedKey{KeyHash{1}, 21}));
}

TEST(NamedKeys, RaisesTheSizeInsteadOfItsMemory) {
  NamedKeys names(1'000);
  constexpr std::uint64_t kKeys = 100'000;
  for (std::uint64_t i = 0; i < kKeys; ++i)
    names.Add({KeyHash{i}, (i * 7'919) % kKeys}, {.bytes_min = 1});
  const NamedKeys::Named named = names.Take(1);
  EXPECT_LE(named.keys.size(), std::size_t{1'000});
  EXPECT_GT(named.keys.size(), std::size_t{1'000} / 2);
  // Sizes are a permutation of 0..kKeys-1, so the number of larger groups is known.
  EXPECT_EQ(named.keys.size(), kKeys - named.bytes_min);
}

TEST(NamedKeys, RaisesTheSizeIfAllGroupsHaveOneSize) {
  NamedKeys names(1'000);
  for (std::uint64_t i = 0; i < 100'000; ++i) names.Add({KeyHash{i}, 60}, {.bytes_min = 50});
  const NamedKeys::Named named = names.Take(50);
  EXPECT_THAT(named.keys, IsEmpty());
  EXPECT_EQ(named.bytes_min, 61u);
}

TEST(Settings, ClampFieldsToTheirLimits) {
  Settings settings({});
  v1::Control control;
  control.mutable_flush_interval()->set_seconds(3'600);
  control.set_lambda(5'000'000);
  control.set_burst_groups_max(0);
  settings.Apply(control);
  EXPECT_EQ(settings.flush_interval(), absl::Seconds(60));
  EXPECT_EQ(settings.lambda(), 1'000'000u);
  EXPECT_EQ(settings.burst_groups_max(), 1u);
  EXPECT_EQ(settings.burst_threshold_bytes(), 50u);
  EXPECT_FALSE(settings.paused());
}

TEST(Settings, UseTheBurstThresholdForNamesUntilSet) {
  Settings settings({});
  v1::Control control;
  control.set_burst_threshold_bytes(1'000);
  settings.Apply(control);
  EXPECT_EQ(settings.named_group_bytes_min(), 1'000u);
  control.set_named_group_bytes_min(0);
  settings.Apply(control);
  EXPECT_EQ(settings.named_group_bytes_min(), 0u);
}

TEST(Backoff, DoublesUpToHalfAMinuteWithJitter) {
  Backoff backoff(1);
  absl::Duration full = absl::Milliseconds(100);
  for (int i = 0; i < 20; ++i) {
    const absl::Duration wait = backoff.Next();
    EXPECT_LE(wait, full);
    EXPECT_GE(wait, full / 2);
    full = std::min(2 * full, absl::Seconds(30));
  }
  backoff.Reset();
  EXPECT_LE(backoff.Next(), absl::Milliseconds(100));
}

TEST(RunningCell, ReadsConsistentValues) {
  RunningCell cell;
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (std::uint64_t i = 1; i <= 300'000; ++i) {
      cell.Begin(KeyHash{i}, static_cast<std::int64_t>(i));
      cell.AddRead(1);
      cell.AddRead(1);
      cell.End();
    }
    done.store(true);
  });
  while (!done.load()) {
    const std::optional<GroupInProgress> group = cell.Read();
    if (!group) continue;
    ASSERT_EQ(static_cast<std::uint64_t>(group->key),
              static_cast<std::uint64_t>(group->start_nanos));
    ASSERT_LE(group->bytes_read, 2u);
  }
  writer.join();
  EXPECT_FALSE(cell.Read().has_value());
}

TEST(TotalsCell, ReadsConsistentValues) {
  TotalsCell cell;
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (std::uint64_t i = 1; i <= 300'000; ++i) {
      cell.Write({i, 2 * i, static_cast<std::int64_t>(3 * i), static_cast<std::int64_t>(4 * i), i});
    }
    done.store(true);
  });
  while (!done.load()) {
    const ReduceTotals totals = cell.Read();
    ASSERT_EQ(totals.bytes_done, 2 * totals.groups_done);
    ASSERT_EQ(totals.nanos, static_cast<std::int64_t>(3 * totals.groups_done));
    ASSERT_EQ(totals.dropped_points, totals.groups_done);
  }
  writer.join();
}

}  // namespace
}  // namespace tidemark::agent::profiles_test
