#include "whatif/plan_estimate.h"

#include "cli/plan_file.h"
#include "tests/test.h"

namespace tidemark::whatif::plan_estimate_test {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

constexpr char kChain[] = R"(
workflow: visits
cluster: {slots: 2}
stages:
  - {name: parse, tasks: 4, task_seconds: 10}
  - {name: join, after: [parse], tasks: 1, task_seconds: [5]}
)";

Plan PlanOf(const std::string& text) {
  return cli::ParsePlanFile(text, cli::PlanUse::kEstimate).value();
}

Outcome Estimated(const std::string& text, const Scenario& scenario = {}) {
  return EstimateStages(PlanOf(text), scenario, kNow).value();
}

double EndOf(const Outcome& outcome) {
  const auto& remaining = outcome.snapshot.estimate.remaining;
  return remaining ? absl::ToDoubleSeconds(remaining->median) : -1;
}

// 4 tasks of 10 s on 2 slots, followed by 5 s, take 25 s.
TEST(PlanEstimate, AddsUpAChainOfStages) {
  const Outcome outcome = Estimated(kChain);
  EXPECT_NEAR(EndOf(outcome), 25, 2);
  const Snapshot& snapshot = outcome.snapshot;
  const Range& end = *snapshot.estimate.remaining;
  EXPECT_LE(*end.lower, end.median);
  EXPECT_LE(end.median, *end.upper);
  EXPECT_EQ(snapshot.at, kNow);
  EXPECT_EQ(snapshot.info->kind, JobKind::kApplication);
  ASSERT_EQ(snapshot.stages.size(), 2u);
  EXPECT_TRUE(snapshot.stages[1].is_critical);
  EXPECT_NEAR(absl::ToDoubleSeconds(snapshot.stages[1].starts_in->median), 20, 2);
  EXPECT_THAT(snapshot.stage_infos[1].parents, ElementsAre(0));
  EXPECT_NEAR(*outcome.busy_share, 45 / 50.0, 0.1);
}

TEST(PlanEstimate, MoreSlotsAndMoreDataChangeTheEnd) {
  const double now = EndOf(Estimated(kChain));
  EXPECT_LT(EndOf(Estimated(kChain, {.slots = 4})), now);
  EXPECT_GT(EndOf(Estimated(kChain, {.data_factor = 3})), now);
}

// Tests a former error. Three stages of 20 tasks of 10 s appeared to take 29 s on 20 slots, and 83
// s on 1,000.
TEST(PlanEstimate, MoreSlotsNeverMakeAPlanSlower) {
  const std::string plans[] = {
      // The plan has three stages of one wave each.
      R"(
cluster: {slots: 20}
stages:
  - {name: a, tasks: 20, task_seconds: 10}
  - {name: b, after: [a], tasks: 20, task_seconds: 10}
  - {name: c, after: [b], tasks: 20, task_seconds: 10}
)",
      // The stage has as many waves on 999 slots as on 500.
      "cluster: {slots: 20}\nstages: [{name: a, tasks: 1000, task_seconds: 0.01}]\n",
      "cluster: {slots: 20}\nstages: [{name: a, tasks: 1000, task_seconds: 1}]\n",
      "cluster: {slots: 1000}\nstages: [{name: a, tasks: 20, task_seconds: 10}]\n",
      // Because of the long first tasks, a few slots would suffice.
      R"(
cluster: {slots: 1}
stages:
  - {name: a, tasks: 100, first_task_seconds: 10, fresh_task_seconds: 10, task_seconds: 0.01}
)",
      // The stages run in parallel.
      R"(
cluster: {slots: 20}
stages:
  - {name: a, tasks: 20, task_seconds: 10}
  - {name: b, tasks: 20, task_seconds: 10}
  - {name: c, after: [a, b], tasks: 200, task_seconds: 2}
)"};
  for (const std::string& plan : plans) {
    double before = 1e9;
    for (const std::uint32_t slots :
         {1, 2, 5, 10, 20, 40, 50, 60, 99, 100, 101, 200, 500, 999, 1000, 10'000, 1'000'000}) {
      const double end = EndOf(Estimated(plan, {.slots = slots}));
      EXPECT_LE(end, before * (1 + 1e-9)) << plan << slots;
      before = end;
    }
  }
  EXPECT_NEAR(EndOf(Estimated(plans[0], {.slots = 1000})), 30, 2);
}

