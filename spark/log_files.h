// Which files an event log is in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tidemark::spark {

// The files of a log, in their order: `path` itself, or, where it is a folder in which Spark began
// a new file now and then (eventlog_v2_APP), its events_N_APP by N. Files that Spark has compacted
// stand for all before them. NotFound: there is nothing; InvalidArgument: a folder without such
// files, or neither a file nor a folder.
absl::StatusOr<std::vector<std::string>> FilesOfLog(const std::string& path);

// Of the folder of `file`, which has been read: the one with the next number. Empty: none yet.
std::optional<std::string> FileAfter(const std::string& file);

// Whether `path` is such a folder, by its name.
bool IsRollingLog(const std::string& path);

}  // namespace tidemark::spark
