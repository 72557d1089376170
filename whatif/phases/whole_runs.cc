#include "whatif/phases/whole_runs.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "whatif/phases/seen_range.h"

namespace tidemark::phases {
namespace {

using Names = std::set<std::string>;

// Before their settings say what a whole run takes.
constexpr std::size_t kWholeRunsMin = 4;
// No forecast is longer: three years.
constexpr double kSecondsMax = 1e8;

// Beyond what was seen of each setting by no more than what was seen of it.
bool IsNear(const std::vector<std::vector<double>>& seen, const std::vector<double>& asked) {
  constexpr double kSame = 1e-9;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    SeenRange range;
    for (const std::vector<double>& levels : seen) range.See(levels[i]);
    if (range.IsBeyond(asked[i], range.width() + kSame)) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<WholeRuns> WholeRuns::Learn(std::span<const WholeRun> runs,
                                           std::span<const std::size_t> groups) {
  WholeRuns learnt;
  if (runs.size() < kWholeRunsMin) return learnt;
  std::vector<SeenError> seen;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    seen.push_back({.run = r, .settings = runs[r].levels, .log_error = std::log(runs[r].seconds)});
  }
  for (const SeenError& run : seen) {
    learnt.mean_log_seconds_ += run.log_error / static_cast<double>(seen.size());
  }
  for (SeenError& run : seen) {
    run.log_error -= learnt.mean_log_seconds_;
    learnt.seen_.push_back(run.settings);
  }
  auto of_settings = Correction::Learn(seen, groups);
  if (!of_settings.ok()) return of_settings.status();
  learnt.of_settings_.push_back(*std::move(of_settings));
  return learnt;
}

std::optional<ExpectedWhole> WholeRuns::At(const std::vector<double>& levels) const {
  if (of_settings_.empty() || !IsNear(seen_, levels)) return std::nullopt;
  constexpr double kOnce = 1;
  const TimeAt at = {.settings = levels};
  const double seconds = std::exp(mean_log_seconds_ + of_settings_[0].Predict({&at, 1})[0]);
  if (!(seconds <= kSecondsMax)) return std::nullopt;
  return ExpectedWhole{.seconds = seconds,
                       .deviation = std::sqrt(of_settings_[0].Variance({&at, 1}, {&kOnce, 1}))};
}

std::size_t StagesInCommon(const std::vector<std::string>& one,
                           const std::vector<std::string>& other) {
  const Names names(one.begin(), one.end());
  const Names others(other.begin(), other.end());
  std::size_t common = 0;
  for (const std::string& name : names) common += others.count(name);
  return common;
}

bool IsOfOneProgram(const std::vector<std::string>& one, const std::vector<std::string>& other) {
  const std::size_t fewer =
      std::min(Names(one.begin(), one.end()).size(), Names(other.begin(), other.end()).size());
  return 2 * StagesInCommon(one, other) >= fewer;
}

std::optional<Averaged> Average(double seconds, double deviation, const ExpectedWhole& whole) {
  const double apart = std::log(whole.seconds / seconds);
  const double variance = deviation * deviation;
  const double of_whole = whole.deviation * whole.deviation;
  if (!(seconds > 0) || !std::isfinite(apart) || !(variance + of_whole > 0)) return std::nullopt;
  const double share = variance / (variance + of_whole);
  return Averaged{.factor = std::exp(share * apart),
                  .deviation = std::sqrt((1 - share) * variance + share * of_whole +
                                         share * (1 - share) * apart * apart)};
}

}  // namespace tidemark::phases
