// What every snapshot promises, whatever the monitor was told: numbers are finite, fractions are
// within 0..1, durations are not negative, bounds hold what they bound.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "tidemark/snapshot.h"

namespace tidemark::test {

inline void CheckFraction(double fraction) {
  EXPECT_TRUE(fraction >= 0 && fraction <= 1) << fraction;
}

inline void CheckSpan(std::optional<absl::Duration> span) {
  if (!span) return;
  EXPECT_GE(*span, absl::ZeroDuration());
  EXPECT_LT(*span, absl::InfiniteDuration());
}

inline void CheckInstant(std::optional<absl::Time> at) {
  if (!at) return;
  EXPECT_GT(*at, absl::InfinitePast());
  EXPECT_LT(*at, absl::InfiniteFuture());
}

inline void CheckForecast(const Forecast& forecast, bool is_final) {
  SCOPED_TRACE(forecast.indicator);
  CheckFraction(forecast.fraction_done);
  CheckFraction(forecast.reduce_fraction_done);
  EXPECT_TRUE(is_final || forecast.fraction_done < 1);
  EXPECT_EQ(forecast.state == ForecastState::kFinal, is_final);
  EXPECT_EQ(forecast.remaining.has_value(), forecast.state == ForecastState::kValid);
  for (const auto span : {forecast.remaining, forecast.remaining_lower, forecast.remaining_upper}) {
    CheckSpan(span);
  }
  EXPECT_EQ(forecast.remaining_lower.has_value(), forecast.remaining_upper.has_value());
  if (forecast.remaining_lower) {
    EXPECT_LE(*forecast.remaining_lower, *forecast.remaining);
    EXPECT_LE(*forecast.remaining, *forecast.remaining_upper);
  }
  if (!forecast.evidence) return;
  const Evidence& evidence = *forecast.evidence;
  double sum = 0;
  for (const double share : {evidence.own_neighbours, evidence.own_fit, evidence.other_neighbours,
                             evidence.other_fit, evidence.ratio}) {
    CheckFraction(share);
    sum += share;
  }
  EXPECT_TRUE(sum == 0 || std::abs(sum - 1) < 1e-9) << sum;
}

inline void CheckPhase(const PhaseProgress& phase) {
  CheckFraction(phase.fraction_done);
  CheckInstant(phase.started_at);
  CheckInstant(phase.finished_at);
  EXPECT_LE(phase.running_task_count + phase.finished_task_count, phase.task_count);
}

inline void CheckStraggler(const Straggler& straggler) {
  CheckSpan(straggler.remaining);
  CheckFraction(straggler.heaviest_group_share);
  EXPECT_FALSE(straggler.reason.empty());
}

inline void CheckErrors(const IndicatorError& error) {
  for (const double points : {error.reduce_avg_error_points, error.reduce_max_error_points,
                              error.job_avg_error_points, error.job_max_error_points}) {
    EXPECT_TRUE(points >= 0 && points <= 100) << points;
  }
  if (error.interval_coverage) CheckFraction(*error.interval_coverage);
}

inline void Check(const Snapshot& snapshot) {
  CheckSpan(snapshot.elapsed);
  CheckInstant(snapshot.started_at);
  CheckSpan(snapshot.coverage.data_age);
  CheckSpan(snapshot.coverage.silent_for);
  CheckFraction(snapshot.coverage.map_profiles);
  for (const PhaseProgress& phase : snapshot.phases) CheckPhase(phase);
  for (const Forecast& forecast : snapshot.forecasts) {
    CheckForecast(forecast, snapshot.is_final());
  }
  if (snapshot.straggler) CheckStraggler(*snapshot.straggler);
  for (const IndicatorError& error : snapshot.errors) CheckErrors(error);
}

}  // namespace tidemark::test
