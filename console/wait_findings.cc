#include "console/wait_findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

#include "absl/time/time.h"
#include "console/duration_text.h"
#include "text/size_text.h"

namespace tidemark::console {
namespace {

// Chosen by hand.
constexpr double kShareShown = 0.1;
constexpr double kLongGroupShare = 0.5;
// Shorter times, in seconds, are shown with tenths.
constexpr double kTenthsBelow = 1;

std::string Size(double bytes) {
  constexpr double kLargest = 1e18;  // fits into the integer
  return text::SizeText(static_cast<std::uint64_t>(std::clamp(bytes, 0.0, kLargest)));
}

bool IsShown(double seconds) { return seconds >= kSecondsShown; }  // false for NaN

// Returns "25 of 33 s", "25 s (20-30 s) of 33 s", "40 s of 1 min 40 s".
std::string PartOfWhole(const std::string& part, const std::string& whole) {
  constexpr std::string_view kUnit = " s";
  const auto is_seconds = [&](std::string_view text) {
    return text.ends_with(kUnit) && text.find(' ') == text.size() - kUnit.size();
  };
  if (!is_seconds(part) || !is_seconds(whole)) return fmt::format("{} of {}", part, whole);
  return fmt::format("{} of {}", part.substr(0, part.size() - kUnit.size()), whole);
}

// Returns "sql/3 waited at least 10 s of 1 min 30 s for CPU on vm".
std::string Total(const Explanation& explanation, const QueryWaits& query, bool is_least,
                  const std::string& seconds, WaitReason reason, const std::string& host) {
  const std::string& name = query.query.empty() ? explanation.job_id : query.query;
  std::string part = seconds;
  if (query.seconds && explanation.is_partial) {
    part += " of the observed " + SecondsText(*query.seconds);
  } else if (query.seconds) {
    part = PartOfWhole(seconds, SecondsText(*query.seconds));
  }
  return fmt::format("{} waited {}{} {}{}", name, AtLeast(is_least), part, InfoOf(reason).phrase,
                     host.empty() ? "" : " on " + host);
}

// Returns the host that all waits have in common, or "".
std::string CommonHost(const std::vector<FoundWait>& waits) {
  const std::string host = waits.front().cause == nullptr ? "" : waits.front().cause->host;
  const bool is_common = std::ranges::all_of(waits, [&](const FoundWait& wait) {
    return wait.cause != nullptr && wait.cause->host == host;
  });
  return is_common ? host : "";
}

// Returns "behind job app-7 on vm". Omits the host if it is `common_host`.
std::string Behind(const std::string& job_id, const ContendingQuery& cause,
                   const std::string& common_host) {
  const bool is_job = !cause.job_id.empty() && cause.query.empty();
  const bool has_host = !cause.host.empty() && cause.host != common_host;
  return fmt::format("behind {}{}{}", is_job ? "job " : "", CauseName(job_id, cause),
                     has_host ? " on " + cause.host : "");
}

// Returns the interval of a wait. An incomplete answer has no intervals, since its upper limits
// apply only to the entries that have arrived.
std::string Limits(const Explanation& explanation, const FoundWait& wait, bool unicode) {
  if (explanation.more_to_come) return "";
  return LimitsText(wait.seconds, wait.cause->seconds_lower, wait.cause->seconds_upper, unicode);
}

// Returns the finding about `waits`, which are all waits of the query for one reason. REQUIRES: at
// least one wait.
WaitFinding FindingOf(const Explanation& explanation, const QueryWaits& query, WaitReason reason,
                      const std::vector<FoundWait>& waits, bool unicode) {
  WaitFinding finding = {.resource = reason};
  const QueryWait& all = query.waits[reason];
  double blamed = 0;
  for (const FoundWait& wait : waits) {
    blamed += wait.seconds;
    finding.blames_jobs |= wait.cause != nullptr && wait.cause->jobs > 0;
  }
  finding.seconds = std::max(blamed, all.seconds.value_or(0));
  const FoundWait& first = waits.front();
  const bool is_one =
      waits.size() == 1 && SecondsText(finding.seconds) == SecondsText(first.seconds);
  // If limits are shown, "at least" is omitted.
  const bool has_limits =
      is_one && first.cause != nullptr && !Limits(explanation, first, unicode).empty();
  const bool is_least = explanation.more_to_come || (has_limits ? first.is_least : all.is_least);
  const std::string seconds = SecondsText(finding.seconds);
  const std::string host = CommonHost(waits);
  if (first.cause == nullptr) {
    finding.sentence = Total(explanation, query, is_least, seconds, reason, "");
    if (!first.is_cause_left_out) finding.sentence += "; the cause is unknown";
    return finding;
  }
  if (is_one) {
    const std::string limits = Limits(explanation, first, unicode);
    finding.sentence =
        fmt::format("{} {}", Total(explanation, query, is_least, seconds + limits, reason, host),
                    Behind(explanation.job_id, *first.cause, host));
    return finding;
  }
  std::vector<std::string> parts;
  for (const FoundWait& wait : waits) {
    const bool is_part_least = explanation.more_to_come || wait.is_least;
    parts.push_back(fmt::format("{}{}{} {}", is_part_least ? AtLeast(true) : "about ",
                                SecondsText(wait.seconds), Limits(explanation, wait, unicode),
                                Behind(explanation.job_id, *wait.cause, host)));
  }
  finding.sentence = fmt::format(
      "{}: {}", Total(explanation, query, is_least, seconds, reason, host), fmt::join(parts, ", "));
  return finding;
}

}  // namespace

std::string CauseName(const std::string& job_id, const ContendingQuery& cause) {
  if (cause.job_id.empty()) {
    if (cause.jobs == 0) return "processes outside Tidemark";
    return cause.jobs == 1 ? "another job" : fmt::format("{} other jobs", cause.jobs);
  }
  if (cause.query.empty()) return cause.job_id;
  return cause.job_id == job_id ? cause.query : cause.job_id + "/" + cause.query;
}

std::vector<WaitFinding> WaitFindings(const Explanation& explanation, const QueryWaits& query,
                                      std::size_t culprits_max, bool unicode) {
  std::map<WaitReason, std::vector<FoundWait>> by_resource;
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

bool IsNotable(double seconds, double of_seconds) {
  return IsShown(seconds) && seconds >= kShareShown * of_seconds;
}

std::vector<FoundWait> FoundWaits(const QueryWaits& query, std::size_t culprits_max) {
  std::vector<FoundWait> found;
  for (const ContendingQuery& cause : query.culprits) {
    if (!IsShown(cause.seconds)) continue;
    const bool has_limits = cause.seconds_lower && cause.seconds_upper;
    found.push_back({.resource = cause.resource,
                     .seconds = cause.seconds,
                     .is_least = query.waits[cause.resource].is_least && !has_limits,
                     .cause = &cause});
  }
  for (const WaitReason resource : kWaitReasons) {
    const QueryWait& wait = query.waits[resource];
    const bool has_culprit = std::ranges::any_of(
        query.culprits, [&](const ContendingQuery& cause) { return cause.resource == resource; });
    // Waits for slots are shown only with their cause.
    if (resource == WaitReason::kSlots || has_culprit) continue;
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
  const bool is_found = IsNotable(more, *query.seconds) ||
                        (IsInOneGroup(task) && IsNotable(task.group_seconds, *query.seconds));
  return is_found ? &task : nullptr;
}

std::string_view AtLeast(bool is_least) { return is_least ? "at least " : ""; }

std::string SecondsText(double seconds) {
  if (seconds < kTenthsBelow) return ElapsedText(absl::Seconds(seconds));
  return DurationText(absl::Seconds(std::round(seconds)));
}

std::string LimitsText(double seconds, const std::optional<double>& lower,
                       const std::optional<double>& upper, bool unicode) {
  if (!lower || !upper) return "";
  const double digit = seconds < kTenthsBelow ? 0.1 : 1;
  if (!(*upper - *lower >= digit)) return "";
  const double scale = *upper < kTenthsBelow ? 10 : 1;
  // A lower limit that equals the value is rounded like it, if both have the same unit.
  const bool has_same_unit = (seconds < kTenthsBelow) == (*upper < kTenthsBelow);
  const bool is_equal = has_same_unit && *lower >= seconds * (1 - 1e-9);
  const double least = is_equal ? std::round(seconds * scale) : std::floor(*lower * scale);
  const double most = std::ceil(*upper * scale);
  if (*upper < kTenthsBelow) {
    return fmt::format(" ({:.1f}{}{:.1f} s)", least / scale, unicode ? "–" : "-", most / scale);
  }
  return fmt::format(" ({})", RangeText(absl::Seconds(least), absl::Seconds(most), unicode));
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
    text += fmt::format(" (mean of its stage: {})", SecondsText(task.mean_seconds));
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
      "read {} (past runs: {}); the additional data cost their tasks about {}{} in total",
      Size(growth.read_bytes), Size(growth.earlier_read_bytes), SecondsText(growth.task_seconds),
      LimitsText(growth.task_seconds, growth.task_seconds_lower, growth.task_seconds_upper,
                 unicode));
}

}  // namespace tidemark::console
