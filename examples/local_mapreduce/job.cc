#include "examples/local_mapreduce/job.h"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "examples/local_mapreduce/file_io.h"
#include "examples/local_mapreduce/jobs/all_jobs.h"
#include "fmt/format.h"
#include "text/did_you_mean.h"

// Without inlining, the call would cost as much as the hash of a short record.
#define XXH_INLINE_ALL
#include "xxhash.h"

namespace tidemark::examples {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{64} << 10;

class TextSink : public OutputSink {
 public:
  explicit TextSink(FileWriter file) : file_(std::move(file)) {}
  absl::Status Write(std::string_view text) override {
    file_.Append(text);
    return file_.status();
  }
  absl::Status Close() override { return file_.Close(); }

 private:
  FileWriter file_;
};

class DeflateSink : public OutputSink {
 public:
  explicit DeflateSink(FileWriter file) : file_(std::move(file)), compressed_(kBufferBytes) {
    ready_ = deflateInit(&stream_, Z_DEFAULT_COMPRESSION) == Z_OK;
  }
  DeflateSink(const DeflateSink&) = delete;
  DeflateSink& operator=(const DeflateSink&) = delete;
  ~DeflateSink() override { deflateEnd(&stream_); }

  absl::Status Write(std::string_view text) override { return Deflate(text, Z_NO_FLUSH); }
  absl::Status Close() override {
    if (absl::Status ended = Deflate("", Z_FINISH); !ended.ok()) return ended;
    return file_.Close();
  }

 private:
  absl::Status Deflate(std::string_view text, int flush) {
    if (!ready_) return absl::ResourceExhaustedError("zlib cannot start: out of memory");
    // zlib does not write through next_in.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream_.avail_in = static_cast<uInt>(text.size());
    do {
      stream_.next_out = compressed_.data();
      stream_.avail_out = static_cast<uInt>(compressed_.size());
      deflate(&stream_, flush);
      const std::size_t made = compressed_.size() - stream_.avail_out;
      file_.Append({reinterpret_cast<const char*>(compressed_.data()), made});
    } while (stream_.avail_out == 0);
    return file_.status();
  }

  FileWriter file_;
  z_stream stream_ = {};
  bool ready_ = false;
  std::vector<Bytef> compressed_;
};

class CountSink : public OutputSink {
 public:
  absl::Status Write(std::string_view /*text*/) override { return absl::OkStatus(); }
  absl::Status Close() override { return absl::OkStatus(); }
};

}  // namespace

std::string PartName(OutputKind kind, std::uint32_t reduce_task) {
  switch (kind) {
    case OutputKind::kText:
      return fmt::format("part-r-{:05}", reduce_task);
    case OutputKind::kDeflate:
      return fmt::format("part-r-{:05}.deflate", reduce_task);
    case OutputKind::kCount:
      break;
  }
  return "";
}

absl::StatusOr<std::unique_ptr<OutputSink>> OpenSink(OutputKind kind, const std::string& path) {
  if (kind == OutputKind::kCount) return std::make_unique<CountSink>();
  absl::StatusOr<FileWriter> file = FileWriter::Create(path);
  if (!file.ok()) return file.status();
  if (kind == OutputKind::kText) return std::make_unique<TextSink>(*std::move(file));
  return std::make_unique<DeflateSink>(*std::move(file));
}

Output::Output(std::unique_ptr<OutputSink> sink, std::function<void(std::uint64_t)> on_emitted)
    : sink_(std::move(sink)), on_emitted_(std::move(on_emitted)), buffer_(kBufferBytes) {}

std::uint64_t Output::Checksum(const char* text, std::size_t size) { return XXH64(text, size, 0); }

void Output::Flush(std::size_t room) {
  if (status_.ok()) status_ = sink_->Write({buffer_.data(), used_});
  used_ = 0;
  if (buffer_.size() < room) buffer_.resize(room);
  ReportEmitted();
}

