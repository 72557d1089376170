// A real master and real clients on this host. Waits are for conditions, with a deadline that only
// a failure reaches.
#include "master/service/explain_service.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "absl/time/clock.h"
#include "tests/service/secret_file.h"
#include "tidemark/master.h"
#include "tidemark/v1/explain_service.grpc.pb.h"

namespace tidemark {
namespace {

using Status = grpc::StatusCode;

constexpr std::chrono::seconds kDeadline(60);

class ExplainServiceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "tidemark-explain-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    options_.tick_interval = absl::Milliseconds(20);
    options_.tick_interval_min = absl::Milliseconds(10);
    options_.tokens_file = directory_ + "/tokens";
    options_.data_dir = directory_ + "/data";
    std::filesystem::create_directory(options_.data_dir);
    test::WriteSecret(options_.tokens_file,
                      "reader mine   a-token-of-one-team\n"
                      "reader *      a-token-of-an-operator\n"
                      "agent  *      a-token-of-all-agents\n");
    StartMaster();
  }
  void StartMaster() {
    auto master = Master::Start(options_);
    ASSERT_TRUE(master.ok()) << master.status();
    master_ = *std::move(master);
    stub_ = v1::ExplainService::NewStub(
        grpc::CreateChannel(master_->address(), grpc::InsecureChannelCredentials()));
  }
  void TearDown() override {
    master_.reset();
    std::filesystem::remove_all(directory_);
  }

  void Tell(const std::string& job, EventBody body) {
    const absl::Status taken = master_->Report({.job_id = job,
                                                .source_id = "driver",
                                                .sequence = ++sequence_[job],
                                                .sent_at = absl::Now(),
                                                .body = std::move(body)});
    ASSERT_TRUE(taken.ok()) << taken;
  }
  // Starts the first of `tasks` tasks of the job on node-1, where it has one slot.
  void Start(const std::string& job, std::uint32_t tasks = 1) {
    Tell(job, JobOpened{.name = job});
    Tell(job, ExecutorOpened{.executor = 0, .host = "node-1", .slots = 1});
    Tell(job, StageOpened{.stage = 5, .task_count = tasks, .opened_at = absl::Now()});
    Change(job, 0, AttemptState::kStarted);
  }
  void Change(const std::string& job, std::uint32_t task, AttemptState state) {
    Tell(job, AttemptChanged{.attempt = {.stage = 5, .index = task},
                             .state = state,
                             .at = absl::Now(),
                             .executor = 0});
  }
  // Reports the computing and waiting time of the task so far.
  void Heartbeat(const std::string& job, double computed, double waited, std::uint32_t task = 0) {
    TaskHeartbeat heartbeat{.attempt = {.stage = 5, .index = task}};
    heartbeat.time.cpu = absl::Seconds(computed);
    heartbeat.time.waits[WaitReason::kProcessor] = absl::Seconds(waited);
    Tell(job, heartbeat);
  }

  static void Prepare(const std::string& token, grpc::ClientContext& context) {
    context.set_deadline(std::chrono::system_clock::now() + kDeadline);
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
  }
  grpc::Status Explain(const std::string& job, const std::string& token,
                       v1::ExplainJobResponse& response) {
    grpc::ClientContext context;
    Prepare(token, context);
    v1::ExplainJobRequest request;
    request.mutable_question()->set_job_id(job);
    return stub_->ExplainJob(&context, request, &response);
  }
  // Lets both tasks compute half of the time and wait for the rest, until the first is reported to
  // wait because of the other.
  void ShareUntilBlamed(v1::ExplainJobResponse& response) {
    const auto began = std::chrono::steady_clock::now();
    while (CulpritIn(response, "theirs") == nullptr &&
           std::chrono::steady_clock::now() < began + kDeadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      const std::chrono::duration<double> ran = std::chrono::steady_clock::now() - began;
      Heartbeat("mine", ran.count() / 2, ran.count() / 2);
      Heartbeat("theirs", ran.count() / 2, ran.count() / 2);
      ASSERT_TRUE(Explain("mine", "a-token-of-an-operator", response).ok());
    }
    ASSERT_NE(CulpritIn(response, "theirs"), nullptr);
  }
  // Returns an entry of the first query, or null.
  static const v1::Culprit* CulpritIn(const v1::ExplainJobResponse& response,
                                      const std::string& job) {
    if (response.explanation().queries_size() == 0) return nullptr;
    for (const v1::Culprit& culprit : response.explanation().queries(0).culprits()) {
      if (culprit.job_id() == job) return &culprit;
    }
    return nullptr;
  }

