// What a worker process must know, handed over in a file; and what it hands back.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "examples/local_mapreduce/job.h"
#include "examples/local_mapreduce/run.h"
#include "examples/local_mapreduce/spill_file.h"
#include "examples/local_mapreduce/splits.h"
#include "tidemark/client_security.h"
#include "tidemark/event.h"

namespace tidemark::examples {

// One round of a job, as the application master planned it. Its work directory holds this plan, the
// committed outputs of tasks, the side files and a directory for each task attempt.
struct JobPlan {
  std::string job;
  std::uint32_t round = 0;
  std::string job_id;
  std::string run_uid;
  std::string master_address;  // empty: unwatched
  ClientSecurity security;     // towards the master
  std::string work_directory;
  OutputKind output = OutputKind::kText;
  bool has_combiner = false;
  std::uint32_t reduce_task_count = 0;
  std::map<std::string, std::string> parameters;
  std::vector<InputFile> inputs;
  std::vector<Split> splits;  // one for each map task

  std::string path() const;  // of the plan itself
  std::string side_directory() const;
  std::string attempt_directory(const AttemptId& attempt) const;
  std::string map_output(std::uint32_t map_task) const;
  std::string map_result(std::uint32_t map_task) const;  // a TaskResult: where partitions are
  std::string part(std::uint32_t reduce_task) const;
};

absl::Status WritePlan(const JobPlan& plan);
absl::StatusOr<JobPlan> ReadPlan(const std::string& path);

// The plan's round of its job.
absl::StatusOr<std::unique_ptr<Job>> MakePlannedJob(const JobPlan& plan);

// What one task attempt did.
struct TaskResult {
  std::vector<Segment> segments;  // of a map task's output, by partition
  std::uint64_t groups = 0;       // key groups written by a map task, read by a reduce task
  OutputTotals output;
  // Of a reduce task's first and last reduce function: CLOCK_MONOTONIC, which processes share.
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

}  // namespace tidemark::examples