void Output::ReportEmitted() {
  if (totals_.bytes == reported_bytes_) return;
  on_emitted_(totals_.bytes - reported_bytes_);
  reported_bytes_ = totals_.bytes;
}

absl::Status Output::Close() {
  Flush(0);
  if (!status_.ok()) return status_;
  return sink_->Close();
}

namespace {

template <typename T>
absl::StatusOr<T> NumberBetween(const JobContext& context, const std::string& name, T min, T max) {
  const std::string& text = context.parameters.at(name);
  T number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole_text = error == std::errc() && end == text.data() + text.size();
  if (whole_text && number >= min && number <= max) return number;
  return absl::InvalidArgumentError(
      fmt::format("parameter {} must be a number from {} to {}, not {}", name, min, max, text));
}

}  // namespace

std::uint32_t HashPartition(std::string_view key, std::uint32_t partition_count) {
  return static_cast<std::uint32_t>(XXH64(key.data(), key.size(), 0) % partition_count);
}

absl::StatusOr<const JobDefinition*> FindJob(const std::string& name) {
  for (const JobDefinition& job : AllJobs()) {
    if (job.name == name) return &job;
  }
  return absl::NotFoundError(
      fmt::format("unknown job {}{}", name, text::DidYouMeanOrKnown(name, JobNames())));
}

absl::StatusOr<std::map<std::string, std::string>> CompleteParameters(
    const JobDefinition& job, const std::map<std::string, std::string>& given) {
  std::map<std::string, std::string> complete;
  for (const JobParameter& parameter : job.parameters) {
    complete[parameter.name] = parameter.default_value;
  }
  for (const auto& [name, value] : given) {
    const auto known = complete.find(name);
    if (known == complete.end()) {
      std::vector<std::string> names;
      for (const JobParameter& parameter : job.parameters) names.push_back(parameter.name);
      return absl::InvalidArgumentError(fmt::format("unknown parameter {} of {}{}", name, job.name,
                                                    text::DidYouMeanOrKnown(name, names)));
    }
    known->second = value;
  }
  return complete;
}

absl::StatusOr<std::uint64_t> WholeNumber(const JobContext& context, const std::string& name,
                                          std::uint64_t min, std::uint64_t max) {
  return NumberBetween(context, name, min, max);
}

absl::StatusOr<double> RealNumber(const JobContext& context, const std::string& name, double min,
                                  double max) {
  return NumberBetween(context, name, min, max);
}

std::vector<std::string> JobNames() {
  std::vector<std::string> names;
  for (const JobDefinition& job : AllJobs()) names.push_back(job.name);
  return names;
}

std::string DescribeJob(const std::string& job) {
  const absl::StatusOr<const JobDefinition*> definition = FindJob(job);
  if (!definition.ok()) return "";
  const std::size_t least = (*definition)->inputs_min;
  const std::size_t most = (*definition)->inputs_max;
  const std::string inputs = most == 0 ? "no input"
                             : least == most
                                 ? fmt::format("{} input file{}", least, least == 1 ? "" : "s")
                             : most < SIZE_MAX ? fmt::format("{} to {} input files", least, most)
                                               : "input files";
  std::string text = fmt::format("{}; {}\n", (*definition)->description, inputs);
  for (const JobParameter& parameter : (*definition)->parameters) {
    text +=
        fmt::format("{}={}  {}\n", parameter.name, parameter.default_value, parameter.description);
  }
  return text;
}

const std::vector<JobDefinition>& AllJobs() {
  static const std::vector<JobDefinition> jobs = {
      WordCountJob(),        WordCountWithoutCombinerJob(),
      InvertedIndexJob(),    TwoPathJob(),
      TriangleCountJob(),    NaturalJoinJob(),
      MatMultOptJob(),       MatMultRndJob(),
      MatMultUnbalJob(),     SyntheticJob(),
      ParseVisitsJob(),      CountByPageJob(),
      RevenueByVisitorJob(), VisitHistogramJob(),
  };
  return jobs;
}

}  // namespace tidemark::examples
