#include "master/forecast/dag/shown_progress.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tidemark::dag {
namespace {

// The shown fraction falls by at most this much per unit of ln(elapsed time), which is 3 points per
// 1 % of the elapsed time. Simulated without history on 23 logs of TPC-DS and 19 other logs: the
// mean error is 0.13 and 0.01 points larger than without a limit. With 1, it is 0.7 and 0.1 points
// larger.
constexpr double kFallRate = 3;
// Smaller decreases are not reported.
constexpr double kReportedFall = 0.01;
// A reader can follow a remark that stays for this long.
constexpr absl::Duration kReportedFor = absl::Seconds(10);

}  // namespace

double FractionDone(absl::Duration elapsed, absl::Duration left) {
  const double done = absl::ToDoubleSeconds(elapsed);
  const double to_come = std::max(absl::ToDoubleSeconds(left), 0.0);
  if (!(done > 0) || !std::isfinite(done) || !std::isfinite(to_come)) return 0;
  return std::min(done / (done + to_come), kRunningFractionMax);
}

std::optional<EstimateRaised> ShownProgress::Show(absl::Duration elapsed, std::uint32_t stages,
                                                  RaiseCause cause, Estimate& estimate) {
  const bool is_guess = !estimate.remaining || estimate.basis == Basis::kGuess;
  const bool was_supported =
      std::exchange(is_supported_, !is_guess || estimate.state == EstimateState::kOverdue);
  const double forecast =
      estimate.remaining ? FractionDone(elapsed, estimate.remaining->median) : fraction_;
  const bool has_grown = elapsed_ > absl::ZeroDuration() && elapsed > elapsed_;
  if (elapsed > elapsed_) silent_max_ = 1;
  const double growth = has_grown ? std::log(absl::FDivDuration(elapsed, elapsed_)) : 0;
  const double shown =
      was_supported ? std::max(forecast, fraction_ - kFallRate * growth) : forecast;
  // A move from a guess is not reported.
  const double before = was_supported ? fraction_ : shown;
  const std::uint32_t stages_before = std::exchange(stages_, stages);
  if (stages > stages_before) grew_at_ = elapsed;
  if (shown < before) cause_ = cause;
  if (fraction_ >= high_) {  // It has not moved back before.
    high_ = before;
    fell_at_ = elapsed;
  }
  if (shown >= high_ || elapsed - fell_at_ > kReportedFor) {
    high_ = std::max(shown, before);  // A move that continues is reported again.
    fell_at_ = elapsed;
    stages_at_high_ = shown < high_ ? stages_before : stages;
  } else if (elapsed - grew_at_ > kReportedFor) {
    // Stages that appeared earlier do not explain why it still moves back.
    stages_at_high_ = stages;
  }
  fraction_ = estimate.fraction_done = shown;
  elapsed_ = elapsed;
  if (high_ - forecast < kReportedFall) return std::nullopt;
  EstimateRaised raised = {.cause = cause_, .fraction_done_before = high_};
  if (stages > stages_at_high_) {
    raised.cause = RaiseCause::kMoreStages;
    raised.stages = stages - stages_at_high_;
  }
  return raised;
}

void ShownProgress::ShowSilent(absl::Duration elapsed, Estimate& estimate) {
  const double forecast = FractionDone(elapsed, estimate.remaining->median);
  silent_max_ = std::min({silent_max_, fraction_, forecast});
  estimate.fraction_done = silent_max_;
}

}  // namespace tidemark::dag
