// Finds, unpacks or generates the inputs of the suites' jobs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tidemark::bench {

inline constexpr char kNoData[] = "none";
// Rows and columns of a block of the generated matrices.
inline constexpr std::uint32_t kBlockSide = 384;

// Places of the data.
struct DataPlaces {
  std::string data;        // with graphs/NAME.txt.zst, text/books-N.tar.zst, hadoop/rumen/
  std::string repository;  // small data sets of the source; used if `data` lacks them
  std::string cache;       // for unpacked and generated files
};

class DataSets {
 public:
  explicit DataSets(DataPlaces places);

  // The files of a data set:
  //   none                              no file
  //   books                             a collection of English books
  //   zipf-A, zipf-A-B                  two relations, below
  //   blocks-uniform, blocks-skewed     one or two sparse matrices, below
  //   rumen/NAME                        a Rumen trace of Hadoop jobs
  //   anything else                     the graph of that name
  // Returns NotFound if no place has it.
  absl::StatusOr<std::vector<std::string>> Find(const std::string& name) const;

 private:
  // Returns the first file of that name below the places.
  absl::StatusOr<std::vector<std::string>> File(const std::string& in_data,
                                                const std::string& in_repository) const;
  absl::StatusOr<std::vector<std::string>> Books() const;
  absl::StatusOr<std::vector<std::string>> Relations(const std::string& name) const;
  absl::StatusOr<std::vector<std::string>> Matrices(const std::string& name) const;

  DataPlaces places_;
};

}  // namespace tidemark::bench
