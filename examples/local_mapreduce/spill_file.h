// A file of sorted records by partition: the output of a map task.
//
// It contains the segments of partitions 0..R-1. A segment is a sequence of records. A record
// contains the sizes of key and value (32 bits each, in the byte order of the machine), the key and
// the value. The result of the task (job_plan.h) contains the positions of the segments.
//
// MergedRecords reads several segments in key order.
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

// The position of a partition in a spill file.
struct Segment {
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;  // position in the file
  std::uint64_t records = 0;
  std::uint64_t record_bytes = 0;  // sum of RecordBytes()
  friend bool operator==(const Segment&, const Segment&) = default;
};

class SpillWriter {
 public:
  static absl::StatusOr<SpillWriter> Create(const std::string& path, std::uint32_t partition_count);

  // Appends a record. Partitions must be in ascending order, and so must the keys within a
  // partition.
  void Append(std::uint32_t partition, std::string_view key, std::string_view value);
  const absl::Status& status() const { return file_.status(); }
  const std::vector<Segment>& segments() const { return segments_; }
  absl::Status Close() { return file_.Close(); }

 private:
  SpillWriter(FileWriter file, std::uint32_t partition_count);
  FileWriter file_;
  std::vector<Segment> segments_;
};

// Reads one segment, either from memory or through a buffer from a file.
class SegmentReader {
 public:
  explicit SegmentReader(std::string_view bytes);  // must outlive the reader
  SegmentReader(std::shared_ptr<const InputFileHandle> file, std::uint64_t offset,
                std::uint64_t size_bytes);

  bool Next();
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }
  const absl::Status& status() const { return status_; }

 private:
  bool Ensure(std::uint64_t size);
  bool Fetch(std::uint64_t size);

  std::string_view window_;  // unread bytes in memory
  std::string_view key_;
  std::string_view value_;
  std::shared_ptr<const InputFileHandle> file_;  // null if the whole segment is in memory
  std::uint64_t offset_ = 0;
  std::uint64_t left_in_file_ = 0;
  std::vector<char> buffer_;
  absl::Status status_;
};

// Returns the first eight bytes of a key as a number. Numbers have the same order as the prefixes.
std::uint64_t KeyPrefix(std::string_view key);

// The records of k segments in key order. Records with equal keys have no specified order. Next()
// takes O(log k) key comparisons. Only the segments take memory.
class MergedRecords : public SortedRecords {
 public:
  explicit MergedRecords(std::vector<SegmentReader> segments);
  MergedRecords(const MergedRecords&) = delete;
  MergedRecords& operator=(const MergedRecords&) = delete;
  bool Next() override;

 private:
  struct Head {
    std::uint64_t prefix = 0;  // prefix of the key; most comparisons need only the prefix
    SegmentReader* segment = nullptr;
  };
  static bool Before(const Head& a, const Head& b);
  bool Advance(Head& head);
  void SiftDown(std::size_t place);

  std::vector<SegmentReader> segments_;
  std::vector<Head> heap_;  // heap with the smallest key first
  bool started_ = false;
};

}  // namespace tidemark::examples
