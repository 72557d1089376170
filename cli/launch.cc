#include "cli/launch.h"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "cli/hadoop/rest_view.h"
#include "cli/hadoop/yarn_outcome.h"
#include "cli/master_call.h"
#include "cli/process.h"
#include "cli/progress.h"
#include "console/duration_text.h"
#include "tidemark/client.h"
#include "tidemark/master.h"
#include "transport/small_file.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kWatchInterval{200};
// An application master samples its job every second. Later reports of an ended job are not
// awaited.
constexpr std::chrono::seconds kFinalReportTimeout{3};

// The jobs of the command: all jobs of a master in this process, or the jobs that the command
// names. Thread-safe.
class JobsOfCommand {
 public:
  JobsOfCommand(const Engine& engine, const Client& master, bool is_own_master)
      : engine_(engine), master_(master), is_own_master_(is_own_master) {}
  const Engine& engine() const { return engine_; }

  void OnLine(const std::string& line) {
    const std::lock_guard lock(mutex_);
    for (const std::string& id : engine_.ids_in(line)) named_.Add(id, absl::Now());
  }

  // Appends the jobs that have reported since the last call, in the order of their first reports.
  // Returns an error of the master.
  absl::Status AppendReported(std::vector<std::string>& jobs, const std::stop_token& stop) {
    absl::Status status;
    const std::vector<std::string> ids = Known(status, stop);
    const std::lock_guard lock(mutex_);
    for (const std::string& id : ids) {
      if (named_.OnReport(id)) jobs.push_back(id);
    }
    return status;
  }

  // Returns true if a named job may still report. A master in this process has all reports by now.
  bool awaits_more() const { return !is_own_master_ && !Unreported().empty(); }
  std::vector<std::string> NewlyLate() {
    const std::lock_guard lock(mutex_);
    return named_.NewlyLate(absl::Now());
  }
  // Returns true if the command has named the job.
  bool IsNamed(const std::string& id) const {
    const std::lock_guard lock(mutex_);
    return named_.Contains(id);
  }
  // Returns the named jobs that have not reported.
  std::vector<std::string> Unreported() const {
    const std::lock_guard lock(mutex_);
    return named_.Unreported();
  }

 private:
  std::vector<std::string> Known(absl::Status& status, const std::stop_token& stop) const {
    std::vector<std::string> ids;
    if (is_own_master_) {
      const auto jobs = master_.ListJobs({}, View::kBasic, stop);
      status = jobs.status();
      if (!jobs.ok()) return ids;
      for (auto job = jobs->rbegin(); job != jobs->rend(); ++job) {
        // The data directory may contain jobs of earlier commands.
        const bool is_of_earlier =
            job->is_final && job->ended_at.value_or(job->at) < command_began_;
        if (!is_of_earlier) ids.push_back(job->job_id);
      }
      return ids;
    }
    for (const std::string& id : Unreported()) {
      const absl::Status found = master_.GetJob(id, View::kBasic, stop).status();
      if (found.ok()) ids.push_back(id);
      if (!found.ok() && !absl::IsNotFound(found)) status = found;
    }
    return ids;
  }

  const absl::Time command_began_ = absl::Now();
  const Engine& engine_;
  const Client& master_;
  const bool is_own_master_;
  mutable std::mutex mutex_;  // Guards named_.
  NamedJobs named_;
};

// Shows the notices and warnings of a master in this process, each line once. Thread-safe.
class MasterNotices {
 public:
  explicit MasterNotices(BackgroundProgress& progress) : progress_(progress) {}

  MasterOptions Attach(MasterOptions options) {
    options.on_notice = [this](const std::string& line) { Show(line); };
    options.log = [this](const LogEntry& entry) {
      if (entry.severity != LogSeverity::kInfo) Show(entry.message);
    };
    return options;
  }

 private:
  void Show(const std::string& line) {
    const std::lock_guard lock(mutex_);
    if (shown_.size() < kLinesMax && shown_.insert(line).second) progress_.Warn(line);
  }

