// The input of a job, cut into the inputs of its map tasks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tidemark::examples {

struct InputFile {
  std::string path;  // plain text
  std::string name;  // as its user named it, without directories
  std::uint64_t size_bytes = 0;
  bool from_previous_round = false;
};

// Whole lines of one input: the bytes begin <= offset < end.
struct Split {
  std::uint32_t input = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t size_bytes() const { return end - begin; }
  friend bool operator==(const Split&, const Split&) = default;
};

// Looks at every input, and decompresses a .zst into `directory`. NotFound, PermissionDenied,
// InvalidArgument: an input that cannot be used, named.
absl::StatusOr<std::vector<InputFile>> OpenInputs(const std::vector<std::string>& paths,
                                                  const std::string& directory);

// About `count` splits of about equal size, at least one for each input that is not empty and
// never less than one in all: fewer where lines are long.
absl::StatusOr<std::vector<Split>> SplitInputs(const std::vector<InputFile>& inputs,
                                               std::uint32_t count);

}  // namespace tidemark::examples
