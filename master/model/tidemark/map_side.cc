#include "master/model/tidemark/map_side.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "master/cost/opinions.h"
#include "master/model/phases.h"
#include "master/model/tidemark/normal.h"

namespace tidemark::model {
namespace {

constexpr double kDeviation = 1.8;
// Nobody watches a job that is over sooner.
constexpr double kSecondsWorthWatching = 5;
// A pace of less of the map phase is none.
constexpr double kPaceFrom = 0.02;
// The last in a thousand jobs, and later, are taken for Pareto: what is left grows with what
// passed.
constexpr double kLongest = 3.0902;  // deviations

// Quantile of X - passed, given X > passed.
double LeftQuantile(double log_median, double passed, double probability) {
  if (!(passed > 0)) return std::exp(log_median + kDeviation * NormalQuantile(probability));
  const double z = std::min((std::log(passed) - log_median) / kDeviation, kLongest);
  const double before = NormalCdf(z);
  const double quantile = NormalQuantile(before + probability * (1 - before));
  return passed * std::expm1(kDeviation * (quantile - z));
}

}  // namespace

std::optional<cost::Draws> SecondsByMapSide(const JobState& state, absl::Time now,
                                            const cost::FixedDraws& draws) {
  const PhaseProgress maps = MapProgress(state);
  if (state.map_tasks.empty() || maps.fraction_done < kPaceFrom) return std::nullopt;
  const std::optional<absl::Time> maps_end = MapPhaseEnd(state, now);
  if (!maps_end) return std::nullopt;
  const double map_side = absl::ToDoubleSeconds(*maps_end - state.started_at);
  const double maps_left = std::max(0.0, absl::ToDoubleSeconds(*maps_end - now));
  const double passed = std::max(0.0, absl::ToDoubleSeconds(now - *maps_end));
  if (!(map_side > 0) || !std::isfinite(map_side + passed)) return std::nullopt;
  const double log_median = std::log(std::max(map_side, kSecondsWorthWatching));
  cost::Draws seconds =
      draws.Uniforms(cost::Drawn::kOpinion, static_cast<std::uint64_t>(cost::Opinion::kMapSide));
  for (double& time : seconds) time = maps_left + LeftQuantile(log_median, passed, time);
  return seconds;
}

}  // namespace tidemark::model
