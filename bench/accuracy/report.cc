#include "bench/accuracy/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

#include "bench/accuracy/printed.h"
#include "tidemark/event.h"

namespace tidemark::bench {
namespace {

using Json = nlohmann::ordered_json;

Json OrNull(const auto& value) { return value ? Json(*value) : Json(nullptr); }

Json RowJson(const Row& row) {
  return {{"suite", row.suite},         {"job", row.job},         {"data", row.data},
          {"split", NameOf(row.split)}, {"workers", row.workers}, {"waves", row.waves},
          {"scenario", row.scenario}};
}

Json FiguresJson(const auto& metrics) {
  Json figures = {{"avg_err", metrics.avg_err},
                  {"shown_err", metrics.shown_err},
                  {"max_err", metrics.max_err},
                  {"eta_err", metrics.eta_err},
                  {"backward", metrics.backward},
                  {"backward_shown", metrics.backward_shown},
                  {"coverage90", OrNull(metrics.coverage90)},
                  {"width90", OrNull(metrics.width90)},
                  {"ratio50", OrNull(metrics.ratio50)}};
  for (std::size_t i = 0; i < kMilestones.size(); ++i) {
    figures["at"][fmt::format("{}", kMilestones[i])] = {
        {"end_err", OrNull(metrics.at[i].end_error)}, {"hit", OrNull(metrics.at[i].hit)}};
  }
  return figures;
}

Json MeanJson(const MeanMetrics& mean) {
  if (mean.runs == 0) return nullptr;
  Json json = FiguresJson(mean);
  json["even_coverage"] = OrNull(mean.even_coverage);
  json["rows_behind"] = mean.rows_behind;
  return json;
}

bool All(const Row& /*row*/) { return true; }
std::function<bool(const Row&)> In(Split split) {
  return [split](const Row& row) { return row.split == split; };
}

// Returns the distinct suites of the rows, such as "paper+stress".
std::string SuitesOf(const std::vector<RowResult>& results) {
  std::vector<std::string> suites;
  std::string joined;
  for (const RowResult& result : results) {
    const std::string& suite = result.row.suite;
    if (std::find(suites.begin(), suites.end(), suite) != suites.end()) continue;
    suites.push_back(suite);
    joined += (joined.empty() ? "" : "+") + suite;
  }
  return joined;
}

const char* NameOf(AttemptState state) {
  switch (state) {
    case AttemptState::kFailed:
      return "failed";
    case AttemptState::kKilled:
      return "killed";
    default:
      return "finished";
  }
}

Json AttemptsJson(const Timeline& timeline) {
  Json attempts = Json::array();
  for (const Attempt& attempt : timeline.attempts) {
    attempts.push_back({{"task", attempt.task},
                        {"attempt", attempt.number},
                        {"node", attempt.slot},
                        {"start", attempt.start},
                        {"end", attempt.end},
                        {"outcome", NameOf(attempt.outcome)}});
  }
  return attempts;
}

// --- Table ---

class Table {
 public:
  // Names of lines have at most `name_width` characters.
  Table(std::vector<std::string> indicators, std::size_t name_width)
      : indicators_(std::move(indicators)), name_width_(name_width) {}

  void AddHead() {
    AddLine("avgErr / maxErr, percentage points", [](const std::string& name) { return name; });
  }
  void AddLine(const std::string& name,
               const std::function<std::string(const std::string&)>& cell) {
    text_ += fmt::format("{:<{}}", name, name_width_);
    for (const std::string& indicator : indicators_) {
      text_ += fmt::format(" {:>{}}", cell(indicator), WidthOf(indicator));
    }
    text_ += '\n';
  }
  void AddSpace() { text_ += '\n'; }
  std::string Take() { return std::move(text_); }