// Two tasks on one node share its network. Each takes 2 s for 100 MB at 100 MB/s.
TEST(PlanEstimate, NamesTheBottleneckOfAModelledStage) {
  const Outcome outcome = Estimated(R"(
cluster: {slots: 2, nodes: 1}
node: {cores: 4, network_bytes_per_second: 1e8, disk_read_bytes_per_second: 1e9}
stages:
  - name: shuffle
    tasks: 2
    task: {shuffle_read_bytes: 1e8, core_bytes_per_second: 1e9}
)");
  EXPECT_EQ(outcome.snapshot.stages[0].bottleneck, "network");
  EXPECT_NEAR(EndOf(outcome), 2, 0.2);
}

// In [BOE] Figure 1, map tasks of the job `views` take 27 s while map tasks of `sort` share the
// processors. They take 24 s while its reduce tasks wait for the network, and 20 s alone. The
// former use 2 x 0.259 of two cores, and the latter 2 x 0.167.
TEST(PlanEstimate, TheTimeOfATaskFollowsTheStateOfItsNode) {
  const auto plan =
      cli::ReadPlanFile(TIDEMARK_RECORDINGS "/../../examples/plans/web-site-analytics.yaml",
                        cli::PlanUse::kEstimate)
          .value();
  const auto outcome = EstimateStages(plan, {}, kNow).value();
  const StageId views = {2, 0};
  std::vector<double> seconds;
  std::vector<std::string> beside;  // the bottleneck of the other stage in the same state
  for (const PlanState& state : outcome.states) {
    for (const PlanState::Stage& stage : state.stages) {
      if (stage.id == views) seconds.push_back(absl::ToDoubleSeconds(stage.task_time));
    }
    const bool has_views = std::ranges::any_of(
        state.stages, [&](const PlanState::Stage& stage) { return stage.id == views; });
    if (has_views && state.stages.size() == 2) beside.push_back(state.stages[1].bottleneck);
  }
  ASSERT_EQ(seconds.size(), 3u);
  EXPECT_NEAR(seconds[0], 27, 0.5);
  EXPECT_NEAR(seconds[1], 24, 0.5);
  EXPECT_NEAR(seconds[2], 20, 0.5);
  EXPECT_THAT(beside, ElementsAre("file system read", "network"));
}

constexpr char kNode[] = R"(
cluster: {slots: 12, nodes: 1, policy: fair}
node: {cores: 6, disk_read_bytes_per_second: 1e9, disk_write_bytes_per_second: 1e9,
       file_system_read_bytes_per_second: 120e6, file_system_write_bytes_per_second: 1e9,
       network_bytes_per_second: 110e6}
jobs:
  - name: wc
    stages: [{name: map, tasks: 60, task: {input_bytes: 128000000, core_bytes_per_second: 5e6}}]
)";

// Six map tasks that use a core for 25.6 s and six fetches of 300 MB run at the same time. The
// fetches take 60 x 300 / 110 = 164 s and hardly use the processor, so the map tasks take 26.1 s,
// and 38 of 60 end. The other 22 run on six cores for 22.3 x 25.6 / 6 = 95 s. The total is 259 s.
TEST(PlanEstimate, JobsThatNeedDifferentResourcesRunBesideEachOther) {
  const std::string sort =
      "  - name: sort\n    stages: [{name: shuffle, tasks: 60, task: {shuffle_read_bytes: "
      "300000000, core_bytes_per_second: 1e9}}]\n";
  EXPECT_NEAR(EndOf(Estimated(kNode)), 256, 5);
  const Outcome pair = Estimated(kNode + sort);
  EXPECT_NEAR(EndOf(pair), 259, 8);
  EXPECT_EQ(pair.snapshot.stages[0].bottleneck, "cpu");
  EXPECT_EQ(pair.snapshot.stages[1].bottleneck, "network");
  // Four such nodes run four times as many tasks. Tasks of both jobs run on every node.
  Plan four_nodes = PlanOf(kNode + sort);
  four_nodes.cluster.nodes = 4;
  const auto on_four = EstimateStages(four_nodes, {.slots = 48, .data_factor = 4}, kNow).value();
  EXPECT_NEAR(EndOf(on_four), EndOf(pair), 8);
  ASSERT_GE(pair.states.size(), 2u);
  EXPECT_NEAR(absl::ToDoubleSeconds(pair.states[0].ends_in), 164, 8);
}

