#include "console/job_summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "console/deadline_wording.h"
#include "console/duration_text.h"
#include "console/text.h"
#include "console/wait_findings.h"
#include "text/size_text.h"

namespace tidemark::console {
namespace {

constexpr int kIndicatorNameMax = 24;
constexpr int kEndingLinesMax = 8;
constexpr std::size_t kFailedStagesMax = 2;

std::string PointsText(std::optional<double> points) {
  return points && *points >= 0 ? fmt::format("{:.1f}", std::min(*points, 100.0)) : "-";
}

std::string ShareText(std::optional<double> share) {
  if (!share || !(*share >= 0)) return "-";
  return fmt::format("{} %", static_cast<int>(100 * std::min(*share, 1.0)));
}

int WidestName(const Snapshot& snapshot, const TextOptions& options) {
  int columns = 0;
  for (const IndicatorError& error : snapshot.errors) {
    columns = std::max(columns, Columns(Printable(error.indicator, options.unicode)));
  }
  return std::min(columns, kIndicatorNameMax);
}

std::string ErrorRow(const std::string& name, const IndicatorError& error) {
  return fmt::format("{}{:>8}{:>8}{:>14}{:>8}{:>8}", name, PointsText(error.last_stage_avg_points),
                     PointsText(error.last_stage_max_points), ShareText(error.interval_coverage),
                     PointsText(error.job_avg_points), PointsText(error.job_max_points));
}

// Returns " at 41 %" for a job that ended early, or "" if its progress is unknown.
std::string ProgressAtEnd(const Snapshot& ended, const TextOptions& options) {
  if (ended.state == JobState::kSucceeded) return "";
  const std::string percent = PercentText(ended, ended.estimate, options);
  return percent == "-" ? "" : " at " + percent;
}

// Returns " (4 min 10 s predicted after 15 s)", or "" if there was no forecast.
std::string FirstForecast(const Snapshot& ended) {
  const std::string forecast = FirstForecastText(ended);
  if (forecast.empty()) return "";
  const absl::Duration after =
      ErrorOf(ended, ended.estimate.indicator)->first_forecast_after.value_or(absl::ZeroDuration());
  return fmt::format(" ({} predicted after {})", forecast, ElapsedText(after));
}

// Returns why stages failed although the application succeeded.
std::vector<std::string> FailedStages(const Snapshot& ended, const TextOptions& options) {
  std::vector<std::string> texts;
  const bool is_application = ended.info && ended.info->kind == JobKind::kApplication;
  if (ended.state != JobState::kSucceeded || !is_application) return texts;
  for (const StageProgress& stage : ended.stages) {
    if (stage.state != StageState::kFailed || texts.size() == kFailedStagesMax) continue;
    texts.push_back(fmt::format("{} failed: {}; the application continued without it",
                                StageName(ended, stage.id, options),
                                stage.failure.empty() ? "no cause was reported"
                                                      : Printable(stage.failure, options.unicode)));
  }
  return texts;
}

bool HasReduce(const Snapshot& snapshot) {
  return snapshot.info && snapshot.info->kind == JobKind::kMapReduce;
}

}  // namespace

std::vector<std::string> RenderSummary(const Snapshot& snapshot, int width,
                                       const TextOptions& options, const std::string& ending,
                                       bool compare) {
  std::vector<std::string> lines;
  const auto add = [&](Style style, const std::string& text) {
    lines.push_back(StyledLine().Add(style, text).Render(width, options));
  };
  const std::string title = JobTitle(snapshot, options);
  const std::string elapsed = ElapsedText(snapshot);
  // The caller may know the outcome of a job that did not report its end.
  const bool is_unreported =
      snapshot.state == JobState::kAbandoned || snapshot.state == JobState::kUnknownEnd;
  const bool is_ending_known = snapshot.is_final && (ending.empty() || !is_unreported);
  if (is_ending_known && !snapshot.started_at) {
    add(StateStyle(snapshot), fmt::format("{} {}{}; its duration is not reported", title,
                                          StateName(snapshot), ProgressAtEnd(snapshot, options)));
  } else if (is_ending_known) {
    const std::string due = DeadlineText(snapshot, options);
    add(StateStyle(snapshot), fmt::format("{} {}{} after {}{}{}{}", title, StateName(snapshot),
                                          ProgressAtEnd(snapshot, options), elapsed,
                                          FirstForecast(snapshot), due.empty() ? "" : ", ", due));
  } else if (!ending.empty()) {
    const std::string text = fmt::format("{} {}", title, Printable(ending, options.unicode));
    for (const std::string& line : WrapWords(text, width, kEndingLinesMax, options.unicode)) {
      add(Style::kWarning, line);
    }
  } else {
    add(Style::kWarning,
        fmt::format("{} was still running at its last report, after {}", title, elapsed));
  }
  if (snapshot.is_final && !snapshot.message.empty()) {
    add(Style::kPlain, Printable(snapshot.message, options.unicode));
  }
  for (const std::string& text : WarningTexts(snapshot, options)) add(Style::kWarning, text);
  for (const std::string& text : FailedStages(snapshot, options)) add(Style::kWarning, text);
  for (const Child& child : snapshot.children) {
    if (!child.started_at || !child.ended_at) continue;
    add(Style::kPlain, fmt::format("  {}: {}", Printable(child.name, options.unicode),
                                   ElapsedText(*child.ended_at - *child.started_at)));
  }
  if (!compare || snapshot.errors.empty()) return lines;

  const int name_columns = WidestName(snapshot, options);
  const std::string indent(static_cast<std::size_t>(name_columns), ' ');
  add(Style::kPlain, "Progress error by indicator, in percentage points");
  add(Style::kDim,
      fmt::format("{}  {:-^28}   {:-^13}", indent,
                  HasReduce(snapshot) ? " reduce phase " : " last stage ", " whole job "));
  add(Style::kDim, fmt::format("{}{:>8}{:>8}{:>14}{:>8}{:>8}", indent, "avg", "max", "end in range",
                               "avg", "max"));
  for (const IndicatorError& error : snapshot.errors) {
    const std::string name =
        Clip(Printable(error.indicator, options.unicode), name_columns, options.unicode);
    add(Style::kPlain, ErrorRow(PadRight(name, name_columns), error));
  }
  if (const std::string none = NoComparisonText(snapshot); !none.empty()) add(Style::kDim, none);
  return lines;
}

// --- how the time was spent ---

namespace {

// Chosen by hand. Smaller shares of the time are not shown.
constexpr double kStageShare = 0.5;
constexpr double kLoneShare = 0.2;
constexpr double kBeforeShare = 0.8;  // share of the idle time
constexpr double kGroupShare = 0.5;   // share of the time for which the task was alone
constexpr double kWaitedShare = 0.1;  // share of the time for which the task was alone
// Chosen by hand. Shorter jobs get no paragraph.
constexpr absl::Duration kShortest = absl::Seconds(10);

std::string Capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 32);
  return text;
}

