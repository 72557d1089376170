#include "master/forecast/durations/white_box.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tidemark::gray_box {
namespace {

bool IsRecordedAmount(double value) { return value >= 0 && std::isfinite(value); }

absl::Status CheckRuns(std::size_t parameters, std::size_t runs) {
  if (parameters == runs && runs > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(runs, " runs and the parameters of ", parameters, "; there has to be a run"));
}

// Times `factor`; what no earlier run knew is named, and widens.
Forecast Scaled(Forecast forecast, double factor, const std::vector<std::string>& unknown) {
  forecast.value = std::max(forecast.value, 0.0) * factor;
  forecast.deviation *= factor;
  if (!unknown.empty()) {
    forecast.never_varied.insert(forecast.never_varied.end(), unknown.begin(), unknown.end());
    forecast.deviation = std::max(2 * forecast.deviation, forecast.value / 2);
  }
  return forecast;
}

}  // namespace

absl::StatusOr<CardinalityModel> CardinalityModel::Learn(std::span<const Parameters> parameters,
                                                         std::span<const Cardinality> runs) {
  if (absl::Status wrong = CheckRuns(parameters.size(), runs.size()); !wrong.ok()) return wrong;
  Features features(parameters);
  std::vector<std::vector<double>> rows, rows_of_widths;
  std::vector<double> records, widths;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Cardinality& run = runs[i];
    if (!IsRecordedAmount(run.records_in) || !IsRecordedAmount(run.bytes_in) ||
        !IsRecordedAmount(run.records_out) || !IsRecordedAmount(run.bytes_out)) {
      return absl::InvalidArgumentError(absl::StrCat("run ", i, ": a negative or endless amount"));
    }
    if (run.records_in == 0) continue;
    rows.push_back(features.ValuesOf(parameters[i]));
    records.push_back(run.records_out / run.records_in);
    if (run.records_out == 0 || run.bytes_in == 0) continue;
    rows_of_widths.push_back(rows.back());
    widths.push_back(run.bytes_out / run.records_out / (run.bytes_in / run.records_in));
  }
  if (rows.empty()) {
    return absl::FailedPreconditionError("no run read a record; what comes out is not known");
  }
  if (widths.empty()) {  // nothing ever came out
    rows_of_widths.push_back(rows.front());
    widths.push_back(0);
  }
  auto of_records = LinearModel::Fit(features.names(), rows, records);
  if (!of_records.ok()) return of_records.status();
  auto of_widths = LinearModel::Fit(features.names(), rows_of_widths, widths);
  if (!of_widths.ok()) return of_widths.status();
  return CardinalityModel(std::move(features), *std::move(of_records), *std::move(of_widths));
}

CardinalityForecast CardinalityModel::Predict(const Parameters& parameters, double records_in,
                                              double width_in) const {
  const std::vector<double> values = features_.ValuesOf(parameters);
  const std::vector<std::string> unknown = features_.Unknown(parameters);
  return {Scaled(records_.Predict(values), records_in, unknown),
          Scaled(width_.Predict(values), width_in, unknown)};
}

absl::StatusOr<RepetitionModel> RepetitionModel::Learn(std::span<const Parameters> parameters,
                                                       std::span<const StageCounts> runs) {
  if (absl::Status wrong = CheckRuns(parameters.size(), runs.size()); !wrong.ok()) return wrong;
  RepetitionModel model{Features(parameters)};
  std::vector<std::vector<double>> rows;
  std::set<std::uint64_t> works;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    rows.push_back(model.features_.ValuesOf(parameters[i]));
    for (const auto& [work, count] : runs[i]) works.insert(work);
  }
  for (const std::uint64_t work : works) {
    std::vector<double> counts;
    for (const StageCounts& run : runs) {
      const auto count = run.find(work);
      counts.push_back(count == run.end() ? 0 : count->second);
    }
    auto fitted = LinearModel::Fit(model.features_.names(), rows, counts);
    if (!fitted.ok()) return fitted.status();
    model.counts_.emplace(work, *std::move(fitted));
  }
  return model;
}

std::map<std::uint64_t, Forecast> RepetitionModel::Predict(const Parameters& parameters) const {
  const std::vector<double> values = features_.ValuesOf(parameters);
  const std::vector<std::string> unknown = features_.Unknown(parameters);
  std::map<std::uint64_t, Forecast> counts;
  for (const auto& [work, model] : counts_) {
    Forecast count = Scaled(model.Predict(values), 1, unknown);
    count.value = std::round(count.value);
    counts.emplace(work, std::move(count));
  }
  return counts;
}

std::map<std::uint64_t, std::vector<Choice>> RepetitionModel::workflow_controls() const {
  std::map<std::uint64_t, std::vector<Choice>> controls;
  for (const auto& [work, model] : counts_) {
    if (!model.choices().empty()) controls.emplace(work, model.choices());
  }
  return controls;
}

}  // namespace tidemark::gray_box
