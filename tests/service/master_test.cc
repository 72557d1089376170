// Tests a real master with real clients on this host. The tests wait for conditions, and a deadline
// expires only if a test fails.
#include "tidemark/master.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include "absl/time/clock.h"
#include "master/service/job_stream.h"
#include "master/store/event_log.h"
#include "proto/wire/encode_event.h"
#include "tests/facts/events.h"
#include "tests/service/eventually.h"
#include "tests/service/streams.h"
#include "tests/test.h"

namespace tidemark::master_test {
namespace {

using test::Eventually;
using test::kCallDeadline;
using test::NewContext;
using Ingest = test::IngestStream;

class Watching : public test::WatchStream {
 public:
  Watching(const std::shared_ptr<grpc::Channel>& channel, const std::string& job_id,
           const std::string& run_uid = "", const std::string& resume_token = "")
      : WatchStream(channel, RequestOf(job_id, run_uid, resume_token)) {}

 private:
  static v1::WatchJobRequest RequestOf(const std::string& job_id, const std::string& run_uid,
                                       const std::string& resume_token) {
    v1::WatchJobRequest request;
    request.set_job_id(job_id);
    request.set_run_uid(run_uid);
    request.set_resume_token(resume_token);
    return request;
  }
};

bool IsFinal(const v1::WatchJobResponse& response) { return response.snapshot().final(); }

class MasterTest : public test::LiveMaster {
 protected:
  MasterTest() { options_.agent_flush_interval = absl::Milliseconds(250); }
  void SetUp() override { Start(); }
  void Start() {
    LiveMaster::Start();
    channel_ = NewChannel();
  }
  // Returns a channel with its own connection.
  std::shared_ptr<grpc::Channel> NewChannel() const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetMaxReceiveMessageSize(-1);
    return grpc::CreateCustomChannel(master_->address(), grpc::InsecureChannelCredentials(),
                                     arguments);
  }
  // Opens a job through a stream that remains open.
  std::unique_ptr<Ingest> OpenJob(Source& source) {
    auto ingest = std::make_unique<Ingest>(channel_);
    const Event opened = source.At(0, Opened(1, 1));
    EXPECT_TRUE(ingest->Send(opened));
    EXPECT_THAT(ingest->Answered(1, opened.source_id, opened.job_id), IsEmpty());
    return ingest;
  }
  void OpenAndClose(const std::string& job_id) {
    Source source("app-master", job_id);
    const auto ingest = OpenJob(source);
    EXPECT_TRUE(ingest->Send(source.At(1, Closed())));
    AwaitFinal(job_id);
  }
  std::uint64_t NewestSequence(const std::string& job_id = "job-1") const {
    const auto snapshot = master_->GetJob(job_id);
    return snapshot.ok() ? snapshot->sequence : 0;
  }
};

// A master with a running job whose source has a stream.
class RunningJobTest : public MasterTest {
 protected:
  void SetUp() override {
    MasterTest::SetUp();
    ingest_ = OpenJob(source_);
  }

