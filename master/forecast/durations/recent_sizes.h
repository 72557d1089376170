// Sizes of the key groups that finished recently.
//
// Key groups come in key order, and neighbouring keys are often alike: node numbers grow with age,
// words with their language. What is still to come is more like what came last than like the
// average. So older groups fade by halves. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tidemark/event.h"

namespace tidemark::cost {

class RecentSizes {
 public:
  struct Bin {
    std::uint32_t bin = 0;
    double count = 0;
    double bytes = 0;

    template <class Archive>
    void serialize(Archive& archive) {
      archive(bin, count, bytes);
    }
  };

  // `finished`: all so far, by bin; `bytes_left`: what is still to come. O(bins).
  void Update(std::span<const GroupBin> finished, double bytes_left);
  std::span<const Bin> bins() const { return recent_; }
  // For checkpoints (master/facts/checkpoint.h).
  template <class Archive>
  void serialize(Archive& archive) {
    archive(seen_, recent_);
  }

 private:
  std::vector<GroupBin> seen_;
  std::vector<Bin> recent_;
};

}  // namespace tidemark::cost
