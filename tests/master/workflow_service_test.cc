// A real master and real clients on this host. Waits are for conditions, with a deadline that only
// a failure reaches.
#include "master/service/workflow_service.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "proto/wire/encode_event.h"
#include "proto/wire/workflow_codec.h"
#include "tests/master/events.h"
#include "tests/master/faulty_disk.h"
#include "tests/master/secret_file.h"
#include "tests/workflow/some_workflows.h"
#include "tidemark/master.h"
#include "tidemark/v1/ingest_service.grpc.pb.h"
#include "tidemark/v1/workflow_service.grpc.pb.h"

namespace tidemark {
namespace {

using test::Closed;
using test::JobNamed;
using test::Opened;
using test::Source;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::chrono::seconds kDeadline(10);

class WorkflowServiceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "tidemark-workflow-service-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    options_.tick_interval = absl::Milliseconds(20);
    options_.tick_interval_min = absl::Milliseconds(10);
  }
  void TearDown() override {
    master_.reset();
    std::filesystem::remove_all(directory_);
  }
  void Start() {
    master_.reset();
    auto master = Master::Start(options_);
    ASSERT_TRUE(master.ok()) << master.status();
    master_ = *std::move(master);
    channel_ = grpc::CreateChannel(master_->address(), grpc::InsecureChannelCredentials());
    workflows_ = v1::WorkflowService::NewStub(channel_);
  }

  static std::unique_ptr<grpc::ClientContext> Context(const std::string& token = "") {
    auto context = std::make_unique<grpc::ClientContext>();
    context->set_deadline(std::chrono::system_clock::now() + kDeadline);
    if (!token.empty()) context->AddMetadata("authorization", "Bearer " + token);
    return context;
  }
  grpc::Status Submit(const WorkflowSpec& workflow, const std::string& token = "") {
    v1::SubmitWorkflowRequest request;
    wire::EncodeWorkflow(workflow, *request.mutable_workflow());
    v1::SubmitWorkflowResponse response;
    return workflows_->SubmitWorkflow(Context(token).get(), request, &response);
  }
  grpc::Status Attach(const std::string& job, const std::string& job_id) {
    v1::AttachJobRequest request;
    request.set_workflow_id("wf");
    request.set_job_name(job);
    request.set_job_id(job_id);
    v1::AttachJobResponse response;
    return workflows_->AttachJob(Context().get(), request, &response);
  }
  // A whole job that succeeds.
  void RunJob(const std::string& job_id) {
    const auto context = Context();
    const auto stub = v1::IngestService::NewStub(channel_);
    const auto stream = stub->StreamEvents(context.get());
    Source source("master", job_id);
    v1::StreamEventsRequest request;
    const EventBody bodies[] = {Opened(1, 1), Closed()};
    for (const EventBody& body : bodies) {
      wire::EncodeRequest(source.At(0, body), request);
      ASSERT_TRUE(stream->Write(request));
    }
    stream->WritesDone();
    v1::StreamEventsResponse response;
    while (stream->Read(&response)) {
    }
    EXPECT_TRUE(stream->Finish().ok());
  }

  // Reads until `wanted` has seen enough or the stream ends; its status.
  struct Watched {
    std::vector<v1::WatchWorkflowResponse> responses;
    grpc::Status status;
  };
  Watched Watch(const v1::WatchWorkflowRequest& request, std::size_t count_max = SIZE_MAX,
                const std::string& token = "") {
    const auto context = Context(token);
    const auto stream = workflows_->WatchWorkflow(context.get(), request);
    Watched watched;
    v1::WatchWorkflowResponse response;
    while (watched.responses.size() < count_max && stream->Read(&response)) {
      watched.responses.push_back(response);
    }
    if (watched.responses.size() == count_max) context->TryCancel();
    watched.status = stream->Finish();
    return watched;
  }

  std::string directory_;
  MasterOptions options_;
  std::unique_ptr<Master> master_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::WorkflowService::Stub> workflows_;
};

