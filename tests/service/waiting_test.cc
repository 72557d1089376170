// Tests which parts of a master wait for other parts. The tables below the services block estimates
// and deliveries on demand. The clients are real and run on this host. The tests wait for
// conditions, and a deadline expires only if a test fails.
#include <grpcpp/grpcpp.h>

#include "absl/time/clock.h"
#include "tests/barrier.h"
#include "tests/facts/events.h"
#include "tests/service/eventually.h"
#include "tests/service/service_on_a_disk.h"
#include "tests/service/streams.h"
#include "tests/test.h"

namespace tidemark::service::waiting_test {
namespace {

using test::Barrier;
using test::Eventually;
using test::NewContext;

// A stream of one source.
class Agent : public test::IngestStream {
 public:
  Agent(const std::shared_ptr<grpc::Channel>& channel, const std::string& source_id,
        const std::string& job_id)
      : IngestStream(channel), source_(source_id, job_id) {}

  void Send(EventBody body) {
    EXPECT_TRUE(IngestStream::Send(source_.At(0, std::move(body))));
    ++sent_;
  }
  // Sends many events in one message.
  void SendBatch(const std::vector<EventBody>& bodies) {
    v1::StreamEventsRequest batch;
    wire::EncodeRequest(source_.At(0, bodies[0]), batch);
    for (std::size_t i = 1; i < bodies.size(); ++i) {
      wire::EncodeBody(bodies[i], *batch.add_events());
      source_.At(0, bodies[i]);
    }
    sent_ += bodies.size();
    EXPECT_TRUE(IngestStream::Send(batch));
  }
  // Returns true if the master acknowledges all sent events before the deadline.
  bool IsAcknowledged() {
    v1::StreamEventsResponse response;
    while (acknowledged_ < sent_) {
      if (!Read(response)) return false;
      acknowledged_ = std::max(acknowledged_, response.accepted_sequence());
    }
    return true;
  }

 private:
  Source source_;
  std::uint64_t sent_ = 0;
  std::uint64_t acknowledged_ = 0;
};

v1::WatchJobRequest WatchOf(const std::string& job_id, bool deltas, const std::string& token) {
  v1::WatchJobRequest request;
  request.set_job_id(job_id);
  request.set_deltas(deltas);
  request.set_resume_token(token);
  return request;
}

// A client that watches a job and reads only on request.
class Reader : public test::WatchStream {
 public:
  Reader(const std::shared_ptr<grpc::Channel>& channel, const std::string& job_id,
         bool deltas = false, const std::string& token = "")
      : WatchStream(channel, WatchOf(job_id, deltas, token)) {}

  // Reads up to the given snapshot. Returns false if the stream ended earlier.
  bool ReadUpTo(std::uint64_t sequence) {
    while (newest_.snapshot().sequence() < sequence) {
      if (!Read(newest_)) return false;
    }
    return true;
  }
  const std::string& token() const { return newest_.resume_token(); }

 private:
  v1::WatchJobResponse newest_;
};

class Waiting : public test::ServiceOnADisk {
 protected:
  Waiting() : ServiceOnADisk(*Tokens::Load(""), std::size_t{1} << 20) {}
  void SetUp() override {
    Start({.journal = {.commit_interval = absl::ZeroDuration()},
           .past_runs =
               [this](const std::string& name, const store::Reported&) {
                 if (name == "slow") slow_.Pass();
                 return std::vector<PastRun>();
               },
           .pace = {.interval = absl::ZeroDuration(), .interval_min = absl::ZeroDuration()}});
  }
  // Returns a new connection, which buffers little.
  std::shared_ptr<grpc::Channel> NewChannel() const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 64 << 10);
    arguments.SetMaxReceiveMessageSize(-1);
    return grpc::CreateCustomChannel(address_, grpc::InsecureChannelCredentials(), arguments);
  }
  // Publishes a snapshot with `stages` stages, each of which has a unique name.
  void Publish(const std::string& job_id, std::uint64_t sequence, std::uint32_t stages) {
    auto snapshot = std::make_shared<Snapshot>(
        Snapshot{.job_id = job_id, .sequence = sequence, .state = JobState::kRunning});
    snapshot->info = JobInfo{.name = job_id};
    for (std::uint32_t stage = 0; stage < stages; ++stage) {
      snapshot->stage_infos.push_back(
          {.id = {0, stage}, .name = std::string(90, 'x') + std::to_string(stage)});
      snapshot->stages.push_back({.id = {0, stage}});
    }
    const PublishedJob job{snapshot, 1};
    if (!hub_.IsCurrent(job)) {
      EXPECT_TRUE(hub_.Enter(job).ok());
    }
    hub_.Publish(job);
    hub_.EndRound();
  }

