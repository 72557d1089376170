#include "cli/watched_command.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "cli/at_master.h"
#include "cli/background_progress.h"
#include "cli/client_process.h"
#include "cli/descriptor_limit.h"
#include "cli/environment.h"
#include "cli/exit_code.h"
#include "cli/expected_jobs.h"
#include "cli/interrupt.h"
#include "cli/master_trouble.h"
#include "cli/page_of_job.h"
#include "cli/progress.h"
#include "cli/temporary_directory.h"
#include "console/duration_text.h"
#include "tidemark/client.h"
#include "tidemark/master.h"

namespace tidemark::cli {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{200};
// An application master looks at its job every second; what was not said of an ended job by now is
// not waited for.
constexpr std::chrono::seconds kForTheFinalSnapshot{3};

// The jobs of the command: all those of a master of our own, else those that the command names.
// Thread-safe.
class JobsOfCommand {
 public:
  JobsOfCommand(const CommandEngine& engine, const Client& master, bool is_masters_own)
      : engine_(engine), master_(master), is_masters_own_(is_masters_own) {}
  const CommandEngine& engine() const { return engine_; }

  // From the client's thread.
  void NoteLine(const std::string& line) {
    const std::lock_guard lock(mutex_);
    for (const std::string& id : engine_.ids_in(line)) expected_.Name(id, absl::Now());
  }

  // Appends those that have reported and were not taken before, the first to report first. Else
  // says why the master does not tell.
  absl::Status Take(std::vector<std::string>& jobs, const std::stop_token& stop) {
    absl::Status status;
    const std::vector<std::string> ids = Known(status, stop);
    const std::lock_guard lock(mutex_);
    for (const std::string& id : ids) {
      if (expected_.Report(id)) jobs.push_back(id);
    }
    return status;
  }

  // Whether one that was named may still report. What reaches a master of our own is here by now.
  bool awaits_more() const { return !is_masters_own_ && !Awaited().empty(); }
  std::vector<std::string> TakeLate() {
    const std::lock_guard lock(mutex_);
    return expected_.TakeLate(absl::Now());
  }

 private:
  std::vector<std::string> Awaited() const {
    const std::lock_guard lock(mutex_);
    return expected_.Awaited();
  }

  std::vector<std::string> Known(absl::Status& status, const std::stop_token& stop) const {
    std::vector<std::string> ids;
    if (is_masters_own_) {
      const auto jobs = master_.ListJobs({}, View::kBasic, stop);
      status = jobs.status();
      if (!jobs.ok()) return ids;
      for (auto job = jobs->rbegin(); job != jobs->rend(); ++job) ids.push_back(job->job_id);
      return ids;
    }
    for (const std::string& id : Awaited()) {
      const absl::Status found = master_.GetJob(id, View::kBasic, stop).status();
      if (found.ok()) ids.push_back(id);
      if (!found.ok() && !absl::IsNotFound(found)) status = found;
    }
    return ids;
  }

  const CommandEngine& engine_;
  const Client& master_;
  const bool is_masters_own_;
  mutable std::mutex mutex_;  // guards expected_
  ExpectedJobs expected_;
};

// What a master of our own would tell its operator, each line once. Thread-safe.
class MastersWords {
 public:
  explicit MastersWords(BackgroundProgress& progress) : progress_(progress) {}

  MasterOptions Heard(MasterOptions options) {
    options.on_notice = [this](const std::string& line) { Say(line); };
    options.log = [this](const LogEntry& entry) {
      if (entry.severity != LogSeverity::kInfo) Say(entry.message);
    };
    return options;
  }

 private:
  void Say(const std::string& line) {
    const std::lock_guard lock(mutex_);
    if (said_.size() < kLinesMax && said_.insert(line).second) progress_.Say(line);
  }

