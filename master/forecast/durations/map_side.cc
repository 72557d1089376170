#include "master/forecast/durations/map_side.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "master/facts/phases.h"
#include "master/forecast/durations/map_phase_end.h"
#include "master/forecast/durations/normal.h"
#include "master/forecast/durations/opinions.h"

namespace tidemark::cost {

std::optional<Draws> SecondsByMapSide(const model::JobRecord& state, absl::Time now,
                                      const FixedDraws& draws) {
  const StageProgress maps = model::MapProgress(state);
  if (state.map_tasks().empty() || maps.fraction_done < model::kPaceFrom) return std::nullopt;
  const std::optional<absl::Time> maps_end = model::MapPhaseEnd(state, now);
  if (!maps_end) return std::nullopt;
  const double map_side = absl::ToDoubleSeconds(*maps_end - state.started_at);
  const double maps_left = std::max(0.0, absl::ToDoubleSeconds(*maps_end - now));
  const double passed = std::max(0.0, absl::ToDoubleSeconds(now - *maps_end));
  if (!(map_side > 0) || !std::isfinite(map_side + passed)) return std::nullopt;
  const double log_median = std::log(std::max(map_side, kSecondsWorthWatching));
  Draws seconds = draws.Uniforms(Drawn::kOpinion, static_cast<std::uint64_t>(Opinion::kMapSide));
  for (double& time : seconds)
    time = maps_left + LogNormalLeft(log_median, kMapSideDeviation, passed, time);
  return seconds;
}

}  // namespace tidemark::cost
