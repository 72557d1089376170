// Shows the snapshots of a job: as a bar, as lines, as JSON, or not at all.
#pragma once

#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "tidemark/explanation.h"
#include "tidemark/job.h"
#include "tidemark/job_tasks.h"

namespace tidemark::cli {

// Not thread-safe.
class Progress {
 public:
  virtual ~Progress() = default;
  // Shows the snapshot. Returns false if the reader has closed the pipe.
  virtual bool Show(const Snapshot& snapshot) = 0;
  // Sets the sentence below the bar, which is shown until the next call. An empty string removes
  // it.
  virtual void Remark(const std::string&) {}
  // Sets the running tasks below the bar, which are shown until the next call.
  virtual void ShowTasks(const JobTasks&) {}
  // Sets the waits of the job, or the reason why they are unknown, for Finish().
  virtual void Explain(const absl::StatusOr<Explanation>&) {}
  // Prints a message about the connection or the command on standard error.
  virtual void Warn(const std::string& message);
  // Prints a hint; quiet progress omits it.
  virtual void Inform(const std::string& hint) { Warn(hint); }
  // Prints a line that the watched program wrote to its standard error.
  virtual void Forward(const std::string& line);
  // Shows the summary after the last snapshot. `ending` is the outcome if that snapshot is not
  // final.
  virtual void Finish(const std::string&) {}
  void Finish() { Finish(""); }
};

// Returns progress that draws a bar on standard error. Lines, and the summary below a bar, are
// written to `lines`: standard output if the user requested progress, otherwise standard error.
std::unique_ptr<Progress> MakeProgress(const ProgressArguments& arguments, std::FILE* lines,
                                       const Environment& environment);

// Removes the deadline. The deadline of a run is part of the job, so that all readers see it.
ProgressArguments WithoutDeadline(ProgressArguments arguments);

// Returns progress for a program that runs several jobs sequentially.
std::unique_ptr<Progress> MakeProgressOfJobs(const ProgressArguments& arguments, std::FILE* lines,
                                             const Environment& environment);

// Returns `asked` and, with --compare, all other indicators.
std::vector<std::string> IndicatorsFor(const ProgressArguments& arguments,
                                       std::vector<std::string> asked);

// Replaces kAuto by the mode that the terminal allows.
ProgressMode ResolveProgress(ProgressMode mode, const Environment& environment);

// The streams of a command that shows progress and prints a result.
struct Streams {
  std::FILE* progress;
  std::FILE* result;
};

// Returns standard output for the result and standard error for progress. For JSON, swaps the two,
// so that programs can read the snapshots.
Streams StreamsOfRun(ProgressMode mode);

// Shows progress on its own thread, so that a slow terminal does not delay the job. Thread-safe.
class BackgroundProgress {
 public:
  explicit BackgroundProgress(std::unique_ptr<Progress> progress);
  ~BackgroundProgress();  // calls Finish()
  BackgroundProgress(const BackgroundProgress&) = delete;
  BackgroundProgress& operator=(const BackgroundProgress&) = delete;

  // These functions never block. If 10,000 items are queued, the oldest item that Forward() did not
  // add is dropped.
  void Show(const Snapshot& snapshot);
  void Warn(const std::string& message);
  void Inform(const std::string& hint);
  void Explain(const absl::StatusOr<Explanation>& waits);
  // Blocks while 10,000 items are queued, so that no line is dropped.
  void Forward(const std::string& line);
  // Blocks until all items and the summary are shown. See Progress::Finish() for `ending`.
  // Idempotent; later calls show nothing.
  void Finish(const std::string& ending = "");

 private:
  struct Item {
    std::function<void(Progress&)> show;
    bool is_line = false;  // true for a line of the watched program, which is never dropped
  };
  void Add(Item item);
  void ShowUntilFinished();

  const std::unique_ptr<Progress> progress_;
  std::mutex mutex_;  // Guards queue_, finished_ and ending_.
  std::condition_variable changed_;
  std::condition_variable has_room_;
  std::deque<Item> queue_;
  bool finished_ = false;
  std::string ending_;
  std::thread thread_;
};

}  // namespace tidemark::cli