  Source source_;
  std::unique_ptr<Ingest> ingest_;
};

// --- runs of a job id

TEST_F(MasterTest, AWatcherReceivesOneRunOnly) {
  Source first("app-master", "job-1", "a");
  const auto ingest = OpenJob(first);
  EXPECT_TRUE(ingest->Send(first.At(1, Closed())));
  AwaitFinal("job-1");
  Watching too_early(channel_, "job-1", "b");
  EXPECT_THAT(too_early.ReadAll(), IsEmpty());
  EXPECT_EQ(too_early.Finish().error_code(), grpc::StatusCode::NOT_FOUND);
  const std::string token = Watching(channel_, "job-1", "a").ReadAll().at(0).resume_token();

  Source second("app-master", "job-1", "b");
  const auto next = OpenJob(second);
  Watching in_time(channel_, "job-1", "b");
  v1::WatchJobResponse response;
  ASSERT_TRUE(in_time.Read(response));
  EXPECT_EQ(response.snapshot().run_uid(), "b");
  EXPECT_EQ(response.snapshot().state(), v1::JOB_STATE_RUNNING);
  Watching resumed(channel_, "job-1", "", token);
  ASSERT_TRUE(resumed.Read(response));
  EXPECT_TRUE(response.restarted());
  EXPECT_THAT(Watching(channel_, "job-1", "a").ReadAll(), IsEmpty());
  resumed.Cancel();
}

TEST_F(MasterTest, ACallbackReceivesOneRunOnly) {
  std::mutex mutex;
  std::vector<std::string> runs;
  const auto watch = master_->Watch("job-1", [&](const Snapshot& snapshot) {
    const std::lock_guard lock(mutex);
    if (runs.empty() || runs.back() != snapshot.run_uid) runs.push_back(snapshot.run_uid);
  });
  for (const char* run : {"a", "b"}) {
    Source source("app-master", "job-1", run);
    const auto ingest = OpenJob(source);
    EXPECT_TRUE(ingest->Send(source.At(1, Closed())));
    EXPECT_TRUE(Eventually([&] {
      const auto now = master_->GetJob("job-1");
      return now.ok() && now->run_uid == run && now->is_final;
    }));
  }
  OpenAndClose("another");  // All responses about job-1 were sent.
  const std::lock_guard lock(mutex);
  EXPECT_THAT(runs, ElementsAre("a"));
}

// --- ingest

TEST_F(MasterTest, AcceptsEventsOfItsProcess) {
  Source source;
  EXPECT_TRUE(master_->Report(source.At(0, Opened(1, 1))).ok());
  EXPECT_TRUE(master_->Report(source.At(1, Started(M(0)))).ok());
  EXPECT_EQ(master_->Report(source.At(2, Started(M(1)))).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(master_->Report(source.At(3, Closed())).ok());
  const auto final = master_->WaitUntilFinal("job-1", absl::FromChrono(kCallDeadline)).value();
  EXPECT_EQ(final.state, JobState::kSucceeded);
}

TEST_F(RunningJobTest, SendsControlMessagesInTheFirstResponseOnly) {
  EXPECT_EQ(ingest_->control().flush_interval().seconds(), 0);
  EXPECT_EQ(ingest_->control().flush_interval().nanos(), 250'000'000);
  EXPECT_EQ(ingest_->control().lambda(), 2000u);
  EXPECT_TRUE(ingest_->Send(source_.At(1, Started(M(0)))));
  v1::StreamEventsResponse response;
  ASSERT_TRUE(ingest_->Read(response));
  EXPECT_FALSE(response.has_control());
}

TEST_F(RunningJobTest, RequestsKeyGroupsByName) {
  EXPECT_FALSE(ingest_->control().has_named_group_bytes_min());
  EXPECT_TRUE(ingest_->Send(source_.At(1, Emitted(M(0), {Partition(0, 900, {Key(1, 321)})}))));
  EXPECT_TRUE(ingest_->Send(source_.At(1, Finished(M(0)))));
  ingest_->Answered(3);
  EXPECT_EQ(ingest_->control().named_group_bytes_min(), 321u);
}

TEST_F(MasterTest, NamesEveryRejectedEventAndContinues) {
  Source source;
  const auto ingest = std::make_unique<Ingest>(channel_);
  EXPECT_TRUE(ingest->Send(source.At(0, Started(M(0)))));  // The job is not open.
  EXPECT_TRUE(ingest->Send(source.At(0, Opened(1, 1))));   // This event is valid.
  EXPECT_TRUE(ingest->Send(source.At(0, Started(M(5)))));  // This task does not exist.
  v1::StreamEventsRequest malformed;
  wire::EncodeRequest(source.At(0, Started(M(0))), malformed);
  malformed.mutable_events(0)->mutable_attempt_changed()->clear_attempt();
  EXPECT_TRUE(ingest->Send(malformed));
  EXPECT_TRUE(ingest->Send(source.At(0, Started(M(0)))));  // This event is valid.
  const std::vector<v1::Rejection> rejections = ingest->Answered(5);
  ASSERT_EQ(rejections.size(), 3u);
  EXPECT_EQ(rejections[0].sequence(), 1u);
  EXPECT_EQ(rejections[0].code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(rejections[0].reason(), "job job-1 is not open; send JobOpened first");
  EXPECT_EQ(rejections[1].sequence(), 3u);
  EXPECT_EQ(rejections[1].code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(rejections[1].reason(), "task 5 of stage 0 does not exist: the stage has 1 tasks");
  EXPECT_EQ(rejections[2].sequence(), 4u);
  EXPECT_EQ(rejections[2].code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(MasterTest, ABatchWithoutASourceEndsItsStream) {
  Ingest ingest(channel_);
  v1::StreamEventsRequest batch;
  wire::EncodeRequest(Source().At(0, Opened(1, 1)), batch);
  batch.clear_sources();
  EXPECT_TRUE(ingest.Send(batch));
  const grpc::Status status = ingest.End();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("handle 0, which has no source"));
}

TEST_F(MasterTest, AHandleIsOneSourceAsLongAsTheStreamLasts) {
  Ingest ingest(channel_);
  v1::StreamEventsRequest batch;
  wire::EncodeRequest(Source("first").At(0, Opened(1, 1)), batch, 7);
  EXPECT_TRUE(ingest.Send(batch));
  EXPECT_TRUE(ingest.Send(batch)) << "the same again";
  wire::EncodeRequest(Source("second").At(0, Opened(1, 1)), batch, 7);
  EXPECT_TRUE(ingest.Send(batch));
  v1::StreamEventsResponse response;
  while (ingest.Read(response)) EXPECT_EQ(response.rejections_size(), 0);
  EXPECT_THAT(ingest.Finish().error_message(),
              HasSubstr("handle 7 is already source first of job job-1"));
}

TEST_F(MasterTest, RejectsTheEventsOfASourceWithInvalidIdsAndContinues) {
  const std::string id(100'000, 'x');
  const std::pair<Source, const char*> faulty[] = {
      {Source(id), "source_id has 100000 bytes; send 1 to 128"},
      {Source("s", id), "job_id has 100000 bytes; send 1 to 256"},
      {Source("s", "j\n"), "job_id contains control characters; remove them"},
      {Source("s", "j", id), "run_uid has 100000 bytes; send 0 to 128"}};
  for (auto [source, reason] : faulty) {
    Ingest ingest(channel_);
    v1::StreamEventsRequest batch;
    wire::EncodeRequest(source.At(0, Opened(1, 1)), batch, 7);
    EXPECT_TRUE(ingest.Send(batch));
    batch.clear_events();
    EXPECT_TRUE(ingest.Send(batch)) << "the source is opened again";
    v1::StreamEventsResponse response;
    do {
      ASSERT_TRUE(ingest.Read(response));
    } while (response.rejections_size() == 0);
    EXPECT_EQ(response.handle(), 7u);
    EXPECT_EQ(response.rejections(0).code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_THAT(response.rejections(0).reason(), HasSubstr(reason));
    Source valid("valid", "valid");
    EXPECT_TRUE(ingest.Send(valid.At(0, Opened(1, 1))));
    EXPECT_THAT(ingest.Answered(1, "valid", "valid"), IsEmpty());
    ingest.WritesDone();
  }
}

// The journal checks its space between batches.
TEST_F(RunningJobTest, ABatchOfTooManyEventsEndsItsStreamWithoutEffect) {
  v1::StreamEventsRequest batch;
  wire::EncodeRequest(source_.At(1, Started(M(0))), batch);
  while (batch.events_size() < 10'000) batch.add_events()->CopyFrom(batch.events(0));
  EXPECT_TRUE(ingest_->Send(batch));
  EXPECT_THAT(ingest_->Answered(10'001), IsEmpty());
  batch.set_first_sequence(10'002);
  batch.add_events()->CopyFrom(batch.events(0));
  EXPECT_TRUE(ingest_->Send(batch));
  const grpc::Status status = ingest_->End();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(), "10001 events in one message; send at most 10000");
}

TEST_F(RunningJobTest, CountsTheRejectedEventsThatItDoesNotName) {
  v1::StreamEventsRequest batch;
  wire::EncodeRequest(source_.At(1, Started(M(99))), batch);  // This task does not exist.
  while (batch.events_size() < 300) batch.add_events()->CopyFrom(batch.events(0));
  EXPECT_TRUE(ingest_->Send(batch));
  std::uint64_t refused = 0;
  v1::StreamEventsResponse response;
  while (response.accepted_sequence() < 301 && ingest_->Read(response)) {
    refused +=
        static_cast<std::uint64_t>(response.rejections_size()) + response.unnamed_rejections();
  }
  EXPECT_EQ(refused, 300u);
}

TEST_F(MasterTest, ASourceOfAnEndedRunReceivesNoRequests) {
  Source source("app-master", "job-1", "run-1");
  Ingest ingest(channel_);
  EXPECT_TRUE(ingest.Send(source.At(0, Opened(1, 1))));
  EXPECT_TRUE(ingest.Send(source.At(1, Emitted(M(0), {Partition(0, 900, {Key(1, 321)})}))));
  EXPECT_TRUE(ingest.Send(source.At(1, Finished(M(0)))));
  EXPECT_TRUE(ingest.Send(source.At(2, Closed())));
  ingest.Answered(4);
  ASSERT_EQ(ingest.control().named_group_bytes_min(), 321u);
  ASSERT_TRUE(Eventually([&] { return master_->GetJob("job-1")->is_final; }));
  Ingest next(NewChannel());
  EXPECT_TRUE(next.Send(Source("app-master", "job-1", "run-2").At(3, Opened(1, 1))));
  EXPECT_THAT(next.Answered(1), IsEmpty());
  EXPECT_TRUE(ingest.Send(source.At(4, Started(M(0)))));
  EXPECT_EQ(ingest.Answered(5).size(), 1u);
  EXPECT_EQ(ingest.control().named_group_bytes_min(), 321u);
}

TEST_F(MasterTest, AcceptsABatchAndNamesItsRejectedEvents) {
  Source source;
  Ingest ingest(channel_);
  v1::StreamEventsRequest batch;
  wire::EncodeRequest(source.At(0, Opened(1, 1)), batch);
  wire::EncodeBody(Started(M(5)), *batch.add_events());  // This task does not exist.
  wire::EncodeBody(Started(M(0)), *batch.add_events());
  EXPECT_TRUE(ingest.Send(batch));
  const std::vector<v1::Rejection> rejections = ingest.Answered(3);
  ASSERT_EQ(rejections.size(), 1u);
  EXPECT_EQ(rejections[0].sequence(), 2u);
  EXPECT_TRUE(Eventually([&] { return NewestSequence() > 0; }));
}

TEST_F(MasterTest, AsksASenderOfVersion01ToUpdate) {
  Ingest ingest(channel_);
  v1::StreamEventsRequest old;
  // StreamEventsRequest.envelope of version 0.1, with a source_id.
  ASSERT_TRUE(old.ParseFromString(std::string("\x0a\x03\x0a\x01s", 5)));
  EXPECT_TRUE(ingest.Send(old));
  const grpc::Status status = ingest.End();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), HasSubstr("protocol of Tidemark 0.1"));
}

TEST_F(MasterTest, AsksForPointsOnlyIfAnIndicatorIsMadeOfThem) {
  for (const char* indicator : {"tidemark", "nearestfit"}) {
    options_.job.indicators = {indicator};
    Start();
    Source source;
    EXPECT_EQ(OpenJob(source)->control().send_points(), indicator == std::string("nearestfit"));
  }
}

TEST_F(RunningJobTest, AnswersEverySourceOfOneStreamAlone) {
  Source relayed("m-0");
  EXPECT_TRUE(ingest_->Send(relayed.At(1, Started(M(0)))));
  EXPECT_TRUE(ingest_->Send(relayed.At(2, Finished(M(0)))));
  EXPECT_THAT(ingest_->Answered(2, "m-0"), IsEmpty());
  EXPECT_TRUE(ingest_->Send(source_.At(3, Closed())));
  EXPECT_THAT(ingest_->Answered(2), IsEmpty());
}

TEST_F(MasterTest, ResendingOnANewStreamIsHarmless) {
  Source source;
  const std::vector<Event> events = {source.At(0, Opened(1, 1)), source.At(1, Started(M(0))),
                                     source.At(2, Finished(M(0)))};
  for (int stream = 0; stream < 2; ++stream) {
    Ingest ingest(channel_);
    for (const Event& event : events) EXPECT_TRUE(ingest.Send(event));
    EXPECT_THAT(ingest.Answered(3), IsEmpty());
    ingest.WritesDone();
    EXPECT_TRUE(ingest.Finish().ok());
  }
  ASSERT_TRUE(Eventually([&] { return NewestSequence() > 0; }));
  const Coverage coverage = *master_->GetJob("job-1")->coverage;
  EXPECT_EQ(coverage.lost_events, 0u);
  EXPECT_EQ(coverage.anomalies, 0u);
}

TEST_F(MasterTest, ASourceThatClosesItsSideStillReceivesAcknowledgements) {
  Source source;
  Ingest ingest(channel_);
  EXPECT_TRUE(ingest.Send(source.At(0, Opened(50, 1))));
  for (std::uint32_t i = 0; i < 50; ++i) EXPECT_TRUE(ingest.Send(source.At(1, Started(M(i)))));
  ingest.WritesDone();
  std::uint64_t accepted = 0;
  v1::StreamEventsResponse response;
  while (ingest.Read(response)) accepted = response.accepted_sequence();
  EXPECT_EQ(accepted, 51u);
  EXPECT_TRUE(ingest.Finish().ok());
}

TEST_F(MasterTest, AMessageOverTheLimitEndsItsStreamAndNoOther) {
  options_.message_bytes_max = 10'000;
  Start();
  Source source;
  const auto ingest = OpenJob(source);
  Ingest large(NewChannel());
  Source other("other");
  JobOpened opened = Opened(1, 1);
  opened.name = std::string(20'000, 'x');
  large.Send(other.At(0, opened));
  EXPECT_EQ(large.End().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(ingest->Send(source.At(1, Started(M(0)))));
  EXPECT_THAT(ingest->Answered(2), IsEmpty());
}

// --- calls and watches

grpc::StatusCode CodeOf(const grpc::Status& status) { return status.error_code(); }

// Clients of version 0.1 call this method.
TEST_F(MasterTest, AnswersAnUnknownMethodWithAMessage) {
  grpc::GenericStub stub(channel_);
  const auto context = NewContext();
  const grpc::Slice empty;
  const grpc::ByteBuffer nothing(&empty, 1);
  grpc::ByteBuffer answer;
  std::promise<grpc::Status> done;
  stub.UnaryCall(context.get(), "/tidemark.v1.WatchService/Watch", {}, &nothing, &answer,
                 [&](grpc::Status status) { done.set_value(std::move(status)); });
  const grpc::Status status = done.get_future().get();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_THAT(status.error_message(), HasSubstr("has no method /tidemark.v1.WatchService/Watch"));
}

TEST_F(RunningJobTest, ASlowReaderMissesSnapshotsButNotTheFinalOne) {
  Watching watching(channel_, "job-1");
  ASSERT_TRUE(Eventually([&] { return NewestSequence() >= 20; }));
  EXPECT_TRUE(ingest_->Send(source_.At(1, Closed())));
  AwaitFinal("job-1");
  const std::vector<v1::WatchJobResponse> responses = watching.ReadAll();
  ASSERT_FALSE(responses.empty());
  EXPECT_TRUE(IsFinal(responses.back()));
  EXPECT_TRUE(watching.Finish().ok());
}

TEST_F(RunningJobTest, AKilledWatcherAffectsNoOther) {
  Watching stays(channel_, "job-1");
  for (int i = 0; i < 20; ++i) {
    Watching killed(NewChannel(), "job-1");
    v1::WatchJobResponse response;
    EXPECT_TRUE(killed.Read(response));
    killed.Cancel();
    killed.ReadAll();
    EXPECT_EQ(CodeOf(killed.Finish()), grpc::StatusCode::CANCELLED);
  }
  EXPECT_TRUE(ingest_->Send(source_.At(1, Closed())));
  EXPECT_TRUE(IsFinal(stays.ReadAll().back()));
  EXPECT_TRUE(stays.Finish().ok());
}

TEST_F(MasterTest, LimitsItsWatchers) {
  options_.watchers_max = 1;
  Start();
  Source source;
  const auto ingest = OpenJob(source);
  Watching one(channel_, "job-1");
  v1::WatchJobResponse response;
  ASSERT_TRUE(one.Read(response));
  Watching two(channel_, "job-1");
  EXPECT_FALSE(two.Read(response));
  EXPECT_EQ(CodeOf(two.Finish()), grpc::StatusCode::RESOURCE_EXHAUSTED);
  one.Cancel();
  EXPECT_TRUE(Eventually([&] {
    Watching three(channel_, "job-1");
    return three.Read(response);
  })) << "the place of one who left is free";
}

// All watches that begin while their job ends receive its final snapshot.
TEST_F(MasterTest, NoWatchMissesTheFinalSnapshotHoweverLateItBegins) {
  for (int round = 0; round < 10; ++round) {
    const std::string job_id = "job-" + std::to_string(round);
    Source source("app-master", job_id);
    const auto ingest = OpenJob(source);
    std::vector<std::thread> watchers;
    std::atomic<int> finals = 0;
    for (int i = 0; i < 4; ++i) {
      watchers.emplace_back([&] {
        for (int j = 0; j < 10; ++j) {
          Watching watching(channel_, job_id);
          const auto responses = watching.ReadAll();
          finals += !responses.empty() && IsFinal(responses.back()) ? 1 : 0;
        }
      });
    }
    EXPECT_TRUE(ingest->Send(source.At(1, Closed())));
    for (std::thread& watcher : watchers) watcher.join();
    ASSERT_EQ(finals, 40);
  }
}

// --- watching and waiting within the process

TEST_F(MasterTest, CallsBackWithEverySnapshotInOrderAndTheFinalOneLast) {
  std::mutex mutex;
  std::vector<Snapshot> seen;
  const auto subscription = master_->Watch("job-1", [&](const Snapshot& snapshot) {
    const std::lock_guard lock(mutex);
    seen.push_back(snapshot);
  });
  OpenAndClose("job-1");
  const auto is_over = [&] {
    const std::lock_guard lock(mutex);
    return !seen.empty() && seen.back().is_final;
  };
  ASSERT_TRUE(Eventually(is_over));
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i].sequence, i + 1);
  EXPECT_EQ(seen.back(), *master_->GetJob("job-1"));
}

TEST_F(MasterTest, CallsNoEndedSubscription) {
  std::atomic<int> calls = 0;
  auto subscription = master_->Watch("job-1", [&](const Snapshot&) { ++calls; });
  Source source;
  const auto ingest = OpenJob(source);
  ASSERT_TRUE(Eventually([&] { return calls > 0; }));
  subscription->reset();
  const int calls_then = calls;
  const std::uint64_t then = NewestSequence();
  ASSERT_TRUE(Eventually([&] { return NewestSequence() > then + 2; }));
  EXPECT_EQ(calls, calls_then);
}

TEST_F(MasterTest, ASubscriptionMayEndWithinItsOwnCall) {
  std::mutex mutex;
  std::unique_ptr<Master::Subscription> subscription;
  std::atomic<int> calls = 0;
  {
    const std::lock_guard lock(mutex);
    subscription = *master_->Watch("job-1", [&](const Snapshot&) {
      const std::lock_guard until_it_is_there(mutex);
      ++calls;
      subscription.reset();
    });
  }
  Source source;
  const auto ingest = OpenJob(source);
  ASSERT_TRUE(Eventually([&] { return calls > 0; }));
  // The master continues to tick this job and other jobs.
  const std::uint64_t then = NewestSequence();
  ASSERT_TRUE(Eventually([&] { return NewestSequence() > then + 2; }));
  OpenAndClose("job-2");
  EXPECT_EQ(calls, 1);
}

TEST_F(MasterTest, RejectsAWatcherOverTheLimitWithItsName) {
  options_.watchers_max = 1;
  Start();
  const auto first = master_->Watch("job-1", [](const Snapshot&) {}).value();
  const auto refused = master_->Watch("job-1", [](const Snapshot&) {});
  EXPECT_TRUE(absl::IsResourceExhausted(refused.status())) << refused.status();
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("at most 1 watchers"));
}

TEST_F(MasterTest, ASubscriptionMayOutliveItsMaster) {
  const auto subscription = master_->Watch("job-1", [](const Snapshot&) {});
  master_.reset();
}

TEST_F(RunningJobTest, WaitsForTheFinalSnapshotNoLongerThanItsTimeout) {
  EXPECT_TRUE(
      absl::IsDeadlineExceeded(master_->WaitUntilFinal("job-1", absl::Milliseconds(30)).status()));
  EXPECT_TRUE(
      absl::IsDeadlineExceeded(master_->WaitUntilFinal("nobody", absl::ZeroDuration()).status()));
  EXPECT_TRUE(ingest_->Send(source_.At(1, Closed())));
  const auto snapshot = master_->WaitUntilFinal("job-1", absl::InfiniteDuration()).value();
  EXPECT_EQ(snapshot.state, JobState::kSucceeded);
}

TEST_F(MasterTest, ListsItsJobs) {
  for (const char* id : {"a", "b"}) OpenAndClose(id);
  ASSERT_EQ(master_->ListJobs().size(), 2u);
  EXPECT_EQ(master_->ListJobs()[0].job_id, "b");
  EXPECT_TRUE(absl::IsNotFound(master_->GetJob("nobody").status()));
}

// --- starting

TEST_F(MasterTest, ReportsItsPort) {
  EXPECT_THAT(master_->address(), ::testing::MatchesRegex("127\\.0\\.0\\.1:[1-9][0-9]*"));
}

TEST_F(MasterTest, ServesOnAUnixSocket) {
  options_.listen_address = "unix:" + (directory_ / "socket");
  Start();
  EXPECT_EQ(master_->address(), options_.listen_address);
  OpenAndClose("job-1");
  const auto second = Master::Start(options_);
  EXPECT_TRUE(absl::IsUnavailable(second.status())) << "the socket stays the first master's";
  OpenAndClose("job-2");
}

TEST_F(MasterTest, APortInUseIsUnavailable) {
  options_.listen_address = master_->address();
  const auto second = Master::Start(options_);
  EXPECT_TRUE(absl::IsUnavailable(second.status())) << second.status();
  EXPECT_THAT(std::string(second.status().message()), HasSubstr(master_->address()));
}

struct BadOptions {
  const char* name;
  std::function<void(MasterOptions&)> spoil;
  const char* reason;
};
class MasterBadOptions : public ::testing::TestWithParam<BadOptions> {};

TEST_P(MasterBadOptions, RejectsInvalidOptionsWithTheReason) {
  MasterOptions options;
  GetParam().spoil(options);
  const auto master = Master::Start(options);
  EXPECT_TRUE(absl::IsInvalidArgument(master.status())) << master.status();
  EXPECT_THAT(std::string(master.status().message()), HasSubstr(GetParam().reason));
}

const BadOptions kBadOptions[] = {
    {"RemoteAddress", [](auto& o) { o.listen_address = "0.0.0.0:0"; }, "TLS"},
    {"NoAddress", [](auto& o) { o.listen_address = ""; }, "listen address"},
    {"TickTooShort", [](auto& o) { o.tick_interval_min = absl::Milliseconds(9); },
     "tick_interval_min"},
    {"TickIntervalsReversed",
     [](auto& o) {
       o.tick_interval = absl::Milliseconds(10), o.tick_interval_min = absl::Milliseconds(20);
     },
     "tick_interval_min"},
    {"NoJobs", [](auto& o) { o.jobs_max = 0; }, "jobs_max"},
    {"UnknownIndicator", [](auto& o) { o.job.indicators = {"oracle"}; }, "oracle"},
};

INSTANTIATE_TEST_SUITE_P(All, MasterBadOptions, testing::ValuesIn(kBadOptions),
                         [](const auto& row) { return std::string(row.param.name); });

TEST_F(MasterTest, ServesARemoteAddressIfAllowed) {
  options_.listen_address = "0.0.0.0:0";
  options_.allow_insecure_remote = true;
  EXPECT_TRUE(Master::Start(options_).ok());
}

// Calls grpc.health.v1.Health/Check without generated code. Field 1 of the request is the service.
// Field 1 of the response is its state, where 1 is SERVING.
std::string HealthOf(const std::string& service, const std::shared_ptr<grpc::Channel>& channel) {
  const std::string request =
      service.empty() ? "" : "\x0a" + std::string(1, static_cast<char>(service.size())) + service;
  const grpc::Slice slice(request);
  const grpc::ByteBuffer buffer(&slice, 1);
  grpc::GenericStub stub(channel);
  grpc::CompletionQueue queue;
  const auto context = NewContext();
  const auto call =
      stub.PrepareUnaryCall(context.get(), "/grpc.health.v1.Health/Check", buffer, &queue);
  call->StartCall();
  grpc::ByteBuffer response;
  grpc::Status status;
  call->Finish(&response, &status, nullptr);
  void* tag;
  bool ok;
  queue.Next(&tag, &ok);
  if (!status.ok()) return status.error_message();
  grpc::Slice answer;
  if (!response.DumpToSingleSlice(&answer).ok()) return "unreadable";
  return {reinterpret_cast<const char*>(answer.begin()), answer.size()};
}

TEST_F(MasterTest, ReportsThatItIsHealthy) {
  for (const char* service : {"", "tidemark.v1.IngestService", "tidemark.v1.JobService"}) {
    EXPECT_EQ(HealthOf(service, channel_), "\x08\x01") << service;
  }
}

// --- ending

TEST_F(RunningJobTest, ShutdownEndsWatchesWithUnavailable) {
  std::vector<std::unique_ptr<Watching>> watchers;
  for (int i = 0; i < 5; ++i) {
    watchers.push_back(std::make_unique<Watching>(channel_, "job-1"));
    v1::WatchJobResponse response;
    ASSERT_TRUE(watchers.back()->Read(response));
  }
  const absl::Time before = absl::Now();
  master_->Shutdown(absl::Milliseconds(100));
  EXPECT_LT(absl::Now() - before, absl::FromChrono(kCallDeadline));
  for (const auto& watcher : watchers) {
    watcher->ReadAll();
    const grpc::Status status = watcher->Finish();
    EXPECT_EQ(CodeOf(status), grpc::StatusCode::UNAVAILABLE) << status.error_message();
    EXPECT_THAT(status.error_message(), HasSubstr("shutting down"));
  }
}

// This shutdown has no time limit, so an open stream would block it forever.
TEST_F(RunningJobTest, ShutdownEndsStreamsOfSourcesAtOnceAndStatesWhy) {
  master_->Shutdown(absl::InfiniteDuration());
  const grpc::Status status = ingest_->End();
  EXPECT_EQ(CodeOf(status), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(status.error_message(), HasSubstr("shutting down"));
}

TEST_F(RunningJobTest, ShutdownDoesNotWaitForASleepingReader) {
  Watching sleeps(channel_, "job-1");
  ASSERT_TRUE(Eventually([&] { return NewestSequence() >= 5; }));
  const absl::Time before = absl::Now();
  master_->Shutdown(absl::ZeroDuration());
  EXPECT_LT(absl::Now() - before, absl::FromChrono(kCallDeadline));
}

TEST_F(MasterTest, ShutdownMayBeCalledTwiceAndWithoutALimit) {
  master_->Shutdown(absl::InfiniteDuration());
  master_->Shutdown(absl::ZeroDuration());
}

TEST_F(MasterTest, ShutdownWakesWaiters) {
  absl::Status status;
  std::thread waits(
      [&] { status = master_->WaitUntilFinal("job-1", absl::InfiniteDuration()).status(); });
  master_->Shutdown(absl::ZeroDuration());
  waits.join();
  EXPECT_TRUE(absl::IsUnavailable(status));
}

// --- event logs

TEST_F(MasterTest, WritesALogThatReplaysToTheFinalSnapshot) {
  options_.event_log_dir = directory_.path();
  Start();
  OpenAndClose("job-1");
  auto reader =
      store::EventLogReader::Open(store::EventLogPath(directory_.path(), "job-1")).value();
  JobMonitor monitor(reader->job_id(), reader->options());
  Snapshot last;
  for (auto record = reader->Next(); record.ok() && record->has_value(); record = reader->Next()) {
    if (store::Replay(**record, monitor)) last = monitor.job();
  }
  EXPECT_EQ(last, *master_->GetJob("job-1"));
}

}  // namespace
}  // namespace tidemark::master_test
