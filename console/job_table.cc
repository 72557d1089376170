#include "console/job_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "console/deadline_wording.h"
#include "console/duration_text.h"
#include "text/counted.h"

namespace tidemark::console {
namespace {

// End of the text of a remaining time.
constexpr std::string_view kLeft = " left";
constexpr std::size_t kEndedTasksMax = 20;
constexpr char kNoReportedEnd[] = "unknown (no end reported)";

std::string KindName(const Snapshot& job) {
  switch (job.info ? job.info->kind : JobKind::kUnknown) {
    case JobKind::kMapReduce:
      return "mapreduce";
    case JobKind::kApplication:
      return "application";
    case JobKind::kWorkflow:
      return "workflow";
    case JobKind::kUnknown:
      break;
  }
  return "-";
}

std::string EndCell(const Snapshot& job, const TextOptions& options) {
  const std::string due = DeadlineText(job, options);
  if (job.is_final) {
    const std::string message = Printable(job.message, options.unicode);
    return message.empty() || due.empty() ? message + due : message + "; " + due;
  }
  const std::optional<Snapshot> headline = HeadlineOf(job);
  const Snapshot& main = headline ? *headline : job;
  std::string remaining = headline ? JobTitle(main, options) + ": " : "";
  remaining += DescribeRemaining(main, main.estimate, options).text();
  if (!due.empty()) remaining += "; " + due;
  if (!job.silent_since) return remaining;
  return fmt::format("{}; {}", MissingText(job), remaining);
}

std::string NameOfChild(const Snapshot& snapshot, std::uint32_t number,
                        const TextOptions& options) {
  for (const Child& child : snapshot.children) {
    if (child.number == number) return Printable(child.name, options.unicode);
  }
  return "-";
}

std::string BusyText(const Outcome& outcome) {
  if (!outcome.busy_share) return "-";
  const double percent = 100 * *outcome.busy_share;
  return percent > 0 && percent < 0.5 ? "< 1 %" : fmt::format("{:.0f} %", percent);
}

std::string CeilingText(absl::Duration duration) {
  return DurationText(absl::Ceil(duration, text::UnitOf(duration)));
}

std::string OrDash(std::string text) { return text.empty() ? "-" : std::move(text); }

std::string DurationOr(const std::optional<Range>& range, const char* otherwise) {
  return range ? NearestText(range->median) : otherwise;
}

bool HasEnded(const Child& child) {
  return child.state == ChildState::kSucceeded || child.state == ChildState::kFailed ||
         child.state == ChildState::kCancelled;
}

// Path of entries that wait for each other. Entries that only occupy slots are not on it.
constexpr char kCriticalPath[] = "critical path";

std::string AboutEnd(bool is_critical, const std::string& bottleneck, bool is_guess,
                     const TextOptions& options) {
  std::vector<std::string> words;
  if (is_critical) words.push_back(kCriticalPath);
  if (!bottleneck.empty()) words.push_back("bound by " + Printable(bottleneck, options.unicode));
  if (is_guess) words.push_back("a guess");
  return fmt::format("{}", fmt::join(words, ", "));
}

// Returns the time of a task to the second, or to a tenth of a second below ten seconds. Returns
// "-" for 0.
std::string TaskTimeText(absl::Duration time) {
  if (time == absl::ZeroDuration()) return "-";
  return time < absl::Seconds(10) ? ElapsedText(time) : NearestText(time);
}

// Returns the states of a plan whose stages share nodes. `names` contains the names of the
// snapshot's stages.
std::vector<std::string> RenderStates(const Outcome& outcome, const std::vector<std::string>& names,
                                      const TableOptions& options) {
  constexpr std::size_t kStatesMax = 20;
  const std::vector<StageProgress>& stages = outcome.snapshot.stages;
  std::vector<Row> rows = {{"STATE", "STAGE", "TASKS", "TASK TIME", ""}};
  for (std::size_t i = 0; i < std::min(outcome.states.size(), kStatesMax); ++i) {
    const PlanState& state = outcome.states[i];
    std::string when = fmt::format("{}: {}{}{}", i + 1, NearestText(state.starts_in),
                                   options.text.unicode ? "–" : "-", NearestText(state.ends_in));
    for (const PlanState::Stage& stage : state.stages) {
      const auto place = std::ranges::find(stages, stage.id, &StageProgress::id);
      const auto index = static_cast<std::size_t>(place - stages.begin());
      rows.push_back({std::exchange(when, ""), index < names.size() ? names[index] : "-",
                      fmt::format("{:.0f}", std::max(stage.tasks, 1.0)),
                      TaskTimeText(stage.task_time),
                      AboutEnd(false, stage.bottleneck, false, options.text)});
    }
  }
  std::vector<std::string> lines = {""};
  for (std::string& line : RenderTable(rows, options)) lines.push_back(std::move(line));
  if (outcome.states.size() > kStatesMax) {
    lines.push_back(TableLine(
        fmt::format("{} more states; -o json lists all", outcome.states.size() - kStatesMax),
        options, Style::kDim));
  }
  return lines;
}

// Shortens the ids in the first column as far as the next columns and the start of the last column
// require.
void ShortenIds(const TableOptions& options, std::vector<Row>& rows) {
  constexpr int kIdColumnsMin = 12;
  constexpr int kLastColumnsMin = 20;
  constexpr int kGapColumns = 2;
  std::vector<int> widths(rows.front().size(), 0);
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Columns(row[i]));
  }
  int needed = std::min(widths.back(), kLastColumnsMin);
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) needed += widths[i] + kGapColumns;
  const int too_wide = needed - options.width;
  if (too_wide <= 0) return;
  const int columns = std::max(kIdColumnsMin, widths[0] - too_wide);
  for (Row& row : rows) row[0] = ClipMiddle(row[0], columns, options.text.unicode);
}

