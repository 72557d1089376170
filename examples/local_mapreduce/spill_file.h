// A file of sorted records, partition by partition: what a map task leaves behind.
//
// It holds the segments of partitions 0..R-1, each a run of records
//   key size, value size (32 bits each, as the machine has them), key bytes, value bytes
// Where they are is not in the file but in the result of the task (job_plan.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "examples/local_mapreduce/file_io.h"
#include "examples/local_mapreduce/sorted_records.h"

namespace tidemark::examples {

// Where a partition is in a spill file.
struct Segment {
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;  // in the file
  std::uint64_t records = 0;
  std::uint64_t record_bytes = 0;  // sum of RecordBytes()
  friend bool operator==(const Segment&, const Segment&) = default;
};

class SpillWriter {
 public:
  static absl::StatusOr<SpillWriter> Create(const std::string& path, std::uint32_t partition_count);

  // Partitions must not decrease, nor keys within a partition.
  void Append(std::uint32_t partition, std::string_view key, std::string_view value);
  const absl::Status& status() const { return file_.status(); }
  const std::vector<Segment>& segments() const { return segments_; }
  absl::Status Close() { return file_.Close(); }

 private:
  SpillWriter(FileWriter file, std::uint32_t partition_count);
  FileWriter file_;
  std::vector<Segment> segments_;
};

// Reads one segment, from memory or from a file through a buffer.
class SegmentReader {
 public:
  explicit SegmentReader(std::string_view bytes);  // which must outlive the reader
  SegmentReader(std::shared_ptr<const InputFileHandle> file, std::uint64_t offset,
                std::uint64_t size_bytes);

  bool Next();
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }
  const absl::Status& status() const { return status_; }

 private:
  bool Ensure(std::uint64_t size);
  bool Fetch(std::uint64_t size);

  std::string_view window_;  // not yet read, in memory
  std::string_view key_;
  std::string_view value_;
  std::shared_ptr<const InputFileHandle> file_;  // null: all of it is in memory
  std::uint64_t offset_ = 0;
  std::uint64_t left_in_file_ = 0;
  std::vector<char> buffer_;
  absl::Status status_;
};

}  // namespace tidemark::examples
