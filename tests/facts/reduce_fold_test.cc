

#include "master/facts/fold.h"
#include "streaming/size_histogram.h"
#include "tests/facts/events.h"
#include "tests/test.h"

namespace tidemark::facts::reduce_fold_test {
namespace {

using test::ReducedNamed;

// Returns a job with one map task that emitted `keys` into the partition of the only reduce task.
Job JobWithKeys(std::vector<ExplicitKey> keys) {
  Job job;
  job.Add(0, Opened(1, 1)).Add(1, Emitted(M(0), {Partition(0, 1'000'000, std::move(keys))}));
  job.Add(1, Finished(M(0))).Add(2, Started(R(0)));
  return job;
}

class ReduceFoldWithoutKeys : public ::testing::Test {
 protected:
  Job job_ = JobWithKeys({});
};

const TaskAttempt& Attempt(const Job& job, std::uint32_t number = 0) {
  return job.state.reduce_tasks()[0].attempts.at({0, number});
}

const FinishedGroups& Groups(const Job& job) {
  return job.state.reduce_tasks()[0].finished_groups();
}

// --- totals and times

TEST_F(ReduceFoldWithoutKeys, KeepsTheTotalsOfAnAttempt) {
  job_.Add(5, Reduced(R(0), At(4), {Point(100, 1, 2), Point(300, 0.5)}));
  EXPECT_EQ(Attempt(job_).reduce->groups_done, 3u);
  EXPECT_EQ(Attempt(job_).bytes_done, 500u);
  EXPECT_EQ(Attempt(job_).reduce->reduce_time, absl::Seconds(2.5));
  EXPECT_EQ(Attempt(job_).reduce->last_group_finished_at, At(4));
}

TEST_F(ReduceFoldWithoutKeys, ShrinkingTotalsAreCountedAndIgnored) {
  job_.Add(5, Reduced(R(0), At(4), {Point(100, 1, 2)}));
  job_.Add(6, Reduced(R(0), At(3), {Point(50, 1)}));
  EXPECT_EQ(Attempt(job_).reduce->groups_done, 2u);
  EXPECT_EQ(Attempt(job_).bytes_done, 200u);
  EXPECT_EQ(Attempt(job_).reduce->last_group_finished_at, At(4));
  EXPECT_EQ(job_.state.anomalies, 1u);
}

TEST(ReduceFold, WithoutAShuffleTheFirstGroupShowsTheStartOfReducing) {
  const auto start = [](const GroupPoint& groups) {
    Job job = JobWithKeys({});
    job.Add(9, Reduced(R(0), At(8), {groups}));
    return Attempt(job).reduce->reduce_started_at;
  };
  EXPECT_EQ(start(Point(100, 2, 2)), At(4));
  EXPECT_EQ(start(Point(100, 100)), At(2)) << "not before the attempt";
  Job job;
  job.Fold({{1, Opened(1, 1)}, {9, Reduced(R(0), At(8), {Point(100, 1e12)})}});
  EXPECT_EQ(Attempt(job).reduce->reduce_started_at, At(1)) << "not before the job";
}

TEST(ReduceFold, AProfileStartsAnAttemptWhoseStartWasNotReported) {
  Job job;
  job.Fold({{1, Opened(1, 1)}, {9, Reduced(R(0), At(8), {Point(100, 2, 2)})}});
  EXPECT_TRUE(Attempt(job).life.is_running());
  EXPECT_EQ(Attempt(job).life.started_at(), At(4));
  EXPECT_EQ(job.state.reduce_stage()->running_tasks, 1u);
  job.Fold({{10, Started(R(0))}});
  EXPECT_EQ(Attempt(job).life.started_at(), At(4)) << "the report is late, and so is its time";
  EXPECT_EQ(job.state.reduce_stage()->running_tasks, 1u);
  job.Fold({{11, Finished(R(0))}, {12, Reduced(R(0), At(8), {Point(100, 2, 2)})}});
  EXPECT_TRUE(Attempt(job).life.is_finished());
  EXPECT_EQ(job.state.anomalies, 0u);
}

// --- times alone

// Adds totals to `profile`. The task was observed for `watched` seconds, and had no processor for
// `waited` of them.
ReduceProfile Shared(ReduceProfile profile, double watched, double waited) {
  profile.processor_use = ProcessorUse{absl::Seconds(watched), absl::Seconds(waited), 2};
  return profile;
}

double SecondsInBins(const Job& job) {
  double seconds = 0;
  for (const GroupBin& bin : Groups(job).bins.bins()) seconds += bin.seconds;
  return seconds;
}

// 3 of 4 s were waits, so a group of 2 s takes 0.5 s without competition. Afterwards, there is no
// contention.
TEST_F(ReduceFoldWithoutKeys, ExcludesTheWaitForAProcessor) {
  job_.Add(5, Shared(Reduced(R(0), At(4), {Point(100, 2)}), 4, 3));
  EXPECT_DOUBLE_EQ(Attempt(job_).reduce->processor_share, 0.25);
  EXPECT_DOUBLE_EQ(SecondsInBins(job_), 0.5);
  ReduceProfile second = Shared(Reduced(R(0), At(8), {Point(100, 1)}), 8, 3);
  second.reduce_time = absl::Seconds(3);
  job_.Add(9, second);
  EXPECT_NEAR(Attempt(job_).reduce->processor_share, 1 - 0.75 * std::exp(-4.0 / 3), 1e-12);
  EXPECT_DOUBLE_EQ(SecondsInBins(job_), 1.5);
  EXPECT_EQ(Attempt(job_).reduce->reduce_time, absl::Seconds(3));
  EXPECT_EQ(Attempt(job_).reduce->reduce_time_alone, absl::Seconds(1.5));
}

// 4 s at a quarter of the speed and 2 s at full speed correspond to 3 s without competition.
TEST_F(ReduceFoldWithoutKeys, TheRunningGroupHasTheTimeAloneOfEachReport) {
  ReduceProfile profile = Shared(Reduced(R(0), At(0), {}), 4, 3);
  profile.running_group = RunningGroup{.key = KeyHash{7}, .elapsed = absl::Seconds(4)};
  job_.Add(5, profile);
  EXPECT_EQ(Attempt(job_).reduce->running_group->elapsed, absl::Seconds(1));
  profile = Shared(profile, 6, 3);
  profile.running_group->elapsed = absl::Seconds(6);
  job_.Add(7, profile);
  EXPECT_EQ(Attempt(job_).reduce->running_group->elapsed, absl::Seconds(3));
}

TEST_F(ReduceFoldWithoutKeys, ColdTimesAreNoEvidenceOfWarmTimes) {
  job_.Add(5, Shared(Reduced(R(0), At(4), {Point(100, 0.2)}), 1, 0));
  EXPECT_EQ(SecondsInBins(job_), 0);
  ReduceProfile second = Shared(Reduced(R(0), At(5), {Point(100, 0.1, 10)}), 2, 0);
  second.reduce_time = absl::Seconds(1.2);
  job_.Fold({{6, second}, {7, Finished(R(0))}});
  EXPECT_DOUBLE_EQ(SecondsInBins(job_), 1);
  EXPECT_EQ(Groups(job_).cold_bins.bins().size(), 1u);
}

TEST_F(ReduceFoldWithoutKeys, ColdTimesCountIfTasksNeverBecomeWarm) {
  job_.Fold({{5, Shared(Reduced(R(0), At(4), {Point(100, 0.2)}), 1, 0)}, {7, Finished(R(0))}});
  EXPECT_DOUBLE_EQ(SecondsInBins(job_), 0.2);
}

TEST_F(ReduceFoldWithoutKeys, AllPartsOfAProfileHaveOneShare) {
  job_.Add(5, Shared(Reduced(R(0), At(4), {}), 4, 0));
  ReduceProfile part = Shared(Reduced(R(0), At(8), {Point(100, 2)}), 8, 3);
  job_.Add(9, part);
  EXPECT_DOUBLE_EQ(SecondsInBins(job_), 0.5);
  job_.Add(9, part);
  EXPECT_DOUBLE_EQ(SecondsInBins(job_), 1);
}

TEST_F(ReduceFoldWithoutKeys, ARunningGroupOfLessElapsedTimeIsANewGroup) {
  ReduceProfile profile = Reduced(R(0), At(0), {});
  profile.running_group = RunningGroup{.key = KeyHash{7}, .elapsed = absl::Seconds(4)};
  job_.Add(5, profile);
  profile.running_group->elapsed = absl::Seconds(1);
  job_.Add(6, profile);
  EXPECT_EQ(Attempt(job_).reduce->running_group->elapsed, absl::Seconds(1));
}

// A group that took 4 s at a quarter of the speed and 2 s at full speed would take 3 s without
// competition.
TEST_F(ReduceFoldWithoutKeys, AFinishedGroupIncludesItsEarlierTimeAlone) {
  ReduceProfile profile = Shared(Reduced(R(0), At(0), {}), 4, 3);
  profile.running_group = RunningGroup{.key = KeyHash{7}, .elapsed = absl::Seconds(4)};
  job_.Fold({{5, profile}, {7, Shared(Reduced(R(0), At(6), {Point(100, 6)}), 6, 3)}});
  EXPECT_DOUBLE_EQ(SecondsInBins(job_), 3);
  EXPECT_EQ(Attempt(job_).reduce->reduce_time_alone, absl::Seconds(3));
}

TEST_F(ReduceFoldWithoutKeys, InvalidProcessorUseIsIgnored) {
  job_.Add(5, Shared(Reduced(R(0), At(4), {}), 4, 2));
  job_.Add(6, Shared(Reduced(R(0), At(4), {}), 3, 3));
  EXPECT_DOUBLE_EQ(Attempt(job_).reduce->processor_share, 0.5);
  job_.Add(7, Shared(Reduced(R(0), At(4), {}), 1000, 1e9));
  EXPECT_GT(Attempt(job_).reduce->processor_share, 0);
}

TEST_F(ReduceFoldWithoutKeys, WithoutProcessorUseTimesAreUnchanged) {
  job_.Add(5, Reduced(R(0), At(4), {Point(100, 2)}));
  EXPECT_EQ(Attempt(job_).reduce->processor_share, 1);
  EXPECT_DOUBLE_EQ(SecondsInBins(job_), 2);
}

// --- the running group

TEST_F(ReduceFoldWithoutKeys, KeepsTheRunningGroupOfTheNewestProfile) {
  ReduceProfile profile = Reduced(R(0), At(4), {});
  profile.running_group = RunningGroup{.key = KeyHash{7}, .elapsed = absl::Seconds(3)};
  job_.Add(5, profile);
  EXPECT_EQ(Attempt(job_).reduce->running_group->key, KeyHash{7});
  EXPECT_EQ(Attempt(job_).reduce->running_group_seen_at, At(5));
  job_.Add(6, Reduced(R(0), At(4), {}));
  EXPECT_FALSE(Attempt(job_).reduce->running_group.has_value());
}

TEST_F(ReduceFoldWithoutKeys, PointsOfAllAttemptsAreEvidence) {
  job_.Add(5, Reduced(R(0, 0), At(4), {Point(100, 1)}));
  job_.Add(6, Reduced(R(0, 1), At(5), {Point(300, 2)}));
  EXPECT_EQ(Groups(job_).points.points().size(), 2u);
}

TEST_F(ReduceFoldWithoutKeys, OnlyAProfileWithPointsIsNewEvidence) {
  job_.Add(5, Reduced(R(0), At(4), {Point(100, 1)}));
  const std::uint64_t version = Groups(job_).points_version;
  job_.Add(6, Reduced(R(0), At(4), {}));
  EXPECT_EQ(Groups(job_).points_version, version);
  job_.Add(7, Reduced(R(0), At(5), {Point(100, 1)}));
  EXPECT_NE(Groups(job_).points_version, version);
}

// --- named explicit keys

TEST(ReduceFold, RetiresANamedKeyOfAnySize) {
  Job job = JobWithKeys({Key(1, 5000), Key(2, 5000)});
  job.Add(5, ReducedNamed(R(0), At(4), {Key(2, 9000)}, 1));
  EXPECT_THAT(Attempt(job).reduce->finished_explicit, UnorderedElementsAre(KeyHash{2}));
}

TEST(ReduceFold, ANamedKeyThatIsNotExplicitIsImplicit) {
  Job job = JobWithKeys({Key(1, 5000)});
  job.Add(5, ReducedNamed(R(0), At(4), {Key(9, 5000)}, 1));
  EXPECT_TRUE(Attempt(job).reduce->finished_explicit.empty());
  EXPECT_EQ(job.state.implicit_sizes.count(), 1u);
}

TEST(ReduceFold, ImplicitSizesExcludeNamedExplicitKeys) {
  Job job = JobWithKeys({Key(1, 5000)});
  job.Add(5, ReducedNamed(R(0), At(4), {Key(1, 5000), Key(9, 70)}, 1));
  EXPECT_EQ(job.state.implicit_sizes.count(), 1u);
  EXPECT_EQ(job.state.implicit_sizes.size_bytes(), 70u);
}

TEST(ReduceFold, AKeyNamedTwiceIsRetiredOnce) {
  Job job = JobWithKeys({Key(1, 5000)});
  job.Add(5, ReducedNamed(R(0), At(4), {Key(1, 5000)}, 1));
  job.Add(6, ReducedNamed(R(0), At(5), {Key(1, 5000)}, 1));
  EXPECT_THAT(Attempt(job).reduce->finished_explicit, UnorderedElementsAre(KeyHash{1}));
  EXPECT_EQ(job.state.implicit_sizes.count(), 1u) << "the second one is somebody else's";
}

TEST(ReduceFold, ARetryStartsWithAllKeys) {
  Job job = JobWithKeys({Key(1, 5000)});
  job.Fold({{5, ReducedNamed(R(0, 0), At(4), {Key(1, 5000)}, 1)}, {6, Started(R(0, 1))}});
  EXPECT_TRUE(Attempt(job, 1).reduce->finished_explicit.empty());
}

// --- explicit keys, some of which are named

// Returns a profile of explicit keys of 1000 to 4000 bytes, which names keys above a minimum size.
ReduceProfile ReducedAndNamedFrom(std::uint64_t bytes_min, std::vector<GroupPoint> points,
                                  std::vector<FinishedKey> named) {
  ReduceProfile profile = Reduced(R(0), At(4), std::move(points));
  profile.keys_named = true;
  profile.named_group_bytes_min = bytes_min;
  profile.finished_keys = std::move(named);
  return profile;
}

TEST(ReduceFold, KeysThatASourceDoesNotNameRetireBySize) {
  Job job = JobWithKeys({Key(1, 1000), Key(2, 4000)});
  EXPECT_TRUE(job.Say(5, ReducedAndNamedFrom(4000, {Point(1000, 1), Point(4000, 1)},
                                             {{KeyHash{2}, 4000, absl::ZeroDuration(), 0}}))
                  .ok());
  EXPECT_THAT(Attempt(job).reduce->finished_explicit, UnorderedElementsAre(KeyHash{1}, KeyHash{2}));
  EXPECT_EQ(job.state.implicit_sizes.count(), 0u);
}

TEST(ReduceFold, IfASourceNamesAllKeysNoneRetiresBySize) {
  Job job = JobWithKeys({Key(1, 1000), Key(2, 4000)});
  job.Add(5, ReducedAndNamedFrom(1000, {Point(990, 1)}, {}));
  EXPECT_TRUE(Attempt(job).reduce->finished_explicit.empty());
  EXPECT_EQ(job.state.implicit_sizes.count(), 1u);
}

TEST(ReduceFold, KeysLargeEnoughForANameDoNotRetireBySize) {
  Job job = JobWithKeys({Key(1, 1000), Key(2, 4000)});
  job.Add(5, ReducedAndNamedFrom(3900, {Point(3890, 1), Point(4000, 1)}, {}));
  EXPECT_TRUE(Attempt(job).reduce->finished_explicit.empty());
}

TEST(ReduceFold, ANamedKeyDoesNotRetireAgainBySize) {
  Job job = JobWithKeys({Key(1, 1000), Key(2, 4000)});
  job.Add(5, ReducedNamed(R(0), At(4), {Key(1, 1000)}, 1));
  job.Add(6, ReducedAndNamedFrom(4000, {Point(1000, 1)}, {}));
  EXPECT_THAT(Attempt(job).reduce->finished_explicit, UnorderedElementsAre(KeyHash{1}));
  EXPECT_EQ(Attempt(job).reduce->finished_explicit_groups.size(), 1u);
}

// --- explicit keys recognised by size ([NF] 5.2)

// Returns the hashes of the explicit keys that the groups retire.
std::vector<KeyHash> Retired(std::vector<ExplicitKey> keys, const GroupPoint& groups,
                             std::uint64_t implicit = 0) {
  Job job = JobWithKeys(std::move(keys));
  job.Add(5, Reduced(R(0), At(4), {groups}));
  EXPECT_EQ(job.state.implicit_sizes.count(), implicit) << groups.size_bytes;
  const auto& finished = Attempt(job).reduce->finished_explicit;
  return {finished.begin(), finished.end()};
}

TEST(ReduceFold, RetiresKeysWithinFivePercentOfTheFinishedGroup) {
  for (const std::uint64_t bytes : {1000, 953, 1052}) {
    EXPECT_THAT(Retired({Key(1, 1000)}, Point(bytes, 1)), SizeIs(1)) << bytes;
  }
  for (const std::uint64_t bytes : {952, 1053, 0}) {
    EXPECT_THAT(Retired({Key(1, 1000)}, Point(bytes, 1), /*implicit=*/1), IsEmpty()) << bytes;
  }
}

TEST(ReduceFold, EachGroupRetiresTheExplicitKeyOfTheNearestSize) {
  EXPECT_THAT(Retired({Key(1, 960), Key(2, 1010), Key(3, 1040)}, Point(1000, 1)),
              ElementsAre(KeyHash{2}));
  EXPECT_THAT(Retired({Key(1, 1000), Key(2, 1000), Key(3, 1000)}, Point(1000, 1, 2)), SizeIs(2));
  EXPECT_THAT(Retired({Key(1, 1000)}, Point(1000, 1, 3), /*implicit=*/2), SizeIs(1))
      << "groups beyond the explicit keys are implicit";
}

TEST(ReduceFold, AnExplicitKeyOfALateProfileCanRetire) {
  Job job;
  job.Add(0, Opened(1, 1)).Add(1, Finished(M(0))).Add(2, Reduced(R(0), At(2), {Point(10, 1)}));
  job.Add(3, Emitted(M(0), {Partition(0, 9000, {Key(1, 1000)})}));
  job.Add(5, Reduced(R(0), At(4), {Point(1000, 1)}));
  EXPECT_EQ(Attempt(job).reduce->finished_explicit.size(), 1u);
}

TEST(ReduceFold, ALateProfileRetiresNoKeyTwice) {
  Job job;
  job.Add(0, Opened(2, 1)).Add(1, Finished(M(0)), Finished(M(1)));
  job.Add(1, Emitted(M(0), {Partition(0, 9000, {Key(1, 1000)})}));
  job.Add(2, Reduced(R(0), At(2), {Point(1000, 1)}));
  job.Add(3, Emitted(M(1), {Partition(0, 9000, {Key(2, 5000)})}));
  job.Add(5, Reduced(R(0), At(4), {Point(1000, 1)}));
  EXPECT_THAT(Attempt(job).reduce->finished_explicit, UnorderedElementsAre(KeyHash{1}));
  EXPECT_EQ(job.state.implicit_sizes.count(), 1u);
}

// --- sizes by bins, without points

// Returns a profile of key groups with one size each.
ReduceProfile ReducedInBins(std::vector<GroupPoint> points) {
  ReduceProfile profile = Reduced(R(0), At(4), std::move(points));
  for (const GroupPoint& point : std::exchange(profile.points, {})) {
    profile.bins.push_back({.bin = streaming::SizeBin(point.size_bytes),
                            .count = point.count,
                            .size_bytes = point.count * point.size_bytes,
                            .seconds = absl::ToDoubleSeconds(point.total_time)});
  }
  return profile;
}

TEST(ReduceFold, BinsRetireUnnamedExplicitKeysOfTheirSize) {
  Job job = JobWithKeys({Key(1, 1000), Key(2, 4000)});
  job.Add(5, ReducedInBins({Point(1000, 2)}));
  EXPECT_THAT(Attempt(job).reduce->finished_explicit, ElementsAre(KeyHash{1}));
  ASSERT_EQ(Attempt(job).reduce->finished_explicit_groups.size(), 1u);
  EXPECT_EQ(Attempt(job).reduce->finished_explicit_groups[0].size_bytes, 1000u);
  EXPECT_EQ(Attempt(job).reduce->finished_explicit_groups[0].time, absl::Seconds(2));
  EXPECT_EQ(job.state.implicit_sizes.count(), 0u);
}

TEST(ReduceFold, ABinRetiresKeysWithinItsWidth) {
  Job job = JobWithKeys({Key(1, 1000), Key(2, 1100), Key(3, 1200)});
  job.Add(5, ReducedInBins({Point(1050, 1, 2)}));
  EXPECT_THAT(Attempt(job).reduce->finished_explicit, UnorderedElementsAre(KeyHash{1}, KeyHash{2}));
}

TEST(ReduceFold, ABinOfNamedKeysRetiresNoOtherKey) {
  Job job = JobWithKeys({Key(1, 1000), Key(2, 4000), Key(3, 4000)});
  ReduceProfile profile = ReducedInBins({Point(4000, 1)});
  profile.keys_named = true;
  profile.named_group_bytes_min = 3900;
  profile.finished_keys = {{KeyHash{2}, 4000, absl::ZeroDuration(), 0}};
  job.Add(5, profile);
  EXPECT_THAT(Attempt(job).reduce->finished_explicit, ElementsAre(KeyHash{2}));
}

TEST(ReduceFold, UnnamedGroupsOfABinRetireKeysBySize) {
  Job job = JobWithKeys({Key(1, 960), Key(2, 1000), Key(3, 1005)});
  ASSERT_EQ(streaming::SizeBin(960), streaming::SizeBin(1005));
  ReduceProfile profile = ReducedInBins({Point(960, 1)});
  profile.bins[0].count = 2;
  profile.bins[0].size_bytes = 1960;
  profile.groups_done = 2;
  profile.bytes_done = 1960;
  profile.keys_named = true;
  profile.named_group_bytes_min = 995;
  profile.finished_keys = {{KeyHash{2}, 1000, absl::ZeroDuration(), 0}};
  job.Add(5, profile);
  EXPECT_THAT(Attempt(job).reduce->finished_explicit, UnorderedElementsAre(KeyHash{1}, KeyHash{2}));
}

}  // namespace
}  // namespace tidemark::facts::reduce_fold_test
