#include "console/job_wording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "console/duration_text.h"
#include "text/counted.h"
#include "text/size_text.h"

namespace tidemark::console {
namespace {

// The largest fraction that does not round to a full bar.
constexpr double kRunningMax = 0.999;
// Largest ratio of the bounds of the whole time of an estimate that is not a guess. Chosen by hand.
constexpr double kBoundsRatioMax = 10;
// Share of the remaining work for which ended work must provide evidence if there is no interval.
// Chosen by hand.
constexpr double kKnownShareMin = 0.5;
// Coverage::silent_tasks counts tasks that have sent no report for this long.
constexpr absl::Duration kTaskSilence = absl::Seconds(10);
// Maximum numbers of lines. Chosen by hand; more lines would push the bars off a small screen.
constexpr std::size_t kNotesMax = 5;
constexpr std::size_t kFailuresMax = 2;
constexpr char kUnknownLeft[] = "remaining time unknown";
constexpr char kUnknownEnd[] = "unknown (no end reported)";

bool HasSucceeded(const Snapshot& snapshot) { return snapshot.state == JobState::kSucceeded; }

JobKind KindOf(const Snapshot& snapshot) {
  return snapshot.info ? snapshot.info->kind : JobKind::kUnknown;
}

// Returns the entry with this id of a sorted list, or null.
template <typename Entry, typename Id>
const Entry* Find(const std::vector<Entry>& entries, const Id& id, Id Entry::*id_of) {
  const auto place = std::ranges::lower_bound(entries, id, {}, id_of);
  return place != entries.end() && (*place).*id_of == id ? &*place : nullptr;
}

const StageInfo* InfoOf(const Snapshot& snapshot, StageId id) {
  return Find(snapshot.stage_infos, id, &StageInfo::id);
}

// Returns the number of a stage. Expected stages are numbered separately, starting at 0.
std::string NumberText(StageId id) {
  if (id.stage < kExpectedStages) return fmt::format("stage {}", id.stage);
  return fmt::format("expected stage {}", id.stage - kExpectedStages);
}

StageKind KindOf(const Snapshot& snapshot, StageId id) {
  const StageInfo* info = InfoOf(snapshot, id);
  return info == nullptr ? StageKind::kUnknown : info->kind;
}

std::string StillRunning(const Snapshot& snapshot, const TextOptions& options) {
  if (!snapshot.named_tasks.empty()) {
    return TaskText(snapshot, snapshot.named_tasks.front(), options);
  }
  const std::uint64_t running = snapshot.counts.running_tasks;
  return running == 0 ? "the job" : text::Counted(running, "task");
}

bool IsTidemark(const Estimate& estimate) {
  return estimate.indicator.empty() || estimate.indicator.starts_with("tidemark");
}

// Returns why there is no estimate yet. `tidemark` also uses map tasks, whereas other indicators
// need a reduce function.
RemainingWords WarmingUpWords(const Snapshot& snapshot, const Estimate& estimate) {
  const auto words = [](const char* for_what) {
    return RemainingWords{"no estimate yet", ": ", for_what};
  };
  if (KindOf(snapshot) == JobKind::kApplication) {
    if (snapshot.counts.tasks > 0 && snapshot.counts.running_tasks == 0) {
      return words("no task is running");
    }
    // A note explains why there is no estimate although tasks have ended.
    if (snapshot.counts.finished_tasks > 0) return {.about = "no estimate"};
    return words("waiting for the first tasks to end");
  }
  if (KindOf(snapshot) == JobKind::kWorkflow || snapshot.stages.empty()) {
    const bool has_begun = KindOf(snapshot) != JobKind::kUnknown || snapshot.counts.stages > 0;
    return has_begun ? RemainingWords{.about = "no estimate yet"} : words("no stage has begun");
  }
  bool has_reduce = false;
  bool maps_are_done = true;
  for (const StageProgress& stage : snapshot.stages) {
    const StageKind kind = KindOf(snapshot, stage.id);
    has_reduce = has_reduce || kind == StageKind::kReduce;
    if (kind == StageKind::kMap && stage.state != StageState::kDone) maps_are_done = false;
  }
  if (!has_reduce) return words("waiting for the first input to be read");
  const bool uses_maps = !maps_are_done && IsTidemark(estimate);
  return words(uses_maps ? "waiting for the first map results"
                         : "waiting for the first reduce results");
}

RemainingWords KnownWords(const KnownRemaining& known, const TextOptions& options) {
  const bool is_near = known.remaining <= absl::ZeroDuration();
  if (is_near && known.upper > text::kLongestSaid) return {.about = kUnknownLeft};
  RemainingWords words{.about = is_near ? "about to end"
                                        : AboutText(known.remaining, options) + " left"};
  if (!known.has_range || known.lower == known.upper) return words;
  words.joint = " ";
  words.detail = fmt::format("({})", RangeText(known.lower, known.upper, options.unicode));
  return words;
}

KnownRemaining Known(const Range& range) {
  return RoundToKnown(range.median, range.lower, range.upper);
}

// A phase of a MapReduce job. The shuffle is the first part of the reduce tasks.
struct Phase {
  const char* name = "";
  StageState state = StageState::kPending;
  std::string place;  // progress, once the phase has started
};

// Returns a percentage below 100.
std::string PlaceText(double fraction) {
  return fmt::format("{} %", ShownPercent(std::min(fraction, 0.99), false));
}

bool HasBegun(StageState state) {
  return state == StageState::kRunning || state == StageState::kFailed ||
         state == StageState::kUnknownEnd;
}

std::vector<Phase> PhasesOf(const Snapshot& snapshot) {
  std::vector<Phase> phases;
  for (const StageProgress& stage : snapshot.stages) {
    const StageKind kind = KindOf(snapshot, stage.id);
    const char* const name = kind == StageKind::kMap      ? "map"
                             : kind == StageKind::kReduce ? "reduce"
                                                          : "stage";
    if (kind != StageKind::kReduce) {
      phases.push_back({name, stage.state, PlaceText(stage.fraction_done)});
      continue;
    }
    // The percentage of the reduce tasks is close to that of the job, so their count is more
    // informative.
    Phase reduce = {name, stage.state,
                    fmt::format("{}/{} tasks", stage.finished_tasks, stage.tasks)};
    if (stage.shuffle) {
      const ShuffleProgress& shuffle = *stage.shuffle;
      const bool is_done = stage.state == StageState::kDone ||
                           (stage.tasks > 0 && shuffle.finished_tasks >= stage.tasks);
      const bool has_begun =
          shuffle.finished_tasks > 0 || shuffle.running_tasks > 0 || shuffle.fraction_done > 0;
      phases.push_back({"shuffle",
                        is_done     ? StageState::kDone
                        : has_begun ? StageState::kRunning
                                    : StageState::kPending,
                        PlaceText(shuffle.fraction_done)});
      // The reduce phase starts with the first task that has fetched its input.
      const bool reduces = shuffle.finished_tasks > 0 || stage.finished_tasks > 0;
      if (HasBegun(stage.state) && !reduces) reduce.state = StageState::kPending;
    }
    phases.push_back(reduce);
  }
  return phases;
}

// Returns the steps of a job that ended without success: the completed work, and the point at which
// the other steps stopped.
std::vector<Step> StepsWhereItEnded(const Snapshot& snapshot, const std::vector<Phase>& phases) {
  const bool is_end_known =
      snapshot.state != JobState::kAbandoned && snapshot.state != JobState::kUnknownEnd;
  const char* const at = is_end_known ? "stopped at" : "last reported at";
  std::vector<Step> steps;
  std::optional<std::size_t> current;
  for (const Phase& phase : phases) {
    if (phase.state == StageState::kDone) {
      steps.push_back({.text = fmt::format("{} done", phase.name)});
    } else if (HasBegun(phase.state)) {
      // The phases are consecutive, except that some tasks fetch while other tasks reduce.
      const bool is_next_of_shuffle = current && steps[*current].text.starts_with("shuffle");
      if (!current || is_next_of_shuffle) current = steps.size();
      steps.push_back({.text = fmt::format("{} {} {}", phase.name, at, phase.place)});
    }
  }
  if (!steps.empty()) steps[current.value_or(steps.size() - 1)].is_current = true;
  return steps;
}

std::string DoneText(std::uint64_t finished, std::uint64_t all, const char* what) {
  return fmt::format("{} of {} {}", finished, all, what);
}

// Returns the numbers of a bar. The bounds enclose the fraction, which may move back slowly.
ShownProgress ProgressOf(const Estimate& estimate, bool has_succeeded) {
  const auto shown = [&](double fraction) { return ShownFraction(fraction, has_succeeded); };
  const double fraction = shown(estimate.fraction_done);
  ShownProgress progress = {.fraction = fraction,
                            .lower = fraction,
                            .upper = fraction,
                            .is_estimate = !has_succeeded && fraction > 0};
  if (!HasBounds(estimate)) return progress;
  progress.lower = std::min(shown(estimate.fraction_done_lower), fraction);
  progress.upper = std::max(shown(estimate.fraction_done_upper), fraction);
  return progress;
}

bool HasInterval(const std::optional<Range>& left) { return left && left->lower && left->upper; }

// Returns true if the bounds of the whole time are too far apart for one number.
bool IsWide(absl::Duration elapsed, const std::optional<Range>& left) {
  return HasInterval(left) && elapsed + *left->upper > kBoundsRatioMax * (elapsed + *left->lower);
}

// Returns true if a workflow may grow, or if the estimate of an application that may grow does not
// contain most of its work.
bool MayGrow(const Snapshot& snapshot, const Estimate& estimate) {
  if (!snapshot.may_grow || snapshot.is_final) return false;
  if (KindOf(snapshot) != JobKind::kApplication) return true;
  return HasInterval(estimate.remaining) ? IsWide(snapshot.elapsed(), estimate.remaining)
                                         : estimate.known_share < kKnownShareMin;
}

// Returns why an estimate is a guess, or "" if it is not.
std::string GuessText(const Snapshot& snapshot, const Estimate& estimate, absl::Duration elapsed) {
  if (!estimate.remaining) return "";
  if (estimate.basis != Basis::kGuess) {
    if (snapshot.state == JobState::kQueued) return "";
    if (MayGrow(snapshot, estimate)) return "a guess";  // its steps contain "more may come"
    return IsWide(elapsed, estimate.remaining) ? "a guess: few results yet" : "";
  }
  switch (estimate.method) {
    case EstimateMethod::kOtherJobs:
      return "a guess from other jobs";
    case EstimateMethod::kMapPhase:
      return "a guess from the map phase";
    case EstimateMethod::kBytesRead:
      return "a guess from the bytes read";
    default:
      return "a guess";
  }
}

// Returns true if the job runs, nothing in this run supports its estimate, and the bounds are
// missing or far apart.
bool IsUnsupported(const Snapshot& snapshot, const Estimate& estimate, absl::Duration elapsed) {
  return snapshot.state != JobState::kQueued && estimate.state == EstimateState::kValid &&
         estimate.basis == Basis::kGuess && estimate.method != EstimateMethod::kMapPhase &&
         (!HasInterval(estimate.remaining) || IsWide(elapsed, estimate.remaining));
}

// Returns the numbers of a bar without the number of an unsupported guess.
ShownProgress WithoutGuess(const Snapshot& snapshot, const Estimate& estimate,
                           absl::Duration elapsed, ShownProgress shown) {
  if (!IsUnsupported(snapshot, estimate, elapsed)) return shown;
  if (!HasInterval(estimate.remaining)) return {.has_number = false};
  return {.fraction = shown.lower, .lower = shown.lower, .upper = shown.upper, .has_number = false};
}

std::uint32_t CountOf(const Snapshot& snapshot, StageState state) {
  return static_cast<std::uint32_t>(
      std::ranges::count(snapshot.stages, state, &StageProgress::state));
}

// Marks the progress of a job that may grow.
std::string WithGrowth(const Snapshot& snapshot, const std::string& progress) {
  return MayGrow(snapshot, snapshot.estimate) ? progress + ", more may come" : progress;
}

// Returns the progress in stages. The smallest view has no stages, only the number of ended stages.
std::string StagesText(const Snapshot& snapshot) {
  const Counts& counts = snapshot.counts;
  const std::uint32_t expected = CountOf(snapshot, StageState::kExpected);
  if (counts.stages == 0) return text::Counted(expected, "stage") + " expected";
  if (snapshot.stages.empty() && counts.finished_stages > 0) {
    return DoneText(counts.finished_stages, counts.stages, "stages done or skipped");
  }
  const std::uint32_t skipped =
      std::min(CountOf(snapshot, StageState::kSkipped), counts.finished_stages);
  const std::uint32_t done = counts.finished_stages - skipped;
  const std::uint32_t all = counts.stages - skipped + expected;
  // Expected stages come from a plan or from past runs.
  std::string text = expected > 0 ? fmt::format("{} of about {} stages done", done, all)
                                  : DoneText(done, all, "stages done");
  const std::uint32_t failed = CountOf(snapshot, StageState::kFailed);
  if (failed > 0) text += fmt::format(", {} failed", failed);
  if (skipped > 0) text += fmt::format(", {} skipped", skipped);
  return WithGrowth(snapshot, text);
}

// Returns the progress of an application whose headline is a group. Groups outside of SQL are jobs.
// The smallest view has only the group of the headline.
std::string GroupsText(const Snapshot& snapshot) {
  const std::uint32_t done = snapshot.counts.finished_groups;
  const auto is_job = [](std::string_view group) { return group.starts_with("job/"); };
  const bool is_headline_job = is_job(snapshot.headline_group);
  const bool is_mixed = std::ranges::any_of(
      snapshot.groups, [&](const Group& group) { return is_job(group.group) != is_headline_job; });
  const char* const noun = is_mixed          ? (done == 1 ? "query or job" : "queries and jobs")
                           : is_headline_job ? (done == 1 ? "job" : "jobs")
                                             : (done == 1 ? "query" : "queries");
  return fmt::format("{} {} done, more may come", done, noun);
}

std::string GroupName(const Group& group) {
  return group.name.empty() ? group.group : group.group + " " + group.name;
}

// Returns the shown remaining time; zero if unknown.
absl::Duration ShownEnd(const std::optional<Range>& ends_in) {
  return ends_in ? Known(*ends_in).remaining : absl::ZeroDuration();
}

// Describes the start of a part, no earlier than `least`, the shown end of the running parts before
// it.
std::string StartText(const std::optional<Range>& starts_in, absl::Duration least,
                      const TextOptions& options) {
  if (!starts_in) return "not started";
  const absl::Duration known = ShownEnd(Range{.median = starts_in->median});
  if (known <= absl::ZeroDuration()) return "about to start";
  return "starts in " + AboutText(std::max(known, least), options);
}

RemainingWords EndWords(const std::optional<Range>& ends_in, const TextOptions& options) {
  return ends_in ? KnownWords(Known(*ends_in), options) : RemainingWords{.about = "running"};
}

const Child* ChildOf(const Snapshot& workflow, std::uint32_t number) {
  return Find(workflow.children, number, &Child::number);
}

// Returns the shown end of the running jobs that a job of a workflow waits for.
absl::Duration ShownEndBefore(const Snapshot& workflow, const Child& child) {
  absl::Duration end;
  for (const std::uint32_t number : child.after) {
    const Child* const parent = ChildOf(workflow, number);
    if (parent == nullptr || parent->state != ChildState::kRunning) continue;
    end = std::max(end, ShownEnd(parent->estimate.remaining));
  }
  return end;
}

// Returns the shown end of the running stages that a stage waits for.
absl::Duration ShownEndBefore(const Snapshot& snapshot, const StageProgress& stage) {
  absl::Duration end;
  const StageInfo* const info = InfoOf(snapshot, stage.id);
  if (info == nullptr) return end;
  for (const std::uint32_t number : info->parents) {
    const StageProgress* const parent =
        Find(snapshot.stages, StageId{stage.id.child, number}, &StageProgress::id);
    if (parent == nullptr || parent->state != StageState::kRunning) continue;
    end = std::max(end, ShownEnd(parent->ends_in));
  }
  return end;
}

// Returns the basis of the estimate of the workflow's job `child`, or of the job itself if `child`
// is 0.
Basis BasisOf(const Snapshot& snapshot, std::uint32_t child) {
  if (child == 0) return snapshot.estimate.basis;
  const Child* const found = ChildOf(snapshot, child);
  return found == nullptr ? Basis::kUnknown : found->estimate.basis;
}

// Marks the text as a guess. Empty text leaves it unchanged.
RemainingWords AsGuess(const std::string& guess, RemainingWords words) {
  if (guess.empty() || words.about == kUnknownLeft) return words;
  words.joint = " ";
  if (words.detail.empty()) {
    words.detail = "(" + guess + ")";
  } else {
    words.detail.insert(words.detail.size() - 1, ", " + guess);
  }
  return words;
}

RemainingWords OverdueWords(const Snapshot& snapshot, const Estimate& estimate,
                            const TextOptions& options) {
  const std::string running = "still running: " + StillRunning(snapshot, options);
  if (!HasInterval(estimate.remaining) || Known(*estimate.remaining).upper > text::kLongestSaid) {
    return {"overdue", "; ", running};
  }
  const KnownRemaining left = Known(*estimate.remaining);
  const std::string more = left.remaining > absl::ZeroDuration()
                               ? KnownWords(left, options).text()
                               : RangeText(left.lower, left.upper, options.unicode) + " left";
  return {"overdue", ", ", more + "; " + running};
}

RemainingWords EstimatedWords(const Snapshot& snapshot, const Estimate& estimate,
                              absl::Duration elapsed, const TextOptions& options) {
  const std::string guess = GuessText(snapshot, estimate, elapsed);
  if (!IsUnsupported(snapshot, estimate, elapsed)) {
    return AsGuess(guess, EndWords(estimate.remaining, options));
  }
  if (!HasInterval(estimate.remaining)) return {"no estimate yet", ": ", "no result supports one"};
  const KnownRemaining known = Known(*estimate.remaining);
  return {guess, ": ", RangeText(known.lower, known.upper, options.unicode) + " left"};
}

RemainingWords StageWords(const Snapshot& snapshot, const StageProgress& stage,
                          const TextOptions& options) {
  RemainingWords words = EndWords(stage.ends_in, options);
  const bool is_guess = stage.ends_in && IsEndGuessed(snapshot, stage);
  return AsGuess(is_guess ? "a guess" : "", std::move(words));
}

// For each job of a workflow, returns true if the end of a direct or indirect predecessor is a
// guess.
std::vector<bool> GuessedStarts(const Snapshot& workflow) {
  std::vector<bool> guessed(workflow.children.size());
  const auto is_guessed = [&](std::uint32_t number) {
    const Child* const parent = ChildOf(workflow, number);
    if (parent == nullptr || parent->ended_at) return false;
    return parent->estimate.basis == Basis::kGuess ||
           guessed[static_cast<std::size_t>(parent - workflow.children.data())];
  };
  // Repeats until nothing changes. Most jobs follow their predecessors, so two rounds suffice.
  for (bool is_stable = false; !is_stable;) {
    is_stable = true;
    for (std::size_t i = 0; i < guessed.size(); ++i) {
      if (guessed[i] || std::ranges::none_of(workflow.children[i].after, is_guessed)) continue;
      guessed[i] = true;
      is_stable = false;
    }
  }
  return guessed;
}

// Returns the first part of the text, which a space separates from the second part.
std::string StateOf(const RemainingWords& words) {
  return words.about + words.joint.substr(0, words.joint.find(' '));
}

Part PartOf(const Snapshot& workflow, const Child& child, bool is_start_guessed,
            const TextOptions& options) {
  Part part = {.name = Printable(child.name, options.unicode),
               .shown = ProgressOf(child.estimate, child.state == ChildState::kSucceeded),
               .is_running = child.state == ChildState::kRunning,
               .has_started = true,
               .is_critical = child.is_critical};
  switch (child.state) {
    case ChildState::kSucceeded:
      part.state = "done";
      part.style = Style::kGood;
      break;
    case ChildState::kFailed:
      part.state = "failed";
      part.style = Style::kBad;
      break;
    case ChildState::kRetryable:
      part.state = workflow.is_final ? "failed" : "failed, waiting for a retry";
      part.style = Style::kBad;
      break;
    case ChildState::kCancelled:
      part.state = "cancelled";
      break;
    case ChildState::kAwaited:
      part.state = "no report yet";
      part.has_started = false;
      break;
    case ChildState::kPending:
      part.state = StartText(child.starts_in, ShownEndBefore(workflow, child), options);
      if (child.starts_in && is_start_guessed) part.detail = "(a guess)";
      part.has_started = false;
      break;
    case ChildState::kRunning: {
      const absl::Duration elapsed = workflow.at - child.started_at.value_or(workflow.at);
      part.shown = WithoutGuess(workflow, child.estimate, elapsed, part.shown);
      RemainingWords words = EstimatedWords(workflow, child.estimate, elapsed, options);
      part.state = StateOf(words);
      part.detail = std::move(words.detail);
      break;
    }
    case ChildState::kUnknown:
      break;
  }
  return part;
}

// Appends a count such as "3 messages lost", or nothing for 0.
void AddCount(std::uint64_t count, const char* one, const char* many,
              std::vector<std::string>& parts) {
  if (count != 0) parts.push_back(fmt::format("{} {}", count, count == 1 ? one : many));
}

std::string LossesOf(const Coverage& coverage) {
  std::vector<std::string> parts;
  AddCount(coverage.lost_events, "message lost", "messages lost", parts);
  AddCount(coverage.dropped_events, "event dropped", "events dropped", parts);
  AddCount(coverage.dropped_points, "measurement dropped", "measurements dropped", parts);
  AddCount(coverage.missing_task_ends, "task without a reported end",
           "tasks without a reported end", parts);
  AddCount(coverage.tasks_beyond_slots, "more running task than slots",
           "more running tasks than slots", parts);
  AddCount(coverage.rejected_events, "message rejected", "messages rejected", parts);
  AddCount(coverage.anomalies, "conflicting event ignored", "conflicting events ignored", parts);
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Returns why the shown progress moves back, or "".
std::string RaisedText(const Snapshot& snapshot) {
  const std::optional<Snapshot> headline = HeadlineOf(snapshot);
  const Snapshot& main = headline ? *headline : snapshot;
  const bool has_number = ShownOf(main, main.estimate).has_number;
  if (main.is_final || !snapshot.estimate_raised || !has_number) return "";
  const EstimateRaised& raised = *snapshot.estimate_raised;
  switch (raised.cause) {
    case RaiseCause::kMoreStages:
      return fmt::format("estimate raised: {} appeared",
                         text::Counted(raised.stages, "more stage"));
    case RaiseCause::kSlowerTasks:
      return "estimate raised: tasks take longer than predicted";
    case RaiseCause::kOverdue:
      return "estimate raised: tasks still run after their predicted end";
    case RaiseCause::kNotEnded:
      return "estimate raised: the application has not ended yet";
    case RaiseCause::kUnknown:
      break;
  }
  if (KindOf(snapshot) == JobKind::kWorkflow) {
    return "estimate raised: jobs take longer or start later than predicted";
  }
  return main.counts.running_tasks == 0 ? "estimate raised: no task is running" : "estimate raised";
}

// Describes how long an application or open workflow has had no work, up to its last report.
// REQUIRES: snapshot.idle_since is set.
RemainingWords IdleWords(const Snapshot& snapshot) {
  const absl::Time known_at = snapshot.silent_since.value_or(snapshot.at);
  const std::string idle = "idle for " + DurationText(known_at - *snapshot.idle_since);
  if (KindOf(snapshot) == JobKind::kWorkflow)
    return {idle, ": ", "all of its known jobs have ended"};
  return {idle, ": ",
          snapshot.counts.stages == 0 ? "no stage has begun" : "all of its stages have ended"};
}

// Returns true for a workflow between two jobs. The next job may not have been submitted.
bool IsBetweenJobs(const Snapshot& snapshot) {
  return !snapshot.children.empty() &&
         std::ranges::none_of(snapshot.children, [](const Child& child) {
           return child.state == ChildState::kRunning;
         });
}

std::string SilenceWarning(const Snapshot& snapshot) {
  if (snapshot.is_final) return "";
  if (snapshot.silent_since && !IsBetweenJobs(snapshot)) {
    return fmt::format("no reports from {} {}",
                       KindOf(snapshot) == JobKind::kWorkflow ? "any of its jobs" : "the job",
                       SilenceText(snapshot));
  }
  if (snapshot.silent_since) return MissingText(snapshot);
  const std::uint32_t silent = snapshot.coverage ? snapshot.coverage->silent_tasks : 0;
  if (silent == 0) return "";
  return fmt::format("{} without a report for {}", text::Counted(silent, "running task"),
                     DurationText(kTaskSilence));
}

// Returns why attempts of running stages fail.
std::vector<std::string> FailureTexts(const Snapshot& snapshot, const TextOptions& options) {
  std::vector<std::string> texts;
  if (snapshot.is_final) return texts;
  for (const StageProgress& stage : snapshot.stages) {
    if (stage.failure.empty() || stage.state != StageState::kRunning) continue;
    if (texts.size() == kFailuresMax) break;
    texts.push_back(fmt::format("{}: {} failed; last failure: {}",
                                StageName(snapshot, stage.id, options),
                                text::Counted(stage.failed_attempts, "attempt"),
                                Printable(stage.failure, options.unicode)));
  }
  return texts;
}

}  // namespace

std::optional<Snapshot> HeadlineOf(const Snapshot& snapshot) {
  if (snapshot.headline_group.empty() || snapshot.is_final) return std::nullopt;
  std::optional<Snapshot> headline = SnapshotOfGroup(snapshot, snapshot.headline_group);
  if (!headline || !headline->info) return std::nullopt;
  const auto group = std::ranges::find(snapshot.groups, snapshot.headline_group, &Group::group);
  headline->info->name = GroupName(*group);
  return headline;
}

std::string StageName(const Snapshot& snapshot, StageId id, const TextOptions& options) {
  const StageInfo* info = InfoOf(snapshot, id);
  if (info == nullptr || info->name.empty()) return NumberText(id);
  return Printable(info->name, options.unicode);
}

bool IsEndGuessed(const Snapshot& snapshot, const StageProgress& stage) {
  const Estimate& estimate = snapshot.estimate;
  const bool is_of_application = stage.id.child == 0 && KindOf(snapshot) == JobKind::kApplication;
  const bool is_any_unknown = estimate.basis == Basis::kThisRun && estimate.known_share < 1;
  if (is_of_application && is_any_unknown) {
    return stage.finished_tasks == 0 && !(stage.fraction_done > 0);
  }
  const bool is_pace_seen =
      stage.state == StageState::kRunning && KindOf(snapshot, stage.id) == StageKind::kMap;
  return !is_pace_seen && BasisOf(snapshot, stage.id.child) == Basis::kGuess;
}

std::vector<std::string> StageNames(const Snapshot& snapshot, const TextOptions& options) {
  std::vector<std::string> names;
  for (const StageProgress& stage : snapshot.stages) {
    names.push_back(StageName(snapshot, stage.id, options));
  }
  std::map<std::pair<std::uint32_t, std::string_view>, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < names.size(); ++i) {
    places[{snapshot.stages[i].id.child, names[i]}].push_back(i);
  }
  std::vector<std::size_t> numbered;
  for (const auto& [child_and_name, at] : places) {
    const std::string_view name = child_and_name.second;
    const bool looks_numbered = name.ends_with(')') && name.find("stage ") != name.npos;
    if (at.size() > 1 || looks_numbered) numbered.insert(numbered.end(), at.begin(), at.end());
  }
  for (const std::size_t i : numbered) {
    names[i] += fmt::format(" ({})", NumberText(snapshot.stages[i].id));
  }
  return names;
}

std::string TaskText(const Snapshot& snapshot, const NamedTask& task, const TextOptions& options) {
  const StageId stage = {task.child, task.attempt.stage};
  std::string text;
  switch (KindOf(snapshot, stage)) {
    case StageKind::kMap:
      text = fmt::format("map task {}", task.attempt.index);
      break;
    case StageKind::kReduce:
      text = fmt::format("reduce task {}", task.attempt.index);
      break;
    default:
      text = fmt::format("task {} of {}", task.attempt.index, StageName(snapshot, stage, options));
  }
  if (task.attempt.attempt > 0) text += fmt::format(", attempt {}", task.attempt.attempt);
  return text;
}

std::string StageStateText(const Snapshot& snapshot, const StageProgress& stage,
                           const TextOptions& options) {
  // When a MapReduce job ends without failing, its running stages also end.
  const bool is_cut_off = snapshot.is_final && snapshot.state != JobState::kFailed &&
                          stage.id.child == 0 && KindOf(snapshot) != JobKind::kApplication;
  switch (stage.state) {
    case StageState::kDone:
      return "done";
    case StageState::kSkipped:
      return "skipped";
    case StageState::kExpected:
      return "expected";
    case StageState::kFailed:
      return is_cut_off ? "not finished" : "failed";
    case StageState::kUnknownEnd:
      return kUnknownEnd;
    case StageState::kRunning:
      return StageWords(snapshot, stage, options).text();
    case StageState::kPending:
    case StageState::kUnknown:
      break;
  }
  return StartText(stage.starts_in, ShownEndBefore(snapshot, stage), options);
}

std::string JobTitle(const Snapshot& snapshot, const TextOptions& options) {
  const bool has_name = snapshot.info && !snapshot.info->name.empty();
  const std::string name =
      Printable(has_name ? snapshot.info->name : snapshot.job_id, options.unicode);
  return name.empty() ? "(unnamed)" : name;
}

std::string StateName(const Snapshot& snapshot) {
  switch (snapshot.state) {
    case JobState::kQueued:
      return "queued";
    case JobState::kSucceeded:
      return "succeeded";
    case JobState::kFailed:
      return "failed";
    case JobState::kKilled:
      return "killed";
    case JobState::kAbandoned:
      return "abandoned";
    case JobState::kUnknownEnd:
      return kUnknownEnd;
    case JobState::kRunning:
    case JobState::kUnknown:
      break;
  }
  return snapshot.is_final ? "ended" : "running";
}

std::string ListedState(const Snapshot& snapshot) {
  return snapshot.silent_since && !snapshot.is_final ? "silent" : StateName(snapshot);
}

std::string ElapsedText(const Snapshot& snapshot) {
  return snapshot.is_final ? ElapsedText(snapshot.elapsed()) : DurationText(snapshot.elapsed());
}

Style StateStyle(const Snapshot& snapshot) {
  if (!snapshot.is_final) return Style::kBar;
  if (snapshot.state == JobState::kUnknownEnd) return Style::kWarning;
  return HasSucceeded(snapshot) ? Style::kGood : Style::kBad;
}

double ShownFraction(double fraction_done, bool has_succeeded) {
  if (has_succeeded) return 1;
  return fraction_done >= 0 ? std::min(fraction_done, kRunningMax) : 0.0;
}

int ShownPercent(double fraction_done, bool has_succeeded) {
  // The addend corrects rounding: 100 * 0.29 is below 29.
  return static_cast<int>(std::floor(100 * ShownFraction(fraction_done, has_succeeded) + 1e-9));
}

bool HasBounds(const Estimate& estimate) {
  const bool has_kept = estimate.state == EstimateState::kFinal &&
                        estimate.fraction_done_lower < estimate.fraction_done_upper;
  return has_kept || HasInterval(estimate.remaining);
}

ShownProgress ShownOf(const Snapshot& snapshot, const Estimate& estimate) {
  ShownProgress shown = ProgressOf(estimate, HasSucceeded(snapshot));
  const bool is_missing = estimate.state == EstimateState::kWarmingUp ||
                          estimate.state == EstimateState::kUnknown ||
                          (snapshot.is_final && !(estimate.fraction_done > 0));
  if (HasSucceeded(snapshot)) return shown;
  if (is_missing) return {.has_number = false};
  return WithoutGuess(snapshot, estimate, snapshot.elapsed(), shown);
}

PercentWords DescribePercent(const ShownProgress& shown, const TextOptions& options) {
  if (!shown.has_number) return {.number = "-"};
  const auto percent = [](double fraction) { return ShownPercent(fraction, fraction >= 1); };
  const int number = percent(shown.fraction);
  const int lower = percent(shown.lower);
  const int upper = percent(shown.upper);
  PercentWords words = {.number = fmt::format("{} %", number)};
  if (shown.is_estimate) words.number.insert(0, options.unicode ? "≈ " : "~ ");
  if (lower == upper) return words;
  words.bounds = fmt::format("({}{}{})", lower, options.unicode ? "–" : "-", upper);
  return words;
}

std::string PercentText(const Snapshot& snapshot, const Estimate& estimate,
                        const TextOptions& options) {
  return DescribePercent(ShownOf(snapshot, estimate), options).text();
}

std::string IndicatorName(const Estimate& estimate, const TextOptions& options) {
  return estimate.indicator.empty() ? "tidemark" : Printable(estimate.indicator, options.unicode);
}

// Texts in the order of EstimateMethod.
constexpr const char* kMethodTexts[] = {
    "",          "assumed task times", "other jobs", "map phase",  "bytes read",
    "past runs", "task sizes",         "task times", "key groups", "forecasts of its jobs"};
static_assert(std::size(kMethodTexts) == static_cast<std::size_t>(EstimateMethod::kJobs) + 1);

std::string MethodText(const Estimate& estimate, const TextOptions& options) {
  if (!estimate.remaining) return "";
  if (estimate.method != EstimateMethod::kUnknown) {
    return kMethodTexts[static_cast<std::size_t>(estimate.method)];
  }
  return IsTidemark(estimate) ? "" : IndicatorName(estimate, options);
}

std::string AboutText(absl::Duration duration, const TextOptions& options) {
  if (duration > text::kLongestSaid) return DurationText(duration);
  return fmt::format("{} {}", options.unicode ? "≈" : "~", DurationText(duration));
}

RemainingWords DescribeLeft(const Range& left, const TextOptions& options) {
  return KnownWords(Known(left), options);
}

RemainingWords DescribeRemaining(const Snapshot& snapshot, const Estimate& estimate,
                                 const TextOptions& options) {
  if (snapshot.is_final) return {.about = StateName(snapshot)};
  if (estimate.state == EstimateState::kUnknown) return {.about = "not started"};
  if (estimate.state == EstimateState::kWarmingUp) {
    return snapshot.idle_since ? IdleWords(snapshot) : WarmingUpWords(snapshot, estimate);
  }
  if (estimate.state == EstimateState::kOverdue) return OverdueWords(snapshot, estimate, options);
  if (!estimate.remaining || estimate.remaining->median == absl::InfiniteDuration()) {
    return {.about = kUnknownLeft};
  }
  return EstimatedWords(snapshot, estimate, snapshot.elapsed(), options);
}

bool IsGuess(const Snapshot& snapshot) {
  const Estimate& estimate = snapshot.estimate;
  return estimate.basis == Basis::kGuess ||
         (estimate.state == EstimateState::kValid &&
          !GuessText(snapshot, estimate, snapshot.elapsed()).empty());
}

std::vector<Step> StepsOf(const Snapshot& snapshot) {
  const Counts& counts = snapshot.counts;
  const JobKind kind = KindOf(snapshot);
  if (kind == JobKind::kWorkflow || counts.children > 0) {
    const std::string done = DoneText(counts.finished_children, counts.children, "jobs done");
    return {{WithGrowth(snapshot, done), true}};
  }
  if (!snapshot.headline_group.empty() && !snapshot.is_final) return {{GroupsText(snapshot), true}};
  // The kind of an application with past runs is unknown before its first stage.
  const bool is_expected = counts.stages == 0 && CountOf(snapshot, StageState::kExpected) > 0;
  if (is_expected || (kind == JobKind::kApplication && counts.stages > 0)) {
    return {{StagesText(snapshot), true}};
  }
  if (snapshot.stages.empty()) {
    if (counts.tasks == 0) return {};
    return {{fmt::format("{}/{} tasks", counts.finished_tasks, counts.tasks), true}};
  }
  const std::vector<Phase> phases = PhasesOf(snapshot);
  if (snapshot.is_final && !HasSucceeded(snapshot)) return StepsWhereItEnded(snapshot, phases);
  // Phases overlap. The current phase is the last running phase or, between two phases, the next
  // one.
  const auto has = [](StageState state) {
    return [state](const Phase& phase) { return phase.state == state; };
  };
  auto current = phases.end() - 1;
  const auto running = std::find_if(phases.rbegin(), phases.rend(), has(StageState::kRunning));
  const auto pending = std::find_if(phases.begin(), phases.end(), has(StageState::kPending));
  if (running != phases.rend()) {
    current = running.base() - 1;
  } else if (pending != phases.end()) {
    current = pending;
  }
  std::vector<Step> steps;
  for (auto phase = phases.begin(); phase != phases.end(); ++phase) {
    Step step = {phase->name, phase == current};
    if (phase->state == StageState::kRunning) step.text += " " + phase->place;
    if (phase->state == StageState::kDone) step.text += " done";
    steps.push_back(std::move(step));
  }
  return steps;
}

std::string CurrentStep(const Snapshot& snapshot) {
  for (const Step& step : StepsOf(snapshot)) {
    if (step.is_current) return step.text;
  }
  return "";
}

std::vector<Part> PartsOf(const Snapshot& snapshot, const TextOptions& options) {
  std::vector<Part> parts;
  const std::vector<bool> guessed = GuessedStarts(snapshot);
  for (std::size_t i = 0; i < snapshot.children.size(); ++i) {
    parts.push_back(PartOf(snapshot, snapshot.children[i], guessed[i], options));
  }
  if (KindOf(snapshot) != JobKind::kApplication) return parts;
  for (const Group& group : snapshot.groups) {
    if (group.state != JobState::kRunning || parts.size() == kGroupsShown) continue;
    if (group.group == snapshot.headline_group) continue;
    const std::optional<Snapshot> whole = SnapshotOfGroup(snapshot, group.group);
    RemainingWords words = DescribeRemaining(*whole, whole->estimate, options);
    parts.push_back({.name = Printable(GroupName(group), options.unicode),
                     .state = StateOf(words),
                     .detail = std::move(words.detail),
                     .shown = ShownOf(*whole, whole->estimate),
                     .is_running = true,
                     .has_started = true});
  }
  const std::size_t most = parts.size() + kStagesShown;
  const std::vector<std::string> names = StageNames(snapshot, options);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const StageProgress& stage = snapshot.stages[i];
    if (stage.state != StageState::kRunning || parts.size() == most) continue;
    const double done = ShownFraction(stage.fraction_done, false);
    RemainingWords words = StageWords(snapshot, stage, options);
    const bool repeats_group = std::ranges::any_of(snapshot.groups, [&](const Group& group) {
      return group.state == JobState::kRunning &&
             Printable(group.name, options.unicode) == names[i];
    });
    parts.push_back(
        {.name = repeats_group ? fmt::format("{} ({})", names[i], NumberText(stage.id)) : names[i],
         .state = std::move(words.about),
         .detail = std::move(words.detail),
         .shown = {.fraction = done, .lower = done, .upper = done},
         .is_running = true,
         .has_started = true,
         .is_critical = stage.is_critical});
  }
  return parts;
}

