// The example engine: MapReduce on one machine, for `tidemark run`, the tests and the benchmarks
// (README.md). examples/embedding/main.cc shows how to embed Tidemark.
//
// RunJob() splits the input, and runs map and reduce tasks as worker processes on N slots with
// sorted, partitioned spill files. It reports to Tidemark through the agent library, like any
// engine. It starts its own Master unless it receives the address of one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tidemark/client_security.h"
#include "tidemark/deadline.h"
#include "tidemark/job.h"
#include "tidemark/master.h"

namespace tidemark::examples {

enum class SlotPolicy : std::uint8_t {
  kFifo,  // the job with the lowest number gets the next slot
  kFair,  // the job with the fewest slots gets the next slot
};

// The slots that the jobs of a workflow share.
//
// A job sets its number of waiting tasks and requests a slot whenever it could start one. The
// policy determines which job gets the next slot. Slots are never revoked.
//
// Thread-safe: each job uses its own thread.
class SlotPool {
 public:
  SlotPool(std::size_t jobs, std::uint32_t slots, SlotPolicy policy);

  // Sets the number of tasks that job `job` could start.
  void SetWaiting(std::size_t job, std::size_t tasks);
  // Returns true if the job got a slot.
  bool TryTake(std::size_t job);
  void Give(std::size_t job);

 private:
  // Returns true if `other` has precedence over `job`. Requires mutex_.
  bool IsBefore(std::size_t other, std::size_t job) const;

  const SlotPolicy policy_;
  std::mutex mutex_;  // guards the members below
  std::uint32_t free_;
  std::vector<std::size_t> waiting_;  // number of waiting tasks by job
  std::vector<std::size_t> taken_;    // number of taken slots by job
};

// Lets one job use a pool. Its destructor sets the number of waiting tasks to zero.
class SlotShare {
 public:
  // `pool` must outlive the share.
  SlotShare(SlotPool& pool, std::size_t job) : pool_(pool), job_(job) {}
  ~SlotShare() { pool_.SetWaiting(job_, 0); }
  SlotShare(const SlotShare&) = delete;
  SlotShare& operator=(const SlotShare&) = delete;

  void SetWaiting(std::size_t tasks) { pool_.SetWaiting(job_, tasks); }
  bool TryTake() { return pool_.TryTake(job_); }
  void Give() { pool_.Give(job_); }

 private:
  SlotPool& pool_;
  const std::size_t job_;
};

class SlotShare;

// The maximum number of map tasks, reduce tasks or slots of a run. Higher numbers are rejected as
// typing errors.
inline constexpr std::uint32_t kTasksMax = 100'000;

// The format of the reduce output.
enum class OutputKind : std::uint8_t {
  kText,     // part-r-00000, ...
  kDeflate,  // part-r-00000.deflate, ..., compressed by zlib like Hadoop's DefaultCodec
  kCount,    // formatted and counted, but not stored, for output that exceeds the disk
};

struct RunOptions {
  std::string job;                  // one of JobNames()
  std::string job_id;               // default: job name, time and process id
  std::string run_uid;              // distinguishes runs with the same id; default: MakeRunUid()
  std::vector<std::string> inputs;  // plain or .zst files; each job documents how many it accepts
  std::string output_dir;           // must not exist or must be empty
  OutputKind output = OutputKind::kText;
  std::uint32_t slots = 2;
  // Slots shared with other jobs. Each task needs one of them in addition to its own slot. Null if
  // no slots are shared. Must outlive RunJob().
  SlotShare* shared_slots = nullptr;
  std::uint32_t reduce_task_count = 2;
  std::optional<Deadline> deadline;  // passed to the master
  // 0 selects one for each 8 MiB of input, and at least two for each slot
  std::uint32_t map_task_count = 0;
  std::map<std::string, std::string> parameters;  // such as sigma=1.4
  // The program that starts a worker, and its first arguments. RunJob() appends further arguments.
  // The program must call WorkerMain().
  std::vector<std::string> worker_command;
  // The master to report to. If empty, a master is embedded with `master_options`.
  std::string master_address;
  ClientSecurity security;  // security of connections to that master
  // if false, nothing is reported, which allows measuring the cost of reports
  bool agent_enabled = true;
  MasterOptions master_options;
  // Called with every snapshot of the job by an embedded master. For a job of several rounds, these
  // are snapshots of the last round. The other rounds have the ids JOB_ID-round-1, ...
  std::function<void(const Snapshot&)> on_snapshot;
  // Called after a job has succeeded and its final snapshot was shown, while the embedded master
  // still serves this address. May be empty.
  std::function<void(const std::string& master_address)> on_success;
  // Receives human-readable messages while the job runs. They state why the master accepts no
  // events (AgentOptions::on_trouble), or that a failed task is retried. Called from several
  // threads; may be empty.
  std::function<void(const std::string& notice)> on_notice;
  // If another thread or a signal handler sets it to true, the job ends. The workers are killed,
  // and RunJob() returns Cancelled. Must outlive RunJob().
  const std::atomic<bool>* stop = nullptr;
};

struct RunSummary {
  std::string job_id;
  absl::Duration elapsed;
  // from the start of the first reduce function to the end of the last
  absl::Duration reduce_elapsed;
  // number of records after the combiner, which are the input of the reduce tasks
  std::uint64_t map_output_records = 0;
  std::uint64_t map_output_bytes = 0;  // bytes of keys and values
  std::uint64_t reduce_input_groups = 0;
  std::uint64_t reduce_output_records = 0;
  std::uint64_t reduce_output_bytes = 0;  // bytes before compression
  // sum of the XXH64 hashes of all records, independent of their order
  std::uint64_t reduce_output_checksum = 0;
  std::uint32_t failed_attempts = 0;
  bool is_reported = false;  // true if the master has responded to all events of the job
};

std::vector<std::string> JobNames();
// Returns a description of the job and its input, and a line for each parameter. Part of the output
// of --help.
std::string DescribeJob(const std::string& job);

// Runs the job to its end. Fails with InvalidArgument for an unusable option, and with NotFound for
// an unknown job or a missing input. Fails with Aborted and the task's output if a task failed four
// times, and with Cancelled if `stop` was set. Fails with AlreadyExists, without running a task, if
// the master has another run of that id. After an error, the output directory is empty.
absl::StatusOr<RunSummary> RunJob(const RunOptions& options);

// Runs the task attempt in `arguments`, which RunJob() appended to worker_command. Returns the exit
// code of the worker process.
int WorkerMain(const std::vector<std::string>& arguments);

}  // namespace tidemark::examples
