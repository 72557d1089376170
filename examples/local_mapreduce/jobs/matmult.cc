// Sparse matrix product by blocks ([NF] 7.3). A key group is one product of two blocks. The cost of
// its reduce function is the number of pairs of entries that are multiplied.
//
// Input lines are "row column value", or "row column" for a value of 1. With one file, the job
// computes the square of that matrix. The output contains the entries of each block product.
// Entries at one position must be summed over h.
#include <algorithm>
#include <cereal/types/map.hpp>
#include <cereal/types/utility.hpp>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "examples/local_mapreduce/file_io.h"
#include "examples/local_mapreduce/input.h"
#include "examples/local_mapreduce/jobs/all_jobs.h"
#include "examples/local_mapreduce/jobs/text.h"
#include "examples/local_mapreduce/saved.h"
#include "fmt/format.h"

namespace tidemark::examples {
namespace {

// The row and column of a block in the grid of blocks.
using BlockName = std::pair<std::uint32_t, std::uint32_t>;

// The product of block (i, h) of the left matrix and block (h, j) of the right matrix.
struct BlockProduct {
  std::uint32_t i = 0;
  std::uint32_t h = 0;
  std::uint32_t j = 0;
  friend bool operator==(const BlockProduct&, const BlockProduct&) = default;
};

// The non-empty blocks of two matrices with their numbers of entries, and the products of these
// blocks. Products are ranked by (i, h, j).
class BlockGrid {
 public:
  static constexpr std::uint64_t kProductsMax = 50'000'000;

  using Blocks = std::map<BlockName, std::uint64_t>;
  BlockGrid() = default;
  BlockGrid(Blocks left, Blocks right);

  // Fails with InvalidArgument if there are more than kProductsMax products.
  absl::Status Check() const;
  absl::Status SaveTo(const std::string& path) const;
  static absl::StatusOr<BlockGrid> LoadFrom(const std::string& path);

  const Blocks& left() const { return left_; }
  // These functions return the i or the j of the products that need a block.
  const std::vector<std::uint32_t>& RowsAbove(std::uint32_t h) const;
  const std::vector<std::uint32_t>& ColumnsBeside(std::uint32_t h) const;
  // Returns the rank of a product that exists.
  std::uint64_t RankOf(const BlockProduct& product) const;
  // Returns, by rank, whether a product is among the `count` most expensive ones. A product costs
  // the product of the numbers of entries of its two blocks. Equal costs are ordered by rank.
  std::vector<bool> MostDemanding(std::uint64_t count) const;

 private:
  using Strips = std::map<std::uint32_t, std::vector<std::uint32_t>>;
  Blocks left_;
  Blocks right_;
  Strips rows_above_;                              // by h: every i of a left block (i, h)
  Strips columns_beside_;                          // by h: every j of a right block (h, j)
  std::map<BlockName, std::uint64_t> first_rank_;  // lowest rank of the products of a left block
  std::uint64_t product_count_ = 0;
};

const std::vector<std::uint32_t>& Find(
    const std::map<std::uint32_t, std::vector<std::uint32_t>>& strips, std::uint32_t h) {
  static const std::vector<std::uint32_t> none;
  const auto found = strips.find(h);
  return found == strips.end() ? none : found->second;
}

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
  return absl::InvalidArgumentError(
      fmt::format("{} block products exceed the limit of {}: choose a larger block", product_count_,
                  kProductsMax));
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
  std::vector<std::uint64_t> demand;  // cost of each product, by rank
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

constexpr char kLeft = 'L';
constexpr char kRight = 'R';

// An entry of a matrix or of a block. Positions in a block are relative to its corner.
struct Entry {
  std::uint32_t row = 0;
  std::uint32_t column = 0;
  double value = 0;
  friend bool operator<(const Entry& a, const Entry& b) {
    return std::tie(a.row, a.column, a.value) < std::tie(b.row, b.column, b.value);
  }
};
static_assert(std::is_trivially_copyable_v<Entry>);

using Entries = std::vector<Entry>;

std::optional<Entry> ParseEntry(std::string_view line) {
  const std::optional<std::uint32_t> row = ParseNode(NextField(line));
  const std::optional<std::uint32_t> column = ParseNode(NextField(line));
  if (!row || !column) return std::nullopt;
  Entry entry = {.row = *row, .column = *column, .value = 1};
  const std::string_view value = NextField(line);
  if (value.empty()) return entry;
  const char* const end = value.data() + value.size();
  const auto [at, error] = std::from_chars(value.data(), end, entry.value);
  if (error != std::errc() || at != end) return std::nullopt;
  return entry;
}

absl::Status NotAnEntry() {
  return absl::InvalidArgumentError("an entry must be \"row column\" or \"row column value\"");
}

// A key whose byte order equals the order of (i, h, j).
class ProductKey {
 public:
  static constexpr std::size_t kBytes = 12;
  explicit ProductKey(const BlockProduct& product) {
    char* at = bytes_;
    for (const std::uint32_t number : {product.i, product.h, product.j}) {
      char part[4];
      at = Output::Put(at, PutNode(number, part));
    }
  }
  std::string_view view() const { return {bytes_, kBytes}; }
  static BlockProduct Parse(std::string_view key) {
    return {.i = GetNode(key), .h = GetNode(key.substr(4)), .j = GetNode(key.substr(8))};
  }

