// A file of sorted records, partition by partition: what a map task leaves behind.
//
// Layout: the segments of partitions 0..R-1, each a run of records
//   key size, value size (32 bits each), key bytes, value bytes
// then for each partition its offset, size, record count and record bytes (64 bits each), then R
// and a magic number (64 bits each). Integers are as the machine has them: the file never leaves
// it.
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
  // Writes the index.
  absl::Status Close();

 private:
  SpillWriter(FileWriter file, std::uint32_t partition_count);
  FileWriter file_;
  std::vector<Segment> segments_;
};

class SpillFile {
 public:
  // DataLoss: not a whole spill file.
  static absl::StatusOr<SpillFile> Open(const std::string& path);
  const std::vector<Segment>& segments() const { return segments_; }
  const std::shared_ptr<const InputFileHandle>& file() const { return file_; }

 private:
  SpillFile(InputFileHandle file, std::vector<Segment> segments);
  std::shared_ptr<const InputFileHandle> file_;
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
