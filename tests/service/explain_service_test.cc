// Tests a real master with real clients on this host. The tests wait for conditions, and a deadline
// expires only if a test fails.
#include "master/service/explain_service.h"

#include <grpcpp/grpcpp.h>

#include "absl/time/clock.h"
#include "tests/service/live_master.h"
#include "tests/test.h"
#include "tidemark/v1/explain_service.grpc.pb.h"

namespace tidemark::explain_service_test {
namespace {

using Status = grpc::StatusCode;

using test::kCallDeadline;
using test::NewContext;

constexpr const char* kTeam = "a-token-of-one-team";
constexpr const char* kOperator = "a-token-of-an-operator";

class ExplainServiceTest : public test::LiveMaster {
 protected:
  void SetUp() override {
    options_.tokens_file = directory_.Write("tokens",
                                            "reader mine   a-token-of-one-team\n"
                                            "reader *      a-token-of-an-operator\n"
                                            "agent  *      a-token-of-all-agents\n");
    options_.data_dir = directory_ / "data";
    std::filesystem::create_directory(options_.data_dir);
    StartMaster();
  }
  void StartMaster() {
    LiveMaster::Start();
    stub_ = v1::ExplainService::NewStub(channel_);
  }

  void Report(const std::string& job, EventBody body) {
    const absl::Status taken = master_->Report({.job_id = job,
                                                .source_id = "driver",
                                                .sequence = ++sequence_[job],
                                                .sent_at = absl::Now(),
                                                .body = std::move(body)});
    ASSERT_TRUE(taken.ok()) << taken;
  }
  // Starts the first of `tasks` tasks of the job on node-1, where the job has one slot.
  void Start(const std::string& job, std::uint32_t tasks = 1) {
    Report(job, JobOpened{.name = job});
    Report(job, ExecutorOpened{.executor = 0, .host = "node-1", .slots = 1});
    Report(job, StageOpened{.stage = 5, .task_count = tasks, .opened_at = absl::Now()});
    Change(job, 0, AttemptState::kStarted);
  }
  void Change(const std::string& job, std::uint32_t task, AttemptState state) {
    Report(job, AttemptChanged{.attempt = {.stage = 5, .index = task},
                               .state = state,
                               .at = absl::Now(),
                               .executor = 0});
  }
  // Reports the computing and waiting time of the task so far.
  void Heartbeat(const std::string& job, double computed, double waited, std::uint32_t task = 0) {
    TaskHeartbeat heartbeat{.attempt = {.stage = 5, .index = task}};
    heartbeat.time.cpu = absl::Seconds(computed);
    heartbeat.time.waits[WaitReason::kProcessor] = absl::Seconds(waited);
    Report(job, heartbeat);
  }

  // Calls Explain() and stores the response in response_.
  grpc::Status Explain(const std::string& job, const std::string& token) {
    v1::ExplainJobRequest request;
    request.mutable_question()->set_job_id(job);
    return stub_->ExplainJob(NewContext(token).get(), request, &response_);
  }
  grpc::Status Contend(const std::string& token, const v1::ContentionQuestion& question,
                       v1::ExplainClusterResponse& response) {
    v1::ExplainClusterRequest request;
    *request.mutable_question() = question;
    return stub_->ExplainCluster(NewContext(token).get(), request, &response);
  }
  // Starts a watch. Its context outlives it.
  auto Watch(const std::string& job, const std::string& token) {
    v1::WatchExplanationRequest request;
    request.mutable_question()->set_job_id(job);
    watch_ = NewContext(token);
    return stub_->WatchExplanation(watch_.get(), request);
  }
  static void ExpectSavedTimeInBounds(const v1::Culprit& named) {
    EXPECT_GT(named.sooner_seconds(), 0);
    EXPECT_GE(named.sooner_seconds_lower(), 0);
    EXPECT_LE(named.sooner_seconds_lower(), named.sooner_seconds());
    EXPECT_LE(named.sooner_seconds(), named.sooner_seconds_upper());
  }
  // Returns an entry for the first query in response_, or null.
  const v1::Culprit* CulpritOf(const std::string& job) const {
    if (response_.explanation().queries_size() == 0) return nullptr;
    for (const v1::Culprit& culprit : response_.explanation().queries(0).culprits()) {
      if (culprit.job_id() == job) return &culprit;
    }
    return nullptr;
  }

