#include "whatif/phases/shuffle_write.h"

#include "whatif/phases/byte_work.h"
#include "whatif/phases/memory.h"

namespace tidemark::phases {
namespace {

// Spark's source: SortShuffleManager, MAX_SHUFFLE_OUTPUT_PARTITIONS_FOR_SERIALIZED_MODE.
constexpr double kSerializedPartitionsMax = 1 << 24;
// Of a record in the serialized shuffle, beside its bytes: an address of 8 bytes, and as much again
// for the radix sort. Spark's source, ShuffleInMemorySorter.
constexpr double kAddressBytes = 16;

bool TakesSerialized(const StageShape& shape, double next_tasks, const Settings& settings) {
  const bool is_on = settings.version >= Version{1, 6}
                         ? settings.shuffle_manager == ShuffleManager::kSort
                         : settings.shuffle_manager == ShuffleManager::kTungsten;
  return is_on && shape.is_relocatable && !shape.combines_map_side &&
         next_tasks <= kSerializedPartitionsMax;
}

// Into a file for each partition.
Work WriteApart(const Flow& out, const Compression& compression, double serialize_ratio) {
  Work work = out.bytes * SerializeAndWrite(compression, serialize_ratio);
  work[Cost::kPartition] = out.records;
  return work;
}

// Files are copied as they are.
Work Copy(double bytes) {
  Work work;
  work[Cost::kLocalRead] = bytes;
  work[Cost::kLocalWrite] = bytes;
  return work;
}

// Case 1 and 2 of section 6 where records are gathered as objects. The sort manager partitions what
// comes in, the hash manager what goes out.
void WriteObjects(const Gathered& gathered, const Compression& spilled, const Compression& shuffle,
                  const DataStatistics& data, ShuffleWrite& write) {
  const Selectivity merge = gathered.is_combined ? data.write_merge : Selectivity{};
  write.spill = SpillWork(gathered, write.spills, spilled);
  write.merge = MergeWork(gathered, write.spills, spilled);
  write.merge += write.spills.combined_records * gathered.width_in_memory * merge.bytes *
                 SerializeAndWrite(shuffle, gathered.serialize_ratio);
  if (write.writer == ShuffleWriter::kHash) {
    write.merge[Cost::kPartition] += write.spills.combined_records * merge.records;
  } else {
    write.spill[Cost::kPartition] += gathered.records;
  }
}

}  // namespace

ShuffleWriter WriterOf(const StageShape& shape, double next_tasks, const Settings& settings) {
  if (settings.shuffle_manager == ShuffleManager::kHash) return ShuffleWriter::kHash;
  const bool bypasses = !shape.combines_map_side && next_tasks <= settings.bypass_threshold;
  if (bypasses && settings.shuffle_manager == ShuffleManager::kSort) return ShuffleWriter::kBypass;
  return TakesSerialized(shape, next_tasks, settings) ? ShuffleWriter::kSerialized
                                                      : ShuffleWriter::kSorted;
}

ShuffleWrite WriteShuffle(const Flow& out, const StageShape& shape, double next_tasks,
                          double cached_bytes, const DataStatistics& data,
                          const Settings& settings) {
  const bool is_combined = shape.combines_map_side;
  const Compression shuffle = OfShuffle(settings, data);
  ShuffleWrite write = {.writer = WriterOf(shape, next_tasks, settings)};
  const Selectivity combine = is_combined ? data.write_combine : Selectivity{};
  const Selectivity merge = is_combined ? data.write_merge : Selectivity{};
  write.written = {out.records * combine.records * merge.records,
                   out.bytes * combine.bytes * merge.bytes * data.serialize_ratio * shuffle.ratio};
  if (write.writer == ShuffleWriter::kBypass ||
      (write.writer == ShuffleWriter::kHash && !is_combined)) {
    write.spill = WriteApart(out, shuffle, data.serialize_ratio);
    if (write.writer == ShuffleWriter::kBypass) write.merge = Copy(write.written.bytes);
    return write;
  }
  const double buffer = SpillBufferBytes(settings, cached_bytes);
  const double width = out.records > 0 ? out.bytes / out.records : 0;
  if (write.writer == ShuffleWriter::kSerialized) {
    // A spill is written once, as the output is if there is none.
    const Gathered gathered = {.records = out.records,
                               .width_in_memory = width * data.serialize_ratio + kAddressBytes};
    write.spills = SpillsOf(gathered, buffer, settings.spills, shuffle);
    write.spill = WriteApart(out, shuffle, data.serialize_ratio);
    if (write.spills.count > 0) write.merge = Copy(write.written.bytes);
    return write;
  }
  const Gathered gathered = {.records = out.records,
                             .combine_selectivity = combine.records,
                             .width_in_memory = data.write_width_in_memory,
                             .serialize_ratio = data.serialize_ratio,
                             .is_combined = is_combined};
  const Compression spilled =
      write.writer == ShuffleWriter::kHash ? OfSpills(settings, data) : shuffle;
  write.spills = SpillsOf(gathered, buffer, settings.spills, spilled);
  WriteObjects(gathered, spilled, shuffle, data, write);
  return write;
}

}  // namespace tidemark::phases
