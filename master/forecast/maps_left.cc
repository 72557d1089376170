#include "master/forecast/maps_left.h"

#include <utility>

#include "master/forecast/durations/sized_stages.h"

namespace tidemark::model {

std::optional<MapsLeft> EstimateMaps(const JobRecord& state, absl::Time now,
                                     const cost::FixedDraws& draws) {
  std::optional<cost::SizedStage> left = cost::MapStageBySize(state, now, draws);
  if (!left || left->tasks.empty()) return std::nullopt;
  MapsLeft maps = {.application = {.on = estimate::RoomForAll(), .draws = &draws}};
  maps.application.stages.push_back(std::move(left->stage));
  absl::StatusOr<estimate::Estimate> estimate = estimate::EstimateApplication(maps.application);
  if (!estimate.ok() || estimate->end.upper >= schedule::kForever) return std::nullopt;
  maps.estimate = *std::move(estimate);
  return maps;
}

}  // namespace tidemark::model
