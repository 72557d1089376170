// Tests a real master with real clients on this host. The tests wait for conditions, and a deadline
// expires only if a test fails.
#include "master/service/job_service.h"

#include <grpcpp/grpcpp.h>

#include "proto/wire/job_codec.h"
#include "proto/wire/plan_codec.h"
#include "proto/wire/snapshot_delta.h"
#include "tests/facts/events.h"
#include "tests/service/published.h"
#include "tests/service/service_on_a_disk.h"
#include "tests/service/streams.h"
#include "tests/store/faulty_disk.h"
#include "tests/test.h"
#include "tidemark/rpc/v1/error_details.pb.h"

namespace tidemark::job_service_test {
namespace {

using tidemark::test::kCallDeadline;
using tidemark::test::NewContext;

const JobProfile kEightMapsAndTwoReduces = {.map_tasks = 8,
                                            .reduce_tasks = 2,
                                            .map_task_time = absl::Seconds(10),
                                            .reduce_task_time = absl::Seconds(10)};

PlannedJob JobNamed(const std::string& name, std::vector<std::string> after = {}) {
  return {.name = name, .job_id = name + "-1", .after = std::move(after)};
}

Plan Chain() {
  return {.id = "wf", .jobs = {JobNamed("a"), JobNamed("b", {"a"})}, .cluster = {.slots = 2}};
}

// Returns the field in a BadRequest. If the status contains no BadRequest, returns the reason in
// the ErrorInfo.
std::string DetailOf(const grpc::Status& status) {
  rpc::v1::Status details;
  EXPECT_TRUE(details.ParseFromString(status.error_details()));
  std::string detail;
  for (const google::protobuf::Any& any : details.details()) {
    rpc::v1::ErrorInfo info;
    rpc::v1::BadRequest request;
    if (any.type_url().ends_with("ErrorInfo") && info.ParseFromString(any.value())) {
      EXPECT_EQ(info.domain(), "tidemark");
      if (detail.empty()) detail = info.reason();
    } else if (any.type_url().ends_with("BadRequest") && request.ParseFromString(any.value())) {
      detail = request.field_violations(0).field();
    }
  }
  return detail;
}

// Returns a request about this job.
template <typename Request>
Request Of(const std::string& job_id) {
  Request request;
  request.set_job_id(job_id);
  return request;
}

class JobServiceTest : public test::LiveMaster {
 protected:
  using Stub = v1::JobService::Stub;

  void SetUp() override { Start(); }
  void Start() {
    LiveMaster::Start();
    jobs_ = v1::JobService::NewStub(channel_);
  }

  // Starts a master that keeps its jobs over restarts.
  void StartDurably() {
    options_.data_dir = directory_.path();
    Start();
  }
  template <typename Request, typename Response>
  grpc::Status Call(grpc::Status (v1::JobService::Stub::*method)(grpc::ClientContext*,
                                                                 const Request&, Response*),
                    const Request& request, Response& response, const std::string& token = "") {
    return (*jobs_.*method)(NewContext(token).get(), request, &response);
  }

  grpc::Status Submit(const Plan& plan, const std::string& token = "") {
    v1::SubmitJobRequest request;
    wire::EncodePlan(plan, *request.mutable_plan());
    v1::SubmitJobResponse response;
    return Call(&Stub::SubmitJob, request, response, token);
  }
  grpc::Status Attach(const std::string& name, const std::string& job_id) {
    auto request = Of<v1::AttachJobRequest>("wf");
    request.set_child_name(name);
    request.set_child_job_id(job_id);
    v1::AttachJobResponse response;
    return Call(&Stub::AttachJob, request, response);
  }
  grpc::Status Update(const v1::UpdateJobRequest& request) {
    v1::UpdateJobResponse response;
    return Call(&Stub::UpdateJob, request, response);
  }
  static v1::UpdateJobRequest Adding(const std::vector<PlannedJob>& jobs) {
    v1::Plan plan;
    wire::EncodePlan({.jobs = jobs}, plan);
    auto request = Of<v1::UpdateJobRequest>("wf");
    *request.mutable_add_jobs() = plan.jobs();
    return request;
  }
  static v1::UpdateJobRequest Cancelling(const std::vector<std::string>& names) {
    auto request = Of<v1::UpdateJobRequest>("wf");
    for (const std::string& name : names) request.add_cancel_jobs(name);
    return request;
  }
  static v1::UpdateJobRequest CancellingAll() {
    v1::UpdateJobRequest request = Cancelling({});
    request.set_cancel(true);
    return request;
  }
  grpc::Status Estimate(const v1::EstimateJobRequest& request, v1::EstimateJobResponse& response,
                        const std::string& token = "") {
    return Call(&Stub::EstimateJob, request, response, token);
  }
  grpc::Status Forget(const std::string& job_id) {
    v1::ForgetJobResponse response;
    return Call(&Stub::ForgetJob, Of<v1::ForgetJobRequest>(job_id), response);
  }
  grpc::Status SetDeadline(const std::string& job_id, std::int64_t seconds,
                           const std::string& token = "") {
    auto request = Of<v1::SetDeadlineRequest>(job_id);
    if (seconds > 0) request.mutable_deadline_at()->set_seconds(seconds);
    v1::SetDeadlineResponse response;
    return Call(&Stub::SetDeadline, request, response, token);
  }
  grpc::Status Get(const std::string& job_id, Snapshot& snapshot) {
    v1::GetJobResponse response;
    grpc::Status status = Call(&Stub::GetJob, Of<v1::GetJobRequest>(job_id), response);
    if (status.ok()) snapshot = wire::ParseSnapshot(response.snapshot()).value();
    return status;
  }
  // Returns the first snapshot for which the condition is true.
  Snapshot Await(const std::string& job_id, const std::function<bool(const Snapshot&)>& condition) {
    Snapshot newest;
    do {
      EXPECT_TRUE(Get(job_id, newest).ok());
    } while (!condition(newest) && !HasFailure());
    return newest;
  }
  void AwaitStages(const std::string& job_id) {
    Await(job_id, [](const Snapshot& newest) { return !newest.stages.empty(); });
  }
  Snapshot Final(const std::string& job_id) {
    auto request = Of<v1::WatchJobRequest>(job_id);
    request.set_wait_for_job(true);
    const Watched watched = Watch(request);
    EXPECT_TRUE(watched.status.ok()) << watched.status.error_message();
    return watched.snapshots.empty() ? Snapshot() : watched.snapshots.back();
  }

