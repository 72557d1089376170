#include "console/time_spent.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "console/duration_text.h"
#include "console/job_wording.h"
#include "console/text.h"
#include "console/wait_findings.h"
#include "text/size_text.h"

namespace tidemark::console {
namespace {

// Taste. What took a smaller share of the time than these is not what cost it.
constexpr double kStageShare = 0.5;
constexpr double kLoneShare = 0.2;
constexpr double kGroupShare = 0.5;   // of the time that the task was alone
constexpr double kWaitedShare = 0.5;  // likewise
// Taste. The whole of a shorter job is soon told.
constexpr absl::Duration kShortest = absl::Seconds(10);

std::string Capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 32);
  return text;
}

constexpr const char* kHelpsOneKey =
    "more slots or reducers would not have made it shorter; a combiner or splitting that key "
    "(salting) might";

bool IsWorkflow(const Snapshot& job) {
  return !job.children.empty() || (job.info && job.info->kind == JobKind::kWorkflow);
}

// Which of several parts took most of it.
std::string LongestPart(const Snapshot& job, const TextOptions& options) {
  struct Span {
    std::string name;
    absl::Duration took;
  };
  std::vector<Span> spans;
  const auto add = [&](std::string name, const auto& part) {
    if (part.started_at && part.ended_at && *part.ended_at > *part.started_at) {
      spans.push_back({std::move(name), *part.ended_at - *part.started_at});
    }
  };
  for (const Child& child : job.children) add(Printable(child.name, options.unicode), child);
  if (job.children.empty()) {
    std::vector<std::string> names = StageNames(job, options);
    for (std::size_t i = 0; i < names.size(); ++i) add(std::move(names[i]), job.stages[i]);
  }
  if (spans.size() < 2) return "";
  const Span& longest = *std::ranges::max_element(spans, {}, &Span::took);
  const bool is_worth_it = longest.took >= kStageShare * job.elapsed();
  if (!is_worth_it || longest.took > job.elapsed()) return "";
  return fmt::format("Of {}, {} took {}.", ElapsedText(job.elapsed()), longest.name,
                     ElapsedText(longest.took));
}

// Returns the longest task of all queries that is worth reporting; null if there is none. A task
// longer than the job contradicts it: clocks differ, or were set.
const LongestTask* LongestFound(const Explanation& waits, absl::Duration elapsed) {
  const LongestTask* longest = nullptr;
  for (const QueryWaits& query : waits.queries) {
    const LongestTask* const task = FoundLongestTask(query);
    if (task == nullptr || absl::Seconds(task->seconds) > elapsed) continue;
    if (!longest || task->seconds > longest->seconds) longest = task;
  }
  return longest;
}

// `found`: the longest task; null: none is known.
std::string Alone(const Snapshot& job, const LoneTask& lone, const LongestTask* found,
                  const TextOptions& options) {
  const absl::Duration alone = job.ended_at.value_or(job.at) - lone.since;
  if (alone < kLoneShare * job.elapsed()) return "";
  const bool is_found = found != nullptr && found->attempt == lone.attempt;
  const std::string where =
      is_found && !found->host.empty() ? " on " + Printable(found->host, options.unicode) : "";
  const std::string ran = fmt::format("{}{} ran alone for the last {} or more",
                                      Capital(TaskText(job, {.attempt = lone.attempt}, options)),
                                      where, DurationText(alone));
  const absl::Duration in_group = lone.group_until - lone.group_since;
  if (lone.group_bytes > 0 && in_group >= kGroupShare * alone) {
    return fmt::format("{}, at least {} of that in one key group of {}: {}.", ran,
                       DurationText(in_group), text::SizeText(lone.group_bytes), kHelpsOneKey);
  }
  const std::string in_all =
      is_found ? fmt::format("{}; it took {}", ran, LongestTaskTimes(*found)) : ran;
  if (is_found && IsInOneGroup(*found)) return fmt::format("{}: {}.", in_all, kHelpsOneKey);
  return fmt::format(
      "{}: more slots would not have helped then; tasks of more equal length would, or a "
      "speculative attempt if its host was slow.",
      in_all);
}

std::string Longest(const LongestTask& task, const TextOptions& options) {
  const std::string took =
      fmt::format("{} took {}", Capital(LongestTaskText(task)), LongestTaskTimes(task));
  return Printable(
      IsInOneGroup(task)
          ? fmt::format("{}: {}.", took, kHelpsOneKey)
          : fmt::format("{}: if it had more data, more even partitions would help; if its host was "
                        "slow, a speculative attempt.",
                        took),
      options.unicode);
}

const char* MoreOf(WaitedResource resource) {
  switch (resource) {
    case WaitedResource::kScheduler:
      return "more slots";
    case WaitedResource::kProcessor:
      return "more processors";
    case WaitedResource::kMemory:
      return "more memory";
    case WaitedResource::kNetwork:
      return "a faster network";
    case WaitedResource::kIo:
      return "faster disks";
  }
  return "";
}

// Returns the longest wait of all queries, if one is worth reporting.
std::optional<WaitFinding> WorstWaitOf(const Explanation& waits, bool unicode) {
  std::optional<WaitFinding> worst;
  for (const QueryWaits& query : waits.queries) {
    if (!query.seconds) continue;
    for (WaitFinding& wait : WaitFindings(waits, query, ExplainQuestion().culprits_max, unicode)) {
      if (!IsWorthTelling(wait.seconds, *query.seconds)) continue;
      if (!worst || wait.seconds > worst->seconds) worst = std::move(wait);
    }
  }
  return worst;
}

