// Fuzzes keys of any bytes. The hash must depend only on their bytes, not on their address, and a
// sample of the keys must keep its bound.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "streaming/key_sample.h"
#include "tests/fuzz/fuzz_input.h"

namespace {

using tidemark::streaming::HashKey;

// Hashes the key at another alignment, with other bytes around it.
void CheckHash(std::string_view key) {
  const std::string moved = "x" + std::string(key) + "y";
  if (HashKey(std::string_view(moved).substr(1, key.size())) != HashKey(key)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint32_t kCapacity = 4;
  tidemark::streaming::KeySampler sampler(kCapacity);
  for (tidemark::fuzz::Pieces pieces(data, size); !pieces.empty();) {
    const std::string_view key = pieces.Next();
    CheckHash(key);
    sampler.Offer(0, HashKey(key), key.size());
  }
  std::vector<tidemark::PartitionProfile> partitions(1);
  const std::uint64_t below = sampler.AddTo(partitions);
  if (partitions[0].sampled_keys.size() > kCapacity) std::abort();
  for (const tidemark::ExplicitKey& sampled : partitions[0].sampled_keys) {
    if (tidemark::streaming::SampleRank(sampled.key) >= below) std::abort();
  }
  return 0;
}