// Returns the names of the scenarios at these ascending indexes, as the prefix of a remark.
std::string NamesOf(const std::vector<std::size_t>& places,
                    const std::vector<ScenarioRow>& scenarios) {
  if (scenarios.size() == 1) return "";
  if (places.size() == scenarios.size()) return "all: ";
  if (places.size() > 1 && places[0] == 1 && places.size() + 1 == scenarios.size()) {
    return "all but the first: ";
  }
  const std::string others =
      places.size() > 1 ? " and " + text::Counted(places.size() - 1, "more row") : "";
  return scenarios[places[0]].name + others + ": ";
}

}  // namespace

std::vector<std::string> RenderJobTable(const std::vector<Snapshot>& jobs,
                                        const TableOptions& options) {
  if (jobs.empty()) return {TableLine("no jobs", options)};
  std::vector<Row> rows = {{"JOB", "STATE", "DONE", "ELAPSED", "STAGE"}};
  if (options.is_wide) {
    rows[0].insert(rows[0].end(),
                   {"METHOD", "THROUGHPUT", "PREDICTED", "NAME", "KIND", "USER", "QUEUE"});
  }
  rows[0].push_back("END");
  const auto printable = [&](const std::string& text) {
    return text.empty() ? "-" : Printable(text, options.text.unicode);
  };
  for (const Snapshot& job : jobs) {
    const std::optional<Snapshot> headline = HeadlineOf(job);
    const Snapshot& main = headline ? *headline : job;
    Row row = {Printable(job.job_id, options.text.unicode), ListedState(job),
               PercentText(main, main.estimate, options.text), ElapsedText(job),
               job.is_final ? "" : CurrentStep(job)};
    if (options.is_wide) {
      const JobInfo info = job.info.value_or(JobInfo());
      row.insert(row.end(), {printable(MethodText(main.estimate, options.text)),
                             printable(ThroughputText(job.throughput)),
                             printable(FirstForecastText(job)), printable(info.name), KindName(job),
                             printable(info.user), printable(info.queue)});
    }
    row.push_back(EndCell(job, options.text));
    rows.push_back(std::move(row));
  }
  ShortenIds(options, rows);
  return RenderTable(rows, options);
}

std::vector<std::string> RenderJobList(std::vector<Snapshot> jobs, std::size_t lines_max,
                                       const TableOptions& options) {
  const auto place = [](const Snapshot& job) {
    return std::pair(!job.is_final, job.started_at.value_or(absl::InfiniteFuture()));
  };
  std::stable_sort(jobs.begin(), jobs.end(), [&](const Snapshot& one, const Snapshot& other) {
    return place(one) > place(other);
  });
  const bool is_cut = jobs.size() + 1 > lines_max;  // below the heading
  const std::size_t left_out = is_cut ? jobs.size() - (lines_max - 2) : 0;
  jobs.resize(jobs.size() - left_out);
  std::vector<std::string> lines = RenderJobTable(jobs, options);
  if (is_cut) lines.push_back(TableLine(fmt::format("and {} more jobs", left_out), options));
  return lines;
}

