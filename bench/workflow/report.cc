#include "bench/workflow/report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace tidemark::bench {
namespace {

using nlohmann::ordered_json;

using Field = std::pair<const char*, std::optional<double> Verdict::*>;
constexpr Field kFields[] = {{"makespan_err_mean", &Verdict::makespan_err_mean},
                             {"makespan_err_p90", &Verdict::makespan_err_p90},
                             {"avg_err", &Verdict::avg_err},
                             {"max_err", &Verdict::max_err},
                             {"end_err", &Verdict::end_err},
                             {"remaining_err_10", &Verdict::remaining_err_10},
                             {"remaining_err_25", &Verdict::remaining_err_25},
                             {"remaining_err_50", &Verdict::remaining_err_50},
                             {"remaining_err_75", &Verdict::remaining_err_75},
                             {"remaining_err_90", &Verdict::remaining_err_90},
                             {"coverage90", &Verdict::coverage90},
                             {"even_coverage", &Verdict::even_coverage},
                             {"width90", &Verdict::width90},
                             {"backward_shown", &Verdict::backward_shown}};

ordered_json JsonOf(const Verdict& verdict) {
  ordered_json json = {{"cases", verdict.cases}};
  for (const auto& [name, member] : kFields) {
    const std::optional<double>& value = verdict.*member;
    json[name] = value ? ordered_json(*value) : ordered_json(nullptr);
  }
  return json;
}

// One entry per data set: live predictions, and predictions before the start with one past run. The
// suites are in a separate object.
struct DataSet {
  const char* name;
  std::vector<const char*> suites;  // a field comes from the first suite that has it
};
const std::vector<DataSet>& DataSets() {
  static const auto* const kSets =
      new std::vector<DataSet>{{"tpch", {"tpch-live", "tpch-one-profile"}},
                               {"tpcds", {"tpcds-live-one-run", "tpcds-one-run"}},
                               {"mix", {"mix-fair"}}};
  return *kSets;
}

void AddDataSets(ordered_json& suites) {
  for (const auto& [name, parts] : DataSets()) {
    ordered_json whole = ordered_json::object();
    for (const char* part : parts) {
      if (!suites.contains(part)) continue;
      for (const auto& [indicator, fields] : suites[part].items()) {
        for (const auto& [field, value] : fields.items()) {
          ordered_json& target = whole[indicator][field];
          if (target.is_null()) target = value;
        }
      }
    }
    if (!whole.empty()) suites[name] = std::move(whole);
  }
}

std::string Cell(const std::optional<double>& value, double times, int digits) {
  return value ? fmt::format("{:.{}f}", *value * times, digits) : "-";
}

std::string LineOf(const std::string& name, const Verdict& v) {
  return fmt::format("  {:<18}{:>6}{:>9}{:>8}{:>8}{:>8}{:>8}{:>8}{:>7}{:>7}{:>7}\n", name, v.cases,
                     Cell(v.makespan_err_mean, 100, 1), Cell(v.makespan_err_p90, 100, 1),
                     Cell(v.avg_err, 1, 2), Cell(v.max_err, 1, 1), Cell(v.end_err, 100, 1),
                     Cell(v.remaining_err_50, 100, 1), Cell(v.coverage90, 1, 2),
                     Cell(v.even_coverage, 1, 2), Cell(v.width90, 1, 2));
}

}  // namespace

std::string WorkflowTable(const std::vector<Judged>& suites) {
  std::string table;
  for (const Judged& suite : suites) {
    table += fmt::format("{}\n  {:<18}{:>6}{:>9}{:>8}{:>8}{:>8}{:>8}{:>8}{:>7}{:>7}{:>7}\n",
                         suite.suite, "", "cases", "end %", "p90 %", "avgErr", "maxErr", "end %",
                         "at 50", "cover", "even", "width");
    for (const Row& row : suite.rows) {
      table += LineOf(row.indicator, row.all);
      if (row.indicator == "tidemark") table += LineOf("  held-out half", row.held_out);
    }
  }
  return table;
}

std::string WorkflowJson(const std::vector<Judged>& suites) {
  ordered_json json = {{"suites", ordered_json::object()}};
  for (const Judged& suite : suites) {
    ordered_json& of_suite = json["suites"][suite.suite] = ordered_json::object();
    for (const Row& row : suite.rows) {
      of_suite[row.indicator] = JsonOf(row.all);
      of_suite[row.indicator]["held_out"] = JsonOf(row.held_out);
    }
  }
  AddDataSets(json["suites"]);
  std::set<std::string> indicators;
  for (const Judged& suite : suites) {
    for (const Row& row : suite.rows) indicators.insert(row.indicator);
  }
  ordered_json& behind = json["behind"] = ordered_json::object();
  for (const std::string& name : indicators) behind[name] = SuitesBehind(suites, name, &Row::all);
  for (const std::string& name : indicators) {
    behind["held_out"][name] = SuitesBehind(suites, name, &Row::held_out);
  }
  return json.dump(1) + "\n";
}

}  // namespace tidemark::bench
