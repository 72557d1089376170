// The event log of an application on the disk, as events of Tidemark.
//
//   const auto reader = LogReader::Open("/logs/eventlog_v2_app-1", {});
//   for (auto event = (*reader)->Next(); event.ok() && *event; event = (*reader)->Next()) ...
//
// Reads the logs of Spark 1.4 to 4.0, as files, folders or archives (log_files.h), plain or packed
// (unpacker.h), of an application that has ended, runs or was killed. Not thread-safe. Memory: some
// megabytes, however large the log is; see LogParser.
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
#include "spark/log_text.h"
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

  // Treats a followed log as complete: Next() returns the end of its application, even if ends of
  // queries and jobs are missing. Any other log is complete once Next() has read all of it.
  void Finish();

  // Returns whether the log so far ends in the middle of an event or of a frame.
  bool is_cut() const;
  // Returns remarks for a person, a sentence each and at most kRemarksMax: the losses of the files
  // of a rolled log, and when the driver's clock was set back.
  static constexpr std::size_t kRemarksMax = 20;
  const std::vector<std::string>& remarks() const { return remarks_; }
  LogCounts counts() const { return parser_.counts(); }
  const Translator& application() const { return parser_.application(); }

 private:
  LogReader(std::string path, std::unique_ptr<LogText> text, const LogReaderOptions& options);
  absl::StatusOr<bool> ReadPiece();
  void BeginFile();
  absl::Status Fault() const;
  void Remark(std::string text);
  void RemarkOnClock();
  absl::Status Verdict() const;

  const std::string path_;
  const LogReaderOptions options_;
  std::unique_ptr<LogText> text_;
  std::string first_file_;
  std::vector<std::string> remarks_;
  std::uint64_t noted_set_backs_ = 0;
  LogParser parser_;
  std::deque<Event> events_;
  absl::Status error_;
};

}  // namespace tidemark::spark