  Barrier slow_;  // blocks the first estimate of jobs named "slow"
};

// Two jobs. The estimate of slow-1 is in progress.
class WaitingForAnEstimate : public Waiting {
 protected:
  void SetUp() override {
    Waiting::SetUp();
    calm_ = Open("calm", {});
    slow_agent_ = Open("slow", MapReduceStages(100, 1));
    ticker_ = std::thread([this] { jobs_->TickDue(clock_.Now()); });
    slow_.AwaitReached();
  }
  std::unique_ptr<Agent> Open(const std::string& name, std::vector<StageOpened> stages) {
    auto agent = std::make_unique<Agent>(NewChannel(), "app-master", name + "-1");
    agent->Send(JobOpened{.name = name, .stages = std::move(stages)});
    EXPECT_TRUE(agent->IsAcknowledged());
    return agent;
  }
  void EndEstimate() {
    slow_.Open();
    ticker_.join();
  }

  std::unique_ptr<Agent> calm_;
  std::unique_ptr<Agent> slow_agent_;
  std::thread ticker_;
};

TEST_F(WaitingForAnEstimate, EventsOfAJobAreAcknowledgedWhileAnotherIsEstimated) {
  // During the estimate of the job, more streams report about it than gRPC has threads.
  std::vector<std::unique_ptr<Agent>> agents;
  for (std::uint32_t i = 0; i < 40; ++i) {
    agents.push_back(std::make_unique<Agent>(NewChannel(), "task-" + std::to_string(i), "slow-1"));
    agents.back()->Send(Started(M(i)));
  }
  for (std::uint32_t i = 0; i < 100; ++i) {
    calm_->Send(TaskHeartbeat{.attempt = M(0), .bytes_done = i});
    ASSERT_TRUE(calm_->IsAcknowledged());
  }
  EndEstimate();
  for (const auto& agent : agents) EXPECT_TRUE(agent->IsAcknowledged());
  jobs_->TickDue(clock_.Now());
  EXPECT_EQ(jobs_->Newest("slow-1")->counts.running_tasks, 40u) << "all were taken, each once";
}

TEST_F(WaitingForAnEstimate, CallsAboutAJobThatIsEstimatedDelayNoOtherCalls) {
  // Lists of the job's tasks and forecasts wait for the estimate.
  std::vector<std::future<grpc::Status>> lists;
  for (int i = 0; i < 8; ++i) {
    lists.push_back(std::async(std::launch::async, [this, i] {
      const auto stub = v1::JobService::NewStub(NewChannel());
      if (i % 2 == 0) {
        v1::ListTasksRequest request;
        request.set_job_id("slow-1");
        v1::ListTasksResponse response;
        return stub->ListTasks(NewContext().get(), request, &response);
      }
      v1::ListForecastsRequest request;
      request.set_job_id("slow-1");
      v1::ListForecastsResponse response;
      return stub->ListForecasts(NewContext().get(), request, &response);
    }));
  }
  // Meanwhile, the threads that compute answers serve other calls.
  Publish("read-1", 1, 1);
  for (int i = 0; i < 20; ++i) {
    v1::GetJobRequest request;
    request.set_job_id("read-1");
    v1::GetJobResponse response;
    const auto got =
        v1::JobService::NewStub(NewChannel())->GetJob(NewContext().get(), request, &response);
    ASSERT_TRUE(got.ok()) << got.error_message();
    absl::SleepFor(absl::Milliseconds(10));  // lets lists arrive
  }
  calm_->Send(TaskHeartbeat{.attempt = M(0), .bytes_done = 1});
  EXPECT_TRUE(calm_->IsAcknowledged());
  v1::GetServerInfoResponse info;
  EXPECT_TRUE(
      v1::JobService::NewStub(NewChannel())->GetServerInfo(NewContext().get(), {}, &info).ok());
  EndEstimate();
  for (auto& list : lists) EXPECT_TRUE(list.get().ok());
}