  static constexpr std::size_t kLinesMax = 20;
  BackgroundProgress& progress_;
  std::mutex mutex_;  // Guards shown_.
  std::set<std::string> shown_;
};

// Follows one job after another on its own thread until the command has ended, and shows why a job
// is missing. Once the jobs form a workflow, follows the workflow instead.
class JobsWatch {
 public:
  JobsWatch(const Client& master, JobsOfCommand& jobs, const ReportingCommand& command,
            BackgroundProgress& progress)
      : master_(master),
        jobs_(jobs),
        workflow_(command.workflow),
        is_whole_workflow_(command.is_whole_workflow),
        progress_(progress),
        thread_([this](std::stop_token stop) {
          // Contacts the master once, so that an unreachable master is reported even if the command
          // names no job.
          ReportError(master_.ListJobs({}, View::kBasic, stop).status());
          WatchAll(stop);
          ended_.set_value();
        }) {}
  ~JobsWatch() = default;

  bool has_seen_jobs() const { return has_seen_jobs_; }
  bool has_error() const { return has_error_; }

  // Waits up to kFinalReportTimeout for the final reports of the known jobs.
  void WaitForFinalReports() {
    has_command_ended_ = true;
    ended_.get_future().wait_for(kFinalReportTimeout);
  }

  struct Shown {
    std::vector<std::string> unended;      // jobs that reported, but did not report their end
    std::vector<std::string> unexplained;  // jobs that failed or were killed without a message
    std::string last;
  };
  Shown shown() const {
    const std::lock_guard lock(mutex_);
    return shown_;
  }

