#include "bench/accuracy/summary.h"

#include <algorithm>
#include <cstddef>

namespace tidemark::bench {
namespace {

constexpr double kEvenCoverage = 0.75;
// An indicator that exceeds the best other by more is behind in a row.
constexpr double kBehindPoints = 0.5;

// A mean of the available values.
class Mean {
 public:
  void Add(double value) {
    sum_ += value;
    ++count_;
  }
  template <typename T>
  void Add(const std::optional<T>& value) {
    if (value) Add(static_cast<double>(*value));
  }
  std::optional<double> value() const {
    return count_ == 0 ? std::nullopt : std::optional(sum_ / count_);
  }

 private:
  double sum_ = 0;
  int count_ = 0;
};

class Means {
 public:
  void Add(const Metrics& metrics) {
    ++runs_;
    avg_err_.Add(metrics.avg_err);
    max_err_.Add(metrics.max_err);
    eta_err_.Add(metrics.eta_err);
    backward_.Add(metrics.backward);
    backward_shown_.Add(metrics.backward_shown);
    coverage90_.Add(metrics.coverage90);
    width90_.Add(metrics.width90);
    if (metrics.coverage90) even_coverage_.Add(*metrics.coverage90 >= kEvenCoverage ? 1.0 : 0.0);
    for (std::size_t i = 0; i < metrics.at.size(); ++i) {
      end_errors_[i].Add(metrics.at[i].end_error);
      hits_[i].Add(metrics.at[i].hit);
    }
  }

  MeanMetrics Take() const {
    MeanMetrics means = {.runs = runs_,
                         .avg_err = avg_err_.value().value_or(0),
                         .max_err = max_err_.value().value_or(0),
                         .eta_err = eta_err_.value().value_or(0),
                         .backward = backward_.value().value_or(0),
                         .backward_shown = backward_shown_.value().value_or(0),
                         .coverage90 = coverage90_.value(),
                         .width90 = width90_.value(),
                         .even_coverage = even_coverage_.value()};
    for (std::size_t i = 0; i < means.at.size(); ++i) {
      means.at[i] = {.end_error = end_errors_[i].value(), .hit = hits_[i].value()};
    }
    return means;
  }

 private:
  int runs_ = 0;
  Mean avg_err_, max_err_, eta_err_, backward_, backward_shown_;
  Mean coverage90_, width90_, even_coverage_;
  std::array<Mean, kMilestones.size()> end_errors_, hits_;
};

void AddRuns(const RowResult& result, const std::string& indicator, Means& means) {
  const auto found = std::find(result.indicators.begin(), result.indicators.end(), indicator);
  if (found == result.indicators.end()) return;
  const auto place = static_cast<std::size_t>(found - result.indicators.begin());
  for (const RunResult& run : result.runs) means.Add(run.metrics[place]);
}

// A published or obvious rule.
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
  Means means;
  AddRuns(result, indicator, means);
  return means.Take();
}

MeanMetrics MeanOf(const std::vector<RowResult>& results, const std::string& indicator,
                   const std::function<bool(const Row&)>& wanted) {
  Means means;
  int rows_behind = 0;
  for (const RowResult& result : results) {
    if (!wanted(result.row)) continue;
    AddRuns(result, indicator, means);
    rows_behind += IsBehind(result, indicator) ? 1 : 0;
  }
  MeanMetrics mean = means.Take();
  mean.rows_behind = rows_behind;
  return mean;
}

}  // namespace tidemark::bench
