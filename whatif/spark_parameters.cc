#include "whatif/spark_parameters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "text/did_you_mean.h"
#include "whatif/gray_box/formula.h"

namespace tidemark::whatif {
namespace {

using durations::Cardinality;
using durations::Parameters;

// Returns log2(1 + |value|) with the sign of the value.
double AsPowerOfTwo(double value) { return std::copysign(std::log2(1 + std::abs(value)), value); }

// Two parameters with at least this correlation count as one. Chosen by hand.
constexpr double kTogether = 0.99;
// If they differ by at least this share of their range, they count as two again. Chosen by hand.
constexpr double kApart = 0.1;

// The largest factor on a stated size, as for --data.
constexpr double kStatedFactorMax = 1e6;

struct Spread {
  double mean = 0;
  phases::ObservedRange range;
};

Spread SpreadOf(const std::vector<std::vector<double>>& seen, std::size_t feature) {
  Spread spread;
  for (const std::vector<double>& levels : seen) {
    spread.mean += levels[feature] / static_cast<double>(seen.size());
    spread.range.Add(levels[feature]);
  }
  return spread;
}

std::string RangeText(const phases::ObservedRange& range) {
  if (range.width() == 0) return fmt::format("{}", range.least());
  return fmt::format("{} to {}", range.least(), range.most());
}

// Returns true if both parameters varied together in all runs, but do not in `levels`.
bool Part(const std::vector<std::vector<double>>& seen, std::size_t a, std::size_t b,
          const std::vector<double>& levels) {
  const Spread of_a = SpreadOf(seen, a);
  const Spread of_b = SpreadOf(seen, b);
  double aa = 0;
  double ab = 0;
  double bb = 0;
  for (const std::vector<double>& run : seen) {
    aa += (run[a] - of_a.mean) * (run[a] - of_a.mean);
    ab += (run[a] - of_a.mean) * (run[b] - of_b.mean);
    bb += (run[b] - of_b.mean) * (run[b] - of_b.mean);
  }
  if (!(aa > 0 && bb > 0) || !(std::abs(ab) >= kTogether * std::sqrt(aa * bb))) return false;
  const double off = levels[b] - of_b.mean - ab / aa * (levels[a] - of_a.mean);
  return std::abs(off) > kApart * of_b.range.width();
}

// Returns advice on a parameter that no run had.
std::string AdviceFor(const std::string& name, const std::vector<std::string>& known) {
  if (!known.empty()) return text::DidYouMeanOrKnown(name, known);
  return fmt::format("; set spark.tidemark.param.{} in runs, and pass their logs to --learn", name);
}

double FetchedBy(const std::vector<phases::TaskCounters>& tasks) {
  double bytes = 0;
  for (const phases::TaskCounters& task : tasks) bytes += task.local_bytes + task.remote_bytes;
  return bytes;
}

durations::StageCounts CountsOf(const SparkRun& run) {
  durations::StageCounts counts;
  for (const std::uint64_t work : run.works) ++counts[work];
  return counts;
}

// Returns the number of a name in a formula.
absl::StatusOr<double> NumberOf(const std::string& name, const Parameters& parameters) {
  if (const auto whole = parameters.find(name); whole != parameters.end()) {
    double number = 0;
    if (absl::SimpleAtod(whole->second, &number)) return number;
    return absl::InvalidArgumentError(
        fmt::format("parameter {} has the value {}, which is not a number; use {}.count or {}.WORD",
                    name, whole->second, name, name));
  }
  const std::size_t dot = name.rfind('.');
  const auto list = parameters.find(name.substr(0, dot));
  if (dot == std::string::npos || list == parameters.end()) {
    return absl::InvalidArgumentError(
        fmt::format("the run has no parameter {}; set spark.tidemark.param.{}", name, name));
  }
  const std::vector<std::string> words = absl::StrSplit(list->second, ',', absl::SkipEmpty());
  const std::string word = name.substr(dot + 1);
  if (word == "count") return static_cast<double>(words.size());
  return std::ranges::find(words, word) == words.end() ? 0 : 1;
}

absl::StatusOr<double> SizeOf(const gray_box::Formula& formula, const Parameters& parameters) {
  const auto size =
      formula.Value([&parameters](const std::string& name) { return NumberOf(name, parameters); });
  if (size.ok() && !(*size > 0)) {
    return absl::InvalidArgumentError(fmt::format("the size is {}, but must be positive", *size));
  }
  return size;
}

absl::Status InSize(const std::string& stage, const absl::Status& status) {
  return absl::InvalidArgumentError(
      fmt::format("--size {}: {}", stage, std::string(status.message())));
}

}  // namespace

absl::StatusOr<std::map<std::string, double>> StatedFactors(const StatedSizes& sizes,
                                                            const SparkRun& run,
                                                            const durations::Parameters& asked) {
  std::map<std::string, double> factors;
  for (const auto& [stage, text] : sizes) {
    const auto formula = gray_box::Formula::Parse(text);
    if (!formula.ok()) return InSize(stage, formula.status());
    const auto before = SizeOf(*formula, run.measured.parameters());
    if (!before.ok()) return InSize(stage, before.status());
    const auto after = SizeOf(*formula, asked);
    if (!after.ok()) return InSize(stage, after.status());
    const double factor = *after / *before;
    if (!(factor >= 1 / kStatedFactorMax && factor <= kStatedFactorMax)) {
      return InSize(stage, absl::InvalidArgumentError(fmt::format(
                               "the size changes by a factor of {:g}, which must be from 1e-6 to "
                               "1e6; correct the formula or --param",
                               factor)));
    }
    bool is_found = false;
    for (std::size_t i = 0; i < run.signatures.size(); ++i) {
      if (run.plan.jobs[0].stages[i].name.find(stage) == std::string::npos) continue;
      is_found = true;
      factors[run.signatures[i]] = factor;
    }
    if (!is_found) {
      return InSize(
          stage, absl::NotFoundError("no stage of the run has a name that contains these words"));
    }
  }
  return factors;
}

absl::StatusOr<SparkParameters> SparkParameters::Learn(const std::vector<SparkRun>& runs,
                                                       const std::vector<double>& data_bytes) {
  std::vector<Parameters> all;
  for (const SparkRun& run : runs) all.push_back(run.measured.parameters());
  SparkParameters learnt{durations::Features(all)};
  std::map<std::string, std::pair<std::vector<Parameters>, std::vector<Cardinality>>> fetched;
  std::vector<durations::StageCounts> counts;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    learnt.seen_.push_back(learnt.Levels(all[r]));
    learnt.See(all[r]);
    counts.push_back(CountsOf(runs[r]));
    for (std::size_t i = 0; i < runs[r].numbers.size(); ++i) {
      const auto stage = runs[r].measured.stages().find(runs[r].numbers[i]);
      if (stage == runs[r].measured.stages().end() || !(data_bytes[r] > 0)) continue;
      const double bytes = TasksPerCounted(runs[r], i) * FetchedBy(stage->second.tasks);
      if (!(bytes > 0)) continue;
      auto& [parameters, amounts] = fetched[runs[r].signatures[i]];
      parameters.push_back(all[r]);
      // Counts bytes as records of one byte, since the model predicts output over input.
      amounts.push_back({data_bytes[r], data_bytes[r], bytes, bytes});
    }
  }
  for (const auto& [signature, of] : fetched) {
    auto model = durations::CardinalityModel::Learn(of.first, of.second);
    if (model.ok()) learnt.fetched_.emplace(signature, *std::move(model));
  }
  auto repetition = durations::RepetitionModel::Learn(all, counts);
  if (!repetition.ok()) return repetition.status();
  learnt.counts_.push_back(*std::move(repetition));
  return learnt;
}

