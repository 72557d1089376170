#include "cli/workflow/workflow_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cli/workflow/workflow_table.h"

namespace tidemark::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kChain[] = R"(
workflow: visits
cluster: {slots: 2}
stages:
  - {name: parse, tasks: 4, task_seconds: 10}
  - {name: join, after: [parse], tasks: 1, task_seconds: [5]}
)";

std::string MessageOf(const std::string& text) {
  return std::string(ParseWorkflow(text).status().message());
}

TEST(WorkflowFile, ReadsStagesAndWhatTheyWaitFor) {
  const auto file = ParseWorkflow(kChain);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->name, "visits");
  ASSERT_EQ(file->now.stages.size(), 2u);
  EXPECT_EQ(file->now.stages[0].tasks, 4u);
  EXPECT_THAT(file->now.stages[1].parents, ElementsAre(0));
}

// 4 tasks of 10 s on 2 slots, then 5 s: 25 s.
TEST(WorkflowFile, EstimatesTheChain) {
  const auto answer = EstimateFile(ParseWorkflow(kChain).value());
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_NEAR(answer->estimate.end.median, 25, 2);
  EXPECT_LE(answer->estimate.end.lower, answer->estimate.end.median);
  EXPECT_LE(answer->estimate.end.median, answer->estimate.end.upper);
  EXPECT_TRUE(answer->stages[1].is_critical);
}

TEST(WorkflowFile, ReadsJsonAsWell) {
  EXPECT_TRUE(ParseWorkflow(R"({"stages": [{"name": "a", "tasks": 1, "task_seconds": 3}]})").ok());
}

// Two tasks on one node share its network: each takes 2 s for 100 MB at 100 MB/s.
TEST(WorkflowFile, NamesTheBottleneckOfAModelledStage) {
  const auto file = ParseWorkflow(R"(
cluster: {slots: 2, nodes: 1}
node: {cores: 4, network_bytes_per_second: 1e8, disk_read_bytes_per_second: 1e9}
stages:
  - name: shuffle
    tasks: 2
    task: {shuffle_read_bytes: 1e8, core_bytes_per_second: 1e9}
)");
  ASSERT_TRUE(file.ok()) << file.status();
  const auto answer = EstimateFile(*file);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->stages[0].bottleneck, "network");
  EXPECT_NEAR(answer->estimate.end.median, 2, 0.2);
}

TEST(WorkflowFile, MoreSlotsAndMoreDataChangeTheEnd) {
  const auto file = ParseWorkflow(kChain).value();
  const double now = EstimateFile(file)->estimate.end.median;
  EXPECT_LT(EstimateFile(WithSlots(file, 4))->estimate.end.median, now);
  EXPECT_GT(EstimateFile(WithData(file, 3))->estimate.end.median, now);
}

TEST(WorkflowFile, SaysWhatIsWrongAndWhere) {
  const auto stage = [](const std::string& fields) {
    return "stages: [{name: a, tasks: 1, task_seconds: 1}, {" + fields + "}]";
  };
  EXPECT_THAT(MessageOf("stages: []"), HasSubstr("at least one stage"));
  EXPECT_THAT(MessageOf("{}"), HasSubstr("stages is missing"));
  EXPECT_THAT(MessageOf("3"), HasSubstr("mapping"));
  EXPECT_THAT(MessageOf("stages: [{"), HasSubstr("line"));
  EXPECT_THAT(MessageOf(stage("name: a, tasks: 1, task_seconds: 1")),
              HasSubstr("stage a: the name is taken"));
  EXPECT_THAT(MessageOf(stage("tasks: 1")), HasSubstr("name is missing"));
  EXPECT_THAT(MessageOf(stage("name: b, task_seconds: 1")), HasSubstr("tasks is missing"));
  EXPECT_THAT(MessageOf(stage("name: b, tasks: -4, task_seconds: 1")),
              HasSubstr("tasks must be from 0 to 10000000, not -4"));
  EXPECT_THAT(MessageOf(stage("name: b, tasks: 1")), HasSubstr("stage b: no task times"));
  EXPECT_THAT(MessageOf(stage("name: b, tasks: 1, task_seconds: -1")), HasSubstr("task_seconds"));
  EXPECT_THAT(MessageOf(stage("name: b, tasks: 1, task_seconds: .nan")), HasSubstr("task_seconds"));
  EXPECT_THAT(MessageOf(stage("name: b, tasks: 1, task_seconds: 1, after: [z]")),
              HasSubstr("stage b: after: unknown stage z"));
  EXPECT_THAT(MessageOf(stage("name: b, tasks: 1, task_seconds: 1, after: b")),
              HasSubstr("its stages form a cycle: b waits for b"));
  EXPECT_THAT(MessageOf(stage("name: b, tasks: 1, task_seconds: 1, tusks: 2")),
              HasSubstr("unknown field tusks; did you mean tasks?"));
  EXPECT_THAT(MessageOf(stage("name: b, taks: 3, task_seconds: 1")),
              HasSubstr("stage b: unknown field taks; did you mean tasks?"));
  EXPECT_THAT(MessageOf(stage("nmae: b, tasks: 3, task_seconds: 1")),
              HasSubstr("stage 2: unknown field nmae; did you mean name?"));
  EXPECT_THAT(MessageOf("cluster: {policy: lottery}\n" + stage("name: b, tasks: 1")),
              HasSubstr("policy must be fifo, fair, drf or capacity, not lottery"));
  EXPECT_THAT(MessageOf("cluster: {slots: 0}\n" + stage("name: b, tasks: 1")),
              HasSubstr("slots must be from 1 to 1000000, not 0"));
}