std::string MissingText(const Snapshot& snapshot) {
  return fmt::format("no {} {}", IsBetweenJobs(snapshot) ? "job running" : "reports",
                     SilenceText(snapshot));
}

std::string SilenceText(const Snapshot& snapshot) {
  const absl::Time since = snapshot.silent_since.value_or(snapshot.at);
  const std::string text = DurationText(snapshot.at - since);
  // If the newest report is older than the master, the job was silent for an unknown time.
  const auto reported_at = snapshot.coverage ? snapshot.coverage->newest_event_at : std::nullopt;
  return reported_at && *reported_at < since ? fmt::format("since the master started, {} ago", text)
                                             : "for " + text;
}

std::string StragglerText(const Snapshot& snapshot, const TextOptions& options) {
  if (snapshot.named_tasks.empty() || snapshot.is_final) return "";
  const NamedTask& last = snapshot.named_tasks.front();
  const std::string reason = Printable(last.reason, options.unicode);
  return reason.empty() ? "last to end: " + TaskText(snapshot, last, options) : reason;
}

std::string StragglerRemark(const Snapshot& snapshot, const TextOptions& options) {
  const Estimate& estimate = snapshot.estimate;
  const bool is_guess =
      estimate.basis == Basis::kGuess || IsWide(snapshot.elapsed(), estimate.remaining);
  return is_guess ? "" : StragglerText(snapshot, options);
}

