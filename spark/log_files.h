// Finds the files of event logs: single files, rolled logs, folders and zip archives.
//
// The Spark history server exports zip archives. A file in an archive is named ARCHIVE!/NAME
// wherever a log file is named.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tidemark::spark {

// One log: the files of one application, in order.
struct LogFiles {
  std::string path;  // display name: the only file, or the folder or archive of the files
  std::vector<std::string> files;
};

// Returns the logs at `path`: a file, or a folder or zip archive, with the folders in it, sorted by
// path. Zip archives in a folder are read like folders. In one folder,
//   - files events_N_APP of one application are one log, by N: Spark rolls the file over.
//     A compacted file replaces all files before it, and a plain file replaces its packed copy;
//   - files eventlog-DATE and `eventlog`, the newest, are one log, as Databricks writes them. A
//     plain file replaces its packed copy;
//   - each other file is a separate log, unless its name begins with a dot.
// Reads no files except the lists of archives. Fails with NotFound if the path does not exist, with
// InvalidArgument if it is neither a file nor a folder, and with DataLoss if the archive is
// damaged.
absl::StatusOr<std::vector<LogFiles>> LogsAt(const std::string& path);

// Returns the files of the only log at `path`. If there are several files, ignores files that are
// not event logs. Fails like LogsAt(), and with InvalidArgument unless there is exactly one log.
absl::StatusOr<std::vector<std::string>> FilesOfLog(const std::string& path);

// Returns true if the file, packed or plain, begins with a Spark event.
bool IsEventLog(const std::string& file);

// Returns the file with the next number in the folder of `file`, which has been read, or nullopt if
// no such file exists yet.
std::optional<std::string> FileAfter(const std::string& file);

// Returns a sentence about the files of a rolled log that are missing between `file` and `next`,
// the next file read, or "" if none is missing. An empty `file` denotes the start of the log.
std::string MissingRemark(const std::string& file, const std::string& next);

// Returns true if Spark has compacted the file, which removes jobs that had ended.
bool IsCompacted(const std::string& file);

// Returns a sentence about the loss at the end of a file, or "" if the file ends with a complete
// event.
std::string CutRemark(const std::string& file, bool is_within_event, bool is_within_frame);

// Suffix of files that Spark has not completed.
inline constexpr std::string_view kInProgress = ".inprogress";

// Returns true if the driver may still be writing the file, because its name, or that of the status
// file of its rolled log, ends with .inprogress.
bool IsBeingWritten(const std::string& file);

// Returns true if `path` is the folder of a rolled log, judging by its name.
bool IsRollingLog(const std::string& path);

// Returns true if the file begins like a zip archive. Returns false if it cannot be read.
bool IsArchive(const std::string& path);

// Returns true if `file` is the name of a file in an archive.
bool IsInArchive(const std::string& file);

// Returns the names of the files in an archive, excluding folders, at most kArchivedFilesMax. Fails
// with DataLoss if the archive is damaged.
inline constexpr std::size_t kArchivedFilesMax = 100'000;
absl::StatusOr<std::vector<std::string>> FilesInArchive(const std::string& path);

// The bytes of one file in an archive. Not thread-safe.
class ArchivedFile {
 public:
  // REQUIRES: IsInArchive(file). Fails with NotFound or DataLoss, or with Unimplemented if the file
  // is encrypted or has an unsupported compression. Errors name the file.
  static absl::StatusOr<std::unique_ptr<ArchivedFile>> Open(const std::string& file);
  ~ArchivedFile();
  ArchivedFile(const ArchivedFile&) = delete;
  ArchivedFile& operator=(const ArchivedFile&) = delete;

  // Appends at most `size` bytes, or none at the end of the file. Fails with DataLoss if the
  // remainder is damaged.
  absl::Status Read(std::size_t size, std::string& out);

 private:
  struct Impl;
  explicit ArchivedFile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark::spark
