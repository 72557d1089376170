// What a cache of results would have saved over a history: LRU, LFU and ARC, beside results that
// are chosen with all of the history known ([GB] 6.1, dimension 3).
//
// A cache knows nothing of what comes: of each query it keeps the result that saves most, and reads
// what it has of it. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tidemark::advise {

enum class CachePolicy : std::uint8_t {
  kLru,  // gives up what was used longest ago
  kLfu,  // what was used least often; of equal ones what was used longest ago
  // Megiddo and Modha, ARC (FAST 2003): recent and frequent results apart, by what was missed;
  // their pages are bytes here.
  kArc,
};

struct KeepableResult {
  std::uint64_t key = 0;  // equal: the same data
  double bytes = 0;
  double benefit_seconds = 0;
  double write_seconds = 0;
};
// What could be kept or read of one query, the largest benefit first.
using KeepableResults = std::vector<KeepableResult>;

struct Replayed {
  double saved_seconds = 0;  // less those of writing
  std::size_t hits = 0;
  std::size_t writes = 0;
  std::size_t evictions = 0;
};

// Results larger than `bytes_max` are never kept. REQUIRES: numbers are not negative and not NaN.
Replayed Replay(CachePolicy policy, const std::vector<KeepableResults>& queries, double bytes_max);

}  // namespace tidemark::advise