void SparkParameters::See(const Parameters& parameters) {
  const std::vector<double> values = features_.ValuesOf(parameters);
  ranges_.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) ranges_[i].Add(values[i]);
}

std::vector<double> SparkParameters::Levels(const Parameters& parameters) const {
  std::vector<double> levels = features_.ValuesOf(parameters);
  for (double& level : levels) level = AsPowerOfTwo(level);
  return levels;
}

std::map<std::string, double> SparkParameters::Fetched(const Parameters& ran,
                                                       const Parameters& asked) const {
  std::map<std::string, double> factors;
  for (const auto& [signature, model] : fetched_) {
    const double before = model.Predict(ran, 1, 1).records.value;
    const double after = model.Predict(asked, 1, 1).records.value;
    if (before > 0 && after > 0) factors[signature] = after / before;
  }
  return factors;
}

std::map<std::uint64_t, std::uint32_t> SparkParameters::Counts(const Parameters& asked) const {
  std::map<std::uint64_t, std::uint32_t> counts;
  const auto forecasts = counts_[0].Predict(asked);
  for (const auto& [work, choices] : counts_[0].workflow_controls()) {
    const double count = forecasts.at(work).value;
    if (std::isnan(count)) continue;  // The terms of very large parameters are infinite.
    counts[work] = static_cast<std::uint32_t>(std::clamp(count, 0.0, 1e6));
  }
  return counts;
}