constexpr const char* kHelpsOneKey = "a combiner, or splitting the key (salting), might help";

constexpr const char* kSlotsDoNotHelp = "more slots would not have helped";

bool IsWorkflow(const Snapshot& job) {
  return !job.children.empty() || (job.info && job.info->kind == JobKind::kWorkflow);
}

// Returns the longest task of the stage, or null if another stage has the longest task of its
// query.
const LongestTask* LongestOf(const Explanation& waits, StageId stage) {
  const LongestTask* longest = nullptr;
  for (const QueryWaits& query : waits.queries) {
    if (!query.longest_task || stage != StageId{0, query.longest_task->attempt.stage}) continue;
    if (!longest || query.longest_task->seconds > longest->seconds) longest = &*query.longest_task;
  }
  return longest;
}

// If there are several parts, returns a sentence about the part that took most of the time. The
// start of a stage is the arrival of its first report, so a task can take longer than its stage.
std::string LongestPart(const Snapshot& job, const Explanation* waits, const TextOptions& options) {
  struct Span {
    std::string name;
    absl::Duration took;
    StageId stage;
  };
  std::vector<Span> spans;
  const auto add = [&](std::string name, const auto& part) {
    if (part.started_at && part.ended_at && *part.ended_at > *part.started_at) {
      spans.push_back({std::move(name), *part.ended_at - *part.started_at, {}});
    }
  };
  for (const Child& child : job.children) add(Printable(child.name, options.unicode), child);
  if (job.children.empty()) {
    std::vector<std::string> names = StageNames(job, options);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::size_t before = spans.size();
      add(std::move(names[i]), job.stages[i]);
      if (spans.size() > before) spans.back().stage = job.stages[i].id;
    }
  }
  if (spans.size() < 2) return "";
  const Span& longest = *std::ranges::max_element(spans, {}, &Span::took);
  const bool is_worth_it = longest.took >= kStageShare * job.elapsed();
  if (!is_worth_it || longest.took > job.elapsed()) return "";
  const LongestTask* const task =
      job.children.empty() && waits != nullptr ? LongestOf(*waits, longest.stage) : nullptr;
  const absl::Duration least = absl::Seconds(task == nullptr ? 0 : task->seconds);
  const bool is_least = least > longest.took && least <= job.elapsed();
  return fmt::format("The longest {}, {}, took {}{} of {}.", job.children.empty() ? "stage" : "job",
                     longest.name, AtLeast(is_least), ElapsedText(is_least ? least : longest.took),
                     ElapsedText(job.elapsed()));
}

