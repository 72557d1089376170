// A model of Spark's tasks by phase: read, shuffle read, compute, shuffle write, func ([SPM]).
//
//     const TaskPhases task = TaskOf(stage, settings);
//     const double seconds = Seconds(task.work(), costs);   // eq. 46
//
// All values describe one average task. Sizes are in bytes; a selectivity is output over input.
// Names in brackets come from [SPM] Tables 1 and 3. Pure. O(1).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "whatif/phases/settings.h"

namespace tidemark::phases {

// The work of a task in units that each have a cost: bytes moved, records handled.
//
// All equations of [SPM] are sums of such amounts times their costs. Hence a phase is a Work, its
// time is Seconds(work, costs), and learning the costs from measured times is a linear problem.
//
// [SPM] Table 4, with its names in brackets. No equation uses csSpillCPUCost.
enum class Cost : std::uint8_t {
  kInputRead,     // read a byte from the file system of the input [csHdfsReadCost]
  kOutputWrite,   // write a byte to the file system of the output [csHdfsWriteCost]
  kLocalRead,     // read a byte from a local disk [csLocalIOReadCost]
  kLocalWrite,    // write a byte to a local disk [csLocalIOWriteCost]
  kNetwork,       // receive a byte from another executor, or send it to the driver [csNetworkCost]
  kCompute,       // pass a record through the stage's own functions [csComputeCPUCost]
  kCombine,       // add a record to the map of a combiner [csSpillCombCPUCost]
  kMergeCombine,  // merge a record of a spill [csMergeCombCPUCost]
  kPartition,     // assign a record to its partition [csPartitionCPUCost]
  kSort,        // compare two records; sorting n records takes n log2 n comparisons [csSortCPUCost]
  kCompress,    // compress an uncompressed byte [csIntermComCPUCost]
  kUncompress,  // uncompress a compressed byte [csIntermUncomCPUCost]
  kSerialize,   // serialize or deserialize a byte [csSerdeBytesCPUCost, csSerializeCPUCost]
  kSetup,       // start a task [csSetupCPUCost]
  kCleanup,     // end a task [csCleanupCPUCost]
};
inline constexpr std::size_t kCosts = 15;

inline constexpr std::size_t Index(Cost cost) { return static_cast<std::size_t>(cost); }

// Units by cost.
struct Work {
  std::array<double, kCosts> units{};

  double& operator[](Cost cost) { return units[Index(cost)]; }
  double operator[](Cost cost) const { return units[Index(cost)]; }
  Work& operator+=(const Work& other);
  friend Work operator+(Work a, const Work& b) { return a += b; }
  friend Work operator*(double times, Work work);
  friend bool operator==(const Work&, const Work&) = default;
};

// Seconds per unit, by cost [the cost statistics].
struct CostStatistics {
  std::array<double, kCosts> seconds{};

