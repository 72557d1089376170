// Which files an event log is in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tidemark::spark {

// One log: the files of one application, in their order.
struct LogFiles {
  std::string path;  // for people: the only file, or the folder or archive that holds them
  std::vector<std::string> files;
};

// Returns the logs at `path`: a file, or a folder or zip archive, with the folders in it, sorted by
// path. Zip archives in a folder are read like folders. In one folder,
//   - files events_N_APP of one application are one log, by N: Spark rolls the file over.
//     A compacted file replaces all files before it, and a plain file replaces its packed copy;
//   - files eventlog-DATE next to `eventlog`, which is the newest, are one log, as Databricks
//     keeps them;
//   - each other file is a separate log, unless its name begins with a dot.
// Of the files only the lists of archives are read. NotFound: the path does not exist.
// InvalidArgument: it is neither a file nor a folder. DataLoss: the archive is damaged.
absl::StatusOr<std::vector<LogFiles>> LogsAt(const std::string& path);

// Returns the files of the only log at `path`. Among several files only event logs count. Fails as
// LogsAt() does, and with InvalidArgument unless there is exactly one log.
absl::StatusOr<std::vector<std::string>> FilesOfLog(const std::string& path);

// Returns whether the file, packed or plain, begins with an event of Spark.
bool IsEventLog(const std::string& file);

// Returns the file with the next number in the folder of `file`, which has been read. Returns
// nullopt while there is none.
std::optional<std::string> FileAfter(const std::string& file);

// Returns a sentence about the files of a rolled log that are missing between `file` and the next
// file read. Empty if none is missing. An empty `file` denotes the start of the log.
std::string MissingRemark(const std::string& file, const std::string& next);

// Returns true if Spark has compacted the file: jobs that had ended before are left out.
bool IsCompacted(const std::string& file);

// Returns what a file of a rolled log that has a next one has lost at its end, as a sentence; empty
// if it ends with an event.
std::string CutRemark(const std::string& file, bool is_within_event, bool is_within_frame);

// Whether `path` is such a folder, by its name.
bool IsRollingLog(const std::string& path);

}  // namespace tidemark::spark
