#include "bench/accuracy/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/accuracy/random.h"
#include "examples/local_mapreduce/file_io.h"

namespace tidemark::bench {
namespace {

using examples::FileWriter;

// Writes to `path` after the contents are complete.
template <typename Fill>
absl::Status WriteFile(const std::string& path, Fill fill) {
  const std::string unfinished = path + ".new";
  absl::StatusOr<FileWriter> file = FileWriter::Create(unfinished);
  if (!file.ok()) return file.status();
  fill(*file);
  if (absl::Status closed = file->Close(); !closed.ok()) return closed;
  return examples::Rename(unfinished, path);
}

// Returns distinct keys in a scrambled order: multiplying by an odd number permutes 32 bits.
std::string KeyOf(std::size_t rank) {
  return fmt::format("k{:08x}", static_cast<std::uint32_t>(rank * 2'654'435'761U));
}

}  // namespace

absl::Status WriteRelation(const Relation& relation, const std::string& path) {
  std::vector<double> cumulated;
  double sum = 0;
  for (std::uint32_t rank = 1; rank <= relation.keys; ++rank) {
    cumulated.push_back(sum += std::pow(rank, -relation.skew));
  }
  return WriteFile(path, [&](FileWriter& file) {
    Random random(relation.seed);
    const std::uint32_t tuples = relation.skew == 0 ? relation.keys : relation.tuples;
    for (std::uint32_t i = 0; i < tuples; ++i) {
      std::size_t rank = i;
      if (relation.skew != 0) {
        const auto drawn =
            std::upper_bound(cumulated.begin(), cumulated.end(), sum * random.Uniform());
        rank = std::min<std::size_t>(static_cast<std::size_t>(drawn - cumulated.begin()),
                                     relation.keys - std::size_t{1});
      }
      file.Append(fmt::format("{} {:06}\n", KeyOf(rank), i));
    }
  });
}

absl::Status WriteMatrix(const BlockMatrix& matrix, const std::string& path) {
  return WriteFile(path, [&](FileWriter& file) {
    Random random(matrix.seed);
    const std::uint32_t side = matrix.blocks_across * matrix.block_side;
    for (std::uint32_t row = 0; row < side; ++row) {
      for (std::uint32_t column = 0; column < side; ++column) {
        const double density = matrix.density(row / matrix.block_side, column / matrix.block_side,
                                              matrix.blocks_across);
        if (random.Uniform() < density) file.Append(fmt::format("{} {}\n", row, column));
      }
    }
  });
}

}  // namespace tidemark::bench
