#include "bench/accuracy/cost_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/util/delimited_message_util.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <utility>

#include "cost_log.pb.h"
#include "examples/local_mapreduce/file_io.h"

namespace tidemark::bench {
namespace {

constexpr std::uint32_t kFormatVersion = 1;
// Limits the size of a part far below Protobuf's limit, so that reading and writing take little
// memory.
constexpr std::size_t kItemsPerPart = std::size_t{1} << 20;

class Writer {
 public:
  explicit Writer(int fd) : stream_(fd) { stream_.SetCloseOnDelete(true); }

  void Write(const CostLogPart& part) {
    ok_ = ok_ && google::protobuf::util::SerializeDelimitedToZeroCopyStream(part, &stream_);
  }
  // Returns 0, or the error that made the file incomplete.
  int Close() {
    const bool flushed = ok_ && stream_.Flush();
    return flushed ? 0 : std::max(stream_.GetErrno(), EIO);
  }

 private:
  google::protobuf::io::FileOutputStream stream_;
  bool ok_ = true;
};

void WriteGroups(const CostLog& log, Writer& writer) {
  for (std::size_t begin = 0; begin < log.groups.size(); begin += kItemsPerPart) {
    const std::size_t end = std::min(begin + kItemsPerPart, log.groups.size());
    CostLogPart part;
    GroupColumns& columns = *part.mutable_groups();
    for (std::size_t i = begin; i < end; ++i) {
      const GroupCost& group = log.groups[i];
      columns.add_keys(static_cast<std::uint64_t>(group.key));
      columns.add_sizes_bytes(group.size_bytes);
      columns.add_emitted_bytes(group.emitted_bytes);
      columns.add_values(group.values);
      for (const float seconds : group.seconds) columns.add_seconds(seconds);
    }
    writer.Write(part);
  }
}

void WriteMapTask(const MapTaskLog& task, std::uint32_t index, Writer& writer) {
  std::size_t next = 0;
  do {
    CostLogPart part;
    MapTaskColumns& columns = *part.mutable_map_task();
    columns.set_map_task(index);
    columns.set_input_name(task.input_name);
    columns.set_input_bytes(task.input_bytes);
    const std::size_t end = std::min(next + kItemsPerPart, task.shares.size());
    std::uint32_t before = 0;
    for (; next < end; ++next) {
      const GroupShare& share = task.shares[next];
      columns.add_group_steps(share.group - std::exchange(before, share.group));
      columns.add_sizes_bytes(share.size_bytes);
    }
    writer.Write(part);
  } while (next < task.shares.size());
}

void WriteLog(const CostLog& log, Writer& writer) {
  CostLogPart header;
  header.mutable_header()->set_format_version(kFormatVersion);
  header.mutable_header()->set_identity(log.identity);
  header.mutable_header()->set_group_count(log.groups.size());
  writer.Write(header);
  WriteGroups(log, writer);
  for (std::uint32_t i = 0; i < log.map_tasks.size(); ++i) {
    WriteMapTask(log.map_tasks[i], i, writer);
  }
  for (const auto& [count, partitions] : log.partitions) {
    CostLogPart part;
    part.mutable_partitions()->set_reduce_task_count(count);
    part.mutable_partitions()->mutable_partitions()->Add(partitions.begin(), partitions.end());
    writer.Write(part);
  }
  for (const auto& [group, curve] : log.curves) {
    CostLogPart part;
    CurveColumns& columns = *part.mutable_curve();
    columns.set_group(group);
    for (const CurvePoint& point : curve) {
      columns.add_elapsed_shares(point.elapsed_share);
      columns.add_bytes_read(point.bytes_read);
      columns.add_values_read(point.values_read);
      columns.add_bytes_emitted(point.bytes_emitted);
    }
    writer.Write(part);
  }
}

class Reader {
 public:
  static absl::StatusOr<Reader> Open(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return examples::FileError("open", path, errno);
    return Reader(fd, path);
  }

  // Returns the next part. Returns nullopt at the end of the file or after an error, which status()
  // returns.
  const CostLogPart* Next() {
    bool clean_end = false;
    part_.Clear();
    if (google::protobuf::util::ParseDelimitedFromZeroCopyStream(&part_, stream_.get(),
                                                                 &clean_end)) {
      return &part_;
    }
    if (!clean_end) status_ = Damaged();
    return nullptr;
  }
  // Returns the first part.
  absl::StatusOr<CostLogHeader> Header() {
    const CostLogPart* part = Next();
    if (part != nullptr && part->header().format_version() == kFormatVersion) {
      return part->header();
    }
    return Damaged();
  }
  const absl::Status& status() const { return status_; }
  absl::Status Damaged() const {
    return absl::DataLossError(fmt::format("{} is not a complete cost log of this version", path_));
  }

 private:
  Reader(int fd, std::string path)
      : path_(std::move(path)),
        stream_(std::make_unique<google::protobuf::io::FileInputStream>(fd)) {
    stream_->SetCloseOnDelete(true);
  }

