// The example engine: MapReduce on one machine, for `tidemark run`, the tests and the benchmarks
// (README.md). For how to embed Tidemark see examples/embedding/main.cc.
//
// RunJob() splits the input, runs map and reduce tasks as worker processes on N slots with sorted,
// partitioned spill files, and reports to Tidemark through the agent library as any engine would.
// It starts a Master of its own unless it is given the address of one.
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

// Map tasks, reduce tasks or slots of one run: more are a typing error.
inline constexpr std::uint32_t kTasksMax = 100'000;

// What becomes of the reduce output.
enum class OutputKind : std::uint8_t {
  kText,     // part-r-00000, ...
  kDeflate,  // part-r-00000.deflate, ...: compressed by zlib, as Hadoop's DefaultCodec does
  kCount,    // formatted in full, then only counted: where it would not fit the disk
};

struct RunOptions {
  std::string job;                  // one of JobNames()
  std::string job_id;               // empty: made from the job's name, the time and the process id
  std::string run_uid;              // which run of that id this is; empty: MakeRunUid()
  std::vector<std::string> inputs;  // files, plain or .zst; each job says how many it takes
  std::string output_dir;           // must not exist or be empty
  OutputKind output = OutputKind::kText;
  std::uint32_t slots = 2;
  // Slots that other jobs use, too: a task waits for one of them as well. Null: none are shared.
  // Must outlive RunJob().
  SlotShare* shared_slots = nullptr;
  std::uint32_t reduce_task_count = 2;
  std::optional<Deadline> deadline;  // told to the master
  std::uint32_t map_task_count = 0;  // 0: one for each 8 MiB of input, at least two for each slot
  std::map<std::string, std::string> parameters;  // of the job, such as sigma=1.4
  // How a worker is started: a program and its first arguments; RunJob() appends its own. The
  // program must end up in WorkerMain().
  std::vector<std::string> worker_command;
  // Report to this master; empty: embed one, made with `master_options`.
  std::string master_address;
  ClientSecurity security;    // towards that master
  bool agent_enabled = true;  // false: nothing is reported; for measuring what reporting costs
  MasterOptions master_options;
  // Called with every snapshot of the job by an embedded master. A job of several rounds shows its
  // last; the master knows the others as JOB_ID-round-1, ...
  std::function<void(const Snapshot&)> on_snapshot;
  // Called when a job has succeeded and its final snapshot was shown, while the embedded master
  // still answers at this address; may be empty.
  std::function<void(const std::string& master_address)> on_success;
  // Told what a person should hear while the job runs: why the master takes nothing of what is
  // reported (AgentOptions::on_trouble), and that a task failed and is tried again. From several
  // threads; may be empty.
  std::function<void(const std::string& notice)> on_notice;
  // Set by another thread or a signal handler to end the job: its workers are killed and RunJob()
  // returns Cancelled. Must outlive RunJob().
  const std::atomic<bool>* stop = nullptr;
};

struct RunSummary {
  std::string job_id;
  absl::Duration elapsed;
  absl::Duration reduce_elapsed;         // from the first reduce function to the end of the last
  std::uint64_t map_output_records = 0;  // after the combiner: what the reduce tasks read
  std::uint64_t map_output_bytes = 0;    // of their keys and values
  std::uint64_t reduce_input_groups = 0;
  std::uint64_t reduce_output_records = 0;
  std::uint64_t reduce_output_bytes = 0;     // before compression
  std::uint64_t reduce_output_checksum = 0;  // sum over records of their XXH64: order-free
  std::uint32_t failed_attempts = 0;
  bool is_reported = false;  // the master has answered for everything that was said of the job
};

std::vector<std::string> JobNames();
// What it does and what it reads, then a line for each parameter it knows, for --help.
std::string DescribeJob(const std::string& job);

// Runs the job to its end. InvalidArgument: an option that cannot be used, named; NotFound: an
// unknown job or a missing input; Aborted: a task failed four times; the message has the task's own
// words; Cancelled: `stop` was set; AlreadyExists: the master watches another run of that id, and
// no task was run. Unless it succeeds, nothing is left in the output directory.
absl::StatusOr<RunSummary> RunJob(const RunOptions& options);

// The body of a worker process: runs the one task attempt that RunJob() named in `arguments` (those
// it appended to worker_command) and returns the exit code.
int WorkerMain(const std::vector<std::string>& arguments);

}  // namespace tidemark::examples
