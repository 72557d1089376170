// Computes the time that a cache of results would have saved over a history: LRU, LFU and ARC ([GB]
// 6.1, dimension 3). Advice is compared with them, although it is computed from the whole history.
//
// A cache cannot predict the future: it keeps the result of each query that saves most, and reads
// cached results. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tidemark::advise {

enum class CachePolicy : std::uint8_t {
  kLru,  // evicts the least recently used result
  kLfu,  // evicts the least frequently used result; of equal ones the least recently used
  // Megiddo and Modha, ARC (FAST 2003): recent and frequent results are separate, with sizes that
  // follow the misses. Their pages are bytes here.
  kArc,
};

struct KeepableResult {
  std::uint64_t key = 0;  // equal for the same data
  double bytes = 0;
  double benefit_seconds = 0;
  double write_seconds = 0;
};
// The results of one query that can be kept or read, the largest benefit first.
using KeepableResults = std::vector<KeepableResult>;

struct Replayed {
  double saved_seconds = 0;  // without the time of writing
  std::size_t hits = 0;
  std::size_t writes = 0;
  std::size_t evictions = 0;
};

// Results larger than `bytes_max` are never kept. REQUIRES: numbers are not negative and not NaN.
Replayed Replay(CachePolicy policy, const std::vector<KeepableResults>& queries, double bytes_max);

}  // namespace tidemark::advise
