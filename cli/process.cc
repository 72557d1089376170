#include "cli/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "absl/strings/str_replace.h"
#include "cli/master_call.h"

namespace tidemark::cli {
namespace {

// Returns the speed at a path, or 0 if it is missing.
double SpeedAt(const nlohmann::json& root, const nlohmann::json::json_pointer& path) {
  if (!root.contains(path) || !root.at(path).is_number()) return 0;
  const double speed = root.at(path).get<double>();
  return std::isfinite(speed) && speed > 0 ? speed : 0;
}

absl::Status NotA(const char* what) {
  return absl::InvalidArgumentError(fmt::format("cannot read the result of {}", what));
}

// Parses JSON after notes that fio may write before it.
nlohmann::json Parse(const std::string& text) {
  const std::size_t begin = text.find('{');
  return begin == text.npos ? nlohmann::json()
                            : nlohmann::json::parse(text.substr(begin), nullptr, false);
}

}  // namespace

absl::StatusOr<DiskSpeeds> ParseFio(const std::string& text) {
  const nlohmann::json root = Parse(text);
  const DiskSpeeds speeds = {
      .read = SpeedAt(root, nlohmann::json::json_pointer("/jobs/0/read/bw_bytes")),
      .write = SpeedAt(root, nlohmann::json::json_pointer("/jobs/0/write/bw_bytes"))};
  if (speeds.read + speeds.write <= 0) return NotA("fio");
  return speeds;
}

absl::StatusOr<double> ParseIperf(const std::string& text) {
  const nlohmann::json root = Parse(text);
  if (root.is_object() && root.contains("error") && root["error"].is_string()) {
    return absl::InvalidArgumentError("iperf3: " + root["error"].get<std::string>());
  }
  const double bits =
      SpeedAt(root, nlohmann::json::json_pointer("/end/sum_received/bits_per_second"));
  if (bits <= 0) return NotA("iperf3");
  return bits / 8;
}

std::vector<std::string> FioCommand(DiskAccess access, const std::string& file, std::uint64_t bytes,
                                    const std::string& result) {
  std::vector<std::string> command = {"fio",
                                      "--name=tidemark",
                                      "--filename=" + file,
                                      fmt::format("--size={}", bytes),
                                      "--bs=1M",
                                      "--direct=1",
                                      "--ioengine=psync",
                                      "--output-format=json",
                                      "--output=" + result};
  if (access == DiskAccess::kRead) {
    command.push_back("--rw=read");
  } else {
    command.insert(command.end(), {"--rw=write", "--end_fsync=1"});
  }
  return command;
}

std::vector<std::string> IperfServerCommand(const std::string& host, int port) {
  return {"iperf3", "-s", "-1", "-B", host, "-p", fmt::to_string(port), "--logfile", "/dev/null"};
}

std::vector<std::string> IperfClientCommand(const std::string& host, int port, int seconds,
                                            const std::string& result) {
  return {"iperf3", "-c",        host,  "-p", fmt::to_string(port), "-t", fmt::to_string(seconds),
          "--json", "--logfile", result};
}

namespace {

std::atomic<bool> stop_requested = false;
std::atomic<int> stop_signal = SIGINT;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "set by a signal handler");

void HandleInterrupt(int signal) {
  stop_signal = signal;
  if (stop_requested.exchange(true)) _exit(128 + signal);
}

void InstallHandler(int signal, void (*handler)(int)) {
  struct sigaction before {};
  if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, nullptr);
}

// Interval of checks for the end of the child and for a request to end it.
constexpr int kPollMillis = 100;

// Returns name=value for each variable of this process and of `variables`, which take precedence.
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

