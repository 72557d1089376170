#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/master_call.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "console/job_lines.h"
#include "console/job_table.h"
#include "console/terminal.h"
#include "console/waits_table.h"
#include "proto/wire/job_codec.h"
#include "transport/turn_queue.h"

namespace tidemark::cli {
namespace {

// Requests a stop after a timeout.
class Timer {
 public:
  explicit Timer(absl::Duration timeout) {
    if (timeout == absl::InfiniteDuration()) return;
    thread_ = std::jthread([this, timeout](const std::stop_token& end) {
      if (!transport::AwaitStop(end, timeout)) stop_.request_stop();
    });
  }
  std::stop_token token() const { return stop_.get_token(); }
  bool has_expired() const { return stop_.stop_requested(); }

 private:
  std::stop_source stop_;
  std::jthread thread_;
};

// A SQL execution or job of a Spark application.
struct GroupName {
  std::string job_id;
  std::string group;
};

// Splits JOB/GROUP at the slash after the id of an existing job, since ids may also contain
// slashes. Returns nullopt if there is no such job.
std::optional<GroupName> FindGroup(const std::string& name, const Client& master) {
  for (std::size_t at = name.rfind('/'); at != std::string::npos && at > 0;
       at = name.rfind('/', at - 1)) {
    GroupName found = {name.substr(0, at), name.substr(at + 1)};
    if (master.GetJob(found.job_id, View::kBasic).ok()) return found;
  }
  return std::nullopt;
}

ExitCode NoSuchGroup(const GroupName& name, const Snapshot& job) {
  std::vector<std::string> running;
  for (const Group& group : job.groups) {
    if (group.state == JobState::kRunning && running.size() < 8) running.push_back(group.group);
  }
  PrintError(fmt::format("job {} has no {}; {}", name.job_id, name.group,
                         running.empty()
                             ? "none of its SQL executions or jobs is running"
                             : fmt::format("running groups: {}", fmt::join(running, ", "))));
  return kNotFound;
}

std::string WhyNoTasks(const WatchArguments& arguments) {
  if (!arguments.tasks) return "";
  if (arguments.job_id.empty()) return "--tasks has no effect without a job ID";
  const Environment environment = Environment::OfProcess();
  if (ResolveProgress(arguments.progress.mode, environment) == ProgressMode::kBar) return "";
  return fmt::format(
      "--tasks has no effect without a bar (-o bar); `tidemark get tasks {}` lists tasks",
      arguments.job_id);
}

absl::StatusOr<int> WatchGroup(const WatchArguments& arguments, const GroupName& name,
                               const Client& master) {
  const auto progress = MakeProgress(arguments.progress, stdout, Environment::OfProcess());
  if (arguments.tasks && WhyNoTasks(arguments).empty()) {
    progress->Warn(fmt::format("--tasks has no effect on a part of a job; watch {}", name.job_id));
  }
  std::optional<int> exit_code;
  const Timer timer(arguments.timeout);
  const auto show = [&](const Snapshot& job) {
    const std::optional<Snapshot> group = SnapshotOfGroup(job, name.group);
    if (!group) {
      exit_code = NoSuchGroup(name, job);
    } else if (!progress->Show(*group)) {
      exit_code = kReaderGone;
    } else if (group->is_final) {
      exit_code = group->state == JobState::kSucceeded ? kSuccess : kJobFailed;
    }
    return !exit_code;
  };
  const auto final = master.WatchJob(
      name.job_id, {},
      {.on_snapshot = show, .on_trouble = [&](const std::string& what) { progress->Warn(what); }},
      timer.token());
  if (exit_code == kSuccess) progress->Explain(WaitsOf(name.job_id, name.group, master));
  if (exit_code != kReaderGone) progress->Finish();
  if (exit_code) return *exit_code;
  if (timer.has_expired()) {
    PrintError("the job did not end before --timeout expired");
    return kTimeLimit;
  }
  return final.ok() ? absl::InternalError("the job ended, but its group never started")
                    : final.status();
}

// Queries the current wait of a job on its own thread and keeps it as a sentence.
class WaitsRemark {
 public:
  WaitsRemark(const Client& master, const std::string& job_id, console::TextOptions options)
      : thread_([this, &master, job_id, options](const std::stop_token& stop) {
          const ExplainQuestion question = {.culprits_max = 1, .last = absl::Minutes(2)};
          const auto keep = [&](const Explanation& explanation) {
            const std::lock_guard lock(mutex_);
            sentence_ = console::WorstWait(explanation, options);
            return true;
          };
          master.WatchExplanation(job_id, question, absl::Seconds(3), keep, stop).IgnoreError();
          const std::lock_guard lock(mutex_);
          sentence_.clear();
        }) {}
  std::string Get() {
    const std::lock_guard lock(mutex_);
    return sentence_;
  }