  MasterOptions options_;
  std::string directory_;
  std::map<std::string, std::uint64_t> sequence_;
  std::unique_ptr<Master> master_;
  std::unique_ptr<v1::ExplainService::Stub> stub_;
};

// A task waits for half of the time because of another.
TEST_F(ExplainServiceTest, NamesTheJobThatUsedTheProcessorOnlyToItsReaders) {
  Start("mine");
  Start("theirs");
  v1::ExplainJobResponse response;
  ASSERT_NO_FATAL_FAILURE(ShareUntilBlamed(response));
  const v1::Culprit& named = response.explanation().queries(0).culprits(0);
  EXPECT_EQ(named.job_id(), "theirs");
  EXPECT_EQ(named.host(), "node-1");
  EXPECT_EQ(named.resource(), v1::WAITED_RESOURCE_PROCESSOR);
  EXPECT_GT(named.seconds(), 0);

  ASSERT_TRUE(Explain("mine", "a-token-of-one-team", response).ok());
  ASSERT_GT(response.explanation().queries_size(), 0);
  ASSERT_GT(response.explanation().queries(0).culprits_size(), 0);
  const v1::Culprit& hidden = response.explanation().queries(0).culprits(0);
  EXPECT_EQ(hidden.job_id(), "");
  EXPECT_EQ(hidden.query(), "");
  EXPECT_EQ(hidden.jobs(), 1U);
  EXPECT_GT(hidden.seconds(), 0);
  EXPECT_EQ(response.DebugString().find("theirs"), std::string::npos);
}

// Its tasks of half a second follow one another, and each waits for half of the time because of the
// other's task.
TEST_F(ExplainServiceTest, EstimatesHowMuchSoonerARunningJobWouldEndWithoutTheOther) {
  Start("mine", 200);
  Start("theirs", 200);
  using Seconds = std::chrono::duration<double>;
  const auto began = std::chrono::steady_clock::now();
  auto task_began = began;
  std::uint32_t task = 0;
  v1::ExplainJobResponse response;
  const v1::Culprit* named = nullptr;
  while ((named == nullptr || !named->has_sooner_seconds()) &&
         std::chrono::steady_clock::now() < began + kDeadline) {
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
    ASSERT_TRUE(Explain("mine", "a-token-of-an-operator", response).ok());
    named = CulpritIn(response, "theirs");
  }
  ASSERT_NE(named, nullptr);
  ASSERT_TRUE(named->has_sooner_seconds());
  EXPECT_FALSE(response.explanation().has_ended());
  EXPECT_GT(named->sooner_seconds(), 0);
  EXPECT_GE(named->sooner_seconds_lower(), 0);
  EXPECT_LE(named->sooner_seconds_lower(), named->sooner_seconds());
  EXPECT_LE(named->sooner_seconds(), named->sooner_seconds_upper());
  const auto job = master_->GetJob("mine");
  ASSERT_TRUE(job.ok() && job->estimate.remaining && job->estimate.remaining->upper);
  // A tick may occur between both.
  EXPECT_LE(named->sooner_seconds_upper(),
            2 * absl::ToDoubleSeconds(*job->estimate.remaining->upper));
}

