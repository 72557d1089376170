// Tests a client with a real master and a real agent on this host. The tests wait for conditions,
// and a deadline expires only if a test fails.
#include "tidemark/client.h"

#include <grpcpp/grpcpp.h>

#include "absl/time/clock.h"
#include "proto/wire/job_codec.h"
#include "tests/service/eventually.h"
#include "tests/service/live_master.h"
#include "tests/test.h"
#include "tidemark/agent.h"
#include "tidemark/v1/job_service.grpc.pb.h"

namespace tidemark::client_test {
namespace {

std::unique_ptr<Agent> Opened(const std::string& address, const std::string& job_id) {
  auto agent = Agent::Create({.master_address = address, .job_id = job_id});
  agent->OpenJob({.name = "my job", .stages = MapReduceStages(1, 1)});
  return agent;
}

void Close(Agent& agent) {
  agent.CloseJob(JobOutcome::kSucceeded, "");
  agent.Shutdown();
}

class ClientTest : public test::LiveMaster {
 protected:
  void SetUp() override {
    options_.agent_flush_interval = absl::Milliseconds(50);
    options_.data_dir = directory_.path();
    Start();
    address_ = master_->address();
    auto client = Client::Create({.address = address_});
    ASSERT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
  }

  // Returns a token that also stops a watch if the test fails.
  std::stop_token Stop() const { return stop_.get_token(); }
  ~ClientTest() override { stop_.request_stop(); }

