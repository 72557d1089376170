#include "console/run_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "console/job_summary.h"
#include "console/job_wording.h"
#include "console/wait_findings.h"
#include "text/duration_text.h"
#include "text/size_text.h"

namespace tidemark::console {
namespace {

constexpr std::size_t kStagesShownMax = 12;
// Smaller relative differences are not mentioned. Chosen by hand.
constexpr double kMentionedShare = 0.05;

// The names of the stages of a run, each with the number of earlier stages with the same name.
using StageKey = std::pair<std::string, std::size_t>;

struct StageValues {
  std::optional<double> seconds;
  std::optional<double> bytes;
};

std::optional<double> SecondsBetween(std::optional<absl::Time> begin,
                                     std::optional<absl::Time> end) {
  if (!begin || !end || *end < *begin) return std::nullopt;
  return absl::ToDoubleSeconds(*end - *begin);
}

std::optional<double> InputBytesOf(const std::optional<Throughput>& throughput) {
  if (!throughput || throughput->bytes_done == 0) return std::nullopt;
  return static_cast<double>(throughput->bytes_done);
}

// Returns the stages of the job or the jobs of the workflow, in order. A part without a known end
// ended with the run. Omits parts without times.
std::vector<std::pair<StageKey, StageValues>> PartsOfRun(const Snapshot& job) {
  std::vector<std::pair<StageKey, StageValues>> parts;
  std::map<std::string, std::size_t> seen;
  const auto add = [&](std::string name, const auto& part, std::optional<double> bytes) {
    const std::size_t earlier = seen[name]++;
    const auto ended_at = part.ended_at ? part.ended_at : job.ended_at;
    const StageValues values = {SecondsBetween(part.started_at, ended_at), bytes};
    if (values.seconds) parts.push_back({{std::move(name), earlier}, values});
  };
  for (const Child& child : job.children) add(Printable(child.name, true), child, std::nullopt);
  if (!job.children.empty()) return parts;
  for (const StageProgress& stage : job.stages) {
    add(StageName(job, stage.id, {.unicode = true}), stage, InputBytesOf(stage.throughput));
  }
  return parts;
}

// Returns the wait in all queries of the run, or nullopt if it is unknown.
std::optional<double> TotalWaitOf(const ComparedRun& run, WaitReason reason) {
  std::optional<double> sum;
  if (!run.waits) return sum;
  for (const QueryWaits& query : run.waits->queries) {
    if (const auto& seconds = query.waits[reason].seconds) sum = sum.value_or(0) + *seconds;
  }
  return sum;
}

std::optional<double> FirstForecastOf(const Snapshot& job) {
  const IndicatorError* const error = ErrorOf(job, job.estimate.indicator);
  if (error == nullptr || !error->first_forecast) return std::nullopt;
  return absl::ToDoubleSeconds(*error->first_forecast);
}

std::string AmountText(double amount, ComparedUnit unit) {
  switch (unit) {
    case ComparedUnit::kSeconds:
      return text::ElapsedText(absl::Seconds(amount));
    case ComparedUnit::kBytes:
      return text::SizeText(static_cast<std::uint64_t>(std::clamp(amount, 0.0, 1e18)));
    case ComparedUnit::kCount:
      break;
  }
  return fmt::format("{:.0f}", amount);
}

// Returns "50 %", or "845 times" if the percentage has four digits. REQUIRES: before > 0.
std::string ChangeText(double before, double after) {
  const double percent = 100 * std::abs(after - before) / before;
  return percent < 999.5 ? fmt::format("{:.0f} %", percent)
                         : fmt::format("{:.0f} times", after / before);
}

// Returns false if the first value is shown as 0, since its change has no meaningful factor.
// REQUIRES: value.before is set.
bool HasBase(const ComparedValue& value) {
  return *value.before > 0 && AmountText(*value.before, value.unit) != AmountText(0, value.unit);
}

std::string DifferenceText(const ComparedValue& value) {
  if (!value.before || !value.after) return "-";
  const double more = *value.after - *value.before;
  const std::string amount = AmountText(std::abs(more), value.unit);
  if (amount == AmountText(0, value.unit)) return "same";
  const char* const sign = more < 0 ? "-" : "+";
  if (!HasBase(value)) return sign + amount;
  const std::string change = ChangeText(*value.before, *value.after);
  return fmt::format("{}{} ({}{})", sign, amount, change.ends_with('%') ? sign : "", change);
}

double StageDifference(const ComparedValue& value) {
  return std::abs(value.after.value_or(0) - value.before.value_or(0));
}

const ComparedValue* FindValue(const std::vector<ComparedValue>& values, const std::string& what) {
  const auto found = std::ranges::find(values, what, &ComparedValue::what);
  return found == values.end() ? nullptr : &*found;
}

// Returns "18 s longer" or "18 s less". REQUIRES: both values are set.
std::string LongerText(const ComparedValue& time) {
  const double more = *time.after - *time.before;
  return fmt::format("{} {}", AmountText(std::abs(more), time.unit), more < 0 ? "less" : "longer");
}

constexpr char kTime[] = "time";
constexpr char kIdle[] = "time without a task";
constexpr char kInput[] = ", input";

}  // namespace

std::vector<ComparedValue> CompareRuns(const ComparedRun& before, const ComparedRun& after) {
  std::vector<ComparedValue> values;
  const auto add = [&](ComparedValue value) {
    if (value.before || value.after) values.push_back(std::move(value));
  };
  const auto both = [&](const char* what, ComparedUnit unit, auto value_of) {
    add({.what = what, .unit = unit, .before = value_of(before), .after = value_of(after)});
  };
  both(kTime, ComparedUnit::kSeconds, [](const ComparedRun& run) -> std::optional<double> {
    if (!run.job.started_at) return std::nullopt;
    return absl::ToDoubleSeconds(run.job.elapsed());
  });
  both("first forecast", ComparedUnit::kSeconds,
       [](const ComparedRun& run) { return FirstForecastOf(run.job); });
  both("tasks", ComparedUnit::kCount, [](const ComparedRun& run) {
    return std::optional(static_cast<double>(run.job.counts.tasks));
  });
  both("failed attempts", ComparedUnit::kCount, [](const ComparedRun& run) {
    return std::optional(static_cast<double>(run.job.counts.failed_attempts));
  });
  both("input of all tasks", ComparedUnit::kBytes,
       [](const ComparedRun& run) { return InputBytesOf(run.job.throughput); });
  const auto parts_before = PartsOfRun(before.job);
  const auto parts_after = PartsOfRun(after.job);
  std::map<StageKey, StageValues> of_after(parts_after.begin(), parts_after.end());
  const auto add_part = [&](const StageKey& key, const StageValues& one, const StageValues& other) {
    const std::string name =
        key.second == 0 ? key.first : fmt::format("{} ({})", key.first, key.second + 1);
    add({.what = name, .before = one.seconds, .after = other.seconds, .is_stage = true});
    add({.what = name + kInput,
         .unit = ComparedUnit::kBytes,
         .before = one.bytes,
         .after = other.bytes});
  };
  for (const auto& [key, of_before] : parts_before) {
    const auto matched = of_after.extract(key);
    add_part(key, of_before, matched.empty() ? StageValues() : matched.mapped());
  }
  for (const auto& [key, values_after] : parts_after) {
    if (of_after.contains(key)) add_part(key, {}, values_after);
  }
  const auto idle = [](const ComparedRun& run) -> std::optional<double> {
    const std::optional<IdleTime> time = IdleTimeOf(run.job);
    return time ? std::optional(absl::ToDoubleSeconds(time->total)) : std::nullopt;
  };
  // Most MapReduce jobs have little such time.
  const auto shows_idle = [&](const ComparedRun& run) {
    const std::optional<double> seconds = idle(run);
    return seconds && (run.job.info->kind == JobKind::kApplication ||
                       IsNotable(*seconds, absl::ToDoubleSeconds(run.job.elapsed())));
  };
  if (shows_idle(before) || shows_idle(after)) {
    add({.what = kIdle, .before = idle(before), .after = idle(after), .is_stage = true});
  }
  for (const WaitReason reason : kWaitReasons) {
    add({.what = fmt::format("waits {}", std::string(InfoOf(reason).phrase)),
         .before = TotalWaitOf(before, reason),
         .after = TotalWaitOf(after, reason)});
  }
  return values;
}

std::string ComparisonSentence(const ComparedRun& before, const ComparedRun& after,
                               const std::vector<ComparedValue>& values) {
  for (const ComparedRun* run : {&before, &after}) {
    if (run->job.is_final) continue;
    return fmt::format("{} has no reported end; its times end with its last report", run->name);
  }
  for (const ComparedRun* run : {&before, &after}) {
    const bool has_failed = run->job.state == JobState::kFailed;
    if (!has_failed && run->job.state != JobState::kKilled) continue;
    return fmt::format("{} {} after {}", run->name, has_failed ? "failed" : "was killed",
                       text::ElapsedText(run->job.elapsed()));
  }
  const ComparedValue* const time = FindValue(values, kTime);
  if (time == nullptr || !time->before || !time->after) return "";
  const double more = *time->after - *time->before;
  if (std::abs(more) <= kMentionedShare * *time->before) {
    return fmt::format("{} took about as long", after.name);
  }
  std::string text = fmt::format("{} took {}", after.name, LongerText(*time));
  if (HasBase(*time)) {
    const std::string change = ChangeText(*time->before, *time->after);
    text += fmt::format(" ({}{})", change, change.ends_with('%') ? "" : " as long");
  }
  // The stage that explains most of the difference has changed in the same direction.
  const ComparedValue* stage = nullptr;
  for (const ComparedValue& value : values) {
    const double change = value.after.value_or(0) - value.before.value_or(0);
    if (!value.is_stage || change * more <= 0) continue;
    if (stage == nullptr || StageDifference(value) > StageDifference(*stage)) stage = &value;
  }
  if (stage == nullptr || StageDifference(*stage) < kMentionedShare * std::abs(more)) return text;
  if (!stage->before || !stage->after) {
    return text + fmt::format("; only {} had {}, which took {}",
                              stage->after ? after.name : "the other run", stage->what,
                              AmountText(StageDifference(*stage), ComparedUnit::kSeconds));
  }
  text += fmt::format("; {} {} {}", stage->what, stage->what == kIdle ? "was" : "took",
                      LongerText(*stage));
  const ComparedValue* const input = FindValue(values, stage->what + kInput);
  if (input == nullptr || !input->before || !input->after) return text;
  const double grown = *input->after - *input->before;
  if (std::abs(grown) < kMentionedShare * *input->before) return text + ", with the same input";
  const std::string change = ChangeText(*input->before, *input->after);
  if (!change.ends_with('%')) return text + fmt::format(", with {} the input", change);
  return text + fmt::format(", with {} {} input", change, grown < 0 ? "less" : "more");
}

ComparisonTable DescribeComparison(const std::vector<ComparedValue>& values,
                                   const TextOptions& options) {
  std::vector<double> differences;
  for (const ComparedValue& value : values) {
    if (value.is_stage) differences.push_back(StageDifference(value));
  }
  std::ranges::sort(differences, std::greater<>());
  const bool is_cut = differences.size() > kStagesShownMax;
  const double least = is_cut ? differences[kStagesShownMax - 1] : 0;
  const auto cell = [](const std::optional<double>& amount, ComparedUnit unit) {
    return amount ? AmountText(*amount, unit) : "-";
  };
  ComparisonTable table;
  std::size_t stages = 0;
  bool is_shown = true;  // whether the stage of the value is shown
  for (const ComparedValue& value : values) {
    if (value.is_stage) {
      is_shown = StageDifference(value) >= least && stages < kStagesShownMax;
      ++(is_shown ? stages : table.stages_left_out);
    } else if (!value.what.ends_with(kInput)) {
      is_shown = true;
    }
    if (!is_shown) continue;
    table.rows.push_back({Printable(value.what, options.unicode), cell(value.before, value.unit),
                          cell(value.after, value.unit), DifferenceText(value)});
  }
  return table;
}

std::vector<std::string> RenderComparison(const ComparedRun& before, const ComparedRun& after,
                                          const std::vector<ComparedValue>& values,
                                          const TableOptions& options) {
  ComparisonTable table = DescribeComparison(values, options.text);
  table.rows.insert(table.rows.begin(),
                    Row{"", Printable(before.name, options.text.unicode),
                        Printable(after.name, options.text.unicode), "DIFFERENCE"});
  std::vector<std::string> lines = RenderTable(table.rows, options);
  if (table.stages_left_out > 0) {
    lines.push_back(
        TableLine(fmt::format("{} less; -o json lists all",
                              table.stages_left_out == 1
                                  ? "1 more stage differs"
                                  : fmt::format("{} more stages differ", table.stages_left_out)),
                  options, Style::kDim));
  }
  if (const std::string sentence = ComparisonSentence(before, after, values); !sentence.empty()) {
    lines.push_back(TableLine(Printable(sentence, options.text.unicode), options));
  }
  return lines;
}

}  // namespace tidemark::console
