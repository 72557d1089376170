#include "master/forecast/dag/task_model.h"

#include "tests/test.h"

namespace tidemark::dag::task_model_test {
namespace {

constexpr double kMb = 1e6;

double Seconds(const SubStageTime& time) { return absl::ToDoubleSeconds(time.time); }

ResourceProfile Node() {
  return {.disk_read = 200 * kMb,
          .disk_write = 100 * kMb,
          .dfs_read = 160 * kMb,
          .dfs_write = 40 * kMb,
          .network = 120 * kMb,
          .cores = 6};
}

SubStage Reads(double mb) { return {"read", {{Resource::kDfsRead, mb * kMb}}}; }
SubStage Computes(double seconds) { return {"compute", {{Resource::kCpu, seconds * kMb, kMb}}}; }

std::vector<SubStageTime> Shared(const std::vector<Sharer>& sharers) {
  absl::StatusOr<std::vector<SubStageTime>> times = ShareNode(Node(), sharers);
  EXPECT_TRUE(times.ok()) << times.status();
  return times.value_or(std::vector<SubStageTime>{});
}

// Two tasks read 160 MB each at a total of 160 MB/s. A single task would take 1 s, and each of the
// two tasks takes 2 s.
TEST(ShareNode, SplitsADiskEvenly) {
  const SubStage reads = Reads(160);
  const auto times = Shared({{&reads, 1}, {&reads, 1}});
  EXPECT_DOUBLE_EQ(Seconds(times[0]), 2);
  EXPECT_DOUBLE_EQ(Seconds(times[1]), 2);
}

// Different resources do not interfere. 4 tasks compute on 6 cores while another task reads.
TEST(ShareNode, DoesNotSlowTasksWithDifferentBottlenecks) {
  const SubStage reads = Reads(160);
  const SubStage computes = Computes(3);
  const auto times = Shared({{&reads, 1}, {&computes, 4}});
  EXPECT_DOUBLE_EQ(Seconds(times[0]), 1);
  EXPECT_DOUBLE_EQ(Seconds(times[1]), 3);
  EXPECT_EQ(times[0].bottleneck, Resource::kDfsRead);
  EXPECT_EQ(times[1].bottleneck, Resource::kCpu);
}

// One task reads 160 MB and computes for 4 s, so it needs a quarter of the disk. The other task
// only reads. It gets three quarters of the disk and takes 1 / 0.75 s.
TEST(ShareNode, GivesUnusedSharesToOthers) {
  const SubStage both = {"both", {{Resource::kDfsRead, 160 * kMb}, {Resource::kCpu, 4, 1}}};
  const SubStage reads = Reads(160);
  const auto times = Shared({{&both, 1}, {&reads, 1}});
  EXPECT_NEAR(Seconds(times[0]), 4, 1e-9);
  EXPECT_NEAR(Seconds(times[1]), 4.0 / 3, 1e-9);
}

// A task reads for 1 s and then computes for 1 s. Two such tasks use the disk all the time without
// waiting for it, and three tasks take 3 s. If another task only reads, the disk stretches reads by
// s, where 1 / (1 + s) + 1 / s = 1, so s is the golden ratio.
TEST(ShareNode, ATaskThatReadsAndComputesInTurnUsesLessOfTheDisk) {
  const SubStage in_turn = {
      "in turn", {{Resource::kDfsRead, 160 * kMb}, {Resource::kCpu, 1, 1}}, 0};
  EXPECT_NEAR(Seconds(Shared({{&in_turn, 1}})[0]), 2, 1e-6);
  EXPECT_NEAR(Seconds(Shared({{&in_turn, 2}})[0]), 2, 1e-6);
  EXPECT_NEAR(Seconds(Shared({{&in_turn, 3}})[0]), 3, 1e-6);
  const SubStage reads = Reads(160);
  const auto times = Shared({{&in_turn, 1}, {&reads, 1}});
  EXPECT_NEAR(Seconds(times[0]), 2.618034, 1e-6);
  EXPECT_NEAR(Seconds(times[1]), 1.618034, 1e-6);
  EXPECT_EQ(times[0].bottleneck, Resource::kDfsRead);
}

// 12 tasks of two stages (8 and 4 tasks) run on 6 cores, so each task gets half a core.
TEST(ShareNode, SharesCoresIfThereAreMoreTasksThanCores) {
  const SubStage computes = Computes(3);
  const auto times = Shared({{&computes, 8}, {&computes, 4}});
  EXPECT_NEAR(Seconds(times[0]), 6, 1e-9);
  EXPECT_NEAR(Seconds(times[1]), 6, 1e-9);
}

TEST(ShareNode, TakesNoTimeWithoutData) {
  const SubStage nothing = {"nothing", {}};
  EXPECT_EQ(Shared({{&nothing, 3}})[0].time, absl::ZeroDuration());
}

// The time of the read exceeds the range of numbers.
TEST(EstimateTask, AnExtremelySlowResourceTakesForever) {
  ResourceProfile node = Node();
  node.dfs_read = 1e-300;
  const auto time = EstimateTask({.sub_stages = {Reads(100)}}, node, 2).value();
  EXPECT_GE(time.total, absl::Seconds(1e15));
  EXPECT_EQ(time.bottleneck, Resource::kDfsRead);
}

// According to [BOE] 4.2.2, no resource is used more than fully, and some resource limits every
// task.
TEST(ShareNode, UsesTheBottleneckExactly) {
  std::mt19937_64 random(9);
  for (int round = 0; round < 300; ++round) {
    std::vector<SubStage> stages(1 + random() % 4);
    std::vector<Sharer> sharers;
    for (SubStage& stage : stages) {
      for (std::size_t r = 0; r < kResources; ++r) {
        if (random() % 2 == 0) continue;
        stage.operations.push_back(
            {static_cast<Resource>(r), static_cast<double>(1 + random() % 500) * kMb, 20 * kMb});
      }
      sharers.push_back({&stage, static_cast<double>(1 + random() % 8)});
    }
    const auto times = Shared(sharers);
    const ResourceProfile node = Node();
    const std::array<double, kResources> throughput = {
        20 * kMb, node.disk_read, node.disk_write, node.dfs_read, node.dfs_write, node.network};
    std::array<double, kResources> used = {};
    for (std::size_t i = 0; i < stages.size(); ++i) {
      for (const Operation& o : stages[i].operations) {
        const std::size_t r = static_cast<std::size_t>(o.resource);
        used[r] += sharers[i].tasks_per_node * o.bytes / throughput[r] / Seconds(times[i]);
      }
    }
    for (std::size_t r = 0; r < kResources; ++r) {
      EXPECT_LE(used[r], (r == 0 ? node.cores : 1) * (1 + 1e-6)) << round << " resource " << r;
    }
    for (std::size_t i = 0; i < stages.size(); ++i) {
      bool held_back = stages[i].operations.empty();
      for (const Operation& o : stages[i].operations) {
        const std::size_t r = static_cast<std::size_t>(o.resource);
        const double own = o.bytes / throughput[r] / Seconds(times[i]);
        held_back |=
            used[r] >= (r == 0 ? node.cores : 1) * (1 - 1e-6) || (r == 0 && own >= 1 - 1e-6);
      }
      EXPECT_TRUE(held_back) << round << " sharer " << i;
    }
  }
}

TEST(EstimateTask, RejectsInvalidInput) {
  const TaskModel reads = {.sub_stages = {Reads(1)}};
  const auto message = [](const absl::StatusOr<TaskTime>& time) {
    return std::string(time.status().message());
  };
  const TaskModel more = {.sub_stages = {Reads(1), {.operations = {{Resource::kCpu, 1, 0}}}}};
  EXPECT_EQ(
      message(EstimateTask(more, {.cores = 1}, 1)),
      "needs node.file_system_read_bytes_per_second and core_bytes_per_second; `tidemark profile "
      "node` measures a node");
  EXPECT_THAT(message(EstimateTask(reads, Node(), 0)), HasSubstr("positive and finite"));
  EXPECT_THAT(message(EstimateTask({.sub_stages = {Reads(-1)}}, Node(), 1)),
              HasSubstr("not negative"));
  EXPECT_THAT(message(EstimateTask({.sub_stages = {Reads(NAN)}}, Node(), 1)), HasSubstr("finite"));
  EXPECT_THAT(message(EstimateTask(reads, {.dfs_read = 1, .cores = 0}, 1)), HasSubstr("cores"));
  EXPECT_THAT(message(EstimateTask({.load = -absl::Seconds(1)}, Node(), 1)), HasSubstr("load"));
}

TEST(SparkTask, NamesItsBottleneck) {
  const TaskData shuffle = {.shuffle_read_bytes = 60'000'000,
                            .shuffle_write_bytes = 10'000'000,
                            .core_bytes_per_second = 30 * kMb};
  // One task needs 2 s of computing and 0.5 s of network. Six tasks need 3 s of network.
  const auto one = EstimateTask(SparkTask(shuffle), Node(), 1);
  const auto six = EstimateTask(SparkTask(shuffle), Node(), 6);
  ASSERT_TRUE(one.ok() && six.ok());
  EXPECT_EQ(one->bottleneck, Resource::kCpu);
  EXPECT_DOUBLE_EQ(absl::ToDoubleSeconds(one->total), 2 + 0.1);
  EXPECT_EQ(six->bottleneck, Resource::kNetwork);
  EXPECT_DOUBLE_EQ(absl::ToDoubleSeconds(six->total), 3 + 0.6);
  EXPECT_NEAR(six->sub_stages[0].use[static_cast<std::size_t>(Resource::kCpu)], 2.0 / 3, 1e-12);
}

}  // namespace
}  // namespace tidemark::dag::task_model_test
