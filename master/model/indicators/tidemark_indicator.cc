#include "master/model/indicators/tidemark_indicator.h"

#include <algorithm>
#include <cmath>
#include <optional>
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
// What fading has left of a bin, key groups.
constexpr double kNoGroup = 1e-3;
// How often the features are chosen anew, from how many bins, and how much better another than
// bytes must be.
constexpr std::uint64_t kUpdatesBetweenChoices = 5;
constexpr std::size_t kBinsToChoose = 5;
constexpr double kBetterBy = 1.15;
constexpr double kBetterAtLeast = 0.003;

double HeaviestSeconds(const JobState& state, const ExplicitKey& key,
                       const regression::CostModel& costs, CostFeature feature) {
  const auto bytes = static_cast<double>(key.size_bytes);
  return costs.Predict(FeatureOf(feature, bytes, state.keys.FirstInputShare(key.key)), bytes);
}

double ImplicitSizeGuess(const JobState& state, double bytes) {
  const auto lightest = static_cast<double>(state.keys.smallest_explicit_bytes());
  return std::max(1.0, lightest > 0 ? std::min(lightest, bytes) : bytes);
}

}  // namespace

TidemarkIndicator::TidemarkIndicator(std::string name, Signals signals)
    : ProgressIndicator(std::move(name)), running_(signals == Signals::kUsed) {}

struct TidemarkIndicator::Beliefs {
  regression::CostModel by_bytes;    // of all key groups
  regression::CostModel by_product;  // of explicit ones; empty: their bytes tell as much
  regression::CostModel emissions;   // of explicit ones, by emission_feature_
  std::optional<GroupTimeTable> bytes_table;
  std::optional<GroupTimeTable> product_table;
  GroupTimes per_implicit_byte;

  GroupTimeTable& explicit_table() { return product_table ? *product_table : *bytes_table; }
};

// Bytes unless another feature explains the same key groups clearly better.
void TidemarkIndicator::ChooseFeatures(const JobState& state) {
  if (!state.keys.has_two_inputs() || updates_++ % kUpdatesBetweenChoices != 0) return;
  const auto choose = [](regression::CostModel bytes, regression::CostModel product) {
    const bool better = !product.empty() && product.bin_count() >= kBinsToChoose &&
                        kBetterBy * product.score() + kBetterAtLeast < bytes.score();
    return better ? CostFeature::kProduct : CostFeature::kBytes;
  };
  using regression::CostModel;
  const CostFeature before = time_feature_;
  time_feature_ = choose(CostModel::Fit(evidence_.Times(CostFeature::kBytes, TaskSpeeds())),
                         CostModel::Fit(evidence_.Times(CostFeature::kProduct, TaskSpeeds())));
  if (time_feature_ != before) speeds_.Forget();
  emission_feature_ = choose(CostModel::Fit(evidence_.Emissions(CostFeature::kBytes)),
                             CostModel::Fit(evidence_.Emissions(CostFeature::kProduct)));
}

void TidemarkIndicator::UpdateSpeeds(const JobState& state) {
  const bool by_product = time_feature_ == CostFeature::kProduct;
  const regression::CostModel raw = regression::CostModel::Fit(
      by_product ? evidence_.Times(time_feature_, TaskSpeeds()) : TaskSpeeds::RawTimes(state));
  if (raw.empty()) return;
  GroupTimeTable table(raw);
  speeds_.Update(state, by_product ? evidence_.Finished(time_feature_) : FinishedByBytes(state),
                 table, predicted_total_);
}

GroupTimes TidemarkIndicator::ImplicitByteTimes(const JobState& state, GroupTimeTable& table) {
  double left = 0;
  for (std::size_t i = 0; i < state.reduce_tasks.size(); ++i) {
    if (!state.reduce_tasks[i].is_finished()) left += remaining_.task(i).implicit_bytes;
  }
  implicit_sizes_.Update(state.implicit_sizes.bins(), left);
  GroupTimes times(table.curve_count());
  double bytes = 0;
  for (const RecentSizes::Bin& bin : implicit_sizes_.bins()) {
    if (bin.count < kNoGroup) continue;
    const double x = std::log(std::max(1.0, bin.bytes / bin.count) / BinCentre(bin.bin));
    table.Add({bin.bin, bin.count, bin.bytes, bin.count * x, bin.count * x * x}, 1, times);
    bytes += bin.bytes;
  }
  GroupTimes per_byte(table.curve_count());
  if (bytes > 0) per_byte.Add(times, 1 / bytes);
  return per_byte;
}