 private:
  char bytes_[kBytes];
};

enum class Partitioner : std::uint8_t { kInTurn, kRandom, kHeaviestTogether };

class MatMult : public Job {
 public:
  MatMult(JobContext context, Partitioner partitioner, std::uint32_t block_side)
      : Job(std::move(context)), partitioner_(partitioner), side_(block_side) {}

  absl::Status Prepare(std::vector<InputFile>& inputs) override {
    std::vector<BlockGrid::Blocks> matrices;
    for (const InputFile& input : inputs) {
      absl::StatusOr<BlockGrid::Blocks> blocks = CountEntries(input);
      if (!blocks.ok()) return blocks.status();
      matrices.push_back(*std::move(blocks));
    }
    const BlockGrid grid(matrices.front(), matrices.back());
    if (absl::Status usable = grid.Check(); !usable.ok()) return usable;
    return grid.SaveTo(GridPath());
  }

  absl::Status SetUp() override {
    absl::StatusOr<BlockGrid> grid = BlockGrid::LoadFrom(GridPath());
    if (!grid.ok()) return grid.status();
    grid_ = *std::move(grid);
    if (partitioner_ == Partitioner::kHeaviestTogether) {
      heaviest_ = grid_.MostDemanding(grid_.left().size());
    }
    return absl::OkStatus();
  }

  absl::Status Map(std::string_view line, const LineOrigin& origin, Emitter& /*emitter*/) override {
    if (IsSkipped(line)) return absl::OkStatus();
    const std::optional<Entry> entry = ParseEntry(line);
    if (!entry) return NotAnEntry();
    const bool is_last = origin.input + 1 == context().inputs.size();
    if (origin.input == 0) AddTo(left_, *entry);
    if (is_last) AddTo(right_, *entry);
    return absl::OkStatus();
  }

  // Emits each block, or this task's part of the block, to every product that needs it.
  absl::Status EndMap(Emitter& emitter) override {
    for (const auto& [block, entries] : left_) {
      const std::string value = Pack(kLeft, entries);
      for (const std::uint32_t j : grid_.ColumnsBeside(block.second)) {
        emitter.Emit(ProductKey({.i = block.first, .h = block.second, .j = j}).view(), value);
      }
    }
    for (const auto& [block, entries] : right_) {
      const std::string value = Pack(kRight, entries);
      for (const std::uint32_t i : grid_.RowsAbove(block.first)) {
        emitter.Emit(ProductKey({.i = i, .h = block.first, .j = block.second}).view(), value);
      }
    }
    return absl::OkStatus();
  }

  std::uint32_t Partition(std::string_view key) const override {
    const std::uint32_t tasks = context().reduce_task_count;
    if (partitioner_ == Partitioner::kRandom) return Job::Partition(key);
    const std::uint64_t rank = grid_.RankOf(ProductKey::Parse(key));
    if (partitioner_ == Partitioner::kInTurn) return static_cast<std::uint32_t>(rank % tasks);
    if (heaviest_[rank] || tasks == 1) return 0;
    return 1 + HashPartition(key, tasks - 1);
  }

  absl::Status Reduce(std::string_view key, Values& values, Output& output) override {
    Entries left;
    Entries right;
    while (const auto value = values.Next()) {
      Unpack(*value, value->front() == kLeft ? left : right);
    }
    // Sorted entries make floating-point sums independent of the splits.
    std::sort(left.begin(), left.end());
    std::sort(right.begin(), right.end());
    const BlockProduct product = ProductKey::Parse(key);
    Multiply(left, right, {product.i * side_, product.j * side_}, output);
    return absl::OkStatus();
  }

 private:
  using BlockEntries = std::map<BlockName, Entries>;

  std::string GridPath() const { return PathOf(context().side_directory, "grid"); }
  BlockName BlockOf(const Entry& entry) const { return {entry.row / side_, entry.column / side_}; }

