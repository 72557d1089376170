#include "master/papers/skew_estimate.h"

#include <cstdint>

#include "master/workflow/drawn_numbers.h"

namespace tidemark::papers {

absl::StatusOr<SkewEstimate> EstimateWithSkew(const std::vector<workflow::StageWork>& stages,
                                              std::span<const workflow::TaskTimes> times,
                                              const workflow::Resourcing& on, std::size_t draws) {
  if (times.size() != stages.size() || draws == 0) {
    return absl::InvalidArgumentError("every stage needs its task times, and at least one draw");
  }
  absl::StatusOr<workflow::ListSimulation> simulation =
      workflow::ListSimulation::Create(stages, on, 0);
  if (!simulation.ok()) return simulation.status();
  SkewEstimate estimate = {.ends = std::vector<double>(stages.size())};
  std::vector<double> rows(stages.size());
  for (std::size_t draw = 0; draw < draws; ++draw) {
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = workflow::RowStart(draw, i);
    const workflow::Simulated& future = simulation->Run(
        [&](const workflow::TaskStart& start) {
          return times[start.stage].Quantile(workflow::RowNumber(rows[start.stage], start.left));
        },
        [&](std::size_t stage, std::size_t nth) {
          const std::uint64_t number = stages[stage].pending + nth;
          return times[stage].Remaining(stages[stage].running[nth],
                                        workflow::RowNumber(rows[stage], number));
        });
    const double share = 1 / static_cast<double>(draws);
    estimate.seconds += future.seconds * share;
    for (std::size_t i = 0; i < rows.size(); ++i) estimate.ends[i] += future.stages[i].end * share;
  }
  return estimate;
}

}  // namespace tidemark::papers
