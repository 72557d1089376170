#include "examples/local_mapreduce/workflow.h"

#include "tests/examples/runs.h"
#include "tests/test.h"
#include "tidemark/master.h"

namespace tidemark::examples::workflow_test {
namespace {

class WorkflowTest : public RunTest {
 protected:
  void SetUp() override {
    auto master = Master::Start({});
    ASSERT_TRUE(master.ok()) << master.status();
    master_ = *std::move(master);
  }
  WorkflowRunOptions WebLog() const {
    return {.workflow = "web-log",
            .id = "log",
            .inputs = {Path("visits")},
            .output_dir = Path("out"),
            .slots = 2,
            .reduce_task_count = 2,
            .worker_command = {TIDEMARK_WORKER, "worker"},
            .master_address = master_->address()};
  }
  // Returns the lines "KEY<TAB>NUMBER" of the output of a job.
  std::map<std::string, std::uint64_t> Numbers(const std::string& job) const {
    std::map<std::string, std::uint64_t> numbers;
    for (const auto& part : std::filesystem::directory_iterator(Path("out/" + job))) {
      std::ifstream file(part.path());
      std::string key;
      for (std::uint64_t number = 0; std::getline(file, key, '\t') && file >> number;) {
        numbers[key] = number;
        file.ignore();
      }
    }
    return numbers;
  }

  std::unique_ptr<Master> master_;
};

TEST_F(WorkflowTest, JobsReadTheOutputOfTheirParents) {
  std::ofstream(Path("visits")) << "10.0.0.1 /a 5 100\n10.0.0.2 /a 5 7\n10.0.0.1 /b 1 20\n"
                                   "10.0.0.3 /c 0 999\n";
  const auto summary = RunWorkflow(WebLog());
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(Numbers("pages"), (std::map<std::string, std::uint64_t>{{"/a", 2}, {"/b", 1}}));
  EXPECT_EQ(Numbers("visitors"),
            (std::map<std::string, std::uint64_t>{{"10.0.0.1", 120}, {"10.0.0.2", 7}}));
  EXPECT_EQ(Numbers("histogram"),
            (std::map<std::string, std::uint64_t>{
                {"pages 00", 1}, {"pages 01", 1}, {"visitors 02", 1}, {"visitors 06", 1}}));
  ASSERT_THAT(summary->steps, SizeIs(4));
  EXPECT_EQ(summary->steps[0].name, "parse");
  const FinishedStep& last = summary->steps[3];
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_GE(last.started_after, summary->steps[i].started_after);
  }
  for (const char* job : {"log-parse", "log-pages", "log-visitors", "log-histogram"}) {
    EXPECT_TRUE(master_->WaitUntilFinal(job, absl::Seconds(60)).ok()) << job;
  }
}

TEST_F(WorkflowTest, AFailedJobStopsTheOthersAndIsNamed) {
  std::ofstream(Path("visits")) << "nonsense\n";
  const auto summary = RunWorkflow(WebLog());
  EXPECT_THAT(std::string(summary.status().message()), HasSubstr("job parse: "));
  EXPECT_FALSE(std::filesystem::exists(Path("out/pages")));
}

TEST_F(WorkflowTest, ReturnsThePlan) {
  const auto plan = PlanOf(WebLog());
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_THAT(plan->jobs, SizeIs(4));
  EXPECT_EQ(plan->jobs[0].job_id, "log-parse");
  EXPECT_EQ(plan->jobs[0].history_name, "parse-visits");
  EXPECT_THAT(plan->jobs[3].after, ElementsAre("pages", "visitors"));
  WorkflowRunOptions wrong = WebLog();
  wrong.workflow = "no";
  EXPECT_TRUE(absl::IsNotFound(PlanOf(wrong).status()));
  wrong.workflow = "graph-and-words";
  EXPECT_TRUE(absl::IsInvalidArgument(PlanOf(wrong).status()));
}

TEST_F(WorkflowTest, GeneratedVisitsAreDeterministic) {
  ASSERT_TRUE(GenerateVisits(Path("one"), 1000).ok());
  ASSERT_TRUE(GenerateVisits(Path("two"), 1000).ok());
  const auto text = [&](const char* name) {
    std::ifstream file(Path(name));
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string one = text("one");
  EXPECT_EQ(one, text("two"));
  EXPECT_EQ(std::count(one.begin(), one.end(), '\n'), 1000);
}

}  // namespace
}  // namespace tidemark::examples::workflow_test