 private:
  std::mutex mutex_;
  std::string sentence_;
  std::jthread thread_;  // declared last, so that it stops before the other members are destroyed
};

// Queries the running tasks of a job every second on its own thread.
class RunningTasks {
 public:
  RunningTasks(const Client& master, const std::string& job_id)
      : thread_([this, &master, job_id](const std::stop_token& stop) {
          do {
            Store(master.ListRunningTasks(job_id, kTasksMax, stop));
          } while (!transport::AwaitStop(stop, absl::Seconds(1)));
        }) {}
  // Shows the newest tasks. Shows an error once.
  void Show(Progress& progress) {
    const std::lock_guard lock(mutex_);
    if (tasks_) progress.ShowTasks(*tasks_);
    if (!error_.empty() && !std::exchange(is_error_shown_, true)) {
      progress.Warn("--tasks: " + error_);
    }
  }

 private:
  // More tasks than fit on any terminal.
  static constexpr std::uint32_t kTasksMax = 500;

  void Store(absl::StatusOr<JobTasks> tasks) {
    const std::lock_guard lock(mutex_);
    // Old tasks may have ended. The watch itself reports the end of the job and the loss of the
    // master.
    tasks_ = tasks.ok() ? *std::move(tasks) : JobTasks();
    if (absl::IsUnimplemented(tasks.status())) error_ = "this master does not list tasks";
  }

  std::mutex mutex_;  // Guards the members below.
  std::optional<JobTasks> tasks_;
  std::string error_;
  bool is_error_shown_ = false;
  std::jthread thread_;  // declared last, so that it stops before the other members are destroyed
};

absl::StatusOr<int> WatchOne(const WatchArguments& arguments, const Client& master) {
  const Environment environment = Environment::OfProcess();
  const auto progress = MakeProgress(arguments.progress, stdout, environment);
  std::optional<WaitsRemark> waits;
  std::optional<RunningTasks> tasks;
  const bool has_bar = ResolveProgress(arguments.progress.mode, environment) == ProgressMode::kBar;
  bool has_reader = true;
  bool has_snapshot = false;
  const Timer timer(arguments.timeout);
  const auto final = master.WatchJob(
      arguments.job_id, {.is_to_come = arguments.waits},
      {.on_snapshot =
           [&](const Snapshot& snapshot) {
             const bool is_first = !std::exchange(has_snapshot, true);
             const bool is_workflow = snapshot.info && snapshot.info->kind == JobKind::kWorkflow;
             if (!tasks && has_bar && arguments.tasks && !is_workflow && !snapshot.is_final) {
               tasks.emplace(master, arguments.job_id);
             }
             if (is_first && has_bar && arguments.tasks && is_workflow) {
               progress->Warn("--tasks has no effect on a workflow; watch one of its jobs");
             }
             if (tasks && !snapshot.is_final) tasks->Show(*progress);
             if (!waits && has_bar) {
               waits.emplace(master, arguments.job_id, TextOptionsFor(stderr, environment));
             }
             if (waits) progress->Remark(waits->Get());
             return has_reader = progress->Show(snapshot);
           },
       .on_trouble = [&](const std::string& message) { progress->Warn(message); }},
      timer.token());
  waits.reset();
  tasks.reset();
  if (!has_reader) return kReaderGone;
  if (final.ok()) {
    progress->Explain(WaitsOf(final->job_id, /*query=*/"", master));
  }
  progress->Finish();
  if (final.ok()) return final->state == JobState::kSucceeded ? kSuccess : kJobFailed;
  if (timer.has_expired()) {
    PrintError(has_snapshot ? "the job did not end before --timeout expired"
                            : "the job did not report before --timeout expired");
    return kTimeLimit;
  }
  if (absl::IsNotFound(final.status())) {
    const auto group = FindGroup(arguments.job_id, master);
    return group ? WatchGroup(arguments, *group, master) : NoSuchJob(arguments.job_id, master);
  }
  return final.status();
}

// Shows the changes of all jobs.
class ListProgress {
 public:
  explicit ListProgress(const ProgressArguments& arguments)
      : mode_(ResolveProgress(arguments.mode, environment_)),
        compare_(arguments.compare),
        terminal_(fileno(stderr)) {}

