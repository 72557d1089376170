// Rules that predict when a workflow will end, side by side.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "master/workflow/stages_application.h"

namespace tidemark::bench {

// What an indicator may look at.
struct Question {
  const workflow::WorkflowNow* now = nullptr;
  std::span<const workflow::WorkflowProfile* const> history;
  const schedule::Resourcing* on = nullptr;
  workflow::StagesOptions options;  // of tidemark
};

// Seconds from now.
struct Answer {
  std::optional<double> remaining;  // empty: nothing to say
  std::optional<double> lower;      // 90 % interval, or none
  std::optional<double> upper;
  std::vector<double> stage_ends;  // where it tells them, of the stages of `now`
};

// The methods of master/papers/papers.h, and `tidemark` (workflow/stages_application.h).
std::vector<std::string> IndicatorNames();
Answer Ask(const std::string& indicator, const Question& question);

}  // namespace tidemark::bench
