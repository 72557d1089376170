#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/master_call.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "console/text.h"
#include "text/counted.h"
#include "text/size_text.h"
#include "whatif/advise/advice.h"
#include "whatif/keep_results.h"

namespace tidemark::cli {
namespace {

// Maximum number of results that are shown although they are not advised; -o json shows all.
constexpr std::size_t kNotAdvisedShown = 5;
constexpr std::size_t kUsersShown = 5;

std::string SecondsText(double seconds) {
  if (seconds < 0) return "-" + SecondsText(-seconds);
  if (seconds < 0.05 && seconds > 0) return "less than 0.1 s";
  if (seconds < 600) return fmt::format("{:.1f} s", seconds);
  if (seconds < 2 * 3600) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

// Returns "10.1–38.0 s", with a hyphen instead of the dash in ASCII.
std::string RangeText(const advise::Bounds& bounds, bool unicode) {
  std::string lower = SecondsText(bounds.lower);
  const std::string upper = SecondsText(bounds.upper);
  const std::size_t unit = lower.rfind(' ');
  if (std::isdigit(lower[0]) != 0 && upper.ends_with(lower.substr(unit))) lower.resize(unit);
  return fmt::format("{}{}{}", lower, unicode ? "–" : "-", upper);
}

std::string SizeOf(const advise::ResultPoint& point) {
  if (!point.bytes) return "size unknown";
  return *point.bytes >= 1 ? "at most " + text::SizeText(static_cast<std::uint64_t>(*point.bytes))
                           : "0 B";
}

// Returns "Aggregate of file:/data/gdelt.csv".
std::string NameOf(const advise::ResultPoint& point) {
  if (point.tables.empty()) return point.kind;
  return fmt::format("{} of {}", point.kind, fmt::join(point.tables, ", "));
}

// Returns "gdelt, count at Main.scala:7: sql/1 of app-1" for each program and line.
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
    text += fmt::format(", {}", user.second.empty() ? "unknown line" : user.second);
    text += uses.size() == 1 ? fmt::format(": {} of {}", uses[0]->execution, uses[0]->application)
                             : fmt::format(": {} times", uses.size());
    texts.push_back(std::move(text));
  }
  return texts;
}

// Returns true if all uses are in one application, which can then cache the result without files.
bool IsOfOneApplication(const advise::ResultPoint& point) {
  return std::all_of(point.uses.begin(), point.uses.end(), [&](const advise::ResultUse& use) {
    return use.application == point.uses.front().application;
  });
}

std::string MarksOf(const advise::ResultPoint& point) {
  std::vector<std::string> marks;
  if (point.max_benefit_of > 0) {
    marks.push_back(
        fmt::format("the largest benefit in {}", text::Counted(point.max_benefit_of, "plan")));
  }
  if (point.is_on_skyline)
    marks.emplace_back("no other result has both a larger benefit and more uses");
  return fmt::format("{}", fmt::join(marks, "; "));
}

void AddDetails(const advise::ResultPoint& point, bool unicode, std::vector<std::string>& lines) {
  lines.push_back(fmt::format("   computing takes {}, reading {}, writing {}; each use saves {}",
                              SecondsText(point.total_seconds.expected),
                              SecondsText(point.read_seconds), SecondsText(point.write_seconds),
                              RangeText(point.benefit, unicode)));
  for (const std::string& step : point.steps) lines.push_back("   | " + step);
  for (const std::string& user : UsersOf(point)) lines.push_back("   used by " + user);
  if (const std::string marks = MarksOf(point); !marks.empty()) lines.push_back("   " + marks);
  if (point.is_advised && IsOfOneApplication(point)) {
    lines.emplace_back("   only one application uses it, so cache() suffices");
  }
  for (const std::string& doubt : point.doubts) lines.push_back("   " + doubt);
}

// Returns " over 3.5 weeks", or "" for a history of one moment.
std::string HistoryText(double weeks) {
  constexpr double kWeekSeconds = 7 * 24 * 3600;
  constexpr double kYearWeeks = 52.18;
  if (weeks * kWeekSeconds < 1) return "";
  if (weeks < 1) return " over " + SecondsText(weeks * kWeekSeconds);
  return weeks < 2 * kYearWeeks ? fmt::format(" over {:.1f} weeks", weeks)
                                : fmt::format(" over {:.1f} years", weeks / kYearWeeks);
}

std::vector<std::string> Lines(const advise::Advice& advice, bool has_space, bool unicode) {
  std::vector<std::string> lines;
  std::size_t advised = 0;
  std::size_t others = 0;
  std::vector<std::string> not_advised;
  for (const advise::ResultPoint& point : advice.points) {
    if (point.is_advised) {
      if (advised > 0) lines.emplace_back();
      lines.push_back(fmt::format("{}. keep {}: saves {} a week ({}), {}", ++advised, NameOf(point),
                                  SecondsText(point.saved_per_week.expected),
                                  RangeText(point.saved_per_week, unicode), SizeOf(point)));
      if (advice.weeks > 1) {
        lines.push_back(fmt::format("   saves {} over the whole history",
                                    SecondsText(point.saved_per_week.expected * advice.weeks)));
      }
      AddDetails(point, unicode, lines);
    } else if (others++ < kNotAdvisedShown) {
      const double benefit = point.benefit.expected;
      not_advised.push_back(fmt::format("   {}, {}, {}, each use {} {}: {}", NameOf(point),
                                        text::Counted(point.uses.size(), "use"), SizeOf(point),
                                        benefit < 0 ? "would cost" : "saves",
                                        SecondsText(std::abs(benefit)), point.why_not));
    }
  }
  if (advised == 0) {
    lines.emplace_back("No intermediate result is worth keeping.");
  }
  for (const advise::RepeatedRuns& repeated : advice.repeated) {
    lines.push_back(fmt::format(
        "{} ran {} times with identical plans on identical data: keeping its results would have "
        "saved {} of {} after the first run{}",
        repeated.program.empty() ? "an unnamed program" : repeated.program, repeated.runs,
        SecondsText(repeated.saved_seconds), SecondsText(repeated.seconds),
        repeated.has_own_code
            ? "; compare its functions, which the log identifies only by name and line"
            : ""));
  }
  if (!not_advised.empty()) {
    lines.emplace_back();
    lines.emplace_back("Not recommended:");
    lines.insert(lines.end(), not_advised.begin(), not_advised.end());
    const std::size_t hidden = others - not_advised.size() + advice.points_left_out;
    if (hidden > 0) lines.push_back(fmt::format("   and {} more", hidden));
  }
  lines.emplace_back();
  lines.push_back(fmt::format("{} of {}{}; reading at {}/s", text::Counted(advice.plans, "plan"),
                              text::Counted(advice.applications, "application"),
                              HistoryText(advice.history_weeks),
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

nlohmann::json JsonOf(const advise::Bounds& range) {
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

int ShowJson(const advise::Advice& advice, TableFormat format) {
  if (format == TableFormat::kJsonl) {
    std::vector<std::string> lines;
    for (const advise::ResultPoint& point : advice.points) lines.push_back(JsonText(JsonOf(point)));
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
  json["repeated"] = nlohmann::json::array();
  for (const advise::RepeatedRuns& repeated : advice.repeated) {
    json["repeated"].push_back({{"program", repeated.program},
                                {"runs", repeated.runs},
                                {"seconds", repeated.seconds},
                                {"saved_s", repeated.saved_seconds},
                                {"has_own_code", repeated.has_own_code}});
  }
  json["policies"] = nlohmann::json::object();
  for (const advise::PolicyReplay& policy : advice.policies) {
    json["policies"][policy.policy] = {{"saved_s", policy.replayed.saved_seconds},
                                       {"hits", policy.replayed.hits},
                                       {"writes", policy.replayed.writes},
                                       {"evictions", policy.replayed.evictions}};
  }
  return PrintLines({JsonText(json)});
}

}  // namespace

int Run(const AdviseArguments& arguments) {
  const whatif::KeepAnswer answer = whatif::AdviseFromLogs(
      arguments.logs,
      {.space_bytes = arguments.space_bytes, .read_rate = arguments.read_bytes_per_second});
  for (const std::string& warning : answer.warnings) PrintError(warning);
  if (!answer.advice.ok()) {
    PrintError(answer.advice.status());
    return answer.is_damaged || absl::IsDataLoss(answer.advice.status()) ? kLogTorn : kUsage;
  }
  int shown = kSuccess;
  if (IsJson(arguments.format)) {
    shown = ShowJson(*answer.advice, arguments.format);
  } else {
    const auto options = TableOptionsFor(arguments.format);
    std::vector<std::string> lines =
        Lines(*answer.advice, arguments.space_bytes.has_value(), options.text.unicode);
    for (std::string& line : lines) line = console::Printable(line, options.text.unicode);
    shown = PrintLines(lines);
  }
  return shown == kSuccess && answer.is_damaged ? kLogTorn : shown;
}

namespace {

void AddSize(CLI::App& app, const char* name, std::optional<double>& target, const char* help) {
  const auto take = [&target](std::uint64_t bytes) { target = static_cast<double>(bytes); };
  Size(app.add_option_function<std::uint64_t>(name, take, help));
}

}  // namespace

void AddAdvise(CLI::App& root, Invocation& invocation) {
  CLI::App& app =
      *root.add_subcommand("advise", "Recommend intermediate Spark results that are worth keeping");
  auto& arguments = ArgumentsOf<AdviseArguments>(app, invocation, Run);
  app.add_option("LOG", arguments.logs, "Spark event logs, or folders of them")
      ->required()
      ->expected(1, -1);
  AddSize(app, "--space", arguments.space_bytes,
          "Space for stored results, such as 10GiB [unlimited]");
  AddSize(app, "--read-rate", arguments.read_bytes_per_second,
          "Read rate of stored results per second, such as 200MB [from the logs]");
  AddFormat(app, arguments.format, "-o,--output,--format");
  AddFooter(
      app,
      "This command stores no results. Exit code: 0 success, 2 a log cannot be read or has no\n"
      "plan, 4 a log is truncated or damaged.");
}

}  // namespace tidemark::cli
