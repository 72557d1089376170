#include "bench/accuracy/data_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "bench/accuracy/random.h"
#include "examples/local_mapreduce/file_io.h"

namespace tidemark::bench {
namespace {

namespace fs = std::filesystem;

bool IsThere(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// Returns all files with this suffix below a directory, by name.
std::vector<std::string> FilesIn(const std::string& directory, const std::string& suffix) {
  std::vector<std::string> paths;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(directory, ignored)) {
    if (entry.is_regular_file() && entry.path().string().ends_with(suffix)) {
      paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

absl::Status Unpack(const std::string& archive, const std::string& directory) {
  const std::string command = fmt::format("zstd -dc '{}' | tar x -C '{}'", archive, directory);
  if (std::system(command.c_str()) == 0) return absl::OkStatus();  // NOLINT(cert-env33-c)
  return absl::InternalError(fmt::format("cannot unpack {}: {}", archive, command));
}

// --- Relations of [NF] 7.3, whose sizes limit a join to about 1e9 tuples ---

constexpr std::uint32_t kKeys = 50'000;

struct RelationPair {
  const char* name;
  Relation r;
  Relation s;
};
constexpr RelationPair kRelationPairs[] = {
    {"zipf-1.0", {1.0, 300'000, kKeys, 1}, {0, 0, kKeys, 2}},
    {"zipf-1.5", {1.5, 300'000, kKeys, 3}, {0, 0, kKeys, 4}},
    {"zipf-2.0", {2.0, 300'000, kKeys, 5}, {0, 0, kKeys, 6}},
    {"zipf-2.0-1.0", {2.0, 200'000, kKeys, 7}, {1.0, 60'000, kKeys, 8}},
    {"zipf-1.5-1.5", {1.5, 80'000, kKeys, 9}, {1.5, 80'000, kKeys, 10}},
};

// --- Matrices of [NF] 7.3 ---

double Uniform(std::uint32_t /*row*/, std::uint32_t /*column*/, std::uint32_t /*blocks_across*/) {
  return 0.25;
}
// The density grows with the column in the left matrix, and with the row in the right matrix.
double GrowsByColumn(std::uint32_t /*row*/, std::uint32_t column, std::uint32_t blocks_across) {
  return std::exp2(-static_cast<double>(blocks_across - 1 - column));
}
double GrowsByRow(std::uint32_t row, std::uint32_t /*column*/, std::uint32_t blocks_across) {
  return std::exp2(-static_cast<double>(blocks_across - 1 - row));
}

}  // namespace

DataSets::DataSets(DataPlaces places) : places_(std::move(places)) {}

absl::StatusOr<std::vector<std::string>> DataSets::Find(const std::string& name) const {
  if (name == kNoData) return std::vector<std::string>();
  if (absl::Status made = examples::MakeDirectories(places_.cache); !made.ok()) return made;
  if (name == "books") return Books();
  if (name.starts_with("zipf-")) return Relations(name);
  if (name.starts_with("blocks-")) return Matrices(name);
  if (name.starts_with("rumen/")) {
    return File(fmt::format("hadoop/{}.json.gz", name), fmt::format("workflows/{}.json.gz", name));
  }
  const std::string graph = fmt::format("graphs/{}.txt.zst", name);
  return File(graph, graph);
}

absl::StatusOr<std::vector<std::string>> DataSets::File(const std::string& in_data,
                                                        const std::string& in_repository) const {
  const std::string paths[] = {examples::PathOf(places_.data, in_data),
                               examples::PathOf(places_.repository, in_repository)};
  for (const std::string& path : paths) {
    if (IsThere(path)) return std::vector<std::string>{path};
  }
  return absl::NotFoundError(fmt::format("neither {} nor {} exists", paths[0], paths[1]));
}

absl::StatusOr<std::vector<std::string>> DataSets::Books() const {
  const std::string unpacked = examples::PathOf(places_.cache, "books");
  if (IsThere(unpacked)) return FilesIn(unpacked, ".txt");
  const std::vector<std::string> archives =
      FilesIn(examples::PathOf(places_.data, "text"), ".tar.zst");
  if (archives.empty()) {
    std::vector<std::string> few = FilesIn(examples::PathOf(places_.repository, "text"), ".zst");
    if (few.empty()) return absl::NotFoundError("no books");
    return few;
  }
  const std::string unfinished = unpacked + ".new";
  if (absl::Status made = examples::MakeDirectories(unfinished); !made.ok()) return made;
  for (const std::string& archive : archives) {
    if (absl::Status done = Unpack(archive, unfinished); !done.ok()) return done;
  }
  if (absl::Status moved = examples::Rename(unfinished, unpacked); !moved.ok()) return moved;
  return FilesIn(unpacked, ".txt");
}

absl::StatusOr<std::vector<std::string>> DataSets::Relations(const std::string& name) const {
  for (const RelationPair& pair : kRelationPairs) {
    if (name != pair.name) continue;
    std::vector<std::string> paths;
    for (const auto& [relation, suffix] : {std::pair(&pair.r, "r"), std::pair(&pair.s, "s")}) {
      paths.push_back(fmt::format("{}/{}-{}.txt", places_.cache, name, suffix));
      if (IsThere(paths.back())) continue;
      if (absl::Status done = WriteRelation(*relation, paths.back()); !done.ok()) return done;
    }
    return paths;
  }
  return absl::NotFoundError(fmt::format("no relations {}", name));
}

absl::StatusOr<std::vector<std::string>> DataSets::Matrices(const std::string& name) const {
  std::vector<BlockMatrix> matrices;
  if (name == "blocks-uniform") {
    // The job squares this matrix.
    matrices = {{.block_side = kBlockSide, .density = Uniform, .seed = 11}};
  } else if (name == "blocks-skewed") {
    matrices = {{.block_side = kBlockSide, .density = GrowsByColumn, .seed = 12},
                {.block_side = kBlockSide, .density = GrowsByRow, .seed = 13}};
  } else {
    return absl::NotFoundError(fmt::format("no matrices {}", name));
  }
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    paths.push_back(fmt::format("{}/{}-{}.txt", places_.cache, name, i + 1));
    if (IsThere(paths.back())) continue;
    if (absl::Status done = WriteMatrix(matrices[i], paths.back()); !done.ok()) return done;
  }
  return paths;
}

namespace {

using examples::FileWriter;

// Writes a temporary file and renames it to `path` when the contents are complete.
template <typename Fill>
absl::Status WriteFile(const std::string& path, Fill fill) {
  const std::string unfinished = path + ".new";
  absl::StatusOr<FileWriter> file = FileWriter::Create(unfinished);
  if (!file.ok()) return file.status();
  fill(*file);
  if (absl::Status closed = file->Close(); !closed.ok()) return closed;
  return examples::Rename(unfinished, path);
}

// Returns distinct keys in a scrambled order, since multiplication by an odd number permutes 32
// bits.
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