TEST_F(ExplainServiceTest, ComputesHowMuchSoonerAnEndedJobWouldHaveEndedWithoutTheOther) {
  const absl::Time began = absl::Now();
  Start("mine");
  Start("theirs");
  v1::ExplainJobResponse response;
  ASSERT_NO_FATAL_FAILURE(ShareUntilBlamed(response));
  EXPECT_FALSE(response.explanation().has_ended());
  Tell("mine", JobClosed{});
  ASSERT_TRUE(Explain("mine", "a-token-of-an-operator", response).ok());
  const double lasted = absl::ToDoubleSeconds(absl::Now() - began);
  EXPECT_TRUE(response.explanation().has_ended());
  const v1::Culprit* const named = CulpritIn(response, "theirs");
  ASSERT_NE(named, nullptr);
  EXPECT_GT(named->sooner_seconds(), 0);
  EXPECT_GE(named->sooner_seconds_lower(), 0);
  EXPECT_LE(named->sooner_seconds_lower(), named->sooner_seconds());
  EXPECT_LE(named->sooner_seconds(), named->sooner_seconds_upper());
  EXPECT_LE(named->sooner_seconds_upper(), lasted);

  ASSERT_TRUE(Explain("mine", "a-token-of-one-team", response).ok());
  ASSERT_GT(response.explanation().queries_size(), 0);
  for (const v1::Culprit& hidden : response.explanation().queries(0).culprits()) {
    EXPECT_FALSE(hidden.has_sooner_seconds());
  }
}

TEST_F(ExplainServiceTest, RejectsUnauthorizedReadersAndInvalidQuestions) {
  Start("mine");
  Start("theirs");
  v1::ExplainJobResponse response;
  EXPECT_EQ(Explain("mine", "", response).error_code(), Status::UNAUTHENTICATED);
  EXPECT_EQ(Explain("theirs", "a-token-of-one-team", response).error_code(),
            Status::PERMISSION_DENIED);
  EXPECT_EQ(Explain("", "a-token-of-an-operator", response).error_code(), Status::INVALID_ARGUMENT);
  EXPECT_EQ(Explain("nobody", "a-token-of-an-operator", response).error_code(), Status::NOT_FOUND);
  grpc::ClientContext context;
  Prepare("a-token-of-one-team", context);
  v1::WatchExplanationRequest request;
  request.mutable_question()->set_job_id("theirs");
  v1::WatchExplanationResponse watched;
  const auto stream = stub_->WatchExplanation(&context, request);
  EXPECT_FALSE(stream->Read(&watched));
  EXPECT_EQ(stream->Finish().error_code(), Status::PERMISSION_DENIED);
}

TEST_F(ExplainServiceTest, AWatcherReceivesExplanationsUntilTheJobHasEnded) {
  Start("mine");
  grpc::ClientContext context;
  Prepare("a-token-of-an-operator", context);
  v1::WatchExplanationRequest request;
  request.mutable_question()->set_job_id("mine");
  const auto stream = stub_->WatchExplanation(&context, request);
  v1::WatchExplanationResponse response;
  ASSERT_TRUE(stream->Read(&response));
  Heartbeat("mine", 0, 0);
  Tell("mine", JobClosed{});
  while (stream->Read(&response)) continue;
  EXPECT_TRUE(stream->Finish().ok());
  ASSERT_EQ(response.explanation().queries_size(), 1);
  EXPECT_EQ(response.explanation().queries(0).waits(0).resource(), v1::WAITED_RESOURCE_SLOTS);
  EXPECT_FALSE(response.explanation().is_partial());
}

// Waits are not stored on the disk: earlier ones are unknown, which is not zero.
TEST_F(ExplainServiceTest, ReportsAfterARestartThatEarlierWaitsAreUnknown) {
  Start("mine");
  Heartbeat("mine", 1, 5);
  master_.reset();
  const absl::Time restarted = absl::Now();
  StartMaster();
  v1::ExplainJobResponse response;
  ASSERT_TRUE(Explain("mine", "a-token-of-an-operator", response).ok());
  EXPECT_TRUE(response.explanation().is_partial());
  EXPECT_EQ(response.explanation().queries_size(), 0);
  EXPECT_GE(response.explanation().since().seconds(), absl::ToUnixSeconds(restarted));

  Heartbeat("mine", 2, 6);  // of a task that started before
  ASSERT_TRUE(Explain("mine", "a-token-of-an-operator", response).ok());
  EXPECT_TRUE(response.explanation().is_partial());
  EXPECT_EQ(response.explanation().queries_size(), 0);
}

