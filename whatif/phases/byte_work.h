// A byte of intermediate data on its way to a disk and back ([SPM] eq. 2 to 5, which are the same
// twice: for shuffles and for spills).
#pragma once

#include "whatif/phases/settings.h"
#include "whatif/phases/stage.h"
#include "whatif/phases/work.h"

namespace tidemark::phases {

// Whether and how well what is written is compressed.
struct Compression {
  bool is_on = false;
  double ratio = 1;  // 1 where it is off [tShuffleCompressRatio, tSpillCompressRatio]
};
Compression OfShuffle(const Settings& settings, const DataStatistics& data);
Compression OfSpills(const Settings& settings, const DataStatistics& data);

// A byte in memory is serialized, compressed, written [SCW; eq. 2, 4].
Work SerializeAndWrite(const Compression& compression, double serialize_ratio);
// A byte on disk is read, uncompressed, deserialized [RCS; eq. 3, 5].
Work ReadAndDeserialize(const Compression& compression);
// The same without the disk: a byte that has come is uncompressed and deserialized (eq. 15).
Work Deserialize(const Compression& compression);

}  // namespace tidemark::phases
