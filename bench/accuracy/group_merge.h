// Reads the outputs of all map tasks group by group, like a reduce task, with the share of each map
// task.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "examples/local_mapreduce/sorted_records.h"
#include "examples/local_mapreduce/spill_file.h"

namespace tidemark::bench {

// The records of one key group in memory, readable any number of times.
class GroupRecords final : public examples::SortedRecords {
 public:
  // Removes all values.
  void Start(std::string_view key);
  void Append(std::string_view value);

  std::size_t count() const { return value_ends_.size(); }
  std::uint64_t size_bytes() const {
    return value_ends_.size() * group_key_.size() + bytes_.size();
  }
  std::string_view group_key() const { return group_key_; }

  // Rewinds to the first record.
  void Rewind();
  bool Next() override;

 private:
  std::string group_key_;
  std::string bytes_;
  std::vector<std::size_t> value_ends_;
  std::size_t next_ = 0;
  std::size_t next_begin_ = 0;
};

// Yields each key group once in key order, with its records in the order of the map tasks. O(log m)
// key comparisons per group and map task, for m map tasks.
class GroupMerge {
 public:
  // The part of a group from one map task.
  struct Part {
    std::uint32_t map_task = 0;
    std::uint64_t size_bytes = 0;
  };

  // Takes one reader per map task.
  explicit GroupMerge(std::vector<examples::SegmentReader> map_outputs);

  // Replaces `group` by the next one. Returns false at the end or after an error, which status()
  // describes.
  bool Next(GroupRecords& group);
  // Returns the shares of the last group by map task.
  const std::vector<Part>& parts() const { return parts_; }
  const absl::Status& status() const { return status_; }

 private:
  bool ComesAfter(std::uint32_t a, std::uint32_t b) const;
  void Push(std::uint32_t map_task);
  std::uint32_t Pop();
  bool Advance(std::uint32_t map_task);

  std::vector<examples::SegmentReader> readers_;
  std::vector<std::uint32_t> heap_;  // map tasks with a current record; the smallest key is first
  std::vector<Part> parts_;
  absl::Status status_;
};

}  // namespace tidemark::bench
