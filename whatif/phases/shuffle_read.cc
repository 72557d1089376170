#include "whatif/phases/shuffle_read.h"

#include <algorithm>

#include "whatif/phases/byte_work.h"
#include "whatif/phases/memory.h"

namespace tidemark::phases {
namespace {

Work Fetch(const ShuffleRead& read, const Compression& compression) {  // eq. 15
  Work work = read.fetched.bytes * Deserialize(compression);
  work[Cost::kLocalRead] += read.local_bytes;
  work[Cost::kNetwork] += read.remote_bytes;
  return work;
}

}  // namespace

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

}  // namespace tidemark::phases
