// The agent: a library with which a MapReduce engine reports its tasks to Tidemark.
//
// Guarantees to the engine:
//   - No call blocks, throws, allocates without bound or fails the task. AgentStats counts problems
//     with the network or the master, and AgentOptions::on_trouble reports them. If memory runs
//     out, the agent turns itself off.
//   - Recording a key group takes a few tens of nanoseconds (bench/RESULTS.md).
//   - Memory is bounded: AgentOptions::buffer_bytes_max for events to send, as much for the queue
//     before it, lambda keys for each running map task, and 3 MB for each running reduce task,
//     which also holds one open file on Linux.
//   - Shutdown takes at most AgentOptions::shutdown_budget.
//
// An agent without a master address does nothing and costs almost nothing, so an engine can always
// create one.
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
// task. One background thread per Agent sends. A process that forks must create its Agent after the
// fork, since neither the thread nor gRPC survives it.
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
  std::string master_address;  // host:port or unix:PATH; if it is empty, the agent does nothing
  std::string job_id;
  // Identifies the run of the job, in at most 128 bytes. The value is equal in all processes of the
  // run and in every attempt of its application master. It differs in all other runs of the job id.
  // MakeRunUid() returns a suitable value. The value may be empty if job ids are never reused.
  std::string run_uid = {};
  // TLS and token. The files are read again for each connection.
  ClientSecurity security = {};
  std::string source_id;  // default: host name, process id and a random number
  // The interval between two profiles of a task, until the master changes it.
  absl::Duration flush_interval = absl::Seconds(1);
  // The maximum size of events that wait to be sent or acknowledged. The agent drops and counts the
  // oldest profile if a new one exceeds it. Attempt changes are dropped last.
  std::size_t buffer_bytes_max = std::size_t{1} << 20;
  // The time that Shutdown() may wait for unsent events.
  absl::Duration shutdown_budget = absl::Milliseconds(200);
  // Explicit keys per map task ([NF] 5.1).
  std::uint32_t lambda = 2000;
  // Key groups below this size are timed in bursts of at most burst_groups_max ([NF] 6). Unless the
  // threshold is 0, larger groups that finish quickly are also timed in bursts.
  std::uint64_t burst_threshold_bytes = 50;
  std::uint32_t burst_groups_max = 100;
  // Receives one line per problem, for the task's log. A problem is a rejection with the master's
  // reason (once per kind; job_refusal has the reason for OpenJob()), a master that does not answer
  // (once per outage), or an agent that has turned itself off. Called from the agent's thread and
  // from the thread that calls Shutdown(). The callback must be quick and must not call the agent.
  // If it throws, it is not called again. May be empty.
  std::function<void(const std::string& trouble)> on_trouble = {};
};

// Totals since the agent was created.
struct AgentStats {
  std::uint64_t events_sent = 0;          // excluding resent events
  std::uint64_t events_acknowledged = 0;  // excluding rejected events
  std::uint64_t events_rejected = 0;
  std::uint64_t events_dropped = 0;  // includes unsent events after Shutdown()
  std::uint64_t points_dropped = 0;
  // Stages whose task sizes were too large and therefore left out; see OpenStage().
  std::uint64_t stages_without_sizes = 0;
  std::uint64_t connections_made = 0;
  std::uint64_t connections_lost = 0;
  // How long the oldest event has waited for the master's answer; zero if no event waits. If no
  // master listens, an engine can use this value to choose a smaller shutdown_budget for its tasks'
  // agents, so that their waits do not add up.
  absl::Duration unanswered_for;
  // The last transport error, the last rejection, or why the agent has turned itself off. Empty if
  // no error has occurred.
  std::string last_error;
  // Why the master rejected OpenJob(): another run of the job id is active, or this run has ended.
  // The master does not track this run, so an engine may prefer to fail before it starts its work.
  // Empty if the job was accepted or no answer has arrived yet. Flush() waits for the answer.
  std::string job_refusal;
};

// Returns a random run_uid: 16 hexadecimal digits.
std::string MakeRunUid();

// An attempt at a map or reduce task.
struct TaskAttempt {
  std::uint32_t index = 0;
  std::uint32_t attempt = 0;
};

