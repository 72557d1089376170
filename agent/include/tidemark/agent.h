// The agent: what a MapReduce engine links to tell Tidemark what its tasks do.
//
// Promises to the engine:
//   - no call blocks, throws, allocates without bound or fails the task; trouble with the network
//     or the master is counted in AgentStats and told to AgentOptions::on_trouble, and where memory
//     runs out the agent turns itself off;
//   - the cost per key group is a few tens of nanoseconds (bench/RESULTS.md);
//   - memory is bounded by AgentOptions::buffer_bytes_max for what waits to be sent, and as much
//     for what waits to be queued, plus lambda keys for each running map task and 3 MB for each
//     running reduce task, which also holds one file open on Linux;
//   - ending takes at most AgentOptions::shutdown_budget.
//
// An agent without a master address does nothing, at no cost worth naming, so an engine can always
// have one.
//
//   auto agent = tidemark::Agent::Create({.master_address = address, .job_id = "job-1"});
//   auto reduce_task = agent->StartReduceTask({.index = 3});
//   reduce_task->Shuffled();
//   for (each key group) {
//     reduce_task->BeginGroup(key);
//     for (each value) {                        // from inside the reduce function
//       reduce_task->ValueRead(key.size() + value.size());
//     }
//     reduce_task->BytesEmitted(n);
//     reduce_task->EndGroup();
//   }
//   reduce_task->Finish();
//
// Threads: Agent is thread-safe; a MapTaskAgent or ReduceTaskAgent belongs to the thread of its
// task. One background thread per Agent sends. A process that forks must make its Agent after the
// fork: neither the thread nor gRPC survives it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "tidemark/client_security.h"
#include "tidemark/event.h"