 private:
  void WatchAll(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      // Read before the jobs, so that the last round sees all jobs that the command named.
      const bool is_last_round = has_command_ended_;
      std::vector<std::string> jobs;
      ReportError(jobs_.AppendReported(jobs, stop));
      for (const std::string& id : jobs) {
        const std::string shown = ShownFor(id, stop);
        if (!IsWorkflow(shown) || followed_.insert(shown).second) Follow(shown, stop);
      }
      if (is_last_round && !jobs_.awaits_more()) return;
      // While a job was followed, others may have reported.
      if (!jobs.empty()) continue;
      for (const std::string& id : jobs_.NewlyLate()) WarnLate(id);
      std::this_thread::sleep_for(kWatchInterval);
    }
  }

  // Returns true if the id is that of the command's workflow, or of its next run ("ID.2").
  bool IsWorkflow(const std::string& id) const {
    return !workflow_.empty() && (id == workflow_ || id.starts_with(workflow_ + "."));
  }

  // Returns the command's workflow that contains the job, or the job itself without one.
  std::string ShownFor(const std::string& id, const std::stop_token& stop) const {
    if (workflow_.empty()) return id;
    auto job = master_.GetJob(id, View::kBasic, stop);
    // The workflow is known once the job has been estimated for the first time.
    while (job.ok() && job->sequence == 0 && !stop.stop_requested()) {
      std::this_thread::sleep_for(kWatchInterval / 4);
      job = master_.GetJob(id, View::kBasic, stop);
    }
    const bool is_part = job.ok() && job->info && IsWorkflow(job->info->workflow_id);
    return is_part ? job->info->workflow_id : id;
  }

  void WarnLate(const std::string& id) {
    progress_.Warn(fmt::format(
        "{} has not reported to the master at {} in {}; if it runs, search {} for \"Tidemark:\"",
        id, master_.address(), console::DurationText(NamedJobs::kReportsWithin),
        jobs_.engine().logs));
  }

  // Shows an error, once for each status code.
  void ReportError(const absl::Status& status) {
    if (status.ok() || absl::IsCancelled(status) || !shown_errors_.insert(status.code()).second)
      return;
    has_error_ = true;
    progress_.Warn(
        fmt::format("cannot show the jobs: {}", DescribeMasterError(master_.address(), status)));
  }

  void NoteEndsOfChildren(const Snapshot& workflow) {
    const std::lock_guard lock(mutex_);
    for (const Child& child : workflow.children) {
      // Other commands may have submitted the other jobs.
      if (!is_whole_workflow_ && !jobs_.IsNamed(child.job_id)) continue;
      std::erase(shown_.unended, child.job_id);
      std::erase(shown_.unexplained, child.job_id);
      if (child.state == ChildState::kRunning) shown_.unended.push_back(child.job_id);
      const bool has_failed =
          child.state == ChildState::kFailed || child.state == ChildState::kRetryable;
      if (has_failed && child.message.empty()) shown_.unexplained.push_back(child.job_id);
    }
    shown_.last = workflow.job_id;
  }

  void NoteEnd(const Snapshot& snapshot) {
    if (IsWorkflow(snapshot.job_id)) return NoteEndsOfChildren(snapshot);
    const bool is_end_reported = snapshot.is_final && snapshot.state != JobState::kAbandoned &&
                                 snapshot.state != JobState::kUnknownEnd;
    const bool has_failed = is_end_reported && snapshot.state != JobState::kSucceeded;
    const std::lock_guard lock(mutex_);
    std::erase(shown_.unended, snapshot.job_id);
    if (!is_end_reported) shown_.unended.push_back(snapshot.job_id);
    if (has_failed && snapshot.message.empty()) shown_.unexplained.push_back(snapshot.job_id);
    shown_.last = snapshot.job_id;
  }

  void ShowPage(const std::string& id) {
    const std::string page = PageOfJob(master_, id);
    if (!page.empty()) progress_.Inform(fmt::format("job page of {}: {}", id, page));
  }

  void Follow(const std::string& id, const std::stop_token& stop) {
    bool is_page_shown = false;
    const WatchCalls calls = {.on_snapshot =
                                  [&](const Snapshot& snapshot) {
                                    has_seen_jobs_ = true;
                                    NoteEnd(snapshot);
                                    progress_.Show(snapshot);
                                    if (!std::exchange(is_page_shown, true)) ShowPage(id);
                                    return true;
                                  },
                              .on_trouble =
                                  [this](const std::string& message) {
                                    has_error_ = true;
                                    progress_.Warn(message);
                                  }};
    const auto final = master_.WatchJob(
        id, {.patience = absl::InfiniteDuration(), .is_to_come = true}, calls, stop);
    ReportError(final.status());
    if (!final.ok()) return;
    progress_.Explain(WaitsOf(final->job_id, /*query=*/"", master_, stop));
  }

  const Client& master_;
  JobsOfCommand& jobs_;
  const std::string workflow_;  // empty if the jobs report none
  const bool is_whole_workflow_;
  BackgroundProgress& progress_;
  std::set<absl::StatusCode> shown_errors_;  // used only by the thread
  std::set<std::string> followed_;           // workflows; used only by the thread
  mutable std::mutex mutex_;                 // Guards shown_.
  Shown shown_;
  std::promise<void> ended_;
  std::atomic<bool> has_command_ended_ = false;
  std::atomic<bool> has_seen_jobs_ = false;
  std::atomic<bool> has_error_ = false;
  std::jthread thread_;
};

absl::StatusOr<std::unique_ptr<Master>> StartMaster(const MasterOptions& options) {
  const std::string& address = options.listen_address;
  if (address.starts_with("unix:") || address.starts_with("0.0.0.0:") ||
      address.starts_with("[::]:")) {
    return absl::InvalidArgumentError(
        fmt::format("--listen {}: pass an address that the tasks can reach", address));
  }
  absl::Status made = CreateDirectory("--data-dir", options.data_dir);
  if (made.ok()) made = CreateDirectory("--log-dir", options.event_log_dir);
  if (!made.ok()) return made;
  RaiseDescriptorLimit();  // Each task of the cluster connects.
  return Master::Start(options);
}

