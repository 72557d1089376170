// A stage as the phase models see it: what its tasks do, and what its data are like.
//
// Everything is about one average task. Sizes in bytes; a selectivity is output over input. In
// brackets the names of [SPM] Tables 1 and 3.
#pragma once

#include <cstdint>
#include <optional>

namespace tidemark::phases {

// Records, and the bytes of all of them.
struct Flow {
  double records = 0;
  double bytes = 0;
  friend bool operator==(const Flow&, const Flow&) = default;
};

// Of records and bytes alike.
struct Selectivity {
  double records = 1;
  double bytes = 1;
  friend bool operator==(const Selectivity&, const Selectivity&) = default;
};

// What reads a shuffle does with the records.
enum class Gathering : std::uint8_t {
  kNothing,  // hands them on one by one
  kCombine,  // puts them into a map by key
  kSort,     // orders them
};

// Where a stage leaves its output.
enum class Destination : std::uint8_t {
  kShuffle,
  kDriver,
  kFiles,
};

// What its tasks do; the program decides.
struct StageShape {
  bool reads_input = false;
  std::optional<Gathering> reads_shuffle;  // empty: it reads none
  Destination output = Destination::kDriver;
  bool combines_map_side = false;  // [mapsideCombine]
  // Its records can be sorted in their serialized form: rows of SQL, and records of Kryo. Since
  // 1.6 those take the serialized shuffle, unless they are combined.
  bool is_relocatable = false;
  friend bool operator==(const StageShape&, const StageShape&) = default;
};

// What the data are like, whatever the settings.
struct DataStatistics {
  double input_width = 0;                  // of a record read [dsReadInPairWidth]
  Selectivity compute;                     // [dsComputeRecsSel, dsComputeSizeSel]
  Selectivity read_combine, read_merge;    // [dsReadComb..., dsReadMerge...]
  Selectivity write_combine, write_merge;  // [dsWriteComb..., dsWriteMerge...]
  double serialize_ratio = 1;              // serialized over in memory [dsSerializeRatio]
  double compress_ratio = 1;               // compressed over serialized [dsIntermCompressRatio]
  double read_width_in_memory = 0;         // of a record gathered [dsReadSpillPairWidth]
  double write_width_in_memory = 0;        // [dsWriteSpillPairWidth]
  friend bool operator==(const DataStatistics&, const DataStatistics&) = default;
};

// How much of it there is, and in how many parts.
struct StageSize {
  double split_bytes = 0;   // of a task [pSplitSize]
  Flow intermediate;        // of all tasks, as the stages before left it, compressed if it
                            // is [tIntermDataSize, tIntermDataRecs]
  double tasks = 1;         // [pCurrentTaskNum]
  double next_tasks = 1;    // partitions that the output is for [pNextTaskNum]
  double cached_bytes = 0;  // that an executor keeps
  friend bool operator==(const StageSize&, const StageSize&) = default;
};

}  // namespace tidemark::phases
