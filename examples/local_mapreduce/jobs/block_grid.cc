#include "examples/local_mapreduce/jobs/block_grid.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string_view>

#include "examples/local_mapreduce/file_io.h"
#include "examples/local_mapreduce/jobs/text.h"
#include "examples/local_mapreduce/lines.h"
#include "fmt/format.h"

namespace tidemark::examples {
namespace {

constexpr std::string_view kLeft = "left";
constexpr std::string_view kRight = "right";

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

absl::Status BlockGrid::Save(const std::string& path) const {
  absl::StatusOr<FileWriter> file = FileWriter::Create(path);
  if (!file.ok()) return file.status();
  for (const auto& [matrix, blocks] : {std::pair(kLeft, &left_), std::pair(kRight, &right_)}) {
    for (const auto& [block, entries] : *blocks) {
      file->Append(fmt::format("{} {} {} {}\n", matrix, block.first, block.second, entries));
    }
  }
  return file->Close();
}

absl::StatusOr<BlockGrid> BlockGrid::Load(const std::string& path) {
  absl::StatusOr<Lines> lines = Lines::Open(path);
  if (!lines.ok()) return lines.status();
  Blocks left;
  Blocks right;
  while (lines->Next()) {
    std::string_view line = lines->line();
    Blocks& blocks = NextField(line) == kLeft ? left : right;
    const std::optional<std::uint32_t> row = ParseNode(NextField(line));
    const std::optional<std::uint32_t> column = ParseNode(NextField(line));
    const std::optional<std::uint64_t> entries = ParseNumber(NextField(line));
    if (!row || !column || !entries) {
      return absl::DataLossError(fmt::format("cannot parse {}", path));
    }
    blocks[{*row, *column}] = *entries;
  }
  if (!lines->status().ok()) return lines->status();
  return BlockGrid(std::move(left), std::move(right));
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