std::string ThroughputText(const std::optional<Throughput>& throughput) {
  if (!throughput) return "";
  std::vector<std::string> rates;
  if (const double bytes = throughput->bytes_per_second; bytes > 0) {
    rates.push_back(text::SizeText(static_cast<std::uint64_t>(std::min(bytes, 1e18))) + "/s");
  }
  if (const double records = throughput->records_per_second; records > 0) {
    rates.push_back(records < 10 ? fmt::format("{:.2g} records/s", records)
                                 : fmt::format("{:.0f} records/s", std::min(records, 1e18)));
  }
  return fmt::format("{}", fmt::join(rates, ", "));
}

const IndicatorError* ErrorOf(const Snapshot& ended, const std::string& indicator) {
  const auto error = std::ranges::find(ended.errors, indicator.empty() ? "tidemark" : indicator,
                                       &IndicatorError::indicator);
  return error == ended.errors.end() ? nullptr : &*error;
}

std::string FirstForecastText(const Snapshot& ended) {
  const IndicatorError* const error = ErrorOf(ended, ended.estimate.indicator);
  return error == nullptr || !error->first_forecast ? "" : ElapsedText(*error->first_forecast);
}

std::string NoComparisonText(const Snapshot& snapshot) {
  if (!snapshot.indicators.empty() || !snapshot.info) return "";
  return KindOf(snapshot) == JobKind::kMapReduce
             ? "this master runs no other estimators; start it with --indicator tidemark "
               "nearestfit hadoop"
             : "no other estimators: they exist for MapReduce jobs only";
}