TEST_F(ExplainServiceTest, ExplainsAnEndedJobFromItsLogsAfterARestart) {
  Start("mine");
  Start("theirs");
  v1::ExplainJobResponse response;
  ASSERT_NO_FATAL_FAILURE(ShareUntilBlamed(response));
  Tell("mine", JobClosed{});
  Change("theirs", 0, AttemptState::kFinished);
  ASSERT_TRUE(master_->WaitUntilFinal("mine", absl::FromChrono(kDeadline)).ok());
  const auto began = std::chrono::steady_clock::now();
  do {
    ASSERT_TRUE(Explain("mine", "a-token-of-an-operator", response).ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  } while (response.explanation().more_to_come() &&
           std::chrono::steady_clock::now() < began + kDeadline);
  const v1::Explanation before = response.explanation();
  ASSERT_NE(CulpritIn(response, "theirs"), nullptr);
  const double blamed = CulpritIn(response, "theirs")->seconds();
  master_.reset();
  StartMaster();

  ASSERT_TRUE(Explain("mine", "a-token-of-an-operator", response).ok());
  const v1::Explanation& after = response.explanation();
  EXPECT_FALSE(after.is_partial());
  EXPECT_FALSE(after.more_to_come());
  EXPECT_TRUE(after.has_ended());
  EXPECT_EQ(after.queries_size(), before.queries_size());
  const v1::Culprit* const named = CulpritIn(response, "theirs");
  ASSERT_NE(named, nullptr);
  EXPECT_NEAR(named->seconds(), blamed, 0.1 * blamed);
  EXPECT_TRUE(named->has_sooner_seconds());
  // A reader without the right to the other job still does not see its name.
  ASSERT_TRUE(Explain("mine", "a-token-of-one-team", response).ok());
  EXPECT_EQ(CulpritIn(response, "theirs"), nullptr);
}

// Whichever task reports first: here one that began after the restart.
TEST_F(ExplainServiceTest, MarksAJobAsPartialAfterARestartEvenIfANewTaskReportsFirst) {
  Start("mine", 2);
  master_.reset();
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
  v1::ExplainJobResponse response;
  ASSERT_TRUE(Explain("mine", "a-token-of-an-operator", response).ok());
  EXPECT_TRUE(response.explanation().is_partial());
}

// This takes until the waits before its end are in the sums.
TEST_F(ExplainServiceTest, AnnouncesFurtherWaitsOfAnEndedJob) {
  Start("mine");
  Heartbeat("mine", 0, 0);
  Tell("mine", JobClosed{});
  const auto began = std::chrono::steady_clock::now();
  v1::ExplainJobResponse response;
  const auto wait_for = [&](bool more_to_come) {
    do {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (!Explain("mine", "a-token-of-an-operator", response).ok()) return false;
    } while (response.explanation().more_to_come() != more_to_come &&
             std::chrono::steady_clock::now() < began + kDeadline);
    return response.explanation().more_to_come() == more_to_come;
  };
  EXPECT_TRUE(wait_for(true));
  EXPECT_TRUE(wait_for(false));
}

TEST_F(ExplainServiceTest, EndsAWatchWithUnavailableAtShutdown) {
  Start("mine");
  grpc::ClientContext context;
  Prepare("a-token-of-an-operator", context);
  v1::WatchExplanationRequest request;
  request.mutable_question()->set_job_id("mine");
  const auto stream = stub_->WatchExplanation(&context, request);
  v1::WatchExplanationResponse response;
  ASSERT_TRUE(stream->Read(&response));
  master_->Shutdown(absl::Seconds(5));
  while (stream->Read(&response)) continue;
  EXPECT_EQ(stream->Finish().error_code(), Status::UNAVAILABLE);
}

}  // namespace
}  // namespace tidemark