  grpc::Status Send(const std::string& job_id, const std::vector<EventBody>& bodies) {
    test::IngestStream stream(channel_);
    Source source("master", job_id);
    for (const EventBody& body : bodies) EXPECT_TRUE(stream.Send(source.At(0, body)));
    return stream.Drain(refusals_);
  }
  // Runs a whole job that succeeds.
  void RunJob(const std::string& job_id) {
    EXPECT_TRUE(Send(job_id, {Opened(1, 1), Closed()}).ok());
  }
  // Runs a whole job, and returns after its final snapshot.
  void RunToEnd(const std::string& job_id) {
    RunJob(job_id);
    EXPECT_TRUE(Final(job_id).is_final);
  }

  // The result of reading until `count_max` responses have arrived or the stream has ended.
  struct Watched {
    std::vector<v1::WatchJobResponse> responses;
    std::vector<Snapshot> snapshots;  // whole snapshots
    grpc::Status status;
  };
  Watched Watch(const v1::WatchJobRequest& request, std::size_t count_max = SIZE_MAX,
                const std::string& token = "") {
    test::WatchStream stream(channel_, request, token);
    Watched watched;
    wire::JobReader reader;
    v1::WatchJobResponse response;
    while (watched.responses.size() < count_max && stream.Read(response)) {
      const auto snapshot = reader.Take(response);
      EXPECT_TRUE(snapshot.ok()) << snapshot.status();
      if (snapshot.ok()) watched.snapshots.push_back(*snapshot);
      watched.responses.push_back(response);
    }
    if (watched.responses.size() == count_max) stream.Cancel();
    watched.status = stream.Finish();
    return watched;
  }
  static v1::WatchJobRequest WatchWf() { return Of<v1::WatchJobRequest>("wf"); }
  // Reads the list until `enough` returns true.
  void WatchAll(wire::JobListReader& reader, const std::function<bool()>& enough,
                v1::WatchJobsRequest request = {}, const std::string& token = "") {
    const auto context = NewContext(token);
    request.set_resume_token(reader.resume_token());
    const auto stream = jobs_->WatchJobs(context.get(), request);
    v1::WatchJobsResponse response;
    while (!enough() && stream->Read(&response)) {
      ASSERT_TRUE(reader.Take(response).ok());
    }
    EXPECT_TRUE(enough());
    context->TryCancel();
    stream->Finish();
  }
  std::vector<std::string> IdsOf(v1::ListJobsRequest request, const std::string& token = "") {
    std::vector<std::string> ids;
    do {
      v1::ListJobsResponse response;
      EXPECT_TRUE(Call(&Stub::ListJobs, request, response, token).ok());
      for (const v1::Snapshot& snapshot : response.snapshots()) ids.push_back(snapshot.job_id());
      request.set_page_token(response.next_page_token());
    } while (!request.page_token().empty());
    return ids;
  }

