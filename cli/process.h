// The process, its children, its limits and its temporary files.
#pragma once

#include <atomic>
#include <cstdint>
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

// Measurements of a node by fio and iperf3.

// Speeds of sequential transfers, in bytes per second.
struct DiskSpeeds {
  double read = 0;
  double write = 0;
};

// Parses fio's JSON of one job that reads, writes, or both. Fails with InvalidArgument for other
// text.
absl::StatusOr<DiskSpeeds> ParseFio(const std::string& json);
// Parses the JSON of an iperf3 client. Returns received bytes per second. Fails with
// InvalidArgument for other text or an error of iperf3.
absl::StatusOr<double> ParseIperf(const std::string& json);

enum class DiskAccess : std::uint8_t { kRead, kWrite };

// Returns a command that transfers `bytes` of `file` without the page cache and writes its result
// to `result`.
std::vector<std::string> FioCommand(DiskAccess access, const std::string& file, std::uint64_t bytes,
                                    const std::string& result);
// These functions return the command of a server for one test at `host`, and that of a client that
// tests for `seconds`.
std::vector<std::string> IperfServerCommand(const std::string& host, int port);
std::vector<std::string> IperfClientCommand(const std::string& host, int port, int seconds,
                                            const std::string& result);

// Makes the first SIGINT, SIGTERM or SIGHUP set the returned flag, and the second end the process
// immediately. Ignored signals stay ignored. All callers in the process share the flag.
const std::atomic<bool>& StopOnInterrupt();
// Returns `exit_code`, or 128 plus the number of the signal that set the flag, as shells report it,
// if `exit_code` is kInterrupted.
int WithSignal(int exit_code);

// Makes a write to a pipe without a reader fail instead of ending the process. Child processes are
// not affected.
void SurviveClosedPipes();

// Raises the limit on open descriptors to the maximum, also for child processes. A master needs two
// descriptors per connection, and more for running jobs.
void RaiseDescriptorLimit();

// Returns the value of an environment variable, or "" if it is unset.
std::string EnvironmentVariable(const char* name);

// Runs a command in this environment plus `variables` and waits for its end. The command shares
// standard input and output; `on_line` receives each line of its standard error. Once `stop` is
// set, the command gets SIGTERM. A keyboard interrupt reaches it directly.
//
// Returns the command's exit code, or 128 + the number of the signal that ended it. Fails with
// NotFound if the command cannot be started; the message states the reason.
absl::StatusOr<int> RunChild(const std::vector<std::string>& command,
                             const std::map<std::string, std::string>& variables,
                             const std::function<void(const std::string&)>& on_line,
                             const std::atomic<bool>& stop);

// Returns the path of this program, or an empty text if it is unknown. In a wheel, the loader of
// the wheel runs the program, and the path is that of the script that starts the loader.
std::string OwnProgram();

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

// Creates `directory` unless it is empty or exists. Fails with InvalidArgument, whose message
// starts with `name`, the option or setting that names the directory.
absl::Status CreateDirectory(const std::string& name, const std::string& directory);

}  // namespace tidemark::cli
