// A model of Spark's tasks by phase: read, shuffle read, compute, shuffle write, func ([SPM]).
//
//     const TaskPhases task = TaskOf(stage, settings);
//     const double seconds = Seconds(task.work(), costs);   // eq. 46
//
// All values are of one average task. Sizes are in bytes; a selectivity is output over input. Names
// in brackets come from [SPM] Tables 1 and 3. Pure. Cost: O(1).
#pragma once

#include <cstdint>
#include <optional>

#include "whatif/phases/settings.h"
#include "whatif/phases/work.h"

namespace tidemark::phases {

// Records and their total bytes.
struct Flow {
  double records = 0;
  double bytes = 0;
  friend bool operator==(const Flow&, const Flow&) = default;
};

struct Selectivity {
  double records = 1;
  double bytes = 1;
  friend bool operator==(const Selectivity&, const Selectivity&) = default;
};

// The treatment of records that a stage reads from a shuffle.
enum class Gathering : std::uint8_t {
  kNothing,  // passes them to the next phase one by one
  kCombine,  // puts them into a map by key
  kSort,     // orders them
};

// The destination of a stage's output.
enum class Destination : std::uint8_t {
  kShuffle,
  kDriver,
  kFiles,
};

// The operations of a stage's tasks, which the program determines.
struct StageShape {
  bool reads_input = false;
  std::optional<Gathering> reads_shuffle;  // empty if the stage reads no shuffle
  Destination output = Destination::kDriver;
  bool combines_map_side = false;  // [mapsideCombine]
  // True if its records can be sorted in serialized form: rows of SQL, and records of Kryo. Since
  // 1.6 they use the serialized shuffle, unless they are combined.
  bool is_relocatable = false;
  friend bool operator==(const StageShape&, const StageShape&) = default;
};

// Properties of the data, independent of settings.
struct DataStatistics {
  double input_width = 0;                  // per record read [dsReadInPairWidth]
  Selectivity compute;                     // [dsComputeRecsSel, dsComputeSizeSel]
  Selectivity read_combine, read_merge;    // [dsReadComb..., dsReadMerge...]
  Selectivity write_combine, write_merge;  // [dsWriteComb..., dsWriteMerge...]
  double serialize_ratio = 1;              // serialized over in memory [dsSerializeRatio]
  double compress_ratio = 1;               // compressed over serialized [dsIntermCompressRatio]
  double read_width_in_memory = 0;         // per gathered record [dsReadSpillPairWidth]
  double write_width_in_memory = 0;        // [dsWriteSpillPairWidth]
  friend bool operator==(const DataStatistics&, const DataStatistics&) = default;
};

// The amount of data, and its number of parts.
struct StageSize {
  double split_bytes = 0;   // per task [pSplitSize]
  Flow intermediate;        // data of all tasks, compressed if the parent stages compressed it
                            // [tIntermDataSize, tIntermDataRecs]
  double tasks = 1;         // [pCurrentTaskNum]
  double next_tasks = 1;    // partitions of the output [pNextTaskNum]
  double cached_bytes = 0;  // in an executor
  friend bool operator==(const StageSize&, const StageSize&) = default;
};

struct Stage {
  StageShape shape;
  DataStatistics data;
  StageSize size;
};

// A byte of intermediate data on its way to a disk and back ([SPM] eq. 2 to 5, once for shuffles
// and once for spills).
struct Compression {
  bool is_on = false;
  double ratio = 1;  // 1 without compression [tShuffleCompressRatio, tSpillCompressRatio]
};
Compression OfShuffle(const Settings& settings, const DataStatistics& data);
Compression OfSpills(const Settings& settings, const DataStatistics& data);

// A byte in memory is serialized, compressed and written [SCW; eq. 2, 4].
Work SerializeAndWrite(const Compression& compression, double serialize_ratio);
// A byte on disk is read, uncompressed and deserialized [RCS; eq. 3, 5].
Work ReadAndDeserialize(const Compression& compression);
// A fetched byte is uncompressed and deserialized (eq. 15).
Work Deserialize(const Compression& compression);

// Records gathered in memory and, when it is full, on disk. Both shuffle phases gather.
struct Gathered {
  double records = 0;  // input
  double combine_selectivity = 1;
  double width_in_memory = 0;  // per record
  double serialize_ratio = 1;
  bool is_combined = false;
};

// [SPM] eq. 19 to 24, 35 to 37; names of Table 1 in brackets.
struct Spills {
  double buffer_bytes = 0;       // [dSpillBuffer]
  double file_bytes = 0;         // per file [dSpillFileSize]
  double records_of_spill = 0;   // [dPerSpillRecs]
  double count = 0;              // a whole number [dNumSpills]
  double combined_records = 0;   // in memory and on disk [dSpillCombRecs]
  double records_in_memory = 0;  // after the last spill [tInMemRecs]
};

// Without `may_spill`, all records stay in memory. A width of 0 (unknown) never fills it.
Spills SpillsOf(const Gathered& gathered, double buffer_bytes, bool may_spill,
                const Compression& compression);
// Records are put into the buffer, sorted and spilled (eq. 25, 38, 40).
Work SpillWork(const Gathered& gathered, const Spills& spills, const Compression& compression);
// Spills are read and merged with the records in memory (eq. 28, and the same part of 39 and 41).
Work MergeWork(const Gathered& gathered, const Spills& spills, const Compression& compression);

// A phase without spills.
struct Phase {
  Flow out;
  Work work;
};

// Phase 1: eq. 6 to 10.
Phase ReadInput(double split_bytes, const DataStatistics& data);

// Phase 2: the output of earlier tasks is fetched, and combined or sorted ([SPM] section 4).
struct ShuffleRead {
  Flow fetched;             // in its written form [tEachSRRecs, tEachSRSize]
  double local_bytes = 0;   // the part from this executor [dLocalReadBytes]
  double remote_bytes = 0;  // [dRemoteReadBytes]
  Spills spills;
  Flow out;  // in memory [tComputeInRecs, tComputeInBytes]
  Work fetch, spill, merge;

