// The numbers that the draws of an estimate are made of: the same at every update, so that two
// estimates differ by what is known and not by luck.
//
// A stream belongs to one thing that is not known (a task, a stage, a job): in `count` draws it
// gets one number from each of `count` equally likely parts, in an order of its own (a Latin
// hypercube). Orders are permutations and not strides through one of them: with strides stages
// shared orders, and the error of the suite tpcds moved by 1.5 points with the number of draws.
//
// Immutable, safe to share.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "master/forecast/durations/normal.h"

namespace tidemark::cost {

// What a stream is of, so that no two kinds of things share one.
enum class Drawn : std::uint64_t {
  kTask = 0,          // what it takes
  kGroup = 1,         // what the key group takes that it is inside of
  kOtherAttempt = 2,  // what its other attempt takes
  kCurve = 3,         // which cost curve is right
  kBeyond = 4,        // how wrong it is beyond the data
  kStage = 5,         // a factor on all tasks of a stage
  kOpinion = 6,       // of the whole of what is left
  kWait = 7,          // how long something is waited for
  kCommon = 8,        // a factor on all that is left
  kGrowth = 9,        // stages that may still come
  kForetold = 10,     // a factor on all stages of a work whose earlier runs had other parameters
};
// Whose, as an index, where every source of task times has one.
inline constexpr std::uint64_t kOfKeyGroups = 0;
inline constexpr std::uint64_t kOfRun = 0;  // the whole of it
inline constexpr std::uint64_t kOfJobs = 1;
inline constexpr std::uint64_t kOfSizes = 2;

class FixedDraws {
 public:
  // Many draws for little work, fewer for much: the latest of many tasks varies little.
  static const FixedDraws& For(std::size_t tasks);

  std::size_t count() const { return uniforms_.size(); }

  // One number for each draw, in (0, 1) or normal. O(draws).
  std::vector<double> Uniforms(Drawn what, std::uint64_t index) const;
  std::vector<double> Normals(Drawn what, std::uint64_t index) const;

 private:
  explicit FixedDraws(std::size_t count);
  std::vector<double> Ordered(const std::vector<double>& values, std::uint64_t stream) const;
  std::vector<double> uniforms_;  // by size
  std::vector<double> normals_;
};

// Within one draw, many tasks that are all alike take numbers from a row: RowNumber() is the n-th
// number, in (0, 1), of the row that begins at RowStart(), in [0, 1). Consecutive ones are
// golden-ratio steps apart, so that any run of them covers the interval evenly: totals of many
// tasks hardly scatter.
inline double RowStart(std::uint64_t draw, std::uint64_t what) {
  return FixedUniform(draw * 0x100000001b3 + what);
}
inline double RowNumber(double row_start, std::uint64_t n) {
  constexpr double kGoldenStep = 0.6180339887498949;
  const double x = row_start + static_cast<double>(n + 1) * kGoldenStep;
  const double u = x - std::floor(x);
  return u > 0 ? u : 0x1.0p-54;
}

// The p-quantile of draws in any order, which it reorders, interpolated between them; at least one
// value. O(values).
double QuantileOf(std::vector<double>& values, double p);

}  // namespace tidemark::cost
