// Which blocks of a sparse matrix product there are, and what they will cost.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tidemark::examples {

// A block is named by its row and column of blocks.
using BlockName = std::pair<std::uint32_t, std::uint32_t>;

// Blocks (i, h) of the left matrix and (h, j) of the right one.
struct BlockProduct {
  std::uint32_t i = 0;
  std::uint32_t h = 0;
  std::uint32_t j = 0;
  friend bool operator==(const BlockProduct&, const BlockProduct&) = default;
};

// The blocks of two matrices that are not empty, with their numbers of entries, and the products
// among them. Products are ranked in the order of (i, h, j).
class BlockGrid {
 public:
  static constexpr std::uint64_t kProductsMax = 50'000'000;

  using Blocks = std::map<BlockName, std::uint64_t>;
  BlockGrid() = default;
  BlockGrid(Blocks left, Blocks right);

  // InvalidArgument: more products than kProductsMax.
  absl::Status Check() const;
  absl::Status SaveTo(const std::string& path) const;
  static absl::StatusOr<BlockGrid> LoadFrom(const std::string& path);

  const Blocks& left() const { return left_; }
  // Which products need a block: their i, or their j.
  const std::vector<std::uint32_t>& RowsAbove(std::uint32_t h) const;
  const std::vector<std::uint32_t>& ColumnsBeside(std::uint32_t h) const;
  // REQUIRES: there is such a product.
  std::uint64_t RankOf(const BlockProduct& product) const;
  // By rank, whether a product is one of the `count` that cost most: by the product of the numbers
  // of entries, and of equal ones the first.
  std::vector<bool> MostDemanding(std::uint64_t count) const;

 private:
  using Strips = std::map<std::uint32_t, std::vector<std::uint32_t>>;
  Blocks left_;
  Blocks right_;
  Strips rows_above_;                              // of h: every i of a left block (i, h)
  Strips columns_beside_;                          // of h: every j of a right block (h, j)
  std::map<BlockName, std::uint64_t> first_rank_;  // of the products of a left block
  std::uint64_t product_count_ = 0;
};

}  // namespace tidemark::examples