  Work work() const { return fetch + spill + merge; }  // eq. 29
};

// Eq. 11 to 29. Returns an empty phase without tasks.
ShuffleRead ReadShuffle(const StageSize& size, Gathering gathering, const DataStatistics& data,
                        const Settings& settings);

// Phase 3: eq. 30 to 33.
Phase Compute(const Flow& in, const DataStatistics& data);

// Phase 4: the output is partitioned for the next stage's tasks, and optionally combined and sorted
// ([SPM] section 6).
enum class ShuffleWriter : std::uint8_t {
  kHash,        // a file for each partition; until 2.0
  kBypass,      // a file for each partition, joined at the end: few partitions, no combining
  kSorted,      // objects are gathered, sorted and spilled
  kSerialized,  // bytes are gathered, sorted by partition alone, and never deserialized
};

// Returns Spark's writer for this number of partitions (eq. 34, and Spark's source,
// SortShuffleManager).
ShuffleWriter WriterOf(const StageShape& shape, double next_tasks, const Settings& settings);

struct ShuffleWrite {
  ShuffleWriter writer = ShuffleWriter::kSorted;
  Spills spills;
  Flow written;  // by one task; of all tasks: [tIntermDataRecs, tIntermDataSize]
  Work spill, merge;

  Work work() const { return spill + merge; }
};

// Eq. 34 to 44, for the output `out` of the stage's functions, in memory. `cached_bytes` as in
// StageSize.
ShuffleWrite WriteShuffle(const Flow& out, const StageShape& shape, double next_tasks,
                          double cached_bytes, const DataStatistics& data,
                          const Settings& settings);

// Phase 5: eq. 45, to the driver. The paper does not cover files. Returns no work for a shuffle.
Work Hand(const Flow& out, Destination to);

struct TaskPhases {
  Phase read;
  ShuffleRead shuffle_read;
  Phase compute;
  ShuffleWrite shuffle_write;
  Work func;

  // Returns the work of all phases, with the task's setup and clean-up (eq. 46).
  Work work() const;
};

// Returns the phases of an average task. A stage that reads an input and a shuffle computes on
// both.
TaskPhases TaskOf(const Stage& stage, const Settings& settings);

}  // namespace tidemark::phases