// The map side of one task attempt.
class MapTaskAgent {
 public:
  virtual ~MapTaskAgent() = default;
  // Adds input that the task has processed since the last call.
  virtual void InputRead(std::uint64_t bytes, std::uint64_t records) = 0;
  // Adds a key group. `key` is the serialized key. `size_bytes` counts keys and values as the
  // reduce task will read them, after the combiner. `values` is the number of records; 0 if
  // unknown. One call per key group of the sorted output is cheapest, but the master also adds up
  // several calls for one key.
  virtual void AddGroup(std::uint32_t partition, std::string_view key, std::uint64_t size_bytes,
                        std::uint64_t values) = 0;
  void AddGroup(std::uint32_t partition, std::string_view key, std::uint64_t size_bytes) {
    AddGroup(partition, key, size_bytes, 0);
  }
  // Declares the output final and queues the profile. Agent::Flush() and Shutdown() wait for the
  // profile. Later calls do nothing. If the object is destroyed without Finish(), the task has no
  // output and no profile.
  virtual void Finish() = 0;
};

// The reduce side of one task attempt. Calls must be made in the order of the example above; calls
// out of order are ignored.
class ReduceTaskAgent {
 public:
  virtual ~ReduceTaskAgent() = default;
  // Adds bytes fetched during the shuffle since the last call.
  virtual void InputFetched(std::uint64_t bytes) = 0;
  // Reports that all input has been fetched and sorted. The time of the first key group begins now.
  virtual void Shuffled() = 0;
  // Begins a call of the reduce function with this key (serialized bytes). Counts no bytes. The key
  // need not outlive the call.
  virtual void BeginGroup(std::string_view key) = 0;
  // Adds one record that the reduce function has read. `bytes` is the size of its key and value.
  // The size of a key group is the sum over its records, as in MapTaskAgent::AddGroup().
  virtual void ValueRead(std::uint64_t bytes) = 0;
  // Adds `bytes` to the bytes written by the reduce function.
  virtual void BytesEmitted(std::uint64_t bytes) = 0;
  // Ends the call of the reduce function.
  virtual void EndGroup() = 0;
  // Ends the task and queues the remaining data. Agent::Flush() and Shutdown() wait for this data.
  // Drops a key group in progress. Later calls do nothing. The destructor also calls Finish().
  virtual void Finish() = 0;
};

class Agent {
 public:
  // Creates an agent. Never fails and never connects on the caller's thread.
  static std::unique_ptr<Agent> Create(const AgentOptions& options);
  virtual ~Agent() = default;  // calls Shutdown()

  // The calls of an application master. To learn whether the job id is in use, call OpenJob() and
  // Flush() before the first task, then read AgentStats::job_refusal.
  virtual void OpenJob(const JobOpened& job) = 0;
  // Adds a stage that was unknown when the job was opened. Task sizes take 10 bytes each, and are
  // left out if they exceed a message or half of the buffer. A buffer of 1 MiB holds the sizes of
  // 50,000 tasks. In OpenJob(), the limits apply to all stages together.
  virtual void OpenStage(const StageOpened& stage) = 0;
  // Must be called before attempts run in the executor. The caller chooses the executor's number.
  virtual void OpenExecutor(const ExecutorOpened& executor) = 0;
  virtual void CloseJob(JobOutcome outcome, std::string_view message) = 0;
  // Must also be called for attempts with a task agent, since task agents report only the end of
  // the shuffle.
  virtual void Changed(const AttemptChanged& change) = 0;

  // The calls of a task. A task agent drops all calls after the end of its agent.
  virtual std::unique_ptr<MapTaskAgent> StartMapTask(TaskAttempt attempt) = 0;
  virtual std::unique_ptr<ReduceTaskAgent> StartReduceTask(TaskAttempt attempt) = 0;

  // Blocks until the master has acknowledged all events so far, for at most `budget`. Returns true
  // if it has. Excludes a burst of small key groups in progress.
  virtual bool Flush(absl::Duration budget) = 0;
  // Flushes within the shutdown budget and ends the agent. Idempotent.
  virtual void Shutdown() = 0;
  virtual AgentStats stats() const = 0;
};

}  // namespace tidemark
