// The data that a worker process reads from a file, and the data that the worker returns.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "examples/local_mapreduce/input.h"
#include "examples/local_mapreduce/job.h"
#include "examples/local_mapreduce/run.h"
#include "examples/local_mapreduce/spill_file.h"
#include "tidemark/client_security.h"
#include "tidemark/event.h"

namespace tidemark::examples {

// One round of a job, as planned by the application master. The work directory contains this plan,
// the committed outputs of tasks, the side files, and a directory for each task attempt.
struct JobPlan {
  std::string job;
  std::uint32_t round = 0;
  std::string job_id;
  std::string run_uid;
  std::string master_address;  // empty if the job has no master
  ClientSecurity security;     // security of connections to the master
  std::string work_directory;
  OutputKind output = OutputKind::kText;
  bool has_combiner = false;
  std::uint32_t reduce_task_count = 0;
  std::map<std::string, std::string> parameters;
  std::vector<InputFile> inputs;
  std::vector<Split> splits;  // one split for each map task

  std::string path() const;  // path of the plan
  std::string side_directory() const;
  std::string attempt_directory(const AttemptId& attempt) const;
  std::string map_output(std::uint32_t map_task) const;
  std::string map_result(
      // path of the map task's TaskResult, which contains the positions of its partitions
      std::uint32_t map_task) const;
  std::string part(std::uint32_t reduce_task) const;
};

absl::Status WritePlan(const JobPlan& plan);
absl::StatusOr<JobPlan> ReadPlan(const std::string& path);

// Returns the planned round of the job.
absl::StatusOr<std::unique_ptr<Job>> MakePlannedJob(const JobPlan& plan);

// The result of one task attempt.
struct TaskResult {
  std::vector<Segment> segments;  // partitions of a map task's output
  std::uint64_t groups = 0;  // number of key groups that a map task wrote or a reduce task read
  OutputTotals output;
  // The start of a reduce task's first reduce function and the end of its last one. CLOCK_MONOTONIC
  // makes them comparable among processes.
  std::int64_t reduce_began_nanos = 0;
  std::int64_t reduce_ended_nanos = 0;
  friend bool operator==(const TaskResult&, const TaskResult&) = default;
};

// Names of files in the directory of a task attempt.
inline constexpr char kOutputName[] = "output";
inline constexpr char kResultName[] = "result";
inline constexpr char kStderrName[] = "stderr";

absl::Status WriteResult(const std::string& path, const TaskResult& result);
absl::StatusOr<TaskResult> ReadResult(const std::string& path);

// The directory `_temporary` in the output directory. Files move from it to the output directory
// without copying. The destructor removes it, and also empties the output directory unless the
// output was published.
class WorkDirectory {
 public:
  // Fails with InvalidArgument if `output_dir` exists and is not an empty directory.
  static absl::StatusOr<std::unique_ptr<WorkDirectory>> Create(const std::string& output_dir);
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;
  ~WorkDirectory();

  const std::string& path() const { return path_; }
  // Moves the part files of the plan to the output directory.
  absl::Status Publish(const JobPlan& plan);

 private:
  WorkDirectory(const std::string& output_dir, bool existed);
  std::string output_dir_;
  std::string path_;
  bool existed_;
  bool published_ = false;
};

}  // namespace tidemark::examples
