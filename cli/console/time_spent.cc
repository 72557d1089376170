#include "cli/console/time_spent.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "cli/console/duration_text.h"
#include "cli/console/job_wording.h"
#include "cli/console/text.h"
#include "cli/console/waits_table.h"
#include "text/size_text.h"

namespace tidemark::console {
namespace {

// Taste. What took a smaller share of the time than these is not what cost it.
constexpr double kStageShare = 0.5;
constexpr double kLoneShare = 0.2;
constexpr double kGroupShare = 0.5;  // of the time that the task was alone
constexpr double kWaitShare = 0.2;
// Taste. The whole of a shorter job is soon told.
constexpr absl::Duration kShortest = absl::Seconds(10);

std::string Capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 32);
  return text;
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
  return fmt::format("Of {}, {} took {}.", DurationText(job.elapsed()), longest.name,
                     DurationText(longest.took));
}

std::string Alone(const Snapshot& job, const LoneTask& lone, const TextOptions& options) {
  const absl::Duration alone = job.ended_at.value_or(job.at) - lone.since;
  if (alone < kLoneShare * job.elapsed()) return "";
  const std::string task = Capital(TaskText(job, {.attempt = lone.attempt}, options));
  const absl::Duration in_group = lone.group_until - lone.group_since;
  if (lone.group_bytes > 0 && in_group >= kGroupShare * alone) {
    return fmt::format(
        "{} ran alone for the last {} or more, at least {} of that in one key group of {}: more "
        "slots would not have helped, to split that key might.",
        task, DurationText(alone), DurationText(in_group), text::SizeText(lone.group_bytes));
  }
  return fmt::format(
      "{} ran alone for the last {} or more: more slots would not have helped then, tasks of more "
      "equal length would.",
      task, DurationText(alone));
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

// " (30-52 s)"; nothing where the limits are close or not told.
std::string LimitsText(const Culprit& culprit, const TextOptions& options) {
  if (!culprit.seconds_lower || !culprit.seconds_upper) return "";
  if (*culprit.seconds_upper - *culprit.seconds_lower < 1) return "";
  const auto whole = absl::Seconds(1);
  return fmt::format(" ({})", RangeText(absl::Floor(absl::Seconds(*culprit.seconds_lower), whole),
                                        absl::Ceil(absl::Seconds(*culprit.seconds_upper), whole),
                                        options.unicode));
}

// Of the query that lost the most to another one.
std::string Waited(const Explanation& waits, const TextOptions& options) {
  const QueryWaits* worst = nullptr;
  for (const QueryWaits& query : waits.queries) {
    if (query.culprits.empty() || !query.seconds) continue;
    if (!(query.culprits[0].seconds >= kWaitShare * *query.seconds)) continue;
    if (!worst || query.culprits[0].seconds > worst->culprits[0].seconds) worst = &query;
  }
  if (worst == nullptr) return "";
  const Culprit& culprit = worst->culprits[0];
  const std::string later =
      fmt::format("{} ended {}{} later because", worst->query.empty() ? "The job" : worst->query,
                  DurationText(absl::Seconds(culprit.seconds)), LimitsText(culprit, options));
  const std::string waited = fmt::format("it waited {}{}", WaitedFor(culprit.resource),
                                         culprit.host.empty() ? "" : " on " + culprit.host);
  const std::string more = Capital(MoreOf(culprit.resource));
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

// Of the query whose longest tasks took most of its time more than the mean ones.
std::string Skewed(const Explanation& waits, const TextOptions& options) {
  const QueryWaits* worst = nullptr;
  for (const QueryWaits& query : waits.queries) {
    if (!query.skew_seconds || !query.seconds) continue;
    if (!(*query.skew_seconds >= kWaitShare * *query.seconds)) continue;
    if (!worst || *query.skew_seconds > *worst->skew_seconds) worst = &query;
  }
  if (worst == nullptr) return "";
  return Printable(
      fmt::format("The longest tasks of {} took {} longer than a mean task of the same stage. If "
                  "they had more data, more even partitions would help.",
                  worst->query.empty() ? "the job" : worst->query,
                  DurationText(absl::Seconds(*worst->skew_seconds))),
      options.unicode);
}

// The only one that runs, if no other is left.
const NamedTask* OnlyTask(const Snapshot& job) {
  const Counts& counts = job.counts;
  const bool is_last = counts.running_tasks == 1 && counts.finished_tasks > 0 &&
                       counts.tasks == counts.finished_tasks + 1;
  if (job.is_final || !is_last || job.named_tasks.empty() || counts.children > 0) return nullptr;
  return &job.named_tasks.front();
}

}  // namespace

std::optional<LoneTask> LoneTaskAfter(const std::optional<LoneTask>& lone, const Snapshot& next) {
  if (next.is_final) return lone;
  const NamedTask* task = OnlyTask(next);
  if (task == nullptr) return std::nullopt;
  LoneTask now = lone && lone->attempt == task->attempt
                     ? *lone
                     : LoneTask{.attempt = task->attempt, .since = next.at};
  if (!task->in_heaviest_group || task->heaviest_group_bytes == 0) return now;
  if (now.group_bytes != task->heaviest_group_bytes) {
    now.group_bytes = task->heaviest_group_bytes;
    now.group_since = next.at;
  }
  now.group_until = next.at;
  return now;
}

std::string TimeSpentText(const Snapshot& ended, const std::optional<LoneTask>& lone,
                          const Explanation* waits, const TextOptions& options) {
  const bool is_told =
      ended.is_final && ended.state == JobState::kSucceeded && ended.elapsed() >= kShortest;
  if (!is_told) return "";
  std::vector<std::string> sentences = {LongestPart(ended, options)};
  if (lone) sentences.push_back(Alone(ended, *lone, options));
  if (waits != nullptr) {
    sentences.push_back(Waited(*waits, options));
    sentences.push_back(Skewed(*waits, options));
  }
  std::erase(sentences, "");
  return fmt::format("{}", fmt::join(sentences, " "));
}

}  // namespace tidemark::console