 private:
  static std::size_t WidthOf(const std::string& indicator) {
    return std::max<std::size_t>(indicator.size(), 11);
  }
  std::vector<std::string> indicators_;
  std::size_t name_width_;
  std::string text_;
};

std::string TitleOf(const Row& row) {
  return fmt::format("{} ({})", row.name(), NameOf(row.split));
}
std::string Errors(const MeanMetrics& mean) {
  if (mean.runs == 0) return "-";
  return fmt::format("{:.2f} / {:.1f}", mean.avg_err, mean.max_err);
}
Lateness LatenessOf(const std::vector<RowResult>& results, const std::string& indicator,
                    const std::function<bool(const Row&)>& wanted) {
  Lateness sum;
  for (const RowResult& result : results) {
    if (!wanted(result.row)) continue;
    for (std::size_t i = 0; i < result.indicators.size(); ++i) {
      if (result.indicators[i] != indicator) continue;
      for (const RunResult& run : result.runs) sum.Add(run.lateness[i]);
    }
  }
  return sum;
}

// Adds the errors of each job of the suite `paper` next to the printed errors. Both are means over
// the job's data sets for the reduce phase alone.
void AddPrinted(const std::vector<RowResult>& results, Table& table) {
  std::vector<std::string> jobs;
  for (const RowResult& result : results) {
    const Row& row = result.row;
    const bool is_printed = row.suite == "paper" && PrintedErrorOf(row.job, "nearestfit");
    if (is_printed && std::ranges::count(jobs, row.job) == 0) jobs.push_back(row.job);
  }
  if (jobs.empty()) return;
  table.AddSpace();
  for (const std::string& job : jobs) {
    const auto is_of_job = [&](const Row& row) { return row.suite == "paper" && row.job == job; };
    table.AddLine(job + ", measured", [&](const std::string& name) {
      return Errors(MeanOf(results, name, is_of_job));
    });
    table.AddLine(job + ", printed in [NF] Table 2", [&](const std::string& name) -> std::string {
      const std::optional<PrintedError> printed = PrintedErrorOf(job, name);
      return printed ? fmt::format("{:.2f} / {:.1f}", printed->average, printed->largest) : "-";
    });
  }
}

std::string Percent(std::optional<double> share) {
  return share ? fmt::format("{:.1f} %", 100 * *share) : "-";
}

}  // namespace

std::string TableOf(const std::vector<RowResult>& results) {
  constexpr std::size_t kNameWidthMin = 42;  // width for the lines below the rows
  std::size_t name_width = kNameWidthMin;
  for (const RowResult& result : results) {
    name_width = std::max(name_width, TitleOf(result.row).size());
  }
  Table table(IndicatorsOf(results), name_width);
  table.AddHead();
  for (const RowResult& result : results) {
    table.AddLine(TitleOf(result.row),
                  [&](const std::string& name) { return Errors(MeanOf(result, name)); });
  }
  table.AddSpace();
  const auto add_means = [&](const char* title, const std::function<bool(const Row&)>& wanted) {
    table.AddLine(title,
                  [&](const std::string& name) { return Errors(MeanOf(results, name, wanted)); });
  };
  add_means("mean of all", All);
  add_means("mean of train", In(Split::kTrain));
  add_means("mean of valid", In(Split::kValid));
  const auto add_figure = [&](const char* title, auto figure) {
    table.AddLine(title, [&](const std::string& name) -> std::string {
      return figure(MeanOf(results, name, All));
    });
  };
  add_figure("relative error of the remaining time",
             [](const MeanMetrics& mean) { return Percent(mean.eta_err); });
  add_figure("updates with falling progress",
             [](const MeanMetrics& mean) { return Percent(mean.backward); });
  add_figure("coverage of the 90 % interval",
             [](const MeanMetrics& mean) { return Percent(mean.coverage90); });
  add_figure("width of the 90 % interval, relative to the remaining time",
             [](const MeanMetrics& mean) { return Percent(mean.width90); });
  add_figure("runs with a coverage of 75 % or more",
             [](const MeanMetrics& mean) { return Percent(mean.even_coverage); });
  add_figure("rows more than 0.5 points behind the best",
             [](const MeanMetrics& mean) { return fmt::format("{}", mean.rows_behind); });
  const auto add_lateness = [&](const char* title, LateBins Lateness::*of) {
    table.AddLine(title, [&](const std::string& name) {
      return Percent((LatenessOf(results, name, All).*of).largest_error());
    });
  };
  add_lateness("probability of lateness, deadlines near the forecast", &Lateness::near_forecast);
  add_lateness("probability of lateness, deadlines near the end", &Lateness::near_end);
  AddPrinted(results, table);
  return table.Take();
}

std::string JsonOf(const std::vector<RowResult>& results) {
  Json rows = Json::array();
  for (const RowResult& result : results) {
    for (const RunResult& run : result.runs) {
      for (std::size_t i = 0; i < result.indicators.size(); ++i) {
        Json row = RowJson(result.row);
        row["seed"] = run.seed;
        row["indicator"] = result.indicators[i];
        row.update(FiguresJson(run.metrics[i]));
        rows.push_back(std::move(row));
      }
    }
  }
  Json means = Json::object();
  Json behind = Json::object();
  Json late = Json::object();
  for (const std::string& name : IndicatorsOf(results)) {
    means[name] = MeanJson(MeanOf(results, name, All));
    means[name]["train"] = MeanJson(MeanOf(results, name, In(Split::kTrain)));
    means[name]["valid"] = MeanJson(MeanOf(results, name, In(Split::kValid)));
    behind[name] = MeanOf(results, name, All).rows_behind;
    late[name] = LatenessJson(LatenessOf(results, name, All));
    late[name]["train"] = LatenessJson(LatenessOf(results, name, In(Split::kTrain)));
    late[name]["valid"] = LatenessJson(LatenessOf(results, name, In(Split::kValid)));
  }
  return Json({{"suite", SuitesOf(results)},
               {"rows", rows},
               {"mean", means},
               {"behind", behind},
               {"late", late}})
             .dump(1) +
         "\n";
}

std::string CurvesOf(const std::vector<RowResult>& results) {
  std::string lines;
  for (const RowResult& result : results) {
    for (const RunResult& run : result.runs) {
      Json row = RowJson(result.row);
      row["seed"] = run.seed;
      row["phase_seconds"] = run.simulation.timeline.end;
      Json swimlanes = row;
      swimlanes["attempts"] = AttemptsJson(run.simulation.timeline);
      lines += swimlanes.dump() + "\n";
      for (const IndicatorRecord& record : run.simulation.records) {
        Json curve = row;
        curve["indicator"] = record.indicator;
        curve["updates"] = PredictionsJson(record.predictions);
        lines += curve.dump() + "\n";
      }
    }
  }
  return lines;
}

namespace {

constexpr double kEvenCoverage = 0.75;
// An indicator is behind in a row if its error exceeds the error of the best other indicator by
// more than this value.
constexpr double kBehindPoints = 0.5;

// Adds the indicator's runs in a row.
void AddRuns(const RowResult& result, const std::string& indicator,
             std::vector<const Metrics*>& runs) {
  const auto found = std::find(result.indicators.begin(), result.indicators.end(), indicator);
  if (found == result.indicators.end()) return;
  const auto place = static_cast<std::size_t>(found - result.indicators.begin());
  for (const RunResult& run : result.runs) runs.push_back(&run.metrics[place]);
}

// Returns the mean of the available values.
template <typename ValueOf>
std::optional<double> Mean(const std::vector<const Metrics*>& runs, ValueOf value_of) {
  double sum = 0;
  int count = 0;
  for (const Metrics* run : runs) {
    const auto value = std::optional(value_of(*run));
    if (!value) continue;
    sum += static_cast<double>(*value);
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional(sum / count);
}

MeanMetrics MeansOf(const std::vector<const Metrics*>& runs) {
  const auto mean = [&](double Metrics::*figure) {
    return Mean(runs, [&](const Metrics& run) { return run.*figure; }).value_or(0);
  };
  MeanMetrics means = {.runs = static_cast<int>(runs.size()),
                       .avg_err = mean(&Metrics::avg_err),
                       .shown_err = mean(&Metrics::shown_err),
                       .max_err = mean(&Metrics::max_err),
                       .eta_err = mean(&Metrics::eta_err),
                       .backward = mean(&Metrics::backward),
                       .backward_shown = mean(&Metrics::backward_shown),
                       .coverage90 = Mean(runs, [](const Metrics& run) { return run.coverage90; }),
                       .width90 = Mean(runs, [](const Metrics& run) { return run.width90; }),
                       .ratio50 = Mean(runs, [](const Metrics& run) { return run.ratio50; }),
                       .even_coverage = Mean(runs, [](const Metrics& run) -> std::optional<double> {
                         if (!run.coverage90) return std::nullopt;
                         return *run.coverage90 >= kEvenCoverage ? 1 : 0;
                       })};
  for (std::size_t i = 0; i < means.at.size(); ++i) {
    means.at[i] = {.end_error = Mean(runs, [i](const Metrics& run) { return run.at[i].end_error; }),
                   .hit = Mean(runs, [i](const Metrics& run) { return run.at[i].hit; })};
  }
  return means;
}

// Returns true if the indicator is a published or obvious rule.
bool IsSimple(const std::string& indicator) {
  return indicator != kOracle && !indicator.starts_with("tidemark");
}

bool IsBehind(const RowResult& result, const std::string& indicator) {
  const double own = MeanOf(result, indicator).avg_err;
  return std::any_of(result.indicators.begin(), result.indicators.end(),
                     [&](const std::string& other) {
                       return other != indicator && IsSimple(other) &&
                              MeanOf(result, other).avg_err < own - kBehindPoints;
                     });
}

}  // namespace

std::vector<std::string> IndicatorsOf(const std::vector<RowResult>& results) {
  return results.empty() ? std::vector<std::string>() : results.front().indicators;
}

MeanMetrics MeanOf(const RowResult& result, const std::string& indicator) {
  std::vector<const Metrics*> runs;
  AddRuns(result, indicator, runs);
  return MeansOf(runs);
}

MeanMetrics MeanOf(const std::vector<RowResult>& results, const std::string& indicator,
                   const std::function<bool(const Row&)>& wanted) {
  std::vector<const Metrics*> runs;
  int rows_behind = 0;
  for (const RowResult& result : results) {
    if (!wanted(result.row)) continue;
    AddRuns(result, indicator, runs);
    rows_behind += IsBehind(result, indicator) ? 1 : 0;
  }
  MeanMetrics mean = MeansOf(runs);
  mean.rows_behind = rows_behind;
  return mean;
}

}  // namespace tidemark::bench
