// Tests a program that embeds a master and links the alerts and metrics, but not the command line.

#include <nlohmann/json.hpp>

#include "serve/alerts/alerts.h"
#include "serve/metrics.h"
#include "tests/serve/hook_server.h"
#include "tests/test.h"
#include "tidemark/agent.h"
#include "tidemark/master.h"

namespace tidemark::embedding_test {
namespace {

TEST(EmbeddedMaster, SendsAlertsAndServesMetricsWithoutTheCommandLine) {
  test::HookServer receiver;
  const auto master = Master::Start({.listen_address = "127.0.0.1:0"});
  ASSERT_TRUE(master.ok()) << master.status();
  std::atomic<int> listings = 0;
  const auto alerts = serve::Alerts::Create(
      {.settings = {.hooks = {{"json", receiver.url()}}, .kinds = {"failed"}, .allow_local = true},
       .jobs =
           [&] {
             ++listings;
             return (*master)->ListJobs();
           },
       .interval = absl::Milliseconds(10)});
  ASSERT_TRUE(alerts.ok()) << alerts.status();
  const auto metrics =
      serve::StartMetrics("127.0.0.1:0", **master, [&] { return (*alerts)->counts(); });
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  EXPECT_GT((*metrics)->port(), 0);
  (*alerts)->Begin();
  while (listings < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  auto agent = Agent::Create({.master_address = (*master)->address(), .job_id = "job-1"});
  agent->OpenJob({.name = "embedded", .stages = MapReduceStages(1, 1)});
  agent->CloseJob(JobOutcome::kFailed, "out of memory");
  agent->Shutdown();
  ASSERT_TRUE((*master)->WaitUntilFinal("job-1", absl::Seconds(60)).ok());
  ASSERT_TRUE(receiver.WaitFor(1));
  EXPECT_EQ(nlohmann::json::parse(receiver.requests()[0].body)["job_id"], "job-1");
  ASSERT_TRUE((*alerts)->WaitUntilIdle(absl::Seconds(60)));
  EXPECT_EQ((*alerts)->counts().at("json").taken, 1U);
}

}  // namespace
}  // namespace tidemark::embedding_test