  std::unique_ptr<v1::JobService::Stub> jobs_;
  std::vector<v1::Rejection> refusals_;
};

TEST_F(JobServiceTest, AWatcherOfAPlanSeesGrowingSequencesAndOneFinalSnapshot) {
  ASSERT_TRUE(Submit(Chain()).ok());
  const Watched first = Watch(WatchWf(), 2);
  ASSERT_THAT(first.responses, SizeIs(2));
  RunJob("a-1");
  RunJob("b-1");
  v1::WatchJobRequest resumed = WatchWf();
  resumed.set_resume_token(first.responses.back().resume_token());
  const Watched rest = Watch(resumed);
  EXPECT_TRUE(rest.status.ok()) << rest.status.error_message();
  std::uint64_t last = first.snapshots.back().sequence;
  for (std::size_t i = 0; i < rest.responses.size(); ++i) {
    EXPECT_EQ(rest.snapshots[i].sequence, last + 1 + rest.responses[i].skipped_snapshots());
    EXPECT_FALSE(rest.responses[i].restarted());
    EXPECT_EQ(rest.snapshots[i].is_final, i + 1 == rest.responses.size());
    last = rest.snapshots[i].sequence;
  }
  const Snapshot& end = rest.snapshots.back();
  EXPECT_EQ(end.state, JobState::kSucceeded);
  EXPECT_EQ(end.estimate.fraction_done, 1);
  ASSERT_THAT(end.children, SizeIs(2));
  EXPECT_THAT(end.children[1].after, ElementsAre(1));
  resumed.set_resume_token(rest.responses.back().resume_token());
  const Watched after = Watch(resumed);
  EXPECT_TRUE(after.status.ok());
  EXPECT_THAT(after.responses, IsEmpty());
}

TEST_F(JobServiceTest, DeltasAndWholeSnapshotsAgree) {
  ASSERT_TRUE(Submit(Chain()).ok());
  ASSERT_TRUE(Send("a-1", {Opened(2, 1), Started(M(0))}).ok());
  v1::WatchJobRequest request = WatchWf();
  request.set_deltas(true);
  const Watched watched = Watch(request, 5);
  ASSERT_THAT(watched.snapshots, SizeIs(5));
  EXPECT_EQ(watched.responses[0].snapshot().base_sequence(), 0u);
  for (std::size_t i = 1; i < 5; ++i) {
    EXPECT_EQ(watched.responses[i].snapshot().base_sequence(), watched.snapshots[i - 1].sequence);
    EXPECT_EQ(watched.snapshots[i].base_sequence, 0u);
    EXPECT_THAT(watched.snapshots[i].children, SizeIs(2));
  }
  EXPECT_EQ(watched.snapshots[4].info->kind, JobKind::kWorkflow);
}

TEST_F(JobServiceTest, AWatcherMayWaitForAJobAndForARunOfIt) {
  auto request = Of<v1::WatchJobRequest>("later");
  EXPECT_EQ(Watch(request).status.error_code(), grpc::StatusCode::NOT_FOUND);
  request.set_wait_for_job(true);
  test::WatchStream stream(channel_, request);
  RunJob("later");
  const auto responses = stream.ReadAll();
  ASSERT_THAT(responses, Not(IsEmpty()));
  EXPECT_TRUE(responses.back().snapshot().final());
  EXPECT_TRUE(stream.Finish().ok());
  request.set_wait_for_job(false);
  request.set_run_uid("another");
  EXPECT_EQ(Watch(request).status.error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(JobServiceTest, AWatcherContinuesAtTheNextMasterOfTheDirectory) {
  StartDurably();
  ASSERT_TRUE(Submit(Chain()).ok());
  const Watched first = Watch(WatchWf(), 2);
  ASSERT_THAT(first.responses, SizeIs(2));
  Start();
  v1::WatchJobRequest resumed = WatchWf();
  resumed.set_resume_token(first.responses.back().resume_token());
  const Watched rest = Watch(resumed, 1);
  ASSERT_THAT(rest.responses, SizeIs(1));
  EXPECT_FALSE(rest.responses.front().restarted());
  EXPECT_GT(rest.snapshots.front().sequence, first.snapshots.back().sequence);
}

TEST_F(JobServiceTest, ARestartWithoutDamageReportsNoNotice) {
  struct Said {
    std::mutex mutex;
    std::vector<std::string> notices;
    std::map<std::string, LogSeverity> logged;
  };
  const auto said = std::make_shared<Said>();  // The master outlives this function.
  options_.data_dir = directory_.path();
  options_.on_notice = [said](const std::string& line) {
    const std::lock_guard lock(said->mutex);
    said->notices.push_back(line);
  };
  options_.log = [said](const LogEntry& entry) {
    const std::lock_guard lock(said->mutex);
    said->logged[entry.message] = entry.severity;
  };
  Start();
  ASSERT_TRUE(Submit(Chain()).ok());
  RunToEnd("other");
  Start();
  const std::lock_guard lock(said->mutex);
  EXPECT_THAT(said->notices, IsEmpty());
  for (const char* message : {"jobs recovered", "workflows recovered"}) {
    ASSERT_TRUE(said->logged.contains(message)) << message;
    EXPECT_EQ(said->logged[message], LogSeverity::kInfo) << message;
  }
}

TEST_F(JobServiceTest, AMasterWithoutADataDirectoryRestartsItsWatchers) {
  ASSERT_TRUE(Submit(Chain()).ok());
  v1::WatchJobRequest resumed = WatchWf();
  resumed.set_resume_token(Watch(WatchWf(), 2).responses.back().resume_token());
  wire::JobListReader reader;
  WatchAll(reader, [&] { return reader.is_synced(); });
  Start();
  EXPECT_EQ(Watch(resumed).status.error_code(), grpc::StatusCode::NOT_FOUND);
  RunJob("other");
  WatchAll(reader, [&] { return reader.jobs().contains("other"); });
  EXPECT_FALSE(reader.jobs().contains("wf"));
  ASSERT_TRUE(Submit(Chain()).ok());
  const Watched rest = Watch(resumed, 1);
  ASSERT_THAT(rest.responses, SizeIs(1));
  EXPECT_TRUE(rest.responses.front().restarted());
}

TEST_F(JobServiceTest, AWatcherOfTheListReceivesChangesAndRemovals) {
  RunToEnd("a-1");
  wire::JobListReader reader;
  WatchAll(reader, [&] { return reader.is_synced(); });
  EXPECT_TRUE(reader.jobs().contains("a-1"));
  ASSERT_TRUE(Submit(Chain()).ok());
  ASSERT_TRUE(Attach("a", "a-1").ok());
  WatchAll(reader, [&] {
    const auto plan = reader.jobs().find("wf");
    return plan != reader.jobs().end() && plan->second.counts.finished_children == 1;
  });
  EXPECT_TRUE(Forget("a-1").ok());
  WatchAll(reader, [&] { return !reader.jobs().contains("a-1"); });
  // With a filter, no information about other jobs is sent, not even tokens.
  wire::JobListReader plans;
  v1::WatchJobsRequest request;
  request.mutable_filter()->add_kinds(v1::JOB_KIND_WORKFLOW);
  RunJob("c");
  WatchAll(
      plans, [&] { return plans.is_synced(); }, request);
  EXPECT_THAT(plans.jobs(), SizeIs(1));
}

TEST_F(JobServiceTest, ListsMatchingJobsInPages) {
  for (const char* id : {"x-1", "x-2", "y-1"}) {
    RunToEnd(id);  // The first snapshot contains the kind of the job.
  }
  ASSERT_TRUE(Submit(Chain()).ok());
  v1::ListJobsRequest request;
  request.set_page_size(1);
  EXPECT_THAT(IdsOf(request), ElementsAre("wf", "y-1", "x-2", "x-1"));
  request.mutable_filter()->add_kinds(v1::JOB_KIND_MAPREDUCE);
  EXPECT_THAT(IdsOf(request), ElementsAre("y-1", "x-2", "x-1"));
  for (const char* token : {"nonsense", "first", "-1", "1x", "99999999999999999999999"}) {
    request.set_page_token(token);
    v1::ListJobsResponse response;
    const grpc::Status status = Call(&Stub::ListJobs, request, response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << token;
    EXPECT_EQ(DetailOf(status), "page_token") << token;
  }
}

TEST_F(JobServiceTest, ListsTheJobsOfAPlan) {
  ASSERT_TRUE(Submit(Chain()).ok());
  RunJob("a-1");
  RunJob("other");
  EXPECT_TRUE(Final("a-1").is_final);
  v1::ListJobsRequest request;
  request.mutable_filter()->set_workflow_id("wf");
  EXPECT_THAT(IdsOf(request), ElementsAre("a-1"));
}

TEST_F(JobServiceTest, NamesTheWrongField) {
  options_.workflow_jobs_max = 2;
  options_.workflows_max = 1;
  Start();
  Plan cycle = Chain();
  cycle.jobs[0].after = {"b"};
  grpc::Status status = Submit(cycle);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DetailOf(status), "plan.jobs[0].after");
  Plan staged = Chain();
  staged.jobs[0].stages = {{.name = "scan", .task_count = 1, .task_times = {absl::Seconds(1)}}};
  EXPECT_EQ(DetailOf(Submit(staged)), "plan.jobs[0].stages");
  Plan nameless = Chain();
  nameless.id = "";
  EXPECT_EQ(DetailOf(Submit(nameless)), "plan.id");
  Plan large = Chain();
  large.jobs.push_back(JobNamed("c"));
  status = Submit(large);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(DetailOf(status), "LIMIT_EXCEEDED");
  EXPECT_THAT(status.error_details(), HasSubstr("jobs_per_workflow"));
  ASSERT_TRUE(Submit(Chain()).ok());
  Plan other = Chain();
  other.id = "other";
  EXPECT_THAT(Submit(other).error_details(), HasSubstr("workflows"));
  other.id = "wf";
  other.cluster.slots = 9;
  status = Submit(other);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(DetailOf(status), "ALREADY_EXISTS");
  EXPECT_EQ(Attach("x", "j").error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(DetailOf(Attach("a", "")), "child_job_id");
  EXPECT_TRUE(Attach("a", "a-2").ok());
  v1::WatchJobRequest request = WatchWf();
  request.set_resume_token("nonsense");
  EXPECT_EQ(DetailOf(Watch(request).status), "resume_token");
  request.set_job_id("no");
  request.clear_resume_token();
  EXPECT_EQ(DetailOf(Watch(request).status), "NOT_FOUND");
}

TEST_F(JobServiceTest, AnIdBelongsToOneJobOrWorkflow) {
  RunJob("wf");
  EXPECT_EQ(Submit(Chain()).error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_TRUE(Final("wf").is_final);
  EXPECT_TRUE(Forget("wf").ok());
  EXPECT_TRUE(Submit(Chain()).ok());
  Send("wf", {Opened(1, 1)});
  EXPECT_THAT(refusals_, SizeIs(1));
}

TEST_F(JobServiceTest, APlanGrowsAndShrinksAlsoAcrossARestart) {
  StartDurably();
  ASSERT_TRUE(Submit(Chain()).ok());
  const v1::UpdateJobRequest more = Adding({JobNamed("c", {"b"}), JobNamed("d", {"c"})});
  EXPECT_TRUE(Update(more).ok());
  EXPECT_TRUE(Update(more).ok());
  EXPECT_TRUE(Update(Cancelling({"b"})).ok());
  EXPECT_TRUE(Update(Cancelling({"b"})).ok());
  EXPECT_TRUE(Submit(Chain()).ok());  // The submitted plan is unchanged.
  EXPECT_EQ(DetailOf(Update(Adding({JobNamed("e", {"x"})}))), "add_jobs[0].after[0]");
  EXPECT_EQ(DetailOf(Update(Adding({JobNamed("a", {"b"})}))), "add_jobs[0].name");
  EXPECT_EQ(DetailOf(Update(Cancelling({"bb"}))), "cancel_jobs[0]");
  EXPECT_EQ(DetailOf(Update({})), "job_id");
  Start();
  RunJob("a-1");
  RunJob("c-1");  // c no longer waits for b.
  Await("wf",
        [](const Snapshot& plan) { return plan.children[2].state == ChildState::kSucceeded; });
  EXPECT_EQ(Update(Cancelling({"c"})).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  RunJob("d-1");
  const Snapshot end = Final("wf");
  EXPECT_EQ(end.state, JobState::kSucceeded);
  ASSERT_THAT(end.children, SizeIs(4));
  EXPECT_EQ(end.children[1].state, ChildState::kCancelled);
  EXPECT_THAT(end.children[2].after, IsEmpty());
  EXPECT_EQ(end.counts.finished_children, 3u);
  EXPECT_EQ(Update(Adding({JobNamed("e")})).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_TRUE(Update(more).ok());
}

TEST_F(JobServiceTest, ADeadlineIsSetAndReplacedAlsoAcrossARestart) {
  constexpr std::int64_t kFirst = 1'900'000'000;
  constexpr std::int64_t kSecond = 1'900'000'060;
  StartDurably();
  ASSERT_TRUE(Send("job", {Opened(2, 1), Started(M(0))}).ok());
  ASSERT_TRUE(Submit(Chain()).ok());
  for (const bool is_restarted : {false, true}) {
    if (is_restarted) Start();
    for (const char* const id : {"job", "wf"}) {
      if (!is_restarted) {
        EXPECT_TRUE(SetDeadline(id, kFirst).ok());
        EXPECT_TRUE(SetDeadline(id, kSecond).ok());
        EXPECT_TRUE(SetDeadline(id, kSecond).ok());
      }
      Await(id, [&](const Snapshot& newest) {
        return newest.deadline == absl::FromUnixSeconds(kSecond);
      });
    }
  }
  EXPECT_TRUE(Submit(Chain()).ok());  // The submitted plan is unchanged.
  EXPECT_EQ(SetDeadline("none", kFirst).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(DetailOf(SetDeadline("job", 0)), "deadline_at");
  EXPECT_EQ(DetailOf(SetDeadline("job", 253'370'764'800)), "deadline_at") << "the year 9999";
  RunToEnd("ended");
  EXPECT_TRUE(Update(CancellingAll()).ok());
  Final("wf");
  for (const char* const id : {"ended", "wf"}) {
    EXPECT_EQ(SetDeadline(id, kFirst).error_code(), grpc::StatusCode::FAILED_PRECONDITION) << id;
  }
}

TEST_F(JobServiceTest, APlanShowsTheStagesOfItsJobsEvenAfterTheirRemoval) {
  ASSERT_TRUE(Submit(Chain()).ok());
  RunJob("a-1");
  ASSERT_TRUE(Send("b-1", {Opened(2, 1), Started(M(0))}).ok());
  const std::uint64_t sequence = Await("wf", [](const Snapshot& plan) {
                                   return plan.children[1].state == ChildState::kRunning;
                                 }).sequence;
  ASSERT_TRUE(Forget("a-1").ok());
  const Snapshot plan =
      Await("wf", [&](const Snapshot& newest) { return newest.sequence >= sequence + 2; });
  ASSERT_THAT(plan.stages, SizeIs(4));
  for (std::uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(plan.stages[i].id, (StageId{1 + i / 2, i % 2}));
    EXPECT_EQ(plan.stages[i].id, plan.stage_infos[i].id);
  }
  EXPECT_EQ(plan.stage_infos[2].name, "map");
  EXPECT_EQ(plan.stages[2].tasks, 2u);
  EXPECT_EQ(plan.stages[2].running_tasks, 1u);
  EXPECT_EQ(plan.stages[2].state, StageState::kRunning);
  EXPECT_EQ(plan.counts, CountParts(plan));
}

TEST_F(JobServiceTest, APlanKeepsThatAJobHasNoReduceTasks) {
  Plan plan = Chain();
  plan.jobs.resize(1);
  plan.jobs[0].reduce_task_count = 0;
  plan.jobs[0].profile = kEightMapsAndTwoReduces;
  ASSERT_TRUE(Submit(plan).ok());
  const Watched watched = Watch(WatchWf(), 2);
  ASSERT_THAT(watched.snapshots, SizeIs(2));
  ASSERT_THAT(watched.snapshots[1].stages, SizeIs(1));
  EXPECT_EQ(watched.snapshots[1].stages[0].state, StageState::kExpected);
  EXPECT_EQ(watched.snapshots[1].stages[0].tasks, 8u);
}

TEST_F(JobServiceTest, AWholePlanCanBeCancelledAndForgotten) {
  StartDurably();
  ASSERT_TRUE(Submit(Chain()).ok());
  EXPECT_EQ(Forget("wf").error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_TRUE(Update(CancellingAll()).ok());
  EXPECT_EQ(Final("wf").state, JobState::kKilled);
  EXPECT_TRUE(Update(CancellingAll()).ok());
  EXPECT_TRUE(Forget("wf").ok());
  EXPECT_TRUE(Forget("wf").ok());
  Snapshot snapshot;
  EXPECT_EQ(Get("wf", snapshot).error_code(), grpc::StatusCode::NOT_FOUND);
  Start();
  EXPECT_EQ(Get("wf", snapshot).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(JobServiceTest, EstimatesEachScenario) {
  Plan plan = Chain();
  for (PlannedJob& job : plan.jobs) job.profile = kEightMapsAndTwoReduces;
  v1::EstimateJobRequest request;
  wire::EncodePlan(plan, *request.mutable_plan());
  request.mutable_plan()->clear_id();
  request.add_scenarios();
  request.add_scenarios()->set_slots(8);
  v1::Scenario& more = *request.add_scenarios();
  more.set_slots(8);
  more.set_data_factor(2);
  const auto check = [&] {
    v1::EstimateJobResponse response;
    const grpc::Status status = Estimate(request, response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    ASSERT_EQ(response.outcomes_size(), 3);
    const auto remaining = [&](int i) {
      const v1::Snapshot& snapshot = response.outcomes(i).snapshot();
      EXPECT_EQ(snapshot.sequence(), 0u);
      EXPECT_EQ(snapshot.state(),
                request.has_plan() ? v1::JOB_STATE_QUEUED : v1::JOB_STATE_RUNNING);
      return static_cast<double>(snapshot.estimate().remaining().median().seconds());
    };
    EXPECT_NEAR(remaining(0), 2 * (40 + 10), 10);
    EXPECT_NEAR(remaining(1), 2 * (10 + 10), 5);
    EXPECT_NEAR(remaining(2), 2 * (20 + 20), 8);
    EXPECT_GT(response.outcomes(0).busy_share(), 0.8);
    EXPECT_LT(response.outcomes(1).busy_share(), 0.8);
  };
  check();
  ASSERT_TRUE(Submit(plan).ok());
  request.set_job_id("wf");
  check();
  more.set_data_factor(-1);
  v1::EstimateJobResponse response;
  EXPECT_EQ(DetailOf(Estimate(request, response)), "scenarios[2].data_factor");
  request.clear_subject();
  EXPECT_EQ(DetailOf(Estimate(request, response)), "subject");
}

TEST_F(JobServiceTest, EstimatesAPredictedJobOnOtherSlots) {
  ASSERT_TRUE(Send("job-1", {Opened(2, 1)}).ok());
  auto request = Of<v1::EstimateJobRequest>("job-1");
  v1::EstimateJobResponse response;
  ASSERT_TRUE(Estimate(request, response).ok());
  EXPECT_EQ(response.outcomes(0).snapshot().job_id(), "job-1");
  v1::Scenario& scenario = *request.add_scenarios();
  scenario.set_slots(8);
  const grpc::Status early = Estimate(request, response);
  EXPECT_EQ(early.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(early.error_message(), HasSubstr("has no forecast yet"));
  scenario.set_data_factor(2);
  EXPECT_EQ(DetailOf(Estimate(request, response)), "scenarios[0].data_factor");
  scenario.clear_data_factor();
  RunToEnd("job-2");
  request.set_job_id("job-2");
  EXPECT_EQ(Estimate(request, response).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
}

TEST_F(JobServiceTest, EstimatesAnApplicationOnOtherExecutors) {
  const auto started = [](std::uint32_t index) {
    AttemptChanged task = Started({.stage = 7, .index = index});
    task.executor = index / 2;
    return task;
  };
  ASSERT_TRUE(Send("app-1", {JobOpened{.name = "app", .stages = {{.stage = 7, .task_count = 40}}},
                             ExecutorOpened{.executor = 0, .host = "h", .slots = 2},
                             ExecutorOpened{.executor = 1, .host = "h", .slots = 2}, started(0),
                             started(1), started(2), started(3)})
                  .ok());
  auto request = Of<v1::EstimateJobRequest>("app-1");
  request.add_scenarios();
  for (const std::uint32_t executors : {1, 2, 20})
    request.add_scenarios()->set_executors(executors);
  v1::EstimateJobResponse response;
  const auto seconds = [&](int i) {
    const auto& median = response.outcomes(i).snapshot().estimate().remaining().median();
    return static_cast<double>(median.seconds()) + 1e-9 * median.nanos();
  };
  // The snapshot is from the last tick, whereas the estimate is current. They are nearly equal
  // after the tasks have run for much longer than a tick.
  const auto is_steady = [&] {
    return response.outcomes_size() == 4 && seconds(2) < 1.3 * seconds(0) + 0.1;
  };
  const auto deadline = std::chrono::steady_clock::now() + kCallDeadline;
  grpc::Status status;
  do {
    status = Estimate(request, response);
  } while (!(status.ok() && is_steady()) && std::chrono::steady_clock::now() < deadline);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_EQ(response.outcomes_size(), 4);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> counts;
  for (const v1::Outcome& outcome : response.outcomes()) {
    counts.emplace_back(outcome.executors(), outcome.slots());
  }
  EXPECT_THAT(counts, ElementsAre(testing::Pair(2, 4), testing::Pair(1, 2), testing::Pair(2, 4),
                                  testing::Pair(20, 40)));
  EXPECT_GT(seconds(1), 1.5 * seconds(2));
  EXPECT_NEAR(seconds(2), seconds(0), 0.3 * seconds(0) + 0.1);
  EXPECT_LT(seconds(3), 0.5 * seconds(2));
  request.mutable_scenarios(1)->set_executors(500'001);
  const grpc::Status too_many = Estimate(request, response);
  EXPECT_EQ(DetailOf(too_many), "scenarios[1].executors");
  EXPECT_THAT(too_many.error_message(), HasSubstr("must be at most 500000"));
  request.mutable_scenarios(1)->set_slots(4);
  EXPECT_EQ(DetailOf(Estimate(request, response)), "scenarios[1].executors");
  request.mutable_scenarios(1)->clear_slots();
  ASSERT_TRUE(Submit(Chain()).ok());
  request.set_job_id("wf");
  const grpc::Status of_workflow = Estimate(request, response);
  EXPECT_EQ(DetailOf(of_workflow), "scenarios[1].executors");
  EXPECT_THAT(of_workflow.error_message(), HasSubstr("pass one of its jobs"));
}

TEST_F(JobServiceTest, RejectsAnUnsuitablePolicyWithTheNameOfTheJob) {
  Plan plan = Chain();
  plan.cluster.queues = {{"etl", 1}};
  plan.jobs[0].queue = "etl";
  ASSERT_TRUE(Submit(plan).ok());
  auto request = Of<v1::EstimateJobRequest>("wf");
  request.add_scenarios()->set_policy(v1::SCHEDULING_POLICY_CAPACITY);
  v1::EstimateJobResponse response;
  const grpc::Status status = Estimate(request, response);
  EXPECT_EQ(DetailOf(status), "scenarios[0].policy");
  EXPECT_THAT(status.error_message(), HasSubstr("jobs[1].queue: is missing"));
}

TEST_F(JobServiceTest, EstimatesAPlanWithStartedStages) {
  ASSERT_TRUE(Submit(Chain()).ok());
  ASSERT_TRUE(Send("a-1", {Opened(2, 1), Started(M(0))}).ok());
  AwaitStages("wf");
  auto request = Of<v1::EstimateJobRequest>("wf");
  v1::EstimateJobResponse response;
  ASSERT_TRUE(Estimate(request, response).ok());
  EXPECT_EQ(response.outcomes(0).snapshot().sequence(), 0u);
  EXPECT_EQ(response.outcomes(0).snapshot().stages_size(), 2);
  request.add_scenarios()->set_policy(v1::SCHEDULING_POLICY_CAPACITY);
  EXPECT_EQ(DetailOf(Estimate(request, response)), "scenarios[0].policy");
  ASSERT_TRUE(Update(CancellingAll()).ok());
  EXPECT_TRUE(Final("wf").is_final);
  EXPECT_EQ(Estimate(request, response).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  request.clear_scenarios();
  response.Clear();
  ASSERT_TRUE(Estimate(request, response).ok());
  EXPECT_TRUE(response.outcomes(0).snapshot().final());
  EXPECT_EQ(response.outcomes(0).snapshot().sequence(), 0u);
}

TEST_F(JobServiceTest, SplitsLargeResponses) {
  options_.tick_interval = options_.tick_interval_min = absl::Hours(1);
  options_.calls_per_second = 0;  // Large answers take time.
  Start();
  constexpr std::size_t kPlans = 16;
  for (std::size_t i = 0; i < kPlans; ++i) {
    Plan plan = {.id = "wf-" + std::to_string(i), .cluster = {.slots = 2}};
    for (int job = 0; job < 500; ++job) {
      const std::string name = std::string(250, 'x') + std::to_string(job);
      plan.jobs.push_back({.name = name, .job_id = name});
    }
    const grpc::Status status = Submit(plan);
    ASSERT_TRUE(status.ok()) << status.error_message();
  }
  v1::ListJobsRequest list;
  list.set_view(v1::VIEW_FULL);
  EXPECT_THAT(IdsOf(list), SizeIs(kPlans));
  wire::JobListReader reader;
  v1::WatchJobsRequest watch;
  watch.set_view(v1::VIEW_FULL);
  WatchAll(
      reader, [&] { return reader.is_synced(); }, watch);
  EXPECT_THAT(reader.jobs(), SizeIs(kPlans));
}

TEST_F(JobServiceTest, RejectsLongTexts) {
  v1::WatchJobRequest one = WatchWf();
  one.set_wait_for_job(true);
  one.set_run_uid(std::string(257, 'x'));
  EXPECT_EQ(DetailOf(Watch(one).status), "run_uid");
  one.set_job_id(std::string(257, 'x'));
  EXPECT_EQ(DetailOf(Watch(one).status), "job_id");
}

TEST_F(JobServiceTest, EnforcesTheRightsOfTokens) {
  const std::string reader_token = "reader-token-for-wf-0";
  options_.tokens_file = directory_.Write("tokens",
                                          "agent wf agent-token-for-wf-0\n"
                                          "agent * agent-token-for-all-0\n"
                                          "reader wf reader-token-for-wf-0\n"
                                          "admin * admin-token-for-all-0\n");
  Start();
  EXPECT_EQ(Submit(Chain()).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(Submit(Chain(), reader_token).error_code(), grpc::StatusCode::PERMISSION_DENIED);
  // This agent may not report for these jobs.
  EXPECT_EQ(Submit(Chain(), "agent-token-for-wf-0").error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_TRUE(Submit(Chain(), "agent-token-for-all-0").ok());
  Plan other = Chain();
  other.id = "other";
  EXPECT_TRUE(Submit(other, "admin-token-for-all-0").ok());
  EXPECT_EQ(Watch(WatchWf()).status.error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(Watch(WatchWf(), 1, "agent-token-for-all-0").status.error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(Watch(WatchWf(), 1, reader_token).responses, SizeIs(1));
  EXPECT_THAT(IdsOf({}, reader_token), UnorderedElementsAre("wf"));
  EXPECT_THAT(IdsOf({}, "admin-token-for-all-0"), UnorderedElementsAre("wf", "other"));
  wire::JobListReader reader;
  WatchAll(
      reader, [&] { return reader.is_synced(); }, {}, reader_token);
  EXPECT_THAT(reader.jobs(), SizeIs(1));
  v1::EstimateJobRequest estimate;
  v1::EstimateJobResponse response;
  EXPECT_EQ(DetailOf(Estimate(estimate, response, reader_token)), "subject");
  wire::EncodePlan(Chain(), *estimate.mutable_plan());
  estimate.mutable_plan()->clear_id();
  EXPECT_TRUE(Estimate(estimate, response, reader_token).ok());
  EXPECT_EQ(SetDeadline("wf", 1'900'000'000, reader_token).error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_TRUE(SetDeadline("wf", 1'900'000'000, "admin-token-for-all-0").ok());
  for (const std::string& token : {reader_token, std::string("admin-token-for-all-0")}) {
    v1::GetJobResponse job;
    EXPECT_TRUE(Call(&Stub::GetJob, Of<v1::GetJobRequest>("wf"), job, token).ok());
    EXPECT_EQ(job.may_report(), token != reader_token);
  }
  v1::ListTasksResponse listed;
  EXPECT_EQ(
      Call(&Stub::ListTasks, Of<v1::ListTasksRequest>("a-1"), listed, reader_token).error_code(),
      grpc::StatusCode::PERMISSION_DENIED);
  const auto forecasts = Of<v1::ListForecastsRequest>("a-1");
  v1::ListForecastsResponse said;
  EXPECT_EQ(Call(&Stub::ListForecasts, forecasts, said, reader_token).error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
}

TEST_F(JobServiceTest, ListsTheTasksAndForecastsOfRunningAndEndedJobs) {
  const auto tasks = [&](const std::string& job_id, v1::ListTasksResponse& response) {
    return Call(&Stub::ListTasks, Of<v1::ListTasksRequest>(job_id), response);
  };
  const auto forecasts = [&](const std::string& job_id) {
    v1::ListForecastsResponse response;
    EXPECT_TRUE(Call(&Stub::ListForecasts, Of<v1::ListForecastsRequest>(job_id), response).ok());
    return response;
  };
  v1::ListTasksResponse listed;
  EXPECT_EQ(tasks("nobody", listed).error_code(), grpc::StatusCode::NOT_FOUND);
  const auto events = [](std::uint32_t count) {
    std::vector<EventBody> bodies = {Opened(2001, 1), ExecutorOpened{.executor = 0, .host = "h"}};
    for (std::uint32_t i = 0; i < count; ++i) {
      bodies.push_back(
          AttemptChanged{.attempt = M(i), .state = AttemptState::kStarted, .executor = 0});
    }
    return bodies;
  };
  EXPECT_TRUE(Send("job-1", events(1)).ok());
  ASSERT_TRUE(tasks("job-1", listed).ok());
  ASSERT_EQ(listed.tasks_size(), 1);
  EXPECT_EQ(listed.tasks(0).host(), "h");
  EXPECT_EQ(listed.tasks(0).state(), v1::ATTEMPT_STATE_STARTED);
  ASSERT_EQ(listed.hosts_size(), 1);
  EXPECT_EQ(listed.hosts(0).running_count(), 1);

  RunToEnd("job-2");
  std::vector<EventBody> few = events(1);
  few.push_back(Closed());
  EXPECT_TRUE(Send("job-3", few).ok());
  EXPECT_TRUE(Final("job-3").is_final);
  ASSERT_TRUE(tasks("job-3", listed).ok());
  ASSERT_EQ(listed.tasks_size(), 1);
  EXPECT_EQ(listed.tasks(0).host(), "h");
  EXPECT_FALSE(listed.tasks(0).has_remaining());
  std::vector<EventBody> many = events(2001);
  many.push_back(Closed());
  EXPECT_TRUE(Send("job-4", many).ok());
  EXPECT_TRUE(Final("job-4").is_final);
  ASSERT_TRUE(tasks("job-4", listed).ok());
  EXPECT_EQ(listed.tasks_size(), 0);
  EXPECT_EQ(listed.tasks_left_out(), 2001u);
  EXPECT_EQ(listed.hosts_size(), 1);
  auto longest = Of<v1::ListTasksRequest>("job-4");
  longest.set_longest_first(true);
  longest.set_task_count_max(1999);
  ASSERT_TRUE(Call(&Stub::ListTasks, longest, listed).ok());
  EXPECT_EQ(listed.tasks_size(), 1999);
  EXPECT_EQ(listed.tasks_left_out(), 2u) << "one is not stored";
  auto of_host = Of<v1::ListTasksRequest>("job-4");
  of_host.set_host("h");
  EXPECT_THAT(Call(&Stub::ListTasks, of_host, listed).error_message(),
              HasSubstr("only the totals of each host are stored"));

  const v1::ListForecastsResponse first = forecasts("job-2");
  EXPECT_GE(first.forecasts_size(), 1);
  EXPECT_TRUE(first.has_ended_at());
  auto later = Of<v1::ListForecastsRequest>("job-2");
  *later.mutable_after() = first.forecasts(first.forecasts_size() - 1).at();
  v1::ListForecastsResponse nothing_new;
  EXPECT_TRUE(Call(&Stub::ListForecasts, later, nothing_new).ok());
  EXPECT_EQ(nothing_new.forecasts_size(), 0);
  later.mutable_after()->set_nanos(-1);
  EXPECT_EQ(DetailOf(Call(&Stub::ListForecasts, later, nothing_new)), "after");

  EXPECT_TRUE(Submit(Chain()).ok());
  EXPECT_EQ(tasks("wf", listed).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_FALSE(forecasts("wf").has_ended_at());
}

TEST_F(JobServiceTest, ReportsServerInfo) {
  v1::GetServerInfoResponse first;
  v1::GetServerInfoResponse second;
  ASSERT_TRUE(jobs_->GetServerInfo(NewContext().get(), {}, &first).ok());
  EXPECT_FALSE(first.version().empty());
  EXPECT_EQ(first.limits().at("jobs"), options_.jobs_max);
  Start();
  ASSERT_TRUE(jobs_->GetServerInfo(NewContext().get(), {}, &second).ok());
  EXPECT_NE(first.instance(), second.instance());
}

// The service with a simulated disk.
class JobServiceOnADisk : public test::ServiceOnADisk {
 protected:
  void Start(absl::Duration commit_interval) {
    ServiceOnADisk::Start(
        {.journal = {.commit_interval = commit_interval, .retry_interval = absl::Milliseconds(1)}});
    stub_ =
        v1::JobService::NewStub(grpc::CreateChannel(address_, grpc::InsecureChannelCredentials()));
  }
  static v1::SubmitJobRequest Submission(const std::string& id) {
    v1::SubmitJobRequest request;
    Plan plan = Chain();
    plan.id = id;
    wire::EncodePlan(plan, *request.mutable_plan());
    return request;
  }
  grpc::StatusCode Submit(const std::string& id) {
    v1::SubmitJobResponse response;
    return stub_->SubmitJob(NewContext().get(), Submission(id), &response).error_code();
  }
  bool IsAnswered() {
    v1::EstimateJobRequest request;
    wire::EncodePlan(Chain(), *request.mutable_plan());
    v1::EstimateJobResponse response;
    return stub_->EstimateJob(NewContext().get(), request, &response).ok();
  }
  std::size_t Count() const { return test::AllOf(hub_).size(); }

  std::unique_ptr<v1::JobService::Stub> stub_;
};

TEST_F(JobServiceOnADisk, CallsThatWaitForTheDiskDelayNoOthers) {
  Start(absl::Hours(1));  // Before that, no record is durable.
  struct Call {
    grpc::ClientContext context;
    v1::SubmitJobRequest request;
    v1::SubmitJobResponse response;
    std::promise<grpc::Status> done;
  };
  std::vector<std::unique_ptr<Call>> calls;
  for (int i = 0; i < 100; ++i) {
    Call& call = *calls.emplace_back(std::make_unique<Call>());
    call.request = Submission("wf-" + std::to_string(i));
    stub_->async()->SubmitJob(&call.context, &call.request, &call.response,
                              [&call](grpc::Status status) { call.done.set_value(status); });
  }
  while (Count() < calls.size() && IsAnswered()) {
  }
  EXPECT_EQ(Count(), calls.size());
  EXPECT_TRUE(IsAnswered());
  for (const auto& call : calls) call->context.TryCancel();
  for (const auto& call : calls) {
    EXPECT_EQ(call->done.get_future().get().error_code(), grpc::StatusCode::CANCELLED);
  }
}

TEST_F(JobServiceOnADisk, ReportsAFailingDisk) {
  Start(absl::ZeroDuration());
  EXPECT_EQ(Submit("before"), grpc::StatusCode::OK);
  disk_->Break(absl::ResourceExhaustedError("no space left"));
  EXPECT_EQ(Submit("meanwhile"), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(Submit("after"), grpc::StatusCode::UNAVAILABLE);
  EXPECT_FALSE(hub_.Find("after").ok());
  EXPECT_EQ(Submit("before"), grpc::StatusCode::OK);
  disk_->Break(absl::OkStatus());
  while (!jobs_->journal().status().ok()) std::this_thread::yield();
  EXPECT_EQ(Submit("meanwhile"), grpc::StatusCode::OK);
  EXPECT_EQ(Submit("after"), grpc::StatusCode::OK);
}

}  // namespace
}  // namespace tidemark::job_service_test
