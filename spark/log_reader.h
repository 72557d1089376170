// The event log of an application on the disk, as events of Tidemark.
//
//   const auto reader = LogReader::Open("/logs/eventlog_v2_app-1", {});
//   for (auto event = (*reader)->Next(); event.ok() && *event; event = (*reader)->Next()) ...
//
// Takes what Spark 1.4 to 4.0 write: one file or a rolling folder, plain, zstd or LZ4, of an
// application that has ended, runs or was killed. Not thread-safe. Memory: some megabytes, however
// large the log is; see LogParser.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "spark/log_parser.h"
#include "spark/unpacker.h"
#include "tidemark/event.h"

namespace tidemark::spark {

struct LogReaderOptions {
  std::string job_id;                  // of LogParserOptions
  MeasuredStages* measured = nullptr;  // likewise; the reader must not outlive it
  bool follows = false;                // the application may still write it
};

class LogReader {
 public:
  // NotFound, InvalidArgument: `path` is no event log as far as its name and kind go.
  static absl::StatusOr<std::unique_ptr<LogReader>> Open(const std::string& path,
                                                         const LogReaderOptions& options);
  ~LogReader();
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  // The next event. Empty: that is all, or all so far where the log is followed, or all that such a
  // call has time for. A log that ends in the middle of an event or of a frame has told what is
  // before. Errors name the file, and are given again by every later call:
  //   InvalidArgument  it is no event log of Spark, or of an application that never started, or
  //                    its clock cannot be believed
  //   Unimplemented    it is compressed in a way that is not read
  //   DataLoss         it is damaged; everything before the damage has been told
  //   Unavailable      it could not be read
  //   Aborted          one that is followed was truncated or replaced: to be opened anew
  absl::StatusOr<std::optional<Event>> Next();

  // Whether it ends, so far, in the middle of an event or of a frame.
  bool is_cut() const;
  LogCounts counts() const { return parser_.counts(); }
  const Translator& application() const { return parser_.application(); }

 private:
  LogReader(std::string path, std::vector<std::string> files, const LogReaderOptions& options);
  absl::StatusOr<bool> ReadPiece();
  absl::StatusOr<bool> NextFile();
  absl::Status ReadFile();
  bool IsRenamed() const;
  absl::Status Verdict() const;

  const std::string path_;
  const LogReaderOptions options_;
  std::vector<std::string> files_;
  std::size_t file_ = 0;  // the one being read
  int descriptor_ = -1;
  std::uint64_t file_bytes_ = 0;  // read of it
  std::string seen_;              // the last of them, of one that is followed
  std::unique_ptr<Unpacker> unpacker_;
  std::string packed_;  // read and not yet unpacked, from packed_at_
  std::size_t packed_at_ = 0;
  std::string text_;
  std::uint64_t text_bytes_ = 0;  // so far
  LogParser parser_;
  std::deque<Event> events_;
  absl::Status error_;
};

}  // namespace tidemark::spark