  double& operator[](Cost cost) { return seconds[Index(cost)]; }
  double operator[](Cost cost) const { return seconds[Index(cost)]; }
  friend bool operator==(const CostStatistics&, const CostStatistics&) = default;
};

double Seconds(const Work& work, const CostStatistics& costs);

// Returns true if the cost is processor time of the task. All other costs are waits.
bool IsOfProcessor(Cost cost);

// Returns a name for messages, such as "sort" or "network".
const char* NameOf(Cost cost);

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

// The use of records that a stage reads from a shuffle.
enum class Gathering : std::uint8_t {
  kNothing,  // they are passed to the next phase one by one
  kCombine,  // they are put into a map by key
  kSort,     // they are sorted
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
  // True if records can be sorted in serialized form: rows of SQL, and records of Kryo. Since 1.6,
  // they use the serialized shuffle unless they are combined.
  bool is_relocatable = false;
  friend bool operator==(const StageShape&, const StageShape&) = default;
};

// Properties of the data, independent of settings.
struct DataStatistics {
  double input_width = 0;                  // per record read [dsReadInPairWidth]
  Selectivity compute;                     // [dsComputeRecsSel, dsComputeSizeSel]
  Selectivity read_combine, read_merge;    // [dsReadComb..., dsReadMerge...]
  Selectivity write_combine, write_merge;  // [dsWriteComb..., dsWriteMerge...]
  double serialize_ratio = 1;  // serialized bytes over bytes in memory [dsSerializeRatio]
  double compress_ratio = 1;   // compressed bytes over serialized bytes [dsIntermCompressRatio]
  double read_width_in_memory = 0;   // per gathered record [dsReadSpillPairWidth]
  double write_width_in_memory = 0;  // [dsWriteSpillPairWidth]
  friend bool operator==(const DataStatistics&, const DataStatistics&) = default;
};

// The amount of data, and the numbers of tasks and partitions.
struct StageSize {
  double split_bytes = 0;   // per task [pSplitSize]
  Flow intermediate;        // data of all tasks, compressed if the parent stages compressed it
                            // [tIntermDataSize, tIntermDataRecs]
  double tasks = 1;         // [pCurrentTaskNum]
  double next_tasks = 1;    // partitions of the output [pNextTaskNum]
  double cached_bytes = 0;  // per executor
  friend bool operator==(const StageSize&, const StageSize&) = default;
};

struct Stage {
  StageShape shape;
  DataStatistics data;
  StageSize size;
};

// The path of a byte of intermediate data to a disk and back ([SPM] eq. 2 to 5), for shuffles and
// for spills.
struct Compression {
  bool is_on = false;
  double ratio = 1;  // 1 if there is no compression [tShuffleCompressRatio, tSpillCompressRatio]
};
Compression OfShuffle(const Settings& settings, const DataStatistics& data);
Compression OfSpills(const Settings& settings, const DataStatistics& data);

// Work to serialize, compress and write a byte in memory [SCW; eq. 2, 4].
Work SerializeAndWrite(const Compression& compression, double serialize_ratio);
// Work to read, uncompress and deserialize a byte on disk [RCS; eq. 3, 5].
Work ReadAndDeserialize(const Compression& compression);
// Work to uncompress and deserialize a fetched byte (eq. 15).
Work Deserialize(const Compression& compression);

// Records gathered in memory and, when it is full, on disk. Both shuffle phases gather records.
struct Gathered {
  double records = 0;  // number of input records
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

// If `may_spill` is false, all records stay in memory. A width of 0 (unknown) never fills the
// memory.
Spills SpillsOf(const Gathered& gathered, double buffer_bytes, bool may_spill,
                const Compression& compression);
// Work to put records into the buffer, sort and spill them (eq. 25, 38, 40).
Work SpillWork(const Gathered& gathered, const Spills& spills, const Compression& compression);
// Work to read spills and merge them with the records in memory (eq. 28, and the corresponding
// parts of 39 and 41).
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
  double local_bytes = 0;   // part read from this executor [dLocalReadBytes]
  double remote_bytes = 0;  // [dRemoteReadBytes]
  Spills spills;
  Flow out;  // in memory [tComputeInRecs, tComputeInBytes]
  Work fetch, spill, merge;

  Work work() const { return fetch + spill + merge; }  // eq. 29
};

// Eq. 11 to 29. Returns an empty phase if there are no tasks.
ShuffleRead ReadShuffle(const StageSize& size, Gathering gathering, const DataStatistics& data,
                        const Settings& settings);

// Phase 3: eq. 30 to 33.
Phase Compute(const Flow& in, const DataStatistics& data);

// Phase 4: the output is partitioned for the next stage's tasks, and optionally combined and sorted
// ([SPM] section 6).
enum class ShuffleWriter : std::uint8_t {
  kHash,    // a file for each partition; until 2.0
  kBypass,  // a file for each partition, joined at the end; for few partitions without combining
  kSorted,  // objects are gathered, sorted and spilled
  kSerialized,  // bytes are gathered, sorted by partition only, and never deserialized
};

// Returns Spark's writer for this number of partitions (eq. 34; source: Spark's
// SortShuffleManager).
ShuffleWriter WriterOf(const StageShape& shape, double next_tasks, const Settings& settings);

struct ShuffleWrite {
  ShuffleWriter writer = ShuffleWriter::kSorted;
  Spills spills;
  Flow written;  // data of one task; of all tasks: [tIntermDataRecs, tIntermDataSize]
  Work spill, merge;

  Work work() const { return spill + merge; }
};

// Eq. 34 to 44, for the output `out` of the stage's functions in memory. `cached_bytes` is as in
// StageSize.
ShuffleWrite WriteShuffle(const Flow& out, const StageShape& shape, double next_tasks,
                          double cached_bytes, const DataStatistics& data,
                          const Settings& settings);

// Phase 5: eq. 45, for output to the driver. The paper does not cover files. Returns no work for a
// shuffle.
Work Hand(const Flow& out, Destination to);

struct TaskPhases {
  Phase read;
  ShuffleRead shuffle_read;
  Phase compute;
  ShuffleWrite shuffle_write;
  Work func;

  // Returns the work of all phases, including the task's setup and clean-up (eq. 46).
  Work work() const;
};

// Returns the phases of an average task. A stage that reads both an input and a shuffle computes on
// both.
TaskPhases TaskOf(const Stage& stage, const Settings& settings);

}  // namespace tidemark::phases
