// Reports jobs for tests of the page. The first job is late, with 10,000 tasks in 200 stages on 20
// hosts. Another job has 2,000 stages, and some have hostile names. If a number follows the
// address, reports that many plain jobs instead. The jobs report until standard input ends. A line
// in standard input ends the first job.
#include <grpcpp/grpcpp.h>
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "tests/wire/encode_request.h"
#include "tidemark/agent.h"
#include "tidemark/v1/ingest_service.grpc.pb.h"

namespace tidemark {
namespace {

constexpr std::uint32_t kStages = 200;
constexpr std::uint32_t kTasksOfAStage = 50;
constexpr std::uint32_t kHosts = 20;
constexpr std::uint32_t kSlots = 40;
// The deadline is a quarter of the time that the large job takes at ten tasks per second.
constexpr absl::Duration kDueIn = absl::Minutes(4);

std::unique_ptr<Agent> Open(const std::string& address, const std::string& id,
                            const std::string& name, std::uint32_t stages,
                            std::uint32_t tasks_of_a_stage,
                            std::optional<absl::Time> deadline = std::nullopt) {
  auto agent = Agent::Create({.master_address = address, .job_id = id});
  JobOpened job = {.name = name, .deadline = deadline};
  for (std::uint32_t i = 0; i < stages; ++i) {
    job.stages.push_back(
        {.stage = i,
         .name = "stage of " + name,
         .parents = i == 0 ? std::vector<std::uint32_t>() : std::vector<std::uint32_t>{i - 1},
         .task_count = tasks_of_a_stage});
  }
  agent->OpenJob(job);
  return agent;
}

// Runs the tasks in order, a few at a time.
class Work {
 public:
  explicit Work(Agent& agent) : agent_(agent) {
    for (std::uint32_t i = 0; i < kHosts; ++i) {
      agent_.OpenExecutor(
          {.executor = i, .host = "host-" + std::to_string(i + 1), .slots = kSlots / kHosts});
    }
  }
  void GoOn() {
    if (started_ == kStages * kTasksOfAStage) return;
    if (started_ >= kSlots) ReportTask(started_ - kSlots, AttemptState::kFinished);
    ReportTask(started_++, AttemptState::kStarted);
  }

 private:
  void ReportTask(std::uint32_t task, AttemptState state) {
    agent_.Changed({.attempt = {.stage = task / kTasksOfAStage, .index = task % kTasksOfAStage},
                    .state = state,
                    .at = absl::Now(),
                    .executor = task % kHosts});
  }
  Agent& agent_;
  std::uint32_t started_ = 0;
};

// Returns true if a line or the end of input arrives within a tenth of a second.
bool HasInput() {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN};
  return poll(&input, 1, 100) > 0;
}

int Report(const std::string& address) {
  const auto large =
      Open(address, "large", "10,000 tasks", kStages, kTasksOfAStage, absl::Now() + kDueIn);
  std::vector<std::unique_ptr<Agent>> others;
  others.push_back(Open(address, "stages", "2,000 stages", 2000, 1));
  others.push_back(
      Open(address, "<img src=x onerror=alert(1)>", "<script>alert(1)</script>\"'&lt;", 3, 1));
  others.push_back(Open(address, "turned",
                        "\xE2\x80\xAE"
                        "desrever \xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D",
                        3, 1));
  others.push_back(Open(address, "long", std::string(10'000, 'x'), 3, 1));
  others.push_back(Open(address, "a/../b?c#d", "a path", 3, 1));
  Work work(*large);
  for (std::uint32_t i = 0; i < 1000; ++i) work.GoOn();
  std::puts("reporting");
  std::fflush(stdout);
  char byte = 0;
  for (;;) {
    work.GoOn();
    if (!HasInput()) continue;
    if (read(STDIN_FILENO, &byte, 1) <= 0) break;
    large->CloseJob(JobOutcome::kSucceeded, "");
  }
  for (const auto& agent : others) agent->CloseJob(JobOutcome::kKilled, "the test is over");
  return 0;
}

// Reports jobs of two stages, all on one stream. The first stage of each job is running.
int ReportMany(const std::string& address, int jobs) {
  const auto stub =
      v1::IngestService::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  const auto stream = stub->StreamEvents(&context);
  std::uint32_t handle = 0;
  for (int i = 0; i < jobs; ++i) {
    const std::string id = "job-" + std::to_string(i);
    Event event = {.job_id = id,
                   .source_id = "app",
                   .sequence = 1,
                   .sent_at = absl::Now(),
                   .body = JobOpened{.name = "nightly " + id,
                                     .user = "ann",
                                     .queue = "etl",
                                     .stages = MapReduceStages(4, 2)}};
    v1::StreamEventsRequest opened;
    wire::EncodeRequest(event, opened, ++handle);
    event.sequence = 2;
    event.body = AttemptChanged{.state = AttemptState::kStarted, .at = absl::Now()};
    v1::StreamEventsRequest started;
    wire::EncodeRequest(event, started, ++handle);
    if (!stream->Write(opened) || !stream->Write(started)) return 1;
  }
  std::thread reader([&stream] {
    v1::StreamEventsResponse response;
    while (stream->Read(&response)) {
    }
  });
  std::puts("reporting");
  std::fflush(stdout);
  while (!HasInput()) {
  }
  stream->WritesDone();
  context.TryCancel();
  reader.join();
  return 0;
}

}  // namespace
}  // namespace tidemark

int main(int count, char** words) {
  if (count == 3) return tidemark::ReportMany(words[1], std::atoi(words[2]));
  return count == 2 ? tidemark::Report(words[1]) : 2;
}
