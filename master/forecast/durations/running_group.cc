#include "master/forecast/durations/running_group.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "master/facts/phases.h"
#include "master/forecast/durations/draws.h"

namespace tidemark::durations {
namespace {

// A counter at or above this share counts as exhausted. Ablation: +11.08, +31.70 (join phase-ab).
constexpr double kPartMax = 0.98;
// Weight of the job's exponent as a prior, in centred squares of ln phi. Most functions emit evenly
// but may read unevenly.
// Ablation: +0.16, -0.14 (n^4-1.4).
constexpr double kExponentPriorRead = 0.2;
// Ablation: -0.79, +0.58 (join smooth-bend).
constexpr double kExponentPriorEmitted = 2;
// Variance of ln t around its line. Ablation: -1.38, +2.05 (join smooth-bend, bend).
constexpr double kExponentScatter = 0.05;
// A group updates the job's exponent if it was observed beyond this share. Ablation: +0.00, +0.21
// (two-path hidden-modes).
constexpr double kLearnFrom = 0.5;
// A counter is judged by its estimates up to this share. With 0.5, word-count-nc many-tasks has an
// avgErr of 1.53 instead of 0.82.
constexpr double kJudgedUntil = 0.7;
// A group that takes this share of the longest group's time counts half. If short groups count
// fully, two-path on email-enron has an avgErr of 0.99 instead of 0.87.
constexpr double kShortPart = 0.1;
// Probability that a counter is unrelated to the time of a group. Ablation: +0.44 (join lost-10),
// -0.06 (n^4-1.4).
constexpr double kMisleading = 0.05;
// Groups with fewer reports do not count in judging a counter. Ablation: -0.13 (n^2-1.6), -0.34
// (two-path slow-node).
constexpr int kReportsMin = 3;

}  // namespace

double SignalRecord::PartOfLongest(double seconds) {
  longest = std::max(longest, seconds);
  return seconds / (seconds + kShortPart * longest) * (1 + kShortPart);
}

void SignalRecord::LearnShare(double exhausted_seconds, double seconds) {
  const double part = PartOfLongest(seconds);
  const double share = std::clamp(exhausted_seconds / seconds, facts::kShareMin, 1.0);
  const double weight = part / (share_weight + part);
  const double off = std::log(share) - log_share;
  log_share += weight * off;
  if (share_weight > 0) {
    share_squared_error +=
        weight * (std::min(off * off, regression::kSquaredErrorMax) - share_squared_error);
  }
  share_weight += part;
}

void SignalRecord::Learn(double log_estimate, double seconds) {
  const double share = PartOfLongest(seconds);
  const double off = log_estimate - std::log(seconds);
  const double weight = share / (count + 1 + share);
  squared_error += weight * (std::min(off * off, regression::kSquaredErrorMax) - squared_error);
  count += share;
}

void RunningGroups::LearnFromFinished(const facts::ReduceWork& work, Group& group) {
  if (!group.key) return;
  for (auto finished = work.finished_explicit_groups.rbegin();
       finished != work.finished_explicit_groups.rend(); ++finished) {
    if (finished->key != *group.key) continue;
    const double seconds = absl::ToDoubleSeconds(finished->time);
    if (!(seconds > 0)) return;
    if (group.slope && group.reports >= kReportsMin) {
      double& exponent = RecordOf(group.signal).exponent;
      exponent = (exponent + *group.slope) / 2;
    }
    if (group.read_estimate && group.reports >= kReportsMin) {
      // The counter is not judged before the first share is known.
      if (read_.share_weight > 0 || !group.read_for) {
        read_.Learn(*group.read_estimate - read_.log_share, seconds);
      }
      if (group.read_for) read_.LearnShare(*group.read_for, seconds);
    }
    if (group.emitted_estimate && group.reports >= kReportsMin)
      emitted_.Learn(*group.emitted_estimate, seconds);
    return;
  }
}

void RunningGroups::UpdateSignal(Signal signal, double part, double elapsed, double error,
                                 double exponent, Group& group) {
  if (group.signal != signal) {
    group.signal = signal;
    group.total_error = error;
    group.n = group.x = group.y = group.xx = group.xy = 0;
  }
  // The time before the first emitted byte does not count for the pace.
  double before = 0;
  double before_error = 0;
  if (signal == Signal::kEmitted) {
    before = group.silent_for;
    before_error = group.silence_error;
    // A group that emitted nothing while it read started to emit after the last byte.
    if (!group.emits_while_reading && group.read_for && *group.read_for < elapsed) {
      before_error = std::max(0.0, before_error - std::max(0.0, *group.read_for - before));
      before = std::max(before, *group.read_for);
    }
  }
  const double x = std::log(part);
  const double y = std::log(std::max(elapsed - before, facts::kShareMin * elapsed));
  // The weight is the share itself, since the start of a function indicates little about the
  // remainder.
  group.n += part;
  const double dx = x - group.x;
  group.x += part * dx / group.n;
  const double dy = y - group.y;
  group.y += part * dy / group.n;
  group.xx += part * dx * (x - group.x);
  group.xy += part * dx * (y - group.y);
  const double prior = signal == Signal::kRead ? kExponentPriorRead : kExponentPriorEmitted;
  const double slope = std::clamp((group.xy + prior * exponent) / (group.xx + prior),
                                  1 / regression::kExponentMax, regression::kExponentMax);
  group.slope = part > kLearnFrom ? std::optional<double>(slope) : std::nullopt;
  const double slope_variance = kExponentScatter / (group.xx + prior);
  // The error of the counter is proportional to the remaining share.
  const double to_come = (1 - part) * (1 - part) * RecordOf(signal).squared_error;
  const double estimated = std::exp(y - slope * x);
  const double seconds = before + estimated;
  group.log_time = std::log(seconds);
  const double of_pace = x * x * slope_variance + slope * slope * error * error;
  const double moving = estimated / seconds;
  double start_error = before_error * (1 - part) / part / seconds;
  if (signal == Signal::kRead && read_.share_weight > 0) {
    start_error = std::sqrt(read_.share_squared_error);
  }
  group.log_time_deviation = std::sqrt(facts::kShareMin * facts::kShareMin + to_come +
                                       moving * moving * of_pace + start_error * start_error);
  std::optional<double>& estimate =
      signal == Signal::kRead ? group.read_estimate : group.emitted_estimate;
  if (part < kJudgedUntil || !estimate) estimate = group.log_time;
  if (signal == Signal::kRead) *group.log_time -= read_.log_share;
}

void RunningGroups::Observe(const facts::JobRecord& state, std::size_t index,
                            const facts::ReduceWork& work, absl::Time now,
                            const GroupTotals& expected) {
  groups_.resize(std::max(groups_.size(), state.reduce_tasks().size()));
  Group& group = groups_[index];
  const std::optional<RunningGroup>& running = work.running_group;
  const std::optional<KeyHash> key = running ? running->key : std::nullopt;
  if (group.key != key || group.number != work.groups_done) {
    LearnFromFinished(work, group);
    group = {.key = key, .number = work.groups_done};
  }
  if (!running) {
    // If the engine does not report running groups, the group is assumed to run since the previous
    // one ended.
    const absl::Time since =
        work.last_group_finished_at.value_or(work.reduce_started_at.value_or(now));
    group.elapsed = std::max(0.0, work.processor_share * absl::ToDoubleSeconds(now - since));
    return;
  }
  group.elapsed = absl::ToDoubleSeconds(
      running->elapsed +
      work.processor_share * std::max(now - work.running_group_seen_at, absl::ZeroDuration()));
  // Counters belong to the time of their report and not to the present.
  if (group.seen_at == work.running_group_seen_at) return;
  group.seen_at = work.running_group_seen_at;
  group.log_time.reset();
  ++group.reports;
  if (running->bytes_read != group.bytes_read) {
    group.only_emits = false;
  } else if (running->bytes_emitted > group.bytes_emitted) {
    group.only_emits = true;
  }
  group.bytes_read = running->bytes_read;
  group.bytes_emitted = running->bytes_emitted;
  const double elapsed = absl::ToDoubleSeconds(running->elapsed);
  if (!use_signals_ || !(elapsed > 0) || !(expected.size_bytes > 0)) return;
  const double last_report = std::exchange(group.last_report, elapsed);
  const double read = static_cast<double>(running->bytes_read) / expected.size_bytes;
  if (running->bytes_emitted == 0) {
    group.silent_for = elapsed;
  } else if (group.silence_error == 0) {
    group.silence_error = elapsed - group.silent_for;
    group.emits_while_reading = read < kPartMax;
  }
  if (read < kPartMax) {
    if (read < facts::kPaceFrom) return;
    UpdateSignal(Signal::kRead, read, elapsed, 0, read_.exponent, group);
    return;
  }
  if (!group.read_for) group.read_for = (last_report + elapsed) / 2;
  const double part = expected.emitted_bytes > 0
                          ? static_cast<double>(running->bytes_emitted) / expected.emitted_bytes
                          : 0;
  if (part < facts::kPaceFrom && read_.share_weight > 0) {
    group.signal = Signal::kRead;
    group.log_time = std::log(*group.read_for) - read_.log_share;
    const double error = std::min(1.0, (elapsed - last_report) / (2 * *group.read_for));
    group.log_time_deviation = std::sqrt(read_.share_squared_error + error * error);
  }
  // Near the end of the group, the counter shows the error of the estimated total.
  if (part < facts::kPaceFrom || part > kPartMax + kContradiction * expected.emission_error) return;
  UpdateSignal(Signal::kEmitted, std::min(part, 1.0), elapsed, expected.emission_error,
               emitted_.exponent, group);
}

bool RunningGroups::HasReadAll(std::size_t index, const RunningGroup& running) const {
  if (!use_signals_ || index >= groups_.size()) return false;
  const Group& group = groups_[index];
  return group.key == running.key && group.bytes_read == running.bytes_read && group.only_emits;
}

RunningGroupTime RunningGroups::TimeOf(std::size_t index, const regression::CostModel& costs,
                                       const std::vector<double>& model_seconds,
                                       double relative_variance, double beyond) const {
  RunningGroupTime group_time = LogTimeOf(index, costs, model_seconds, relative_variance, beyond);
  const double log_elapsed = std::log(std::max(group_time.elapsed, 1e-12));
  for (const double log_mean : group_time.log_mean) {
    group_time.survival.push_back(Student4Cdf((log_mean - log_elapsed) / group_time.deviation));
  }
  return group_time;
}

RunningGroupTime RunningGroups::LogTimeOf(std::size_t index, const regression::CostModel& costs,
                                          const std::vector<double>& model_seconds,
                                          double relative_variance, double beyond) const {
  const Group& group = groups_[index];
  const std::size_t curves = model_seconds.size();
  RunningGroupTime group_time{.elapsed = group.elapsed,
                              .log_mean = std::vector<double>(curves),
                              .likelihood = std::vector<double>(curves, 1)};
  double variance = std::log1p(relative_variance + regression::kBinVarianceMin + beyond * beyond);
  const double prior_deviation = std::sqrt(variance);
  double mean = 0;
  for (std::size_t k = 0; k < curves; ++k) {
    group_time.log_mean[k] = std::log(std::max(model_seconds[k], 1e-12)) - variance / 2;
    mean += costs.curves()[k].probability * group_time.log_mean[k];
  }
  group_time.deviation = prior_deviation;
  const SignalRecord& record = group.signal == Signal::kRead ? read_ : emitted_;
  if (!group.log_time || record.is_useless()) {
    const double log_elapsed = std::log(std::max(group_time.elapsed, 1e-12));
    for (std::size_t k = 0; k < curves; ++k) {
      group_time.likelihood[k] =
          Student4Cdf((group_time.log_mean[k] - log_elapsed) / prior_deviation) + 1e-12;
    }
    return group_time;
  }
  const double estimated = *group.log_time;
  const double estimated_variance = group.log_time_deviation * group.log_time_deviation;
  for (std::size_t k = 0; k < curves; ++k) {
    const double together = variance + estimated_variance;
    const double off = estimated - group_time.log_mean[k];
    group_time.likelihood[k] =
        (1 - kMisleading) * std::exp(-off * off / (2 * together)) / std::sqrt(together) +
        kMisleading;
  }
  const double off = estimated - mean;
  const bool conflict = Contradict(off, variance + estimated_variance);
  if (conflict && !record.is_trusted() && group.signal == Signal::kRead && off < 0) {
    // The counter may be fast because the function reads first and works later.
    return group_time;
  }
  if (conflict && !record.is_trusted() && group.total_error >= kRepeatDeviation) {
    // Either estimate may be right, since the estimated emissions may be wrong.
    group_time.deviation = std::abs(off) / 2;
    std::fill(group_time.log_mean.begin(), group_time.log_mean.end(), (estimated + mean) / 2);
    return group_time;
  }
  if (conflict) {
    group_time.deviation = group.log_time_deviation;
    std::fill(group_time.log_mean.begin(), group_time.log_mean.end(), estimated);
    return group_time;
  }
  const double weight = variance / (variance + estimated_variance);
  for (double& log_mean : group_time.log_mean) log_mean += weight * (estimated - log_mean);
  group_time.deviation = std::sqrt(variance * estimated_variance / (variance + estimated_variance));
  return group_time;
}

double RunningGroupTime::Left(std::size_t k, double quantile) const {
  const double time =
      std::exp(log_mean[k] - deviation * QuickStudent4Quantile(survival[k] * (1 - quantile)));
  return std::max(0.0, time - elapsed);
}

}  // namespace tidemark::durations
