#include "examples/local_mapreduce/tasks.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "examples/local_mapreduce/input.h"
#include "examples/local_mapreduce/spill_file.h"
#include "fmt/format.h"

namespace tidemark::examples {

// The position of a record in the memory of a map task.
struct BufferedRecord {
  std::uint64_t prefix = 0;  // KeyPrefix()
  std::uint64_t offset = 0;
  std::uint32_t partition = 0;
  std::uint32_t key_size = 0;
  std::uint32_t value_size = 0;
};

// Called for each key group of the final output, by partition and key. `size_bytes` is the sum of
// its RecordBytes().
using GroupListener = std::function<void(std::uint32_t partition, std::string_view key,
                                         std::uint64_t size_bytes, std::uint64_t values)>;

// The intermediate records of one map task, which are sorted, combined, spilled and merged. Uses at
// most `memory_bytes_max` for records and their positions, and one more record.
class MapOutput : public Emitter {
 public:
  static constexpr std::size_t kMemoryBytesMax = std::size_t{64} << 20;

  // Spills into `directory`. `job` partitions and combines records, and must outlive this object.
  MapOutput(Job& job, std::uint32_t partition_count, std::string directory,
            std::size_t memory_bytes_max = kMemoryBytesMax);

  // After the first error, records are dropped. status() and Finish() return the error.
  void Emit(std::string_view key, std::string_view value) override;
  const absl::Status& status() const { return status_; }

  // Writes all records to one file, in key order within each partition. Returns the partitions.
  absl::StatusOr<std::vector<Segment>> Finish(const std::string& path,
                                              const GroupListener& on_group);

 private:
  absl::Status Spill();
  void Sort();
  absl::Status WriteBuffer(SpillWriter& writer, const GroupListener& on_group);
  absl::Status MergeSpills(SpillWriter& writer, const GroupListener& on_group);
  absl::Status WriteGroups(std::uint32_t partition, SortedRecords& records, SpillWriter& writer,
                           const GroupListener& on_group);

  Job& job_;
  std::uint32_t partition_count_;
  std::string directory_;
  std::size_t memory_bytes_max_;
  std::string bytes_;
  std::vector<BufferedRecord> records_;
  struct SpillFile {
    std::string path;
    std::vector<Segment> segments;
  };
  std::vector<SpillFile> spills_;
  absl::Status status_;
};

namespace {

std::string_view KeyOf(const BufferedRecord& record, std::string_view bytes) {
  return bytes.substr(record.offset, record.key_size);
}

// A range of sorted records in memory.
class BufferedRecords : public SortedRecords {
 public:
  BufferedRecords(const BufferedRecord* begin, const BufferedRecord* end, std::string_view bytes)
      : at_(begin), end_(end), bytes_(bytes) {}
  bool Next() override {
    if (at_ == end_) return false;
    key_ = KeyOf(*at_, bytes_);
    value_ = bytes_.substr(at_->offset + at_->key_size, at_->value_size);
    ++at_;
    return true;
  }

