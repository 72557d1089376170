#include "bench/workflow/skew.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "master/forecast/durations/draws.h"

namespace tidemark::papers {
namespace {

double Density(double z) {
  return std::exp(-z * z / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
}
double Probability(double z) { return durations::NormalCdf(z); }

double SquareMean(const Moments& x) { return x.mean * x.mean + x.variance; }

}  // namespace

Moments LinearInSelectivity(double a, double b, const Moments& selectivity) {
  return {a + b * selectivity.mean, b * b * selectivity.variance};
}

Moments MaxOfNormals(const Moments& x, const Moments& y) {
  const double deviation = std::sqrt(x.variance + y.variance);
  if (!(deviation > 0)) return x.mean >= y.mean ? x : y;
  const double z = (x.mean - y.mean) / deviation;
  const double mean = x.mean * Probability(z) + y.mean * Probability(-z) + deviation * Density(z);
  const double square = SquareMean(x) * Probability(z) + SquareMean(y) * Probability(-z) +
                        (x.mean + y.mean) * deviation * Density(z);
  return {mean, std::max(square - mean * mean, 0.0)};
}

Moments ReduceTaskMoments(double a, double b, double c, const Moments& map_selectivity,
                          const Moments& reduce_selectivity) {
  const Moments input = LinearInSelectivity(0, b, map_selectivity);
  const Moments output = LinearInSelectivity(0, c, reduce_selectivity);
  const Moments larger = MaxOfNormals(input, output);
  const double deviation = std::sqrt(input.variance + output.variance);
  const double input_is_larger = deviation > 0 ? Probability((input.mean - output.mean) / deviation)
                                               : (input.mean >= output.mean ? 1.0 : 0.0);
  const double covariance = a * b * map_selectivity.variance * input_is_larger;
  return {a * map_selectivity.mean + larger.mean,
          a * a * map_selectivity.variance + larger.variance + 2 * covariance};
}

absl::StatusOr<SkewEstimate> EstimateWithSkew(const std::vector<placement::StageWork>& stages,
                                              std::span<const durations::TimeDistribution> times,
                                              const placement::Resourcing& on, std::size_t draws) {
  if (times.size() != stages.size() || draws == 0) {
    return absl::InvalidArgumentError(
        "each stage needs task times, and `draws` must be at least 1");
  }
  auto placing = placement::Placing::Create(stages, on);
  if (!placing.ok()) return placing.status();
  SkewEstimate estimate = {.ends = std::vector<double>(stages.size())};
  std::vector<double> rows(stages.size());
  for (std::size_t draw = 0; draw < draws; ++draw) {
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = durations::RowStart(draw, i);
    const placement::Placed& future =
        placing->Run([&](const placement::TaskStart& start) -> placement::TaskSeconds {
          const placement::StageWork& stage = stages[start.stage];
          const durations::TimeDistribution& of_stage = times[start.stage];
          const double row = rows[start.stage];
          if (start.task >= stage.running.size()) {
            return of_stage.Quantile(durations::RowNumber(row, start.left));
          }
          const double u = durations::RowNumber(row, stage.pending + start.task);
          return of_stage.Remaining(stage.running[start.task], u);
        });
    const double share = 1 / static_cast<double>(draws);
    estimate.seconds += future.seconds * share;
    for (std::size_t i = 0; i < rows.size(); ++i) estimate.ends[i] += future.stages[i].end * share;
  }
  return estimate;
}

}  // namespace tidemark::papers
