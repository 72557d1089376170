// Text for the parts of a snapshot, for frames, plain lines, tables, the page and alerts. Pure.
//
// For any snapshot, the text is Printable() and finite, without negative times. Text about missing
// parts, such as the stages in the smallest view, is empty.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "console/text.h"
#include "tidemark/job.h"

namespace tidemark::console {

// Returns the name of the job, or its id if it has no name.
std::string JobTitle(const Snapshot& snapshot, const TextOptions& options);

// Returns "queued", "running", "succeeded", "failed", "killed" or "abandoned". For a state of a
// newer version, returns "running" or "ended".
std::string StateName(const Snapshot& snapshot);
// Returns "silent" for a running job without reports, and otherwise StateName().
std::string ListedState(const Snapshot& snapshot);
Style StateStyle(const Snapshot& snapshot);

// Returns the headline of an application (Snapshot::headline_group) in the form of a job with the
// name "sql/3 load", or nullopt if the job itself is the headline.
std::optional<Snapshot> HeadlineOf(const Snapshot& snapshot);

// Returns the elapsed time, such as "41 s". For an ended job, it has tenths of a second below ten
// seconds.
std::string ElapsedText(const Snapshot& snapshot);

// Returns the fraction to show, clamped to 0..1. It is 0 for NaN, and 1 only after success.
// Percentages are rounded down.
double ShownFraction(double fraction_done, bool has_succeeded);
int ShownPercent(double fraction_done, bool has_succeeded);

// Returns true if the fraction has bounds: an interval or, for a job without success, the last
// bounds.
bool HasBounds(const Estimate& estimate);
// Returns the numbers of the bar of an estimate. There is no number if the indicator has no
// estimate yet, if it had none before the job ended, or if the estimate is an unsupported guess.
ShownProgress ShownOf(const Snapshot& snapshot, const Estimate& estimate);

// A percentage in two parts, "~ 41 %" and "(11-98)". The second is empty without an interval. The
// number is "-" if it is not shown.
struct PercentWords {
  std::string number;
  std::string bounds;
  std::string text() const { return bounds.empty() ? number : number + " " + bounds; }
};
PercentWords DescribePercent(const ShownProgress& shown, const TextOptions& options);
// Returns both parts of the percentage of an estimate.
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
// is "(35-52 s, a guess from other jobs)" if neither this run nor a past run supports it, and
// "(2-52 s, a guess: few results yet)" if the bounds of the whole time differ by a factor above
// ten. If both conditions hold, the parts contain no median: "a guess from the map phase" and
// "2-52 s left". If there is no estimate, the parts are "no estimate yet" and "waiting for the
// first reduce results".
struct RemainingWords {
  std::string about;
  std::string joint;
  std::string detail;
  std::string text() const { return about + joint + detail; }
};
// Describes the remaining time of a job, or the state of an ended job.
RemainingWords DescribeRemaining(const Snapshot& snapshot, const Estimate& estimate,
                                 const TextOptions& options);
// Returns true if the remaining time is shown as a guess. Alerts and metrics use the same rule.
bool IsGuess(const Snapshot& snapshot);

// Describes the remaining time of a running task: "~ 41 s left" and "(35-52 s)", or "about to end".
RemainingWords DescribeLeft(const Range& left, const TextOptions& options);

// The position of a job, in pieces for a header: "map done", "shuffle 40 %", "reduce 1/4 tasks";
// for a failed job, "map stopped at 40 %"; for applications, "3 of 12 stages done, 1 failed" or,
// with a headline, "3 queries done, more may come"; for workflows, "1 of 4 jobs done".
struct Step {
  std::string text;
  bool is_current = false;  // true for at most one step
};
std::vector<Step> StepsOf(const Snapshot& snapshot);
// Returns the text of the current step, or "" if no step is current.
std::string CurrentStep(const Snapshot& snapshot);

// Returns the name of a stage, such as "map" or "scan", or "stage 3" if it has no name.
std::string StageName(const Snapshot& snapshot, StageId id, const TextOptions& options);
// Returns the names of Snapshot::stages, in order. Stages of one job with equal names get numbers,
// such as "scan (stage 3)", as do names that look numbered. O(n log n).
std::vector<std::string> StageNames(const Snapshot& snapshot, const TextOptions& options);
// Returns true if the end of the stage is a guess, which it is if the end of the stage's job is a
// guess. Exception: a running map stage, whose pace is measured. If results of an application back
// only some of its remaining work, the ends of stages without progress are also guesses.
bool IsEndGuessed(const Snapshot& snapshot, const StageProgress& stage);
// Returns "starts in ~ 2 min", "~ 1 min left (50-70 s)", "~ 1 min left (a guess)", "done",
// "skipped", "expected" or "failed". Returns "not finished" if the job was killed or abandoned.
std::string StageStateText(const Snapshot& snapshot, const StageProgress& stage,
                           const TextOptions& options);
// Returns "reduce task 2" or "task 7 of scan", with the attempt number for a later attempt.
std::string TaskText(const Snapshot& snapshot, const NamedTask& task, const TextOptions& options);

// A job of a workflow, or a group or stage of an application, as a line.
struct Part {
  std::string name;
  std::string state;  // "done", "~ 1 min left", "starts in ~ 2 min", "no report yet"
  // interval of the remaining time, such as "(50-55 s)" or "(a guess)"; may be empty
  std::string detail;
  Style style = Style::kBar;
  ShownProgress shown;
  bool is_running = false;
  bool has_started = false;
  bool is_critical = false;
};
// Returns the jobs of a workflow. For an application, returns at most kGroupsShown running groups
// without the headline, then at most kStagesShown running stages. For a MapReduce job, returns an
// empty list.
inline constexpr std::size_t kGroupsShown = 4;
inline constexpr std::size_t kStagesShown = 8;
std::vector<Part> PartsOf(const Snapshot& snapshot, const TextOptions& options);
// Returns "Reduce task 2 will end last: a key of 1.2 MB ...", or "" if the snapshot names no task.
std::string StragglerText(const Snapshot& snapshot, const TextOptions& options);
// Returns StragglerText() for a line with the estimate, or "" if the estimate is a guess. The last
// task of a guess is a guess, too.
std::string StragglerRemark(const Snapshot& snapshot, const TextOptions& options);

// Returns how long a job has been silent: "for 6 min", or "since the master started, 6 min ago" if
// the newest report is older than the master.
std::string SilenceText(const Snapshot& snapshot);
// Returns what a silent job lacks, such as "no reports for 25 s", or "no job running for 25 s" for
// a workflow between two jobs. REQUIRES: snapshot.silent_since is set.
std::string MissingText(const Snapshot& snapshot);

// Returns "1.2 MB/s, 45 records/s", only with the known rates, or "" if none is known.
std::string ThroughputText(const std::optional<Throughput>& throughput);

// Returns the error of an indicator, or null if it is unknown. An empty name means "tidemark".
const IndicatorError* ErrorOf(const Snapshot& ended, const std::string& indicator);
// Returns "4 min 10 s", the duration of the job according to its first forecast, or "" if there was
// no forecast.
std::string FirstForecastText(const Snapshot& ended);

// Returns why the snapshot has no other estimators, or "" if it has some.
std::string NoComparisonText(const Snapshot& snapshot);

// Returns "3 messages lost, 1 measurement dropped", or "".
std::string LossText(const Snapshot& snapshot);

// Returns a line for a raised estimate, for idleness, and for LossText(), silence, each failure and
// each note.
std::vector<std::string> WarningTexts(const Snapshot& snapshot, const TextOptions& options);

}  // namespace tidemark::console