// According to [BOE] Theorem 1, the durations of 8 tasks on 2 slots have a standard deviation of 3
// s, and sqrt(4) x 3 x sqrt(log 2) = 4.995 s. The factors 0.23 and sqrt(2) give 1.1 to 7.1 s.
TEST(PlanEstimate, RemarksWhatTasksOfEqualSizeWouldGain) {
  const Plan skewed =
      PlanOf("{cluster: {slots: 2}, stages: [{name: join, tasks: 8, task_seconds: [7, 13]}]}");
  EXPECT_THAT(SkewRemarks(skewed, *EstimateStages(skewed, {}, kNow)),
              ElementsAre("tasks of equal size would end stage join 1–8 s earlier"));
  const Plan even =
      PlanOf("{cluster: {slots: 2}, stages: [{name: join, tasks: 8, task_seconds: [10, 11]}]}");
  EXPECT_THAT(SkewRemarks(even, *EstimateStages(even, {}, kNow)), ElementsAre());
}

// Two owners run ten tasks of one second each on four slots. The owner with three quarters of the
// capacity ends after 4 s on three slots. With a fair share of two slots, it would take 5 s.
TEST(PlanEstimate, QueuesHaveTheirShares) {
  const auto end_of_large = [](const std::string& cluster) {
    const Outcome outcome = Estimated(cluster +
                                      "stages:\n"
                                      "  - {name: a, queue: small, tasks: 10, task_seconds: 1}\n"
                                      "  - {name: b, queue: large, tasks: 10, task_seconds: 1}\n");
    return absl::ToDoubleSeconds(outcome.snapshot.stages.at(1).ends_in->median);
  };
  const double capacity =
      end_of_large("cluster: {slots: 4, policy: capacity, queues: {small: 1, large: 3}}\n");
  const double fair = end_of_large("cluster: {slots: 4, policy: fair}\n");
  EXPECT_NEAR(capacity / fair, 4.0 / 5, 0.05);
}

// The stage of the second job waits for all stages of the first job.
TEST(PlanEstimate, JobsWaitForOneAnother) {
  const Outcome outcome = Estimated(R"(
cluster: {slots: 2}
jobs:
  - {name: load, stages: [{name: scan, tasks: 2, task_seconds: 10}]}
  - {name: report, after: load, stages: [{name: scan, tasks: 2, task_seconds: 5}]}
)");
  EXPECT_NEAR(EndOf(outcome), 15, 1);
  const Snapshot& snapshot = outcome.snapshot;
  EXPECT_EQ(snapshot.info->kind, JobKind::kWorkflow);
  ASSERT_EQ(snapshot.children.size(), 2u);
  EXPECT_THAT(snapshot.children[1].after, ElementsAre(1));
  EXPECT_NEAR(absl::ToDoubleSeconds(snapshot.children[1].starts_in->median), 10, 1);
  EXPECT_EQ(snapshot.stages[1].id, (StageId{2, 0}));
}

