// The interface of MapReduce programs, and their lookup by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "examples/local_mapreduce/input.h"
#include "examples/local_mapreduce/run.h"
#include "examples/local_mapreduce/sorted_records.h"

namespace tidemark::examples {

// Receives formatted text in large pieces.
class OutputSink {
 public:
  virtual ~OutputSink() = default;
  virtual absl::Status Write(std::string_view text) = 0;
  virtual absl::Status Close() = 0;
};

// Returns the name of a part file, such as "part-r-00003" or "part-r-00003.deflate". Returns an
// empty name for kCount, which has no part files.
std::string PartName(OutputKind kind, std::uint32_t reduce_task);
absl::StatusOr<std::unique_ptr<OutputSink>> OpenSink(OutputKind kind, const std::string& path);

struct OutputTotals {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;  // sum of the XXH64 hashes of all formatted records
  friend bool operator==(const OutputTotals&, const OutputTotals&) = default;
};

// Formats each record as "KEY<TAB>VALUE\n", counts it, and passes on pieces of 64 KiB. After the
// first error, records are dropped, so a long reduce function should check ok() regularly.
class Output {
 public:
  // `on_emitted` receives the number of bytes that have left the buffer.
  Output(std::unique_ptr<OutputSink> sink, std::function<void(std::uint64_t)> on_emitted);

  void Write(std::string_view key, std::string_view value) {
    char* at = Reserve(key.size() + value.size() + 2);
    at = Put(at, key);
    *at++ = '\t';
    at = Put(at, value);
    *at++ = '\n';
    Commit(at);
  }

  // Returns a buffer for one record of at most `size` bytes, for functions that format records in
  // place.
  char* Reserve(std::size_t size) {
    if (buffer_.size() - used_ < size) Flush(size);
    return buffer_.data() + used_;
  }
  // Commits the record, which ends at `end` and must have the same format as in Write().
  void Commit(const char* end) {
    const auto size = static_cast<std::size_t>(end - (buffer_.data() + used_));
    totals_.checksum += Checksum(buffer_.data() + used_, size);
    totals_.bytes += size;
    ++totals_.records;
    used_ += size;
  }
  static char* Put(char* at, std::string_view text) {
    std::memcpy(at, text.data(), text.size());
    return at + text.size();
  }

  bool ok() const { return status_.ok(); }
  const OutputTotals& totals() const { return totals_; }
  // Passes the current number of bytes to `on_emitted`.
  void ReportEmitted();
  absl::Status Close();

 private:
  static std::uint64_t Checksum(const char* text, std::size_t size);
  void Flush(std::size_t room);

  std::unique_ptr<OutputSink> sink_;
  std::function<void(std::uint64_t)> on_emitted_;
  std::vector<char> buffer_;
  std::size_t used_ = 0;
  OutputTotals totals_;
  std::uint64_t reported_bytes_ = 0;
  absl::Status status_;
};

// Receives the intermediate records that a map function emits.
class Emitter {
 public:
  virtual ~Emitter() = default;
  virtual void Emit(std::string_view key, std::string_view value) = 0;
};

struct JobContext {
  std::map<std::string, std::string> parameters;  // all parameters of the job, with defaults
  std::vector<InputFile> inputs;
  std::string side_directory;  // contains the files that Prepare() writes for the workers
  std::uint32_t reduce_task_count = 0;
};

std::uint32_t HashPartition(std::string_view key, std::uint32_t partition_count);

// The position of a line of input.
struct LineOrigin {
  std::uint32_t input = 0;   // index into JobContext::inputs
  std::uint64_t offset = 0;  // where the line begins
};

// One round of a job. Every worker process has its own instance.
class Job {
 public:
  explicit Job(JobContext context) : context_(std::move(context)) {}
  virtual ~Job() = default;

  // Called in the application master before the input is split. May write side files and add
  // inputs.
  virtual absl::Status Prepare(std::vector<InputFile>& /*inputs*/) { return absl::OkStatus(); }
  // Called before the other functions in a worker. May read the side files.
  virtual absl::Status SetUp() { return absl::OkStatus(); }

  virtual absl::Status Map(std::string_view line, const LineOrigin& origin, Emitter& emitter) = 0;
  // Called after the last line of a map task.
  virtual absl::Status EndMap(Emitter& /*emitter*/) { return absl::OkStatus(); }

  virtual bool has_combiner() const { return false; }
  // Combines several values into one.
  virtual absl::Status Combine(Values& /*values*/, std::string& /*combined*/) {
    return absl::OkStatus();
  }
  // Returns a number below JobContext::reduce_task_count. The default is XXH64 of the key modulo
  // this count.
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
  // The rounds of the job. Each round after the first gets the part files of the previous round as
  // additional inputs.
  std::vector<JobFactory> rounds;
};

// Creates jobs whose constructor takes the context and cannot fail.
template <typename T>
absl::StatusOr<std::unique_ptr<Job>> MakeJob(JobContext context) {
  return std::make_unique<T>(std::move(context));
}

// Returns the definition of a job. Fails with NotFound, which lists the known jobs.
absl::StatusOr<const JobDefinition*> FindJob(const std::string& name);
// Returns the parameters of a job with its defaults. Fails with InvalidArgument for an unknown
// parameter.
absl::StatusOr<std::map<std::string, std::string>> CompleteParameters(
    const JobDefinition& job, const std::map<std::string, std::string>& given);

// Returns a numeric parameter. Fails with InvalidArgument if the value is not a number from `min`
// to `max`.
absl::StatusOr<std::uint64_t> WholeNumber(const JobContext& context, const std::string& name,
                                          std::uint64_t min, std::uint64_t max);
absl::StatusOr<double> RealNumber(const JobContext& context, const std::string& name, double min,
                                  double max);

}  // namespace tidemark::examples
