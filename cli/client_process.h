// The client of an engine, such as `hadoop jar` or `spark-submit`, as a child process.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tidemark::cli {

// Runs a command with this process's environment, in which `variables` are set anew, and waits for
// its end. Its standard input and output are this process's own; `on_line` is called with each line
// that it writes to standard error. Once `stop` is set the command is asked to end (SIGTERM); what
// ends it at the keyboard reaches it anyway.
//
// Its exit code, or 128 + the number of the signal that ended it, as shells report it. NotFound: it
// cannot be started; the message says why.
absl::StatusOr<int> RunClient(const std::vector<std::string>& command,
                              const std::map<std::string, std::string>& variables,
                              const std::function<void(const std::string&)>& on_line,
                              const std::atomic<bool>& stop);

// The file of a program, as a shell with this PATH finds it.
std::optional<std::string> FindProgram(const std::string& program, const std::string& search_path);

// In single quotes, of which none can be within: one ends the quotes, is written alone and begins
// them again.
std::string QuotedForShell(std::string_view text);

}  // namespace tidemark::cli