// Returns a sentence about the time in which no stage ran.
std::string Idle(const Snapshot& job) {
  const std::optional<IdleTime> idle = IdleTimeOf(job);
  const absl::Duration elapsed = job.elapsed();
  if (!idle || !IsNotable(absl::ToDoubleSeconds(idle->total), absl::ToDoubleSeconds(elapsed))) {
    return "";
  }
  if (job.info->kind == JobKind::kMapReduce) {
    const std::string text = BeforeFirstTaskText(idle->before_first, elapsed);
    return text.empty() ? "" : text + ".";
  }
  const char* const cause = job.info->engine == kSparkEngine
                                ? "the driver, or the wait for executors, took this time."
                                : "the application, or the wait for resources, took this time.";
  if (idle->before_first >= kBeforeShare * idle->total) {
    return fmt::format("{} of {} passed before the first task: {}", ElapsedText(idle->before_first),
                       ElapsedText(elapsed), cause);
  }
  return fmt::format("No task ran for {} of {}: {}", ElapsedText(idle->total), ElapsedText(elapsed),
                     cause);
}

// Returns the longest task of all queries that is worth reporting, or null. Ignores tasks longer
// than the job, which clock differences can cause, and tasks shorter than a tenth of the job.
const LongestTask* LongestFound(const Explanation& waits, absl::Duration elapsed) {
  const LongestTask* longest = nullptr;
  for (const QueryWaits& query : waits.queries) {
    const LongestTask* const task = FoundLongestTask(query);
    if (task == nullptr || absl::Seconds(task->seconds) > elapsed) continue;
    if (!IsNotable(task->seconds, absl::ToDoubleSeconds(elapsed))) continue;
    if (!longest || task->seconds > longest->seconds) longest = task;
  }
  return longest;
}