  static constexpr std::size_t kLinesMax = 20;
  BackgroundProgress& progress_;
  std::mutex mutex_;  // guards said_
  std::set<std::string> said_;
};

// Follows one job after the other on a thread of its own until told that the client has ended, and
// says what keeps a job from being shown.
class JobsWatch {
 public:
  JobsWatch(const Client& master, JobsOfCommand& jobs, BackgroundProgress& progress)
      : master_(master), jobs_(jobs), progress_(progress), thread_([this](std::stop_token stop) {
          // Independent of what the client prints.
          Note(master_.ListJobs({}, View::kBasic, stop).status());
          WatchAll(stop);
          ended_.set_value();
        }) {}
  // Its thread is asked to stop and joined.
  ~JobsWatch() = default;

  bool has_seen_jobs() const { return has_seen_jobs_; }
  bool has_seen_trouble() const { return has_seen_trouble_; }

  // Gives jobs that are known a moment to tell how they ended.
  void WaitForTheEnd() {
    has_client_ended_ = true;
    ended_.get_future().wait_for(kForTheFinalSnapshot);
  }

  struct Shown {
    std::vector<std::string> unended;  // they reported, but no end
    std::string last;
  };
  Shown shown() const {
    const std::lock_guard lock(mutex_);
    return shown_;
  }

 private:
  void WatchAll(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      // In this order: what the client named before it ended is seen.
      const bool is_last_look = has_client_ended_;
      std::vector<std::string> jobs;
      Note(jobs_.Take(jobs, stop));
      for (const std::string& id : jobs) Follow(id, stop);
      if (is_last_look && !jobs_.awaits_more()) return;
      for (const std::string& id : jobs_.TakeLate()) SayLate(id);
      std::this_thread::sleep_for(kBetweenLooks);
    }
  }

  void SayLate(const std::string& id) {
    progress_.Say(
        fmt::format("{} has not reported to the master at {} in {}; if it is running, {} say why, "
                    "in lines with "
                    "\"Tidemark:\"",
                    id, master_.address(), console::DurationText(ExpectedJobs::kReportsWithin),
                    jobs_.engine().silent_job));
  }

  // Says it once for each kind of trouble.
  void Note(const absl::Status& status) {
    const bool is_over = absl::IsCancelled(status);  // no caller waits for the answer
    if (status.ok() || is_over || !noted_.insert(status.code()).second) return;
    has_seen_trouble_ = true;
    progress_.Say(
        fmt::format("jobs are not shown: {}", DescribeMasterTrouble(master_.address(), status)));
  }

  void NoteEnd(const Snapshot& snapshot) {
    const bool is_end_reported = snapshot.is_final && snapshot.state != JobState::kAbandoned &&
                                 snapshot.state != JobState::kUnknownEnd;
    const std::lock_guard lock(mutex_);
    std::erase(shown_.unended, snapshot.job_id);
    if (!is_end_reported) shown_.unended.push_back(snapshot.job_id);
    shown_.last = snapshot.job_id;
  }

  void SayPage(const std::string& id) {
    const std::string page = PageOfJob(master_, id);
    if (!page.empty()) progress_.Mention(fmt::format("page of {}: {}", id, page));
  }

  void Follow(const std::string& id, const std::stop_token& stop) {
    bool is_page_said = false;
    const WatchCalls calls = {
        .on_snapshot =
            [&](const Snapshot& snapshot) {
              has_seen_jobs_ = true;
              NoteEnd(snapshot);
              progress_.Show(snapshot);
              if (!std::exchange(is_page_said, true)) SayPage(id);
              return true;
            },
        .on_trouble = [this](const std::string& message) { progress_.Say(message); }};
    const auto final = master_.WatchJob(
        id, {.patience = absl::InfiniteDuration(), .is_to_come = true}, calls, stop);
    Note(final.status());
    if (!final.ok()) return;
    progress_.Explain(WaitsOf(final->job_id, /*query=*/"", master_, stop));
  }

  const Client& master_;
  JobsOfCommand& jobs_;
  BackgroundProgress& progress_;
  std::set<absl::StatusCode> noted_;  // the thread's own
  mutable std::mutex mutex_;          // guards shown_
  Shown shown_;
  std::promise<void> ended_;
  std::atomic<bool> has_client_ended_ = false;
  std::atomic<bool> has_seen_jobs_ = false;
  std::atomic<bool> has_seen_trouble_ = false;
  std::jthread thread_;
};