// Shows the outcome of jobs that did not report their end. The summary shows the last job.
void ReportEndings(const JobsWatch::Shown& shown, ProgressMode mode, YarnEndings& endings,
                   int exit_code, BackgroundProgress& progress) {
  const bool has_summary = mode != ProgressMode::kJsonl && mode != ProgressMode::kQuiet;
  std::string of_last;
  for (const std::string& id : shown.unended) {
    const std::string ending = endings.EndingOf(id, exit_code);
    if (has_summary && id == shown.last) {
      of_last = ending;
    } else {
      progress.Warn(fmt::format("{} {}", id, ending));
    }
  }
  progress.Finish(of_last);
  for (const std::string& id : shown.unexplained) {
    const std::string reason = endings.DiagnosticsOf(id);
    if (!reason.empty()) PrintError(fmt::format("{}: YARN reports: {}", id, reason));
  }
}

absl::StatusOr<int> RunAt(const std::string& master_address, bool is_own_master,
                          const EngineRunArguments& arguments, const Engine& engine,
                          const std::string& jar, BackgroundProgress& progress) {
  const absl::StatusOr<TemporaryDirectory> directory = TemporaryDirectory::Create();
  if (!directory.ok()) return directory.status();
  const absl::StatusOr<ReportingCommand> launch =
      engine.launch(arguments, jar, master_address, directory->path());
  if (!launch.ok()) return launch.status();

  const auto master =
      Client::Create({.address = master_address,
                      .security = is_own_master ? ClientSecurity() : arguments.security});
  if (!master.ok()) return master.status();
  JobsOfCommand jobs(engine, **master, is_own_master);
  WebClient web;
  YarnEndings endings(engine.yarn_folders(arguments.command),
                      [&web](const std::string& url) { return web.Get(url); });
  JobsWatch watch(**master, jobs, *launch, progress);
  const std::atomic<bool>& stop = StopOnInterrupt();
  const absl::StatusOr<int> exit_code = RunChild(
      launch->command, launch->variables,
      [&](const std::string& line) {
        jobs.OnLine(line);
        endings.NoteLine(line);
        progress.Forward(line);
      },
      stop);
  // Fails with NotFound if the jobs have not formed a workflow.
  if (launch->is_whole_workflow && !watch.has_error()) {
    (*master)->UpdateJob(launch->workflow, {.close = true}).IgnoreError();
  }
  if (!exit_code.ok() || stop) return exit_code;
  watch.WaitForFinalReports();
  if (*exit_code == 0 && !watch.has_seen_jobs() && !watch.has_error()) {
    progress.Warn(fmt::format("no {} has reported; see docs/{}.md for possible causes",
                              engine.job_noun, engine.name));
  }
  JobsWatch::Shown shown = watch.shown();
  if (watch.has_error()) {
    for (std::string& id : jobs.Unreported()) shown.unended.push_back(std::move(id));
  }
  ReportEndings(shown, arguments.progress.mode, endings, *exit_code, progress);
  return exit_code;
}

// Returns why jobs with these classes fail with this jar, or "" if they work.
std::string JarFault(const fs::path& jar, const std::vector<std::string>& classes) {
  int error = 0;
  zip_t* archive = zip_open(jar.c_str(), ZIP_RDONLY, &error);
  if (archive == nullptr) {
    zip_error_t reason;
    zip_error_init_with_code(&reason, error);
    std::string text = fmt::format("not a jar ({})", zip_error_strerror(&reason));
    zip_error_fini(&reason);
    return text;
  }
  std::string fault;
  for (const std::string& name : classes) {
    const std::string entry = absl::StrReplaceAll(name, {{".", "/"}}) + ".class";
    if (fault.empty() && zip_name_locate(archive, entry.c_str(), 0) < 0) {
      fault = fmt::format("not Tidemark's connector: it lacks {}", name);
    }
  }
  zip_discard(archive);
  return fault;
}

}  // namespace

const std::vector<Engine>& Engines() {
  static const auto* const kEngines = [] {
    auto* const engines = new std::vector<Engine>;
    for (const auto row : kEngineRows) engines->push_back(row());
    return engines;
  }();
  return *kEngines;
}

