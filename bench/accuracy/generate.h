// Generates the inputs of [NF] 7.3, with equal bytes for equal arguments.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace tidemark::bench {

// Lines "KEY NUMBER": tuples with keys drawn among `keys` with probability proportional to 1 /
// rank^skew. Two relations rank the keys alike, and their byte order is independent of the rank.
struct Relation {
  double skew = 1;  // 0 for each key once, independent of `tuples`
  std::uint32_t tuples = 0;
  std::uint32_t keys = 0;
  std::uint64_t seed = 1;
};
absl::Status WriteRelation(const Relation& relation, const std::string& path);

// Lines "ROW COLUMN" of a square matrix of blocks: each place of the block (i, j) is filled with
// the probability density(i, j, blocks_across).
struct BlockMatrix {
  std::uint32_t blocks_across = 8;
  std::uint32_t block_side = 0;
  double (*density)(std::uint32_t row, std::uint32_t column, std::uint32_t blocks_across) = nullptr;
  std::uint64_t seed = 1;
};
absl::Status WriteMatrix(const BlockMatrix& matrix, const std::string& path);

}  // namespace tidemark::bench
