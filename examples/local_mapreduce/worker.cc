#include "examples/local_mapreduce/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <sstream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "examples/local_mapreduce/file_io.h"
#include "examples/local_mapreduce/run.h"
#include "examples/local_mapreduce/tasks.h"
#include "fmt/format.h"

namespace tidemark::examples {
namespace {

// The maximum length of a failed worker's output in an error message.
constexpr std::size_t kTailBytes = 2000;

// The attributes and redirections of a process.
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

// Calls pidfd_open by its number, since glibc 2.36 declares the function without C linkage.
int OpenPidFd(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

// Returns the end of the worker's output. Omits lines about reports, since failed reports do not
// fail a task.
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

struct Assignment {
  std::string plan_path;
  AttemptId attempt;
  std::int64_t master_pid = 0;
  std::int64_t report_budget_millis = 0;
};

absl::StatusOr<Assignment> ParseArguments(const std::vector<std::string>& arguments) {
  Assignment parsed;
  const bool understood = arguments.size() == 6 &&
                          (arguments[1] == "map" || arguments[1] == "reduce") &&
                          absl::SimpleAtoi(arguments[2], &parsed.attempt.index) &&
                          absl::SimpleAtoi(arguments[3], &parsed.attempt.attempt) &&
                          absl::SimpleAtoi(arguments[4], &parsed.master_pid) &&
                          absl::SimpleAtoi(arguments[5], &parsed.report_budget_millis);
  if (!understood) {
    return absl::InvalidArgumentError("only an application master starts workers");
  }
  parsed.plan_path = arguments[0];
  parsed.attempt.stage = arguments[1] == "map" ? kMapStage : kReduceStage;
  return parsed;
}

// Makes the kernel end this process when the application master ends.
void DieWithMaster(std::int64_t master_pid) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The application master may already have ended. Its process is not always the parent, since a
  // script may have started this program.
  if (::kill(static_cast<pid_t>(master_pid), 0) != 0) ::_exit(1);
}

absl::Status RunAttempt(const Assignment& assignment) {
  absl::StatusOr<JobPlan> plan = ReadPlan(assignment.plan_path);
  if (!plan.ok()) return plan.status();
  absl::StatusOr<std::unique_ptr<Job>> job = MakePlannedJob(*plan);
  if (!job.ok()) return job.status();
  if (absl::Status ready = (*job)->SetUp(); !ready.ok()) return ready;

  const std::unique_ptr<Agent> agent =
      Agent::Create({.master_address = plan->master_address,
                     .job_id = plan->job_id,
                     .run_uid = plan->run_uid,
                     .security = plan->security,
                     .shutdown_budget = absl::Milliseconds(assignment.report_budget_millis),
                     .on_trouble = [](const std::string& trouble) {
                       fmt::print(stderr, "{}{}\n", kReportTrouble, trouble);
                     }});
  const AttemptId& attempt = assignment.attempt;
  const auto run = attempt.stage == kMapStage ? RunMapTask : RunReduceTask;
  absl::StatusOr<TaskResult> result = run(*plan, attempt, **job, *agent);
  agent->Shutdown();
  if (!result.ok()) return result.status();
  return WriteResult(PathOf(plan->attempt_directory(attempt), kResultName), *result);
}

}  // namespace

absl::StatusOr<WorkerProcess> WorkerProcess::Start(const std::vector<std::string>& command,
                                                   const std::string& stderr_path) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    // posix_spawn() does not change the arguments.
    arguments.push_back(const_cast<char*>(argument.c_str()));
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
    ::kill(-pid_, SIGKILL);  // also ends the worker's child processes
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

std::vector<std::string> WorkerArguments(const JobPlan& plan, const AttemptId& attempt,
                                         absl::Duration report_budget) {
  return {plan.path(),
          attempt.stage == kMapStage ? "map" : "reduce",
          fmt::format("{}", attempt.index),
          fmt::format("{}", attempt.attempt),
          fmt::format("{}", ::getpid()),
          fmt::format("{}", absl::ToInt64Milliseconds(report_budget))};
}

int WorkerMain(const std::vector<std::string>& arguments) {
  absl::StatusOr<Assignment> assignment = ParseArguments(arguments);
  absl::Status status = assignment.status();
  if (status.ok()) {
    DieWithMaster(assignment->master_pid);
    status = RunAttempt(*assignment);
  }
  if (status.ok()) return 0;
  fmt::print(stderr, "{}\n", std::string(status.message()));
  return 1;
}

}  // namespace tidemark::examples
