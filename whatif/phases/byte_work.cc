#include "whatif/phases/byte_work.h"

namespace tidemark::phases {

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

}  // namespace tidemark::phases
