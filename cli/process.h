// The process, its children, its limits and its temporary files.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tidemark::cli {

// Makes the first SIGINT, SIGTERM or SIGHUP set the returned flag, and the second end the process
// immediately. Ignored signals stay ignored. The flag is shared by all callers in the process.
const std::atomic<bool>& StopOnInterrupt();

// Makes a write to a pipe without a reader fail instead of ending the process. Child processes are
// not affected.
void SurviveClosedPipes();

// Raises the limit of open descriptors to the maximum, also for child processes. A master needs two
// for each connection, and more for running jobs.
void RaiseDescriptorLimit();

// Returns the value of an environment variable, or "" if it is unset.
std::string EnvironmentVariable(const char* name);

// Runs a command in this environment plus `variables` and waits for its end. The command shares
// standard input and output; `on_line` receives each line of its standard error. Once `stop` is
// set, the command gets SIGTERM; an interrupt at the keyboard reaches it directly.
//
// Returns its exit code, or 128 + the number of the signal that ended it. Returns NotFound if the
// command cannot be started; the message has the reason.
absl::StatusOr<int> RunChild(const std::vector<std::string>& command,
                             const std::map<std::string, std::string>& variables,
                             const std::function<void(const std::string&)>& on_line,
                             const std::atomic<bool>& stop);

// Returns the path of a program in the folders of `search_path` (PATH).
std::optional<std::string> FindProgram(const std::string& program, const std::string& search_path);

// Returns the text in single quotes for a shell.
std::string QuotedForShell(std::string_view text);

// A directory that its owner removes.
class TemporaryDirectory {
 public:
  // Creates a directory in the system's directory for temporary files. The message of an error
  // names the directory.
  static absl::StatusOr<TemporaryDirectory> Create();
  ~TemporaryDirectory();
  TemporaryDirectory(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;  // empty after a move
};

// Creates `directory` unless it is empty or exists. Returns InvalidArgument that starts with
// `name`, the option or setting that names the directory.
absl::Status CreateDirectory(const std::string& name, const std::string& directory);

}  // namespace tidemark::cli
