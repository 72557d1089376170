#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "cli/background_progress.h"
#include "cli/commands.h"
#include "cli/environment.h"
#include "cli/exit_code.h"
#include "cli/follow_job.h"
#include "cli/hadoop/client_process.h"
#include "cli/hadoop/configuration.h"
#include "cli/hadoop/settings.h"
#include "cli/interrupt.h"
#include "cli/master_client.h"
#include "cli/progress.h"
#include "cli/temporary_directory.h"
#include "tidemark/master.h"

namespace tidemark::cli {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{200};
// An application master looks at its job every second; what was not said of an ended job by now is
// not waited for.
constexpr std::chrono::seconds kForTheFinalSnapshot{3};

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The jobs of the command, in the order in which they became known: all those of a master of our
// own, else those that the client names.
class JobsOfCommand {
 public:
  JobsOfCommand(const MasterClient& master, bool is_masters_own)
      : master_(master), is_masters_own_(is_masters_own) {}

  // From the client's thread.
  void NoteLine(const std::string& line) {
    if (is_masters_own_) return;
    for (const std::string& id : JobIdsIn(line)) {
      const std::lock_guard lock(mutex_);
      if (seen_.insert(id).second) named_.push_back(id);
    }
  }

  // Those that were not taken before.
  std::vector<std::string> Take() {
    const auto jobs = is_masters_own_ ? master_.ListJobs() : std::vector<Snapshot>();
    const std::lock_guard lock(mutex_);
    if (jobs.ok()) {
      for (auto job = jobs->rbegin(); job != jobs->rend(); ++job) {
        if (seen_.insert(job->job_id).second) named_.push_back(job->job_id);
      }
    }
    return std::exchange(named_, {});
  }

 private:
  const MasterClient& master_;
  const bool is_masters_own_;
  std::mutex mutex_;  // guards both
  std::set<std::string> seen_;
  std::vector<std::string> named_;
};

// Follows one job after the other on a thread of its own until told that the client has ended.
class JobsWatch {
 public:
  JobsWatch(const MasterClient& master, JobsOfCommand& jobs, BackgroundProgress& progress)
      : master_(master), jobs_(jobs), progress_(progress), thread_([this](std::stop_token stop) {
          WatchAll(stop);
          ended_.set_value();
        }) {}
  // Its thread is asked to stop and joined.
  ~JobsWatch() = default;

  bool has_seen_jobs() const { return has_seen_jobs_; }

  // Gives jobs that are known a moment to tell how they ended.
  void WaitForTheEnd() {
    has_client_ended_ = true;
    ended_.get_future().wait_for(kForTheFinalSnapshot);
  }

 private:
  void WatchAll(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      // In this order: what the client named before it ended is seen.
      const bool is_last_look = has_client_ended_;
      for (const std::string& id : jobs_.Take()) Follow(id, stop);
      if (is_last_look) return;
      std::this_thread::sleep_for(kBetweenLooks);
    }
  }

  void Follow(const std::string& id, const std::stop_token& stop) {
    const FollowCalls calls = {
        .on_snapshot =
            [this](const Snapshot& snapshot) {
              has_seen_jobs_ = true;
              progress_.Show(snapshot);
              return true;
            },
        .on_trouble = [this](const std::string& message) { progress_.Say(message); }};
    const auto final = FollowJob(master_, id, {.expects_job = true}, calls, stop);
    if (!final.ok() && !absl::IsCancelled(final.status())) {
      progress_.Say(std::string(final.status().message()));
    }
  }

  const MasterClient& master_;
  JobsOfCommand& jobs_;
  BackgroundProgress& progress_;
  std::promise<void> ended_;
  std::atomic<bool> has_client_ended_ = false;
  std::atomic<bool> has_seen_jobs_ = false;
  std::jthread thread_;
};

// What the client's environment must have: a copy of Hadoop's settings with ours among them, and
// the connector on the class path, for jobs that run within the client.
absl::StatusOr<std::map<std::string, std::string>> ClientVariables(
    const std::string& program, const std::vector<HadoopSetting>& settings, const std::string& jar,
    const std::string& directory) {
  const absl::StatusOr<std::string> configuration = FindConfiguration(program, Variable);
  if (!configuration.ok()) return configuration.status();
  const absl::Status copied = CopyConfiguration(*configuration, settings, directory);
  if (!copied.ok()) return copied;
  const std::string class_path = Variable("HADOOP_CLASSPATH");
  return std::map<std::string, std::string>{
      {"HADOOP_CONF_DIR", directory},
      {"YARN_CONF_DIR", directory},
      {"HADOOP_CLASSPATH", class_path.empty() ? jar : jar + ":" + class_path}};
}

absl::StatusOr<std::unique_ptr<Master>> StartMaster(const MasterOptions& options) {
  const std::string& address = options.listen_address;
  if (address.starts_with("unix:") || address.starts_with("0.0.0.0:") ||
      address.starts_with("[::]:")) {
    return absl::InvalidArgumentError(
        fmt::format("--listen {}: tasks connect to it; name an address they can reach", address));
  }
  if (!options.event_log_dir.empty()) {
    std::error_code error;
    std::filesystem::create_directories(options.event_log_dir, error);
    if (error) {
      return absl::InvalidArgumentError(
          fmt::format("--log-dir {}: {}", options.event_log_dir, error.message()));
    }
  }
  return Master::Start(options);
}

absl::StatusOr<int> RunWatched(const HadoopRunArguments& arguments, const std::string& jar,
                               const std::string& master_address, bool is_masters_own) {
  const absl::StatusOr<TemporaryDirectory> directory = TemporaryDirectory::Create();
  if (!directory.ok()) return directory.status();
  const auto variables = ClientVariables(
      arguments.command[0], ConnectorSettings(master_address, jar), jar, directory->path());
  if (!variables.ok()) return variables.status();

  const MasterClient master(master_address, is_masters_own ? ClientSecurity() : arguments.security);
  BackgroundProgress progress(
      MakeProgressOfJobs(arguments.progress, stderr, Environment::OfProcess()));
  JobsOfCommand jobs(master, is_masters_own);
  JobsWatch watch(master, jobs, progress);
  const std::atomic<bool>& stop = StopOnInterrupt();
  const absl::StatusOr<int> exit_code = RunClient(
      WithJar(arguments.command, jar), *variables,
      [&](const std::string& line) {
        jobs.NoteLine(line);
        progress.PassOn(line);
      },
      stop);
  if (exit_code.ok() && !stop) watch.WaitForTheEnd();
  if (exit_code.ok() && *exit_code == 0 && !watch.has_seen_jobs()) {
    progress.Say("no job has reported; docs/hadoop.md says what may be in the way");
  }
  return exit_code;
}

}  // namespace

int HadoopRun(const HadoopRunArguments& arguments) {
  const auto run = [&]() -> absl::StatusOr<int> {
    const absl::StatusOr<std::string> jar = FindJar(arguments.jar);
    if (!jar.ok()) return jar.status();
    if (!arguments.master.empty()) return RunWatched(arguments, *jar, arguments.master, false);
    const auto master = StartMaster(arguments.own_master);
    if (!master.ok()) return master.status();
    return RunWatched(arguments, *jar, (*master)->address(), true);
  };
  const absl::StatusOr<int> exit_code = run();
  if (exit_code.ok()) return *exit_code;
  Complain(std::string(exit_code.status().message()));
  return kUsage;
}

}  // namespace tidemark::cli
