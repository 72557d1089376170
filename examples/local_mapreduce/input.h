// The input of a job: its files, their splits among map tasks, and their lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "examples/local_mapreduce/file_io.h"

namespace tidemark::examples {

struct InputFile {
  std::string path;  // path of the plain text
  std::string name;  // the user's name for the file, without directories
  std::uint64_t size_bytes = 0;
  bool from_previous_round = false;
};

// Whole lines of one input, which consist of the bytes begin <= offset < end.
struct Split {
  std::uint32_t input = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t size_bytes() const { return end - begin; }
  friend bool operator==(const Split&, const Split&) = default;
};

// Opens every input, and decompresses .zst files into `directory`. Fails with NotFound,
// PermissionDenied or InvalidArgument; the message names the unusable input.
absl::StatusOr<std::vector<InputFile>> OpenInputs(const std::vector<std::string>& paths,
                                                  const std::string& directory);

// Returns about `count` splits of similar size, with at least one for each non-empty input and at
// least one in total. Long lines lead to fewer splits.
absl::StatusOr<std::vector<Split>> SplitInputs(const std::vector<InputFile>& inputs,
                                               std::uint32_t count);

// The lines whose first byte is in begin <= offset < end of a file. A line must start at `begin`.
//
// while (lines.Next()) Use(lines.line()); if (!lines.status().ok()) ...
class Lines {
 public:
  static absl::StatusOr<Lines> Open(const std::string& path, std::uint64_t begin,
                                    std::uint64_t end);
  static absl::StatusOr<Lines> Open(const std::string& path);  // reads all lines

  // Moves to the next line. Returns false at the end or if status() has an error.
  bool Next();
  // Returns the line without its line ending, "\n" or "\r\n". Valid until Next().
  std::string_view line() const { return line_; }
  // Returns the offset of the line in the file.
  std::uint64_t offset() const { return line_offset_; }
  // Returns the offset of the next line.
  std::uint64_t next_offset() const { return fetched_ - (buffer_.size() - at_); }
  const absl::Status& status() const { return status_; }

 private:
  Lines(InputFileHandle file, std::uint64_t begin, std::uint64_t end);
  bool Fetch();

  InputFileHandle file_;
  std::uint64_t fetched_;  // offset in the file of the end of the buffer
  std::uint64_t end_;
  std::string buffer_;
  std::size_t at_ = 0;  // offset in the buffer of the next line
  std::string_view line_;
  std::uint64_t line_offset_ = 0;
  absl::Status status_;
};

// Returns an error about the line at `offset`, such as "edges.txt:17: an edge must be ...". Reads
// the file up to that line to count its lines.
absl::Status AtLine(const InputFile& input, std::uint64_t offset, const absl::Status& wrong);

}  // namespace tidemark::examples