  absl::StatusOr<BlockGrid::Blocks> CountEntries(const InputFile& input) const {
    absl::StatusOr<Lines> lines = Lines::Open(input.path);
    if (!lines.ok()) return lines.status();
    BlockGrid::Blocks blocks;
    while (lines->Next()) {
      if (IsSkipped(lines->line())) continue;
      const std::optional<Entry> entry = ParseEntry(lines->line());
      if (!entry) return AtLine(input, lines->offset(), NotAnEntry());
      ++blocks[BlockOf(*entry)];
    }
    if (!lines->status().ok()) return lines->status();
    return blocks;
  }

  void AddTo(BlockEntries& blocks, const Entry& entry) const {
    blocks[BlockOf(entry)].push_back(
        {.row = entry.row % side_, .column = entry.column % side_, .value = entry.value});
  }

  static std::string Pack(char matrix, const Entries& entries) {
    std::string value(1, matrix);
    value.append(reinterpret_cast<const char*>(entries.data()), entries.size() * sizeof(Entry));
    return value;
  }
  static void Unpack(std::string_view value, Entries& entries) {
    const std::size_t count = (value.size() - 1) / sizeof(Entry);
    entries.resize(entries.size() + count);
    std::memcpy(entries.data() + entries.size() - count, value.data() + 1, count * sizeof(Entry));
  }

  // Processes the left block row by row, and keeps the sums of one row of the product at a time.
  void Multiply(const Entries& left, const Entries& right, const BlockName& corner,
                Output& output) {
    right_row_.assign(side_ + 1, 0);
    for (const Entry& entry : right) ++right_row_[entry.row + 1];
    for (std::uint32_t row = 0; row < side_; ++row) right_row_[row + 1] += right_row_[row];
    sums_.assign(side_, 0);
    is_touched_.assign(side_, false);
    for (std::size_t i = 0; i < left.size() && output.ok(); ++i) {
      const Entry& a = left[i];
      for (std::size_t k = right_row_[a.column]; k < right_row_[a.column + 1]; ++k) {
        const Entry& b = right[k];
        sums_[b.column] += a.value * b.value;
        if (is_touched_[b.column] == 0) touched_.push_back(b.column);
        is_touched_[b.column] = 1;
      }
      if (i + 1 == left.size() || left[i + 1].row != a.row) {
        WriteRow(corner.first + a.row, corner.second, output);
      }
    }
  }

  void WriteRow(std::uint32_t row, std::uint32_t first_column, Output& output) {
    constexpr std::size_t kRecordBytesMax = 64;  // two numbers of 10 digits and a double of 24
    std::sort(touched_.begin(), touched_.end());
    for (const std::uint32_t column : touched_) {
      char* const at = output.Reserve(kRecordBytesMax);
      output.Commit(fmt::format_to(at, "{} {}\t{}\n", row, first_column + column, sums_[column]));
      sums_[column] = 0;
      is_touched_[column] = 0;
    }
    touched_.clear();
  }

  Partitioner partitioner_;
  std::uint32_t side_;
  BlockGrid grid_;
  std::vector<bool> heaviest_;  // by rank of the product
  BlockEntries left_;
  BlockEntries right_;
  // The members below belong to the current product.
  std::vector<std::size_t> right_row_;  // the start of each row of the right block
  std::vector<double> sums_;
  std::vector<char> is_touched_;
  std::vector<std::uint32_t> touched_;
};

JobDefinition MatMultJob(std::string name, std::string description, Partitioner partitioner) {
  const JobFactory make =
      [partitioner](JobContext context) -> absl::StatusOr<std::unique_ptr<Job>> {
    absl::StatusOr<std::uint64_t> side = WholeNumber(context, "block", 1, 1 << 20);
    if (!side.ok()) return side.status();
    return std::make_unique<MatMult>(std::move(context), partitioner,
                                     static_cast<std::uint32_t>(*side));
  };
  return {.name = std::move(name),
          .description = std::move(description),
          .inputs_max = 2,
          .parameters = {{"block", "512", "rows and columns of a block"}},
          .rounds = {make}};
}

}  // namespace

JobDefinition MatMultOptJob() {
  return MatMultJob("matmult-opt", "multiplies sparse matrices; block products assigned in turn",
                    Partitioner::kInTurn);
}

JobDefinition MatMultRndJob() {
  return MatMultJob("matmult-rnd", "multiplies sparse matrices; block products placed at random",
                    Partitioner::kRandom);
}

JobDefinition MatMultUnbalJob() {
  return MatMultJob("matmult-unbal",
                    "multiplies sparse matrices; the heaviest block products on one reduce task",
                    Partitioner::kHeaviestTogether);
}

}  // namespace tidemark::examples
