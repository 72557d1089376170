#include "examples/local_mapreduce/jobs/block_grid.h"

#include <algorithm>
#include <cereal/types/map.hpp>
#include <cereal/types/utility.hpp>
#include <numeric>

#include "examples/local_mapreduce/saved.h"
#include "fmt/format.h"

namespace tidemark::examples {
namespace {

const std::vector<std::uint32_t>& Find(
    const std::map<std::uint32_t, std::vector<std::uint32_t>>& strips, std::uint32_t h) {
  static const std::vector<std::uint32_t> none;
  const auto found = strips.find(h);
  return found == strips.end() ? none : found->second;
}

}  // namespace

BlockGrid::BlockGrid(Blocks left, Blocks right) : left_(std::move(left)), right_(std::move(right)) {
  for (const auto& [block, entries] : right_) columns_beside_[block.first].push_back(block.second);
  for (const auto& [block, entries] : left_) {
    rows_above_[block.second].push_back(block.first);
    first_rank_[block] = product_count_;
    product_count_ += ColumnsBeside(block.second).size();
  }
}

absl::Status BlockGrid::Check() const {
  if (product_count_ <= kProductsMax) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "{} block products are more than {}: choose a larger block", product_count_, kProductsMax));
}

absl::Status BlockGrid::SaveTo(const std::string& path) const {
  return Save(path, std::pair(left_, right_));
}

absl::StatusOr<BlockGrid> BlockGrid::LoadFrom(const std::string& path) {
  absl::StatusOr<std::pair<Blocks, Blocks>> blocks = Load<std::pair<Blocks, Blocks>>(path);
  if (!blocks.ok()) return blocks.status();
  return BlockGrid(std::move(blocks->first), std::move(blocks->second));
}

const std::vector<std::uint32_t>& BlockGrid::RowsAbove(std::uint32_t h) const {
  return Find(rows_above_, h);
}

const std::vector<std::uint32_t>& BlockGrid::ColumnsBeside(std::uint32_t h) const {
  return Find(columns_beside_, h);
}

std::uint64_t BlockGrid::RankOf(const BlockProduct& product) const {
  const std::vector<std::uint32_t>& columns = ColumnsBeside(product.h);
  const auto column = std::lower_bound(columns.begin(), columns.end(), product.j);
  return first_rank_.at({product.i, product.h}) +
         static_cast<std::uint64_t>(column - columns.begin());
}

std::vector<bool> BlockGrid::MostDemanding(std::uint64_t count) const {
  std::vector<std::uint64_t> demand;  // by rank
  demand.reserve(product_count_);
  for (const auto& [block, entries] : left_) {
    for (const std::uint32_t j : ColumnsBeside(block.second)) {
      demand.push_back(entries * right_.at({block.second, j}));
    }
  }
  std::vector<std::uint64_t> ranks(demand.size());
  std::iota(ranks.begin(), ranks.end(), std::uint64_t{0});
  count = std::min<std::uint64_t>(count, ranks.size());
  std::nth_element(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(count), ranks.end(),
                   [&](std::uint64_t a, std::uint64_t b) {
                     return std::pair(demand[b], a) < std::pair(demand[a], b);
                   });
  std::vector<bool> chosen(demand.size());
  for (std::uint64_t i = 0; i < count; ++i) chosen[ranks[i]] = true;
  return chosen;
}

}  // namespace tidemark::examples