  std::map<std::string, std::uint64_t> sequence_;
  std::unique_ptr<v1::ExplainService::Stub> stub_;
  std::unique_ptr<grpc::ClientContext> watch_;
  v1::ExplainJobResponse response_;
};

// Two jobs whose tasks compute for half of the time and wait for the other half. According to
// response_, the first job waits because of the other.
class SharedProcessorTest : public ExplainServiceTest {
 protected:
  void SetUp() override {
    ExplainServiceTest::SetUp();
    Start("mine");
    Start("theirs");
    const auto began = std::chrono::steady_clock::now();
    while (CulpritOf("theirs") == nullptr &&
           std::chrono::steady_clock::now() < began + kCallDeadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      const std::chrono::duration<double> ran = std::chrono::steady_clock::now() - began;
      Heartbeat("mine", ran.count() / 2, ran.count() / 2);
      Heartbeat("theirs", ran.count() / 2, ran.count() / 2);
      ASSERT_TRUE(Explain("mine", kOperator).ok());
    }
    ASSERT_NE(CulpritOf("theirs"), nullptr);
  }

  const absl::Time began_ = absl::Now();
};

// A task waits for half of the time because of another task.
TEST_F(SharedProcessorTest, NamesTheJobThatUsedTheProcessorOnlyToItsReaders) {
  const v1::Culprit& named = response_.explanation().queries(0).culprits(0);
  EXPECT_EQ(named.job_id(), "theirs");
  EXPECT_EQ(named.host(), "node-1");
  EXPECT_EQ(named.resource(), v1::WAITED_RESOURCE_PROCESSOR);
  EXPECT_GT(named.seconds(), 0);

  ASSERT_TRUE(Explain("mine", kTeam).ok());
  ASSERT_GT(response_.explanation().queries_size(), 0);
  ASSERT_GT(response_.explanation().queries(0).culprits_size(), 0);
  const v1::Culprit& hidden = response_.explanation().queries(0).culprits(0);
  EXPECT_EQ(hidden.job_id(), "");
  EXPECT_EQ(hidden.query(), "");
  EXPECT_EQ(hidden.jobs(), 1U);
  EXPECT_GT(hidden.seconds(), 0);
  EXPECT_EQ(response_.DebugString().find("theirs"), std::string::npos);
}

// Tasks of half a second run sequentially. Each of them waits for half of the time because of the
// other job's task.
TEST_F(ExplainServiceTest, EstimatesHowMuchSoonerARunningJobWouldEndWithoutTheOther) {
  Start("mine", 200);
  Start("theirs", 200);
  using Seconds = std::chrono::duration<double>;
  const auto began = std::chrono::steady_clock::now();
  auto task_began = began;
  std::uint32_t task = 0;
  const v1::Culprit* named = nullptr;
  while ((named == nullptr || !named->has_sooner_seconds()) &&
         std::chrono::steady_clock::now() < began + kCallDeadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const auto now = std::chrono::steady_clock::now();
    const double ran = Seconds(now - task_began).count();
    Heartbeat("mine", ran / 2, ran / 2, task);
    Heartbeat("theirs", Seconds(now - began).count() / 2, Seconds(now - began).count() / 2);
    if (ran > 0.5) {
      Change("mine", task, AttemptState::kFinished);
      Change("mine", ++task, AttemptState::kStarted);
      task_began = now;
    }
    ASSERT_TRUE(Explain("mine", kOperator).ok());
    named = CulpritOf("theirs");
  }
  ASSERT_NE(named, nullptr);
  ASSERT_TRUE(named->has_sooner_seconds());
  EXPECT_FALSE(response_.explanation().has_ended());
  ExpectSavedTimeInBounds(*named);
  const auto job = master_->GetJob("mine");
  ASSERT_TRUE(job.ok() && job->estimate.remaining && job->estimate.remaining->upper);
  // A tick may occur between the two answers.
  EXPECT_LE(named->sooner_seconds_upper(),
            2 * absl::ToDoubleSeconds(*job->estimate.remaining->upper));
}

TEST_F(SharedProcessorTest, ComputesHowMuchSoonerAnEndedJobWouldHaveEndedWithoutTheOther) {
  EXPECT_FALSE(response_.explanation().has_ended());
  Report("mine", JobClosed{});
  ASSERT_TRUE(Explain("mine", kOperator).ok());
  const double lasted = absl::ToDoubleSeconds(absl::Now() - began_);
  EXPECT_TRUE(response_.explanation().has_ended());
  const v1::Culprit* const named = CulpritOf("theirs");
  ASSERT_NE(named, nullptr);
  ExpectSavedTimeInBounds(*named);
  EXPECT_LE(named->sooner_seconds_upper(), lasted);

  ASSERT_TRUE(Explain("mine", kTeam).ok());
  ASSERT_GT(response_.explanation().queries_size(), 0);
  for (const v1::Culprit& hidden : response_.explanation().queries(0).culprits()) {
    EXPECT_FALSE(hidden.has_sooner_seconds());
  }
}

TEST_F(ExplainServiceTest, RejectsUnauthorizedReadersAndInvalidQuestions) {
  Start("mine");
  Start("theirs");
  EXPECT_EQ(Explain("mine", "").error_code(), Status::UNAUTHENTICATED);
  EXPECT_EQ(Explain("theirs", kTeam).error_code(), Status::PERMISSION_DENIED);
  EXPECT_EQ(Explain("", kOperator).error_code(), Status::INVALID_ARGUMENT);
  EXPECT_EQ(Explain("nobody", kOperator).error_code(), Status::NOT_FOUND);
  v1::WatchExplanationResponse watched;
  const auto stream = Watch("theirs", kTeam);
  EXPECT_FALSE(stream->Read(&watched));
  EXPECT_EQ(stream->Finish().error_code(), Status::PERMISSION_DENIED);
}

TEST_F(ExplainServiceTest, AWatcherReceivesExplanationsUntilTheJobHasEnded) {
  Start("mine");
  const auto stream = Watch("mine", kOperator);
  v1::WatchExplanationResponse response;
  ASSERT_TRUE(stream->Read(&response));
  Heartbeat("mine", 0, 0);
  Report("mine", JobClosed{});
  while (stream->Read(&response)) continue;
  EXPECT_TRUE(stream->Finish().ok());
  ASSERT_EQ(response.explanation().queries_size(), 1);
  EXPECT_EQ(response.explanation().queries(0).waits(0).resource(), v1::WAITED_RESOURCE_SLOTS);
  EXPECT_FALSE(response.explanation().is_partial());
}

// Waits are not stored on disk. After a restart, earlier waits are unknown, which differs from
// zero.
TEST_F(ExplainServiceTest, ReportsAfterARestartThatEarlierWaitsAreUnknown) {
  Start("mine");
  Heartbeat("mine", 1, 5);
  const absl::Time restarted = absl::Now();
  StartMaster();
  ASSERT_TRUE(Explain("mine", kOperator).ok());
  EXPECT_TRUE(response_.explanation().is_partial());
  EXPECT_EQ(response_.explanation().queries_size(), 0);
  EXPECT_GE(response_.explanation().since().seconds(), absl::ToUnixSeconds(restarted));

  Heartbeat("mine", 2, 6);  // Reports a task that started before the restart.
  ASSERT_TRUE(Explain("mine", kOperator).ok());
  EXPECT_TRUE(response_.explanation().is_partial());
  EXPECT_EQ(response_.explanation().queries_size(), 0);
}

TEST_F(SharedProcessorTest, ExplainsAnEndedJobFromItsLogsAfterARestart) {
  Report("mine", JobClosed{});
  Change("theirs", 0, AttemptState::kFinished);
  AwaitFinal("mine");
  const auto began = std::chrono::steady_clock::now();
  do {
    ASSERT_TRUE(Explain("mine", kOperator).ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  } while (response_.explanation().more_to_come() &&
           std::chrono::steady_clock::now() < began + kCallDeadline);
  const v1::Explanation before = response_.explanation();
  ASSERT_NE(CulpritOf("theirs"), nullptr);
  const double blamed = CulpritOf("theirs")->seconds();
  StartMaster();

  ASSERT_TRUE(Explain("mine", kOperator).ok());
  const v1::Explanation& after = response_.explanation();
  EXPECT_FALSE(after.is_partial());
  EXPECT_FALSE(after.more_to_come());
  EXPECT_TRUE(after.has_ended());
  EXPECT_EQ(after.queries_size(), before.queries_size());
  const v1::Culprit* const named = CulpritOf("theirs");
  ASSERT_NE(named, nullptr);
  EXPECT_NEAR(named->seconds(), blamed, 0.1 * blamed);
  EXPECT_TRUE(named->has_sooner_seconds());
  // A caller who may not read the other job still does not see its name.
  ASSERT_TRUE(Explain("mine", kTeam).ok());
  EXPECT_EQ(CulpritOf("theirs"), nullptr);
}

// The first report after the restart comes from a task that began after the restart.
TEST_F(ExplainServiceTest, MarksAJobAsPartialAfterARestartEvenIfANewTaskReportsFirst) {
  Start("mine", 2);
  StartMaster();
  const absl::Status taken =
      master_->Report({.job_id = "mine",
                       .source_id = "task",
                       .sequence = 1,
                       .sent_at = absl::Now(),
                       .body = AttemptChanged{.attempt = {.stage = 5, .index = 1},
                                              .state = AttemptState::kStarted,
                                              .at = absl::Now()}});
  ASSERT_TRUE(taken.ok()) << taken;
  ASSERT_TRUE(Explain("mine", kOperator).ok());
  EXPECT_TRUE(response_.explanation().is_partial());
}

// The master announces further waits until the sums contain all waits before the job's end.
TEST_F(ExplainServiceTest, AnnouncesFurtherWaitsOfAnEndedJob) {
  Start("mine");
  Heartbeat("mine", 0, 0);
  Report("mine", JobClosed{});
  const auto began = std::chrono::steady_clock::now();
  const auto wait_for = [&](bool more_to_come) {
    do {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (!Explain("mine", kOperator).ok()) return false;
    } while (response_.explanation().more_to_come() != more_to_come &&
             std::chrono::steady_clock::now() < began + kCallDeadline);
    return response_.explanation().more_to_come() == more_to_come;
  };
  EXPECT_TRUE(wait_for(true));
  EXPECT_TRUE(wait_for(false));
}

TEST_F(ExplainServiceTest, EndsAWatchWithUnavailableAtShutdown) {
  Start("mine");
  const auto stream = Watch("mine", kOperator);
  v1::WatchExplanationResponse response;
  ASSERT_TRUE(stream->Read(&response));
  master_->Shutdown(absl::Seconds(5));
  while (stream->Read(&response)) continue;
  EXPECT_EQ(stream->Finish().error_code(), Status::UNAVAILABLE);
}

// Each of the two jobs waits for half of the time because of the other job.
TEST_F(SharedProcessorTest, ReportsTheContentionOfAllJobsAsFarAsTheCallerMayReadThem) {
  const auto ask = [&](const std::string& token, const v1::ContentionQuestion& question,
                       v1::ExplainClusterResponse& response) {
    return Contend(token, question, response);
  };
  const auto causes_of = [](const v1::ExplainClusterResponse& response) {
    std::multimap<std::string, std::uint32_t> causes;
    for (const v1::ContentionList& list : response.contention().lists()) {
      if (list.kind() != v1::CONTENTION_LIST_KIND_CAUSING_QUERIES) continue;
      for (const v1::ContentionRow& row : list.rows()) {
        causes.emplace(row.cause().job_id(), row.cause().jobs());
      }
    }
    return causes;
  };
  using ::testing::Contains;
  using ::testing::Key;
  using ::testing::Not;
  using ::testing::Pair;
  v1::ExplainClusterResponse response;
  ASSERT_TRUE(ask(kOperator, {}, response).ok());
  EXPECT_THAT(causes_of(response), Contains(Pair("theirs", 1)));
  EXPECT_EQ(response.contention().jobs(), 2U);
  ASSERT_TRUE(ask(kTeam, {}, response).ok());
  EXPECT_THAT(causes_of(response), Contains(Pair("", 1)));
  EXPECT_THAT(causes_of(response), Not(Contains(Key("theirs"))));
  EXPECT_EQ(response.contention().jobs(), 1U);
  v1::ContentionQuestion of_theirs;
  of_theirs.set_job_id("theirs");
  ASSERT_TRUE(ask(kOperator, of_theirs, response).ok());
  EXPECT_THAT(causes_of(response), Not(Contains(Key("theirs"))));
  EXPECT_EQ(ask(kTeam, of_theirs, response).error_code(), Status::PERMISSION_DENIED);
  EXPECT_EQ(ask("", {}, response).error_code(), Status::UNAUTHENTICATED);
  of_theirs.set_job_id("nobody");
  EXPECT_EQ(ask(kOperator, of_theirs, response).error_code(), Status::NOT_FOUND);
  v1::ContentionQuestion invalid;
  invalid.set_rows_max(101);
  EXPECT_EQ(ask(kOperator, invalid, response).error_code(), Status::INVALID_ARGUMENT);
}

TEST_F(SharedProcessorTest, ReadsTheContentionOfAnEndedJobFromItsLogsAfterARestart) {
  Report("mine", JobClosed{});
  Change("theirs", 0, AttemptState::kFinished);
  Report("theirs", JobClosed{});
  AwaitFinal("mine");
  AwaitFinal("theirs");
  StartMaster();
  v1::ContentionQuestion of_mine;
  of_mine.set_job_id("mine");
  v1::ExplainClusterResponse response;
  ASSERT_TRUE(Contend(kOperator, of_mine, response).ok());
  EXPECT_EQ(response.contention().jobs(), 1U);
  const v1::ContentionRow* delayed = nullptr;
  for (const v1::ContentionList& list : response.contention().lists()) {
    const bool is_delayed = list.kind() == v1::CONTENTION_LIST_KIND_DELAYED_QUERIES;
    if (is_delayed) delayed = &list.rows(0);
  }
  ASSERT_NE(delayed, nullptr);
  EXPECT_EQ(delayed->delayed().job_id(), "mine");
  EXPECT_GT(delayed->seconds().value(), 0);
  // The question about all jobs reads no logs.
  ASSERT_TRUE(Contend(kOperator, {}, response).ok());
  EXPECT_EQ(response.contention().jobs(), 0U);
  EXPECT_TRUE(response.contention().is_partial());
}

TEST_F(SharedProcessorTest, AQuestionAboutContentionNamesAQueryOrAHostWithoutTasks) {
  v1::ContentionQuestion question;
  question.set_job_id("mine");
  question.set_query("sql/9");
  v1::ExplainClusterResponse response;
  const grpc::Status query = Contend(kOperator, question, response);
  EXPECT_EQ(query.error_code(), Status::NOT_FOUND);
  EXPECT_EQ(query.error_message(), "mine: query sql/9 ran no tasks");
  question.clear_query();
  question.set_host("node-3");
  EXPECT_EQ(Contend(kOperator, question, response).error_message(),
            "no task ran on host node-3; hosts: node-1");
}

// A hidden job cannot be found by its name.
TEST_F(SharedProcessorTest, AQuestionAboutAHiddenCauseMatchesNone) {
  const auto causes = [&](const std::string& token) {
    v1::ExplainJobRequest request;
    request.mutable_question()->set_job_id("mine");
    request.mutable_question()->set_because_of("theirs");
    EXPECT_TRUE(stub_->ExplainJob(NewContext(token).get(), request, &response_).ok());
    return response_.explanation().queries(0).culprits_size();
  };
  EXPECT_EQ(causes(kOperator), 1);
  EXPECT_EQ(causes(kTeam), 0);
}

}  // namespace
}  // namespace tidemark::explain_service_test
