#include "master/forecast/papers/skew_estimate.h"

#include "master/forecast/durations/fixed_draws.h"

namespace tidemark::papers {

absl::StatusOr<SkewEstimate> EstimateWithSkew(const std::vector<schedule::StageWork>& stages,
                                              std::span<const cost::TimeDistribution> times,
                                              const schedule::Resourcing& on, std::size_t draws) {
  if (times.size() != stages.size() || draws == 0) {
    return absl::InvalidArgumentError("every stage needs its task times, and at least one draw");
  }
  auto placing = schedule::Placing::Create(stages, on);
  if (!placing.ok()) return placing.status();
  SkewEstimate estimate = {.ends = std::vector<double>(stages.size())};
  std::vector<double> rows(stages.size());
  for (std::size_t draw = 0; draw < draws; ++draw) {
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = cost::RowStart(draw, i);
    const schedule::Placed& future =
        placing->Run([&](const schedule::TaskStart& start) -> schedule::TaskSeconds {
          const schedule::StageWork& stage = stages[start.stage];
          const cost::TimeDistribution& of_stage = times[start.stage];
          const double row = rows[start.stage];
          if (start.task >= stage.running.size()) {
            return of_stage.Quantile(cost::RowNumber(row, start.left));
          }
          const double u = cost::RowNumber(row, stage.pending + start.task);
          return of_stage.Remaining(stage.running[start.task], u);
        });
    const double share = 1 / static_cast<double>(draws);
    estimate.seconds += future.seconds * share;
    for (std::size_t i = 0; i < rows.size(); ++i) estimate.ends[i] += future.stages[i].end * share;
  }
  return estimate;
}

}  // namespace tidemark::papers
