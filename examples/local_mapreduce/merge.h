// Sorted segments read as one.
#pragma once

#include <cstdint>
#include <vector>

#include "examples/local_mapreduce/sorted_records.h"
#include "examples/local_mapreduce/spill_file.h"

namespace tidemark::examples {

// The first eight bytes of a key as a number that compares as they do.
std::uint64_t KeyPrefix(std::string_view key);

// The records of k segments in key order; those of equal keys in no promised order. O(log k) key
// comparisons for each record. Memory: the segments' own.
class MergedRecords : public SortedRecords {
 public:
  explicit MergedRecords(std::vector<SegmentReader> segments);
  MergedRecords(const MergedRecords&) = delete;
  MergedRecords& operator=(const MergedRecords&) = delete;
  bool Next() override;

 private:
  struct Head {
    std::uint64_t prefix = 0;  // of the key, which it mostly saves a look at
    SegmentReader* segment = nullptr;
  };
  static bool Before(const Head& a, const Head& b);
  bool Advance(Head& head);
  void SiftDown(std::size_t place);

  std::vector<SegmentReader> segments_;
  std::vector<Head> heap_;  // the least key first
  bool started_ = false;
};

}  // namespace tidemark::examples
