#include "master/model/tidemark/map_side.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "master/cost/opinions.h"
#include "master/model/phases.h"
#include "master/model/tidemark/normal.h"

namespace tidemark::model {
namespace {

// Of ln X. Measured: 88 jobs of six Rumen traces (map_side.h).
constexpr double kDeviation = 1.8;
// Nobody watches a job that is over sooner.
constexpr double kSecondsWorthWatching = 5;

}  // namespace

std::optional<cost::Draws> SecondsByMapSide(const JobState& state, absl::Time now,
                                            const cost::FixedDraws& draws) {
  const next::StageProgress maps = MapProgress(state);
  if (state.map_tasks().empty() || maps.fraction_done < kPaceFrom) return std::nullopt;
  const std::optional<absl::Time> maps_end = MapPhaseEnd(state, now);
  if (!maps_end) return std::nullopt;
  const double map_side = absl::ToDoubleSeconds(*maps_end - state.started_at);
  const double maps_left = std::max(0.0, absl::ToDoubleSeconds(*maps_end - now));
  const double passed = std::max(0.0, absl::ToDoubleSeconds(now - *maps_end));
  if (!(map_side > 0) || !std::isfinite(map_side + passed)) return std::nullopt;
  const double log_median = std::log(std::max(map_side, kSecondsWorthWatching));
  cost::Draws seconds =
      draws.Uniforms(cost::Drawn::kOpinion, static_cast<std::uint64_t>(cost::Opinion::kMapSide));
  for (double& time : seconds)
    time = maps_left + LogNormalLeft(log_median, kDeviation, passed, time);
  return seconds;
}

}  // namespace tidemark::model
