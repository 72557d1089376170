#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/console/text.h"
#include "cli/exit_code.h"
#include "cli/progress.h"
#include "cli/spark_remarks.h"
#include "cli/table_output.h"
#include "master/blame/query_waits.h"
#include "spark/log_reader.h"

namespace tidemark::cli {
namespace {

using blame::Resource;

// Less is not worth a word.
constexpr double kSecondsShown = 0.05;

std::string_view Named(Resource resource) {
  return resource == Resource::kScheduler ? "slots" : blame::Name(resource);
}

std::string_view WaitedFor(Resource resource) {
  switch (resource) {
    case Resource::kScheduler:
      return "for a slot";
    case Resource::kProcessor:
      return "for a processor";
    case Resource::kMemory:
      return "for garbage collection";
    case Resource::kNetwork:
      return "for shuffle data";
    case Resource::kIo:
      return "for shuffle writes";
  }
  return "";
}

std::string Text(const blame::QueryWait& wait) {
  if (!wait.seconds) return "not told";
  return fmt::format("{}{:.1f} s", wait.is_least ? ">= " : "", *wait.seconds);
}

std::vector<std::string> Cells(const blame::QueryWaits& query) {
  std::vector<std::string> cells = {query.query, Text({query.seconds})};
  for (const Resource resource : blame::kResources) cells.push_back(Text(query.waits[resource]));
  return cells;
}

// "sql/3 waited, of 60.0 s: 8.0 s for a slot because of sql/1; 2.0 s ..., cause not told".
std::string Sentence(const blame::QueryWaits& query) {
  std::vector<std::string> parts;
  for (const blame::Culprit& culprit : query.culprits) {
    if (culprit.seconds < kSecondsShown) continue;
    const std::string where = culprit.host.empty() ? "" : " on " + culprit.host;
    parts.push_back(fmt::format("{:.1f} s {}{} because of {}", culprit.seconds,
                                WaitedFor(culprit.resource), where, culprit.query));
  }
  for (const Resource resource : blame::kResources) {
    const blame::QueryWait& wait = query.waits[resource];
    if (resource == Resource::kScheduler || wait.seconds.value_or(0) < kSecondsShown) continue;
    const bool has_culprit =
        std::any_of(query.culprits.begin(), query.culprits.end(),
                    [&](const blame::Culprit& culprit) { return culprit.resource == resource; });
    if (has_culprit) continue;
    parts.push_back(fmt::format("{:.1f} s {}, cause not told", *wait.seconds, WaitedFor(resource)));
  }
  if (parts.empty()) return "";
  const std::string lasted = query.seconds ? fmt::format(", of {:.1f} s", *query.seconds) : "";
  return fmt::format("{} waited{}: {}", query.query, lasted, fmt::join(parts, "; "));
}

std::vector<std::string> Lines(const std::vector<blame::QueryWaits>& queries) {
  std::vector<std::vector<std::string>> rows = {
      {"QUERY", "LASTED", "SLOTS", "PROCESSOR", "MEMORY", "NETWORK", "IO"}};
  for (const blame::QueryWaits& query : queries) rows.push_back(Cells(query));
  std::vector<int> widths(rows[0].size(), 0);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], console::Columns(row[i]));
    }
  }
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    std::string line = console::PadRight(row[0], widths[0]);
    for (std::size_t i = 1; i < row.size(); ++i) {
      line += "  " + console::PadLeft(row[i], widths[i]);
    }
    lines.push_back(line);
  }
  lines.emplace_back();
  const std::size_t table = lines.size();
  bool has_metrics = false;
  bool has_slots = false;
  for (const blame::QueryWaits& query : queries) {
    if (std::string sentence = Sentence(query); !sentence.empty()) lines.push_back(sentence);
    for (const Resource resource : blame::kResources) {
      bool& is_told = resource == Resource::kScheduler ? has_slots : has_metrics;
      is_told = is_told || query.waits[resource].seconds.has_value();
    }
  }
  if (!has_metrics) {
    lines.emplace_back("Of what was asked, no task told how long it waited: there are no metrics.");
  }
  if (lines.size() == table && has_slots) {
    lines.emplace_back("No query is seen to have waited for another.");
  }
  return lines;
}

nlohmann::json JsonOf(const blame::QueryWaits& query) {
  nlohmann::json json = {{"query", query.query}};
  if (query.seconds) json["seconds"] = *query.seconds;
  json["waits"] = nlohmann::json::object();
  for (const Resource resource : blame::kResources) {
    const blame::QueryWait& wait = query.waits[resource];
    if (!wait.seconds) continue;
    nlohmann::json& told = json["waits"][std::string(Named(resource))];
    told["seconds"] = *wait.seconds;
    if (wait.is_least) told["is_least"] = true;
  }
  json["because_of"] = nlohmann::json::array();
  for (const blame::Culprit& culprit : query.culprits) {
    nlohmann::json cause = {{"query", culprit.query},
                            {"resource", std::string(Named(culprit.resource))},
                            {"seconds", culprit.seconds}};
    if (!culprit.host.empty()) cause["host"] = culprit.host;
    json["because_of"].push_back(cause);
  }
  return json;
}

int Wrong(const absl::Status& status) {
  Complain(std::string(status.message()));
  return absl::IsDataLoss(status) ? kLogTorn : kUsage;
}

}  // namespace

int Do(const WhyArguments& arguments) {
  const auto log = spark::LogReader::Open(arguments.log, {});
  if (!log.ok()) return Wrong(log.status());
  blame::RunWaits waits;
  absl::Status trouble;
  for (;;) {
    const auto event = (*log)->Next();
    trouble = event.status();
    if (!event.ok() || !*event) break;
    waits.Apply(**event);
  }
  if (!trouble.ok() && !absl::IsDataLoss(trouble)) return Wrong(trouble);
  waits.Finish();
  const std::vector<blame::QueryWaits> queries = waits.Ask(arguments.question);
  if (queries.empty() && trouble.ok()) {
    Complain(arguments.question.query.empty()
                 ? fmt::format("{}: no task has ended; there is nothing to say", arguments.log)
                 : fmt::format("{}: no query {} ran tasks; without --query all that did are shown",
                               arguments.log, arguments.question.query));
    return kUsage;
  }
  for (const std::string& remark : RemarksOn(**log, 0)) {
    Complain(fmt::format("{}: {}", arguments.log, remark));
  }
  int shown = kSuccess;
  if (IsJson(arguments.format)) {
    std::vector<std::string> values;
    for (const blame::QueryWaits& query : queries) {
      values.push_back(JsonOf(query).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
    }
    shown = PrintJson(std::move(values), arguments.format);
  } else if (!queries.empty()) {
    const auto options = TableOptionsFor(arguments.format);
    std::vector<std::string> lines = Lines(queries);
    for (std::string& line : lines) line = console::Printable(line, options.text.unicode);
    shown = PrintLines(lines);
  }
  return shown == kSuccess && !trouble.ok() ? Wrong(trouble) : shown;
}

}  // namespace tidemark::cli
