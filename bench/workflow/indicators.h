// Rules that predict when a workflow will end, side by side.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "master/workflow/workflow_estimate.h"

namespace tidemark::bench {

// What an indicator may look at.
struct Question {
  const workflow::WorkflowNow* now = nullptr;
  std::span<const workflow::WorkflowProfile* const> history;
  const workflow::Resourcing* on = nullptr;
  workflow::EstimateOptions options;  // of tidemark
};

// Seconds from now.
struct Answer {
  std::optional<double> remaining;  // empty: nothing to say
  std::optional<double> lower;      // 90 % interval, or none
  std::optional<double> upper;
  std::vector<double> stage_ends;  // where it tells them, of the stages of `now`
};

// tasks-done      elapsed over the share of visible tasks that have ended (Spark's console)
// stage-weighted  the same, every stage counting as one
// critical-path   the longest chain of what is left of each stage on all slots (ParaTimer)
// mean-times-waves  the sum over stages of mean task time x waves left (gray-box model, eq. 2)
// alg1-median, alg1-mean  [BOE] Algorithm 1 as printed, with that task time
// alg1-fluid      the same without charging overlapping waves, with the mean
// alg2-normal, alg2-empirical  [BOE] Algorithm 2
// tidemark        workflow/workflow_estimate.h
// All but the first two and the last take a stage's task time from its earlier runs, untouched,
// else from its finished tasks, else from the other stages.
const std::vector<std::string>& IndicatorNames();
Answer Ask(const std::string& indicator, const Question& question);

}  // namespace tidemark::bench
