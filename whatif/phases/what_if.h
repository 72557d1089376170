// What the stages of a run would take on other settings.
//
// Not a time but a factor on the task times that were measured: where nothing changes it is 1, and
// what the models get wrong alike on both sides cancels out.
//
//   const auto models = WhatIf::Learn(stages, settings, UsualCosts());
//   const Changed changed = models->On(0, other_settings);
//
// Pure, deterministic, thread-safe when const.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "whatif/phases/ran_stage.h"

namespace tidemark::phases {

struct RanStage {
  std::vector<TaskCounters> tasks;  // empty: nothing is known of it
  double next_tasks = 1;
  bool is_relocatable = false;
  // From the end of the last stage that it waits for to its first task: the driver plans, executors
  // start.
  double lag_seconds = 0;
  // Tasks that it had for each in `tasks`: above 1 where not all are kept. Of no matter to WhatIf.
  double tasks_for_each = 1;
};

struct Changed {
  double times = 1;          // factor on the time of a task
  double tasks = 1;          // factor on their number
  double deviation = 0;      // of its log
  std::vector<Cost> untold;  // that matter to the change and are not told apart
};

class WhatIf {
 public:
  // `settings`: of the run. InvalidArgument: no stage has a task; counters that cannot be.
  static absl::StatusOr<WhatIf> Learn(std::vector<RanStage> stages, const Settings& settings,
                                      const CostStatistics& prior);

  // Of a stage that nothing is known of: no change, and a wide deviation. REQUIRES: stage < stages.
  Changed On(std::size_t stage, const Settings& settings) const;
  const LearntCosts& costs() const { return costs_; }

 private:
  struct Known {
    Stage stage;
    double mean_seconds = 0;  // of its tasks; 0: nothing is known of it
  };
  WhatIf(std::vector<Known> stages, const Settings& settings, LearntCosts costs)
      : stages_(std::move(stages)), settings_(settings), costs_(std::move(costs)) {}

  std::vector<Known> stages_;
  Settings settings_;
  LearntCosts costs_;
};

}  // namespace tidemark::phases
