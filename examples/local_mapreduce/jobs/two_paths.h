// Paths of two edges around one node.
#pragma once

#include <cstdint>
#include <vector>

#include "examples/local_mapreduce/output.h"
#include "examples/local_mapreduce/sorted_records.h"

namespace tidemark::examples {

// The distinct nodes among the values, in order.
void ReadNeighbours(Values& values, std::vector<std::uint32_t>& neighbours);

// Whether a path is listed from its lower end only, or once from each.
enum class Directions : std::uint8_t { kOne, kBoth };

// Writes (middle, "v w") for every v < w of the neighbours, which are in order, or for every
// v != w: quadratic.
void WriteTwoPaths(std::uint32_t middle, const std::vector<std::uint32_t>& neighbours,
                   Directions directions, Output& output);

}  // namespace tidemark::examples
