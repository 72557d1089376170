// Shows the snapshots of a job: as a bar, as lines, as JSON, or not at all.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/command_line.h"
#include "cli/environment.h"
#include "tidemark/explanation.h"
#include "tidemark/job.h"
#include "tidemark/job_tasks.h"

namespace tidemark::cli {

// Not thread-safe.
class Progress {
 public:
  virtual ~Progress() = default;
  // False when the reader has gone.
  virtual bool Show(const Snapshot& snapshot) = 0;
  // A sentence about the job as it is now, for below a bar; empty: none. Kept until the next.
  virtual void Remark(const std::string&) {}
  // The tasks that run, for below a bar. Kept until the next.
  virtual void ShowTasks(const JobTasks&) {}
  // What the job waited for, or why that is not known, before Finish().
  virtual void Explain(const absl::StatusOr<Explanation>&) {}
  // A message about the watching itself, for standard error.
  virtual void Say(const std::string& message);
  // What is good to know; quiet ones leave it out.
  virtual void Mention(const std::string& fact) { Say(fact); }
  // A line that the watched program wrote to its standard error.
  virtual void PassOn(const std::string& line);
  // After the last snapshot: how it all ended. `ending` says it where that snapshot is not final.
  virtual void Finish(const std::string&) {}
  void Finish() { Finish(""); }
};

// A bar is drawn on standard error. Lines, and the summary below a bar, go to `lines`: standard
// output where they are what the user asked for, else standard error.
std::unique_ptr<Progress> MakeProgress(const ProgressArguments& arguments, std::FILE* lines,
                                       const Environment& environment);

// For a run: its deadline is the job's, whose readers all see the same one.
ProgressArguments WithoutDeadline(ProgressArguments arguments);

// The same for a program that runs jobs one after the other: as if each had a Progress of its own.
std::unique_ptr<Progress> MakeProgressOfJobs(const ProgressArguments& arguments, std::FILE* lines,
                                             const Environment& environment);

// The indicators that must be computed for what is shown: with --compare those of
// ComparedIndicators() too, behind `asked`.
std::vector<std::string> IndicatorsFor(const ProgressArguments& arguments,
                                       std::vector<std::string> asked);

// What `mode` means here: anything but kAuto.
ProgressMode ResolveProgress(ProgressMode mode, const Environment& environment);

// Where a command that has a result, too, writes its lines of progress and its result.
struct Streams {
  std::FILE* progress;
  std::FILE* result;
};

// Standard output is for the result, unless `mode` asks for JSON: then it is for that alone, so
// that programs can read it, and the result goes to standard error.
Streams StreamsOfRun(ProgressMode mode);

// Writes a line and flushes it; false when the reader has gone.
bool WriteLine(std::FILE* stream, const std::string& line);

// Flushes standard output. The errno of the first write to it that failed; 0: all is written.
int FlushOutput();

// "tidemark: MESSAGE". Whatever in it comes from others cannot steer a terminal (console/text.h).
std::string ComplaintLine(const std::string& message);

// ComplaintLine() on standard error.
void Complain(const std::string& message);

}  // namespace tidemark::cli
