#include "examples/local_mapreduce/tasks.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "examples/local_mapreduce/input.h"
#include "examples/local_mapreduce/map_output.h"
#include "examples/local_mapreduce/spill_file.h"
#include "fmt/format.h"
#include "tidemark/agent.h"

namespace tidemark::examples {
namespace {

// The amount of input between two calls of the agent.
constexpr std::uint64_t kReportBytes = std::uint64_t{64} << 10;

absl::Status MapLines(const JobPlan& plan, const Split& split, Job& job, MapOutput& output,
                      MapTaskAgent& watcher) {
  const InputFile& input = plan.inputs[split.input];
  absl::StatusOr<Lines> lines = Lines::Open(input.path, split.begin, split.end);
  if (!lines.ok()) return lines.status();
  std::uint64_t reported = split.begin;
  std::uint64_t new_lines = 0;
  while (lines->Next()) {
    const LineOrigin origin = {.input = split.input, .offset = lines->offset()};
    absl::Status mapped = job.Map(lines->line(), origin, output);
    if (!mapped.ok()) return AtLine(input, origin.offset, mapped);
    if (!output.status().ok()) return output.status();
    ++new_lines;
    if (const std::uint64_t read = lines->next_offset() - reported; read >= kReportBytes) {
      watcher.InputRead(read, std::exchange(new_lines, 0));
      reported += read;
    }
  }
  watcher.InputRead(split.end - reported, new_lines);
  if (!lines->status().ok()) return lines->status();
  return job.EndMap(output);
}

// A partition in the output of one map task.
struct MapSegment {
  std::string file;
  Segment segment;
};

// One partition of every map output, copied from the output files. It is in memory while it is
// small, otherwise in one file.
class ShuffledPartition {
 public:
  static constexpr std::uint64_t kMemoryBytesMax = std::uint64_t{64} << 20;

  // Copies the partition. The part beyond `memory_bytes_max` goes to `path`. Reports fetched bytes
  // to `watcher`.
  static absl::StatusOr<ShuffledPartition> Fetch(const std::vector<MapSegment>& segments,
                                                 const std::string& path, ReduceTaskAgent& watcher,
                                                 std::uint64_t memory_bytes_max = kMemoryBytesMax);
  // Returns a reader for each map output. The readers use this partition, which must outlive them.
  std::vector<SegmentReader> Readers() const;

