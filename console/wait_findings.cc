#include "console/wait_findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>

#include "absl/time/time.h"
#include "console/duration_text.h"
#include "text/size_text.h"

namespace tidemark::console {
namespace {

// Less is not worth a word.
constexpr double kSecondsShown = 0.05;
// Taste.
constexpr double kShareShown = 0.1;
constexpr double kLongGroupShare = 0.5;
// Below it ElapsedText() has tenths.
constexpr double kTenthsBelow = 10;

std::string Size(double bytes) {
  constexpr double kLargest = 1e18;  // fits into the integer
  return text::SizeText(static_cast<std::uint64_t>(std::clamp(bytes, 0.0, kLargest)));
}

bool IsShown(double seconds) { return seconds >= kSecondsShown; }  // no NaN

// "sql/3 waited 10 s of 1 min 30 s for a slot".
std::string Total(const Explanation& explanation, const QueryWaits& query,
                  const std::string& waited, WaitedResource resource) {
  const std::string& name = query.query.empty() ? explanation.job_id : query.query;
  const std::string lasted = query.seconds ? " of " + SecondsText(*query.seconds) : "";
  return fmt::format("{} waited {}{} {}", name, waited, lasted, WaitedFor(resource));
}

std::string Behind(const std::string& job_id, const Culprit& culprit) {
  return fmt::format("behind {}{}", CulpritName(job_id, culprit),
                     culprit.host.empty() ? "" : " on " + culprit.host);
}

// Upper limits apply only to entries that are already in the answer.
std::string Limits(const Explanation& explanation, const FoundWait& wait, bool unicode) {
  if (explanation.more_to_come) return "";
  return LimitsText(wait.seconds, wait.culprit->seconds_lower, wait.culprit->seconds_upper,
                    unicode);
}

// `waits`: all of `resource`, at least one.
WaitFinding FindingOf(const Explanation& explanation, const QueryWaits& query,
                      WaitedResource resource, const std::vector<FoundWait>& waits, bool unicode) {
  WaitFinding finding = {.resource = resource};
  const QueryWait& all = query.waits[resource];
  double blamed = 0;
  for (const FoundWait& wait : waits) {
    blamed += wait.seconds;
    finding.blames_jobs |= wait.culprit != nullptr && wait.culprit->jobs > 0;
  }
  finding.seconds = std::max(blamed, all.seconds.value_or(0));
  const FoundWait& first = waits.front();
  const bool is_one =
      waits.size() == 1 && SecondsText(finding.seconds) == SecondsText(first.seconds);
  const bool is_least = explanation.more_to_come || (is_one ? first.is_least : all.is_least);
  const std::string seconds = fmt::format("{}{}", AtLeast(is_least), SecondsText(finding.seconds));
  if (first.culprit == nullptr) {
    finding.sentence = Total(explanation, query, seconds, resource);
    if (!first.is_cause_left_out) finding.sentence += "; the cause is unknown";
    return finding;
  }
  if (is_one) {
    finding.sentence = fmt::format(
        "{} {}", Total(explanation, query, seconds + Limits(explanation, first, unicode), resource),
        Behind(explanation.job_id, *first.culprit));
    return finding;
  }
  std::vector<std::string> parts;
  for (const FoundWait& wait : waits) {
    const bool is_part_least = explanation.more_to_come || wait.is_least;
    parts.push_back(fmt::format("{}{}{} {}", is_part_least ? AtLeast(true) : "about ",
                                SecondsText(wait.seconds), Limits(explanation, wait, unicode),
                                Behind(explanation.job_id, *wait.culprit)));
  }
  finding.sentence =
      fmt::format("{}: {}", Total(explanation, query, seconds, resource), fmt::join(parts, ", "));
  return finding;
}

}  // namespace

std::string CulpritName(const std::string& job_id, const Culprit& culprit) {
  if (culprit.job_id.empty()) {
    if (culprit.jobs == 0) return "processes outside Tidemark";
    return culprit.jobs == 1 ? "another job" : fmt::format("{} other jobs", culprit.jobs);
  }
  if (culprit.query.empty()) return culprit.job_id;
  return culprit.job_id == job_id ? culprit.query : culprit.job_id + "/" + culprit.query;
}

std::vector<WaitFinding> WaitFindings(const Explanation& explanation, const QueryWaits& query,
                                      std::size_t culprits_max, bool unicode) {
  std::map<WaitedResource, std::vector<FoundWait>> by_resource;
  for (const FoundWait& wait : FoundWaits(query, culprits_max)) {
    by_resource[wait.resource].push_back(wait);
  }
  std::vector<WaitFinding> findings;
  for (const auto& [resource, waits] : by_resource) {
    findings.push_back(FindingOf(explanation, query, resource, waits, unicode));
  }
  std::ranges::stable_sort(findings, std::ranges::greater(), &WaitFinding::seconds);
  return findings;
}

bool IsWorthTelling(double seconds, double of_seconds) {
  return IsShown(seconds) && seconds >= kShareShown * of_seconds;
}

std::vector<FoundWait> FoundWaits(const QueryWaits& query, std::size_t culprits_max) {
  std::vector<FoundWait> found;
  for (const Culprit& culprit : query.culprits) {
    if (!IsShown(culprit.seconds)) continue;
    const bool has_limits = culprit.seconds_lower && culprit.seconds_upper;
    found.push_back({.resource = culprit.resource,
                     .seconds = culprit.seconds,
                     .is_least = query.waits[culprit.resource].is_least && !has_limits,
                     .culprit = &culprit});
  }
  for (const WaitedResource resource : kWaitedResources) {
    const QueryWait& wait = query.waits[resource];
    const bool has_culprit = std::ranges::any_of(
        query.culprits, [&](const Culprit& culprit) { return culprit.resource == resource; });
    // Of slots only what others held is told.
    if (resource == WaitedResource::kScheduler || has_culprit) continue;
    if (!IsShown(wait.seconds.value_or(0))) continue;
    found.push_back({.resource = resource,
                     .seconds = *wait.seconds,
                     .is_least = wait.is_least,
                     .is_cause_left_out = query.culprits.size() >= culprits_max});
  }
  return found;
}

bool IsInOneGroup(const LongestTask& task) {
  return task.group_bytes > 0 && task.seconds > 0 &&
         task.group_seconds >= kLongGroupShare * task.seconds;
}

const LongestTask* FoundLongestTask(const QueryWaits& query) {
  if (!query.longest_task || !query.seconds) return nullptr;
  const LongestTask& task = *query.longest_task;
  const double more = task.seconds - task.mean_seconds;
  const bool is_found = IsWorthTelling(more, *query.seconds) ||
                        (IsInOneGroup(task) && IsWorthTelling(task.group_seconds, *query.seconds));
  return is_found ? &task : nullptr;
}

std::string_view AtLeast(bool is_least) { return is_least ? "at least " : ""; }

std::string SecondsText(double seconds) { return ElapsedText(absl::Seconds(seconds)); }

std::string LimitsText(double seconds, const std::optional<double>& lower,
                       const std::optional<double>& upper, bool unicode) {
  if (!lower || !upper) return "";
  const double digit = seconds < kTenthsBelow ? 0.1 : 1;
  if (!(*upper - *lower >= digit)) return "";
  if (*upper < kTenthsBelow) {
    return fmt::format(" ({:.1f}{}{:.1f} s)", std::floor(*lower * 10) / 10, unicode ? "–" : "-",
                       std::ceil(*upper * 10) / 10);
  }
  const absl::Duration whole = absl::Seconds(1);
  return fmt::format(" ({})", RangeText(absl::Floor(absl::Seconds(*lower), whole),
                                        absl::Ceil(absl::Seconds(*upper), whole), unicode));
}

std::string_view WaitedFor(WaitedResource resource) {
  switch (resource) {
    case WaitedResource::kScheduler:
      return "for a slot";
    case WaitedResource::kProcessor:
      return "for a processor";
    case WaitedResource::kMemory:
      return "for garbage collection";
    case WaitedResource::kNetwork:
      return "for shuffle data";
    case WaitedResource::kIo:
      return "for shuffle writes";
  }
  return "";
}

std::string LongestTaskText(const LongestTask& task) {
  std::string text;
  switch (task.kind) {
    case StageKind::kMap:
      text = fmt::format("map task {}", task.attempt.index);
      break;
    case StageKind::kReduce:
      text = fmt::format("reduce task {}", task.attempt.index);
      break;
    default:
      text = fmt::format("task {} of stage {}", task.attempt.index, task.attempt.stage);
  }
  if (task.attempt.attempt > 0) text += fmt::format(", attempt {}", task.attempt.attempt);
  if (!task.host.empty()) text += " on " + task.host;
  return text;
}

std::string LongestTaskTimes(const LongestTask& task) {
  std::string text = SecondsText(task.seconds);
  if (task.mean_seconds < task.seconds) {
    text += fmt::format(" (a mean task of its stage {})", SecondsText(task.mean_seconds));
  }
  if (IsInOneGroup(task)) {
    text += fmt::format(", {} of that in one key group of {}",
                        SecondsText(std::min(task.group_seconds, task.seconds)),
                        text::SizeText(task.group_bytes));
  }
  return text;
}

std::string GrowthText(const DataGrowth& growth, bool unicode) {
  return fmt::format(
      "stages of it read {}, in earlier runs {}: that took their tasks about {}{} more, summed "
      "over tasks",
      Size(growth.read_bytes), Size(growth.earlier_read_bytes), SecondsText(growth.task_seconds),
      LimitsText(growth.task_seconds, growth.task_seconds_lower, growth.task_seconds_upper,
                 unicode));
}

}  // namespace tidemark::console
