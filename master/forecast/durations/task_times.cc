#include "master/forecast/durations/task_times.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "master/forecast/durations/draws.h"

namespace tidemark::durations {
namespace {

Moments MomentsOf(const std::vector<double>& seconds) {
  Moments moments;
  if (seconds.empty()) return moments;
  const double count = static_cast<double>(seconds.size());
  for (const double time : seconds) moments.mean += time / count;
  for (const double time : seconds) {
    moments.variance += (time - moments.mean) * (time - moments.mean) / count;
  }
  return moments;
}

}  // namespace

TimeDistribution TimeDistribution::Empirical(std::vector<double> seconds) {
  TimeDistribution times;
  times.sorted_ = std::move(seconds);
  std::erase_if(times.sorted_, [](double time) { return !std::isfinite(time) || time < 0; });
  std::sort(times.sorted_.begin(), times.sorted_.end());
  times.moments_ = MomentsOf(times.sorted_);
  return times;
}

TimeDistribution TimeDistribution::Normal(const Moments& moments) {
  TimeDistribution times;
  times.is_normal_ = true;
  if (std::isfinite(moments.mean) && moments.mean > 0) times.moments_.mean = moments.mean;
  if (std::isfinite(moments.variance) && moments.variance > 0) {
    times.moments_.variance = moments.variance;
  }
  return times;
}

double TimeDistribution::Below(double seconds) const {
  if (is_normal_) {
    if (moments_.variance == 0) return seconds < moments_.mean ? 0 : 1;
    return NormalCdf((seconds - moments_.mean) / std::sqrt(moments_.variance));
  }
  const auto above = std::upper_bound(sorted_.begin(), sorted_.end(), seconds);
  return static_cast<double>(above - sorted_.begin()) / static_cast<double>(sorted_.size());
}

bool TimeDistribution::IsOutlastedBy(double elapsed) const {
  return !empty() && HasOutlasted(Below(elapsed));
}

double TimeDistribution::Remaining(double elapsed, double u) const {
  if (empty()) return 0;
  const double below = Below(elapsed);
  if (HasOutlasted(below)) return ParetoLeft(elapsed, u);
  return std::max(Quantile(below + u * (1 - below)) - elapsed, 0.0);
}

TimeDistribution TimeDistribution::Scaled(double factor) const {
  TimeDistribution times = *this;
  for (double& time : times.sorted_) time *= factor;
  times.moments_.mean *= factor;
  times.moments_.variance *= factor * factor;
  return times;
}

std::vector<double> EvenlyChosen(std::vector<double> values, std::size_t most) {
  if (values.size() <= most) return values;
  std::sort(values.begin(), values.end());
  std::vector<double> chosen;
  for (std::size_t i = 0; i < most; ++i) {
    chosen.push_back(values[(2 * i + 1) * values.size() / (2 * most)]);
  }
  return chosen;
}

}  // namespace tidemark::durations