namespace tidemark {

struct AgentOptions {
  std::string master_address;  // host:port or unix:PATH; empty: the agent does nothing
  std::string job_id;
  // Which run of the job this is, at most 128 bytes: the same in all of its processes and in every
  // attempt of its application master, and of no other run of that id; MakeRunUid() makes one.
  // Empty: not said, which is right where no job id is ever used twice.
  std::string run_uid = {};
  // TLS and token; the files are read again for each connection.
  ClientSecurity security = {};
  std::string source_id;  // empty: made from the host name, the process id and a random number
  // Between two profiles of a task, until the master says otherwise.
  absl::Duration flush_interval = absl::Seconds(1);
  // Events that wait to be sent or acknowledged; beyond it the oldest profile is dropped and
  // counted, attempt changes last.
  std::size_t buffer_bytes_max = std::size_t{1} << 20;
  // How long Shutdown() may wait for what is still unsent.
  absl::Duration shutdown_budget = absl::Milliseconds(200);
  // Explicit keys per map task ([NF] 5.1).
  std::uint32_t lambda = 2000;
  // Key groups below this size are timed in bursts of at most burst_groups_max ([NF] 6), and larger
  // ones that are over in no time, unless it is 0.
  std::uint64_t burst_threshold_bytes = 50;
  std::uint32_t burst_groups_max = 100;
  // Told why nothing is taken, for the task's log: a refusal with the master's reason (each kind
  // once; that of OpenJob() is AgentStats::job_refusal), a master that does not answer (once for
  // each outage), an agent that has turned itself off. Called from the agent's thread, and from the
  // one that calls Shutdown(); must be quick and must not call the agent. What it throws is
  // swallowed, and it is not called again. May be empty.
  std::function<void(const std::string& trouble)> on_trouble = {};
};

// Totals since the agent was made.
struct AgentStats {
  std::uint64_t events_sent = 0;          // each once, however often it was resent
  std::uint64_t events_acknowledged = 0;  // without the rejected ones
  std::uint64_t events_rejected = 0;
  std::uint64_t events_dropped = 0;  // after Shutdown() with what was never sent
  std::uint64_t points_dropped = 0;
  // Stages so large that the sizes of their tasks were left out: see OpenStage().
  std::uint64_t stages_without_sizes = 0;
  std::uint64_t connections_made = 0;
  std::uint64_t connections_lost = 0;
  // How long the oldest event waits that the master has not answered for; zero: none waits. By this
  // an engine can tell that no master listens, and start its tasks' agents with a smaller
  // shutdown_budget, so that their waits do not add up.
  absl::Duration unanswered_for;
  // Of the transport, the last rejection, or why the agent has turned itself off; empty: none.
  std::string last_error;
  // Why the master refused OpenJob(): another run of that id goes on, or this one has ended.
  // Nothing of this run will be watched; an engine that has not begun its work may want to say so
  // instead. Empty: not refused, or not answered yet, which Flush() tells.
  std::string job_refusal;
};

// A name for a run of a job that no other has: 16 random hexadecimal digits.
std::string MakeRunUid();

// Which attempt at which task of the stage that maps or reduces.
struct TaskAttempt {
  std::uint32_t index = 0;
  std::uint32_t attempt = 0;
};

// The map side of one task attempt.
class MapTaskAgent {
 public:
  virtual ~MapTaskAgent() = default;
  // Input the task has processed since the last call.
  virtual void InputRead(std::uint64_t bytes, std::uint64_t records) = 0;
  // Adds to the key group of `key` (its serialized bytes) in `partition`; `size_bytes` counts keys
  // and values as the reduce task will read them, after the combiner, and `values` its records; 0:
  // not known. Cheapest when called once for each key group of the sorted output; several calls for
  // one key add up at the master.
  virtual void AddGroup(std::uint32_t partition, std::string_view key, std::uint64_t size_bytes,
                        std::uint64_t values) = 0;
  void AddGroup(std::uint32_t partition, std::string_view key, std::uint64_t size_bytes) {
    AddGroup(partition, key, size_bytes, 0);
  }
  // The output is final: queues the profile, which Agent::Flush() or Shutdown() waits for. Later
  // calls do nothing. Destroyed without Finish(): the task has no output and no profile.
  virtual void Finish() = 0;
};

// The reduce side of one task attempt. Calls in the order of the example above; a call out of order
// is ignored.
class ReduceTaskAgent {
 public:
  virtual ~ReduceTaskAgent() = default;
  // Bytes fetched since the last call, while the task shuffles.
  virtual void InputFetched(std::uint64_t bytes) = 0;
  // All input is here and sorted: tells the master so and starts the time of the first key group.
  virtual void Shuffled() = 0;
  // A reduce function call begins on this key (serialized bytes). Counts nothing as read; the key
  // need not outlive the call.
  virtual void BeginGroup(std::string_view key) = 0;
  // It has read one record of so many bytes, key and value: the size of a key group is the sum over
  // its records, as in MapTaskAgent::AddGroup().
  virtual void ValueRead(std::uint64_t bytes) = 0;
  // It has written so many bytes.
  virtual void BytesEmitted(std::uint64_t bytes) = 0;
  // It has returned.
  virtual void EndGroup() = 0;
  // The task is over: queues what is left, which Agent::Flush() or Shutdown() waits for; a key
  // group in progress is given up. Later calls do nothing. The destructor does the same.
  virtual void Finish() = 0;
};

class Agent {
 public:
  // Never fails and never connects on the caller's thread.
  static std::unique_ptr<Agent> Create(const AgentOptions& options);
  virtual ~Agent() = default;  // Shutdown()

  // What an application master knows. OpenJob() and then Flush() before the first task, and
  // AgentStats::job_refusal tells whether the id is taken.
  virtual void OpenJob(const JobOpened& job) = 0;
  // A stage that was not known when the job was opened. Sizes of tasks that would take more than a
  // message or half of the buffer holds, 10 bytes each, are left out: with 1 MiB of buffer, those
  // of more than 50,000 tasks. The same holds for all stages of OpenJob() together.
  virtual void OpenStage(const StageOpened& stage) = 0;
  // Before the attempts that run in it; its number is the caller's choice.
  virtual void OpenExecutor(const ExecutorOpened& executor) = 0;
  virtual void CloseJob(JobOutcome outcome, std::string_view message) = 0;
  // Also for attempts with a task agent: that one only says when the task has shuffled.
  virtual void Changed(const AttemptChanged& change) = 0;

  // What a task knows. What a task agent is told after the end of its agent is lost.
  virtual std::unique_ptr<MapTaskAgent> StartMapTask(TaskAttempt attempt) = 0;
  virtual std::unique_ptr<ReduceTaskAgent> StartReduceTask(TaskAttempt attempt) = 0;

  // Waits until everything said so far is acknowledged, at most `budget`; whether it is. A burst of
  // small key groups that is not over yet is not part of it.
  virtual bool Flush(absl::Duration budget) = 0;
  // Flushes within the shutdown budget and ends. Idempotent.
  virtual void Shutdown() = 0;
  virtual AgentStats stats() const = 0;
};

}  // namespace tidemark
