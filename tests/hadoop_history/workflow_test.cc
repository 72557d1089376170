// The connector applies the same rules to the same cases (agent/hadoop, WorkflowsTest).
#include "hadoop/workflow.h"

#include "tests/test.h"

namespace tidemark::hadoop::workflow_test {
namespace {

// Returns the settings of a job of Pig 0.17.
Configuration Pig() {
  return {{"pig.script.id", "9e1d"},
          {"pig.parent.jobid", "job_1_0001,job_1_0002"},
          {"mapreduce.workflow.id", "pig_9e1d"},
          {"mapreduce.workflow.name", "/home/ada/s.pig"},
          {"mapreduce.workflow.node.name", "scope-20"},
          {"mapreduce.workflow.adjacency.scope-10", "scope-20,scope-21"},
          {"mapreduce.workflow.adjacency.scope-20", "scope-30"},
          {"mapreduce.workflow.adjacency.scope-21", "scope-30"},
          {"mapreduce.workflow.adjacency.scope-30", ""}};
}

JobWorkflow Of(const Configuration& configuration, const std::string& name = "PigLatin:s.pig") {
  return WorkflowOf(configuration, name).value_or(JobWorkflow());
}

std::vector<std::string> After(const JobWorkflow& workflow, const std::string& name) {
  for (const WorkflowNode& node : workflow.nodes) {
    if (node.name == name) return node.after;
  }
  return {"missing"};
}

using Names = std::vector<std::string>;

TEST(WorkflowOfConfiguration, IsAbsentWithoutANameOfOne) {
  EXPECT_EQ(WorkflowOf({}, "job"), std::nullopt);
  EXPECT_EQ(WorkflowOf({{"tidemark.workflow.id", " "}}, "job"), std::nullopt);
}

TEST(WorkflowOfConfiguration, OfPigHasTheWholeGraph) {
  const JobWorkflow workflow = Of(Pig());
  EXPECT_EQ(workflow.id, "pig_9e1d");
  EXPECT_EQ(workflow.name, "s.pig");
  EXPECT_EQ(workflow.node, "scope-20");
  EXPECT_EQ(workflow.parent_job_ids, (Names{"job_1_0001", "job_1_0002"}));
  EXPECT_EQ(workflow.nodes.size(), 4u);
  EXPECT_EQ(After(workflow, "scope-10"), Names());
  EXPECT_EQ(After(workflow, "scope-20"), Names{"scope-10"});
  EXPECT_EQ(After(workflow, "scope-30"), (Names{"scope-20", "scope-21"}));
}

TEST(WorkflowOfConfiguration, OfHiveHasNeitherLiteralsNorMoves) {
  const JobWorkflow workflow = Of({{"hive.query.id", "root_20261128_1"},
                                   {"mapreduce.workflow.id", "hive_root_20261128_1"},
                                   {"mapreduce.workflow.name",
                                    "insert overwrite table t\n select 'a', 12, 2.5, t2 from u "
                                    "where d = '2026' and \"x\" = 3a"},
                                   {"mapreduce.workflow.node.name", "Stage-1"},
                                   {"mapreduce.workflow.adjacency.Stage-1", "Stage-2"},
                                   {"mapreduce.workflow.adjacency.Stage-2", "Stage-0"},
                                   {"mapreduce.workflow.adjacency.Stage-0", "Stage-3"}});
  EXPECT_EQ(workflow.name,
            "insert overwrite table t select ?, ?, ?, t2 from u where d = ? and ? = 3a");
  ASSERT_EQ(workflow.nodes.size(), 2u);
  EXPECT_EQ(workflow.nodes[0].name, "Stage-1");
  EXPECT_EQ(workflow.nodes[1].name, "Stage-2");
}

TEST(WorkflowOfConfiguration, OfHiveHasNoTaskAfterAMove) {
  Configuration hive = {{"hive.query.id", "q"},
                        {"mapreduce.workflow.node.name", "Stage-1"},
                        {"mapreduce.workflow.adjacency.Stage-1", "Stage-0,n0"},
                        {"mapreduce.workflow.adjacency.Stage-0", "n0"},
                        {"mapreduce.workflow.adjacency.n1500", "Stage-0"}};
  for (int i = 0; i < 1500; ++i) {
    hive["mapreduce.workflow.adjacency.n" + std::to_string(i)] = "n" + std::to_string(i + 1);
  }
  const JobWorkflow workflow = Of(hive);
  ASSERT_EQ(workflow.nodes.size(), 1u);
  EXPECT_EQ(workflow.nodes[0].name, "Stage-1");
}

TEST(WorkflowOfConfiguration, OfEnginesWithOwnProperties) {
  const JobWorkflow oozie =
      Of({{"oozie.job.id", "0000001-W"}, {"oozie.action.id", "0000001-W@count"}},
         "oozie:action:T=map-reduce:W=daily:A=count:ID=0000001-W");
  EXPECT_EQ(oozie.id, "oozie_0000001-W");
  EXPECT_EQ(oozie.name, "daily");
  EXPECT_EQ(oozie.node, "count");
  const JobWorkflow cascading = Of({{"cascading.flow.id", "77"},
                                    {"cascading.flow.name", "etl"},
                                    {"cascading.flow.step.num", "2"}});
  EXPECT_EQ(cascading.id, "cascading_77");
  EXPECT_EQ(cascading.name, "etl");
  EXPECT_EQ(cascading.node, "step 2");
  const JobWorkflow hive = Of({{"hive.query.id", "1"}, {"hive.query.string", "select 1"}});
  EXPECT_EQ(hive.id, "hive_1");
  EXPECT_EQ(hive.name, "select ?");
  EXPECT_EQ(Of({{"pig.script.id", "2"}}).id, "pig_2");
}

TEST(WorkflowOfConfiguration, OfATagIsNamedWithoutTheNumberOfItsRun) {
  const JobWorkflow nightly =
      Of({{"tidemark.workflow.id", "nightly-2026-11-28"}}, "streamjob47.jar");
  EXPECT_EQ(nightly.id, "nightly-2026-11-28");
  EXPECT_EQ(nightly.name, "nightly");
  EXPECT_EQ(nightly.node, "streamjob.jar");
  EXPECT_TRUE(nightly.nodes.empty());
  const JobWorkflow report = Of({{"tidemark.workflow.id", "2026"},
                                 {"tidemark.workflow.name", "report"},
                                 {"tidemark.workflow.quiet.seconds", "3600"}});
  EXPECT_EQ(report.name, "report");
  EXPECT_EQ(report.quiet, absl::Hours(1));
  for (const auto& [tag, name] :
       {std::pair("2026", "2026"), std::pair("REPORT", "REPORT"),
        std::pair("ETL-TEST_2026-11-28T07:30Z", "ETL-TEST"), std::pair("a_T2026", "a_T")}) {
    EXPECT_EQ(Of({{"tidemark.workflow.id", tag}}).name, name) << tag;
  }
}

TEST(WorkflowOfConfiguration, OfATagContainsTheNodesOfAScript) {
  Configuration configuration = Pig();
  configuration["tidemark.workflow.id"] = "nightly-1";
  const JobWorkflow workflow = Of(configuration);
  EXPECT_EQ(workflow.id, "nightly-1");
  EXPECT_EQ(workflow.node, "scope-20 of s.pig");
  EXPECT_EQ(After(workflow, "scope-30 of s.pig"),
            (Names{"scope-20 of s.pig", "scope-21 of s.pig"}));
  EXPECT_EQ(workflow.parent_job_ids.size(), 2u);
}

TEST(WorkflowOfConfiguration, OfATagCutsLongNamesBetweenCharacters) {
  std::string name;
  for (int i = 0; i < 60; ++i) name += "\u00e9";
  const JobWorkflow workflow = Of({{"tidemark.workflow.id", "x"},
                                   {"tidemark.workflow.quiet.seconds", "-1"},
                                   {"mapreduce.workflow.id", "1"},
                                   {"mapreduce.workflow.name", name},
                                   {"mapreduce.workflow.node.name", "n"}});
  EXPECT_EQ(workflow.node, "n of " + name.substr(0, 96)) << "48 characters of two bytes";
  EXPECT_EQ(workflow.quiet, absl::ZeroDuration());
}

TEST(WorkflowOfConfiguration, HasNoGraphThatIsTooLargeOrLacksTheJob) {
  Configuration large = Pig();
  for (int i = 0; i < 1000; ++i) {
    large["mapreduce.workflow.adjacency.n" + std::to_string(i)] = "scope-30";
  }
  EXPECT_TRUE(Of(large).nodes.empty());
  EXPECT_EQ(Of(large).id, "pig_9e1d");
  Configuration other = Pig();
  other["mapreduce.workflow.node.name"] = "scope-99";
  EXPECT_TRUE(Of(other).nodes.empty());
}

TEST(WorkflowOfConfiguration, IsAbsentIfASettingIsWrong) {
  EXPECT_EQ(WorkflowOf({{"tidemark.workflow.id", "x"}, {"tidemark.workflow.quiet.seconds", "long"}},
                       "job"),
            std::nullopt);
}

}  // namespace
}  // namespace tidemark::hadoop::workflow_test
