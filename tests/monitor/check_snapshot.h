// Checks the invariants of every snapshot. Numbers are finite, fractions are within 0..1, durations
// are not negative, and lower <= median <= upper.
#pragma once

#include "tests/test.h"
#include "tidemark/job.h"

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

inline void CheckRange(const std::optional<Range>& range) {
  if (!range) return;
  for (const auto span : {std::optional(range->median), range->lower, range->upper}) {
    CheckSpan(span);
  }
  EXPECT_LE(range->lower.value_or(range->median), range->median);
  EXPECT_LE(range->median, range->upper.value_or(range->median));
}

inline void CheckEstimate(const Estimate& estimate, bool is_final) {
  SCOPED_TRACE(estimate.indicator);
  CheckFraction(estimate.fraction_done);
  CheckFraction(estimate.fraction_done_lower);
  EXPECT_LE(estimate.fraction_done_lower, estimate.fraction_done);
  CheckFraction(estimate.fraction_done_upper);
  CheckFraction(estimate.known_share);
  EXPECT_TRUE(is_final || estimate.fraction_done < 1);
  EXPECT_EQ(estimate.state == EstimateState::kFinal, is_final);
  const bool may_remain =
      estimate.state == EstimateState::kValid || estimate.state == EstimateState::kOverdue;
  EXPECT_TRUE(may_remain || !estimate.remaining);
  EXPECT_TRUE(estimate.remaining || estimate.state != EstimateState::kValid);
  CheckRange(estimate.remaining);
  if (estimate.remaining) {
    EXPECT_EQ(estimate.remaining->lower.has_value(), estimate.remaining->upper.has_value());
  }
}

inline void CheckEvidence(const Evidence& evidence) {
  double sum = 0;
  for (const double share : {evidence.own_neighbours, evidence.own_fit, evidence.other_neighbours,
                             evidence.other_fit, evidence.ratio}) {
    CheckFraction(share);
    sum += share;
  }
  EXPECT_TRUE(sum == 0 || std::abs(sum - 1) < 1e-9) << sum;
}

// The loop uses no gtest expectations, since they are slow for a job with the maximum number of
// stages.
inline bool IsSane(const StageProgress& stage) {
  const auto is_fraction = [](double fraction) { return fraction >= 0 && fraction <= 1; };
  const auto is_instant = [](const std::optional<absl::Time>& at) {
    return !at || (*at > absl::InfinitePast() && *at < absl::InfiniteFuture());
  };
  const auto is_range = [](const std::optional<Range>& range) {
    if (!range) return true;
    const absl::Duration lower = range->lower.value_or(range->median);
    const absl::Duration upper = range->upper.value_or(range->median);
    return absl::ZeroDuration() <= lower && lower <= range->median && range->median <= upper &&
           upper < absl::InfiniteDuration();
  };
  // A running part must not end now.
  const bool ends_later =
      !stage.ends_in || stage.ends_in->upper.value_or(stage.ends_in->median) > absl::ZeroDuration();
  return ends_later && is_fraction(stage.fraction_done) && is_instant(stage.started_at) &&
         is_instant(stage.ended_at) && is_range(stage.starts_in) && is_range(stage.ends_in) &&
         stage.running_tasks + stage.finished_tasks <= stage.tasks &&
         (!stage.shuffle || is_fraction(stage.shuffle->fraction_done));
}

inline void CheckNamedTask(const NamedTask& task) {
  CheckRange(task.remaining);
  CheckFraction(task.heaviest_group_share);
  EXPECT_FALSE(task.reason.empty());
}

inline void CheckErrors(const IndicatorError& error) {
  for (const double points :
       {error.last_stage_avg_points.value_or(0), error.last_stage_max_points.value_or(0),
        error.job_avg_points, error.job_max_points}) {
    EXPECT_TRUE(points >= 0 && points <= 100) << points;
  }
  if (error.interval_coverage) CheckFraction(*error.interval_coverage);
  EXPECT_GE(error.interval_width.value_or(0), 0);
}

inline void Check(const Snapshot& snapshot) {
  CheckSpan(snapshot.elapsed());
  CheckInstant(snapshot.started_at);
  CheckInstant(snapshot.ended_at);
  EXPECT_LE(snapshot.silent_since.value_or(snapshot.at), snapshot.at);
  CheckFraction(snapshot.late_probability.value_or(0));
  EXPECT_TRUE(snapshot.deadline || !snapshot.late_probability);
  if (snapshot.coverage) {
    EXPECT_LE(snapshot.coverage->newest_event_at.value_or(snapshot.at), snapshot.at);
    CheckFraction(snapshot.coverage->map_profiles.value_or(0));
  }
  EXPECT_EQ(snapshot.stages.size(), snapshot.stage_infos.size());
  for (const StageProgress& stage : snapshot.stages) {
    if (!IsSane(stage)) ADD_FAILURE() << "stage " << stage.id.stage;
  }
  for (const Group& group : snapshot.groups) {
    CheckFraction(group.fraction_done);
    CheckInstant(group.started_at);
    CheckInstant(group.ended_at);
    CheckRange(group.ends_in);
  }
  CheckEstimate(snapshot.estimate, snapshot.is_final);
  for (const Indicator& other : snapshot.indicators) {
    CheckEstimate(other.estimate, snapshot.is_final);
    CheckFraction(other.last_stage_fraction_done);
    if (other.evidence) CheckEvidence(*other.evidence);
  }
  for (const NamedTask& task : snapshot.named_tasks) CheckNamedTask(task);
  for (const IndicatorError& error : snapshot.errors) CheckErrors(error);
}

}  // namespace tidemark::test