// Returns the words for exec(), which takes pointers to mutable characters but only reads them.
std::vector<char*> Pointers(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Reads lines from the reading end of a pipe.
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

  // Waits at most kPollMillis for input, then reads all available input.
  void Read() {
    pollfd source = {.fd = is_open_ ? fd_ : -1, .events = POLLIN, .revents = 0};
    poll(&source, 1, kPollMillis);
    ReadAvailable();
  }

  void ReadAvailable() {
    std::array<char, 4096> bytes;
    for (;;) {
      const ssize_t count = is_open_ ? read(fd_, bytes.data(), bytes.size()) : -1;
      if (count <= 0) {
        is_open_ = is_open_ && count < 0;
        return;
      }
      Append({bytes.data(), static_cast<std::size_t>(count)});
    }
  }

 private:
  void Append(std::string_view text) {
    for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n')) {
      rest_ += text.substr(0, end);
      on_line_(std::exchange(rest_, {}));
      text.remove_prefix(end + 1);
    }
    rest_ += text;
  }

  const int fd_;
  const std::function<void(const std::string&)>& on_line_;
  std::string rest_;  // an incomplete line
  bool is_open_ = true;
};

// A child process, and the reading end of its standard error.
struct Child {
  pid_t pid = -1;
  int lines_fd = -1;
};

absl::StatusOr<Child> StartChild(const std::vector<std::string>& command,
                                 const std::map<std::string, std::string>& variables) {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "cannot create a pipe");
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  const std::vector<std::string> environment = EnvironmentOf(variables);
  Child child{.lines_fd = ends[0]};
  const int error = posix_spawnp(&child.pid, command[0].c_str(), &actions, nullptr,
                                 Pointers(command).data(), Pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error == 0) return child;
  close(ends[0]);
  return absl::NotFoundError(
      fmt::format("cannot start {}: {}", command[0], std::generic_category().message(error)));
}

// Returns the exit code of a child, or nullopt while it runs.
std::optional<int> ExitCodeOfChild(pid_t pid) {
  int state = 0;
  const pid_t ended = waitpid(pid, &state, WNOHANG);
  if (ended != pid) return std::nullopt;
  return WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
}

}  // namespace

const std::atomic<bool>& StopOnInterrupt() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) InstallHandler(signal, HandleInterrupt);
  return stop_requested;
}

int WithSignal(int exit_code) { return exit_code == kInterrupted ? 128 + stop_signal : exit_code; }

// exec() resets a handler, but not SIG_IGN.
void SurviveClosedPipes() {
  InstallHandler(SIGPIPE, [](int) {});
}

void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

std::string EnvironmentVariable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

absl::StatusOr<int> RunChild(const std::vector<std::string>& command,
                             const std::map<std::string, std::string>& variables,
                             const std::function<void(const std::string&)>& on_line,
                             const std::atomic<bool>& stop) {
  const absl::StatusOr<Child> child = StartChild(command, variables);
  if (!child.ok()) return child.status();
  LineReader lines(child->lines_fd, on_line);
  bool is_signalled = false;
  for (;;) {
    lines.Read();
    if (const std::optional<int> exit_code = ExitCodeOfChild(child->pid)) {
      lines.ReadAvailable();
      return *exit_code;
    }
    if (stop && !std::exchange(is_signalled, true)) kill(child->pid, SIGTERM);
  }
}

std::string QuotedForShell(std::string_view text) {
  const absl::string_view plain(text.data(), text.size());
  return "'" + absl::StrReplaceAll(plain, {{"'", "'\\''"}}) + "'";
}

std::string OwnProgram() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  const bool is_loader = program.filename().string().starts_with("ld");
  return is_loader ? program_invocation_name : program.string();
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

absl::StatusOr<TemporaryDirectory> TemporaryDirectory::Create() {
  std::error_code error;
  std::string pattern = std::filesystem::temp_directory_path(error) / "tidemark-XXXXXX";
  if (!error && mkdtemp(pattern.data()) == nullptr) error.assign(errno, std::generic_category());
  if (error)
    return absl::UnavailableError(
        fmt::format("cannot create temporary directory {}: {}", pattern, error.message()));
  return TemporaryDirectory(std::move(pattern));
}

TemporaryDirectory::TemporaryDirectory(TemporaryDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

absl::Status CreateDirectory(const std::string& name, const std::string& directory) {
  std::error_code error;
  if (!directory.empty()) std::filesystem::create_directories(directory, error);
  if (!error) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("{}: cannot create {}: {}", name, directory, error.message()));
}

}  // namespace tidemark::cli
