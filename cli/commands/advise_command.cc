#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/progress.h"
#include "cli/table_output.h"
#include "console/text.h"
#include "spark/log_files.h"
#include "spark/plan_reader.h"
#include "text/counted.h"
#include "text/size_text.h"
#include "whatif/advise/advice.h"

namespace tidemark::cli {
namespace {

// Number of plans in the table that are not advised, the best ones; -o json shows all.
constexpr std::size_t kNotAdvisedShown = 5;
constexpr std::size_t kUsersShown = 5;
// Most plans read from a history.
constexpr std::size_t kPlansMax = 100'000;
// Most files that are named because they are not logs.
constexpr std::size_t kOthersNamed = 20;

struct History {
  std::vector<advise::RanPlan> plans;
  std::size_t logs = 0;
  std::vector<std::string> troubles;
  bool is_damaged = false;
};

struct ReadLog {
  std::string path;
  spark::PlansOfLog plans;
};

// Adds a log, unless an earlier one is of the same run of its application, such as a compressed
// copy: the one with more events stays.
void AddLog(ReadLog log, std::vector<ReadLog>& logs, std::vector<std::string>& troubles) {
  const auto same = std::ranges::find_if(logs, [&](const ReadLog& other) {
    return !log.plans.run.empty() && other.plans.run == log.plans.run;
  });
  if (same == logs.end()) {
    logs.push_back(std::move(log));
    return;
  }
  if (log.plans.events > same->plans.events) std::swap(log, *same);
  troubles.push_back(
      fmt::format("{}: left out, since {} is of the same run", log.path, same->path));
}

// Reads the logs. A log that is named must be one; a file of a folder that is not is reported and
// left out.
absl::StatusOr<History> ReadHistory(const std::vector<std::string>& paths) {
  History history;
  std::vector<ReadLog> logs;
  std::size_t plans = 0;
  std::size_t others = 0;  // files that are no logs
  for (const std::string& path : paths) {
    const auto found = spark::LogsAt(path);
    if (!found.ok()) return found.status();
    if (found->empty()) {
      return absl::InvalidArgumentError(fmt::format("{} holds no event log of Spark", path));
    }
    for (const spark::LogFiles& log : *found) {
      if (plans >= kPlansMax) {
        history.troubles.push_back(
            fmt::format("{}: not read: there are {} plans before it", log.path, plans));
        continue;
      }
      auto read = spark::ReadPlans(log);
      if (!read.ok()) {
        if (found->size() == 1) return read.status();
        if (++others > kOthersNamed) continue;
        history.troubles.push_back(
            fmt::format("not read: {}", std::string(read.status().message())));
        continue;
      }
      plans += read->plans.size();
      AddLog({log.path, *std::move(read)}, logs, history.troubles);
    }
  }
  if (others > kOthersNamed) {
    history.troubles.push_back(fmt::format("not read: {} other files", others - kOthersNamed));
  }
  for (ReadLog& log : logs) {
    spark::PlansOfLog& read = log.plans;
    ++history.logs;
    if (!read.damage.ok()) {
      history.is_damaged = true;
      history.troubles.emplace_back(read.damage.message());
    }
    for (const std::string& remark : read.remarks) {
      history.troubles.push_back(fmt::format("{}: {}", log.path, remark));
    }
    if (read.left_out > 0) {
      history.troubles.push_back(fmt::format(
          "{}: {} that failed or whose end is not there {} left out", log.path,
          text::Counted(read.left_out, "execution"), read.left_out == 1 ? "is" : "are"));
    }
    std::move(read.plans.begin(), read.plans.end(), std::back_inserter(history.plans));
  }
  return history;
}

std::string SecondsText(double seconds) {
  if (seconds < 0) return "-" + SecondsText(-seconds);
  if (seconds < 0.05 && seconds > 0) return "less than 0.1 s";
  if (seconds < 600) return fmt::format("{:.1f} s", seconds);
  if (seconds < 2 * 3600) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string SizeOf(const advise::ResultPoint& point) {
  return point.bytes ? "<= " + text::SizeText(static_cast<std::uint64_t>(*point.bytes))
                     : "not told";
}

// "Aggregate of file:/data/gdelt.csv".
std::string NameOf(const advise::ResultPoint& point) {
  if (point.tables.empty()) return point.kind;
  return fmt::format("{} of {}", point.kind, fmt::join(point.tables, ", "));
}

// "2 uses by gdelt in sql/1 (count at Main.scala:7)", by program and line.
std::vector<std::string> UsersOf(const advise::ResultPoint& point) {
  std::map<std::pair<std::string, std::string>, std::vector<const advise::ResultUse*>> users;
  for (const advise::ResultUse& use : point.uses) users[{use.program, use.line}].push_back(&use);
  std::vector<std::string> texts;
  for (const auto& [user, uses] : users) {
    if (texts.size() == kUsersShown) {
      texts.push_back(fmt::format("and {} more", users.size() - kUsersShown));
      break;
    }
    std::string text = user.first.empty() ? uses.back()->application : user.first;
    text += fmt::format(", {}", user.second.empty() ? "a line that is not told" : user.second);
    text += uses.size() == 1 ? fmt::format(": {} of {}", uses[0]->execution, uses[0]->application)
                             : fmt::format(": {} times", uses.size());
    texts.push_back(std::move(text));
  }
  return texts;
}

// Of one application alone it need not be written.
bool IsOfOneApplication(const advise::ResultPoint& point) {
  return std::all_of(point.uses.begin(), point.uses.end(), [&](const advise::ResultUse& use) {
    return use.application == point.uses.front().application;
  });
}

std::string MarksOf(const advise::ResultPoint& point) {
  std::vector<std::string> marks;
  if (point.max_benefit_of > 0) {
    marks.push_back(
        fmt::format("the largest benefit of {}", text::Counted(point.max_benefit_of, "plan")));
  }
  if (point.is_on_skyline) marks.emplace_back("no other has more of both, benefit and uses");
  return fmt::format("{}", fmt::join(marks, "; "));
}

void AddDetails(const advise::ResultPoint& point, std::vector<std::string>& lines) {
  lines.push_back(
      fmt::format("   computing takes {}, reading {}, writing {}; each use saves {} to {}",
                  SecondsText(point.total_seconds.expected), SecondsText(point.read_seconds),
                  SecondsText(point.write_seconds), SecondsText(point.benefit.lower),
                  SecondsText(point.benefit.upper)));
  for (const std::string& step : point.steps) lines.push_back("   | " + step);
  for (const std::string& user : UsersOf(point)) lines.push_back("   used by " + user);
  if (const std::string marks = MarksOf(point); !marks.empty()) lines.push_back("   " + marks);
  if (point.is_advised && IsOfOneApplication(point)) {
    lines.emplace_back("   one application alone uses it: there, cache() does without files");
  }
  for (const std::string& doubt : point.doubts) lines.push_back("   " + doubt);
}

std::vector<std::string> Lines(const advise::Advice& advice, bool has_space) {
  std::vector<std::string> lines;
  std::size_t advised = 0;
  std::size_t others = 0;
  std::vector<std::string> not_advised;
  for (const advise::ResultPoint& point : advice.points) {
    if (point.is_advised) {
      if (advised > 0) lines.emplace_back();
      lines.push_back(fmt::format("{}. keep {}: saves {} a week ({} to {}), {}", ++advised,
                                  NameOf(point), SecondsText(point.saved_per_week.expected),
                                  SecondsText(point.saved_per_week.lower),
                                  SecondsText(point.saved_per_week.upper), SizeOf(point)));
      if (advice.weeks > 1) {
        lines.push_back(fmt::format("   in all of the history {}",
                                    SecondsText(point.saved_per_week.expected * advice.weeks)));
      }
      AddDetails(point, lines);
    } else if (others++ < kNotAdvisedShown) {
      not_advised.push_back(fmt::format("   {}, {}, {}, each saves {}: {}", NameOf(point),
                                        text::Counted(point.uses.size(), "use"), SizeOf(point),
                                        SecondsText(point.benefit.expected), point.why_not));
    }
  }
  if (advised == 0) lines.emplace_back("Nothing is worth keeping.");
  if (!not_advised.empty()) {
    lines.emplace_back();
    lines.emplace_back("Not advised:");
    lines.insert(lines.end(), not_advised.begin(), not_advised.end());
    const std::size_t hidden = others - not_advised.size() + advice.points_left_out;
    if (hidden > 0) lines.push_back(fmt::format("   and {} more", hidden));
  }
  lines.emplace_back();
  lines.push_back(
      fmt::format("{} of {} over {}; reading at {}/s", text::Counted(advice.plans, "plan"),
                  text::Counted(advice.applications, "application"),
                  advice.history_weeks < 1 ? SecondsText(advice.history_weeks * 7 * 24 * 3600)
                                           : fmt::format("{:.1f} weeks", advice.history_weeks),
                  text::SizeText(static_cast<std::uint64_t>(advice.read_rate))));
  if (advised > 0) {
    std::vector<std::string> policies;
    for (const advise::PolicyReplay& policy : advice.policies) {
      policies.push_back(
          fmt::format("{} {}", policy.policy, SecondsText(policy.replayed.saved_seconds)));
    }
    lines.push_back(fmt::format("Over the whole history{}: {}", has_space ? ", in that space" : "",
                                fmt::join(policies, ", ")));
  }
  for (const std::string& remark : advice.remarks) lines.push_back(remark);
  return lines;
}

nlohmann::json JsonOf(const advise::Range& range) {
  return {{"lower_s", range.lower}, {"expected_s", range.expected}, {"upper_s", range.upper}};
}

nlohmann::json JsonOf(const advise::ResultPoint& point) {
  nlohmann::json json = {{"id", fmt::format("{:016x}", point.signature)},
                         {"kind", point.kind},
                         {"steps", point.steps},
                         {"tables", point.tables},
                         {"advised", point.is_advised},
                         {"computing", JsonOf(point.total_seconds)},
                         {"critical_path_s", point.path_total_seconds},
                         {"read_s", point.read_seconds},
                         {"write_s", point.write_seconds},
                         {"benefit", JsonOf(point.benefit)},
                         {"saved_per_week", JsonOf(point.saved_per_week)},
                         {"uses_per_week", point.uses_per_week},
                         {"reuse_probability", point.reuse_probability},
                         {"different_data", point.data},
                         {"max_benefit_of", point.max_benefit_of},
                         {"skyline", point.is_on_skyline}};
  if (point.bytes) json["bytes_max"] = *point.bytes;
  if (!point.is_advised) json["why_not"] = point.why_not;
  json["doubts"] = point.doubts;
  json["uses"] = nlohmann::json::array();
  for (const advise::ResultUse& use : point.uses) {
    json["uses"].push_back({{"application", use.application},
                            {"program", use.program},
                            {"execution", use.execution},
                            {"line", use.line},
                            {"began", use.begin},
                            {"first_of_data", use.is_first},
                            {"benefit", JsonOf(use.benefit)}});
  }
  return json;
}

std::string Dumped(const nlohmann::json& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace);
}

int ShowJson(const advise::Advice& advice, TableFormat format) {
  if (format == TableFormat::kJsonl) {
    std::vector<std::string> lines;
    for (const advise::ResultPoint& point : advice.points) lines.push_back(Dumped(JsonOf(point)));
    return PrintLines(lines);
  }
  nlohmann::json json = {{"plans", advice.plans},
                         {"applications", advice.applications},
                         {"weeks", advice.history_weeks},
                         {"read_bytes_per_s", advice.read_rate},
                         {"saved_per_week_s", advice.saved_per_week},
                         {"bytes_max", advice.bytes},
                         {"points_left_out", advice.points_left_out},
                         {"remarks", advice.remarks}};
  json["points"] = nlohmann::json::array();
  for (const advise::ResultPoint& point : advice.points) json["points"].push_back(JsonOf(point));
  json["policies"] = nlohmann::json::object();
  for (const advise::PolicyReplay& policy : advice.policies) {
    json["policies"][policy.policy] = {{"saved_s", policy.replayed.saved_seconds},
                                       {"hits", policy.replayed.hits},
                                       {"writes", policy.replayed.writes},
                                       {"evictions", policy.replayed.evictions}};
  }
  return PrintLines({Dumped(json)});
}

int ReportAdviceError(const absl::Status& status) {
  Complain(std::string(status.message()));
  return absl::IsDataLoss(status) ? kLogTorn : kUsage;
}

}  // namespace

int Do(const AdviseArguments& arguments) {
  const auto history = ReadHistory(arguments.logs);
  if (!history.ok()) return ReportAdviceError(history.status());
  for (const std::string& trouble : history->troubles) Complain(trouble);
  const auto advice = advise::Advise(
      history->plans,
      {.space_bytes = arguments.space_bytes, .read_rate = arguments.read_bytes_per_second});
  if (!advice.ok()) {
    return ReportAdviceError(absl::Status(
        advice.status().code(),
        fmt::format("{} read: {}",
                    history->logs == 1 ? "1 log was" : fmt::format("{} logs were", history->logs),
                    std::string(advice.status().message()))));
  }
  int shown = kSuccess;
  if (IsJson(arguments.format)) {
    shown = ShowJson(*advice, arguments.format);
  } else {
    const auto options = TableOptionsFor(arguments.format);
    std::vector<std::string> lines = Lines(*advice, arguments.space_bytes.has_value());
    for (std::string& line : lines) line = console::Printable(line, options.text.unicode);
    shown = PrintLines(lines);
  }
  return shown == kSuccess && history->is_damaged ? kLogTorn : shown;
}

}  // namespace tidemark::cli