 private:
  struct Place {
    std::uint64_t offset = 0;
    std::uint64_t size_bytes = 0;
  };
  std::vector<Place> places_;
  std::string memory_;
  std::shared_ptr<const InputFileHandle> file_;  // null if the whole partition is in memory
};

constexpr std::uint64_t kCopyBytes = std::uint64_t{256} << 10;

// Opens one map output at a time, since a process may not be able to open all of them.
absl::Status Copy(const MapSegment& from, const std::function<void(std::string_view)>& take) {
  const Segment& segment = from.segment;
  absl::StatusOr<InputFileHandle> file = InputFileHandle::Open(from.file);
  if (!file.ok()) return file.status();
  std::string bytes;
  for (std::uint64_t copied = 0; copied < segment.size_bytes; copied += bytes.size()) {
    bytes.resize(std::min(kCopyBytes, segment.size_bytes - copied));
    absl::Status read = file->ReadAt(segment.offset + copied, bytes.data(), bytes.size());
    if (!read.ok()) return read;
    take(bytes);
  }
  return absl::OkStatus();
}

std::int64_t MonotonicNanos() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Returns the segments of a partition in the outputs of the map tasks.
absl::StatusOr<std::vector<MapSegment>> FindPartition(const JobPlan& plan,
                                                      std::uint32_t partition) {
  std::vector<MapSegment> segments;
  for (std::uint32_t i = 0; i < plan.splits.size(); ++i) {
    absl::StatusOr<TaskResult> map = ReadResult(plan.map_result(i));
    if (!map.ok()) return map.status();
    if (partition >= map->segments.size()) {
      return absl::DataLossError(
          fmt::format("{} has no partition {}", plan.map_output(i), partition));
    }
    segments.push_back({.file = plan.map_output(i), .segment = map->segments[partition]});
  }
  return segments;
}

absl::StatusOr<TaskResult> ReduceGroups(MergedRecords& records, Job& job, Output& output,
                                        ReduceTaskAgent& watcher) {
  TaskResult result;
  result.reduce_began_nanos = MonotonicNanos();
  KeyGroups groups(records, &watcher);
  while (groups.NextGroup()) {
    absl::Status reduced = job.Reduce(groups.key(), groups, output);
    if (!reduced.ok()) return reduced;
    if (!output.ok()) break;  // Close() returns the error
    output.ReportEmitted();
  }
  result.reduce_ended_nanos = MonotonicNanos();
  if (!records.status().ok()) return records.status();
  if (absl::Status closed = output.Close(); !closed.ok()) return closed;
  result.groups = groups.groups();
  result.output = output.totals();
  return result;
}

absl::StatusOr<ShuffledPartition> ShuffledPartition::Fetch(const std::vector<MapSegment>& segments,
                                                           const std::string& path,
                                                           ReduceTaskAgent& watcher,
                                                           std::uint64_t memory_bytes_max) {
  std::uint64_t total_bytes = 0;
  for (const MapSegment& from : segments) total_bytes += from.segment.size_bytes;
  std::optional<FileWriter> writer;
  if (total_bytes > memory_bytes_max) {
    absl::StatusOr<FileWriter> created = FileWriter::Create(path);
    if (!created.ok()) return created.status();
    writer.emplace(*std::move(created));
  }
  ShuffledPartition shuffled;
  const auto take = [&](std::string_view bytes) {
    writer ? writer->Append(bytes) : static_cast<void>(shuffled.memory_.append(bytes));
    watcher.InputFetched(bytes.size());
  };
  std::uint64_t fetched = 0;
  for (const MapSegment& from : segments) {
    shuffled.places_.push_back({.offset = fetched, .size_bytes = from.segment.size_bytes});
    if (absl::Status copied = Copy(from, take); !copied.ok()) return copied;
    fetched += from.segment.size_bytes;
  }
  if (!writer) return shuffled;
  if (absl::Status closed = writer->Close(); !closed.ok()) return closed;
  absl::StatusOr<InputFileHandle> file = InputFileHandle::Open(path);
  if (!file.ok()) return file.status();
  shuffled.file_ = std::make_shared<const InputFileHandle>(*std::move(file));
  return shuffled;
}

std::vector<SegmentReader> ShuffledPartition::Readers() const {
  std::vector<SegmentReader> readers;
  for (const Place& place : places_) {
    if (file_ == nullptr) {
      readers.emplace_back(std::string_view(memory_).substr(place.offset, place.size_bytes));
    } else {
      readers.emplace_back(file_, place.offset, place.size_bytes);
    }
  }
  return readers;
}

}  // namespace

absl::StatusOr<TaskResult> RunMapTask(const JobPlan& plan, const AttemptId& attempt, Job& job,
                                      Agent& agent) {
  const std::unique_ptr<MapTaskAgent> watcher =
      agent.StartMapTask({.index = attempt.index, .attempt = attempt.attempt});
  const std::string directory = plan.attempt_directory(attempt);
  MapOutput output(job, plan.reduce_task_count, directory);
  absl::Status mapped = MapLines(plan, plan.splits[attempt.index], job, output, *watcher);
  if (!mapped.ok()) return mapped;

  TaskResult result;
  absl::StatusOr<std::vector<Segment>> segments = output.Finish(
      PathOf(directory, kOutputName), [&](std::uint32_t partition, std::string_view key,
                                          std::uint64_t size_bytes, std::uint64_t values) {
        watcher->AddGroup(partition, key, size_bytes, values);
        ++result.groups;
      });
  if (!segments.ok()) return segments.status();
  watcher->Finish();
  result.segments = *std::move(segments);
  return result;
}

absl::StatusOr<TaskResult> RunReduceTask(const JobPlan& plan, const AttemptId& attempt, Job& job,
                                         Agent& agent) {
  const std::unique_ptr<ReduceTaskAgent> watcher =
      agent.StartReduceTask({.index = attempt.index, .attempt = attempt.attempt});
  const std::string directory = plan.attempt_directory(attempt);
  const absl::StatusOr<std::vector<MapSegment>> segments = FindPartition(plan, attempt.index);
  if (!segments.ok()) return segments.status();
  absl::StatusOr<ShuffledPartition> shuffled =
      ShuffledPartition::Fetch(*segments, PathOf(directory, "shuffled"), *watcher);
  if (!shuffled.ok()) return shuffled.status();
  watcher->Shuffled();

  absl::StatusOr<std::unique_ptr<OutputSink>> sink =
      OpenSink(plan.output, PathOf(directory, kOutputName));
  if (!sink.ok()) return sink.status();
  Output output(*std::move(sink), [&](std::uint64_t bytes) { watcher->BytesEmitted(bytes); });
  MergedRecords records(shuffled->Readers());
  absl::StatusOr<TaskResult> result = ReduceGroups(records, job, output, *watcher);
  watcher->Finish();
  return result;
}

}  // namespace tidemark::examples
