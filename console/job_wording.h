// What there is to say about a snapshot, in words; frames, plain lines and tables share it. Pure.
//
// Everything here is Printable(), finite and without negative times, whatever the snapshot holds.
// What a snapshot does not hold, such as the stages in its smallest view, is not said.
#pragma once

#include <string>
#include <vector>

#include "console/styled_line.h"
#include "tidemark/job.h"

namespace tidemark::console {

// The name of the job, or its id if it has none.
std::string JobTitle(const Snapshot& snapshot, const TextOptions& options);

// "queued", "running", "succeeded", "failed", "killed", "abandoned"; of a state that this version
// does not know "running" or "ended".
std::string StateName(const Snapshot& snapshot);
Style StateStyle(const Snapshot& snapshot);

// How long it has run, "41 s"; of a job that has ended to the tenth of a second below ten.
std::string ElapsedText(const Snapshot& snapshot);

// `fraction_done` as it may be shown: 0 if it is not a number, within 0..1, and 1 only for what has
// succeeded. Percent are cut, not rounded.
double ShownFraction(double fraction_done, bool has_succeeded);
int ShownPercent(double fraction_done, bool has_succeeded);

// Whether a percentage says anything: not where the part of its time that has passed may be a third
// of the whole away from what is shown, as of an application that is not known and may go on.
bool IsPercentTold(const Snapshot& snapshot, const Estimate& estimate);
bool HasInterval(const Estimate& estimate);
// Whether the fraction has bounds: an interval, or those that a job had which did not succeed.
bool HasBounds(const Estimate& estimate);
// "41 %"; the range, "9-91 %", where that would say nothing; "-" where there is none, and where the
// indicator has never said any: while it warms up, and of a job that has ended before it did.
std::string PercentText(const Snapshot& snapshot, const Estimate& estimate);

// The name of the indicator that made an estimate.
std::string IndicatorName(const Estimate& estimate, const TextOptions& options);

// "~ 41 s"; "over 999 d".
std::string AboutText(absl::Duration duration, const TextOptions& options);

// When something will end, in two parts that can be put apart, such as "~ 41 s left" and "(35-52
// s)" or, where nothing that has run backs it, "(35-52 s, a guess)", or "no estimate yet" and
// "waiting for the first reduce results".
struct RemainingWords {
  std::string about;
  std::string joint;
  std::string detail;
  std::string text() const { return about + joint + detail; }
};
// Of an ended job its state.
RemainingWords DescribeRemaining(const Snapshot& snapshot, const Estimate& estimate,
                                 const TextOptions& options);

// Of what runs, such as a task: "~ 41 s left" and "(35-52 s)", or "about to end".
RemainingWords DescribeLeft(const Range& left, const TextOptions& options);

// Where a job is, in pieces for a header: "map done", "shuffle 40 %", "reduce 1/4 tasks" of a
// MapReduce job, "map stopped at 40 %" of one that has failed; "3 of 12 stages done, 2 skipped" or
// "1 of 4 jobs done" of others.
struct Step {
  std::string text;
  bool is_current = false;  // at most one
};
std::vector<Step> StepsOf(const Snapshot& snapshot);
// The text of the current one; empty if there is none.
std::string CurrentStep(const Snapshot& snapshot);

// "map", "scan"; of a stage without a name "stage 3".
std::string StageName(const Snapshot& snapshot, StageId id, const TextOptions& options);
// Of each of Snapshot::stages, in their order. Those of one job that have the same name are told
// apart, and so are those that look as if they were: "scan (stage 3)". O(n log n).
std::vector<std::string> StageNames(const Snapshot& snapshot, const TextOptions& options);
// Whether its end is as much of a guess as that of its job: unless it is a map stage whose pace is
// seen.
bool IsEndGuessed(const Snapshot& snapshot, const StageProgress& stage);
// "starts in ~ 2 min", "~ 1 min left (50-70 s)", "~ 1 min left (a guess)", "done", "skipped",
// "expected", "failed"; "not finished" if its job was killed or abandoned.
std::string StageStateText(const Snapshot& snapshot, const StageProgress& stage,
                           const TextOptions& options);
// "reduce task 2", "task 7 of scan"; a repeated one says which attempt it is.
std::string TaskText(const Snapshot& snapshot, const NamedTask& task, const TextOptions& options);

// A job of a workflow, or a group or a stage of an application, as a line.
struct Part {
  std::string name;
  std::string state;   // "done", "~ 1 min left", "starts in ~ 2 min", "no report yet"
  std::string detail;  // of what is left, "(50-55 s)", "(a guess)"; may be empty
  Style style = Style::kBar;
  double fraction_done = 0;
  bool is_percent_told = true;
  bool has_succeeded = false;
  bool is_running = false;
  bool has_started = false;
  bool is_critical = false;
};
// The jobs of a workflow; of an application the groups that run, then the stages that do, at most
// kGroupsShown and kStagesShown of them; of a MapReduce job none.
inline constexpr std::size_t kGroupsShown = 4;
inline constexpr std::size_t kStagesShown = 8;
std::vector<Part> PartsOf(const Snapshot& snapshot, const TextOptions& options);
// "41 %"; "-" where it would say nothing.
std::string PercentText(const Part& part);

// "Reduce task 2 ends last: 1.2 MB key, ..."; empty if no task is named.
std::string StragglerText(const Snapshot& snapshot, const TextOptions& options);

// Since when there is no news of a silent job: "for 6 min", or "since the master started, 6 min
// ago" where the snapshot tells that the newest report is older.
std::string SilenceText(const Snapshot& snapshot);

// What is lost, silent, failed or out of date; a line each, none if all is well.
std::vector<std::string> WarningTexts(const Snapshot& snapshot, const TextOptions& options);

}  // namespace tidemark::console
