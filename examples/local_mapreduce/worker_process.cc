#include "examples/local_mapreduce/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <sstream>
#include <utility>

#include "absl/strings/ascii.h"
#include "examples/local_mapreduce/file_io.h"
#include "examples/local_mapreduce/worker.h"
#include "fmt/format.h"

namespace tidemark::examples {
namespace {

// How much of a failed worker's words goes into a message.
constexpr std::size_t kTailBytes = 2000;

// Its attributes and redirections, freed at the end.
class SpawnSettings {
 public:
  explicit SpawnSettings(const std::string& stderr_path) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, stderr_path.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0666);
    posix_spawn_file_actions_adddup2(&actions_, STDERR_FILENO, STDOUT_FILENO);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGCHLD}) sigaddset(&signals, signal);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

// By number: the header of glibc 2.36 declares the function without C linkage.
int OpenPidFd(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

// The end of what the worker said, but for its reports: they make no task fail.
std::string StderrTail(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadWholeFile(path);
  if (!text.ok()) return "";
  std::string words;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(kReportTrouble)) words += line + "\n";
  }
  if (words.size() > kTailBytes) words.erase(0, words.size() - kTailBytes);
  absl::StripAsciiWhitespace(&words);
  return words;
}

}  // namespace

absl::StatusOr<WorkerProcess> WorkerProcess::Start(const std::vector<std::string>& command,
                                                   const std::string& stderr_path) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));  // posix_spawn() only reads them
  }
  arguments.push_back(nullptr);
  const SpawnSettings settings(stderr_path);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, arguments[0], &settings.actions_, &settings.attributes_,
                                 arguments.data(), environ);
  if (error != 0) return FileError("start", command[0], error);
  return WorkerProcess(pid, OpenPidFd(pid), stderr_path);
}

WorkerProcess::WorkerProcess(pid_t pid, int pid_fd, std::string stderr_path)
    : pid_(pid), pid_fd_(pid_fd), stderr_path_(std::move(stderr_path)) {}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pid_fd_(std::exchange(other.pid_fd_, -1)),
      stderr_path_(std::move(other.stderr_path_)) {}

WorkerProcess& WorkerProcess::operator=(WorkerProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(pid_fd_, other.pid_fd_);
  std::swap(stderr_path_, other.stderr_path_);
  return *this;
}

WorkerProcess::~WorkerProcess() {
  if (pid_ > 0) {
    ::kill(-pid_, SIGKILL);  // with what it may have started
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (pid_fd_ >= 0) ::close(pid_fd_);
}

void WorkerProcess::WaitForAny(const std::vector<const WorkerProcess*>& processes,
                               absl::Duration timeout) {
  std::vector<pollfd> ends;
  for (const WorkerProcess* process : processes) {
    ends.push_back({.fd = process->pid_fd_, .events = POLLIN, .revents = 0});
  }
  ::poll(ends.data(), ends.size(), static_cast<int>(absl::ToInt64Milliseconds(timeout)));
}

bool WorkerProcess::HasEnded() const {
  siginfo_t info = {};
  const int asked = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  return asked != 0 || info.si_pid == pid_;
}

absl::Status WorkerProcess::Reap() {
  int state = 0;
  while (::waitpid(pid_, &state, 0) < 0) {
    if (errno != EINTR) return FileError("wait for", fmt::format("process {}", pid_), errno);
  }
  pid_ = -1;
  if (WIFEXITED(state) && WEXITSTATUS(state) == 0) return absl::OkStatus();
  const std::string how = WIFSIGNALED(state)
                              ? fmt::format("worker killed by signal {}", WTERMSIG(state))
                              : fmt::format("worker exited with {}", WEXITSTATUS(state));
  const std::string words = StderrTail(stderr_path_);
  return absl::AbortedError(words.empty() ? how : fmt::format("{}: {}", how, words));
}

}  // namespace tidemark::examples
