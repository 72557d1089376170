// The numbers that an estimate's draws are made of: the same at every update, so that two estimates
// differ by what is known and not by luck.
//
// A Latin hypercube: in `count` draws each task, and all of them together, get one number from each
// of `count` equally likely parts, in an order of its own. Immutable, safe to share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tidemark::model {

class FixedDraws {
 public:
  // Many draws for few tasks, fewer for many: the latest of many varies little.
  static const FixedDraws& For(std::size_t tasks);

  std::size_t count() const { return uniforms_.size(); }

  // One number after the other, of a task or whatever else has a number.
  class Sequence {
   public:
    double Next() {
      const double value = values_[at_];
      at_ += step_;
      if (at_ >= values_.size()) at_ -= values_.size();
      return value;
    }

   private:
    friend class FixedDraws;
    Sequence(std::span<const double> values, std::uint64_t stream);
    std::span<const double> values_;
    std::size_t at_;
    std::size_t step_;
  };
  Sequence Uniforms(std::uint64_t stream) const { return {uniforms_, 2 * stream}; }
  Sequence Normals(std::uint64_t stream) const { return {normals_, 2 * stream + 1}; }

 private:
  // A prime number, so that every step goes through all of them.
  explicit FixedDraws(std::size_t count);
  std::vector<double> uniforms_;  // shuffled, that orders of like steps are unlike all the same
  std::vector<double> normals_;   // likewise
};

}  // namespace tidemark::model