std::vector<std::string> RenderStageTable(const Snapshot& snapshot, const TableOptions& options) {
  if (snapshot.stages.empty()) return {TableLine("no stages", options)};
  const bool has_jobs = !snapshot.children.empty();
  Row heading = {"STAGE", "DONE", "TASKS", "RUNNING", "FAILED"};
  if (has_jobs) heading.insert(heading.begin(), "JOB");
  if (options.is_wide) heading.insert(heading.end(), {"TASK TIME", "BOTTLENECK", "THROUGHPUT"});
  heading.push_back("STATE");
  std::vector<Row> rows = {std::move(heading)};
  const std::vector<std::string> names = StageNames(snapshot, options.text);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const StageProgress& stage = snapshot.stages[i];
    const bool is_done = stage.state == StageState::kDone || stage.state == StageState::kSkipped;
    Row row = {names[i], fmt::format("{} %", ShownPercent(stage.fraction_done, is_done)),
               fmt::format("{}/{}", stage.finished_tasks, stage.tasks),
               fmt::to_string(stage.running_tasks), fmt::to_string(stage.failed_attempts)};
    if (has_jobs) row.insert(row.begin(), NameOfChild(snapshot, stage.id.child, options.text));
    if (options.is_wide) {
      row.push_back(stage.task_time ? DurationText(*stage.task_time) : "-");
      row.push_back(stage.bottleneck.empty() ? "-"
                                             : Printable(stage.bottleneck, options.text.unicode));
      row.push_back(OrDash(ThroughputText(stage.throughput)));
    }
    row.push_back(StageStateText(snapshot, stage, options.text) +
                  (stage.is_critical ? std::string(", ") + kCriticalPath : ""));
    rows.push_back(std::move(row));
  }
  return RenderTable(rows, options);
}

namespace {

std::string WhyNoTask(const Snapshot& snapshot) {
  if (snapshot.is_final) return "the job has ended";
  const JobKind kind = snapshot.info ? snapshot.info->kind : JobKind::kUnknown;
  if (snapshot.estimate.state != EstimateState::kValid) {
    return "the task that delays the job is unknown: there is no estimate yet";
  }
  return kind == JobKind::kApplication ? "no running task is late or the last of its stage"
                                       : "the task that will end last is still unknown";
}

}  // namespace

std::vector<std::string> RenderTaskTable(const Snapshot& snapshot, const TableOptions& options,
                                         const JobTasks& running) {
  if (snapshot.named_tasks.empty()) return {TableLine(WhyNoTask(snapshot), options)};
  std::vector<Row> rows = {{"TASK", "HOST", "LEFT"}};
  if (options.is_wide) rows[0].push_back("THROUGHPUT");
  rows[0].push_back("WHY");
  for (const NamedTask& task : snapshot.named_tasks) {
    Row row = {TaskText(snapshot, task, options.text),
               OrDash(Printable(task.host, options.text.unicode)), DurationOr(task.remaining, "-")};
    if (options.is_wide) {
      const auto attempt = std::ranges::find(running.tasks, task.attempt, &TaskProgress::attempt);
      row.push_back(attempt == running.tasks.end() ? "-"
                                                   : OrDash(ThroughputText(attempt->throughput)));
    }
    row.push_back(Printable(task.reason, options.text.unicode));
    rows.push_back(std::move(row));
  }
  return RenderTable(rows, options);
}

namespace {

std::string OutcomeText(const TaskProgress& task, const TextOptions& options) {
  const std::string cause =
      task.failure.empty() ? "" : ": " + Printable(task.failure, options.unicode);
  switch (task.state) {
    case AttemptState::kFinished:
      return "finished";
    case AttemptState::kFailed:
      return "failed" + cause;
    case AttemptState::kKilled:
      return "killed" + cause;
    case AttemptState::kObsolete:
      return "finished; its output was lost";
    case AttemptState::kQueued:
    case AttemptState::kStarted:
    case AttemptState::kShuffled:
    case AttemptState::kLost:
      break;
  }
  return kNoReportedEnd;
}

}  // namespace

