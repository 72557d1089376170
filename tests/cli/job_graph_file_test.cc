#include "cli/workflow/job_graph_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tidemark::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string MessageOf(const std::string& text) {
  const auto spec = ParseJobGraph(text);
  EXPECT_TRUE(absl::IsInvalidArgument(spec.status())) << spec.status();
  return std::string(spec.status().message());
}

TEST(JobGraphFile, SaysWhatAMasterTakes) {
  const auto spec = ParseJobGraph(R"(
workflow: page visits
id: visits-1
retry_within_seconds: 300
cluster: {slots: 8, nodes: 2, policy: capacity, queues: {etl: 3, adhoc: 1}}
node: {cores: 4, network_bytes_per_second: 1e9}
jobs:
  - {name: parse, job_id: parse-1, history: parse visits, maps: 12, input_bytes: 1e9, queue: etl}
  - name: count
    after: [parse]
    queue: adhoc
    profile: {maps: 3, reduces: 2, map_task_seconds: 1.5, reduce_task_seconds: 20}
)");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->id, "visits-1");
  EXPECT_EQ(spec->retry_within, absl::Minutes(5));
  EXPECT_EQ(spec->cluster.policy, SchedulingPolicy::kCapacity);
  EXPECT_THAT(spec->cluster.queues, SizeIs(2));
  EXPECT_EQ(spec->cluster.node->cores, 4);
  ASSERT_THAT(spec->jobs, SizeIs(2));
  EXPECT_EQ(spec->jobs[0].history_name, "parse visits");
  EXPECT_EQ(spec->jobs[0].input_bytes, 1'000'000'000u);
  EXPECT_THAT(spec->jobs[1].after, ElementsAre("parse"));
  EXPECT_EQ(spec->jobs[1].profile->reduce_task_time, absl::Seconds(20));
}

TEST(JobGraphFile, IsJsonAsWell) {
  EXPECT_TRUE(ParseJobGraph(R"({"id": "x", "jobs": [{"name": "a"}]})").ok());
}

TEST(JobGraphFile, NamesWhatIsWrong) {
  EXPECT_THAT(MessageOf("id: x"), HasSubstr("jobs is missing"));
  EXPECT_THAT(MessageOf("jobs: [{name: a}]"), HasSubstr("id is missing"));
  EXPECT_THAT(MessageOf("{id: x, jobs: [{maps: 1}]}"), HasSubstr("job 1: name is missing"));
  EXPECT_THAT(MessageOf("{id: x, jobs: [{nmae: a}]}"),
              HasSubstr("job 1: unknown field nmae; did you mean name?"));
  EXPECT_THAT(MessageOf("{id: x, jobs: [{name: a, after: b}]}"),
              HasSubstr("job a: after: unknown job b"));
  EXPECT_THAT(MessageOf("{id: x, jobs: [{name: a, after: a}]}"), HasSubstr("a cycle"));
  EXPECT_THAT(MessageOf("{id: x, jobs: [{name: a, mops: 1}]}"),
              HasSubstr("job a: unknown field mops; did you mean maps?"));
  EXPECT_THAT(MessageOf("{id: x, jobs: [{name: a, maps: -1}]}"),
              HasSubstr("maps must be from 0 to 10000000, not -1"));
  EXPECT_THAT(MessageOf("{id: x, cluster: {policy: lottery}, jobs: [{name: a}]}"),
              HasSubstr("policy must be fifo, fair, drf or capacity, not lottery"));
  EXPECT_THAT(MessageOf("{id: x, jobs: [{name: a, profile: {maps: 1}}]}"),
              HasSubstr("has no task time"));
  EXPECT_THAT(MessageOf("{id: ["), HasSubstr("end of sequence"));
  EXPECT_TRUE(absl::IsNotFound(ReadJobGraph("/nonexistent").status()));
}

}  // namespace
}  // namespace tidemark::cli
