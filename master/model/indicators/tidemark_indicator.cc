#include "master/model/indicators/tidemark_indicator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "master/model/phases.h"
#include "master/model/reduce_schedule.h"
#include "streaming/size_histogram.h"

namespace tidemark::model {
namespace {

// Quantiles of the draws are widened by so much, and never below this part of what remains.
constexpr double kWiden = 1.2;
constexpr double kHalfWidthMin = 0.05;
// An interval says at most that it takes so many times as long as expected.
constexpr double kUpperMax = 20;
// Relative variance of emissions around their model, in bins, where nothing better is known.
constexpr double kEmissionVariance = 0.01;
constexpr double kEmissionErrorUnknown = 0.2;
constexpr std::size_t kEmissionSamples = 64;

double ImplicitSizeGuess(const JobState& state, double bytes) {
  const auto lightest = static_cast<double>(state.keys.smallest_explicit_bytes());
  return std::max(1.0, lightest > 0 ? std::min(lightest, bytes) : bytes);
}

}  // namespace

TidemarkIndicator::TidemarkIndicator(std::string name, Signals signals)
    : ProgressIndicator(std::move(name)), running_(signals == Signals::kUsed) {}

regression::CostModel TidemarkIndicator::FitEmissions(const JobState& state) const {
  struct Sums {
    double count = 0, bytes = 0, emitted = 0;
  };
  std::array<Sums, streaming::kSizeBins> sums{};
  double total = 0;
  for (const ReduceTask& task : state.reduce_tasks) {
    for (const GroupBin& bin : task.bins.bins()) {
      sums[bin.bin].count += static_cast<double>(bin.count);
      sums[bin.bin].bytes += static_cast<double>(bin.size_bytes);
      sums[bin.bin].emitted += static_cast<double>(bin.emitted_bytes);
      total += static_cast<double>(bin.emitted_bytes);
    }
  }
  if (!(total > 0)) return {};
  std::vector<regression::CostBin> bins;
  for (const Sums& sum : sums) {
    if (sum.count <= 0) continue;
    bins.push_back({std::max(1.0, sum.bytes / sum.count), sum.count, sum.emitted / sum.count,
                    kEmissionVariance});
  }
  return regression::CostModel::Fit(std::move(bins));
}

double TidemarkIndicator::EmissionError(const JobState& state,
                                        const regression::CostModel& emissions) const {
  if (emissions.empty()) return kEmissionErrorUnknown;
  double sum = kEmissionErrorUnknown * kEmissionErrorUnknown;
  double count = 1;
  const double large = emissions.size_max() / 16;
  for (const ReduceTask& task : state.reduce_tasks) {
    for (const auto& [number, attempt] : task.attempts) {
      const auto& groups = attempt.finished_explicit_groups;
      const std::size_t first = groups.size() > 8 ? groups.size() - 8 : 0;
      for (std::size_t g = first; g < groups.size(); ++g) {
        const auto size = static_cast<double>(groups[g].size_bytes);
        if (size < large || count > kEmissionSamples) continue;
        const double off = std::log(std::max(1.0, static_cast<double>(groups[g].emitted_bytes)) /
                                    std::max(1.0, emissions.Predict(size)));
        sum += std::min(off * off, 4.0);
        count += 1;
      }
    }
  }
  return std::sqrt(sum / count);
}

GroupTimes TidemarkIndicator::ImplicitByteTimes(const JobState& state,
                                                GroupTimeTable& table) const {
  GroupTimes times(table.curve_count());
  double bytes = 0;
  for (const GroupBin& bin : state.implicit_sizes.bins()) {
    const auto count = static_cast<double>(bin.count);
    const auto of_bin = static_cast<double>(bin.size_bytes);
    const double x = std::log(std::max(1.0, of_bin / count) / BinCentre(bin.bin));
    table.Add({bin.bin, count, of_bin, count * x, count * x * x}, 1, times);
    bytes += of_bin;
  }
  GroupTimes per_byte(table.curve_count());
  if (bytes > 0) per_byte.Add(times, 1 / bytes);
  return per_byte;
}

TaskOutlook TidemarkIndicator::OutlookOf(const JobState& state, absl::Time now, std::size_t index,
                                         const regression::CostModel& emissions,
                                         double emission_error, const GroupTimes& per_implicit_byte,
                                         GroupTimeTable& table) {
  const TaskLoad& load = remaining_.task(index);
  const ReduceAttempt* attempt = LeadingAttempt(state.reduce_tasks[index]);
  TaskOutlook outlook{.index = index,
                      .waiting = GroupTimes(table.curve_count()),
                      .speed = attempt != nullptr ? speeds_.of_task(index) : speeds_.of_new_task(),
                      .is_running = attempt != nullptr};
  for (const BinLoad& bin : load.explicit_bins) {
    table.Add(bin, remaining_.SizeCorrection(bin.bin), outlook.waiting);
  }
  double implicit_bytes = load.implicit_bytes;
  if (attempt != nullptr && attempt->reduce_started_at &&
      implicit_bytes + load.explicit_bytes > 0 && !load.running && attempt->running_group) {
    implicit_bytes =
        std::max(0.0, implicit_bytes - static_cast<double>(attempt->running_group->bytes_read));
  }
  if (per_implicit_byte.mean > 0) {
    outlook.waiting.Add(per_implicit_byte, implicit_bytes);
  } else if (implicit_bytes > 0) {
    const double size = ImplicitSizeGuess(state, implicit_bytes);
    table.AddEqual(size, implicit_bytes / size, outlook.waiting);
  }
  if (attempt == nullptr || !attempt->reduce_started_at) {
    const double shuffle = ShuffleSecondsPerByte(state).value_or(0) *
                           static_cast<double>(state.reduce_input_bytes(index));
    const absl::Time maps_end = MapPhaseEnd(state, now).value_or(now);
    outlook.delay = shuffle + std::max(0.0, absl::ToDoubleSeconds(maps_end - now));
    return outlook;
  }
  // The running group.
  double size = 0;
  if (load.running) {
    const double known = load.running->size_bytes;
    size = known * remaining_.SizeCorrection(streaming::SizeBin(static_cast<std::uint64_t>(known)));
  }
  if (attempt->running_group) {
    size = std::max(size, static_cast<double>(attempt->running_group->bytes_read));
  }
  running_.Observe(state, index, *attempt, now, load.running ? size : 0, table.model(), emissions,
                   emission_error);
  if (size > 0) {
    GroupTimes one(table.curve_count());
    table.AddEqual(size, 1, one);
    std::vector<double> seconds = one.seconds;
    for (double& s : seconds) s *= outlook.speed.factor;
    outlook.running =
        running_.Outlook(index, table.model(), seconds, table.model().RelativeVariance(size),
                         table.model().OctavesBeyond(size));
  }
  return outlook;
}

std::vector<double> TidemarkIndicator::CurveWeights(const std::vector<TaskOutlook>& tasks,
                                                    const regression::CostModel& costs) const {
  std::vector<double> weights;
  double sum = 0;
  for (std::size_t k = 0; k < costs.curves().size(); ++k) {
    double log_weight = std::log(costs.curves()[k].probability);
    for (const TaskOutlook& task : tasks) {
      if (task.running) log_weight += std::log(task.running->likelihood[k]);
    }
    weights.push_back(log_weight);
  }
  const double highest = *std::max_element(weights.begin(), weights.end());
  for (double& weight : weights) sum += weight = std::exp(weight - highest);
  for (double& weight : weights) weight /= sum;
  return weights;
}

ReducePhaseForecast TidemarkIndicator::Estimate(const JobState& state, absl::Time now) {
  ReducePhaseForecast forecast;
  if (!ReduceSizesKnown(state)) return forecast;
  remaining_.Update(state);
  predicted_total_.resize(state.reduce_tasks.size());
  const regression::CostModel costs = regression::CostModel::Fit(speeds_.PooledTimes(state));
  if (costs.empty()) return forecast;
  GroupTimeTable table(costs);
  speeds_.Update(state, table, predicted_total_);
  const regression::CostModel emissions = FitEmissions(state);
  const double emission_error = EmissionError(state, emissions);
  const GroupTimes per_implicit_byte = ImplicitByteTimes(state, table);
  std::vector<TaskOutlook> tasks;
  for (std::size_t i = 0; i < state.reduce_tasks.size(); ++i) {
    if (state.reduce_tasks[i].is_finished()) continue;
    tasks.push_back(OutlookOf(state, now, i, emissions, emission_error, per_implicit_byte, table));
    const ReduceAttempt* attempt = LeadingAttempt(state.reduce_tasks[i]);
    const double done = attempt == nullptr ? 0 : absl::ToDoubleSeconds(attempt->reduce_time);
    predicted_total_[i] = done + tasks.back().waiting.mean * tasks.back().speed.factor;
  }
  if (tasks.empty()) {
    forecast.ends_at = ReducePhaseEnd(state);
    return forecast;
  }
  const EndDraws ends = DrawEnds(tasks, CurveWeights(tasks, costs), state.reduce_slots());
  // Sizes and times come from outside; some add up to more than any number.
  if (!std::isfinite(ends.median) || !std::isfinite(ends.lower) || !std::isfinite(ends.upper)) {
    return forecast;
  }
  forecast.ends_at = now + absl::Seconds(ends.median);
  const double least = kHalfWidthMin * ends.median;
  const double below = std::max(least, kWiden * (ends.median - ends.lower));
  const double above = std::max(least, kWiden * (ends.upper - ends.median));
  forecast.ends_at_lower = now + absl::Seconds(std::max(0.0, ends.median - below));
  forecast.ends_at_upper =
      now + absl::Seconds(std::min(ends.median + above, kUpperMax * ends.median));
  forecast.evidence = Evidence{.own_fit = 1};
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const std::size_t i = tasks[t].index;
    const TaskLoad& load = remaining_.task(i);
    const double heaviest =
        load.heaviest.size_bytes > 0
            ? tasks[t].speed.factor * costs.Predict(static_cast<double>(load.heaviest.size_bytes))
            : 0;
    forecast.tasks.push_back(
        {i, now + absl::Seconds(ends.task_medians[t]), absl::Seconds(ends.task_medians[t]),
         static_cast<std::uint64_t>(load.explicit_count) + (load.running ? 1 : 0), load.heaviest,
         absl::Seconds(heaviest)});
  }
  return forecast;
}

}  // namespace tidemark::model