std::string LossText(const Snapshot& snapshot) {
  return snapshot.coverage ? LossesOf(*snapshot.coverage) : "";
}

std::vector<std::string> WarningTexts(const Snapshot& snapshot, const TextOptions& options) {
  std::vector<std::string> texts = {RaisedText(snapshot), SilenceWarning(snapshot)};
  const bool is_shown = snapshot.estimate.state == EstimateState::kWarmingUp;
  if (!snapshot.is_final && snapshot.idle_since && !is_shown) {
    texts.push_back(IdleWords(snapshot).text());
  }
  if (snapshot.coverage) {
    texts.push_back(LossText(snapshot));
    const auto known = snapshot.coverage->map_profiles;
    // The forecast of this run no longer needs the missing sizes.
    if (known && !(*known >= 1) && !HasSucceeded(snapshot)) {
      texts.push_back(fmt::format("key sizes known for {} % of the finished map tasks",
                                  static_cast<int>(100 * (*known > 0 ? *known : 0))));
    }
  }
  std::erase(texts, "");
  for (std::string& text : FailureTexts(snapshot, options)) texts.push_back(std::move(text));
  const std::size_t notes = std::min(snapshot.notes.size(), kNotesMax);
  for (std::size_t i = 0; i < notes; ++i) {
    texts.push_back(Printable(snapshot.notes[i], options.unicode));
  }
  if (notes < snapshot.notes.size()) {
    texts.push_back(fmt::format("{} more notes", snapshot.notes.size() - notes));
  }
  return texts;
}

}  // namespace tidemark::console
