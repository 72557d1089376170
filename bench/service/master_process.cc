#include "bench/service/master_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "absl/time/clock.h"
#include "tidemark/master.h"

namespace tidemark::bench {

absl::StatusOr<MasterProcess> MasterProcess::Spawn(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::array<int, 2> pipe_ends;
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "pipe");
  const pid_t pid = fork();
  if (pid < 0) return absl::ErrnoToStatus(errno, "fork");
  if (pid == 0) {
    dup2(pipe_ends[1], STDERR_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  close(pipe_ends[1]);
  return MasterProcess(pid, pipe_ends[0]);
}

absl::StatusOr<MasterProcess> MasterProcess::Start(std::vector<std::string> command,
                                                   absl::Duration timeout) {
  absl::StatusOr<MasterProcess> master = Spawn(std::move(command));
  if (!master.ok()) return master;
  if (absl::Status status = master->WaitUntilListening(timeout); !status.ok()) return status;
  return master;
}

absl::Status MasterProcess::WaitUntilListening(absl::Duration timeout) {
  static constexpr const char* kListening = "listening on ";
  const absl::Time deadline = absl::Now() + timeout;
  while (true) {
    const std::size_t at = said_.find(kListening);
    const std::size_t end = at == std::string::npos ? at : said_.find('\n', at);
    if (end != std::string::npos) {
      const std::size_t begin = at + std::string(kListening).size();
      address_ = said_.substr(begin, end - begin);
      return absl::OkStatus();
    }
    const absl::Duration left = deadline - absl::Now();
    if (left <= absl::ZeroDuration())
      return absl::DeadlineExceededError("the master did not start to listen");
    pollfd readable = {.fd = standard_error_, .events = POLLIN, .revents = 0};
    if (poll(&readable, 1, static_cast<int>(absl::ToInt64Milliseconds(left)) + 1) <= 0) continue;
    std::array<char, 4096> buffer;
    const ssize_t got = read(standard_error_, buffer.data(), buffer.size());
    if (got <= 0) return absl::AbortedError(fmt::format("it ended, saying: {}", said_));
    said_.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

MasterProcess::MasterProcess(MasterProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      standard_error_(std::exchange(other.standard_error_, -1)),
      said_(std::move(other.said_)),
      address_(std::move(other.address_)) {}

MasterProcess& MasterProcess::operator=(MasterProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(standard_error_, other.standard_error_);
  std::swap(said_, other.said_);
  std::swap(address_, other.address_);
  return *this;
}

MasterProcess::~MasterProcess() {
  Kill();
  if (standard_error_ >= 0) close(standard_error_);
}

void MasterProcess::Kill() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  waitpid(std::exchange(pid_, -1), nullptr, 0);
}

std::size_t MasterProcess::resident_bytes() const {
  std::ifstream statm(fmt::format("/proc/{}/statm", pid_));
  std::size_t size = 0;
  std::size_t resident = 0;
  statm >> size >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

absl::Duration MasterProcess::cpu_time() const {
  // After the name, which ends with ")", state is field 3, and user and system time are fields 14
  // and 15.
  std::ifstream file(fmt::format("/proc/{}/stat", pid_));
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return absl::ZeroDuration();
  std::istringstream rest(line.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) rest >> skipped;
  double user = 0;
  double system = 0;
  rest >> user >> system;
  return absl::Seconds((user + system) / static_cast<double>(sysconf(_SC_CLK_TCK)));
}

AgentProcesses::~AgentProcesses() {
  for (const auto& [pid, fd] : children_) kill(pid, SIGKILL);
  Join();
}

absl::Status AgentProcesses::Start(const std::function<std::string()>& run) {
  constexpr int kNiceness = 19;
  std::array<int, 2> pipe_ends;
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "pipe");
  const pid_t pid = fork();
  if (pid < 0) return absl::ErrnoToStatus(errno, "fork");
  if (pid == 0) {
    if (nice(kNiceness) == -1) _exit(126);
    const std::string result = run();
    std::size_t written = 0;
    while (written < result.size()) {
      const ssize_t more = write(pipe_ends[1], result.data() + written, result.size() - written);
      if (more <= 0) _exit(125);
      written += static_cast<std::size_t>(more);
    }
    _exit(0);
  }
  close(pipe_ends[1]);
  children_.emplace_back(pid, pipe_ends[0]);
  return absl::OkStatus();
}

std::vector<std::string> AgentProcesses::Join() {
  std::vector<std::string> results;
  for (const auto& [pid, fd] : children_) {
    std::string& result = results.emplace_back();
    std::array<char, 4096> buffer;
    for (ssize_t got = 0; (got = read(fd, buffer.data(), buffer.size())) > 0;) {
      result.append(buffer.data(), static_cast<std::size_t>(got));
    }
    close(fd);
    int status = 0;
    if (waitpid(pid, &status, 0) < 0 || status != 0) result.clear();
  }
  children_.clear();
  return results;
}

bool WantsToServe(int argc, char** argv) { return argc > 1 && std::string(argv[1]) == "serve"; }

int Serve(int argc, char** argv) {
  MasterOptions options;
  // All agents and readers run on this host.
  options.streams_per_peer_max = std::size_t{1} << 20;
  options.share_percent = 100;
  options.calls_per_second = 0;
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--listen") options.listen_address = argv[i + 1];
    if (option == "--data-dir") options.data_dir = argv[i + 1];
  }
  options.on_notice = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  const auto master = Master::Start(options);
  if (!master.ok()) {
    fmt::print(stderr, "{}\n", master.status().ToString());
    return 1;
  }
  fmt::print(stderr, "listening on {}\n", (*master)->address());
  while (true) pause();
}

}  // namespace tidemark::bench
