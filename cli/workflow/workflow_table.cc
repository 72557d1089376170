#include "cli/workflow/workflow_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/time/time.h"
#include "cli/console/duration_text.h"

namespace tidemark::cli {
namespace {

std::string Text(double seconds) { return console::DurationText(absl::Seconds(seconds)); }

}  // namespace

std::vector<std::string> WorkflowLines(const WorkflowFile& file, const WorkflowAnswer& answer) {
  const estimate::Range& end = answer.estimate.end;
  std::vector<std::string> lines;
  lines.push_back(
      fmt::format("{}: ends after {} (90 %: {} to {}) on {:g} slots, {:.0f} % of them busy",
                  file.name, Text(end.median), Text(end.lower), Text(end.upper),
                  file.on.cluster.capacity.cores, 100 * answer.busy_share));
  std::size_t width = 5;
  for (const StageAnswer& stage : answer.stages) width = std::max(width, stage.name.size());
  lines.push_back(fmt::format("  {:<{}}  {:>8}  {:>8}  {}", "stage", width, "starts", "ends", ""));
  for (const StageAnswer& stage : answer.stages) {
    std::string notes = stage.is_critical ? "critical" : "";
    if (!stage.bottleneck.empty()) {
      notes += fmt::format("{}bound by {}", notes.empty() ? "" : ", ", stage.bottleneck);
    }
    lines.push_back(fmt::format("  {:<{}}  {:>8}  {:>8}  {}", stage.name, width, Text(stage.start),
                                Text(stage.end), notes));
  }
  return lines;
}

std::vector<std::string> WhatIfLines(
    const std::vector<std::pair<double, WorkflowAnswer>>& answers) {
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{:>8}  {:>9}  {:>9}  {:>9}  {:>6}  {:>8}", "slots", "ends", "5 %",
                              "95 %", "busy", "speed-up"));
  for (const auto& [slots, answer] : answers) {
    const estimate::Range& end = answer.estimate.end;
    const double first = answers.front().second.estimate.end.median;
    const double speed_up = end.median > 0 ? first / end.median : 1;
    lines.push_back(fmt::format("{:>8g}  {:>9}  {:>9}  {:>9}  {:>4.0f} %  {:>7.2f}x", slots,
                                Text(end.median), Text(end.lower), Text(end.upper),
                                100 * answer.busy_share, speed_up));
  }
  return lines;
}

std::string WorkflowAnswerJson(const WorkflowFile& file, const WorkflowAnswer& answer) {
  nlohmann::ordered_json json = {{"workflow", file.name},
                                 {"slots", file.on.cluster.capacity.cores},
                                 {"seconds", answer.estimate.end.median},
                                 {"lower", answer.estimate.end.lower},
                                 {"upper", answer.estimate.end.upper},
                                 {"busy_share", answer.busy_share}};
  json["critical_path"] = nlohmann::ordered_json::array();
  for (const std::size_t stage : answer.estimate.critical_path) {
    json["critical_path"].push_back(answer.stages[stage].name);
  }
  json["stages"] = nlohmann::ordered_json::array();
  for (const StageAnswer& stage : answer.stages) {
    nlohmann::ordered_json of_stage = {
        {"name", stage.name}, {"start", stage.start}, {"end", stage.end}};
    if (!stage.bottleneck.empty()) of_stage["bottleneck"] = stage.bottleneck;
    json["stages"].push_back(of_stage);
  }
  return json.dump();
}

}  // namespace tidemark::cli
