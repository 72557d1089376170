// Workflows that jobs form by the workflow that they report, as the connector for Hadoop does.

#include "master/store/job_history.h"
#include "tests/service/workflow_tables.h"
#include "tests/test.h"

namespace tidemark::service::open_workflow_test {
namespace {

// The graph a -> b, a -> c, b and c -> d.
std::vector<WorkflowNode> Diamond() {
  return {{"a", {}}, {"b", {"a"}}, {"c", {"a"}}, {"d", {"b", "c"}}};
}

JobWorkflow In(const std::string& id, const std::string& node,
               std::vector<WorkflowNode> nodes = {}) {
  return {.id = id, .name = "s.pig", .node = node, .nodes = std::move(nodes)};
}

// Adds the history of a master to its tables.
class OpenWorkflowTest : public test::WorkflowTables {
 protected:
  void SetUp() override { Start(0); }

  void Start(double seconds) {
    Stop();
    history_ = std::make_unique<store::JobHistory>([](const std::string&) {});
    ASSERT_TRUE(history_->Open(directory_.path(), {}, At(seconds)).ok());
    const auto add = [this](const store::FinishedJob& job) { history_->Add(job); };
    WorkflowTableOptions options;
    options.jobs_per_workflow_max = jobs_per_workflow_max_;
    options.runs = [this](const std::string& name, const store::Reported& job) {
      return history_->Profiles(name, job);
    };
    options.stage_runs = [this](const std::string& name, const store::Reported& job) {
      return history_->StageRuns(name, job);
    };
    options.on_end = add;
    options.on_refused = [this](const std::string&, const absl::Status& reason) {
      refused_.emplace_back(reason.message());
    };
    options.deadline_of = [this](const std::string& name, absl::Time) {
      return name == "s.pig" ? deadline_ : std::nullopt;
    };
    StartTables(
        seconds,
        {.on_end = add,
         .past_runs = [this](const std::string& name,
                             const store::Reported& job) { return history_->PastRuns(name, job); }},
        options);
    Tick(seconds);
  }

  // Opens a job of one map task, which starts at once.
  Source Begin(const std::string& job_id, double seconds, const JobWorkflow& workflow,
               const Sender& sender = {}) {
    Source source("am", job_id);
    Report(source, seconds,
           JobOpened{.name = "PigLatin:s.pig",
                     .engine = "hadoop",
                     .stages = MapReduceStages(1, 0),
                     .deadline = At(500),
                     .workflow = workflow},
           sender);
    Report(source, seconds, test::Started(test::M(0), 100), sender);
    Tick(seconds);
    return source;
  }
  void End(Source& source, double seconds, JobOutcome outcome = JobOutcome::kSucceeded,
           const std::string& message = "") {
    if (outcome == JobOutcome::kSucceeded) Report(source, seconds, test::Finished(test::M(0)));
    Report(source, seconds, Closed(outcome, message));
    Tick(seconds);
  }
  void Run(const std::string& job_id, double from, double until, const JobWorkflow& workflow) {
    Source source = Begin(job_id, from, workflow);
    End(source, until);
  }
  // Runs the diamond from `from` on. Its jobs take 10, 20, 40 and 10 seconds.
  void RunDiamond(const std::string& id, double from) {
    Run(id + "_a", from, from + 10, In(id, "a", Diamond()));
    Source b = Begin(id + "_b", from + 11, In(id, "b", Diamond()));
    Source c = Begin(id + "_c", from + 11, In(id, "c", Diamond()));
    End(b, from + 31);
    End(c, from + 51);
    Run(id + "_d", from + 52, from + 62, In(id, "d", Diamond()));
    Tick(from + 80);
  }

  // Runs rounds of the master until the published snapshots are as of `seconds`.
  void Tick(double seconds) {
    for (const double at : {seconds, seconds + 0.3}) {
      TickJobs(at);
      workflows_->TickDue(At(at));
    }
  }
  std::vector<std::string> Names(const std::string& id) const {
    std::vector<std::string> names;
    for (const Child& child : Newest(id).children) names.push_back(child.name);
    return names;
  }
  std::vector<ChildState> States(const std::string& id) const {
    std::vector<ChildState> states;
    for (const Child& child : Newest(id).children) states.push_back(child.state);
    return states;
  }