 private:
  const BufferedRecord* at_;
  const BufferedRecord* end_;
  std::string_view bytes_;
};

}  // namespace

MapOutput::MapOutput(Job& job, std::uint32_t partition_count, std::string directory,
                     std::size_t memory_bytes_max)
    : job_(job),
      partition_count_(partition_count),
      directory_(std::move(directory)),
      memory_bytes_max_(memory_bytes_max) {}

void MapOutput::Emit(std::string_view key, std::string_view value) {
  constexpr std::size_t kSizeMax = std::numeric_limits<std::uint32_t>::max();
  if (!status_.ok()) return;
  const std::uint32_t partition = job_.Partition(key);
  if (partition >= partition_count_) {
    status_ = absl::InternalError(fmt::format(
        "the partitioner returned {}, but there are {} partitions", partition, partition_count_));
    return;
  }
  if (key.size() > kSizeMax || value.size() > kSizeMax) {
    status_ = absl::InvalidArgumentError("a key or value is larger than 4 GiB");
    return;
  }
  const std::size_t held = bytes_.size() + records_.size() * sizeof(BufferedRecord);
  if (held >= memory_bytes_max_) status_ = Spill();
  records_.push_back({.prefix = KeyPrefix(key),
                      .offset = bytes_.size(),
                      .partition = partition,
                      .key_size = static_cast<std::uint32_t>(key.size()),
                      .value_size = static_cast<std::uint32_t>(value.size())});
  bytes_.append(key).append(value);
}

void MapOutput::Sort() {
  const std::string_view bytes = bytes_;
  std::sort(records_.begin(), records_.end(),
            [bytes](const BufferedRecord& a, const BufferedRecord& b) {
              if (a.partition != b.partition) return a.partition < b.partition;
              if (a.prefix != b.prefix) return a.prefix < b.prefix;
              return KeyOf(a, bytes) < KeyOf(b, bytes);
            });
}

absl::Status MapOutput::Spill() {
  const std::string path = PathOf(directory_, fmt::format("spill-{}", spills_.size()));
  absl::StatusOr<SpillWriter> writer = SpillWriter::Create(path, partition_count_);
  if (!writer.ok()) return writer.status();
  if (absl::Status written = WriteBuffer(*writer, nullptr); !written.ok()) return written;
  if (absl::Status closed = writer->Close(); !closed.ok()) return closed;
  spills_.push_back({path, writer->segments()});
  records_.clear();
  bytes_.clear();
  return absl::OkStatus();
}

absl::Status MapOutput::WriteBuffer(SpillWriter& writer, const GroupListener& on_group) {
  Sort();
  const BufferedRecord* const end = records_.data() + records_.size();
  for (const BufferedRecord* begin = records_.data(); begin != end;) {
    const std::uint32_t partition = begin->partition;
    const BufferedRecord* const partition_end = std::partition_point(
        begin, end, [=](const BufferedRecord& record) { return record.partition == partition; });
    BufferedRecords records(begin, partition_end, bytes_);
    absl::Status written = WriteGroups(partition, records, writer, on_group);
    if (!written.ok()) return written;
    begin = partition_end;
  }
  return absl::OkStatus();
}

absl::Status MapOutput::MergeSpills(SpillWriter& writer, const GroupListener& on_group) {
  std::vector<std::shared_ptr<const InputFileHandle>> files;
  for (const SpillFile& spill : spills_) {
    absl::StatusOr<InputFileHandle> file = InputFileHandle::Open(spill.path);
    if (!file.ok()) return file.status();
    files.push_back(std::make_shared<const InputFileHandle>(*std::move(file)));
  }
  for (std::uint32_t partition = 0; partition < partition_count_; ++partition) {
    std::vector<SegmentReader> segments;
    for (std::size_t i = 0; i < files.size(); ++i) {
      const Segment& segment = spills_[i].segments[partition];
      segments.emplace_back(files[i], segment.offset, segment.size_bytes);
    }
    MergedRecords records(std::move(segments));
    absl::Status written = WriteGroups(partition, records, writer, on_group);
    if (!written.ok()) return written;
  }
  for (const SpillFile& spill : spills_) std::remove(spill.path.c_str());
  return absl::OkStatus();
}

absl::Status MapOutput::WriteGroups(std::uint32_t partition, SortedRecords& records,
                                    SpillWriter& writer, const GroupListener& on_group) {
  const bool combine = job_.has_combiner();
  KeyGroups groups(records, nullptr);
  std::string combined;
  while (groups.NextGroup()) {
    const std::uint64_t bytes_before = writer.segments()[partition].record_bytes;
    std::uint64_t values = 0;
    if (combine) {
      if (absl::Status done = job_.Combine(groups, combined); !done.ok()) return done;
      writer.Append(partition, groups.key(), combined);
      values = 1;
    } else {
      for (auto value = groups.Next(); value; value = groups.Next(), ++values) {
        writer.Append(partition, groups.key(), *value);
      }
    }
    const std::uint64_t size_bytes = writer.segments()[partition].record_bytes - bytes_before;
    if (on_group) on_group(partition, groups.key(), size_bytes, values);
    if (!writer.status().ok()) return writer.status();
  }
  return records.status();
}

absl::StatusOr<std::vector<Segment>> MapOutput::Finish(const std::string& path,
                                                       const GroupListener& on_group) {
  if (!spills_.empty() && status_.ok()) status_ = Spill();
  if (!status_.ok()) return status_;
  absl::StatusOr<SpillWriter> writer = SpillWriter::Create(path, partition_count_);
  if (!writer.ok()) return writer.status();
  status_ = spills_.empty() ? WriteBuffer(*writer, on_group) : MergeSpills(*writer, on_group);
  if (!status_.ok()) return status_;
  if (absl::Status closed = writer->Close(); !closed.ok()) return closed;
  return writer->segments();
}

namespace {

// The amount of input after which a task calls the agent again.
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

// One partition of every map output, copied from the output files. A small partition is in memory,
// and a large one is in a file.
class ShuffledPartition {
 public:
  static constexpr std::uint64_t kMemoryBytesMax = std::uint64_t{64} << 20;

  // Copies the partition. Writes bytes beyond `memory_bytes_max` to the file `path`. Reports
  // fetched bytes to `watcher`.
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

// Only one map output is open at a time, since the number of open files is limited.
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
    if (!output.ok()) break;  // Close() returns the error.
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
