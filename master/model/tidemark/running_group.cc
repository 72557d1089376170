#include "master/model/tidemark/running_group.h"

#include <algorithm>
#include <cmath>

#include "master/model/tidemark/normal.h"

namespace tidemark::model {
namespace {

// Below this a counter says too little, above the second it is as good as exhausted.
constexpr double kPartMin = 0.01;
constexpr double kPartMax = 0.98;
// How firmly the exponent is held to the job's, in centred squares of ln phi; its limits.
constexpr double kExponentPrior = 0.1;
constexpr double kExponentVariance = 0.12;
constexpr double kExponentMin = 0.25;
constexpr double kExponentMax = 4;
// A group teaches the job its exponent when it was seen over this much of ln phi.
constexpr double kTeaches = 1;
constexpr double kFitDeviation = 0.05;
constexpr double kSpreadPerOctave = 0.08;
// One group in so many is nothing like its size; its deviation then.
constexpr double kWideShare = 0.03;
constexpr double kWideDeviation = 1;
constexpr double kRecordMemory = 8;

}  // namespace

void SignalRecord::Learn(double log_error) {
  const double weight = 1 / std::min(count + 2, kRecordMemory);
  squared_error += weight * (std::min(log_error * log_error, 4.0) - squared_error);
  count += 1;
}

void RunningGroups::Settle(const ReduceAttempt& attempt, Group& group) {
  if (!group.key) return;
  for (auto finished = attempt.finished_explicit_groups.rbegin();
       finished != attempt.finished_explicit_groups.rend(); ++finished) {
    if (finished->key != *group.key) continue;
    const double seconds = absl::ToDoubleSeconds(finished->time);
    if (!(seconds > 0)) return;
    if (group.read_said) read_.Learn(*group.read_said - std::log(seconds));
    if (group.emitted_said) emitted_.Learn(*group.emitted_said - std::log(seconds));
    return;
  }
}

void RunningGroups::Follow(Signal signal, double part, double error, double exponent,
                           Group& group) {
  if (group.signal != signal) {
    group.signal = signal;
    group.n = group.x = group.y = group.xx = group.xy = 0;
  }
  const double x = std::log(part);
  const double y = std::log(group.elapsed);
  group.n += 1;
  const double dx = x - group.x;
  group.x += dx / group.n;
  const double dy = y - group.y;
  group.y += dy / group.n;
  group.xx += dx * (x - group.x);
  group.xy += dx * (y - group.y);
  const double slope =
      std::clamp((group.xy + kExponentPrior * exponent) / (group.xx + kExponentPrior), kExponentMin,
                 kExponentMax);
  if (group.xx > kTeaches) RecordOf(signal).exponent = slope;
  const double slope_variance = kExponentVariance * kExponentPrior / (group.xx + kExponentPrior);
  const double own = 0.15 * (1 - part) + 0.01;
  group.log_time = y - slope * x;
  group.log_time_deviation = std::sqrt(own * own + x * x * slope_variance + error * error +
                                       (1 - part) * (1 - part) * RecordOf(signal).squared_error);
  std::optional<double>& said = signal == Signal::kRead ? group.read_said : group.emitted_said;
  if (part < 0.7 || !said) said = group.log_time;
}

void RunningGroups::Observe(const JobState& state, std::size_t index, const ReduceAttempt& attempt,
                            absl::Time now, double size_bytes, const regression::CostModel& costs,
                            const regression::CostModel& emissions, double emission_error) {
  groups_.resize(std::max(groups_.size(), state.reduce_tasks.size()));
  Group& group = groups_[index];
  const std::optional<RunningGroup>& running = attempt.running_group;
  const std::optional<KeyHash> key = running ? running->key : std::nullopt;
  if (group.key != key || group.number != attempt.groups_done) {
    Settle(attempt, group);
    group = {.key = key, .number = attempt.groups_done};
  }
  group.log_time.reset();
  if (!running) {
    // Engines that do not tell: at least since the last group ended.
    const absl::Time since =
        attempt.last_group_finished_at.value_or(attempt.reduce_started_at.value_or(now));
    group.elapsed = std::max(0.0, absl::ToDoubleSeconds(now - since));
    return;
  }
  group.elapsed = absl::ToDoubleSeconds(
      running->elapsed + std::max(now - attempt.running_group_seen_at, absl::ZeroDuration()));
  if (!use_signals_ || !(group.elapsed > 0) || !(size_bytes > 0)) return;
  const double read = static_cast<double>(running->bytes_read) / size_bytes;
  if (read < kPartMax) {
    if (read < kPartMin || read_.is_useless()) return;
    // A function that takes its values one by one has the group's own curve inside.
    const double curve = costs.empty() ? 1 : std::clamp(costs.curves().front().c, 1.0, 3.0);
    Follow(Signal::kRead, read, 0, read_.count > 0 ? read_.exponent : curve, group);
    return;
  }
  if (emissions.empty() || emitted_.is_useless()) return;
  const double expected =
      emissions.Predict(std::max(size_bytes, static_cast<double>(running->bytes_read)));
  const double part = static_cast<double>(running->bytes_emitted) / std::max(1.0, expected);
  if (part < kPartMin || part > kPartMax) return;
  Follow(Signal::kEmitted, part, emission_error, emitted_.exponent, group);
}

RunningOutlook RunningGroups::Outlook(std::size_t index, const regression::CostModel& costs,
                                      const std::vector<double>& model_seconds,
                                      double relative_variance, double octaves_beyond) const {
  const Group& group = groups_[index];
  const std::size_t curves = model_seconds.size();
  RunningOutlook outlook{.elapsed = group.elapsed,
                         .log_mean = std::vector<double>(curves),
                         .likelihood = std::vector<double>(curves, 1),
                         .wide_share = kWideShare};
  const double beyond = kSpreadPerOctave * octaves_beyond;
  double variance = std::log1p(relative_variance + kFitDeviation * kFitDeviation + beyond * beyond);
  const double prior_deviation = std::sqrt(variance);
  double mean = 0;
  for (std::size_t k = 0; k < curves; ++k) {
    outlook.log_mean[k] = std::log(std::max(model_seconds[k], 1e-12)) - variance / 2;
    mean += costs.curves()[k].probability * outlook.log_mean[k];
  }
  outlook.deviation = prior_deviation;
  const SignalRecord& record = group.signal == Signal::kRead ? read_ : emitted_;
  if (!group.log_time) {
    const double log_elapsed = std::log(std::max(outlook.elapsed, 1e-12));
    for (std::size_t k = 0; k < curves; ++k) {
      outlook.likelihood[k] =
          (1 - kWideShare) * NormalCdf((outlook.log_mean[k] - log_elapsed) / prior_deviation) +
          kWideShare * NormalCdf((outlook.log_mean[k] - log_elapsed) / kWideDeviation) + 1e-12;
    }
    return outlook;
  }
  const double told = *group.log_time;
  const double told_variance = group.log_time_deviation * group.log_time_deviation;
  for (std::size_t k = 0; k < curves; ++k) {
    const double together = variance + told_variance;
    const double off = told - outlook.log_mean[k];
    outlook.likelihood[k] =
        0.95 * std::exp(-off * off / (2 * together)) / std::sqrt(together) + 0.05;
  }
  const double off = told - mean;
  const bool conflict = off * off > 9 * (variance + told_variance);
  outlook.wide_share = 0;
  if (conflict && !record.is_trusted() && group.signal == Signal::kRead && off < 0) {
    // A counter that runs ahead may be one of a function that reads first and works later.
    outlook.wide_share = kWideShare;
    return outlook;
  }
  if (conflict) {
    outlook.deviation = group.log_time_deviation;
    std::fill(outlook.log_mean.begin(), outlook.log_mean.end(), told);
    return outlook;
  }
  const double weight = variance / (variance + told_variance);
  for (double& log_mean : outlook.log_mean) log_mean += weight * (told - log_mean);
  outlook.deviation = std::sqrt(variance * told_variance / (variance + told_variance));
  return outlook;
}

double RunningOutlook::Left(std::size_t k, double quantile) const {
  const double log_elapsed = std::log(std::max(elapsed, 1e-12));
  const auto survives = [&](double d) { return NormalCdf((log_mean[k] - log_elapsed) / d); };
  const double main = (1 - wide_share) * survives(deviation);
  const double wide = wide_share > 0 ? wide_share * survives(kWideDeviation) : 0;
  const double both = main + wide;
  // Longer than anything expected: as long again, give or take.
  if (!(both > 1e-9)) return elapsed * -std::log1p(-quantile) * 0.5;
  double p = quantile * both;
  double d = deviation;
  double survive = 0;
  if (p < wide) {
    d = kWideDeviation;
    survive = survives(d);
    p /= wide;
  } else {
    survive = survives(d);
    p = (p - wide) / main;
  }
  // The upper tail is where the precision is needed.
  const double tail = survive * (1 - p);
  const double time = std::exp(log_mean[k] - d * NormalQuantile(tail));
  return std::max(0.0, time - elapsed);
}

}  // namespace tidemark::model