std::vector<std::string> RenderEndedTasks(const Snapshot& snapshot, const JobTasks& tasks,
                                          const TableOptions& options) {
  if (tasks.tasks.empty()) return {TableLine("no task was reported", options)};
  std::vector<Row> rows = {{"TASK", "HOST", "TOOK", "THROUGHPUT", "STATE"}};
  const std::size_t shown = std::min(tasks.tasks.size(), kEndedTasksMax);
  for (std::size_t i = 0; i < shown; ++i) {
    const TaskProgress& task = tasks.tasks[i];
    std::string name = TaskText(snapshot, {.attempt = task.attempt}, options.text);
    if (task.is_speculative) name += ", speculative";
    std::string took = "-";
    if (task.started_at) {
      took = (task.ended_at ? "" : "> ") +
             ElapsedText(task.ended_at.value_or(std::max(tasks.at, *task.started_at)) -
                         *task.started_at);
    }
    rows.push_back({std::move(name), OrDash(Printable(task.host, options.text.unicode)),
                    std::move(took), OrDash(ThroughputText(task.throughput)),
                    OutcomeText(task, options.text)});
  }
  std::vector<std::string> lines = RenderTable(rows, options);
  if (const std::size_t more = tasks.tasks.size() + tasks.tasks_left_out - shown; more > 0) {
    lines.push_back(TableLine(
        fmt::format("{} less time; -o json lists up to 2,000 attempts",
                    more == 1 ? "1 more attempt took" : fmt::format("{} more attempts took", more)),
        options, Style::kDim));
  }
  return lines;
}

std::vector<std::string> RenderEstimate(const Outcome& outcome, const TableOptions& options) {
  const Snapshot& snapshot = outcome.snapshot;
  if (snapshot.is_final) {
    std::string how = StateName(snapshot);
    if (!snapshot.message.empty()) {
      how += fmt::format(" ({})", Printable(snapshot.message, options.text.unicode));
    }
    return {TableLine(
        fmt::format("{}: {}; there is nothing to estimate", JobTitle(snapshot, options.text), how),
        options)};
  }
  RemainingWords remaining = DescribeRemaining(snapshot, snapshot.estimate, options.text);
  const bool has_begun = snapshot.state != JobState::kQueued;
  if (!has_begun && remaining.about.ends_with(kLeft)) {
    remaining.about = "takes " + remaining.about.substr(0, remaining.about.size() - kLeft.size());
  }
  std::string whole = fmt::format("{}: {}", JobTitle(snapshot, options.text), remaining.text());
  if (outcome.busy_share) whole += ", " + BusyText(outcome) + " of the slots' time used";
  std::vector<std::string> lines = {TableLine(whole, options)};
  const bool has_jobs = !snapshot.children.empty();
  std::vector<Row> rows = {
      {has_jobs && snapshot.stages.empty() ? "JOB" : "STAGE", "STARTS", "ENDS", ""}};
  // Rounds a time like the end in the first line, or to the second like the states.
  const auto instant = [&](const std::optional<Range>& range) -> std::string {
    const std::optional<Range>& end = snapshot.estimate.remaining;
    if (!range || !end || !outcome.states.empty()) return DurationOr(range, "-");
    return DurationText(RoundedWithin(range->median, *end));
  };
  std::vector<std::string> names = StageNames(snapshot, options.text);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const StageProgress& stage = snapshot.stages[i];
    if (has_jobs) {
      names[i] = NameOfChild(snapshot, stage.id.child, options.text) + "/" + names[i];
    }
    rows.push_back({names[i], instant(stage.starts_in), instant(stage.ends_in),
                    AboutEnd(stage.is_critical, stage.bottleneck,
                             stage.ends_in && IsEndGuessed(snapshot, stage), options.text)});
  }
  const std::vector<Part> parts = PartsOf(snapshot, options.text);
  for (std::size_t i = 0; i < snapshot.children.size(); ++i) {
    const Child& child = snapshot.children[i];
    const auto is_of_child = [&](const StageProgress& stage) {
      return stage.id.child == child.number;
    };
    if (std::any_of(snapshot.stages.begin(), snapshot.stages.end(), is_of_child)) continue;
    const bool is_guess = child.estimate.remaining && child.estimate.basis == Basis::kGuess;
    rows.push_back({parts[i].name, instant(child.starts_in), instant(child.estimate.remaining),
                    HasEnded(child) ? parts[i].state
                                    : AboutEnd(child.is_critical, "", is_guess, options.text)});
  }
  if (rows.size() == 1) return lines;
  for (std::string& line : RenderTable(rows, options)) lines.push_back(std::move(line));
  const auto is_critical = [](const auto& part) { return part.is_critical; };
  if (std::ranges::any_of(snapshot.stages, is_critical) ||
      std::ranges::any_of(snapshot.children, is_critical)) {
    lines.push_back(TableLine(fmt::format("{}: each entry waits for the previous entry; other jobs "
                                          "may occupy the slots it needs",
                                          kCriticalPath),
                              options, Style::kDim));
  }
  if (!outcome.states.empty()) {
    for (std::string& line : RenderStates(outcome, names, options)) {
      lines.push_back(std::move(line));
    }
    lines.push_back(
        TableLine("STATE has mean task times; STARTS and ENDS are medians over varying task times",
                  options, Style::kDim));
  }
  return lines;
}

