// Estimates the durations of the stages of a run with other settings.
//
// The result is a factor on the measured task times: 1 without a change. Errors that the models
// make on both sides cancel out.
//
//     const auto models = WhatIf::Learn(stages, settings, UsualCosts());
//     const StageChange change = models->On(0, other_settings);
//
// Pure, deterministic, thread-safe when const.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "whatif/phases/past_stage.h"

namespace tidemark::phases {

struct StageChange {
  double times = 1;                 // factor on the time of a task
  double tasks = 1;                 // factor on the number of tasks
  double deviation = 0;             // standard deviation of ln(times)
  std::vector<Cost> unknown_costs;  // that affect the change but are not determined by the run
};

class WhatIf {
 public:
  // `settings` belong to the run. InvalidArgument if no stage has a task, or a counter is
  // impossible.
  static absl::StatusOr<WhatIf> Learn(std::vector<PastStage> stages, const Settings& settings,
                                      const CostStatistics& prior);

  // Returns no change and a wide deviation for a stage without tasks. REQUIRES: stage < stages.
  StageChange On(std::size_t stage, const Settings& settings) const;
  const LearntCosts& costs() const { return costs_; }

 private:
  struct Known {
    Stage stage;
    double mean_seconds = 0;  // mean of its tasks; 0 if the stage is unknown
  };
  WhatIf(std::vector<Known> stages, const Settings& settings, LearntCosts costs)
      : stages_(std::move(stages)), settings_(settings), costs_(std::move(costs)) {}

  std::vector<Known> stages_;
  Settings settings_;
  LearntCosts costs_;
};

}  // namespace tidemark::phases