std::vector<std::string> SparkParameters::Parted(const Parameters& asked) const {
  const std::vector<double> levels = Levels(asked);
  const std::vector<std::string>& names = features_.names();
  std::set<std::string> parted;
  for (std::size_t a = 0; a < names.size(); ++a) {
    for (std::size_t b = a + 1; b < names.size(); ++b) {
      // Words of a list are separate features, and few runs vary each of them alone.
      if (!asked.contains(names[a]) || !asked.contains(names[b])) continue;
      if (Part(seen_, a, b, levels)) parted.insert({names[a], names[b]});
    }
  }
  return {parted.begin(), parted.end()};
}

absl::Status SparkParameters::Check(const Parameters& asked) const {
  const std::vector<std::string> known = features_.parameter_names();
  for (const auto& [name, value] : asked) {
    if (std::ranges::binary_search(known, name)) continue;
    return absl::InvalidArgumentError(
        fmt::format("--param {}={}: none of the runs has {}, so its effect is unknown{}", name,
                    value, name, AdviceFor(name, known)));
  }
  const std::vector<std::string> wrong = features_.NonNumeric(asked);
  if (wrong.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("--param {}={}: must be a finite number, as in the runs to learn from", wrong[0],
                  asked.at(wrong[0])));
}

std::vector<std::string> SparkParameters::Remarks(const Parameters& asked) const {
  std::vector<std::string> remarks;
  const std::vector<std::string> unknown = features_.Unknown(asked);
  if (!unknown.empty()) {
    remarks.push_back(fmt::format("no run has these values, so their effect is unknown: {}",
                                  fmt::join(unknown, ", ")));
  }
  std::vector<std::string> beyond;
  const std::vector<double> values = features_.ValuesOf(asked);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!ranges_[i].IsBeyond(values[i])) continue;
    beyond.push_back(fmt::format("{} ({}; runs had {})", features_.names()[i], values[i],
                                 RangeText(ranges_[i])));
  }
  if (!beyond.empty()) {
    remarks.push_back(
        fmt::format("parameters outside the range of all runs: {}", fmt::join(beyond, ", ")));
  }
  const std::vector<std::string> parted = Parted(asked);
  if (!parted.empty()) {
    remarks.push_back(fmt::format(
        "parameters that varied together in all runs: {}; their separate effects are unknown",
        fmt::join(parted, ", ")));
  }
  return remarks;
}

}  // namespace tidemark::whatif
