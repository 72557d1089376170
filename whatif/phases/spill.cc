#include "whatif/phases/spill.h"

#include <cmath>

namespace tidemark::phases {
namespace {

// Comparisons to sort so many records; a single one needs none.
double Comparisons(double records) { return records > 1 ? records * std::log2(records) : 0; }

}  // namespace

Spills SpillsOf(const Gathered& gathered, double buffer_bytes, bool may_spill,
                const Compression& compression) {
  // However little memory there is, a record gets into it.
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

}  // namespace tidemark::phases