std::vector<std::string> RenderScenarios(const std::vector<ScenarioRow>& scenarios,
                                         const TableOptions& options) {
  const bool has_hours =
      std::any_of(scenarios.begin(), scenarios.end(),
                  [](const ScenarioRow& row) { return row.core_hours.has_value(); });
  const bool has_binding = std::any_of(scenarios.begin(), scenarios.end(),
                                       [](const ScenarioRow& row) { return !row.binding.empty(); });
  // Plans and logged runs are estimated from their start.
  const bool is_whole = std::all_of(scenarios.begin(), scenarios.end(), [](const ScenarioRow& row) {
    return row.outcome.snapshot.state == JobState::kQueued;
  });
  std::vector<Row> rows = {
      {"SCENARIO", is_whole ? "TAKES" : "ENDS IN", "5 %", "95 %", "BUSY", "SPEED-UP"}};
  if (has_hours) rows[0].push_back("CORE-HOURS");
  if (has_binding) rows[0].push_back("BOUND BY");
  const auto median = [](const Outcome& outcome) {
    const std::optional<Range>& remaining = outcome.snapshot.estimate.remaining;
    return remaining ? absl::ToDoubleSeconds(remaining->median) : 0;
  };
  const auto is_known = [](double end) { return end > 0 && std::isfinite(end); };
  const double first = scenarios.empty() ? 0 : median(scenarios.front().outcome);
  for (const ScenarioRow& scenario : scenarios) {
    const Outcome& outcome = scenario.outcome;
    const std::optional<double>& core_hours = scenario.core_hours;
    const std::optional<Range>& remaining = outcome.snapshot.estimate.remaining;
    const double seconds = median(outcome);
    const double compared = scenario.as_it_is ? absl::ToDoubleSeconds(*scenario.as_it_is) : first;
    Row row = {
        Printable(scenario.name, options.text.unicode),
        DurationOr(remaining, "-"),
        remaining && remaining->lower ? DurationText(*remaining->lower) : "-",
        remaining && remaining->upper ? CeilingText(*remaining->upper) : "-",
        BusyText(outcome),
        is_known(compared) && is_known(seconds) ? fmt::format("{:.2f}x", compared / seconds) : "-"};
    if (has_hours) {
      row.push_back(core_hours && is_known(*core_hours)
                        ? (*core_hours < 10 ? fmt::format("{:.2g}", *core_hours)
                                            : fmt::format("{:.0f}", *core_hours))
                        : "-");
    }
    if (has_binding) row.push_back(scenario.binding.empty() ? "-" : scenario.binding);
    rows.push_back(std::move(row));
  }
  return RenderTable(rows, options);
}

std::vector<std::string> RenderRemarks(const std::vector<ScenarioRow>& scenarios,
                                       const TextOptions& options) {
  std::vector<std::string> remarks;  // in order of first use
  std::map<std::string, std::vector<std::size_t>> rows_of;
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    for (const std::string& remark : scenarios[i].remarks) {
      std::vector<std::size_t>& rows = rows_of[remark];
      if (rows.empty()) remarks.push_back(remark);
      if (rows.empty() || rows.back() != i) rows.push_back(i);
    }
  }
  std::vector<std::string> lines;
  for (const std::string& remark : remarks) {
    // A remark on a setting begins with the setting, and the name before it may end with the
    // setting.
    std::string names = NamesOf(rows_of[remark], scenarios);
    const std::string subject = remark.substr(0, remark.find(": ")) + ": ";
    if (remark.starts_with(subject) && names.ends_with(subject)) {
      names.resize(names.size() - subject.size());
    }
    lines.push_back(Printable(names + remark, options.unicode));
  }
  return lines;
}

}  // namespace tidemark::console
