// Records that are gathered in memory, and on disk when it is full: in both shuffle phases.
#pragma once

#include "whatif/phases/byte_work.h"
#include "whatif/phases/work.h"

namespace tidemark::phases {

// [SPM] eq. 19 to 24, 35 to 37. In brackets the names of Table 1.
struct Spills {
  double buffer_bytes = 0;       // [dSpillBuffer]
  double file_bytes = 0;         // of one [dSpillFileSize]
  double records_of_spill = 0;   // [dPerSpillRecs]
  double count = 0;              // whole [dNumSpills]
  double combined_records = 0;   // of all, in memory and on disk [dSpillCombRecs]
  double records_in_memory = 0;  // that are left there [tInMemRecs]
};

// What is gathered.
struct Gathered {
  double records = 0;  // that come in
  double combine_selectivity = 1;
  double width_in_memory = 0;  // of one record
  double serialize_ratio = 1;
  bool is_combined = false;
};

// `may_spill` false: all stays in memory. A width of 0 (not known) never fills it.
Spills SpillsOf(const Gathered& gathered, double buffer_bytes, bool may_spill,
                const Compression& compression);

// Records into the buffer, sorted, and out to disk (eq. 25, 38, 40).
Work SpillWork(const Gathered& gathered, const Spills& spills, const Compression& compression);
// Spills read back and merged with what is in memory (eq. 28, and the like part of 39 and 41).
Work MergeWork(const Gathered& gathered, const Spills& spills, const Compression& compression);

}  // namespace tidemark::phases
