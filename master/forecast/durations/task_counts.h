// Compares the numbers of tasks of two runs of one program.
#pragma once

#include <algorithm>

namespace tidemark::cost {

// The numbers of tasks of two runs of one program on the same data differ by less than this factor.
// Chosen by hand.
inline constexpr double kSameProgramFactor = 2;

// Returns true if one program may have had `now` and `then` tasks: the numbers are close, or differ
// as the inputs do. One task more or less has little weight. `input_ratio`: the input now over the
// input then; 1 if it is unknown.
inline bool MayBeOfOneProgram(double now, double then, double input_ratio) {
  const double ratio = (now + 1) / (then + 1);
  const auto is_near = [](double x) { return std::max(x, 1 / x) < kSameProgramFactor; };
  return is_near(ratio) || is_near(ratio / input_ratio);
}

}  // namespace tidemark::cost
