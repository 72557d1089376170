// What a MapReduce program says: its functions, and how it is found by name.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "examples/local_mapreduce/output.h"
#include "examples/local_mapreduce/sorted_records.h"
#include "examples/local_mapreduce/splits.h"

namespace tidemark::examples {

// Takes the intermediate records of a map function.
class Emitter {
 public:
  virtual ~Emitter() = default;
  virtual void Emit(std::string_view key, std::string_view value) = 0;
};

struct JobContext {
  std::map<std::string, std::string> parameters;  // every one of the job, defaults filled in
  std::vector<InputFile> inputs;
  std::string side_directory;  // files that Prepare() leaves for the workers
  std::uint32_t reduce_task_count = 0;
};

std::uint32_t HashPartition(std::string_view key, std::uint32_t partition_count);

// Where a line of input comes from.
struct LineOrigin {
  std::uint32_t input = 0;   // index into JobContext::inputs
  std::uint64_t offset = 0;  // where the line begins
};

// One round of a job. Every worker process has one of its own.
class Job {
 public:
  explicit Job(JobContext context) : context_(std::move(context)) {}
  virtual ~Job() = default;

  // In the application master, before the input is split: writes side files and may add inputs.
  virtual absl::Status Prepare(std::vector<InputFile>& /*inputs*/) { return absl::OkStatus(); }
  // In a worker, before everything else there: reads the side files.
  virtual absl::Status SetUp() { return absl::OkStatus(); }

  virtual absl::Status Map(std::string_view line, const LineOrigin& origin, Emitter& emitter) = 0;
  // After the last line of a map task.
  virtual absl::Status EndMap(Emitter& /*emitter*/) { return absl::OkStatus(); }

  virtual bool has_combiner() const { return false; }
  // Makes one value of many.
  virtual absl::Status Combine(Values& /*values*/, std::string& /*combined*/) {
    return absl::OkStatus();
  }
  // Less than JobContext::reduce_task_count. The default: XXH64 of the key, modulo that.
  virtual std::uint32_t Partition(std::string_view key) const {
    return HashPartition(key, context_.reduce_task_count);
  }

  virtual absl::Status Reduce(std::string_view key, Values& values, Output& output) = 0;

 protected:
  const JobContext& context() const { return context_; }

 private:
  JobContext context_;
};

struct JobParameter {
  std::string name;
  std::string default_value;
  std::string description;
};

using JobFactory = std::function<absl::StatusOr<std::unique_ptr<Job>>(JobContext)>;

struct JobDefinition {
  std::string name;
  std::string description;
  std::size_t inputs_min = 1;
  std::size_t inputs_max = SIZE_MAX;
  std::vector<JobParameter> parameters;
  // Each round after the first gets the part files of the one before as further inputs.
  std::vector<JobFactory> rounds;
};

// For jobs whose constructor takes the context and cannot fail.
template <typename T>
absl::StatusOr<std::unique_ptr<Job>> MakeJob(JobContext context) {
  return std::make_unique<T>(std::move(context));
}

// NotFound: lists those there are.
absl::StatusOr<const JobDefinition*> FindJob(const std::string& name);
// The parameters of a job, its defaults filled in. InvalidArgument: one it does not have.
absl::StatusOr<std::map<std::string, std::string>> CompleteParameters(
    const JobDefinition& job, const std::map<std::string, std::string>& given);

// A number among the parameters. InvalidArgument: not one, or not within `min`..`max`.
absl::StatusOr<std::uint64_t> WholeNumber(const JobContext& context, const std::string& name,
                                          std::uint64_t min, std::uint64_t max);
absl::StatusOr<double> RealNumber(const JobContext& context, const std::string& name, double min,
                                  double max);

}  // namespace tidemark::examples