  std::vector<std::string> refused_;
  std::optional<absl::Time> deadline_;  // of workflows, by the master's settings
  std::size_t jobs_per_workflow_max_ = 1000;
  std::unique_ptr<store::JobHistory> history_;
};

TEST_F(OpenWorkflowTest, AGraphMakesTheWorkflowBeforeItsFirstJobEnds) {
  Source a = Begin("job_1", 10, In("pig_1", "a", Diamond()));
  Tick(12);
  EXPECT_THAT(Names("pig_1"), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(States("pig_1"), ElementsAre(ChildState::kRunning, ChildState::kPending,
                                           ChildState::kPending, ChildState::kPending));
  EXPECT_EQ(Newest("pig_1").info->name, "s.pig");
  EXPECT_EQ(Newest("pig_1").started_at, At(10));
  EXPECT_THAT(Newest("pig_1").children[3].after, ElementsAre(2, 3));
  EXPECT_EQ(Newest("job_1").info->workflow_id, "pig_1");
  EXPECT_TRUE(Newest("pig_1").estimate.remaining.has_value());
  EXPECT_EQ(Newest("pig_1").deadline, At(500));
}

TEST_F(OpenWorkflowTest, AWholeGraphEndsWithItsLastJob) {
  RunDiamond("pig_1", 10);
  const Snapshot final = Newest("pig_1");
  EXPECT_TRUE(final.is_final);
  EXPECT_EQ(final.state, JobState::kSucceeded);
  EXPECT_EQ(final.ended_at, At(72));
  EXPECT_THAT(final.notes, IsEmpty());
}

TEST_F(OpenWorkflowTest, JobsOfOneTagGrowIntoOneWorkflow) {
  Run("job_1", 10, 20, In("nightly", "load"));
  EXPECT_FALSE(IsKnown("nightly")) << "one job is no workflow";
  Source count = Begin("job_2", 25, In("nightly", "count"));
  Tick(26);
  EXPECT_THAT(Names("nightly"), ElementsAre("load", "count"));
  EXPECT_THAT(States("nightly"), ElementsAre(ChildState::kSucceeded, ChildState::kRunning));
  EXPECT_THAT(Newest("nightly").children[1].after, ElementsAre(1));
  EXPECT_EQ(Newest("nightly").started_at, At(10));
  Source join = Begin("job_3", 27, In("nightly", "join"));
  Tick(28);
  EXPECT_THAT(Newest("nightly").children[2].after, ElementsAre(1)) << "it runs beside count";
  End(join, 30);
  End(count, 40);
  Tick(90);
  EXPECT_FALSE(Newest("nightly").is_final);
  EXPECT_THAT(
      Newest("nightly").notes,
      Contains("the workflow ends when it is closed, or 1 min after its last job if no other "
               "job joins it"));
  EXPECT_EQ(Newest("nightly").idle_since, At(40));
  EXPECT_FALSE(Newest("nightly").estimate.remaining.has_value()) << "more jobs may come";
  EXPECT_GT(Newest("nightly").estimate.fraction_done, 0);
  EXPECT_EQ(Newest("nightly").estimate.fraction_done_upper, 1) << "this may be its end";
  EXPECT_FALSE(Newest("nightly").silent_since.has_value());
  Tick(102);
  EXPECT_EQ(Newest("nightly").state, JobState::kSucceeded);
  EXPECT_EQ(Newest("nightly").ended_at, At(40));
}

TEST_F(OpenWorkflowTest, AClosedWorkflowEndsWithItsRunningJobs) {
  Run("job_1", 10, 20, In("nightly", "load"));
  Source count = Begin("job_2", 25, In("nightly", "count"));
  ASSERT_TRUE(workflows_->Update("nightly", {.close = true}, At(30)).ok());
  Tick(31);
  EXPECT_FALSE(Newest("nightly").is_final);
  Start(35);
  Report(count, 40, test::Finished(test::M(0)));
  Report(count, 40, Closed());
  Tick(41);
  EXPECT_EQ(Newest("nightly").state, JobState::kSucceeded) << "the end was stored";
  EXPECT_EQ(Newest("nightly").ended_at, At(40));
  EXPECT_TRUE(workflows_->Update("nightly", {.close = true}, At(42)).ok()) << "again";
}

TEST_F(OpenWorkflowTest, AJobJoinsAClosedWorkflowWhileAnotherJobRuns) {
  Run("job_1", 10, 20, In("nightly", "load"));
  Source count = Begin("job_2", 25, In("nightly", "count"));
  ASSERT_TRUE(workflows_->Update("nightly", {.close = true}, At(30)).ok());
  Source store = Begin("job_3", 31, In("nightly", "store"));
  End(count, 40);
  EXPECT_THAT(Names("nightly"), ElementsAre("load", "count", "store"));
  EXPECT_FALSE(Newest("nightly").is_final);
  End(store, 50);
  Tick(51);
  EXPECT_EQ(Newest("nightly").ended_at, At(50));
}

TEST_F(OpenWorkflowTest, AWorkflowWaitsTenMinutesForADueJob) {
  Run("job_1", 10, 20, In("pig_1", "a", {{"a", {}}, {"b", {"a"}}}));
  Tick(619);
  EXPECT_FALSE(Newest("pig_1").is_final) << "b waits for a container";
  Tick(622);
  EXPECT_EQ(Newest("pig_1").state, JobState::kSucceeded);
  EXPECT_EQ(Newest("pig_1").ended_at, At(20));
}

TEST_F(OpenWorkflowTest, TheDeadlineOfTheWorkflowPrecedesTheDeadlineOfItsJobs) {
  deadline_ = At(900);
  Source a = Begin("job_1", 10, In("pig_1", "a", Diamond()));
  EXPECT_EQ(Newest("pig_1").deadline, At(900));
}

TEST_F(OpenWorkflowTest, TheDeadlineOfTheFirstJobCountsIfTheSecondHasNone) {
  const JobWorkflow load = In("nightly", "load");
  const JobWorkflow count = In("nightly", "count");
  Run("job_1", 10, 20, load);
  ASSERT_TRUE(workflows_->Join({"job_2", count, std::nullopt, {}}, At(25)).ok());
  Tick(26);
  EXPECT_EQ(Newest("nightly").deadline, At(500));
}

TEST_F(OpenWorkflowTest, TheOldestOfTooManyLoneJobsIsDropped) {
  const JobWorkflow oldest = In("z", "query");
  ASSERT_TRUE(workflows_->Join({"job_z", oldest, std::nullopt, {}}, At(0)).ok());
  Run("job_1", 10, 20, In("etl", "load"));
  for (int i = 0; i < 999; ++i) {
    const JobWorkflow query = In("hive_" + std::to_string(i), "query");
    const std::string id = "job_hive_" + std::to_string(i);
    ASSERT_TRUE(workflows_->Join({id, query, std::nullopt, {}}, At(20)).ok());
  }
  Source count = Begin("job_2", 25, In("etl", "count"));
  EXPECT_THAT(Names("etl"), ElementsAre("load", "count"));
}

TEST_F(OpenWorkflowTest, AJobOfAnotherReporterDoesNotEndTheWaitForASecondJob) {
  Run("job_1", 10, 20, In("nightly", "load"));
  Source other = Begin("b_1", 21, In("nightly", "load"), {.name_space = "b_*", .reporter = "b"});
  Source count = Begin("job_2", 25, In("nightly", "count"));
  EXPECT_THAT(Names("nightly"), ElementsAre("load", "count"));
  EXPECT_THAT(refused_, IsEmpty());
}

TEST_F(OpenWorkflowTest, ALoneJobWithALargeReportStaysAlone) {
  JobWorkflow large = In("nightly", "load");
  large.parent_job_ids.assign(300, std::string(250, 'p'));
  Run("job_1", 10, 20, large);
  Run("job_2", 21, 30, In("nightly", "count"));
  EXPECT_FALSE(IsKnown("nightly"));
  Source store = Begin("job_3", 31, In("nightly", "store"));
  EXPECT_THAT(Names("nightly"), ElementsAre("count", "store"));
}

TEST_F(OpenWorkflowTest, AJobOfACancelledWorkflowOpensNoOtherAfterARestart) {
  Source a = Begin("job_1", 10, In("pig_1", "a", Diamond()));
  ASSERT_TRUE(workflows_->Update("pig_1", {.cancel = true}, At(12)).ok());
  Tick(13);
  EXPECT_EQ(Newest("pig_1").state, JobState::kKilled);
  Start(20);
  Report(a, 21, test::Finished(test::M(0)));
  Tick(22);
  EXPECT_FALSE(IsKnown("pig_1.2"));
}

TEST_F(OpenWorkflowTest, ALongIdNamesALaterRunToo) {
  const std::string id(256, 'w');
  for (const double from : {10.0, 1000.0}) {
    const std::string job = from < 1000 ? "job_1" : "job_2";
    Run(job + "_1", from, from + 10, In(id, "load"));
    Run(job + "_2", from + 11, from + 20, In(id, "count"));
    Tick(from + 120);
  }
  EXPECT_EQ(Newest(std::string(254, 'w') + ".2").state, JobState::kSucceeded);
}

TEST_F(OpenWorkflowTest, AfterTheFirstRunIsForgottenJobsJoinTheSecond) {
  Run("job_1", 10, 20, In("nightly", "load"));
  Run("job_2", 21, 30, In("nightly", "count"));
  Tick(120);
  Run("job_3", 1010, 1020, In("nightly", "load"));
  Source count = Begin("job_4", 1021, In("nightly", "count"));
  ASSERT_TRUE(IsKnown("nightly.2"));
  ASSERT_TRUE(workflows_->Forget("nightly", "").ok());
  Source store = Begin("job_5", 1022, In("nightly", "store"));
  EXPECT_THAT(Names("nightly.2"), Contains("store"));
  EXPECT_FALSE(IsKnown("nightly"));
}

TEST_F(OpenWorkflowTest, AfterARestartJobsJoinTheRunningRunAlthoughTheFirstIsForgotten) {
  Run("job_1", 10, 20, In("nightly", "load"));
  Run("job_2", 21, 30, In("nightly", "count"));
  Tick(120);
  Source load = Begin("job_3", 1010, In("nightly", "load"));
  ASSERT_TRUE(IsKnown("nightly.2")) << "the past run has two jobs";
  ASSERT_TRUE(workflows_->Forget("nightly", "").ok());
  Start(1020);
  Source count = Begin("job_4", 1021, In("nightly", "count"));
  EXPECT_FALSE(IsKnown("nightly"));
  EXPECT_EQ(Newest("nightly.2").children[1].job_id, "job_4");
}

TEST_F(OpenWorkflowTest, AJobOfACancelledRunDoesNotJoinTheNextRun) {
  Run("job_1", 10, 20, In("nightly", "load"));
  Run("job_2", 21, 30, In("nightly", "count"));
  Tick(120);
  Source load = Begin("job_3", 1010, In("nightly", "load"));
  ASSERT_TRUE(workflows_->Update("nightly.2", {.cancel = true}, At(1012)).ok());
  Tick(1013);
  Start(1020);
  const JobWorkflow reported = In("nightly", "load");
  ASSERT_TRUE(workflows_->Join({"job_4", reported, std::nullopt, {}}, At(1021)).ok());
  ASSERT_TRUE(workflows_->Join({"job_3", reported, std::nullopt, {}}, At(1022)).ok());
  Tick(1023);
  EXPECT_THAT(Names("nightly.3"), ElementsAre("load", "count"));
  EXPECT_EQ(Newest("nightly.3").children[0].job_id, "job_4");
}

TEST_F(OpenWorkflowTest, JobsBeyondTheLimitAreNotedInTheJobsAndInTheWorkflow) {
  jobs_per_workflow_max_ = 2;
  Start(0);
  Run("job_1", 10, 20, In("nightly", "load"));
  Source count = Begin("job_2", 21, In("nightly", "count"));
  Source store = Begin("job_3", 22, In("nightly", "store"));
  Source ship = Begin("job_4", 23, In("nightly", "ship"));
  const std::string reason = "workflow nightly has 3 jobs; this master allows at most 2";
  const std::string of_workflow = "2 jobs report this workflow, but are not part of it: " + reason;
  for (const double restart_at : {25.0, 35.0}) {
    EXPECT_THAT(Newest("job_4").notes,
                ElementsAre("the job is not part of workflow nightly: " + reason));
    EXPECT_THAT(Newest("job_2").notes, IsEmpty());
    EXPECT_THAT(Newest("nightly").notes, Contains(of_workflow));
    Start(restart_at);
    Tick(restart_at + 2);
  }
  End(store, 40);
  End(ship, 40);
  End(count, 41);
  Tick(120);
  EXPECT_TRUE(Newest("nightly").is_final);
  EXPECT_THAT(Newest("nightly").notes, Contains(of_workflow));
  EXPECT_THAT(Newest("job_4").notes, SizeIs(1));
}

TEST_F(OpenWorkflowTest, AJobJoinsOnceItReportsItsNode) {
  Source early("am", "job_1");
  Report(early, 10, JobOpened{.workflow = In("pig_1", "")});
  Tick(10);
  EXPECT_FALSE(IsKnown("pig_1"));
  Report(early, 11, JobOpened{.name = "s", .workflow = In("pig_1", "a", Diamond())});
  Tick(12);
  EXPECT_TRUE(IsKnown("pig_1"));
}

TEST_F(OpenWorkflowTest, TheNextRunKnowsEachOfItsJobs) {
  RunDiamond("pig_1", 10);
  Source a = Begin("pig_2_a", 1000, In("pig_2", "a", Diamond()));
  Tick(1001);
  const Snapshot next = Newest("pig_2");
  ASSERT_THAT(next.children, SizeIs(4));
  for (const Child& child : next.children) {
    EXPECT_EQ(child.estimate.basis, Basis::kEarlierRuns) << child.name;
  }
  // a takes 10 s, c 40 s beside b, and d 10 s. The pauses between them take 1 s each.
  EXPECT_NEAR(absl::ToDoubleSeconds(next.estimate.remaining->median), 61, 12)
      << "b and c run at once, as in the past run";
}

TEST_F(OpenWorkflowTest, ThePausesOfThePastRunAreExpectedToCome) {
  for (const double from : {0.0, 1000.0}) {
    const std::string id = from == 0 ? "1" : "2";
    Run(id + "_a", from + 10, from + 20, In(id, "a"));
    if (from > 0) {
      Start(from + 21);  // A restarted master expects the pause, too.
      Tick(from + 35);
      EXPECT_FALSE(Newest(id).silent_since.has_value()) << "the pause is usual";
      // 15 of 40 seconds of the pause have passed, and b takes 10 s.
      EXPECT_NEAR(absl::ToDoubleSeconds(Newest(id).estimate.remaining->median), 35, 4);
    }
    Run(id + "_b", from + 60, from + 70, In(id, "b"));
    Tick(from + 400);
    EXPECT_EQ(Newest(id).state, JobState::kSucceeded);
  }
}

TEST_F(OpenWorkflowTest, AnotherGraphUnderOneNameHasNoPastRuns) {
  RunDiamond("pig_1", 10);
  std::vector<WorkflowNode> other = Diamond();
  other.push_back({"e", {"d"}});
  Source a = Begin("pig_2_a", 1000, In("pig_2", "a", other));
  Tick(1001);
  ASSERT_THAT(Newest("pig_2").children, SizeIs(5));
  for (std::size_t i = 1; i < 5; ++i) {
    EXPECT_EQ(Newest("pig_2").children[i].estimate.basis, Basis::kGuess);
  }
}

TEST_F(OpenWorkflowTest, AGrowingWorkflowExpectsTheJobsOfItsPastRun) {
  for (const double from : {0.0, 1000.0}) {
    const std::string id = from == 0 ? "nightly-1" : "nightly-2";
    Run(id + "_1", from + 10, from + 20, In(id, "load"));
    if (from > 0) {
      EXPECT_THAT(Names(id), ElementsAre("load", "count", "store"));
      EXPECT_EQ(Newest(id).children[2].estimate.basis, Basis::kEarlierRuns);
      EXPECT_THAT(Newest(id).children[2].after, ElementsAre(2));
    }
    Run(id + "_2", from + 21, from + 51, In(id, "count"));
    Run(id + "_3", from + 52, from + 60, In(id, "store"));
    Tick(from + 75);
    EXPECT_EQ(Newest(id).is_final, from > 0) << "the past run ended here";
    Tick(from + 130);
    EXPECT_EQ(Newest(id).state, JobState::kSucceeded);
  }
}

TEST_F(OpenWorkflowTest, RunsOfAJobAreSharedWithAndWithoutAWorkflow) {
  const auto run = [&](const std::string& id, double from, const std::string& name,
                       const std::optional<JobWorkflow>& workflow) {
    Source source("am", id);
    Report(source, from,
           JobOpened{.name = name, .stages = MapReduceStages(1, 0), .workflow = workflow});
    Report(source, from, test::Started(test::M(0), 100));
    Tick(from);
    End(source, from + 10);
  };
  run("job_1", 10, "load", std::nullopt);
  run("job_2", 1010, "load", In("n-1", "load"));  // no second job is known before its end
  run("job_3", 1021, "count", In("n-1", "count"));
  Tick(1130);
  EXPECT_EQ(Newest("n-1").state, JobState::kSucceeded);
  EXPECT_THAT(history_->Profiles("load", {.id = "job_4"}), SizeIs(2));
  EXPECT_THAT(history_->Profiles("s.pig / load", {.id = "job_4"}), IsEmpty());
  EXPECT_THAT(history_->Profiles("s.pig / count", {.id = "job_4"}), SizeIs(1));
  run("job_4", 2010, "load", In("n-2", "load"));
  EXPECT_THAT(Names("n-2"), ElementsAre("load", "count")) << "its past run is n-1";
  EXPECT_EQ(Newest("n-2").children[1].estimate.basis, Basis::kEarlierRuns);
}

TEST_F(OpenWorkflowTest, AScriptThatGoesAnotherWayIsNoLongerExpectedToFollowItsPastRun) {
  Run("1_1", 10, 20, In("nightly-1", "load"));
  Run("1_2", 21, 30, In("nightly-1", "count"));
  Run("1_3", 31, 40, In("nightly-1", "store"));
  Tick(110);
  ASSERT_TRUE(Newest("nightly-1").is_final);
  Run("2_1", 1010, 1020, In("nightly-2", "load"));
  Run("2_2", 1021, 1030, In("nightly-2", "clean"));
  EXPECT_THAT(Newest("nightly-2").children[1].state, ChildState::kAwaited) << "count may come";
  Run("2_3", 1031, 1040, In("nightly-2", "merge"));
  Tick(1042);
  EXPECT_EQ(Newest("nightly-2").children[1].state, ChildState::kCancelled);
  EXPECT_EQ(Newest("nightly-2").children[2].state, ChildState::kCancelled);
  Source store = Begin("2_4", 1043, In("nightly-2", "store"));
  Tick(1044);
  EXPECT_EQ(Newest("nightly-2").children[2].state, ChildState::kRunning) << "it comes after all";
}

TEST_F(OpenWorkflowTest, NodesThatNeverCameAreCancelled) {
  const std::vector<WorkflowNode> graph = {{"Stage-1", {}},
                                           {"Stage-7", {"Stage-1"}},
                                           {"Stage-2", {"Stage-7"}},
                                           {"Stage-3", {"Stage-2"}}};
  Run("job_1", 10, 20, In("hive_1", "Stage-1", graph));
  Source second = Begin("job_2", 25, In("hive_1", "Stage-2", graph));
  Tick(26);
  EXPECT_EQ(Newest("hive_1").children[1].state, ChildState::kCancelled) << "a conditional task";
  EXPECT_EQ(Newest("hive_1").children[3].state, ChildState::kPending);
  End(second, 40);
  Tick(639);
  EXPECT_FALSE(Newest("hive_1").is_final);
  Tick(642);
  const Snapshot final = Newest("hive_1");
  EXPECT_EQ(final.state, JobState::kSucceeded);
  EXPECT_EQ(final.ended_at, At(40));
  EXPECT_THAT(final.notes, ElementsAre("no job ran for 2 nodes: Stage-7, Stage-3"));
  // The next run expects only jobs.
  Source again = Begin("job_3", 1000, In("hive_2", "Stage-1", graph));
  Tick(1001);
  EXPECT_THAT(Names("hive_2"), ElementsAre("Stage-1", "Stage-2"));
}

TEST_F(OpenWorkflowTest, AScriptThatFailsInTheMiddleFails) {
  Run("job_1", 10, 20, In("pig_1", "a", Diamond()));
  Source b = Begin("job_2", 21, In("pig_1", "b", Diamond()));
  Source c = Begin("job_3", 21, In("pig_1", "c", Diamond()));
  End(b, 30, JobOutcome::kFailed, "no space");
  Tick(100);
  EXPECT_FALSE(Newest("pig_1").is_final) << "c runs";
  End(c, 110);
  Tick(120);
  EXPECT_FALSE(Newest("pig_1").is_final) << "b may be retried";
  Tick(180);
  const Snapshot final = Newest("pig_1");
  EXPECT_EQ(final.state, JobState::kFailed);
  EXPECT_EQ(final.message, "job b failed: no space");
  EXPECT_EQ(final.ended_at, At(110));
  EXPECT_EQ(final.children[3].state, ChildState::kCancelled);
  EXPECT_THAT(final.notes, ElementsAre("no job ran for 1 node: d"));
}

TEST_F(OpenWorkflowTest, ARetryReplacesTheFailedJob) {
  Run("job_1", 10, 20, In("pig_1", "a", Diamond()));
  Source b = Begin("job_2", 21, In("pig_1", "b", Diamond()));
  End(b, 30, JobOutcome::kFailed, "no space");
  Source again = Begin("job_3", 40, In("pig_1", "b", Diamond()));
  Tick(41);
  EXPECT_THAT(Names("pig_1"), SizeIs(4));
  EXPECT_EQ(Newest("pig_1").children[1].job_id, "job_3");
  EXPECT_EQ(Newest("pig_1").children[1].failed_attempts, 1u);
  End(again, 50);
  Run("job_4", 51, 60, In("pig_1", "c", Diamond()));
  Run("job_5", 61, 70, In("pig_1", "d", Diamond()));
  Tick(160);
  EXPECT_EQ(Newest("pig_1").state, JobState::kSucceeded);
}

TEST_F(OpenWorkflowTest, TwoRunsAtOnceStayApart) {
  Source first = Begin("job_1", 10, In("pig_1", "a", Diamond()));
  Source second = Begin("job_2", 11, In("pig_2", "a", Diamond()));
  End(first, 20);
  Tick(21);
  EXPECT_EQ(Newest("pig_1").children[0].state, ChildState::kSucceeded);
  EXPECT_EQ(Newest("pig_2").children[0].state, ChildState::kRunning);
}

TEST_F(OpenWorkflowTest, ATagThatIsUsedAgainAfterTheEndNamesAnotherRun) {
  const std::vector<std::string> ids = {"nightly", "nightly.2", "nightly.3"};
  for (std::size_t run = 0; run < ids.size(); ++run) {
    const std::string& id = ids[run];
    const double from = 1000 * static_cast<double>(run);
    Run(id + "_1", from + 10, from + 20, In("nightly", "load"));
    Run(id + "_2", from + 21, from + 30, In("nightly", "count"));
    Tick(from + 120);
    EXPECT_EQ(Newest(id).state, JobState::kSucceeded) << id;
    EXPECT_THAT(Newest(id).children, SizeIs(2));
  }
}

TEST_F(OpenWorkflowTest, AJobThatEndedLongAgoIsOfAnotherRun) {
  Run("job_1", 10, 20, In("nightly", "load"));
  Run("job_2", 1010, 1020, In("nightly", "load"));
  EXPECT_FALSE(IsKnown("nightly"));
}

TEST_F(OpenWorkflowTest, ANodeThatComesAgainIsAnotherJob) {
  Run("job_1", 10, 20, In("loop", "step"));
  Run("job_2", 21, 30, In("loop", "step"));
  Source third = Begin("job_3", 31, In("loop", "step"));
  Source fourth = Begin("job_4", 31, In("loop", "step"));
  Tick(33);
  EXPECT_THAT(Names("loop"), ElementsAre("step", "step (2)", "step (3)", "step (4)"));
  EXPECT_EQ(Newest("loop").children[3].state, ChildState::kRunning);
  EXPECT_EQ(Newest("job_3").info->workflow_id, "loop");
}

TEST_F(OpenWorkflowTest, AWrongGraphIsIgnoredWithAReasonAndTheJobIsAccepted) {
  const std::vector<WorkflowNode> cycle = {{"a", {"b"}}, {"b", {"a"}}};
  Source a = Begin("job_1", 10, In("pig_1", "a", cycle));
  Tick(12);
  EXPECT_THAT(Newest("job_1").notes,
              ElementsAre("the graph of workflow pig_1 is ignored: nodes[0].after: is part of a "
                          "cycle: a waits for b waits for a"));
  EXPECT_FALSE(IsKnown("pig_1"));
  Source b = Begin("job_2", 13, In("pig_1", "b", {{"b", {"unknown"}}}));
  Tick(14);
  EXPECT_THAT(Names("pig_1"), ElementsAre("a", "b")) << "the jobs are one workflow all the same";
  const std::vector<WorkflowNode> huge(1001, {"n", {}});
  Source c = Begin("job_3", 15, In("pig_1", "n", huge));
  Tick(16);
  EXPECT_THAT(Newest("job_3").notes, ElementsAre(HasSubstr("it has 1001 nodes")));
  EXPECT_THAT(Names("pig_1"), ElementsAre("a", "b", "n"));
}

TEST_F(OpenWorkflowTest, GraphsThatContradictEachOtherMakeNoCycle) {
  Run("job_1", 10, 20, In("w", "a", {{"a", {}}, {"b", {"a"}}}));
  Source c = Begin("job_2", 21, In("w", "c", {{"c", {}}, {"b", {"c"}}, {"x", {"b"}}}));
  Tick(22);
  EXPECT_THAT(Names("w"), ElementsAre("a", "b", "c", "x"));
}

TEST_F(OpenWorkflowTest, AMasterThatStartsInTheMiddleExpectsOnlyTheLaterNodes) {
  Source c = Begin("job_3", 10, In("pig_1", "c", Diamond()));
  Tick(12);
  EXPECT_THAT(Names("pig_1"), ElementsAre("b", "c", "d"));
}

TEST_F(OpenWorkflowTest, ARestartKeepsTheWorkflowAndItsJobsJoinOnce) {
  Run("job_1", 10, 20, In("pig_1", "a", Diamond()));
  Source b = Begin("job_2", 21, In("pig_1", "b", Diamond()));
  Source alone = Begin("job_9", 22, In("tag", "first"));
  Start(25);
  EXPECT_THAT(States("pig_1"), ElementsAre(ChildState::kSucceeded, ChildState::kRunning,
                                           ChildState::kAwaited, ChildState::kPending));
  Source c = Begin("job_3", 26, In("pig_1", "c", Diamond()));
  Source second = Begin("job_10", 26, In("tag", "second"));
  Tick(27);
  EXPECT_EQ(Newest("pig_1").children[2].state, ChildState::kRunning);
  EXPECT_THAT(Names("tag"), ElementsAre("first", "second"));
  EXPECT_THAT(refused_, IsEmpty());
}

TEST_F(OpenWorkflowTest, AJobThatEndedAloneBeforeARestartIsPartOfTheWorkflow) {
  Run("job_1", 10, 20, In("nightly", "load"));
  Start(25);
  Source count = Begin("job_2", 26, In("nightly", "count"));
  EXPECT_THAT(Names("nightly"), ElementsAre("load", "count"));
  EXPECT_THAT(States("nightly"), ElementsAre(ChildState::kSucceeded, ChildState::kRunning));
  End(count, 40);
  Start(50);
  Run("job_3", 51, 60, In("nightly", "store"));
  EXPECT_THAT(Names("nightly"), ElementsAre("load", "count", "store")) << "each job once";
}

TEST_F(OpenWorkflowTest, AReporterCannotUseIdsOutsideItsNameSpace) {
  const Sender sender = {.name_space = "job_*", .reporter = "etl"};
  Source a = Begin("job_1", 10, In("pig_1", "a", Diamond()), sender);
  Tick(12);
  EXPECT_FALSE(IsKnown("pig_1"));
  EXPECT_THAT(refused_, ElementsAre(HasSubstr("may not report workflow pig_1")));
  EXPECT_EQ(Newest("job_1").state, JobState::kRunning);
}

TEST_F(OpenWorkflowTest, AJobDoesNotJoinASubmittedPlanOrAnotherJob) {
  ASSERT_TRUE(workflows_->Submit({.id = "plan", .jobs = {{.name = "x"}}}, {}, At(0)).ok());
  Source a = Begin("job_1", 10, In("plan", "a", Diamond()));
  Source b = Begin("job_2", 11, In("job_1", "a", Diamond()));
  Tick(12);
  EXPECT_THAT(refused_, ElementsAre(HasSubstr("was submitted as a plan"), HasSubstr("job_1")));
  EXPECT_TRUE(
      absl::IsFailedPrecondition(workflows_->Update("plan", {.close = true}, At(13)).status()));
  EXPECT_THAT(Names("plan"), ElementsAre("x"));
}

}  // namespace
}  // namespace tidemark::service::open_workflow_test
