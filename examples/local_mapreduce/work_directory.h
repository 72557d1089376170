// Where a job keeps its files until it succeeds.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "examples/local_mapreduce/job_plan.h"

namespace tidemark::examples {

// `_temporary` in the output directory, so that the output moves there without copying. It goes
// with this object; unless the output was published, so does all else there.
class WorkDirectory {
 public:
  // InvalidArgument: `output_dir` is there and not an empty directory.
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
