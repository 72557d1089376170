// Tests that absent, silent and returning masters do not affect the engine, and that no event
// arrives twice.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/agent/recording_server.h"
#include "tests/service/eventually.h"
#include "tests/test.h"
#include "tidemark/agent.h"

namespace tidemark::agent::agent_outage_test {
namespace {

using ::testing::StartsWith;

constexpr absl::Duration kBudget = absl::Milliseconds(200);

AgentOptions Options(const std::string& address, absl::Duration shutdown_budget = kBudget) {
  AgentOptions options;
  options.master_address = address;
  options.job_id = "job-1";
  options.source_id = "source-1";
  options.shutdown_budget = shutdown_budget;
  options.flush_interval = absl::Milliseconds(50);
  return options;
}

void RunGroups(ReduceTaskAgent& task, int count) {
  for (int i = 0; i < count; ++i) {
    task.BeginGroup("key-" + std::to_string(i));
    task.ValueRead(100);
    task.EndGroup();
  }
}

// Reports a job with 1,000 attempts that fail with long messages. They exceed a buffer of 64 kB.
void OverfillBuffer(Agent& agent) {
  agent.OpenJob({.name = "first"});
  for (std::uint32_t i = 0; i < 1'000; ++i) {
    agent.Changed({.attempt = {kMapStage, i, 0},
                   .state = AttemptState::kFailed,
                   .failure = std::string(1'000, 'x')});
  }
  agent.CloseJob(JobOutcome::kFailed, "last");
}

void ExpectNoGap(const Record& record) {
  std::uint64_t expected = 0;
  for (const auto& [sequence, event] : record.sent()) EXPECT_EQ(sequence, ++expected);
}

// A port on which the kernel accepts connections, but from which no process reads.
class BlackHole {
 public:
  BlackHole() : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    ok_ = bind(socket_, reinterpret_cast<sockaddr*>(&address), length) == 0 &&
          listen(socket_, 16) == 0 &&
          getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &length) == 0;
    port_ = ntohs(address.sin_port);
  }
  ~BlackHole() { close(socket_); }
  bool ok() const { return ok_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  int socket_;
  bool ok_ = false;
  int port_ = 0;
};

// Makes all calls of an engine without a master. An agent that waited for a response would never
// end.
void LiveWithout(const std::string& address) {
  std::unique_ptr<Agent> agent = Agent::Create(Options(address));
  agent->OpenJob({.name = "nobody listens"});
  const auto map = agent->StartMapTask({});
  map->InputRead(1, 1);
  map->AddGroup(0, "k", 10);
  map->Finish();
  const auto reduce = agent->StartReduceTask({});
  reduce->Shuffled();
  RunGroups(*reduce, 10'000);
  reduce->Finish();
  EXPECT_FALSE(agent->Flush(absl::Milliseconds(100)));
}

TEST(AgentOutage, AnUnreachableMasterDelaysNothing) {
  const BlackHole silent;
  ASSERT_TRUE(silent.ok());
  // Port 1 of this host refuses connections immediately.
  for (const std::string& address :
       {std::string("127.0.0.1:1"), silent.address(), std::string("no such host.invalid:80"),
        std::string("unix:/no/such/socket"), std::string(":::not an address")}) {
    LiveWithout(address);
  }
}

TEST(AgentOutage, AConnectionAttemptTimesOutAndIsRepeated) {
  const BlackHole hole;
  ASSERT_TRUE(hole.ok());
  const auto agent = Agent::Create(Options(hole.address()));
  agent->OpenJob({});
  EXPECT_TRUE(test::Eventually([&] { return !agent->stats().last_error.empty(); }));
  EXPECT_EQ(agent->stats().last_error, hole.address() + ": no response in time");
  EXPECT_EQ(agent->stats().connections_made, 0u);
}

TEST(AgentOutage, ReportsASilentMasterOnce) {
  const BlackHole hole;
  ASSERT_TRUE(hole.ok());
  AgentOptions options = Options(hole.address());
  std::vector<std::string> troubles;  // read after the threads of the agent have ended
  options.on_trouble = [&](const std::string& trouble) { troubles.push_back(trouble); };
  const auto agent = Agent::Create(options);
  agent->OpenJob({});
  agent->CloseJob(JobOutcome::kSucceeded, "");
  agent->Shutdown();
  EXPECT_THAT(troubles, ElementsAre(StartsWith("no response from the master at " + hole.address() +
                                               " for ")));
}

TEST(AgentOutage, CountsUnsentEventsAsDropped) {
  const BlackHole hole;
  ASSERT_TRUE(hole.ok());
  const auto agent = Agent::Create(Options(hole.address()));
  for (int i = 0; i < 10; ++i) agent->OpenJob({});
  agent->Shutdown();
  agent->CloseJob(JobOutcome::kSucceeded, "");
  const AgentStats stats = agent->stats();
  EXPECT_EQ(stats.events_acknowledged, 0u);
  // Events that were sent may have arrived.
  EXPECT_EQ(stats.events_sent + stats.events_dropped, 11u);
  EXPECT_GE(stats.events_dropped, 1u);
}

TEST(AgentOutage, ResendsUnacknowledgedEventsAfterARestart) {
  Record record;
  RecordingServer server(record, NoResponse);
  const auto agent = Agent::Create(Options(server.address(), absl::Seconds(60)));
  agent->OpenJob({.name = "survivor"});
  const auto task = agent->StartReduceTask({});
  task->Shuffled();
  RunGroups(*task, 1'000);
  ASSERT_TRUE(record.WaitFor([](const std::vector<Event>& events) { return events.size() >= 3; }));
  server.Stop();

  RunGroups(*task, 1'000);
  task->Finish();
  agent->CloseJob(JobOutcome::kSucceeded, "");
  ASSERT_TRUE(server.Start(Acknowledge));
  EXPECT_TRUE(agent->Flush(absl::Seconds(60)));

  EXPECT_GE(record.repeated(), 3u);  // the events that the first server did not acknowledge
  EXPECT_THAT(record.invalid(), IsEmpty());
  ExpectNoGap(record);
  EXPECT_THAT(record.all<JobClosed>(), SizeIs(1));
  EXPECT_EQ(CountGroups(record.all<ReduceProfile>()), 2'000u);
  EXPECT_EQ(agent->stats().connections_made, 2u);
  EXPECT_EQ(agent->stats().connections_lost, 1u);
}

TEST(AgentOutage, DoesNotResendAcknowledgedEvents) {
  Record record;
  RecordingServer server(record, Acknowledge);
  const auto agent = Agent::Create(Options(server.address()));
  for (int i = 0; i < 10; ++i) agent->OpenJob({});
  ASSERT_TRUE(agent->Flush(absl::Seconds(60)));
  server.Stop();
  ASSERT_TRUE(server.Start(Acknowledge));
  agent->OpenJob({});
  ASSERT_TRUE(agent->Flush(absl::Seconds(60)));
  EXPECT_THAT(record.events(), SizeIs(11));
  EXPECT_EQ(record.repeated(), 0u);
}

TEST(AgentOutage, BoundsTheBufferAndCountsDropsOfASilentMaster) {
  Record record;
  RecordingServer server(record, NoResponse);
  AgentOptions options = Options(server.address());
  options.buffer_bytes_max = 64 << 10;
  const auto agent = Agent::Create(options);
  OverfillBuffer(*agent);
  EXPECT_FALSE(agent->Flush(absl::Milliseconds(200)));
  const AgentStats stats = agent->stats();
  EXPECT_GT(stats.events_dropped, 800u);
  EXPECT_LT(stats.events_dropped, 1'000u);
  EXPECT_LT(stats.events_sent, 100u);  // Half of the buffer waits for a response.
  EXPECT_EQ(stats.events_acknowledged, 0u);
}

TEST(AgentOutage, SendsTheRestAndTheDropCountAfterALateResponse) {
  Record record;
  RecordingServer server(record, NoResponse);
  AgentOptions options = Options(server.address(), absl::Seconds(60));
  options.buffer_bytes_max = 64 << 10;
  const auto agent = Agent::Create(options);
  OverfillBuffer(*agent);
  EXPECT_FALSE(agent->Flush(absl::Milliseconds(100)));
  server.Stop();
  ASSERT_TRUE(server.Start(Acknowledge));
  ASSERT_TRUE(record.WaitFor([](const std::vector<Event>& events) {
    return !events.empty() && std::holds_alternative<JobClosed>(events.back().body);
  }));
  EXPECT_TRUE(agent->Flush(absl::Seconds(60)));
  // Dropped events are counted and leave no gap.
  ExpectNoGap(record);
  EXPECT_EQ(record.events().back().dropped_events, agent->stats().events_dropped);
  EXPECT_EQ(record.events().size() + agent->stats().events_dropped, 1'002u);
  EXPECT_THAT(record.all<JobOpened>(), SizeIs(1));
  EXPECT_THAT(record.all<JobClosed>(), SizeIs(1));
}

TEST(AgentOutage, MergesPointsDuringAnOutage) {
  Record record;
  RecordingServer server(record, Acknowledge);
  const auto agent = Agent::Create(Options(server.address(), absl::Seconds(60)));
  const auto task = agent->StartReduceTask({});
  task->Shuffled();
  server.Stop();
  for (int i = 0; i < 20; ++i) {
    RunGroups(*task, 100);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_TRUE(server.Start(Acknowledge));
  task->Finish();
  ASSERT_TRUE(agent->Flush(absl::Seconds(60)));
  EXPECT_EQ(CountGroups(record.all<ReduceProfile>()), 2'000u);
}

}  // namespace
}  // namespace tidemark::agent::agent_outage_test