// Returns a sentence about the task that ran alone. `found` is the longest task, or null.
std::string Alone(const Snapshot& job, const LoneTask& lone, const LongestTask* found,
                  const TextOptions& options) {
  const absl::Duration alone = job.ended_at.value_or(job.at) - lone.since;
  if (alone < kLoneShare * job.elapsed()) return "";
  const bool is_found = found != nullptr && found->attempt == lone.attempt;
  const std::string where =
      is_found && !found->host.empty() ? " on " + Printable(found->host, options.unicode) : "";
  const std::string ran = fmt::format("{}{} ran alone for at least the last {}",
                                      Capital(TaskText(job, {.attempt = lone.attempt}, options)),
                                      where, DurationText(alone));
  const absl::Duration in_group = lone.group_until - lone.group_since;
  if (lone.group_bytes > 0 && in_group >= kGroupShare * alone) {
    return fmt::format("{}, at least {} of that in one key group of {}: {}; {}.", ran,
                       DurationText(in_group), text::SizeText(lone.group_bytes), kSlotsDoNotHelp,
                       kHelpsOneKey);
  }
  const std::string in_all =
      is_found ? fmt::format("{}; it took {}", ran, LongestTaskTimes(*found)) : ran;
  if (is_found && IsInOneGroup(*found)) {
    return fmt::format("{}: {}; {}.", in_all, kSlotsDoNotHelp, kHelpsOneKey);
  }
  return fmt::format(
      "{}: {}; tasks of equal length would, or a speculative attempt if its host was slow.", in_all,
      kSlotsDoNotHelp);
}

// The task may have waited for a slot, so the sentence does not mention slots. After a restart of
// the master, only the snapshot has the kind of the stage.
std::string Longest(const Snapshot& job, const LongestTask& task, const TextOptions& options) {
  LongestTask named = task;
  for (const StageInfo& info : job.stage_infos) {
    if (info.id == StageId{0, task.attempt.stage}) named.kind = info.kind;
  }
  const std::string took =
      fmt::format("{} took {}", Capital(LongestTaskText(named)), LongestTaskTimes(task));
  return Printable(
      IsInOneGroup(task)
          ? fmt::format("{}: {}.", took, kHelpsOneKey)
          : fmt::format("{}: if it read more data than the others, more even partitions would "
                        "help; if its host was slow, a speculative attempt would.",
                        took),
      options.unicode);
}

// Returns the longest wait of all queries that is worth reporting, or nullopt.
std::optional<WaitFinding> WorstWaitOf(const Explanation& waits, bool unicode) {
  std::optional<WaitFinding> worst;
  for (const QueryWaits& query : waits.queries) {
    if (!query.seconds) continue;
    for (WaitFinding& wait : WaitFindings(waits, query, ExplainQuestion().culprits_max, unicode)) {
      if (!IsNotable(wait.seconds, *query.seconds)) continue;
      if (!worst || wait.seconds > worst->seconds) worst = std::move(wait);
    }
  }
  return worst;
}

// Returns the sentence of `why` about the longest wait, and a remedy.
std::string Waited(const Explanation& waits, const TextOptions& options) {
  const std::optional<WaitFinding> worst = WorstWaitOf(waits, options.unicode);
  if (!worst) return "";
  return Printable(
      fmt::format("{}. {}{} might help.", worst->sentence,
                  Capital(std::string(InfoOf(worst->resource).remedy)),
                  worst->blames_jobs ? ", or running the jobs at different times," : ""),
      options.unicode);
}

// Returns a sentence about the query with the largest skew.
std::string Skewed(const Explanation& waits, const TextOptions& options) {
  const QueryWaits* worst = nullptr;
  for (const QueryWaits& query : waits.queries) {
    if (!query.skew_seconds || !query.seconds) continue;
    if (!IsNotable(*query.skew_seconds, *query.seconds)) continue;
    if (!worst || *query.skew_seconds > *worst->skew_seconds) worst = &query;
  }
  if (worst == nullptr) return "";
  return Printable(
      fmt::format(
          "Excluding waits, the longest tasks of {} took {} longer than the average task of their "
          "stages. If they read more data than the others, more even partitions would help.",
          worst->query.empty() ? "the job" : worst->query, SecondsText(*worst->skew_seconds)),
      options.unicode);
}

