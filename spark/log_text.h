// The text of an event log on disk, in one file or several, plain or compressed.
//
//   LogText log(files, /*follows=*/false);
//   while (...) {
//     switch (*log.Read()) {
//       case LogText::Step::kFile: ...   // file() begins
//       case LogText::Step::kText: ...   // text() is next
//       case LogText::Step::kEnd: ...
//
// Not thread-safe. Memory: less than 64 MB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "spark/log_files.h"

namespace tidemark::spark {

// Unpacks compressed event logs, in pieces of bounded size.
//
//   Unpacker unpacker;
//   while (!bytes.empty()) {
//     const auto taken = unpacker.Unpack(bytes, out);   // appends to out
//     ...
//     bytes.remove_prefix(*taken);
//   }
//
// The first bytes determine the format: sequences of zstd frames, LZ4 frames or gzip members, the
// blocks of Spark's codecs "lz4", "snappy" and "lzf", or plain text. Not thread-safe.
class Unpacker {
 public:
  Unpacker();
  ~Unpacker();
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  // Consumes bytes from the front of `packed`, which must not be empty, and appends their contents:
  // at most 33 MiB, and usually less than 256 KiB. Returns the number of consumed bytes, at least
  // one. Fails with Unimplemented for an unsupported compression. Fails with DataLoss if the
  // remainder is damaged; `out` then contains the contents before the damage.
  absl::StatusOr<std::size_t> Unpack(std::string_view packed, std::string& out);

  // Returns true if the bytes so far end within a frame or block.
  bool is_cut() const;

  // One compression format.
  class Format {
   public:
    virtual ~Format() = default;
    virtual absl::StatusOr<std::size_t> Unpack(std::string_view packed, std::string& out) = 0;
    virtual bool is_cut() const = 0;
  };

 private:
  std::string head_;  // first bytes, until the format is known
  std::unique_ptr<Format> format_;
};

class LogText {
 public:
  enum class Step {
    kFile,  // the first or next file begins
    kText,  // a piece of text of the file
    kEnd,   // no more text; for a followed log, no more text yet
  };

  // `files` are the files of one log in order, at least one. If `follows` is true, the application
  // may still write the log.
  LogText(std::vector<std::string> files, bool follows)
      : follows_(follows), files_(std::move(files)) {}
  ~LogText();
  LogText(const LogText&) = delete;
  LogText& operator=(const LogText&) = delete;

  // Errors name the file:
  //   Unimplemented    its compression is not supported
  //   InvalidArgument  it is not a regular file
  //   DataLoss         it is damaged; everything before the damage has been returned
  //   Unavailable      it could not be read
  //   Aborted          a followed file was truncated or replaced; open the log again
  absl::StatusOr<Step> Read();

  // Returns the text of the last step, which is valid until the next step.
  std::string_view text() const { return text_; }
  // file() returns the file of the last step. file_before() returns the file before it, or "" for
  // the first file.
  const std::string& file() const { return files_[file_]; }
  std::string file_before() const { return file_ > 0 ? files_[file_ - 1] : ""; }
  // Returns true if the text so far ends within a compressed frame. At kFile, the result refers to
  // the previous file.
  bool is_cut() const { return is_cut_; }
  // Returns the size of the text so far.
  std::uint64_t bytes() const { return bytes_; }

 private:
  absl::Status OpenFile();
  absl::Status ReadFile();
  absl::StatusOr<Step> NextFile();
  bool IsRenamed() const;

  const bool follows_;
  std::vector<std::string> files_;
  std::size_t file_ = 0;  // index of the current file
  bool is_open_ = false;
  int descriptor_ = -1;
  std::unique_ptr<ArchivedFile> archived_;  // used in place of the descriptor
  std::uint64_t file_bytes_ = 0;            // number of bytes read from the current file
  std::string seen_;                        // last bytes read from a followed file
  std::unique_ptr<Unpacker> unpacker_;
  std::string packed_;  // packed bytes; those before packed_at_ are consumed
  std::size_t packed_at_ = 0;
  std::string text_;
  std::uint64_t bytes_ = 0;
  bool is_cut_ = false;
  absl::Status damage_;  // error to return after the text of the last step
};

}  // namespace tidemark::spark
