// The finished key groups whose keys a reduce profile names: all of at least a certain size, and
// those that the master sampled.
//
// Bounded without breaking the first promise: when there are more than `keys_max`, the smaller ones
// lose their names and the size from which all are named rises, until the next Take(). Amortised
// O(1) per key. Sampled ones are as many as the master's sample has in this task; more than
// `keys_max` of them are left out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "streaming/key_sample.h"
#include "tidemark/event.h"

namespace tidemark::agent {

class NamedKeys {
 public:
  explicit NamedKeys(std::size_t keys_max) : keys_max_(keys_max) {}

  // `wanted` is what is asked for now.
  void Add(const FinishedKey& key, const NamedGroups& wanted) {
    bytes_min_ = std::max(bytes_min_, wanted.bytes_min);
    if (streaming::SampleRank(key.key) < wanted.sampled_below) {
      if (sampled_.size() < keys_max_) sampled_.push_back(key);
      return;
    }
    if (key.size_bytes < bytes_min_) return;
    keys_.push_back(key);
    if (keys_.size() >= 2 * keys_max_) DropSmallest();
  }

  struct Named {
    // The sampled ones first, then the others; either in the order they finished, unless some
    // were left out.
    std::vector<FinishedKey> keys;
    std::uint64_t bytes_min = 0;
  };

  // Every key group since the last Take() of at least bytes_min is among the keys.
  Named Take(std::uint64_t bytes_min) {
    bytes_min_ = std::max(bytes_min_, bytes_min);
    if (keys_.size() > keys_max_) DropSmallest();
    std::erase_if(keys_, [&](const FinishedKey& key) { return key.size_bytes < bytes_min_; });
    std::vector<FinishedKey> named = std::exchange(sampled_, {});
    named.insert(named.end(), keys_.begin(), keys_.end());
    keys_.clear();
    return {std::move(named), std::exchange(bytes_min_, 0)};
  }

 private:
  void DropSmallest() {
    const auto heavier = [](const FinishedKey& a, const FinishedKey& b) {
      return a.size_bytes > b.size_bytes;
    };
    std::nth_element(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(keys_max_),
                     keys_.end(), heavier);
    // All of one size go together: the promise is about sizes.
    bytes_min_ = keys_[keys_max_].size_bytes + 1;
    std::erase_if(keys_, [&](const FinishedKey& key) { return key.size_bytes < bytes_min_; });
  }

  const std::size_t keys_max_;
  std::vector<FinishedKey> keys_;
  std::vector<FinishedKey> sampled_;
  std::uint64_t bytes_min_ = 0;
};

}  // namespace tidemark::agent
