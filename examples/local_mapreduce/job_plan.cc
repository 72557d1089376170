#include "examples/local_mapreduce/job_plan.h"

#include <cereal/types/map.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <filesystem>
#include <system_error>

#include "examples/local_mapreduce/file_io.h"
#include "examples/local_mapreduce/saved.h"
#include "fmt/format.h"

namespace tidemark::examples {

template <class Archive>
void serialize(Archive& archive, InputFile& input) {
  archive(input.path, input.name, input.size_bytes, input.from_previous_round);
}

template <class Archive>
void serialize(Archive& archive, Split& split) {
  archive(split.input, split.begin, split.end);
}

template <class Archive>
void serialize(Archive& archive, Segment& segment) {
  archive(segment.offset, segment.size_bytes, segment.records, segment.record_bytes);
}

template <class Archive>
void serialize(Archive& archive, JobPlan& plan) {
  archive(plan.job, plan.round, plan.job_id, plan.run_uid, plan.master_address);
  archive(plan.security.ca_file, plan.security.certificate_file, plan.security.key_file,
          plan.security.server_name, plan.security.token_file);
  archive(plan.work_directory, plan.output, plan.has_combiner, plan.reduce_task_count,
          plan.parameters, plan.inputs, plan.splits);
}

template <class Archive>
void serialize(Archive& archive, TaskResult& result) {
  archive(result.segments, result.groups, result.output.records, result.output.bytes,
          result.output.checksum, result.reduce_began_nanos, result.reduce_ended_nanos);
}

std::string JobPlan::path() const { return PathOf(work_directory, "plan"); }
std::string JobPlan::side_directory() const { return PathOf(work_directory, "side"); }
std::string JobPlan::attempt_directory(const AttemptId& attempt) const {
  return fmt::format("{}/{}-{}.{}", work_directory, attempt.stage == kMapStage ? 'm' : 'r',
                     attempt.index, attempt.attempt);
}
std::string JobPlan::map_output(std::uint32_t map_task) const {
  return PathOf(work_directory, fmt::format("map-{:05}", map_task));
}
std::string JobPlan::map_result(std::uint32_t map_task) const {
  return map_output(map_task) + ".result";
}
std::string JobPlan::part(std::uint32_t reduce_task) const {
  return PathOf(work_directory, PartName(output, reduce_task));
}

absl::Status WritePlan(const JobPlan& plan) { return Save(plan.path(), plan); }
absl::StatusOr<JobPlan> ReadPlan(const std::string& path) { return Load<JobPlan>(path); }

absl::StatusOr<std::unique_ptr<Job>> MakePlannedJob(const JobPlan& plan) {
  absl::StatusOr<const JobDefinition*> definition = FindJob(plan.job);
  if (!definition.ok()) return definition.status();
  return (*definition)
      ->rounds.at(plan.round)({.parameters = plan.parameters,
                               .inputs = plan.inputs,
                               .side_directory = plan.side_directory(),
                               .reduce_task_count = plan.reduce_task_count});
}

absl::Status WriteResult(const std::string& path, const TaskResult& result) {
  return Save(path, result);
}
absl::StatusOr<TaskResult> ReadResult(const std::string& path) { return Load<TaskResult>(path); }

namespace fs = std::filesystem;

absl::StatusOr<std::unique_ptr<WorkDirectory>> WorkDirectory::Create(
    const std::string& output_dir) {
  if (output_dir.empty()) return absl::InvalidArgumentError("output_dir is missing");
  std::error_code error;
  const bool existed = fs::exists(output_dir, error);
  const bool usable =
      !error &&
      (!existed || (fs::is_directory(output_dir, error) && fs::is_empty(output_dir, error)));
  if (error) return FileError("list", output_dir, error.value());
  if (!usable) {
    return absl::InvalidArgumentError(
        fmt::format("output directory {} exists and is not an empty directory", output_dir));
  }
  // Workers get absolute paths, since they may start in another directory.
  std::unique_ptr<WorkDirectory> directory(
      new WorkDirectory(fs::absolute(output_dir).string(), existed));
  if (absl::Status made = MakeDirectories(directory->path()); !made.ok()) return made;
  return directory;
}

WorkDirectory::WorkDirectory(const std::string& output_dir, bool existed)
    : output_dir_(output_dir), path_(PathOf(output_dir, "_temporary")), existed_(existed) {}

WorkDirectory::~WorkDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (published_) return;
  for (const fs::directory_entry& entry : fs::directory_iterator(output_dir_, ignored)) {
    fs::remove_all(entry.path(), ignored);
  }
  if (!existed_) fs::remove(output_dir_, ignored);
}

absl::Status WorkDirectory::Publish(const JobPlan& plan) {
  if (plan.output != OutputKind::kCount) {
    for (std::uint32_t i = 0; i < plan.reduce_task_count; ++i) {
      absl::Status moved = Rename(plan.part(i), PathOf(output_dir_, PartName(plan.output, i)));
      if (!moved.ok()) return moved;
    }
  }
  published_ = true;
  return absl::OkStatus();
}

}  // namespace tidemark::examples
