// Paths of two edges around one node.
#pragma once

#include <cstdint>
#include <vector>

#include "examples/local_mapreduce/output.h"
#include "examples/local_mapreduce/sorted_records.h"

namespace tidemark::examples {

// Reads the distinct nodes among the values, in order.
void ReadNeighbours(Values& values, std::vector<std::uint32_t>& neighbours);

// Selects whether a path is listed once, from its lower end, or once from each end.
enum class Directions : std::uint8_t { kOne, kBoth };

// Writes (middle, "v w") for every v < w of the sorted neighbours, or for every v != w. Takes
// quadratic time.
void WriteTwoPaths(std::uint32_t middle, const std::vector<std::uint32_t>& neighbours,
                   Directions directions, Output& output);

}  // namespace tidemark::examples
