#include "cli/console/time_spent.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "cli/console/duration_text.h"
#include "cli/console/job_wording.h"
#include "cli/console/text.h"
#include "cli/console/wait_findings.h"
#include "cli/console/waits_table.h"
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
  if (longest.took < kStageShare * job.elapsed()) return "";
  return fmt::format("Of {}, {} took {}.", ElapsedText(job.elapsed()), longest.name,
                     ElapsedText(longest.took));
}

// The one that took longest of all queries, of those that are worth telling.
const LongestTask* LongestFound(const Explanation& waits) {
  const LongestTask* longest = nullptr;
  for (const QueryWaits& query : waits.queries) {
    const LongestTask* const task = FoundLongestTask(query);
    if (task != nullptr && (!longest || task->seconds > longest->seconds)) longest = task;
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

// The worst wait of all queries, as it is told of its query.
struct WaitOfQuery {
  const QueryWaits* query = nullptr;  // null: none is worth telling
  FoundWait wait;
};
WaitOfQuery WorstOf(const Explanation& waits) {
  WaitOfQuery worst;
  for (const QueryWaits& query : waits.queries) {
    if (!query.seconds) continue;
    for (const FoundWait& wait : FoundWaits(query, ExplainQuestion().culprits_max)) {
      if (!IsWorthTelling(wait.seconds, *query.seconds)) continue;
      if (worst.query == nullptr || wait.seconds > worst.wait.seconds) worst = {&query, wait};
    }
  }
  return worst;
}

std::string Waited(const Explanation& waits, const TextOptions& options) {
  const auto& [query, wait] = WorstOf(waits);
  if (query == nullptr) return "";
  const std::string who = query->query.empty() ? "The job" : query->query;
  // Of what is still to come there may be more than any limit.
  const std::string seconds =
      fmt::format("{}{}", AtLeast(wait.is_least || waits.more_to_come), SecondsText(wait.seconds));
  const std::string more = Capital(MoreOf(wait.resource));
  if (wait.culprit == nullptr) {
    return Printable(
        fmt::format("{} waited {} {}{}. {} might help.", who, seconds, WaitedFor(wait.resource),
                    wait.is_cause_left_out ? "" : "; the cause is not told", more),
        options.unicode);
  }
  const Culprit& culprit = *wait.culprit;
  const std::string limits =
      waits.more_to_come
          ? ""
          : LimitsText(wait.seconds, culprit.seconds_lower, culprit.seconds_upper, options.unicode);
  const std::string later = fmt::format("{} ended {}{} later because", who, seconds, limits);
  const std::string waited = fmt::format("it waited {}{}", WaitedFor(culprit.resource),
                                         culprit.host.empty() ? "" : " on " + culprit.host);
  // Where nobody is named, nobody can be told to run at another time.
  const bool is_known = culprit.jobs > 0;
  return Printable(
      is_known ? fmt::format("{} of {}: {}. {}, or to run them at different times, might help.",
                             later, CulpritName(waits.job_id, culprit), waited, more)
               : fmt::format("{} {}. No task that reports took it; other programs there may have. "
                             "{} might help.",
                             later, waited, more),
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

// What of its waits is not known, and why; that none is worth telling, if so.
std::string NotKnown(const Snapshot& job, const Explanation& waits) {
  if (waits.queries.empty()) {
    return waits.more_to_come ? "What it waited for is not known: reports of other tasks that ran "
                                "meanwhile were still to come."
                              : "What it waited for is not known: the master saw none of its tasks "
                                "run.";
  }
  if (!TellsWaits(waits)) return "What it waited for is not known: its tasks did not tell.";
  std::vector<std::string> sentences;
  if (WorstOf(waits).query == nullptr) {
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
  const LongestTask* const longest = waits.ok() ? LongestFound(*waits) : nullptr;
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
    sentences.push_back(NotKnown(ended, *waits));
  }
  std::erase(sentences, "");
  return fmt::format("{}", fmt::join(sentences, " "));
}

}  // namespace tidemark::console