TEST_F(Waiting, ALargeBatchIsTakenWholeAndInOrder) {
  Agent agent(NewChannel(), "app-master", "job-1");
  agent.Send(JobOpened{.name = "large", .stages = MapReduceStages(5000, 1)});
  std::vector<EventBody> bodies;
  for (std::uint32_t i = 0; i < 5000; ++i) bodies.push_back(Started(M(i)));
  for (std::uint32_t i = 0; i < 2500; ++i) bodies.push_back(test::Finished(M(i)));
  agent.SendBatch(bodies);
  ASSERT_TRUE(agent.IsAcknowledged());
  jobs_->TickDue(clock_.Now());
  const auto snapshot = jobs_->Newest("job-1");
  EXPECT_EQ(snapshot->counts.running_tasks, 2500u);
  EXPECT_EQ(snapshot->counts.finished_tasks, 2500u);
  EXPECT_EQ(snapshot->coverage->anomalies, 0u);
  EXPECT_EQ(snapshot->coverage->lost_events, 0u);
}

TEST_F(Waiting, ThePublisherMakesNoResponses) {
  std::vector<std::unique_ptr<Reader>> readers;
  Publish("job-1", 1, 1000);
  for (int i = 0; i < 10; ++i) {
    readers.push_back(std::make_unique<Reader>(NewChannel(), "job-1"));
    ASSERT_TRUE(readers.back()->ReadUpTo(1));
  }
  const std::uint64_t made = deliveries_.encoded.made();
  // Both threads that compute responses are blocked.
  Barrier one;
  Barrier other;
  deliveries_.turns.Add("one", [&] { one.Pass(); });
  deliveries_.turns.Add("other", [&] { other.Pass(); });
  one.AwaitReached();
  other.AwaitReached();
  for (const std::uint64_t sequence : {2, 3, 4}) Publish("job-1", sequence, 1000);
  EXPECT_EQ(deliveries_.encoded.made(), made);
  one.Open();
  other.Open();
  for (const auto& reader : readers) EXPECT_TRUE(reader->ReadUpTo(4));
  EXPECT_EQ(deliveries_.encoded.made(), made + 1) << "nobody is sent what is not the newest";
}

TEST_F(Waiting, ThirtyReadersOfAJobCostOneSerializationForEachSnapshot) {
  for (const bool deltas : {false, true}) {
    const std::string job_id = deltas ? "deltas" : "whole";
    Publish(job_id, 1, 1000);
    std::vector<std::unique_ptr<Reader>> readers;
    for (int i = 0; i < 30; ++i) {
      readers.push_back(std::make_unique<Reader>(NewChannel(), job_id, deltas));
      ASSERT_TRUE(readers.back()->ReadUpTo(1));
    }
    const std::uint64_t made = deliveries_.encoded.made();
    for (std::uint64_t sequence = 2; sequence <= 5; ++sequence) {
      Publish(job_id, sequence, 1000);
      for (const auto& reader : readers) ASSERT_TRUE(reader->ReadUpTo(sequence));
      EXPECT_EQ(deliveries_.encoded.made(), made + sequence - 1) << job_id;
    }
  }
}

TEST_F(Waiting, ReadersThatDoNotReadHoldABoundedBuffer) {
  Publish("calm", 1, 1);
  Reader calm(NewChannel(), "calm");
  ASSERT_TRUE(calm.ReadUpTo(1));
  // Each client blocks on a different snapshot, which exceeds the buffers of its connection.
  constexpr std::uint32_t kStages = 4000;
  std::vector<std::unique_ptr<Reader>> stuck;
  for (std::uint64_t sequence = 1; sequence <= 20; ++sequence) {
    Publish("huge", sequence, kStages);
    const std::uint64_t made = deliveries_.encoded.made();
    stuck.push_back(std::make_unique<Reader>(NewChannel(), "huge"));
    ASSERT_TRUE(Eventually([&] { return deliveries_.encoded.made() > made; }));
    Publish("calm", 1 + sequence, 1);
    ASSERT_TRUE(calm.ReadUpTo(1 + sequence));
    EXPECT_LE(deliveries_.in_flight.bytes(), std::size_t{1} << 20);
  }
  // The streams of the first clients have ended, and these clients can resume.
  Reader& first = *stuck.front();
  EXPECT_FALSE(first.ReadUpTo(20));
  EXPECT_EQ(first.Finish().error_code(), grpc::StatusCode::CANCELLED);
  Reader again(NewChannel(), "huge", /*deltas=*/false, first.token());
  EXPECT_TRUE(again.ReadUpTo(20));
}

}  // namespace
}  // namespace tidemark::service::waiting_test