// Parents are in the order of the plan and not repeated. A stage without parents in its job waits
// for all stages of the jobs on which the job depends.
TEST(PlanEstimate, StagesWaitForTheNamedStages) {
  const Plan plan = PlanOf(R"(
cluster: {slots: 10}
jobs:
  - name: first
    stages: [{name: a, tasks: 1, task_seconds: 1}, {name: b, tasks: 1, task_seconds: 2}]
  - name: second
    stages: [{name: a, tasks: 1, task_seconds: 4}]
  - name: third
    after: [second, first]
    stages:
      - {name: a, tasks: 1, task_seconds: 8}
      - {name: b, tasks: 1, task_seconds: 16}
      - {name: c, after: [b, a], tasks: 1, task_seconds: 32}
      - {name: d, after: [c, a], tasks: 1, task_seconds: 64}
)");
  Plan twice = plan;
  twice.jobs[2].stages[3].after.push_back("c");
  for (const Plan& asked : {plan, twice}) {
    const auto outcome = EstimateStages(asked, {}, kNow).value();
    const Snapshot& snapshot = outcome.snapshot;
    ASSERT_EQ(snapshot.stage_infos.size(), 7u);
    EXPECT_THAT(snapshot.stage_infos[3].parents, ElementsAre());
    EXPECT_THAT(snapshot.stage_infos[5].parents, ElementsAre(0, 1));
    EXPECT_THAT(snapshot.stage_infos[6].parents, ElementsAre(0, 2));
    for (const std::size_t root : {std::size_t{3}, std::size_t{4}}) {
      EXPECT_GE(snapshot.stages[root].starts_in->median, absl::Seconds(3)) << root;
    }
  }
}

// Each stage of the second half waits for one stage of the first half. The names are in no order.
TEST(PlanEstimate, HandlesAPlanOf5000Stages) {
  Plan plan = PlanOf("{cluster: {slots: 5000}, stages: [{name: a, tasks: 1, task_seconds: 10}]}");
  std::vector<PlannedStage>& stages = plan.jobs[0].stages;
  const PlannedStage like = stages[0];
  stages.clear();
  for (std::size_t i = 0; i < 5000; ++i) {
    PlannedStage stage = like;
    stage.name = std::to_string(i * 7919 % 5003);
    if (i >= 2500) stage.after = {stages[i - 2500].name};
    stages.push_back(std::move(stage));
  }
  const auto outcome = EstimateStages(plan, {}, kNow).value();
  EXPECT_THAT(outcome.snapshot.stage_infos[2500].parents, ElementsAre(0));
  EXPECT_THAT(outcome.snapshot.stage_infos[4999].parents, ElementsAre(2499));
  EXPECT_GT(EndOf(outcome), 18);
}

TEST(PlanEstimate, RejectsDataWithoutAThroughput) {
  const Plan plan =
      PlanOf("stages: [{name: a, tasks: 1, task: {input_bytes: 5, core_bytes_per_second: 1}}]");
  EXPECT_EQ(std::string(EstimateStages(plan, {}, kNow).status().message()),
            "jobs[0].stages[0].task: needs node.file_system_read_bytes_per_second; `tidemark "
            "profile node` "
            "measures a node");
}

TEST(PlanEstimate, NamesTheContradictionOfAScenarioAndItsPlan) {
  const auto message_of = [](const std::string& text, const Scenario& scenario) {
    const absl::Status status = EstimateStages(PlanOf(text), scenario, kNow).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  };
  EXPECT_EQ(message_of(kChain, {.policy = SchedulingPolicy::kCapacity}),
            "--policy capacity: cluster.queues: policy capacity needs queues");
  const std::string queued =
      "cluster: {slots: 4, queues: {etl: 1, adhoc: 1}}\nstages: "
      "[{name: scan, tasks: 2, task_seconds: 1, slots_per_task: 2";
  EXPECT_EQ(message_of(queued + "}]", {.policy = SchedulingPolicy::kCapacity}),
            "--policy capacity: stage scan: queue: is missing; policy capacity needs a queue for "
            "each job");
  EXPECT_EQ(message_of(queued + ", queue: et}]", {.policy = SchedulingPolicy::kCapacity}),
            "--policy capacity: stage scan: queue: unknown queue et; did you mean etl?");
  EXPECT_EQ(message_of(queued + "}]", {.slots = 1}),
            "on 1 slot: stage scan: slots_per_task: needs 2; the cluster has 1 slot");
  EXPECT_EQ(
      message_of(queued + "}]", {.data_factor = 1e7}),
      "--data-factor 1e+07: stage scan: task_count: must be from 0 to 10000000, not 20000000");
}

TEST(PlanEstimate, AcceptsOnlyPlansOfStages) {
  EXPECT_TRUE(IsOfStages(PlanOf(kChain)));
  EXPECT_FALSE(IsOfStages(PlanOf("jobs: [{name: a}]")));
}

}  // namespace
}  // namespace tidemark::whatif::plan_estimate_test
