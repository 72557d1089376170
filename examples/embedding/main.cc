// An engine that embeds a master and watches one job with a map task and a reduce task. In a real
// engine, tasks are separate processes that make the same calls, each with its own agent.
// docs/tours/embedding.md shows this program. The tests build and run it against the installed
// package.
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "tidemark/agent.h"
#include "tidemark/master.h"

int main() {
  // The application master starts Tidemark's master, and passes its address to the tasks with their
  // other settings.
  auto master = tidemark::Master::Start({.listen_address = "127.0.0.1:0"});
  if (!master.ok()) {
    std::fputs(master.status().ToString().c_str(), stderr);
    return 1;
  }
  const std::string address = (*master)->address();
  auto watch = (*master)->Watch("job-1", [](const tidemark::Snapshot& now) {
    std::printf("%3.0f %% done", 100 * now.estimate.fraction_done);
    if (const auto& left = now.estimate.remaining) {
      std::printf(", %.1f s left", absl::ToDoubleSeconds(left->median));
    }
    std::puts("");
  });
  auto agent = tidemark::Agent::Create({.master_address = address, .job_id = "job-1"});
  agent->OpenJob({.name = "my job", .stages = tidemark::MapReduceStages(1, 1)});

  // A map task reports the size of each key group. In a real engine, the task has a separate agent.
  const std::vector<std::size_t> group_bytes = {50, 400, 50, 100, 800, 200, 50, 1600, 400, 100};
  auto map_task = agent->StartMapTask({.index = 0});
  for (std::size_t k = 0; k < group_bytes.size(); ++k) {
    map_task->AddGroup(0, "key " + std::to_string(k), group_bytes[k]);
  }
  map_task->Finish();

  // Reports the start, the input and the end of each key group of a reduce task.
  auto reduce_task = agent->StartReduceTask({.index = 0});
  reduce_task->Shuffled();
  for (std::size_t k = 0; k < group_bytes.size(); ++k) {
    reduce_task->BeginGroup("key " + std::to_string(k));
    reduce_task->ValueRead(group_bytes[k]);
    std::this_thread::sleep_for(std::chrono::milliseconds(group_bytes[k]));  // the reduce function
    reduce_task->EndGroup();
  }
  reduce_task->Finish();

  agent->CloseJob(tidemark::JobOutcome::kSucceeded, "");
  agent->Shutdown();
  return (*master)->WaitUntilFinal("job-1", absl::Seconds(10)).ok() ? 0 : 1;
}
