// Functions that find, unpack or generate the inputs of the jobs of the suites.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tidemark::bench {

inline constexpr char kNoData[] = "none";
// Number of rows and columns of a block in the generated matrices.
inline constexpr std::uint32_t kBlockSide = 384;

// The directories that contain the data.
struct DataPlaces {
  std::string data;  // contains graphs/NAME.txt.zst, text/books-N.tar.zst, hadoop/rumen/
  // small data sets of the source tree; used if `data` does not contain them
  std::string repository;
  std::string cache;  // receives unpacked and generated files
};

class DataSets {
 public:
  explicit DataSets(DataPlaces places);

  // Returns the files of a data set:
  //   none                              no file
  //   books                             a collection of English books
  //   zipf-A, zipf-A-B                  two relations, below
  //   blocks-uniform, blocks-skewed     one or two sparse matrices, below
  //   rumen/NAME                        a Rumen trace of Hadoop jobs
  //   anything else                     the graph of that name Returns NotFound if no directory has
  //   the data set.
  absl::StatusOr<std::vector<std::string>> Find(const std::string& name) const;

 private:
  // Returns the first file with the given name in these directories.
  absl::StatusOr<std::vector<std::string>> File(const std::string& in_data,
                                                const std::string& in_repository) const;
  absl::StatusOr<std::vector<std::string>> Books() const;
  absl::StatusOr<std::vector<std::string>> Relations(const std::string& name) const;
  absl::StatusOr<std::vector<std::string>> Matrices(const std::string& name) const;

  DataPlaces places_;
};

// The functions below generate the inputs of [NF] 7.3. Equal arguments give equal bytes.

// Lines "KEY NUMBER". Keys are drawn among `keys` with probability proportional to 1 / rank^skew.
// Two relations rank the keys in the same order. The byte order of keys is independent of the rank.
struct Relation {
  double skew = 1;  // if 0, each key occurs once, regardless of `tuples`
  std::uint32_t tuples = 0;
  std::uint32_t keys = 0;
  std::uint64_t seed = 1;
};
absl::Status WriteRelation(const Relation& relation, const std::string& path);

// Lines "ROW COLUMN" of a square matrix of blocks. Each position in the block (i, j) is filled with
// probability density(i, j, blocks_across).
struct BlockMatrix {
  std::uint32_t blocks_across = 8;
  std::uint32_t block_side = 0;
  double (*density)(std::uint32_t row, std::uint32_t column, std::uint32_t blocks_across) = nullptr;
  std::uint64_t seed = 1;
};
absl::Status WriteMatrix(const BlockMatrix& matrix, const std::string& path);

}  // namespace tidemark::bench
