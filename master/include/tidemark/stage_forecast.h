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
  // Its number within the job. Empty if it does not exist yet: a past run had it, or a plan has it.
  std::optional<std::uint32_t> stage;
  // The group that plans it. Empty for other stages.
  std::string group;
  // Its signature, or its display name without one.
  std::string name;
  // From the tick on. Zero if it has begun.
  absl::Duration starts_in;
  // The end of its last task. Zero if it has ended.
  absl::Duration ends_in;
  // True if a delay of this stage delays the job.
  bool is_critical = false;
  friend bool operator==(const StageForecast&, const StageForecast&) = default;
};

}  // namespace tidemark
