// How a reduce task gets its input.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "examples/local_mapreduce/spill_file.h"
#include "tidemark/agent.h"

namespace tidemark::examples {

// A partition in the output of one map task.
struct MapSegment {
  std::string file;
  Segment segment;
};

// One partition of every map output, copied out of their files: into memory while it is small, else
// into one file.
class ShuffledPartition {
 public:
  static constexpr std::uint64_t kMemoryBytesMax = std::uint64_t{64} << 20;

  // Copies to `path` what does not fit `memory_bytes_max`; tells `watcher` of bytes fetched.
  static absl::StatusOr<ShuffledPartition> Fetch(const std::vector<MapSegment>& segments,
                                                 const std::string& path, ReduceTaskAgent& watcher,
                                                 std::uint64_t memory_bytes_max = kMemoryBytesMax);
  // One for each map output. They use this partition, which must outlive them.
  std::vector<SegmentReader> Readers() const;

 private:
  struct Place {
    std::uint64_t offset = 0;
    std::uint64_t size_bytes = 0;
  };
  std::vector<Place> places_;
  std::string memory_;
  std::shared_ptr<const InputFileHandle> file_;  // null: all is in memory
};

}  // namespace tidemark::examples
