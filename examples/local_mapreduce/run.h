// The example engine: MapReduce on one machine, for `tidemark run`, the tests and the benchmarks
// (README.md). examples/embedding/main.cc shows how to embed Tidemark.
//
// RunJob() splits the input, and runs map and reduce tasks as worker processes on N slots with
// sorted, partitioned spill files. It reports to Tidemark through the agent library, as any engine
// would. It starts its own Master unless it receives the address of one.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
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

class SlotShare;

// The maximum number of map tasks, reduce tasks or slots of a run. Higher numbers are rejected as
// typing errors.
inline constexpr std::uint32_t kTasksMax = 100'000;

// The form of the reduce output.
enum class OutputKind : std::uint8_t {
  kText,     // part-r-00000, ...
  kDeflate,  // part-r-00000.deflate, ...: compressed by zlib like Hadoop's DefaultCodec
  kCount,    // formatted, then only counted, for output that exceeds the disk
};

struct RunOptions {
  std::string job;                  // one of JobNames()
  std::string job_id;               // default: job name, time and process id
  std::string run_uid;              // identifies this run of the id; default: MakeRunUid()
  std::vector<std::string> inputs;  // plain or .zst files; each job documents how many it takes
  std::string output_dir;           // must be absent or empty
  OutputKind output = OutputKind::kText;
  std::uint32_t slots = 2;
  // Slots shared with other jobs. Each task needs one of them in addition to its own slot. Null if
  // no slots are shared. Must outlive RunJob().
  SlotShare* shared_slots = nullptr;
  std::uint32_t reduce_task_count = 2;
  std::optional<Deadline> deadline;  // passed to the master
  std::uint32_t map_task_count = 0;  // 0 selects one per 8 MiB of input, and at least two per slot
  std::map<std::string, std::string> parameters;  // such as sigma=1.4
  // The program that starts a worker, and its first arguments. RunJob() appends further arguments.
  // The program must call WorkerMain().
  std::vector<std::string> worker_command;
  // The master to report to. If empty, a master is embedded with `master_options`.
  std::string master_address;
  ClientSecurity security;    // security of connections to that master
  bool agent_enabled = true;  // if false, nothing is reported, to measure the cost of reports
  MasterOptions master_options;
  // Called with every snapshot of the job by an embedded master. For a job of several rounds, these
  // are snapshots of the last round. The other rounds have the ids JOB_ID-round-1, ...
  std::function<void(const Snapshot&)> on_snapshot;
  // Called after a job has succeeded and its final snapshot was shown, while the embedded master
  // still serves this address. May be empty.
  std::function<void(const std::string& master_address)> on_success;
  // Receives messages for people while the job runs. They report why the master accepts no events
  // (AgentOptions::on_trouble), or that a failed task is retried. Called from several threads; may
  // be empty.
  std::function<void(const std::string& notice)> on_notice;
  // Another thread or a signal handler sets it to true to end the job. The workers are killed, and
  // RunJob() returns Cancelled. Must outlive RunJob().
  const std::atomic<bool>* stop = nullptr;
};

struct RunSummary {
  std::string job_id;
  absl::Duration elapsed;
  absl::Duration reduce_elapsed;  // from the first reduce function to the end of the last one
  std::uint64_t map_output_records = 0;  // after the combiner; input of the reduce tasks
  std::uint64_t map_output_bytes = 0;    // bytes of keys and values
  std::uint64_t reduce_input_groups = 0;
  std::uint64_t reduce_output_records = 0;
  std::uint64_t reduce_output_bytes = 0;     // bytes before compression
  std::uint64_t reduce_output_checksum = 0;  // sum of the XXH64 of each record, in any order
  std::uint32_t failed_attempts = 0;
  bool is_reported = false;  // true if the master has answered for all events of the job
};

std::vector<std::string> JobNames();
// Returns a description of the job and its input, and a line for each parameter, for --help.
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
