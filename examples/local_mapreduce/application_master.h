// Runs the planned tasks of one round on slots, and reports them to Tidemark.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "examples/local_mapreduce/job_plan.h"
#include "examples/local_mapreduce/slot_pool.h"
#include "examples/local_mapreduce/worker.h"
#include "tidemark/agent.h"
#include "tidemark/event.h"

namespace tidemark::examples {

class ApplicationMaster {
 public:
  // The members have the meaning of RunOptions. All must outlive this object.
  struct Dependencies {
    const std::vector<std::string>& worker_command;
    std::uint32_t slots = 0;
    SlotShare* shared_slots = nullptr;
    const std::atomic<bool>* stop = nullptr;
    const std::function<void(const std::string&)>& on_notice;
    Agent& agent;
  };
  ApplicationMaster(const JobPlan& plan, const Dependencies& dependencies);

  // Runs all map tasks, then all reduce tasks. The plan names the paths of their committed outputs.
  absl::Status Run();

  // Return the results of the successful attempts, by task.
  const std::vector<TaskResult>& map_results() const { return map_results_; }
  const std::vector<TaskResult>& reduce_results() const { return reduce_results_; }
  std::uint32_t failed_attempts() const { return failed_attempts_; }

 private:
  struct RunningAttempt {
    AttemptId id;
    WorkerProcess process;
  };
  // Runs the tasks in order. Each free slot takes the next task.
  absl::Status RunTasks(std::uint32_t stage, const std::vector<std::uint64_t>& input_bytes);
  // Takes a slot for a task. Returns true if the task may start.
  bool TakeSlot(std::size_t waiting);
  void GiveSlot();
  absl::Status Launch(const AttemptId& attempt);
  absl::Status TakeEnded(std::vector<AttemptId>& waiting);
  absl::Status Commit(const AttemptId& attempt);
  absl::Status Retry(const AttemptId& failed, const absl::Status& failure,
                     std::vector<AttemptId>& waiting);
  void KillAll();
  std::string InputName(const AttemptId& attempt) const;
  void Report(const AttemptId& attempt, AttemptState state, std::string failure = "");
  bool Stopped() const { return dependencies_.stop != nullptr && dependencies_.stop->load(); }

  const JobPlan& plan_;
  const Dependencies dependencies_;
  std::vector<RunningAttempt> running_;
  std::vector<std::uint64_t> input_bytes_;  // input of each task of the phase
  std::vector<TaskResult> map_results_;
  std::vector<TaskResult> reduce_results_;
  std::uint32_t failed_attempts_ = 0;
};

}  // namespace tidemark::examples
