// The predicted start and end of a stage at one tick.
//
//   monitor.Tick(now);
//   for (const tidemark::StageForecast& stage : monitor.stage_forecasts()) {
//     if (stage.is_critical) Print(stage.name, stage.ends_in);
//   }
//
// Plain values, safe to share between threads when const.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"

namespace tidemark {

struct StageForecast {
  // The stage's number within the job. Unset if the stage is known only from a past run or a plan.
  std::optional<std::uint32_t> stage;
  // The group that plans the stage. Empty if no group plans it.
  std::string group;
  // The stage's signature, or its display name if it has no signature.
  std::string name;
  // Time from the tick until the stage's last task ends. Zero if the stage has ended.
  absl::Duration starts_in;
  // Time from the tick until the end of the last task. Zero if the stage has ended.
  absl::Duration ends_in;
  // True if a delay of this stage delays the job.
  bool is_critical = false;
  friend bool operator==(const StageForecast&, const StageForecast&) = default;
};

}  // namespace tidemark
