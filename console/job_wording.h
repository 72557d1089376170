// The parts of a snapshot as text, for frames, plain lines, tables, the page and alerts. Pure.
//
// For any snapshot the text is Printable() and finite, without negative times. Text about missing
// parts, such as the stages in the smallest view, is empty.
#pragma once

#include <string>
#include <vector>

#include "console/text.h"
#include "tidemark/job.h"

namespace tidemark::console {

// Returns the name of the job, or its id if it has none.
std::string JobTitle(const Snapshot& snapshot, const TextOptions& options);

// Returns "queued", "running", "succeeded", "failed", "killed" or "abandoned". Returns "running" or
// "ended" for a state of a newer version.
std::string StateName(const Snapshot& snapshot);
Style StateStyle(const Snapshot& snapshot);

// Returns the elapsed time, "41 s". An ended job has tenths of a second below ten seconds.
std::string ElapsedText(const Snapshot& snapshot);

// Returns the fraction to show, clamped to 0..1. It is 0 for NaN, and 1 only after success.
// Percentages are rounded down.
double ShownFraction(double fraction_done, bool has_succeeded);
int ShownPercent(double fraction_done, bool has_succeeded);

// Returns false if the true fraction may differ from the shown one by more than a third, as for an
// application without past runs.
bool IsPercentMeaningful(const Snapshot& snapshot, const Estimate& estimate);
bool HasInterval(const Estimate& estimate);
// Returns true if the fraction has bounds: an interval, or the last bounds of a job without
// success.
bool HasBounds(const Estimate& estimate);
// Returns "41 %", or the range "9-91 %" if a percentage is not meaningful. Returns "-" if there are
// no bounds, or if the indicator has no estimate yet or had none before the job ended.
std::string PercentText(const Snapshot& snapshot, const Estimate& estimate,
                        const TextOptions& options);

// Returns the name of the indicator of an estimate.
std::string IndicatorName(const Estimate& estimate, const TextOptions& options);
// Returns the method of an estimate, such as "key groups", or the name of an indicator other than
// "tidemark". Returns "" if there is no estimate.
std::string MethodText(const Estimate& estimate, const TextOptions& options);

// Returns "~ 41 s" or "over 999 d".
std::string AboutText(absl::Duration duration, const TextOptions& options);

// A remaining time in two separable parts, such as "~ 41 s left" and "(35-52 s)". The second part
// is "(35-52 s, a guess)" if neither this run nor a past run supports it. If there is no estimate,
// the parts are "no estimate yet" and "waiting for the first reduce results".
struct RemainingWords {
  std::string about;
  std::string joint;
  std::string detail;
  std::string text() const { return about + joint + detail; }
};
// Describes the remaining time of a job, or the state of an ended job.
RemainingWords DescribeRemaining(const Snapshot& snapshot, const Estimate& estimate,
                                 const TextOptions& options);

// Describes the remaining time of a running task: "~ 41 s left" and "(35-52 s)", or "about to end".
RemainingWords DescribeLeft(const Range& left, const TextOptions& options);

// The position of a job, in pieces for a header: "map done", "shuffle 40 %", "reduce 1/4 tasks";
// for a failed job "map stopped at 40 %"; for applications "3 of 12 stages done, 2 skipped"; for
// workflows "1 of 4 jobs done".
struct Step {
  std::string text;
  bool is_current = false;  // at most one
};
std::vector<Step> StepsOf(const Snapshot& snapshot);
// Returns the text of the current step, or "" without a step.
std::string CurrentStep(const Snapshot& snapshot);

// Returns the name of a stage, such as "map" or "scan", or "stage 3" if it has no name.
std::string StageName(const Snapshot& snapshot, StageId id, const TextOptions& options);
// Returns the names of Snapshot::stages, in order. Stages of one job with equal names get numbers,
// "scan (stage 3)", as do names that look numbered. O(n log n).
std::vector<std::string> StageNames(const Snapshot& snapshot, const TextOptions& options);
// Returns true if the end of the stage is a guess. It is a guess if the end of the stage's job is
// one, except for a running map stage, whose pace is measured.
bool IsEndGuessed(const Snapshot& snapshot, const StageProgress& stage);
// Returns "starts in ~ 2 min", "~ 1 min left (50-70 s)", "~ 1 min left (a guess)", "done",
// "skipped", "expected" or "failed"; "not finished" if the job was killed or abandoned.
std::string StageStateText(const Snapshot& snapshot, const StageProgress& stage,
                           const TextOptions& options);
// Returns "reduce task 2" or "task 7 of scan", with the number of a later attempt.
std::string TaskText(const Snapshot& snapshot, const NamedTask& task, const TextOptions& options);

// A job of a workflow, or a group or a stage of an application, as a line.
struct Part {
  std::string name;
  std::string state;   // "done", "~ 1 min left", "starts in ~ 2 min", "no report yet"
  std::string detail;  // interval of the remaining time, "(50-55 s)", "(a guess)"; may be empty
  Style style = Style::kBar;
  double fraction_done = 0;
  bool is_percent_meaningful = true;
  bool has_succeeded = false;
  bool is_running = false;
  bool has_started = false;
  bool is_critical = false;
};
// Returns the jobs of a workflow. For an application, returns at most kGroupsShown running groups,
// then at most kStagesShown running stages. Returns nothing for a MapReduce job.
inline constexpr std::size_t kGroupsShown = 4;
inline constexpr std::size_t kStagesShown = 8;
std::vector<Part> PartsOf(const Snapshot& snapshot, const TextOptions& options);
// Returns "41 %", or "-" if a percentage is not meaningful.
std::string PercentText(const Part& part);

// Returns "Reduce task 2 will end last: a key of 1.2 MB ...", or "" if the snapshot names no task.
std::string StragglerText(const Snapshot& snapshot, const TextOptions& options);

// Returns how long a job has been silent: "for 6 min", or "since the master started, 6 min ago" if
// the newest report is older than the master.
std::string SilenceText(const Snapshot& snapshot);

// Returns a line for each loss, silence, failure and note.
std::vector<std::string> WarningTexts(const Snapshot& snapshot, const TextOptions& options);

}  // namespace tidemark::console
