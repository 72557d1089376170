#include "master/forecast/durations/parameters.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "master/forecast/placement/dag.h"

namespace tidemark::durations {
namespace {

bool ParseNumber(const std::string& text, double& number) {
  return absl::SimpleAtod(text, &number) && std::isfinite(number);
}

std::set<std::string> WordsIn(const std::string& text) {
  std::set<std::string> words;
  for (absl::string_view word : absl::StrSplit(text, ',')) {
    word = absl::StripAsciiWhitespace(word);
    if (!word.empty()) words.emplace(word);
  }
  return words;
}

std::vector<std::string> MostFrequent(const std::map<std::string, std::size_t>& counts) {
  std::vector<std::pair<std::size_t, std::string>> by_count;
  for (const auto& [word, count] : counts) by_count.emplace_back(count, word);
  std::stable_sort(by_count.begin(), by_count.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (by_count.size() > kWordsMax) by_count.resize(kWordsMax);
  std::vector<std::string> words;
  for (auto& [count, word] : by_count) words.push_back(std::move(word));
  std::sort(words.begin(), words.end());
  return words;
}

}  // namespace

Features::Features(std::span<const Parameters> runs) {
  std::map<std::string, std::map<std::string, std::size_t>> words;
  for (const Parameters& run : runs) {
    for (const auto& [name, value] : run) {
      double number = 0;
      const bool is_number = ParseNumber(value, number);
      const auto [place, is_new] = parameters_.try_emplace(name, Parameter{.is_number = is_number});
      place->second.is_number = place->second.is_number && is_number;
      place->second.last = value;
      for (const std::string& word : WordsIn(value)) ++words[name][word];
    }
  }
  for (auto& [name, parameter] : parameters_) {
    if (parameter.is_number) {
      names_.push_back(name);
      continue;
    }
    parameter.words = MostFrequent(words[name]);
    names_.push_back(absl::StrCat(name, ".count"));
    for (const std::string& word : parameter.words) names_.push_back(absl::StrCat(name, ".", word));
  }
}

std::vector<std::string> Features::parameter_names() const {
  std::vector<std::string> names;
  for (const auto& [name, parameter] : parameters_) names.push_back(name);
  return names;
}

std::vector<double> Features::ValuesOf(const Parameters& parameters) const {
  std::vector<double> values;
  for (const auto& [name, parameter] : parameters_) {
    const auto given = parameters.find(name);
    const std::string& value = given == parameters.end() ? parameter.last : given->second;
    if (parameter.is_number) {
      double number = 0;
      if (!ParseNumber(value, number)) ParseNumber(parameter.last, number);
      values.push_back(number);
      continue;
    }
    const std::set<std::string> words = WordsIn(value);
    values.push_back(static_cast<double>(words.size()));
    for (const std::string& word : parameter.words) values.push_back(words.count(word) > 0 ? 1 : 0);
  }
  return values;
}

std::vector<std::string> Features::Unknown(const Parameters& parameters) const {
  std::vector<std::string> unknown;
  for (const auto& [name, value] : parameters) {
    const auto known = parameters_.find(name);
    double number = 0;
    if (known == parameters_.end() || (known->second.is_number && !ParseNumber(value, number))) {
      unknown.push_back(name);
    } else if (!known->second.is_number) {
      const std::vector<std::string>& words = known->second.words;
      for (const std::string& word : WordsIn(value)) {
        if (!std::binary_search(words.begin(), words.end(), word)) {
          unknown.push_back(absl::StrCat(name, ".", word));
        }
      }
    }
  }
  return unknown;
}

std::vector<std::string> Features::NonNumeric(const Parameters& parameters) const {
  std::vector<std::string> wrong;
  for (const auto& [name, value] : parameters) {
    const auto known = parameters_.find(name);
    double number = 0;
    if (known == parameters_.end() || !known->second.is_number) continue;
    if (!ParseNumber(value, number)) wrong.push_back(name);
  }
  return wrong;
}

namespace {

bool IsRecordedAmount(double value) { return value >= 0 && std::isfinite(value); }

absl::Status CheckRuns(std::size_t parameters, std::size_t runs) {
  if (parameters == runs && runs > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(runs, " runs but parameters of ", parameters, "; at least one run is needed"));
}

// Multiplies the forecast by `factor`. If there are unknown parameters, adds them to `never_varied`
// and widens the forecast.
regression::Forecast Scaled(regression::Forecast forecast, double factor,
                            const std::vector<std::string>& unknown) {
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
      return absl::InvalidArgumentError(
          absl::StrCat("run ", i, ": an amount is negative or not finite"));
    }
    if (run.records_in == 0) continue;
    rows.push_back(features.ValuesOf(parameters[i]));
    records.push_back(run.records_out / run.records_in);
    if (run.records_out == 0 || run.bytes_in == 0) continue;
    rows_of_widths.push_back(rows.back());
    widths.push_back(run.bytes_out / run.records_out / (run.bytes_in / run.records_in));
  }
  if (rows.empty()) {
    return absl::FailedPreconditionError("no run read a record, so the output is unknown");
  }
  if (widths.empty()) {  // No run had any output.
    rows_of_widths.push_back(rows.front());
    widths.push_back(0);
  }
  auto of_records = regression::LinearModel::Fit(features.names(), rows, records);
  if (!of_records.ok()) return of_records.status();
  auto of_widths = regression::LinearModel::Fit(features.names(), rows_of_widths, widths);
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
    auto fitted = regression::LinearModel::Fit(model.features_.names(), rows, counts);
    if (!fitted.ok()) return fitted.status();
    model.counts_.emplace(work, *std::move(fitted));
  }
  return model;
}