// Returns a sentence about the query whose data grew most since past runs.
std::string Grown(const Explanation& waits, const TextOptions& options) {
  const QueryWaits* worst = nullptr;
  for (const QueryWaits& query : waits.queries) {
    const auto& growth = query.data_growth;
    if (!growth || !IsNotable(growth->task_seconds, growth->all_task_seconds)) continue;
    if (!worst || growth->task_seconds > worst->data_growth->task_seconds) worst = &query;
  }
  if (worst == nullptr) return "";
  return Printable(fmt::format("Stages of {} {}.", worst->query.empty() ? "the job" : worst->query,
                               GrowthText(*worst->data_growth, options.unicode)),
                   options.unicode);
}

bool HasWaits(const Explanation& waits) {
  return std::ranges::any_of(waits.queries, [](const QueryWaits& query) {
    return !query.culprits.empty() || std::ranges::any_of(kWaitReasons, [&](WaitReason resource) {
      return query.waits[resource].seconds.has_value();
    });
  });
}

// Returns why some waits of the job are unknown, or the sentence that none is worth reporting. The
// time before the first task may be a wait.
std::string NotKnown(const Snapshot& job, const Explanation& waits, const TextOptions& options) {
  if (waits.queries.empty()) {
    return waits.more_to_come
               ? "The job's waits are unknown: reports of other tasks were missing when it ended."
               : "The job's waits are unknown: the master has no reports of its running tasks.";
  }
  if (!HasWaits(waits)) return "The job's waits are unknown: its tasks reported none.";
  std::vector<std::string> sentences;
  if (!WorstWaitOf(waits, options.unicode) && Idle(job).empty()) {
    sentences.emplace_back("No known wait took 10 % or more of the job's time.");
  }
  if (waits.is_partial) {
    const absl::Duration unseen =
        job.started_at ? waits.since - *job.started_at : absl::ZeroDuration();
    sentences.push_back(
        unseen >= absl::Seconds(1)
            ? fmt::format("The waits of the job's first {} are unknown: the master was restarted, "
                          "or the job began before its first report.",
                          ElapsedText(unseen))
            : "The job's waits are incomplete: the job exceeded the master's limits.");
  }
  const absl::Duration behind = job.ended_at.value_or(job.at) - waits.at;
  if (waits.more_to_come &&
      IsNotable(absl::ToDoubleSeconds(behind), absl::ToDoubleSeconds(job.elapsed()))) {
    sentences.push_back(fmt::format(
        "The waits of the job's last {} are unknown: reports of other tasks were missing when it "
        "ended.",
        ElapsedText(behind)));
  }
  return fmt::format("{}", fmt::join(sentences, " "));
}

// Returns the running task if all other tasks have ended, or null.
const NamedTask* OnlyTask(const Snapshot& job) {
  const Counts& counts = job.counts;
  const bool is_last = counts.running_tasks == 1 && counts.finished_tasks > 0 &&
                       counts.tasks == counts.finished_tasks + 1;
  if (job.is_final || !is_last || job.named_tasks.empty() || counts.children > 0) return nullptr;
  return &job.named_tasks.front();
}

// Returns `lone`, updated by a snapshot in which only `task` runs.
LoneTask After(const std::optional<LoneTask>& lone, const NamedTask& task, absl::Time at) {
  LoneTask now = lone && lone->attempt == task.attempt
                     ? *lone
                     : LoneTask{.attempt = task.attempt, .since = at};
  if (!task.in_heaviest_group || task.heaviest_group_bytes == 0) return now;
  if (now.group_bytes != task.heaviest_group_bytes) {
    now.group_bytes = task.heaviest_group_bytes;
    now.group_since = at;
  }
  now.group_until = at;
  return now;
}

}  // namespace

