// The intermediate records of one map task, which are sorted, combined, spilled and merged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "examples/local_mapreduce/job.h"
#include "examples/local_mapreduce/spill_file.h"

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

// Uses at most `memory_bytes_max` for records and their positions, and one more record.
class MapOutput : public Emitter {
 public:
  static constexpr std::size_t kMemoryBytesMax = std::size_t{64} << 20;

  // Spills into `directory`. `job` partitions and combines records, and must outlive this object.
  MapOutput(Job& job, std::uint32_t partition_count, std::string directory,
            std::size_t memory_bytes_max = kMemoryBytesMax);

  // After the first error, drops records; status() and Finish() return the error.
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

}  // namespace tidemark::examples