// Two owners want ten tasks of a second each on four slots; the one whose queue has three quarters
// ends after its ten tasks on three slots, 4 s, as a fair share of two slots would take 5 s.
TEST(WorkflowFile, QueuesHaveTheirShares) {
  const auto end_of_large = [](const std::string& cluster) {
    const auto file = ParseWorkflow(cluster +
                                    "stages:\n"
                                    "  - {name: a, queue: small, tasks: 10, task_seconds: 1}\n"
                                    "  - {name: b, queue: large, tasks: 10, task_seconds: 1}\n");
    EXPECT_TRUE(file.ok()) << file.status();
    return EstimateFile(*file).value().stages[1].end;
  };
  const double capacity =
      end_of_large("cluster: {slots: 4, policy: capacity, queues: {small: 1, large: 3}}\n");
  const double fair = end_of_large("cluster: {slots: 4, policy: fair}\n");
  EXPECT_NEAR(capacity / fair, 4.0 / 5, 0.05);
}

TEST(WorkflowFile, ObjectsToQueuesThatAreNone) {
  const std::string cluster = "cluster: {policy: capacity, queues: {etl: 1, adhoc: 1}}\n";
  EXPECT_THAT(MessageOf("cluster: {policy: capacity}\nstages: [{name: a}]"),
              HasSubstr("policy capacity needs queues"));
  EXPECT_THAT(MessageOf("cluster: {queues: {etl: 0}}\nstages: [{name: a}]"),
              HasSubstr("numbers above 0"));
  EXPECT_THAT(MessageOf(cluster + "stages: [{name: a, tasks: 1, task_seconds: 1, queue: no}]"),
              HasSubstr("stage a: unknown queue no"));
  EXPECT_THAT(
      MessageOf(cluster + "stages: [{name: a, tasks: 1, task_seconds: 1, queue: etl, owner: x}, "
                          "{name: b, tasks: 1, task_seconds: 1, queue: adhoc, owner: x}]"),
      HasSubstr("stage b: its owner has a stage in another queue"));
}

TEST(WorkflowFile, ObjectsToDataWithoutAThroughput) {
  const auto file = ParseWorkflow(
      "stages: [{name: a, tasks: 1, task: {input_bytes: 5, core_bytes_per_second: 1}}]");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_THAT(EstimateFile(*file).status().ToString(), HasSubstr("throughput is zero"));
}

TEST(WorkflowTable, ShowsStagesAndSlots) {
  const auto file = ParseWorkflow(kChain).value();
  const auto answer = EstimateFile(file).value();
  const auto lines = WorkflowLines(file, answer);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_THAT(lines[0], HasSubstr("visits: ends after"));
  EXPECT_THAT(lines[3], HasSubstr("critical"));
  EXPECT_EQ(WhatIfLines({{2, answer}, {4, answer}}).size(), 3u);
  EXPECT_THAT(WorkflowAnswerJson(file, answer),
              HasSubstr("\"critical_path\":[\"parse\",\"join\"]"));
}

}  // namespace
}  // namespace tidemark::cli
