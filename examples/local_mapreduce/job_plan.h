// The data that a worker process reads from a file, and the data that it returns.
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
  std::string master_address;  // empty without a master
  ClientSecurity security;     // security of connections to the master
  std::string work_directory;
  OutputKind output = OutputKind::kText;
  bool has_combiner = false;
  std::uint32_t reduce_task_count = 0;
  std::map<std::string, std::string> parameters;
  std::vector<InputFile> inputs;
  std::vector<Split> splits;  // one for each map task

  std::string path() const;  // path of the plan
  std::string side_directory() const;
  std::string attempt_directory(const AttemptId& attempt) const;
  std::string map_output(std::uint32_t map_task) const;
  std::string map_result(
      std::uint32_t map_task) const;  // a TaskResult with the positions of partitions
  std::string part(std::uint32_t reduce_task) const;
};

absl::Status WritePlan(const JobPlan& plan);
absl::StatusOr<JobPlan> ReadPlan(const std::string& path);

// Returns the plan's round of its job.
absl::StatusOr<std::unique_ptr<Job>> MakePlannedJob(const JobPlan& plan);

// The result of one task attempt.
struct TaskResult {
  std::vector<Segment> segments;  // partitions of a map task's output
  std::uint64_t groups = 0;       // key groups written by a map task, read by a reduce task
  OutputTotals output;
  // The times of a reduce task's first and last reduce function by CLOCK_MONOTONIC, which processes
  // share.
  std::int64_t reduce_began_nanos = 0;
  std::int64_t reduce_ended_nanos = 0;
  friend bool operator==(const TaskResult&, const TaskResult&) = default;
};

// Files in the directory of a task attempt.
inline constexpr char kOutputName[] = "output";
inline constexpr char kResultName[] = "result";
inline constexpr char kStderrName[] = "stderr";

absl::Status WriteResult(const std::string& path, const TaskResult& result);
absl::StatusOr<TaskResult> ReadResult(const std::string& path);

// The directory `_temporary` in the output directory, from which the output moves without copying.
// The destructor removes it. Unless the output was published, it empties the output directory.
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