// Returns the sentence of `why`, and what would help.
std::string Waited(const Explanation& waits, const TextOptions& options) {
  const std::optional<WaitFinding> worst = WorstWaitOf(waits, options.unicode);
  if (!worst) return "";
  return Printable(
      fmt::format("{}. {}{} might help.", worst->sentence, Capital(MoreOf(worst->resource)),
                  worst->blames_jobs ? ", or running the jobs at different times," : ""),
      options.unicode);
}

// Of the query whose longest tasks took most more than the mean ones.
std::string Skewed(const Explanation& waits, const TextOptions& options) {
  const QueryWaits* worst = nullptr;
  for (const QueryWaits& query : waits.queries) {
    if (!query.skew_seconds || !query.seconds) continue;
    if (!IsWorthTelling(*query.skew_seconds, *query.seconds)) continue;
    if (!worst || *query.skew_seconds > *worst->skew_seconds) worst = &query;
  }
  if (worst == nullptr) return "";
  return Printable(
      fmt::format(
          "The longest tasks of {} took {} longer than a mean task of the same stage, apart "
          "from what they waited. If they had more data, more even partitions would help.",
          worst->query.empty() ? "the job" : worst->query, SecondsText(*worst->skew_seconds)),
      options.unicode);
}

// Of the query whose tasks took most more than in earlier runs.
std::string Grown(const Explanation& waits, const TextOptions& options) {
  const QueryWaits* worst = nullptr;
  for (const QueryWaits& query : waits.queries) {
    const auto& growth = query.data_growth;
    if (!growth || !IsWorthTelling(growth->task_seconds, growth->all_task_seconds)) continue;
    if (!worst || growth->task_seconds > worst->data_growth->task_seconds) worst = &query;
  }
  if (worst == nullptr) return "";
  return Printable(fmt::format("Of {}, {}.", worst->query.empty() ? "the job" : worst->query,
                               GrowthText(*worst->data_growth, options.unicode)),
                   options.unicode);
}

bool TellsWaits(const Explanation& waits) {
  return std::ranges::any_of(waits.queries, [](const QueryWaits& query) {
    return !query.culprits.empty() ||
           std::ranges::any_of(kWaitedResources, [&](WaitedResource resource) {
             return query.waits[resource].seconds.has_value();
           });
  });
}

// Returns why some of its waits are unknown, or the sentence that none is worth reporting.
std::string NotKnown(const Snapshot& job, const Explanation& waits, const TextOptions& options) {
  if (waits.queries.empty()) {
    return waits.more_to_come ? "What it waited for is not known: reports of other tasks that ran "
                                "meanwhile were still to come."
                              : "What it waited for is not known: the master saw none of its tasks "
                                "run.";
  }
  if (!TellsWaits(waits)) return "What it waited for is not known: its tasks did not tell.";
  std::vector<std::string> sentences;
  if (!WorstWaitOf(waits, options.unicode)) {
    sentences.emplace_back("No wait that took a tenth of its time or more is known.");
  }
  if (waits.is_partial) {
    sentences.emplace_back(
        "Not all of it was seen: a part was before the master started, or there was no room for "
        "it.");
  }
  const absl::Duration behind = job.ended_at.value_or(job.at) - waits.at;
  if (waits.more_to_come &&
      IsWorthTelling(absl::ToDoubleSeconds(behind), absl::ToDoubleSeconds(job.elapsed()))) {
    sentences.push_back(fmt::format(
        "What it waited for in its last {} is not in this: reports of other tasks were still to "
        "come.",
        ElapsedText(behind)));
  }
  return fmt::format("{}", fmt::join(sentences, " "));
}

// The only one that runs, if no other is left.
const NamedTask* OnlyTask(const Snapshot& job) {
  const Counts& counts = job.counts;
  const bool is_last = counts.running_tasks == 1 && counts.finished_tasks > 0 &&
                       counts.tasks == counts.finished_tasks + 1;
  if (job.is_final || !is_last || job.named_tasks.empty() || counts.children > 0) return nullptr;
  return &job.named_tasks.front();
}

// `lone` at one more instant, at which it is `task` that runs.
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

void LoneTaskWatch::See(const Snapshot& next) {
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
  const bool is_told =
      ended.is_final && ended.state == JobState::kSucceeded && ended.elapsed() >= kShortest;
  if (!is_told) return "";
  const LongestTask* const longest = waits.ok() ? LongestFound(*waits, ended.elapsed()) : nullptr;
  std::vector<std::string> sentences = {LongestPart(ended, options)};
  std::string of_task;
  if (lone) of_task = Alone(ended, *lone, longest, options);
  if (of_task.empty() && longest != nullptr) of_task = Longest(*longest, options);
  sentences.push_back(of_task);
  if (IsWorkflow(ended)) {
    sentences.emplace_back("`tidemark why JOB` tells what each of its jobs waited for.");
  } else if (!waits.ok()) {
    sentences.push_back(Printable(
        fmt::format("What it waited for is not known: {}.", std::string(waits.status().message())),
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