const Engine* FindEngine(std::string_view name) {
  const auto found = std::ranges::find(Engines(), name, &Engine::name);
  return found == Engines().end() ? nullptr : &*found;
}

int Run(const EngineRunArguments& arguments) {
  const Engine& engine = *FindEngine(arguments.engine);
  const auto run = [&]() -> absl::StatusOr<int> {
    const absl::StatusOr<std::string> jar = FindJar(arguments.jar, engine.name, engine.jar_classes);
    if (!jar.ok()) return jar.status();
    BackgroundProgress progress(
        MakeProgressOfJobs(WithoutDeadline(arguments.progress), stderr, Environment::OfProcess()));
    if (!arguments.master.empty()) {
      return RunAt(arguments.master, false, arguments, engine, *jar, progress);
    }
    MasterNotices notices(progress);
    MasterOptions options = arguments.own_master;
    options.job.indicators = IndicatorsFor(arguments.progress, std::move(options.job.indicators));
    if (const auto& deadline = arguments.progress.deadline) {
      options.deadlines = {{.jobs = "*", .deadline = *deadline}};
    }
    const auto master = StartMaster(notices.Attach(std::move(options)));
    if (!master.ok()) return master.status();
    return RunAt((*master)->address(), true, arguments, engine, *jar, progress);
  };
  const absl::StatusOr<int> exit_code = run();
  if (exit_code.ok()) return *exit_code;
  PrintError(exit_code.status());
  return kUsage;
}

std::string InstalledFile(const std::string& name) {
  const fs::path program = OwnProgram();
  if (program.empty()) return "";
  return (program.parent_path().parent_path() / "share/tidemark" / name).string();
}

absl::StatusOr<std::string> FindJar(const std::string& given, const std::string& engine,
                                    const std::vector<std::string>& classes) {
  const std::string jar =
      given.empty() ? InstalledFile(fmt::format("jars/tidemark-{}.jar", engine)) : given;
  std::error_code missing;
  if (given.empty() && !fs::exists(jar, missing)) {
    return absl::InvalidArgumentError(
        fmt::format("--jar is missing, and no connector is installed at {}; build it with `mvn -f "
                    "agent/pom.xml -pl {} -am package` and pass its tidemark-{}.jar",
                    jar, engine, engine));
  }
  if (const absl::Status readable = transport::CheckRegularFile(jar); !readable.ok()) {
    return absl::InvalidArgumentError(fmt::format("--jar {}", std::string(readable.message())));
  }
  std::error_code error;
  const fs::path path = fs::canonical(jar, error);
  if (error) return absl::InvalidArgumentError(fmt::format("--jar {}: {}", jar, error.message()));
  if (const std::string fault = JarFault(path, classes); !fault.empty()) {
    return absl::InvalidArgumentError(fmt::format(
        "--jar {}: {}; build the connector with `mvn -f agent/pom.xml -pl {} -am package` "
        "and pass its tidemark-{}.jar",
        jar, fault, engine, engine));
  }
  return path.string();
}

void NamedJobs::Add(const std::string& id, absl::Time now) {
  if (!reported_.contains(id)) unreported_.try_emplace(id, Wait{.since = now});
}

bool NamedJobs::OnReport(const std::string& id) {
  unreported_.erase(id);
  return reported_.insert(id).second;
}

std::vector<std::string> NamedJobs::Unreported() const {
  std::vector<std::string> ids;
  for (const auto& [id, wait] : unreported_) ids.push_back(id);
  return ids;
}

std::vector<std::string> NamedJobs::NewlyLate(absl::Time now) {
  std::vector<std::string> late;
  for (auto& [id, wait] : unreported_) {
    if (now - wait.since >= kReportsWithin && !std::exchange(wait.is_returned, true)) {
      late.push_back(id);
    }
  }
  return late;
}

}  // namespace tidemark::cli
