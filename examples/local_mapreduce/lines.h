// Text input, line by line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "examples/local_mapreduce/file_io.h"
#include "examples/local_mapreduce/splits.h"

namespace tidemark::examples {

// The lines of the bytes begin <= offset < end of a file, of which `begin` starts a line.
//
//   while (lines.Next()) Use(lines.line());
//   if (!lines.status().ok()) ...
class Lines {
 public:
  static absl::StatusOr<Lines> Open(const std::string& path, std::uint64_t begin,
                                    std::uint64_t end);
  static absl::StatusOr<Lines> Open(const std::string& path);  // all of it

  // Moves to the next line; false: there is none, or status() says what went wrong.
  bool Next();
  // Without its line end, "\n" or "\r\n". Valid until Next().
  std::string_view line() const { return line_; }
  // Where the line begins in the file.
  std::uint64_t offset() const { return line_offset_; }
  // Where the next one begins.
  std::uint64_t next_offset() const { return fetched_ - (buffer_.size() - at_); }
  const absl::Status& status() const { return status_; }

 private:
  Lines(InputFileHandle file, std::uint64_t begin, std::uint64_t end);
  bool Fetch();

  InputFileHandle file_;
  std::uint64_t fetched_;  // the file up to here has been in the buffer
  std::uint64_t end_;
  std::string buffer_;
  std::size_t at_ = 0;  // the next line begins here in the buffer
  std::string_view line_;
  std::uint64_t line_offset_ = 0;
  absl::Status status_;
};

// `wrong`, said of the line that begins at `offset`: "edges.txt:17: an edge must be ...". Reads all
// that stands before the line.
absl::Status AtLine(const InputFile& input, std::uint64_t offset, const absl::Status& wrong);

}  // namespace tidemark::examples
