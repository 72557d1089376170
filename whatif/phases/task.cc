#include "whatif/phases/task.h"

#include <algorithm>
#include <cmath>

namespace tidemark::phases {

Work& Work::operator+=(const Work& other) {
  for (std::size_t i = 0; i < kCosts; ++i) units[i] += other.units[i];
  return *this;
}

Work operator*(double times, Work work) {
  for (double& units : work.units) units *= times;
  return work;
}

double Seconds(const Work& work, const CostStatistics& costs) {
  double seconds = 0;
  for (std::size_t i = 0; i < kCosts; ++i) seconds += work.units[i] * costs.seconds[i];
  return seconds;
}

bool IsOfProcessor(Cost cost) { return cost >= Cost::kCompute && cost <= Cost::kSerialize; }

const char* NameOf(Cost cost) {
  constexpr const char* kNames[kCosts] = {"input read", "output write", "local read", "local write",
                                          "network",    "compute",      "combine",    "merge",
                                          "partition",  "sort",         "compress",   "uncompress",
                                          "serialize",  "setup",        "cleanup"};
  return kNames[Index(cost)];
}

namespace {

// Returns the number of comparisons to sort the records.
double Comparisons(double records) { return records > 1 ? records * std::log2(records) : 0; }

Work Fetch(const ShuffleRead& read, const Compression& compression) {  // eq. 15
  Work work = read.fetched.bytes * Deserialize(compression);
  work[Cost::kLocalRead] += read.local_bytes;
  work[Cost::kNetwork] += read.remote_bytes;
  return work;
}

// Source: Spark's SortShuffleManager, MAX_SHUFFLE_OUTPUT_PARTITIONS_FOR_SERIALIZED_MODE.
constexpr double kSerializedPartitionsMax = 1 << 24;
// Size per record of the serialized shuffle, in addition to its bytes: an address of 8 bytes, and
// as much for the radix sort. Source: Spark's ShuffleInMemorySorter.
constexpr double kAddressBytes = 16;

bool TakesSerialized(const StageShape& shape, double next_tasks, const Settings& settings) {
  const bool is_on = settings.version >= Version{1, 6}
                         ? settings.shuffle_manager == ShuffleManager::kSort
                         : settings.shuffle_manager == ShuffleManager::kTungsten;
  return is_on && shape.is_relocatable && !shape.combines_map_side &&
         next_tasks <= kSerializedPartitionsMax;
}

// Writes a file for each partition.
Work WriteApart(const Flow& out, const Compression& compression, double serialize_ratio) {
  Work work = out.bytes * SerializeAndWrite(compression, serialize_ratio);
  work[Cost::kPartition] = out.records;
  return work;
}

// Copies files unchanged.
Work Copy(double bytes) {
  Work work;
  work[Cost::kLocalRead] = bytes;
  work[Cost::kLocalWrite] = bytes;
  return work;
}

// Cases 1 and 2 of section 6, in which records are gathered as objects. The sort manager partitions
// its input, and the hash manager its output.
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

Compression OfShuffle(const Settings& settings, const DataStatistics& data) {
  return settings.compresses_shuffle ? Compression{true, data.compress_ratio} : Compression{};
}

Compression OfSpills(const Settings& settings, const DataStatistics& data) {
  return settings.compresses_spills ? Compression{true, data.compress_ratio} : Compression{};
}

Work SerializeAndWrite(const Compression& compression, double serialize_ratio) {
  Work work;
  work[Cost::kSerialize] = 1;
  work[Cost::kCompress] = compression.is_on ? serialize_ratio : 0;
  work[Cost::kLocalWrite] = serialize_ratio * compression.ratio;
  return work;
}

Work ReadAndDeserialize(const Compression& compression) {
  Work work = Deserialize(compression);
  work[Cost::kLocalRead] = 1;
  return work;
}

Work Deserialize(const Compression& compression) {
  Work work;
  work[Cost::kUncompress] = compression.is_on ? 1 : 0;
  work[Cost::kSerialize] = compression.ratio > 0 ? 1 / compression.ratio : 0;
  return work;
}

Spills SpillsOf(const Gathered& gathered, double buffer_bytes, bool may_spill,
                const Compression& compression) {
  // The buffer holds at least one record.
  Spills spills = {.buffer_bytes = std::fmax(buffer_bytes, gathered.width_in_memory),
                   .combined_records = gathered.records * gathered.combine_selectivity};
  spills.file_bytes = spills.buffer_bytes * gathered.serialize_ratio * compression.ratio;
  spills.records_in_memory = spills.combined_records;
  if (!(gathered.width_in_memory > 0)) return spills;
  spills.records_of_spill = spills.buffer_bytes / gathered.width_in_memory;
  if (!may_spill) return spills;
  spills.count = std::floor(spills.combined_records / spills.records_of_spill);
  spills.records_in_memory -= spills.count * spills.records_of_spill;
  return spills;
}

Work SpillWork(const Gathered& gathered, const Spills& spills, const Compression& compression) {
  Work work =
      spills.count * spills.buffer_bytes * SerializeAndWrite(compression, gathered.serialize_ratio);
  work[Cost::kCombine] = gathered.is_combined ? gathered.records : 0;
  work[Cost::kSort] =
      spills.count * Comparisons(spills.records_of_spill) + Comparisons(spills.records_in_memory);
  return work;
}

Work MergeWork(const Gathered& gathered, const Spills& spills, const Compression& compression) {
  Work work = spills.count * spills.file_bytes * ReadAndDeserialize(compression);
  work[Cost::kSort] = spills.combined_records * std::log2(spills.count + 1);
  if (gathered.is_combined && spills.count > 0) {
    work[Cost::kMergeCombine] = spills.combined_records;
  }
  return work;
}

ShuffleRead ReadShuffle(const StageSize& size, Gathering gathering, const DataStatistics& data,
                        const Settings& settings) {
  ShuffleRead read;
  if (!(size.tasks > 0)) return read;
  read.fetched = {size.intermediate.records / size.tasks, size.intermediate.bytes / size.tasks};
  const double executors = std::max<double>(settings.executors, 1);
  read.local_bytes = read.fetched.bytes / executors;
  read.remote_bytes = read.fetched.bytes * (executors - 1) / executors;
  const Compression shuffle = OfShuffle(settings, data);
  read.fetch = Fetch(read, shuffle);
  if (gathering == Gathering::kNothing) {
    const double shrunk = shuffle.ratio * data.serialize_ratio;
    read.out = {read.fetched.records, shrunk > 0 ? read.fetched.bytes / shrunk : 0};
    return read;
  }
  const bool is_combined = gathering == Gathering::kCombine;
  const Compression compression = is_combined ? OfSpills(settings, data) : shuffle;  // eq. 16 to 18
  const Gathered gathered = {.records = read.fetched.records,
                             .combine_selectivity = is_combined ? data.read_combine.records : 1,
                             .width_in_memory = data.read_width_in_memory,
                             .serialize_ratio = data.serialize_ratio,
                             .is_combined = is_combined};
  read.spills = SpillsOf(gathered, SpillBufferBytes(settings, size.cached_bytes), settings.spills,
                         compression);
  read.spill = SpillWork(gathered, read.spills, compression);
  read.merge = MergeWork(gathered, read.spills, compression);
  const Selectivity merge = is_combined ? data.read_merge : Selectivity{};
  read.out = {read.spills.combined_records * merge.records,
              read.spills.combined_records * data.read_width_in_memory * merge.bytes};
  return read;
}

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
    // A spill is written once. If there is no spill, the output is.
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

Phase ReadInput(double split_bytes, const DataStatistics& data) {
  Phase read = {.out = {data.input_width > 0 ? split_bytes / data.input_width : 0, split_bytes}};
  read.work[Cost::kInputRead] = split_bytes;
  return read;
}

Phase Compute(const Flow& in, const DataStatistics& data) {
  Phase compute = {.out = {in.records * data.compute.records, in.bytes * data.compute.bytes}};
  compute.work[Cost::kCompute] = in.records;
  return compute;
}

Work Hand(const Flow& out, Destination to) {
  Work work;
  if (to == Destination::kDriver) work[Cost::kNetwork] = out.bytes;
  if (to == Destination::kFiles) work[Cost::kOutputWrite] = out.bytes;
  return work;
}

Work TaskPhases::work() const {
  Work whole = read.work + shuffle_read.work() + compute.work + shuffle_write.work() + func;
  whole[Cost::kSetup] += 1;
  whole[Cost::kCleanup] += 1;
  return whole;
}

TaskPhases TaskOf(const Stage& stage, const Settings& settings) {
  TaskPhases task;
  if (stage.shape.reads_input) task.read = ReadInput(stage.size.split_bytes, stage.data);
  if (stage.shape.reads_shuffle) {
    task.shuffle_read = ReadShuffle(stage.size, *stage.shape.reads_shuffle, stage.data, settings);
  }
  task.compute = Compute({task.read.out.records + task.shuffle_read.out.records,
                          task.read.out.bytes + task.shuffle_read.out.bytes},
                         stage.data);
  if (stage.shape.output == Destination::kShuffle) {
    task.shuffle_write = WriteShuffle(task.compute.out, stage.shape, stage.size.next_tasks,
                                      stage.size.cached_bytes, stage.data, settings);
  } else {
    task.func = Hand(task.compute.out, stage.shape.output);
  }
  return task;
}

}  // namespace tidemark::phases