  std::stop_source stop_;
  std::string address_;
  std::unique_ptr<Client> client_;
};

TEST_F(ClientTest, WatchesAJobThatMayBeAbsentUntilItEnds) {
  std::promise<void> seen;
  std::vector<std::uint64_t> sequences;
  auto final = std::async(std::launch::async, [&] {
    return client_->WatchJob("job-1", {.is_to_come = true},
                             {.on_snapshot =
                                  [&](const Snapshot& now) {
                                    if (sequences.empty()) seen.set_value();
                                    sequences.push_back(now.sequence);
                                    EXPECT_EQ(now.info->name, "my job");
                                    return true;
                                  }},
                             Stop());
  });
  const auto agent = Opened(address_, "job-1");
  ASSERT_EQ(seen.get_future().wait_for(test::kCallDeadline), std::future_status::ready);
  Close(*agent);
  ASSERT_EQ(final.wait_for(test::kCallDeadline), std::future_status::ready);
  const absl::StatusOr<Snapshot> last = final.get();
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_EQ(last->state, JobState::kSucceeded);
  EXPECT_TRUE(std::is_sorted(sequences.begin(), sequences.end(), std::less_equal<>()));
  // The sum of the deltas equals the snapshot of the master.
  const absl::StatusOr<Snapshot> whole = client_->GetJob("job-1");
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(*whole, *last);
}

TEST_F(ClientTest, ListsRunningTasks) {
  const auto agent = Opened(address_, "job-1");
  agent->Changed({.attempt = {.index = 0}, .state = AttemptState::kStarted, .at = absl::Now()});
  absl::StatusOr<JobTasks> tasks = absl::NotFoundError("not asked yet");
  ASSERT_TRUE(test::Eventually([&] {
    tasks = client_->ListRunningTasks("job-1");
    return tasks.ok() && !tasks->tasks.empty();
  })) << tasks.status();
  ASSERT_EQ(tasks->tasks.size(), 1U);
  EXPECT_EQ(tasks->tasks[0].state, AttemptState::kStarted);
  EXPECT_EQ(client_->ListLongestTasks("job-1")->tasks.size(), 1U);
  const absl::Time deadline = absl::FromUnixSeconds(1'900'000'000);
  EXPECT_TRUE(client_->SetDeadline("job-1", deadline).ok());
  EXPECT_TRUE(test::Eventually([&] {
    const auto job = client_->GetJob("job-1");
    return job.ok() && job->deadline == deadline;
  }));
  Close(*agent);
  EXPECT_TRUE(absl::IsNotFound(client_->ListRunningTasks("none").status()));
}

TEST_F(ClientTest, EndsWhenTheCallerStops) {
  const auto agent = Opened(address_, "job-1");
  const auto final = client_->WatchJob("job-1", {.is_to_come = true},
                                       {.on_snapshot = [](const Snapshot&) { return false; }});
  EXPECT_TRUE(absl::IsCancelled(final.status())) << final.status();
  Close(*agent);
}

TEST_F(ClientTest, ReportsAnUnknownJob) {
  const WatchCalls calls = {.on_snapshot = [](const Snapshot&) { return true; }};
  EXPECT_TRUE(absl::IsNotFound(client_->GetJob("none").status()));
  EXPECT_TRUE(absl::IsNotFound(client_->WatchJob("none", {}, calls).status()));
  EXPECT_TRUE(absl::IsNotFound(client_->EstimateJob("none", {}).status()));
  EXPECT_TRUE(absl::IsNotFound(client_->SetDeadline("none", absl::Now())));
  EXPECT_TRUE(absl::IsNotFound(client_->ListLongestTasks("none").status()));
  EXPECT_TRUE(client_->ForgetJob("none").ok());
}

TEST_F(ClientTest, WatchesAllJobs) {
  std::promise<void> both;
  std::promise<void> forgotten;
  std::size_t most = 0;
  auto watch = std::async(std::launch::async, [&] {
    return client_->WatchJobs({}, {},
                              {.on_jobs =
                                   [&](const std::map<std::string, Snapshot>& jobs) {
                                     if (most < 2 && jobs.size() == 2) both.set_value();
                                     most = std::max(most, jobs.size());
                                     if (most < 2 || jobs.size() == 2) return true;
                                     forgotten.set_value();
                                     return false;
                                   }},
                              Stop());
  });
  const auto one = Opened(address_, "job-1");
  const auto two = Opened(address_, "job-2");
  ASSERT_EQ(both.get_future().wait_for(test::kCallDeadline), std::future_status::ready);
  EXPECT_TRUE(absl::IsFailedPrecondition(client_->ForgetJob("job-2")));
  Close(*one);
  AwaitFinal("job-1");
  const absl::Status gone = client_->ForgetJob("job-1");
  EXPECT_TRUE(gone.ok()) << gone;
  ASSERT_EQ(forgotten.get_future().wait_for(test::kCallDeadline), std::future_status::ready);
  EXPECT_TRUE(absl::IsCancelled(watch.get()));
  const auto jobs = client_->ListJobs();
  ASSERT_TRUE(jobs.ok()) << jobs.status();
  ASSERT_THAT(*jobs, SizeIs(1));
  EXPECT_EQ(jobs->front().job_id, "job-2");
  Close(*two);
}

TEST_F(ClientTest, SubmitsAndChangesPlans) {
  Plan plan = {.id = "plan-1", .name = "visits", .cluster = {.slots = 2}};
  plan.jobs = {{.name = "parse"}, {.name = "count", .after = {"parse"}}};
  const absl::Status submitted = client_->SubmitJob(plan);
  ASSERT_TRUE(submitted.ok()) << submitted;
  EXPECT_TRUE(client_->SubmitJob(plan).ok()) << "it is not safe to repeat";
  EXPECT_TRUE(client_->AttachJob("plan-1", "parse", "parse-17").ok());
  EXPECT_TRUE(absl::IsNotFound(client_->AttachJob("plan-1", "prase", "parse-17")));

  const absl::Status changed = client_->UpdateJob(
      "plan-1", {.add_jobs = {{.name = "report", .after = {"count"}}}, .cancel_jobs = {}});
  ASSERT_TRUE(changed.ok()) << changed;
  // The next snapshot contains the accepted change.
  Snapshot now;
  const WatchCalls until_changed = {.on_snapshot = [&now](const Snapshot& snapshot) {
    now = snapshot;
    return now.children.size() < 3;
  }};
  EXPECT_TRUE(absl::IsCancelled(client_->WatchJob("plan-1", {}, until_changed, Stop()).status()));
  ASSERT_THAT(now.children, SizeIs(3));
  EXPECT_EQ(now.children[0].job_id, "parse-17");
  EXPECT_THAT(now.children[2].after, ElementsAre(2));

  const absl::Status wrong = client_->UpdateJob("plan-1", {.cancel_jobs = {"none"}});
  EXPECT_FALSE(wrong.ok());
  ASSERT_TRUE(client_->UpdateJob("plan-1", {.cancel = true}).ok());
  const auto final = client_->WatchJob(
      "plan-1", {}, {.on_snapshot = [](const Snapshot&) { return true; }}, Stop());
  ASSERT_TRUE(final.ok()) << final.status();
  EXPECT_EQ(final->state, JobState::kKilled);
}

TEST_F(ClientTest, EstimatesPlansInScenarios) {
  Plan plan = {.name = "visits", .cluster = {.slots = 2}};
  plan.jobs = {{.name = "parse", .map_task_count = 8, .reduce_task_count = 4}};
  const auto outcomes = client_->EstimatePlan(plan, {{.slots = 2}, {.slots = 8}});
  ASSERT_TRUE(outcomes.ok()) << outcomes.status();
  ASSERT_THAT(*outcomes, SizeIs(2));
  ASSERT_TRUE((*outcomes)[0].snapshot.estimate.remaining);
  EXPECT_GT((*outcomes)[0].snapshot.estimate.remaining->median,
            (*outcomes)[1].snapshot.estimate.remaining->median);
  EXPECT_THAT(*client_->ListJobs(), IsEmpty());
}

TEST_F(ClientTest, ResumesAfterARestartOfTheMaster) {
  const auto agent = Opened(address_, "job-1");
  std::promise<void> seen;
  std::vector<std::string> troubles;
  std::vector<std::uint64_t> sequences;
  auto final = std::async(std::launch::async, [&] {
    return client_->WatchJob(
        "job-1", {.is_to_come = true},
        {.on_snapshot =
             [&](const Snapshot& now) {
               if (sequences.empty()) seen.set_value();
               sequences.push_back(now.sequence);
               return true;
             },
         .on_trouble = [&](const std::string& line) { troubles.push_back(line); }},
        Stop());
  });
  ASSERT_EQ(seen.get_future().wait_for(test::kCallDeadline), std::future_status::ready);
  master_->Shutdown(absl::ZeroDuration());
  options_.listen_address = address_;
  Start();
  Close(*agent);
  ASSERT_EQ(final.wait_for(test::kCallDeadline), std::future_status::ready);
  const auto last = final.get();
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_EQ(last->state, JobState::kSucceeded);
  EXPECT_TRUE(std::is_sorted(sequences.begin(), sequences.end(), std::less_equal<>()));
  ASSERT_THAT(troubles, testing::Not(IsEmpty()));
  EXPECT_THAT(troubles.front(), HasSubstr("disconnected from the master at " + address_));
  EXPECT_EQ(troubles.back(), "reconnected to the master");
}

// A master that sends invalid messages.
class FaultyMaster final : public v1::JobService::Service {
 public:
  explicit FaultyMaster(absl::Duration answer_within = absl::Seconds(10)) {
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    client_ = *Client::Create(
        {.address = "127.0.0.1:" + std::to_string(port), .answer_within = answer_within});
  }
  ~FaultyMaster() override { server_->Shutdown(std::chrono::system_clock::now()); }
  const Client& client() const { return *client_; }

 private:
  // Sends the final snapshot and then hangs.
  grpc::Status WatchJob(grpc::ServerContext* context, const v1::WatchJobRequest* request,
                        grpc::ServerWriter<v1::WatchJobResponse>* stream) override {
    const bool is_final = request->job_id() == "ended" || streams_++ > 0;
    v1::WatchJobResponse response;
    wire::EncodeSnapshot({.job_id = request->job_id(),
                          .run_uid = "r",
                          .sequence = is_final ? 2u : 1u,
                          .state = is_final ? JobState::kFailed : JobState::kRunning,
                          .is_final = is_final},
                         *response.mutable_snapshot());
    stream->Write(response);
    if (!is_final) return grpc::Status::CANCELLED;
    while (!context->IsCancelled()) absl::SleepFor(absl::Milliseconds(1));
    return grpc::Status::OK;
  }
  grpc::Status ListJobs(grpc::ServerContext*, const v1::ListJobsRequest* request,
                        v1::ListJobsResponse* response) override {
    const bool is_long = request->filter().user() == "many";
    response->set_next_page_token(is_long ? std::to_string(++pages_) : "again");
    return grpc::Status::OK;
  }
  grpc::Status ForgetJob(grpc::ServerContext*, const v1::ForgetJobRequest*,
                         v1::ForgetJobResponse*) override {
    return grpc::Status::CANCELLED;
  }

  std::atomic<int> streams_ = 0;
  std::atomic<int> pages_ = 0;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<Client> client_;
};

const WatchCalls kGoOn = {.on_snapshot = [](const Snapshot&) { return true; }};

TEST(Client, ReturnsAtTheFinalSnapshot) {
  const FaultyMaster master;
  const auto final = master.client().WatchJob("ended", {}, kGoOn);
  ASSERT_TRUE(final.ok()) << final.status();
  EXPECT_EQ(final->state, JobState::kFailed);
}

TEST(Client, ResumesAStreamThatThePeerCancelled) {
  const FaultyMaster master;
  const auto final = master.client().WatchJob("job-1", {}, kGoOn);
  EXPECT_TRUE(final.ok()) << final.status();
  const absl::Status forgotten = master.client().ForgetJob("job-1");
  EXPECT_TRUE(absl::IsUnavailable(forgotten)) << forgotten;
}

TEST(Client, RejectsAnEndlessList) {
  const FaultyMaster master;
  EXPECT_TRUE(absl::IsInternal(master.client().ListJobs().status()));
}

TEST(Client, TheTimeoutAppliesToAllPagesOfAList) {
  const FaultyMaster master(absl::Milliseconds(300));
  EXPECT_TRUE(absl::IsDeadlineExceeded(master.client().ListJobs({.user = "many"}).status()));
}

TEST_F(ClientTest, AcceptsAnInfiniteTimeout) {
  const auto patient =
      Client::Create({.address = address_, .answer_within = absl::InfiniteDuration()});
  ASSERT_TRUE(patient.ok()) << patient.status();
  const auto jobs = (*patient)->ListJobs();
  EXPECT_TRUE(jobs.ok()) << jobs.status();
}

// A list without changes is not a silence.
TEST_F(ClientTest, DoesNotReportAMasterWithoutJobs) {
  std::vector<std::string> troubles;
  std::size_t calls = 0;
  std::stop_source stop;
  auto watch = std::async(std::launch::async, [&] {
    return client_->WatchJobs(
        {}, {.mute_after = absl::Seconds(3)},
        {.on_jobs =
             [&](const std::map<std::string, Snapshot>&) {
               ++calls;
               return true;
             },
         .on_trouble = [&](const std::string& line) { troubles.push_back(line); }},
        stop.get_token());
  });
  absl::SleepFor(absl::Milliseconds(4500));
  stop.request_stop();
  EXPECT_TRUE(absl::IsCancelled(watch.get()));
  EXPECT_THAT(troubles, IsEmpty());
  EXPECT_EQ(calls, 1u) << "on_jobs was called without a change";
}

TEST(Client, NamesAnUnusableFile) {
  const auto client =
      Client::Create({.address = "127.0.0.1:1", .security = {.ca_file = "/nowhere/ca.pem"}});
  EXPECT_THAT(client.status().ToString(), HasSubstr("/nowhere/ca.pem"));
}

TEST(Client, ReportsAnAbsentMaster) {
  const auto client = Client::Create({.address = "127.0.0.1:1"});
  ASSERT_TRUE(client.ok()) << client.status();
  EXPECT_TRUE(absl::IsUnavailable((*client)->ListJobs().status()));
}

}  // namespace
}  // namespace tidemark::client_test
