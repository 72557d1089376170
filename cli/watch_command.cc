#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/at_master.h"
#include "cli/commands.h"
#include "cli/console/job_lines.h"
#include "cli/console/job_table.h"
#include "cli/console/terminal.h"
#include "cli/environment.h"
#include "cli/exit_code.h"
#include "cli/progress.h"
#include "proto/wire/job_codec.h"

namespace tidemark::cli {
namespace {

// Requests a stop after a while.
class Timer {
 public:
  explicit Timer(absl::Duration timeout) {
    if (timeout == absl::InfiniteDuration()) return;
    thread_ = std::jthread([this, timeout](const std::stop_token& end) {
      std::mutex mutex;
      std::condition_variable_any wake;
      std::unique_lock lock(mutex);
      wake.wait_for(lock, end, absl::ToChronoMilliseconds(timeout), [] { return false; });
      if (!end.stop_requested()) stop_.request_stop();
    });
  }
  std::stop_token token() const { return stop_.get_token(); }
  bool has_expired() const { return stop_.stop_requested(); }

 private:
  std::stop_source stop_;
  std::jthread thread_;
};

absl::StatusOr<int> WatchOne(const WatchArguments& arguments, const Client& master) {
  const auto progress = MakeProgress(arguments.progress, stdout, Environment::OfProcess());
  bool has_reader = true;
  const Timer timer(arguments.timeout);
  const auto final = master.WatchJob(
      arguments.job_id, {},
      {.on_snapshot =
           [&](const Snapshot& snapshot) { return has_reader = progress->Show(snapshot); },
       .on_trouble = [&](const std::string& message) { progress->Say(message); }},
      timer.token());
  if (!has_reader) return kReaderGone;
  progress->Finish();
  if (final.ok()) return final->state == JobState::kSucceeded ? kSuccess : kJobFailed;
  if (timer.has_expired()) {
    Complain("--timeout: the job has not ended");
    return kTimeLimit;
  }
  if (absl::IsNotFound(final.status())) return NoSuchJob(arguments.job_id, master);
  return final.status();
}

// Shows what has changed among all jobs.
class ListProgress {
 public:
  explicit ListProgress(const ProgressArguments& arguments)
      : mode_(ResolveProgress(arguments.mode, environment_)),
        compare_(arguments.compare),
        terminal_(fileno(stderr)) {}

  // False when the reader has gone.
  bool Show(const std::map<std::string, Snapshot>& jobs) {
    if (mode_ == ProgressMode::kQuiet) return true;
    if (mode_ == ProgressMode::kBar) {
      Draw(jobs);
      return true;
    }
    std::erase_if(seen_, [&](const auto& seen) { return !jobs.contains(seen.first); });
    for (const auto& [id, job] : jobs) {
      const console::PlainLines none(TextOptionsFor(stdout, environment_), compare_);
      Seen& seen = seen_.try_emplace(id, Seen{none}).first->second;
      if (seen.run_uid == job.run_uid && seen.sequence == job.sequence) continue;
      seen.run_uid = job.run_uid;
      seen.sequence = job.sequence;
      if (!ShowOne(job, seen.lines)) return false;
    }
    return true;
  }

  void Say(const std::string& message) {
    mode_ == ProgressMode::kBar ? terminal_.Print({ComplaintLine(message)}) : Complain(message);
  }
  void Finish() {
    if (mode_ == ProgressMode::kBar) terminal_.Keep();
  }

 private:
  struct Seen {
    console::PlainLines lines;
    std::string run_uid;
    std::uint64_t sequence = 0;  // none was told yet
  };

  void Draw(const std::map<std::string, Snapshot>& jobs) {
    std::vector<Snapshot> rows;
    for (const auto& [id, job] : jobs) rows.push_back(job);
    const auto size = terminal_.size();
    // A full line would leave the cursor on its last column, where terminals disagree; its row
    // stays free.
    terminal_.Draw(console::RenderJobList(
        std::move(rows), static_cast<std::size_t>(std::max(size.rows - 1, 3)),
        {.width = size.columns - 1, .text = TextOptionsFor(stderr, environment_)}));
  }

  bool ShowOne(const Snapshot& job, console::PlainLines& lines) {
    if (mode_ == ProgressMode::kJsonl) return WriteLine(stdout, wire::SnapshotJson(job));
    const std::optional<std::string> line = lines.Next(WithIdInTitle(job));
    return !line || WriteLine(stdout, *line);
  }

  // Two runs of a job may have one name.
  static Snapshot WithIdInTitle(Snapshot job) {
    if (!job.info || job.info->name.empty() || job.info->name == job.job_id) return job;
    job.info->name = job.job_id + " (" + job.info->name + ")";
    return job;
  }

  const Environment environment_ = Environment::OfProcess();
  const ProgressMode mode_;
  const bool compare_;
  console::Terminal terminal_;
  std::map<std::string, Seen> seen_;
};

absl::StatusOr<int> WatchAll(const WatchArguments& arguments, const Client& master) {
  ListProgress progress(arguments.progress);
  bool has_reader = true;
  const Timer timer(arguments.timeout);
  const absl::Status status =
      master.WatchJobs({}, {},
                       {.on_jobs =
                            [&](const std::map<std::string, Snapshot>& jobs) {
                              return has_reader = progress.Show(jobs);
                            },
                        .on_trouble = [&](const std::string& message) { progress.Say(message); }},
                       timer.token());
  progress.Finish();
  if (!has_reader) return kReaderGone;
  if (timer.has_expired()) {
    Complain("--timeout: stopped watching");
    return kTimeLimit;
  }
  return status;
}

}  // namespace

int Do(const WatchArguments& arguments) {
  return AtMaster(arguments.master, [&](const Client& master) {
    return arguments.job_id.empty() ? WatchAll(arguments, master) : WatchOne(arguments, master);
  });
}

}  // namespace tidemark::cli