TaskOutlook TidemarkIndicator::OutlookOf(const JobState& state, absl::Time now, std::size_t index,
                                         Beliefs& beliefs) {
  const TaskLoad& load = remaining_.task(index);
  const ReduceAttempt* attempt = LeadingAttempt(state.reduce_tasks[index]);
  GroupTimeTable& table = beliefs.explicit_table();
  TaskOutlook outlook{.index = index,
                      .waiting = GroupTimes(table.curve_count()),
                      .speed = attempt != nullptr ? speeds_.of_task(index) : speeds_.of_new_task(),
                      .is_running = attempt != nullptr};
  for (const BinLoad& bin : load.explicit_bins) {
    table.Add(bin, remaining_.BinCorrection(bin), outlook.waiting);
  }
  double implicit_bytes = load.implicit_bytes;
  if (attempt != nullptr && attempt->running_group && !load.running) {
    implicit_bytes =
        std::max(0.0, implicit_bytes - static_cast<double>(attempt->running_group->bytes_read));
  }
  if (beliefs.per_implicit_byte.mean > 0) {
    outlook.waiting.AddApart(beliefs.per_implicit_byte, implicit_bytes);
  } else if (implicit_bytes > 0) {
    const double size = ImplicitSizeGuess(state, implicit_bytes);
    GroupTimes guess(beliefs.bytes_table->curve_count());
    beliefs.bytes_table->AddEqual(size, size, implicit_bytes / size, guess);
    outlook.waiting.AddApart(guess, 1);
  }
  if (attempt != nullptr && attempt->reduce_started_at) {
    AddRunning(state, now, *attempt, beliefs, outlook);
  } else {
    const double shuffle = ShuffleSecondsPerByte(state).value_or(0) *
                           static_cast<double>(state.reduce_input_bytes(index));
    const absl::Time maps_end = MapPhaseEnd(state, now).value_or(now);
    outlook.delay = shuffle + std::max(0.0, absl::ToDoubleSeconds(maps_end - now));
  }
  return outlook;
}

void TidemarkIndicator::AddRunning(const JobState& state, absl::Time now,
                                   const ReduceAttempt& attempt, Beliefs& beliefs,
                                   TaskOutlook& outlook) {
  const std::optional<RunningExplicit>& known = remaining_.task(outlook.index).running;
  Expectation expected;
  double size = known ? known->size_bytes * remaining_.SizeCorrection(known->size_bytes) : 0;
  if (attempt.running_group) {
    size = std::max(size, static_cast<double>(attempt.running_group->bytes_read));
  }
  const auto value_of = [&](CostFeature feature) {
    const double share = known ? state.keys.FirstInputShare(known->key) : 0;
    return FeatureOf(feature, size, share);
  };
  if (known) {
    expected.size_bytes = size;
    if (!beliefs.emissions.empty()) {
      const double value = value_of(emission_feature_);
      expected.emitted_bytes = beliefs.emissions.PredictMedian(value, size);
      const double beyond = beliefs.emissions.Beyond(value);
      expected.emission_error =
          std::sqrt(beliefs.emissions.RelativeVariance(value) + beyond * beyond);
    }
  }
  running_.Observe(state, outlook.index, attempt, now, expected);
  if (!(size > 0)) return;
  GroupTimeTable& table = known ? beliefs.explicit_table() : *beliefs.bytes_table;
  const double value =
      value_of(known && beliefs.product_table ? CostFeature::kProduct : CostFeature::kBytes);
  GroupTimes one(table.curve_count());
  table.AddEqual(value, size, 1, one);
  std::vector<double> seconds(beliefs.explicit_table().curve_count(), one.mean);
  if (&table == &beliefs.explicit_table()) seconds = one.seconds;
  for (double& s : seconds) s *= outlook.speed.factor;
  outlook.running =
      running_.Outlook(outlook.index, beliefs.explicit_table().model(), seconds,
                       table.model().RelativeVariance(value), table.model().Beyond(value));
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
  evidence_.Update(state);
  ChooseFeatures(state);
  remaining_.Update(state, time_feature_);
  predicted_total_.resize(state.reduce_tasks.size());
  Beliefs beliefs;
  UpdateSpeeds(state);
  beliefs.by_bytes = regression::CostModel::Fit(speeds_.PooledTimes(state));
  if (beliefs.by_bytes.empty()) return forecast;
  beliefs.bytes_table.emplace(beliefs.by_bytes);
  if (time_feature_ == CostFeature::kProduct) {
    beliefs.by_product = regression::CostModel::Fit(evidence_.Times(time_feature_, speeds_));
    if (!beliefs.by_product.empty()) beliefs.product_table.emplace(beliefs.by_product);
  }
  beliefs.emissions = regression::CostModel::Fit(evidence_.Emissions(emission_feature_));
  beliefs.per_implicit_byte = ImplicitByteTimes(state, *beliefs.bytes_table);
  const regression::CostModel& costs = beliefs.explicit_table().model();
  std::vector<TaskOutlook> tasks;
  for (std::size_t i = 0; i < state.reduce_tasks.size(); ++i) {
    if (state.reduce_tasks[i].is_finished()) continue;
    tasks.push_back(OutlookOf(state, now, i, beliefs));
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
            ? tasks[t].speed.factor * HeaviestSeconds(state, load.heaviest, costs, time_feature_)
            : 0;
    forecast.tasks.push_back(
        {i, now + absl::Seconds(ends.task_medians[t]), absl::Seconds(ends.task_medians[t]),
         static_cast<std::uint64_t>(load.explicit_count) + (load.running ? 1 : 0), load.heaviest,
         absl::Seconds(heaviest)});
  }
  return forecast;
}

}  // namespace tidemark::model