absl::StatusOr<std::unique_ptr<Master>> StartMaster(const MasterOptions& options) {
  const std::string& address = options.listen_address;
  if (address.starts_with("unix:") || address.starts_with("0.0.0.0:") ||
      address.starts_with("[::]:")) {
    return absl::InvalidArgumentError(fmt::format(
        "--listen {}: tasks connect to it; pass an address that they can reach", address));
  }
  absl::Status made = CreateDirectory("--data-dir", options.data_dir);
  if (made.ok()) made = CreateDirectory("--log-dir", options.event_log_dir);
  if (!made.ok()) return made;
  RaiseDescriptorLimit();  // for the tasks of a cluster
  return Master::Start(options);
}

// Shows how jobs ended that did not report their end. The summary is about the last job.
void ReportEndings(const JobsWatch::Shown& shown, ProgressMode mode, const CommandEngine& engine,
                   int exit_code, BackgroundProgress& progress) {
  const bool has_summary = mode != ProgressMode::kJsonl && mode != ProgressMode::kQuiet;
  std::string of_last;
  for (const std::string& id : shown.unended) {
    const std::string ending = engine.ending_of(id, exit_code);
    if (has_summary && id == shown.last) {
      of_last = ending;
    } else {
      progress.Say(fmt::format("{} {}", id, ending));
    }
  }
  progress.Finish(of_last);
}

absl::StatusOr<int> RunAt(const std::string& master_address, bool is_masters_own,
                          const WatchedCommandArguments& arguments, const CommandEngine& engine,
                          BackgroundProgress& progress) {
  const absl::StatusOr<TemporaryDirectory> directory = TemporaryDirectory::Create();
  if (!directory.ok()) return directory.status();
  const absl::StatusOr<CommandLaunch> launch = engine.launch(master_address, directory->path());
  if (!launch.ok()) return launch.status();

  const auto master =
      Client::Create({.address = master_address,
                      .security = is_masters_own ? ClientSecurity() : arguments.security});
  if (!master.ok()) return master.status();
  JobsOfCommand jobs(engine, **master, is_masters_own);
  JobsWatch watch(**master, jobs, progress);
  const std::atomic<bool>& stop = StopOnInterrupt();
  const absl::StatusOr<int> exit_code = RunClient(
      launch->command, launch->variables,
      [&](const std::string& line) {
        jobs.NoteLine(line);
        engine.on_line(line);
        progress.PassOn(line);
      },
      stop);
  if (!exit_code.ok() || stop) return exit_code;
  watch.WaitForTheEnd();
  if (*exit_code == 0 && !watch.has_seen_jobs() && !watch.has_seen_trouble()) {
    progress.Say(engine.no_job);
  }
  ReportEndings(watch.shown(), arguments.progress.mode, engine, *exit_code, progress);
  return exit_code;
}

}  // namespace

int RunWatched(const WatchedCommandArguments& arguments, const CommandEngine& engine) {
  const auto run = [&]() -> absl::StatusOr<int> {
    BackgroundProgress progress(
        MakeProgressOfJobs(WithoutDeadline(arguments.progress), stderr, Environment::OfProcess()));
    if (!arguments.master.empty()) {
      return RunAt(arguments.master, false, arguments, engine, progress);
    }
    MastersWords words(progress);
    MasterOptions options = arguments.own_master;
    options.job.indicators = IndicatorsFor(arguments.progress, std::move(options.job.indicators));
    if (const auto& deadline = arguments.progress.deadline) {
      options.deadlines = {{.jobs = "*", .deadline = *deadline}};
    }
    const auto master = StartMaster(words.Heard(std::move(options)));
    if (!master.ok()) return master.status();
    return RunAt((*master)->address(), true, arguments, engine, progress);
  };
  const absl::StatusOr<int> exit_code = run();
  if (exit_code.ok()) return *exit_code;
  Complain(std::string(exit_code.status().message()));
  return kUsage;
}

}  // namespace tidemark::cli
