#include "cli/plan_file.h"

#include "console/job_table.h"
#include "console/text.h"
#include "tests/scratch_directory.h"
#include "tests/test.h"
#include "whatif/plan_estimate.h"

namespace tidemark::cli::plan_file_test {
namespace {

Plan PlanOf(const std::string& text) {
  const auto plan = ParsePlanFile(text, PlanUse::kEstimate);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.value_or(Plan{});
}

std::string MessageOf(const std::string& text) {
  const auto plan = ParsePlanFile(text, PlanUse::kEstimate);
  EXPECT_TRUE(absl::IsInvalidArgument(plan.status())) << plan.status();
  return std::string(plan.status().message());
}

// A file that `submit` accepts.
constexpr char kJobs[] = R"(
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
)";

TEST(PlanFile, ParsesJobs) {
  const Plan plan = PlanOf(kJobs);
  EXPECT_EQ(plan.id, "visits-1");
  EXPECT_EQ(plan.name, "page visits");
  EXPECT_EQ(plan.retry_within, absl::Minutes(5));
  EXPECT_EQ(plan.cluster.policy, SchedulingPolicy::kCapacity);
  EXPECT_THAT(plan.cluster.queues, ElementsAre(Queue{"etl", 3}, Queue{"adhoc", 1}));
  EXPECT_EQ(plan.cluster.node->cores, 4);
  ASSERT_THAT(plan.jobs, SizeIs(2));
  EXPECT_EQ(plan.jobs[0].history_name, "parse visits");
  EXPECT_EQ(plan.jobs[0].map_task_count, 12u);
  EXPECT_FALSE(plan.jobs[0].reduce_task_count.has_value()) << "as in its last run";
  EXPECT_EQ(plan.jobs[0].input_bytes, 1'000'000'000u);
  EXPECT_THAT(plan.jobs[1].after, ElementsAre("parse"));
  EXPECT_EQ(plan.jobs[1].profile->reduce_task_time, absl::Seconds(20));
}

TEST(PlanFile, ParsesADeadline) {
  const std::string jobs = "\njobs: [{name: a}]\n";
  EXPECT_EQ(PlanOf("deadline: 1970-01-01T01:30:00+01:00" + jobs).deadline,
            absl::UnixEpoch() + absl::Minutes(30));
  EXPECT_EQ(PlanOf(jobs).deadline, std::nullopt);
  for (const char* bad : {"07:30", "2h", "tomorrow", "infinite-future", "[1]"}) {
    EXPECT_THAT(MessageOf(std::string("deadline: ") + bad + jobs),
                HasSubstr("line 1: deadline: must be a timestamp such as"))
        << bad;
  }
}

// The file in docs/workflows.md for `estimate`.
TEST(PlanFile, ParsesStagesAsOneUnnamedJob) {
  const Plan plan = PlanOf(R"(
workflow: page visits
cluster:
  slots: 16
  nodes: 4
  policy: fifo
profiled_slots: 8
node:
  cores: 8
  disk_read_bytes_per_second: 3e8
  disk_write_bytes_per_second: 2e8
  file_system_read_bytes_per_second: 3e8
  file_system_write_bytes_per_second: 1e8
  network_bytes_per_second: 1e9
stages:
  - name: parse visits
    tasks: 120
    task_seconds: [11, 12, 12, 14]
    first_task_seconds: 17
    fresh_task_seconds: 22
    last_task_seconds: 10
  - name: count by page
    after: [parse visits]
    tasks: 40
    lag_seconds: 1
    task:
      shuffle_read_bytes: 2e8
      core_bytes_per_second: 6e7
      output_bytes: 1e6
)");
  ASSERT_THAT(plan.jobs, SizeIs(1));
  const PlannedJob& job = plan.jobs[0];
  EXPECT_EQ(job.name, "");
  EXPECT_EQ(job.profiled_slots, 8u);
  ASSERT_THAT(job.stages, SizeIs(2));
  EXPECT_EQ(job.stages[0].task_count, 120u);
  EXPECT_THAT(job.stages[0].task_times, SizeIs(4));
  EXPECT_THAT(job.stages[0].first_task_times, ElementsAre(absl::Seconds(17)));
  EXPECT_THAT(job.stages[1].after, ElementsAre("parse visits"));
  EXPECT_EQ(job.stages[1].lag, absl::Seconds(1));
  EXPECT_EQ(job.stages[1].task->shuffle_read_bytes, 200'000'000u);
  EXPECT_EQ(job.stages[1].slots_per_task, 1);
  EXPECT_EQ(plan.cluster.node->dfs_write, 1e8);
}

TEST(PlanFile, ParsesJobsByNumbersAndByStages) {
  const Plan plan = PlanOf(R"(
jobs:
  - {name: parse, maps: 2, reduces: 0}
  - {name: q1, after: parse, stages: [{name: scan, tasks: 4, task_seconds: 0.5}]}
)");
  EXPECT_EQ(plan.jobs[0].reduce_task_count, 0u) << "0 is 0";
  EXPECT_THAT(plan.jobs[1].after, ElementsAre("parse"));
  EXPECT_THAT(plan.jobs[1].stages[0].task_times, ElementsAre(absl::Milliseconds(500)));
}

TEST(PlanFile, ParsesJson) {
  EXPECT_EQ(PlanOf(R"({"id": "x", "jobs": [{"name": "a"}]})").id, "x");
  // The input has the format of protobuf's own JSON mapping.
  const Plan plan = PlanOf(R"({"jobs": [{"name": "a", "historyName": "b", "inputBytes": "5"}],
      "retryWithin": "1.5s", "cluster": {"policy": "SCHEDULING_POLICY_FAIR"}})");
  EXPECT_EQ(plan.jobs[0].history_name, "b");
  EXPECT_EQ(plan.jobs[0].input_bytes, 5u);
  EXPECT_EQ(plan.retry_within, absl::Milliseconds(1500));
  EXPECT_EQ(plan.cluster.policy, SchedulingPolicy::kFair);
}

TEST(PlanFile, ParsesDurations) {
  const auto within = [](const std::string& text) {
    return PlanOf("retry_within: " + text + "\njobs: [{name: a}]").retry_within;
  };
  EXPECT_EQ(within("90"), absl::Seconds(90));
  EXPECT_EQ(within("90s"), absl::Seconds(90));
  EXPECT_EQ(within("1m"), absl::Minutes(1));
  EXPECT_EQ(within("1h30m"), absl::Minutes(90));
}

struct Fault {
  const char* name;
  std::string text;
  const char* message;
};

class PlanFileFault : public ::testing::TestWithParam<Fault> {};

TEST_P(PlanFileFault, IsReportedWithItsPlace) {
  EXPECT_EQ(MessageOf(GetParam().text), GetParam().message);
}

class PlannedStageFault : public ::testing::TestWithParam<Fault> {};

std::string Second(const std::string& fields) {
  return "stages:\n- {name: a, tasks: 1, task_seconds: 1}\n- {" + fields + "}";
}
const char kQueues[] = "cluster: {policy: capacity, queues: {etl: 1, adhoc: 1}}\n";

TEST_P(PlannedStageFault, IsReportedWithItsPlace) {
  EXPECT_EQ(MessageOf(Second(GetParam().text)),
            std::string("line 3: stages[1]") + GetParam().message);
}

// Faults in the second of two stages, on line 3.
const Fault kStageFaults[] = {
    {"NameTaken", "name: a, tasks: 1, task_seconds: 1", ".name: a is taken by an earlier stage"},
    {"NoName", "tasks: 1, task_seconds: 1", ".name: is missing"},
    {"NoTasks", "name: b, task_seconds: 1", ".tasks: is missing"},
    {"NegativeTasks", "name: b, tasks: -4, task_seconds: 1",
     ".tasks: must be a whole number from 0 to 9007199254740992, not -4"},
    {"ManyTasks", "name: b, tasks: 1e8, task_seconds: 1",
     ".tasks: must be from 0 to 10000000, not 100000000"},
    {"NoTimes", "name: b, tasks: 1",
     ": no task times: set task_seconds, or set task to the data of one task"},
    {"NegativeTime", "name: b, tasks: 1, task_seconds: -1",
     ".task_seconds: must be from 0 to 1000000000 seconds, or text such as 90s or 1h30m"},
    {"NanTime", "name: b, tasks: 1, task_seconds: [1, .nan]",
     ".task_seconds[1]: must be from 0 to 1000000000 seconds, or text such as 90s or 1h30m"},
    {"UnknownParent", "name: bee, tasks: 1, task_seconds: 1, after: [be]",
     ".after[0]: unknown stage be; did you mean bee?"},
    {"Cycle", "name: b, tasks: 1, task_seconds: 1, after: b",
     ".after: is part of a cycle: b waits for b"},
    {"UnknownField", "name: b, tasks: 1, task_seconds: 1, tusks: 2",
     ": unknown field tusks; did you mean tasks?"},
    {"MisspeltField", "name: b, taks: 3, task_seconds: 1",
     ": unknown field taks; did you mean tasks?"},
    {"MisspeltName", "nmae: b, tasks: 3, task_seconds: 1",
     ": unknown field nmae; did you mean name?"},
    {"GivenTwice", "name: b, tasks: 3, task_count: 4", ".task_count: is given twice"},
};

const Fault kFileFaults[] = {
    {"NoMap", "3", "line 1: must be a mapping of fields to values"},
    {"Log", "TIDELOG4 and what follows",
     "is a Tidemark event log, not a plan; `tidemark replay` reads event logs"},
    {"SparkLog", R"({"Event":"SparkListenerLogStart","Spark Version":"3.5.1"})",
     "is a log of Spark or Hadoop, not a plan; `tidemark replay`, `why` and `what-if` read it"},
    {"Deep", std::string(10'000, '['), "line 1: nested too deeply for a plan"},
    {"Nothing", "{}", "line 1: has neither jobs nor stages; add one of them"},
    {"NoJobs", "id: x", "line 1: has neither jobs nor stages; add one of them"},
    {"Both", "jobs: []\nstages: []",
     "line 1: has jobs and stages at the top level; put the stages into a job"},
    {"EmptyStages", "stages: []", "line 1: stages: must contain at least one stage"},
    {"EmptyJobs", "jobs: []", "line 1: jobs: must contain at least one job"},
    {"MisspeltJobs", "job: []", "line 1: unknown field job; did you mean jobs?"},
    {"NodeTwice", "cluster: {node: {cores: 1}}\nnode: {cores: 2}\njobs: [{name: a}]",
     "line 2: node: is given twice"},
    {"Policy", "cluster: {policy: lottery}\n" + Second("name: b, tasks: 1"),
     "line 1: cluster.policy: must be fifo, fair, drf or capacity, not lottery"},
    {"PolicyMeant", "cluster: {policy: fifi}\n" + Second("name: b, tasks: 1"),
     "line 1: cluster.policy: must be fifo, fair, drf or capacity, not fifi; did you mean fifo?"},
    {"Slots", "cluster: {slots: 0}\n" + Second("name: b, tasks: 1, task_seconds: 1"),
     "line 1: cluster.slots: must be from 1 to 1000000, not 0"},
    {"HalfASlot", "cluster: {slots: 2.5}\n" + Second("name: b, tasks: 1"),
     "line 1: cluster.slots: must be a whole number from 0 to 4294967295, not 2.5"},
    {"LargeTask", "stages: [{name: a, tasks: 1, task_seconds: 1, slots_per_task: 2}]",
     "line 1: stages[0].slots_per_task: needs 2; the cluster has 1 slot"},
    {"MuchMemory",
     "cluster: {memory_bytes: 4}\nstages: [{name: a, tasks: 1, task_seconds: 1, "
     "memory_bytes_per_task: 5}]",
     "line 2: stages[0].memory_bytes_per_task: needs 5; the cluster has 4 bytes"},
    {"NoQueues", "cluster: {policy: capacity}\njobs: [{name: a}]",
     "line 1: cluster.queues: policy capacity needs queues"},
    {"Share", "cluster: {queues: {etl: 0}}\njobs: [{name: a}]",
     "line 1: cluster.queues.etl: must be positive and finite, not 0"},
    {"ShareText", "cluster: {queues: {etl: much}}\njobs: [{name: a}]",
     "line 1: cluster.queues.etl: must be a finite number, not much"},
    {"StageQueue",
     kQueues + std::string("stages: [{name: a, tasks: 1, task_seconds: 1, queue: ad}]"),
     "line 2: stages[0].queue: unknown queue ad"},
    {"OwnerQueue",
     kQueues + std::string("stages:\n- {name: a, tasks: 1, task_seconds: 1, queue: etl, owner: "
                           "x}\n- {name: b, tasks: 1, task_seconds: 1, queue: adhoc, owner: x}"),
     "line 4: stages[1].queue: its owner x has a stage in a different queue, etl"},
    {"JobName", "jobs: [{maps: 1}, {name: b}]",
     "line 1: jobs[0].name: is missing; it is required for each of several jobs"},
    {"JobField", "jobs:\n- {name: a}\n- {name: b, mops: 1}",
     "line 3: jobs[1]: unknown field mops; did you mean maps?"},
    {"JobParent", "jobs:\n- {name: parse}\n- {name: b, after: prase}",
     "line 3: jobs[1].after[0]: unknown job prase; did you mean parse?"},
    {"JobCycle", "jobs: [{name: a, after: a}]",
     "line 1: jobs[0].after: is part of a cycle: a waits for a"},
    {"JobAfter", "jobs: [{name: a, after: {b: c}}]", "line 1: jobs[0].after: must be a list"},
    {"AfterList", "jobs: [{name: a, after: [[b]]}]",
     "line 1: jobs[0].after[0]: must be a name or a list of names"},
    {"Maps", "jobs: [{name: a, maps: -1}]",
     "line 1: jobs[0].maps: must be a whole number from 0 to 4294967295, not -1"},
    {"Profile", "jobs: [{name: a, profile: {maps: 1}}]",
     "line 1: jobs[0].profile: has no task time; add one or omit the profile"},
    {"BothForms", "jobs: [{name: a, maps: 1, stages: [{name: s, tasks: 1, task_seconds: 1}]}]",
     "line 1: jobs[0].stages: describe a job by its stages, or by its task counts, input and "
     "profile, not by both"},
    {"ProfiledSlots", "jobs: [{name: a}]\nprofiled_slots: 3",
     "line 2: profiled_slots: must be in a job"},
    {"List", "jobs: [3]", "line 1: jobs[0]: must be a mapping of fields to values"},
    {"Text", "id: [x]\njobs: [{name: a}]", "line 1: id: must be text"},
};

INSTANTIATE_TEST_SUITE_P(Faults, PlanFileFault, testing::ValuesIn(kFileFaults),
                         [](const auto& tested) { return tested.param.name; });
INSTANTIATE_TEST_SUITE_P(Faults, PlannedStageFault, testing::ValuesIn(kStageFaults),
                         [](const auto& row) { return row.param.name; });

// Adding jobs to a running plan changes no other part of the plan.
TEST(PlanFile, AddsJobsOnly) {
  EXPECT_TRUE(ParsePlanFile("jobs: [{name: b, after: a}]", PlanUse::kAdd).ok());
  for (const char* other :
       {"id: x", "workflow: x", "cluster: {slots: 2}", "node: {cores: 2}", "retry_within: 5"}) {
    const auto plan = ParsePlanFile(std::string("jobs: [{name: b}]\n") + other, PlanUse::kAdd);
    const std::string field = std::string(other).substr(0, std::string(other).find(':'));
    EXPECT_EQ(plan.status().message(), "line 2: " + field + ": cannot be changed; omit it");
  }
  EXPECT_EQ(ParsePlanFile("stages: []", PlanUse::kAdd).status().message(),
            "line 1: stages: only jobs can be added; put the stages into a job");
}

TEST(PlanFile, NamesTheLineOfBadYaml) {
  EXPECT_THAT(MessageOf("stages: [{"), HasSubstr("line 1: not valid YAML"));
  EXPECT_THAT(MessageOf("{id: ["), HasSubstr("end of sequence"));
}

TEST(PlanFile, RequiresAnIdForSubmission) {
  EXPECT_EQ(ParsePlanFile("jobs: [{name: a}]", PlanUse::kSubmit).status().message(),
            "id is missing");
  EXPECT_TRUE(ParsePlanFile(kJobs, PlanUse::kSubmit).ok());
}

// The error of a master contains the names in the request.
TEST(PlanFile, LocatesTheErrorOfAMaster) {
  const test::ScratchDirectory directory;
  const std::string path =
      directory.Write("add.yaml", "jobs:\n- {name: a}\n- name: b\n  maps: 3\n");
  const auto said = [&](const std::string& message) {
    const absl::Status located = InPlanFile(path, absl::InvalidArgumentError(message));
    return std::string(located.message());
  };
  EXPECT_EQ(said("add_jobs[1].queue: is missing"), path + ": line 3: jobs[1].queue: is missing");
  EXPECT_EQ(said("plan.jobs[1].map_task_count: too many"),
            path + ": line 4: jobs[1].maps: too many");
  EXPECT_EQ(said("No field: nothing to say"), "No field: nothing to say");
  const absl::Status other = absl::UnavailableError("jobs[0]: gone");
  EXPECT_EQ(InPlanFile(path, other), other);
}

TEST(PlanFile, ParsesAllExamplesOfTheDocument) {
  const std::string text = test::BytesOf(TIDEMARK_SOURCE_DIR "/docs/plans.md");
  const std::string begin = "```yaml\n";
  int examples = 0;
  for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) {
    const std::size_t from = at + begin.size();
    const auto plan =
        ParsePlanFile(text.substr(from, text.find("```", from) - from), PlanUse::kEstimate);
    EXPECT_TRUE(plan.ok()) << "example " << examples << ": " << plan.status();
    if (plan.ok() && whatif::IsOfStages(*plan)) {
      const auto outcome = whatif::EstimateStages(*plan, {}, absl::UnixEpoch());
      EXPECT_TRUE(outcome.ok()) << "example " << examples << ": " << outcome.status();
    }
    ++examples;
  }
  EXPECT_EQ(examples, 2);
}

TEST(PlanFile, TheTourOfSharedNodesShowsTheEstimateOfItsPlan) {
  const auto plan = ReadPlanFile(TIDEMARK_SOURCE_DIR "/examples/plans/web-site-analytics.yaml",
                                 PlanUse::kEstimate)
                        .value();
  const auto outcome = whatif::EstimateStages(plan, {}, absl::UnixEpoch()).value();
  const std::string tour = test::BytesOf(TIDEMARK_SOURCE_DIR "/docs/tours/shared-nodes.md");
  for (const std::string& line :
       console::RenderEstimate(outcome, {.width = 200, .text = {.unicode = true}})) {
    EXPECT_THAT(tour, HasSubstr(line));
  }
}

TEST(PlanFile, ReportsAMissingFile) {
  EXPECT_TRUE(absl::IsNotFound(ReadPlanFile("/nonexistent", PlanUse::kEstimate).status()));
}

}  // namespace
}  // namespace tidemark::cli::plan_file_test