WorkflowSpec Chain() {
  return {.id = "wf", .jobs = {JobNamed("a"), JobNamed("b", {"a"})}, .cluster = {.slots = 2}};
}

v1::WatchWorkflowRequest WatchWf() {
  v1::WatchWorkflowRequest request;
  request.set_workflow_id("wf");
  return request;
}

TEST_F(WorkflowServiceTest, AWatcherSeesGrowingSequencesAndOneFinalSnapshot) {
  Start();
  ASSERT_TRUE(Submit(Chain()).ok());
  const Watched first = Watch(WatchWf(), 2);
  ASSERT_THAT(first.responses, SizeIs(2));
  RunJob("a-1");
  RunJob("b-1");
  v1::WatchWorkflowRequest resumed = WatchWf();
  resumed.set_resume_token(first.responses.back().resume_token());
  const Watched rest = Watch(resumed);
  EXPECT_TRUE(rest.status.ok()) << rest.status.error_message();
  std::uint64_t last = first.responses.back().snapshot().sequence();
  int finals = 0;
  for (const v1::WatchWorkflowResponse& response : rest.responses) {
    const std::uint64_t sequence = response.snapshot().sequence();
    EXPECT_EQ(sequence, last + 1 + response.skipped_snapshots());
    EXPECT_FALSE(response.restarted());
    last = sequence;
    finals += response.snapshot().state() != v1::JOB_STATE_RUNNING ? 1 : 0;
  }
  EXPECT_EQ(finals, 1);
  EXPECT_EQ(rest.responses.back().snapshot().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(rest.responses.back().snapshot().fraction_done(), 1);
  resumed.set_resume_token(rest.responses.back().resume_token());
  const Watched after = Watch(resumed);
  EXPECT_TRUE(after.status.ok());
  EXPECT_THAT(after.responses, SizeIs(0));
}

TEST_F(WorkflowServiceTest, AWatcherGoesOnAtTheNextMasterOnTheSameData) {
  options_.data_dir = directory_;
  Start();
  ASSERT_TRUE(Submit(Chain()).ok());
  const Watched first = Watch(WatchWf(), 2);
  ASSERT_THAT(first.responses, SizeIs(2));
  Start();
  v1::WatchWorkflowRequest resumed = WatchWf();
  resumed.set_resume_token(first.responses.back().resume_token());
  const Watched rest = Watch(resumed, 1);
  ASSERT_THAT(rest.responses, SizeIs(1));
  EXPECT_FALSE(rest.responses.front().restarted());
  EXPECT_GT(rest.responses.front().snapshot().sequence(),
            first.responses.back().snapshot().sequence());
}

TEST_F(WorkflowServiceTest, AMasterWithoutMemorySaysSo) {
  Start();
  ASSERT_TRUE(Submit(Chain()).ok());
  v1::WatchWorkflowRequest resumed = WatchWf();
  resumed.set_resume_token(Watch(WatchWf(), 2).responses.back().resume_token());
  Start();
  EXPECT_EQ(Watch(resumed).status.error_code(), grpc::StatusCode::NOT_FOUND);
  ASSERT_TRUE(Submit(Chain()).ok());
  const Watched rest = Watch(resumed, 1);
  ASSERT_THAT(rest.responses, SizeIs(1));
  EXPECT_TRUE(rest.responses.front().restarted());
}

TEST_F(WorkflowServiceTest, WhatIsWrongIsSaid) {
  options_.workflow_jobs_max = 2;
  options_.workflows_max = 1;
  Start();
  WorkflowSpec cycle = Chain();
  cycle.jobs[0].after = {"b"};
  grpc::Status status = Submit(cycle);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("a cycle: a waits for b waits for a"));
  status = Submit(test::Diamond());
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_details(), HasSubstr("jobs_per_workflow"));
  ASSERT_TRUE(Submit(Chain()).ok());
  WorkflowSpec other = Chain();
  other.id = "other";
  EXPECT_THAT(Submit(other).error_details(), HasSubstr("workflows"));
  other.id = "wf";
  other.cluster.slots = 9;
  EXPECT_EQ(Submit(other).error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(Attach("x", "j").error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(Attach("a", "").error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_TRUE(Attach("a", "a-2").ok());
  v1::WatchWorkflowRequest request = WatchWf();
  request.set_resume_token("nonsense");
  EXPECT_EQ(Watch(request).status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  request.set_workflow_id("no");
  request.clear_resume_token();
  EXPECT_EQ(Watch(request).status.error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(WorkflowServiceTest, TellsWhatWouldBe) {
  Start();
  WorkflowSpec workflow = Chain();
  for (WorkflowJob& job : workflow.jobs) job.profile = test::Profile(8, 10, 2, 10);
  v1::EstimateWorkflowRequest request;
  wire::EncodeWorkflow(workflow, *request.mutable_workflow());
  const auto remaining = [&] {
    v1::EstimateWorkflowResponse response;
    const grpc::Status status = workflows_->EstimateWorkflow(Context().get(), request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(response.snapshot().sequence(), 0u);
    return static_cast<double>(response.snapshot().remaining().seconds());
  };
  EXPECT_NEAR(remaining(), 2 * (40 + 10), 10);
  request.set_slots(8);
  EXPECT_NEAR(remaining(), 2 * (10 + 10), 5);
  request.set_data_factor(2);
  EXPECT_NEAR(remaining(), 2 * (20 + 10), 8);
  ASSERT_TRUE(Submit(workflow).ok());
  request.set_workflow_id("wf");
  EXPECT_NEAR(remaining(), 2 * (20 + 10), 8);
  request.set_data_factor(-1);
  v1::EstimateWorkflowResponse response;
  EXPECT_EQ(workflows_->EstimateWorkflow(Context().get(), request, &response).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(WorkflowServiceTest, EveryoneMayDoWhatTheirTokenSays) {
  options_.tokens_file = directory_ + "/tokens";
  test::WriteSecret(options_.tokens_file,
                    "agent wf agent-token-for-wf-0\n"
                    "agent * agent-token-for-all-0\n"
                    "reader wf reader-token-for-wf-0\n"
                    "admin * admin-token-for-all-0\n");
  Start();
  EXPECT_EQ(Submit(Chain()).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(Submit(Chain(), "reader-token-for-wf-0").error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  // Its jobs are not this agent's.
  EXPECT_EQ(Submit(Chain(), "agent-token-for-wf-0").error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_TRUE(Submit(Chain(), "agent-token-for-all-0").ok());
  EXPECT_TRUE(Submit(Chain(), "admin-token-for-all-0").ok());
  EXPECT_EQ(Watch(WatchWf()).status.error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(Watch(WatchWf(), 1, "agent-token-for-all-0").status.error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(Watch(WatchWf(), 1, "reader-token-for-wf-0").responses, SizeIs(1));
}

// The service on a disk of ours.
class WorkflowServiceOnADisk : public ::testing::Test {
 protected:
  void Start(absl::Duration commit_interval) {
    jobs_ = std::make_unique<service::JobTable>(service::JobTableOptions{
        .data_dir = "data",
        .journal = {.commit_interval = commit_interval, .retry_interval = absl::Milliseconds(1)},
        .disk = disk_});
    table_ = std::make_unique<service::WorkflowTable>(
        service::WorkflowTableOptions{.data_dir = "data"}, *jobs_);
    service_ = std::make_unique<service::WorkflowService>(*table_, hub_, clock_, gate_, metrics_);
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(service_.get());
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
    stub_ = v1::WorkflowService::NewStub(grpc::CreateChannel("127.0.0.1:" + std::to_string(port),
                                                             grpc::InsecureChannelCredentials()));
  }
  void TearDown() override {
    if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
  }
  static v1::SubmitWorkflowRequest Submission(const std::string& id) {
    v1::SubmitWorkflowRequest request;
    WorkflowSpec workflow = Chain();
    workflow.id = id;
    wire::EncodeWorkflow(workflow, *request.mutable_workflow());
    return request;
  }
  static void SetDeadline(grpc::ClientContext& context) {
    context.set_deadline(std::chrono::system_clock::now() + kDeadline);
  }
  grpc::StatusCode Submit(const std::string& id) {
    grpc::ClientContext context;
    SetDeadline(context);
    v1::SubmitWorkflowResponse response;
    return stub_->SubmitWorkflow(&context, Submission(id), &response).error_code();
  }
  bool IsAnswered() {
    grpc::ClientContext context;
    SetDeadline(context);
    v1::EstimateWorkflowRequest request;
    wire::EncodeWorkflow(Chain(), *request.mutable_workflow());
    v1::EstimateWorkflowResponse response;
    return stub_->EstimateWorkflow(&context, request, &response).ok();
  }

  std::shared_ptr<test::FaultyDisk> disk_ = std::make_shared<test::FaultyDisk>();
  std::unique_ptr<service::Tokens> tokens_ = *service::Tokens::Load("");
  service::Metrics metrics_;
  service::Log log_{LogSink()};
  service::Acceptor acceptor_{{}, true, metrics_, log_};
  service::Gate gate_{*tokens_, acceptor_, 1000, metrics_, log_};
  service::WorkflowHub hub_{1000};
  std::unique_ptr<service::JobTable> jobs_;
  std::unique_ptr<service::WorkflowTable> table_;
  service::Clock clock_;
  std::unique_ptr<service::WorkflowService> service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<v1::WorkflowService::Stub> stub_;
};

TEST_F(WorkflowServiceOnADisk, CallsThatWaitForTheDiskKeepNoOthersWaiting) {
  Start(absl::Hours(1));  // before which nothing is durable
  struct Call {
    grpc::ClientContext context;
    v1::SubmitWorkflowRequest request;
    v1::SubmitWorkflowResponse response;
    std::promise<grpc::Status> done;
  };
  std::vector<std::unique_ptr<Call>> calls;
  for (int i = 0; i < 100; ++i) {
    Call& call = *calls.emplace_back(std::make_unique<Call>());
    call.request = Submission("wf-" + std::to_string(i));
    stub_->async()->SubmitWorkflow(&call.context, &call.request, &call.response,
                                   [&call](grpc::Status status) { call.done.set_value(status); });
  }
  while (table_->List().size() < calls.size() && IsAnswered()) {
  }
  EXPECT_EQ(table_->List().size(), calls.size());
  EXPECT_TRUE(IsAnswered());
  for (const auto& call : calls) call->context.TryCancel();
  for (const auto& call : calls) {
    EXPECT_EQ(call->done.get_future().get().error_code(), grpc::StatusCode::CANCELLED);
  }
}

TEST_F(WorkflowServiceOnADisk, ADiskThatFailsIsSaid) {
  Start(absl::ZeroDuration());
  EXPECT_EQ(Submit("before"), grpc::StatusCode::OK);
  disk_->Break(absl::ResourceExhaustedError("no space left"));
  EXPECT_EQ(Submit("meanwhile"), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(Submit("after"), grpc::StatusCode::UNAVAILABLE);
  EXPECT_FALSE(table_->Look("after").ok());
  EXPECT_EQ(Submit("before"), grpc::StatusCode::OK);
  disk_->Break(absl::OkStatus());
  while (!jobs_->journal().status().ok()) std::this_thread::yield();
  EXPECT_EQ(Submit("meanwhile"), grpc::StatusCode::OK);
  EXPECT_EQ(Submit("after"), grpc::StatusCode::OK);
}

}  // namespace
}  // namespace tidemark
