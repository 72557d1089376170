#include "examples/local_mapreduce/map_output.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>

#include "examples/local_mapreduce/spill_file.h"
#include "fmt/format.h"

namespace tidemark::examples {
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

}  // namespace tidemark::examples
