#include "examples/local_mapreduce/work_directory.h"

#include <filesystem>
#include <system_error>

#include "examples/local_mapreduce/file_io.h"
#include "fmt/format.h"

namespace tidemark::examples {

namespace fs = std::filesystem;

absl::StatusOr<std::unique_ptr<WorkDirectory>> WorkDirectory::Create(
    const std::string& output_dir) {
  if (output_dir.empty()) return absl::InvalidArgumentError("output_dir is missing");
  std::error_code error;
  const bool existed = fs::exists(output_dir, error);
  const bool usable =
      !error &&
      (!existed || (fs::is_directory(output_dir, error) && fs::is_empty(output_dir, error)));
  if (error) return FileError("look into", output_dir, error.value());
  if (!usable) {
    return absl::InvalidArgumentError(
        fmt::format("output directory {} exists and is not an empty directory", output_dir));
  }
  // The workers get absolute paths, wherever they are started.
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