std::string BeforeFirstTaskText(absl::Duration before, absl::Duration total) {
  if (!IsNotable(absl::ToDoubleSeconds(before), absl::ToDoubleSeconds(total))) return "";
  return fmt::format(
      "{} of {} passed before the first task: the start of the job, or its wait for slots, took "
      "this time",
      ElapsedText(before), ElapsedText(total));
}

std::optional<IdleTime> IdleTimeOf(const Snapshot& ended) {
  const bool has_stages = ended.info && (ended.info->kind == JobKind::kApplication ||
                                         ended.info->kind == JobKind::kMapReduce);
  if (!has_stages || !ended.started_at) return std::nullopt;
  std::vector<std::pair<absl::Time, absl::Time>> spans;
  for (const StageProgress& stage : ended.stages) {
    const auto end = stage.ended_at ? stage.ended_at : ended.ended_at;
    if (stage.started_at && end) spans.emplace_back(*stage.started_at, *end);
  }
  if (spans.empty()) return std::nullopt;
  std::ranges::sort(spans);
  absl::Duration busy;
  absl::Time until = spans.front().first;
  for (const auto& [began, end] : spans) {
    busy += std::max(end - std::max(began, until), absl::ZeroDuration());
    until = std::max(until, end);
  }
  return IdleTime{std::max(ended.elapsed() - busy, absl::ZeroDuration()),
                  std::max(spans.front().first - *ended.started_at, absl::ZeroDuration())};
}

void LoneTaskWatch::Add(const Snapshot& next) {
  if (next.is_final) return;
  seen_at_ = next.at;
  for (const StageProgress& stage : next.stages) {
    const bool waits =
        stage.running_tasks > 0 && stage.tasks > stage.running_tasks + stage.finished_tasks;
    if (!waits || stage.id.child != 0) continue;
    waiting_.try_emplace(stage.id.stage, Waiting{.since = next.at}).first->second.until = next.at;
  }
  const NamedTask* const task = OnlyTask(next);
  lone_ = task == nullptr ? std::nullopt : std::optional(After(lone_, *task, next.at));
}

std::optional<LoneTask> LoneTaskWatch::task() const {
  if (!lone_) return std::nullopt;
  const auto waiting = waiting_.find(lone_->attempt.stage);
  if (waiting == waiting_.end()) return lone_;
  const absl::Duration waited = waiting->second.until - waiting->second.since;
  return waited > kWaitedShare * (seen_at_ - lone_->since) ? std::nullopt : lone_;
}

std::string TimeSpentText(const Snapshot& ended, const std::optional<LoneTask>& lone,
                          const absl::StatusOr<Explanation>& waits, const TextOptions& options) {
  const bool is_shown =
      ended.is_final && ended.state == JobState::kSucceeded && ended.elapsed() >= kShortest;
  if (!is_shown) return "";
  const LongestTask* const longest = waits.ok() ? LongestFound(*waits, ended.elapsed()) : nullptr;
  std::vector<std::string> sentences = {
      Idle(ended), LongestPart(ended, waits.ok() ? &*waits : nullptr, options)};
  std::string of_task;
  if (lone) of_task = Alone(ended, *lone, longest, options);
  if (of_task.empty() && longest != nullptr) of_task = Longest(ended, *longest, options);
  sentences.push_back(of_task);
  if (IsWorkflow(ended)) {
    sentences.emplace_back("`tidemark why JOB` shows the waits of each job.");
  } else if (!waits.ok()) {
    sentences.push_back(Printable(
        fmt::format("The job's waits are unknown: {}.", std::string(waits.status().message())),
        options.unicode));
  } else {
    sentences.push_back(Waited(*waits, options));
    if (of_task.empty()) sentences.push_back(Skewed(*waits, options));
    sentences.push_back(Grown(*waits, options));
    sentences.push_back(NotKnown(ended, *waits, options));
  }
  std::erase(sentences, "");
  return fmt::format("{}", fmt::join(sentences, " "));
}

}  // namespace tidemark::console