std::map<std::uint64_t, regression::Forecast> RepetitionModel::Predict(
    const Parameters& parameters) const {
  const std::vector<double> values = features_.ValuesOf(parameters);
  const std::vector<std::string> unknown = features_.Unknown(parameters);
  std::map<std::uint64_t, regression::Forecast> counts;
  for (const auto& [work, model] : counts_) {
    regression::Forecast count = Scaled(model.Predict(values), 1, unknown);
    count.value = std::round(count.value);
    counts.emplace(work, std::move(count));
  }
  return counts;
}

std::map<std::uint64_t, std::vector<regression::Choice>> RepetitionModel::workflow_controls()
    const {
  std::map<std::uint64_t, std::vector<regression::Choice>> controls;
  for (const auto& [work, model] : counts_) {
    if (!model.choices().empty()) controls.emplace(work, model.choices());
  }
  return controls;
}

namespace {

class Repeating {
 public:
  Repeating(const std::vector<RepeatableStage>& ran,
            const std::map<std::uint64_t, std::uint32_t>& counts)
      : ran_(ran) {
    for (std::size_t i = 0; i < ran.size(); ++i) {
      std::vector<std::size_t>& turns = turns_[ran[i].work];
      turn_.push_back(turns.size());
      turns.push_back(i);
    }
    std::size_t all = ran.size();
    std::size_t added_edges = 0;
    for (const auto& [work, count] : counts) {
      const auto found = turns_.find(work);
      if (found == turns_.end() || work == 0) continue;
      const std::size_t wanted = std::clamp<std::size_t>(count, 1, kRepeatedStagesMax);
      if (wanted == found->second.size()) continue;
      wanted_[work] = wanted;
      all += wanted;
      const std::vector<std::size_t>& turns = found->second;
      if (wanted > turns.size())
        added_edges += (wanted - turns.size()) * ran[turns.back()].after.size();
    }
    if (all > kRepeatedStagesMax || added_edges > kAddedEdgesMax) wanted_.clear();
  }

  std::vector<RepeatedStage> Build() {
    for (std::size_t i = 0; i < ran_.size(); ++i) {
      if (!IsChanged(i) || turn_[i] < Wanted(i)) Add({.like = i});
    }
    for (const auto& [work, wanted] : wanted_) {
      const std::vector<std::size_t>& turns = turns_.at(work);
      for (std::size_t turn = turns.size(); turn < wanted; ++turn) {
        Add({.like = turns.back(), .turns_later = turn - turns.size() + 1});
      }
    }
    for (RepeatedStage& stage : stages_) {
      std::set<std::size_t> after;
      for (const std::size_t parent : ran_[stage.like].after) {
        if (const auto place = ParentOf(stage, parent)) after.insert(*place);
      }
      stage.after.assign(after.begin(), after.end());
    }
    return std::move(stages_);
  }

 private:
  bool IsChanged(std::size_t ran) const { return wanted_.contains(ran_[ran].work); }
  std::size_t Wanted(std::size_t ran) const { return wanted_.at(ran_[ran].work); }

  void Add(RepeatedStage stage) {
    places_[{ran_[stage.like].work, turn_[stage.like] + stage.turns_later}] = stages_.size();
    stages_.push_back(std::move(stage));
  }

  // Returns the index of the parent of `stage` that corresponds to `parent`.
  std::optional<std::size_t> ParentOf(const RepeatedStage& stage, std::size_t parent) const {
    std::size_t turn = turn_[parent];
    if (IsChanged(parent)) {
      const std::size_t wanted = Wanted(parent);
      if (IsChanged(stage.like)) {
        turn = std::min(turn + stage.turns_later, wanted - 1);
      } else {  // counted from the last turn
        const std::size_t from_the_end = turns_.at(ran_[parent].work).size() - turn;
        turn = wanted > from_the_end ? wanted - from_the_end : 0;
      }
    }
    const std::size_t place = places_.at({ran_[parent].work, turn});
    if (&stages_[place] == &stage) return std::nullopt;
    return place;
  }

  const std::vector<RepeatableStage>& ran_;
  std::map<std::uint64_t, std::vector<std::size_t>> turns_;  // by work
  std::vector<std::size_t> turn_;  // by stage, starting at 0 for each kind of work
  // by work that changes, its wanted number of stages
  std::map<std::uint64_t, std::size_t> wanted_;
  std::map<std::pair<std::uint64_t, std::size_t>, std::size_t> places_;  // by work and turn
  std::vector<RepeatedStage> stages_;
};

// Returns true if the stages have no cycle.
bool CanRun(const std::vector<RepeatedStage>& stages) {
  placement::Parents parents;
  for (const RepeatedStage& stage : stages) parents.push_back(stage.after);
  return placement::CycleOf(parents).empty();
}

}  // namespace

std::vector<RepeatedStage> Repeated(const std::vector<RepeatableStage>& ran,
                                    const std::map<std::uint64_t, std::uint32_t>& counts) {
  std::vector<RepeatedStage> stages = Repeating(ran, counts).Build();
  // The rules above can create a cycle if a stage lies both before and after stages of one kind of
  // work.
  return CanRun(stages) ? stages : Repeating(ran, {}).Build();
}

}  // namespace tidemark::durations