  // Returns false if the reader has closed the pipe.
  bool Show(const std::map<std::string, Snapshot>& jobs) {
    if (mode_ == ProgressMode::kQuiet) return true;
    if (mode_ == ProgressMode::kBar) {
      Draw(jobs);
      return true;
    }
    std::erase_if(shown_, [&](const auto& shown) { return !jobs.contains(shown.first); });
    for (const auto& [id, job] : jobs) {
      const console::PlainLines none(TextOptionsFor(stdout, environment_), compare_);
      ShownJob& shown = shown_.try_emplace(id, ShownJob{none}).first->second;
      if (shown.run_uid == job.run_uid && shown.sequence == job.sequence) continue;
      shown.run_uid = job.run_uid;
      shown.sequence = job.sequence;
      if (!ShowOne(job, shown.lines)) return false;
    }
    return true;
  }

  void Warn(const std::string& message) {
    mode_ == ProgressMode::kBar ? terminal_.Print({ErrorLine(message)}) : PrintError(message);
  }
  void Finish() {
    if (mode_ == ProgressMode::kBar) terminal_.Keep();
  }

 private:
  struct ShownJob {
    console::PlainLines lines;
    std::string run_uid;
    std::uint64_t sequence = 0;  // 0 before the first snapshot
  };

  void Draw(const std::map<std::string, Snapshot>& jobs) {
    std::vector<Snapshot> rows;
    for (const auto& [id, job] : jobs) rows.push_back(job);
    const auto size = terminal_.size();
    // Terminals disagree on the cursor position after a full line, so the cursor's row stays free.
    terminal_.Draw(console::RenderJobList(
        std::move(rows), static_cast<std::size_t>(std::max(size.rows - 1, 3)),
        {.width = size.columns - 1, .text = TextOptionsFor(stderr, environment_)}));
  }

  bool ShowOne(const Snapshot& job, console::PlainLines& lines) {
    if (mode_ == ProgressMode::kJsonl) return WriteLine(stdout, wire::SnapshotJson(job));
    const std::optional<std::string> line = lines.Next(WithIdInTitle(job));
    return !line || WriteLine(stdout, *line);
  }

  // Several runs of one job may have the same name.
  static Snapshot WithIdInTitle(Snapshot job) {
    if (!job.info || job.info->name.empty() || job.info->name == job.job_id) return job;
    job.info->name = job.job_id + " (" + job.info->name + ")";
    return job;
  }

  const Environment environment_ = Environment::OfProcess();
  const ProgressMode mode_;
  const bool compare_;
  console::Terminal terminal_;
  std::map<std::string, ShownJob> shown_;
};

absl::StatusOr<int> WatchAll(const WatchArguments& arguments, const Client& master) {
  ListProgress progress(arguments.progress);
  bool has_reader = true;
  const Timer timer(arguments.timeout);
  const absl::Status status =
      master.WatchJobs(arguments.filter, {},
                       {.on_jobs =
                            [&](const std::map<std::string, Snapshot>& jobs) {
                              return has_reader = progress.Show(jobs);
                            },
                        .on_trouble = [&](const std::string& message) { progress.Warn(message); }},
                       timer.token());
  progress.Finish();
  if (!has_reader) return kReaderGone;
  if (timer.has_expired()) {
    PrintError("--timeout: stopped watching");
    return kTimeLimit;
  }
  return status;
}

}  // namespace

int Run(const WatchArguments& arguments) {
  if (const std::string why = WhyNoTasks(arguments); !why.empty()) PrintError(why);
  return AtMaster(arguments.master, [&](const Client& master) {
    return arguments.job_id.empty() ? WatchAll(arguments, master) : WatchOne(arguments, master);
  });
}

void AddWatch(CLI::App& root, Invocation& invocation) {
  CLI::App& app = *root.add_subcommand("watch", "Follow a job until it ends, or all jobs");
  auto& arguments = ArgumentsOf<WatchArguments>(app, invocation, Run);
  app.add_option(
      "ID", arguments.job_id,
      "Id of the job, as `tidemark get jobs` lists it, or of a SQL execution or job of a\n"
      "Spark application: ID/sql/3, ID/job/7");
  AddMaster(app, arguments.master);
  AddProgress(app, arguments.progress);
  Between(0.1, 1e9,
          app.add_option_function<double>(
                 "--timeout",
                 [&arguments](double seconds) { arguments.timeout = absl::Seconds(seconds); },
                 "Stop after this many seconds")
              ->type_name("SECONDS"));
  app.add_flag("--wait", arguments.waits, "Wait for a job or a master that does not exist yet");
  app.add_flag("--tasks", arguments.tasks,
               "Show each running task below the bar, the slowest first");
  AddFooter(app,
            "Exit code: 0 the job succeeded, 1 it did not, 2 usage error, 3 the master cannot be\n"
            "reached, 5 no such job, 6 the master requires a different token or certificate,\n"
            "7 --timeout.");
}

}  // namespace tidemark::cli
