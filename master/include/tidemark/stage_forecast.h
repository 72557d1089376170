// When a stage of a job will start and end, as it was believed at one tick.
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
  // Its number within the job; empty: earlier runs had it, or a plan has, and it does not exist
  // yet.
  std::optional<std::uint32_t> stage;
  // Of one that is only planned: the group of stages that plans it.
  std::string group;
  // Its signature, else what people call it.
  std::string name;
  // From the tick on. Zero: it runs, or is over.
  absl::Duration starts_in;
  // The end of its last task. Zero: nothing of it is left.
  absl::Duration ends_in;
  // Whether a delay of this stage delays the job.
  bool is_critical = false;
  friend bool operator==(const StageForecast&, const StageForecast&) = default;
};

}  // namespace tidemark
