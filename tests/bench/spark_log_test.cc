#include "bench/workflow/spark_log.h"

#include "bench/workflow/rumen.h"
#include "bench/workflow/tpch_times.h"
#include "tests/scratch_directory.h"
#include "tests/test.h"

namespace tidemark::bench::spark_log_test {
namespace {

constexpr char kLog[] =
    R"({"Event":"SparkListenerApplicationStart","App Name":"two jobs","Timestamp":1000}
{"Event":"SparkListenerExecutorAdded","Executor ID":"1","Executor Info":{"Total Cores":1}}
{"Event":"SparkListenerJobStart","Job ID":0,"Submission Time":1000,"Stage Infos":[{"Stage ID":0,"Stage Name":"scan","Number of Tasks":2,"Parent IDs":[]}]}
{"Event":"SparkListenerTaskEnd","Stage ID":0,"Task Info":{"Task ID":0,"Index":0,"Launch Time":1000,"Finish Time":4000,"Executor ID":"1"}}
{"Event":"SparkListenerTaskEnd","Stage ID":0,"Task Info":{"Task ID":1,"Index":1,"Launch Time":4000,"Finish Time":5000,"Executor ID":"1"}}
{"Event":"SparkListenerStageCompleted","Stage Info":{"Stage ID":0,"Submission Time":1000}}
{"Event":"SparkListenerJobEnd","Job ID":0,"Completion Time":5000}
{"Event":"SparkListenerJobStart","Job ID":1,"Submission Time":6000,"Stage Infos":[{"Stage ID":1,"Stage Name":"join","Number of Tasks":1,"Parent IDs":[]}]}
{"Event":"SparkListenerTaskEnd","Stage ID":1,"Task Info":{"Task ID":2,"Index":0,"Launch Time":6000,"Finish Time":8000,"Executor ID":"1"}}
{"Event":"SparkListenerStageCompleted","Stage Info":{"Stage ID":1,"Submission Time":6000}}
{"Event":"SparkListenerJobEnd","Job ID":1,"Completion Time":8000}
)";

TEST(SparkLog, BecomesATraceWhoseJobsAreGroups) {
  const test::ScratchDirectory directory;
  const auto trace = ReadSparkLog(directory.Write("two-jobs", kLog));
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_DOUBLE_EQ(trace->end, 7);
  EXPECT_DOUBLE_EQ(trace->slots, 1);
  ASSERT_EQ(trace->stages.size(), 2u);
  EXPECT_EQ(trace->stages[1].group, "job/1");
  EXPECT_DOUBLE_EQ(trace->stages[1].visible_at, 5);
  EXPECT_DOUBLE_EQ(trace->stages[1].submitted_at.value_or(-1), 5);
  EXPECT_EQ(trace->stages[1].tasks[0].executor, 0u);
}

TEST(SparkLog, IsReadUpToALineThatWasCut) {
  const test::ScratchDirectory directory;
  EXPECT_TRUE(ReadSparkLog(directory.Write("torn", std::string(kLog) + "{\"Event\":\"Spark")).ok());
  EXPECT_THAT(ReadSparkLog(directory.Write("empty", "")).status().message(),
              HasSubstr("is neither a Spark event log nor a Hadoop history file"));
  const std::string idle =
      directory.Write("idle", R"({"Event":"SparkListenerApplicationStart","Timestamp":1000})");
  EXPECT_THAT(ReadSparkLog(idle).status().message(), HasSubstr("no job"));
}

TEST(TpchTimes, AreInTheOrderOfWaves) {
  const test::ScratchDirectory directory;
  const auto queries = ReadTpchTimes(directory.Write("times", R"({"size":"2g","query":3,
"edges_parent_child":[[1,0]],"stages":[{"first_wave":{"2":[4000]},"rest_wave":{"2":[1000]}},
{"first_wave":{"2":[3000]},"rest_wave":{}}]})"));
  EXPECT_FALSE(queries.ok());  // One object per line is required.
  const auto one = ReadTpchTimes(directory.Write(
      "time",
      R"({"size":"2g","query":3,"edges_parent_child":[[1,0]],"stages":[{"first_wave":{"2":[4000]},"rest_wave":{"2":[1000]}},{"first_wave":{"2":[3000]},"rest_wave":{}}]})"));
  ASSERT_TRUE(one.ok()) << one.status();
  const auto& stages = one->front().by_executors.at(2);
  EXPECT_EQ(stages[0].name, "stage 1");
  EXPECT_THAT(stages[1].seconds, ElementsAre(4, 1));
  EXPECT_THAT(stages[1].parents, ElementsAre(0));
}

TEST(Rumen, JobsAreMapsThenReduces) {
  const test::ScratchDirectory directory;
  const auto traces =
      ReadRumen(directory.Write("rumen", R"({"jobID":"j","outcome":"SUCCESS","launchTime":1000,
"mapTasks":[{"attempts":[{"startTime":2000,"finishTime":5000,"result":"SUCCESS",
"hdfsBytesRead":64}]}],
"reduceTasks":[{"attempts":[{"startTime":4000,"finishTime":9000,"result":"SUCCESS"},
{"startTime":4000,"finishTime":6000,"result":"KILLED"}]}]}
{"jobID":"k","outcome":"FAILED"})"));
  ASSERT_TRUE(traces.ok()) << traces.status();
  ASSERT_EQ(traces->size(), 1u);
  EXPECT_DOUBLE_EQ(traces->front().end, 8);
  EXPECT_DOUBLE_EQ(traces->front().slots, 2);
  ASSERT_EQ(traces->front().stages.size(), 2u);
  EXPECT_EQ(traces->front().stages[0].tasks[0].bytes, 64u);
  EXPECT_THAT(traces->front().stages[1].parents, ElementsAre(0));
}

}  // namespace
}  // namespace tidemark::bench::spark_log_test
