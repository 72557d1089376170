#include "cli/client_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

namespace tidemark::cli {
namespace {

// How often the end of the client, or a request to end it, is checked for.
constexpr int kLookMillis = 100;

// name=value for each variable.
std::vector<std::string> EnvironmentOf(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view whole(*entry);
    if (!variables.contains(std::string(whole.substr(0, whole.find('='))))) {
      environment.emplace_back(whole);
    }
  }
  for (const auto& [name, value] : variables) environment.push_back(name + "=" + value);
  return environment;
}

// exec() takes pointers to mutable characters, but only reads them.
std::vector<char*> Pointers(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// The reading end of a pipe, cut into lines.
class LineReader {
 public:
  LineReader(int fd, const std::function<void(const std::string&)>& on_line)
      : fd_(fd), on_line_(on_line) {
    fcntl(fd_, F_SETFL, O_NONBLOCK);
  }
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;
  ~LineReader() {
    if (!rest_.empty()) on_line_(rest_);
    close(fd_);
  }

  // Waits a moment at most, then takes what is there.
  void Read() {
    pollfd source = {.fd = is_open_ ? fd_ : -1, .events = POLLIN, .revents = 0};
    poll(&source, 1, kLookMillis);
    TakeAll();
  }

  void TakeAll() {
    std::array<char, 4096> bytes;
    for (;;) {
      const ssize_t count = is_open_ ? read(fd_, bytes.data(), bytes.size()) : -1;
      if (count <= 0) {
        is_open_ = is_open_ && count < 0;
        return;
      }
      Take({bytes.data(), static_cast<std::size_t>(count)});
    }
  }

 private:
  void Take(std::string_view text) {
    for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n')) {
      rest_ += text.substr(0, end);
      on_line_(std::exchange(rest_, {}));
      text.remove_prefix(end + 1);
    }
    rest_ += text;
  }

  const int fd_;
  const std::function<void(const std::string&)>& on_line_;
  std::string rest_;  // a line whose end is still to come
  bool is_open_ = true;
};

// The process, and the reading end of its standard error.
struct Started {
  pid_t pid = -1;
  int lines_fd = -1;
};

absl::StatusOr<Started> Start(const std::vector<std::string>& command,
                              const std::map<std::string, std::string>& variables) {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "cannot create a pipe");
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  const std::vector<std::string> environment = EnvironmentOf(variables);
  Started started{.lines_fd = ends[0]};
  const int error = posix_spawnp(&started.pid, command[0].c_str(), &actions, nullptr,
                                 Pointers(command).data(), Pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error == 0) return started;
  close(ends[0]);
  return absl::NotFoundError(
      fmt::format("cannot start {}: {}", command[0], std::generic_category().message(error)));
}

// Empty: it still runs.
std::optional<int> ExitCodeOf(pid_t pid) {
  int state = 0;
  const pid_t ended = waitpid(pid, &state, WNOHANG);
  if (ended != pid) return std::nullopt;
  return WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
}

}  // namespace

absl::StatusOr<int> RunClient(const std::vector<std::string>& command,
                              const std::map<std::string, std::string>& variables,
                              const std::function<void(const std::string&)>& on_line,
                              const std::atomic<bool>& stop) {
  const absl::StatusOr<Started> started = Start(command, variables);
  if (!started.ok()) return started.status();
  LineReader lines(started->lines_fd, on_line);
  bool is_asked_to_end = false;
  for (;;) {
    lines.Read();
    if (const std::optional<int> exit_code = ExitCodeOf(started->pid)) {
      lines.TakeAll();
      return *exit_code;
    }
    if (stop && !std::exchange(is_asked_to_end, true)) kill(started->pid, SIGTERM);
  }
}

std::string QuotedForShell(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::optional<std::string> FindProgram(const std::string& program, const std::string& search_path) {
  if (program.find('/') != program.npos) return program;
  std::istringstream folders(search_path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::error_code error;
    const std::filesystem::path candidate = std::filesystem::path(folder) / program;
    if (std::filesystem::is_regular_file(candidate, error)) return candidate.string();
  }
  return std::nullopt;
}

}  // namespace tidemark::cli