  std::string path_;
  std::unique_ptr<google::protobuf::io::FileInputStream> stream_;
  CostLogPart part_;
  absl::Status status_;
};

// These functions add columns to the log. They return false if the columns are inconsistent.
bool Take(const GroupColumns& columns, CostLog& log) {
  const int count = columns.keys_size();
  if (columns.sizes_bytes_size() != count || columns.emitted_bytes_size() != count ||
      columns.values_size() != count ||
      columns.seconds_size() != count * static_cast<int>(kTimes)) {
    return false;
  }
  int next = 0;  // next index into the seconds
  for (int i = 0; i < count; ++i) {
    GroupCost& group = log.groups.emplace_back();
    group.key = KeyHash{columns.keys(i)};
    group.size_bytes = columns.sizes_bytes(i);
    group.emitted_bytes = columns.emitted_bytes(i);
    group.values = columns.values(i);
    for (float& seconds : group.seconds) seconds = columns.seconds(next++);
  }
  return true;
}

bool Take(const MapTaskColumns& columns, CostLog& log) {
  const std::uint32_t index = columns.map_task();
  if (columns.group_steps_size() != columns.sizes_bytes_size()) return false;
  if (index > log.map_tasks.size()) return false;  // Map tasks are in ascending order.
  if (index == log.map_tasks.size()) log.map_tasks.emplace_back();
  MapTaskLog& task = log.map_tasks[index];
  task.input_name = columns.input_name();
  task.input_bytes = columns.input_bytes();
  std::uint32_t group = 0;
  for (int i = 0; i < columns.group_steps_size(); ++i) {
    group += columns.group_steps(i);
    if (group >= log.groups.size()) return false;
    task.shares.push_back({group, columns.sizes_bytes(i)});
  }
  return true;
}

bool Take(const PartitionColumn& column, CostLog& log) {
  std::vector<std::uint16_t>& partitions = log.partitions[column.reduce_task_count()];
  for (const std::uint32_t partition : column.partitions()) {
    if (partition >= column.reduce_task_count()) return false;
    partitions.push_back(static_cast<std::uint16_t>(partition));
  }
  return partitions.size() == log.groups.size();
}

bool Take(const CurveColumns& columns, CostLog& log) {
  const int count = columns.elapsed_shares_size();
  if (columns.bytes_read_size() != count || columns.values_read_size() != count ||
      columns.bytes_emitted_size() != count || columns.group() >= log.groups.size()) {
    return false;
  }
  Curve& curve = log.curves[columns.group()];
  for (int i = 0; i < count; ++i) {
    curve.push_back({columns.elapsed_shares(i), columns.bytes_read(i), columns.values_read(i),
                     columns.bytes_emitted(i)});
  }
  return true;
}

bool Take(const CostLogPart& part, CostLog& log) {
  switch (part.part_case()) {
    case CostLogPart::kGroups:
      return Take(part.groups(), log);
    case CostLogPart::kMapTask:
      return Take(part.map_task(), log);
    case CostLogPart::kPartitions:
      return Take(part.partitions(), log);
    case CostLogPart::kCurve:
      return Take(part.curve(), log);
    default:
      return false;
  }
}

}  // namespace

double GroupCost::mean_seconds() const {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0) / kTimes;
}

double CostLog::total_seconds() const {
  double total = 0;
  for (const GroupCost& group : groups) total += group.mean_seconds();
  return total;
}

absl::Status SaveCostLog(const CostLog& log, const std::string& path) {
  const std::string unfinished = path + ".new";
  const int fd = ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return examples::FileError("create", unfinished, errno);
  {
    Writer writer(fd);
    WriteLog(log, writer);
    if (const int error = writer.Close(); error != 0) {
      return examples::FileError("write", unfinished, error);
    }
  }
  return examples::Rename(unfinished, path);
}

absl::StatusOr<CostLog> LoadCostLog(const std::string& path) {
  absl::StatusOr<Reader> reader = Reader::Open(path);
  if (!reader.ok()) return reader.status();
  absl::StatusOr<CostLogHeader> header = reader->Header();
  if (!header.ok()) return header.status();
  CostLog log;
  log.identity = header->identity();
  log.groups.reserve(header->group_count());
  while (const CostLogPart* part = reader->Next()) {
    if (!Take(*part, log)) return reader->Damaged();
  }
  if (!reader->status().ok()) return reader->status();
  if (log.groups.size() != header->group_count()) return reader->Damaged();
  return log;
}

absl::StatusOr<std::string> ReadCostLogIdentity(const std::string& path) {
  absl::StatusOr<Reader> reader = Reader::Open(path);
  if (!reader.ok()) return reader.status();
  absl::StatusOr<CostLogHeader> header = reader->Header();
  if (!header.ok()) return header.status();
  return header->identity();
}

}  // namespace tidemark::bench
