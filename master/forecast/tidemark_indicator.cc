#include "master/forecast/tidemark_indicator.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "master/facts/phases.h"
#include "master/forecast/dag/application_forecast.h"
#include "master/forecast/durations/combined_estimates.h"
#include "master/forecast/durations/draws.h"
#include "master/forecast/durations/early_forecast.h"
#include "master/forecast/durations/reduce_stage.h"
#include "master/forecast/durations/task_sizes.h"
#include "streaming/size_histogram.h"

namespace tidemark::forecast {
namespace {

// Weight of the recently finished key groups if there is a sample, in key groups of the sample.
// Ablation: -0.02, +0.09 (two-path cit-hepph).
constexpr double kRecentBesideSample = 10;
// Limits processor time. A choice takes up to six fits, so features are chosen at every fifth
// update.
constexpr std::uint64_t kUpdatesPerChoiceMin = 5;
// Another feature is used only if it explains the times better than bytes by this factor. Ablation:
// -1.93, -0.03 (two-path lost-50).
constexpr double kBetterBy = 1.15;

double HeaviestSeconds(const facts::JobRecord& state, const ExplicitKey& key,
                       const regression::CostModel& costs, durations::CostFeature feature) {
  const auto bytes = static_cast<double>(key.size_bytes);
  return costs.Predict(
      durations::FeatureOf(feature, bytes, durations::TraitsOf(state.keys, key.key)), bytes);
}

// Returns true if explicit key groups that were timed alone take most of the time. Otherwise a
// model of them would be applied to many groups that it has not seen.
bool IsMostlyTimedAlone(const facts::JobRecord& state,
                        const durations::ExplicitEvidence& evidence) {
  double all = 0;
  for (const facts::Task& task : state.reduce_tasks()) {
    for (const GroupBin& bin : task.finished_groups().bins.bins()) all += bin.seconds;
  }
  return evidence.seconds() > all / 2;
}

// Returns the mean time between the last key group of a finished task and its end, during which a
// task commits, closes or cleans up.
double SecondsAfterGroups(const facts::JobRecord& state) {
  double sum = 0;
  double count = 0;
  for (const facts::Task& task : state.reduce_tasks()) {
    const facts::TaskAttempt* const done = task.finished_attempt();
    if (done == nullptr || !done->reduce->last_group_finished_at) continue;
    const absl::Duration after = done->life.ended_at().value_or(absl::InfinitePast()) -
                                 *done->reduce->last_group_finished_at;
    sum += std::max(absl::ToDoubleSeconds(after), 0.0);
    count += 1;
  }
  return count > 0 ? sum / count : 0;
}

double ImplicitSizeGuess(const facts::JobRecord& state, double bytes) {
  const auto lightest = static_cast<double>(state.keys.smallest_explicit_bytes());
  return std::max(1.0, lightest > 0 ? std::min(lightest, bytes) : bytes);
}

}  // namespace

std::optional<MapsLeft> EstimateMaps(const facts::JobRecord& state, absl::Time now,
                                     const durations::FixedDraws& draws) {
  std::optional<durations::SizedStage> left = durations::MapStageBySize(state, now, draws);
  if (!left || left->tasks.empty()) return std::nullopt;
  MapsLeft maps = {.application = {.on = dag::RoomForAll(), .draws = &draws}};
  maps.application.stages.push_back(std::move(left->stage));
  absl::StatusOr<dag::ApplicationForecast> forecast = dag::ForecastApplication(maps.application);
  if (!forecast.ok() || forecast->end.upper >= placement::kForever) return std::nullopt;
  maps.forecast = *std::move(forecast);
  return maps;
}

TidemarkIndicator::TidemarkIndicator(std::string name, Signals signals)
    : ProgressIndicator(std::move(name)), running_(signals == Signals::kUsed) {}

struct TidemarkIndicator::GroupCosts {
  const regression::CostModel& emissions;
  durations::GroupTimeTable* bytes_table = nullptr;
  // null if bytes predict the times equally well
  durations::GroupTimeTable* feature_table = nullptr;
  durations::GroupTimes per_implicit_byte;
  // The remaining time before a waiting task can begin to reduce. Computed once, since visiting all
  // tasks for each waiting task would take quadratic time.
  double shuffle_seconds_per_byte = 0;
  double map_seconds_left = 0;
  double seconds_after_groups = 0;  // from a task's last key group to its end

  durations::GroupTimeTable& explicit_table() {
    return feature_table ? *feature_table : *bytes_table;
  }
};

// Chooses bytes unless another feature explains the same key groups clearly better.
void TidemarkIndicator::ChooseFeatures(const facts::JobRecord& state) {
  std::vector<durations::CostFeature> others;
  if (state.keys.has_two_inputs()) others.push_back(durations::CostFeature::kProduct);
  const bool has_finished = evidence_.seconds() > 0;
  if (state.keys.has_values() && (!has_finished || IsMostlyTimedAlone(state, evidence_))) {
    others.push_back(durations::CostFeature::kValues);
  }
  if (others.empty() || updates_++ % kUpdatesPerChoiceMin != 0) return;
  const auto choose = [&](const auto& bins_of) {
    durations::CostFeature chosen = durations::CostFeature::kBytes;
    double score = regression::CostModel::Fit(bins_of(chosen)).score();
    for (const durations::CostFeature other : others) {
      const auto model = regression::CostModel::Fit(bins_of(other));
      const double unsure = regression::kBinVarianceMin;
      const bool better = kBetterBy * model.score() + unsure < score;
      if (!better) continue;
      chosen = other;
      score = model.score();
    }
    return chosen;
  };
  const durations::CostFeature before = time_feature_;
  time_feature_ = choose([&](durations::CostFeature feature) {
    return durations::WithPastGroups(evidence_.Times(feature, durations::TaskSpeeds()), state,
                                     feature);
  });
  if (time_feature_ != before) {
    speeds_.Clear();
    raw_.Invalidate();
    by_feature_.Invalidate();
  }
  const durations::CostFeature emission_before = emission_feature_;
  emission_feature_ =
      choose([&](durations::CostFeature feature) { return evidence_.Emissions(feature); });
  if (emission_feature_ != emission_before) emissions_.Invalidate();
}

void TidemarkIndicator::UpdateSpeeds(const facts::JobRecord& state) {
  const bool by_bytes = time_feature_ == durations::CostFeature::kBytes;
  raw_.Update(by_bytes ? durations::TaskSpeeds::RawTimes(state)
                       : evidence_.Times(time_feature_, durations::TaskSpeeds()));
  if (raw_.empty()) return;
  speeds_.Update(state,
                 by_bytes ? durations::FinishedByBytes(state) : evidence_.Finished(time_feature_),
                 raw_.table(), predicted_total_);
}

durations::GroupTimes TidemarkIndicator::ImplicitByteTimes(const facts::JobRecord& state,
                                                           durations::GroupTimeTable& table) {
  double left = 0;
  const std::span<const facts::Task> tasks = state.reduce_tasks();
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (!tasks[i].is_over()) left += remaining_.task(i).implicit_bytes;
  }
  implicit_sizes_.Update(state.implicit_sizes.bins(), left);
  durations::GroupTimes times(table.curve_count());
  double bytes = 0;
  // Returns the mean seconds of the groups.
  const auto add = [&](const durations::RecentSizes::Bin& bin, double weight) {
    if (!(bin.count > 0)) return 0.0;
    const double before = times.mean;
    const double x = std::log(std::max(1.0, bin.bytes / bin.count) / durations::BinCentre(bin.bin));
    const double count = weight * bin.count;
    table.Add({bin.bin, count, weight * bin.bytes, count * x, count * x * x}, 1, times);
    bytes += weight * bin.bytes;
    return (times.mean - before) / count;
  };
  double recent = 0;
  for (const durations::RecentSizes::Bin& bin : implicit_sizes_.bins()) recent += bin.count;
  const double recent_max = sampled_.has_sample() ? kRecentBesideSample : recent;
  const double recent_weight = recent > 0 ? std::min(1.0, recent_max / recent) : 0;
  for (const durations::RecentSizes::Bin& bin : implicit_sizes_.bins()) {
    if (recent_weight > 0) add(bin, recent_weight);
  }
  const std::vector<durations::SampledGroups::Bin> sampled = sampled_.ImplicitBins(left);
  std::vector<double> seconds;
  for (const durations::SampledGroups::Bin& bin : sampled) seconds.push_back(add(bin.sizes, 1));
  durations::GroupTimes per_byte(table.curve_count());
  if (!(bytes > 0)) return per_byte;
  per_byte.Add(times, 1 / bytes);
  per_byte.sampling = durations::SampledGroups::ErrorPerByte(sampled, seconds, per_byte.mean);
  return per_byte;
}

durations::ReduceTaskLeft TidemarkIndicator::LeftOf(const facts::JobRecord& state, absl::Time now,
                                                    std::size_t index, GroupCosts& group_costs) {
  const durations::TaskLoad& load = remaining_.task(index);
  const facts::TaskAttempt* attempt = state.reduce_tasks()[index].leading_attempt();
  durations::GroupTimeTable& table = group_costs.explicit_table();
  durations::ReduceTaskLeft task{
      .index = index,
      .waiting = durations::GroupTimes(table.curve_count()),
      .speed = attempt != nullptr ? speeds_.of_task(index) : speeds_.of_new_task(),
      .is_running = attempt != nullptr};
  // If profiles of map tasks are missing, the error of the sizes exceeds their scatter.
  const bool is_spread = state.map_profiles_missing == 0;
  for (const durations::BinLoad& bin : load.explicit_bins) {
    table.Add(is_spread ? remaining_.Spread(bin) : bin, remaining_.BinCorrection(bin),
              task.waiting);
  }
  double implicit_bytes = load.implicit_bytes;
  if (attempt != nullptr && attempt->reduce->running_group && !load.running) {
    implicit_bytes = std::max(
        0.0, implicit_bytes - static_cast<double>(attempt->reduce->running_group->bytes_read));
  }
  if (group_costs.per_implicit_byte.mean > 0) {
    task.waiting.AddApart(group_costs.per_implicit_byte, implicit_bytes);
  } else if (implicit_bytes > 0) {
    const double size = ImplicitSizeGuess(state, implicit_bytes);
    durations::GroupTimes guess(group_costs.bytes_table->curve_count());
    group_costs.bytes_table->AddEqual(size, size, implicit_bytes / size, guess);
    task.waiting.AddApart(guess, 1);
  }
  if (attempt != nullptr && attempt->reduce->reduce_started_at) {
    const facts::ReduceWork& work = *attempt->reduce;
    // Since its last report, the task has continued in that group or in later groups.
    const absl::Time reported =
        work.running_group ? std::min(now, work.running_group_seen_at) : now;
    AddRunning(state, reported, work, group_costs, task);
    task.since_report = work.processor_share * absl::ToDoubleSeconds(now - reported);
    const bool has_read_all = attempt->bytes_done >= state.reduce_input_bytes(index);
    task.after = group_costs.seconds_after_groups;
    if (has_read_all && !work.running_group && work.last_group_finished_at) {
      const absl::Duration passed = now - *work.last_group_finished_at;
      task.after = std::max(task.after - absl::ToDoubleSeconds(passed), 0.0);
    }
    task.other =
        OtherAttemptOf(state, now, index, *attempt, group_costs.shuffle_seconds_per_byte, task);
  } else {
    task.delay = group_costs.shuffle_seconds_per_byte *
                     static_cast<double>(state.reduce_input_bytes(index)) +
                 group_costs.map_seconds_left;
    task.after = group_costs.seconds_after_groups;
  }
  return task;
}

// Estimates a second running attempt. Before this attempt shows its pace, assumes a node of speed
// 1. Afterwards, uses the paces of both attempts in bytes.
std::optional<durations::OtherAttempt> TidemarkIndicator::OtherAttemptOf(
    const facts::JobRecord& state, absl::Time now, std::size_t index,
    const facts::TaskAttempt& leading, double shuffle_seconds_per_byte,
    const durations::ReduceTaskLeft& task) {
  const facts::TaskAttempt* other = nullptr;
  for (const auto& [number, attempt] : state.reduce_tasks()[index].attempts) {
    if (&attempt != &leading && attempt.life.is_running()) other = &attempt;
  }
  if (other == nullptr) return std::nullopt;
  const auto seconds_since = [now](std::optional<absl::Time> since) {
    return since ? std::max(0.0, absl::ToDoubleSeconds(now - *since)) : 0;
  };
  const auto reduced_for = [&](const facts::ReduceWork& work) {
    return work.processor_share * seconds_since(work.reduce_started_at);
  };
  const double leading_for = reduced_for(*leading.reduce);
  const double other_for = reduced_for(*other->reduce);
  const double left =
      task.speed.factor * task.waiting.mean + (task.running ? task.running->Left(0, 0.5) : 0);
  double total = (leading_for + left) / task.speed.factor;
  double deviation = durations::kRepeatDeviation;
  const auto other_bytes = static_cast<double>(other->bytes_done);
  const auto leading_bytes = static_cast<double>(leading.bytes_done);
  const auto all_bytes = static_cast<double>(state.reduce_input_bytes(index));
  if (other_bytes > facts::kPaceFrom * all_bytes && leading_for > 0) {
    total = (leading_for + left) * (other_for / other_bytes) / (leading_for / leading_bytes);
    deviation = durations::kRepeatDeviation / 2;
  }
  const double shuffle =
      other->reduce->reduce_started_at ? 0 : shuffle_seconds_per_byte * all_bytes;
  return durations::OtherAttempt{shuffle + std::max(0.0, total - other_for), deviation};
}

void TidemarkIndicator::AddRunning(const facts::JobRecord& state, absl::Time now,
                                   const facts::ReduceWork& work, GroupCosts& group_costs,
                                   durations::ReduceTaskLeft& task) {
  const std::optional<durations::RunningExplicit>& known = remaining_.task(task.index).running;
  durations::GroupTotals expected;
  double size = known ? known->size_bytes : 0;
  if (known && !known->is_exact) size *= remaining_.SizeCorrection(known->size_bytes);
  if (work.running_group) {
    const auto read = static_cast<double>(work.running_group->bytes_read);
    size = running_.HasReadAll(task.index, *work.running_group) ? read : std::max(size, read);
  }
  const auto value_of = [&](durations::CostFeature feature) {
    return durations::FeatureOf(
        feature, size,
        known ? durations::TraitsOf(state.keys, known->key) : durations::KeyTraits());
  };
  if (known) {
    expected.size_bytes = size;
    if (!group_costs.emissions.empty()) {
      const double value = value_of(emission_feature_);
      expected.emitted_bytes = group_costs.emissions.PredictMedian(value, size);
      const double beyond = group_costs.emissions.Beyond(value);
      expected.emission_error =
          std::sqrt(group_costs.emissions.RelativeVariance(value) + beyond * beyond);
    }
  }
  running_.Observe(state, task.index, work, now, expected);
  if (!(size > 0)) return;
  durations::GroupTimeTable& table =
      known ? group_costs.explicit_table() : *group_costs.bytes_table;
  const double value =
      value_of(known && group_costs.feature_table ? time_feature_ : durations::CostFeature::kBytes);
  durations::GroupTimes one(table.curve_count());
  table.AddEqual(value, size, 1, one);
  std::vector<double> seconds(group_costs.explicit_table().curve_count(), one.mean);
  if (&table == &group_costs.explicit_table()) seconds = one.seconds;
  for (double& s : seconds) s *= task.speed.factor;
  task.running =
      running_.TimeOf(task.index, group_costs.explicit_table().model(), seconds,
                      table.model().RelativeVariance(value), table.model().Beyond(value));
}

std::vector<double> TidemarkIndicator::CurveWeights(
    const std::vector<durations::ReduceTaskLeft>& tasks, const regression::CostModel& costs) const {
  std::vector<double> weights;
  double sum = 0;
  for (std::size_t k = 0; k < costs.curves().size(); ++k) {
    double log_weight = std::log(costs.curves()[k].probability);
    for (const durations::ReduceTaskLeft& task : tasks) {
      if (task.running) log_weight += std::log(task.running->likelihood[k]);
    }
    weights.push_back(log_weight);
  }
  const double highest = *std::max_element(weights.begin(), weights.end());
  for (double& weight : weights) sum += weight = std::exp(weight - highest);
  for (double& weight : weights) weight /= sum;
  return weights;
}

namespace {

// Returns the reduce phase of a job as an application. It has its own slots, on a cluster with
// space for all of them.
dag::Application ReducePhase(const facts::JobRecord& state,
                             std::span<const durations::ReduceTaskLeft> tasks,
                             std::span<const double> weights) {
  dag::Application application = {.on = dag::RoomForAll(),
                                  .draws = &durations::FixedDraws::For(tasks.size())};
  application.stages.push_back(
      durations::ReduceStage(tasks, weights, state.reduce_slots(), *application.draws));
  durations::HostSharing sharing = durations::ObserveHosts(state);
  if (!sharing.is_contended) return application;
  application.hosts = std::move(sharing.hosts);
  std::vector<std::uint32_t>& hosts = application.host_of_running.emplace_back();
  for (const durations::ReduceTaskLeft& task : tasks) {
    if (task.is_running) hosts.push_back(sharing.host_of_task[task.index]);
  }
  return application;
}

// Returns the end of the last reduce task, which is unknown while a task remains.
ReducePhaseForecast AfterTheLastTask(const facts::JobRecord& state) {
  ReducePhaseForecast forecast;
  forecast.ends_at = forecast.ends_at_lower = forecast.ends_at_upper = facts::ReducePhaseEnd(state);
  return forecast;
}

// Returns the stage for a cluster that jobs share, in which the stage may use all slots. `ends` are
// the ends of tasks that share hosts. The ends in the result apply to tasks that do not share
// hosts, since the receiver places the tasks without hosts and stretches their ends to the job's
// forecast, which includes the sharing.
std::shared_ptr<const durations::RemainingStages> LeftForOthers(dag::Application application,
                                                                durations::Draws ends) {
  if (!application.hosts.empty()) {
    application.hosts.clear();
    application.host_of_running.clear();
    absl::StatusOr<dag::ApplicationForecast> alone = dag::ForecastApplication(application);
    if (alone.ok() && alone->end.upper < placement::kForever) ends = std::move(alone->ends);
  }
  durations::RemainingStage& stage = application.stages[0];
  stage.number = kReduceStage;
  stage.work.at_once_max = placement::kNoLimit;
  return std::make_shared<const durations::RemainingStages>(
      durations::RemainingStages{.stages = std::move(application.stages), .ends = std::move(ends)});
}

}  // namespace

// Sets the end from `seconds`, this run's estimate by draw, and from past runs.
void TidemarkIndicator::SetEnd(const facts::JobRecord& state, absl::Time now,
                               durations::Draws seconds, const durations::FixedDraws& draws,
                               ReducePhaseForecast& forecast) {
  if (const auto past = durations::SecondsByPastRuns(state, now, state.past_runs, draws)) {
    seconds = durations::WithPastRuns(std::move(seconds), *past, state.past_runs);
  }
  SetEnd(now, dag::RangeOf(std::move(seconds)), forecast);
}

void TidemarkIndicator::SetEnd(absl::Time now, const dag::SecondsRange& end,
                               ReducePhaseForecast& forecast) {
  forecast.ends_at = now + absl::Seconds(end.median);
  forecast.ends_at_lower = now + absl::Seconds(end.lower);
  forecast.ends_at_upper =
      now + absl::Seconds(std::min(end.upper, durations::kRemainingUpperMax * end.median));
}

namespace {

// Returns the end of the map phase as predicted by its tasks, by draw. Returns nullopt if there are
// no past runs, which predict the other phases, or after the reduce phase has started.
std::optional<durations::Draws> MapEnds(const facts::JobRecord& state, absl::Time now,
                                        const durations::FixedDraws& draws) {
  const bool has_runs =
      std::ranges::any_of(state.past_runs, [](const PastRun& run) { return !run.is_of_other_job; });
  if (!has_runs || facts::ReducePhaseStart(state)) return std::nullopt;
  std::optional<MapsLeft> maps = EstimateMaps(state, now, draws);
  if (!maps) return std::nullopt;
  return std::move(maps->forecast.ends);
}

}  // namespace

// Returns the forecast before the reduce phase itself provides evidence. It comes from past runs of
// the job. If no past run is usable, it comes from the job's map side, the bytes read since then,
// and other jobs of the cluster. After all reduce tasks have ended, it is the last end.
ReducePhaseForecast TidemarkIndicator::WithoutEvidence(const facts::JobRecord& state,
                                                       absl::Time now) {
  ReducePhaseForecast forecast = AfterTheLastTask(state);
  if (forecast.ends_at) return forecast;
  const std::size_t map_tasks = state.past_runs.empty() ? 0 : state.map_tasks().size();
  const durations::FixedDraws& draws =
      durations::FixedDraws::For(std::max(state.reduce_tasks().size(), map_tasks));
  std::optional<durations::Draws> seconds =
      durations::SecondsByPastRuns(state, now, state.past_runs, draws, MapEnds(state, now, draws));
  forecast.basis = seconds ? Basis::kEarlierRuns : Basis::kGuess;
  forecast.method = EstimateMethod::kPastRuns;
  if (!seconds) {
    const auto add = [&](std::optional<durations::Draws> more, EstimateMethod method) {
      if (!more) return;
      if (!seconds) forecast.method = method;
      seconds = seconds ? durations::Combine(*seconds, *more) : std::move(more);
    };
    add(durations::SecondsByBytesRead(state, now, draws), EstimateMethod::kBytesRead);
    add(durations::SecondsByMapSide(state, now, draws), EstimateMethod::kMapPhase);
    add(durations::SecondsByOtherJobs(state, now, state.past_runs, draws),
        EstimateMethod::kOtherJobs);
  }
  if (!seconds) return forecast;
  SetEnd(now, dag::RangeOf(*std::move(seconds)), forecast);
  return forecast;
}

// Returns the forecast from the sizes of the tasks, for engines that report no key groups.
ReducePhaseForecast TidemarkIndicator::BySize(const facts::JobRecord& state, absl::Time now) {
  ReducePhaseForecast forecast{.method = EstimateMethod::kTaskSizes};
  dag::Application application = {
      .on = dag::RoomForAll(), .draws = &durations::FixedDraws::For(state.reduce_tasks().size())};
  std::optional<durations::SizedStage> sized = durations::ReduceStageBySize(
      state, now, facts::ShuffleSecondsPerByte(state).value_or(0), *application.draws);
  if (!sized) return WithoutEvidence(state, now);
  application.stages.push_back(std::move(sized->stage));
  const absl::StatusOr<dag::ApplicationForecast> ends = dag::ForecastApplication(application);
  if (!ends.ok() || ends->end.upper >= placement::kForever) return forecast;
  SetEnd(state, now, ends->ends, *application.draws, forecast);
  const std::vector<double>& task_ends = ends->stages[0].task_ends;
  for (std::size_t t = 0; t < std::min(task_ends.size(), sized->tasks.size()); ++t) {
    const absl::Duration left = absl::Seconds(task_ends[t]);
    forecast.tasks.push_back(
        {.index = sized->tasks[t], .ends_at = now + left, .reduce_time_left = left});
  }
  std::sort(forecast.tasks.begin(), forecast.tasks.end(),
            [](const auto& a, const auto& b) { return a.index < b.index; });
  forecast.left = LeftForOthers(std::move(application), ends->ends);
  return forecast;
}

ReducePhaseForecast TidemarkIndicator::Estimate(const facts::JobRecord& state, absl::Time now) {
  ReducePhaseForecast forecast;
  if (!facts::ReduceSizesKnown(state)) return BySize(state, now);
  evidence_.Update(state);
  ChooseFeatures(state);
  sampled_.Update(state);
  remaining_.Update(state, time_feature_, sampled_);
  predicted_total_.resize(state.reduce_tasks().size());
  UpdateSpeeds(state);
  std::vector<regression::CostBin> finished = speeds_.PooledTimes(state);
  const bool has_finished = !finished.empty();
  const std::optional<double> shuffle_seconds_per_byte = facts::ShuffleSecondsPerByte(state);
  // While map tasks run, and without profiles of their keys, the sizes of the key groups are
  // unknown. Before the first shuffle has ended, past runs predict its time, and key groups do not.
  const bool are_sizes_known = state.keys.smallest_explicit_bytes() > 0 || sampled_.has_sample();
  const bool is_shuffle_seen =
      shuffle_seconds_per_byte && facts::MapProgress(state).state == StageState::kDone;
  if (has_finished || (is_shuffle_seen && are_sizes_known)) {
    finished = durations::WithPastGroups(std::move(finished), state);
  }
  by_bytes_.Update(std::move(finished));
  if (by_bytes_.empty()) return BySize(state, now);
  emissions_.Update(evidence_.Emissions(emission_feature_));
  const absl::Time maps_end = durations::MapPhaseEnd(state, now).value_or(now);
  GroupCosts group_costs{.emissions = emissions_.model(),
                         .bytes_table = &by_bytes_.table(),
                         .per_implicit_byte = durations::GroupTimes(),
                         .shuffle_seconds_per_byte = shuffle_seconds_per_byte.value_or(0),
                         .map_seconds_left = std::max(0.0, absl::ToDoubleSeconds(maps_end - now)),
                         .seconds_after_groups = SecondsAfterGroups(state)};
  if (time_feature_ != durations::CostFeature::kBytes) {
    by_feature_.Update(
        durations::WithPastGroups(evidence_.Times(time_feature_, speeds_), state, time_feature_));
    if (!by_feature_.empty()) group_costs.feature_table = &by_feature_.table();
  }
  group_costs.per_implicit_byte = ImplicitByteTimes(state, *group_costs.bytes_table);
  const regression::CostModel& costs = group_costs.explicit_table().model();
  std::vector<durations::ReduceTaskLeft> tasks;
  const std::span<const facts::Task> known = state.reduce_tasks();
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i].is_over()) continue;
    tasks.push_back(LeftOf(state, now, i, group_costs));
    const facts::TaskAttempt* attempt = known[i].leading_attempt();
    const double done =
        attempt == nullptr ? 0 : absl::ToDoubleSeconds(attempt->reduce->reduce_time_alone);
    predicted_total_[i] = done + tasks.back().waiting.mean * tasks.back().speed.factor;
  }
  if (tasks.empty()) return AfterTheLastTask(state);
  std::stable_partition(tasks.begin(), tasks.end(),
                        [](const durations::ReduceTaskLeft& task) { return task.is_running; });
  dag::Application application = ReducePhase(state, tasks, CurveWeights(tasks, costs));
  const absl::StatusOr<dag::ApplicationForecast> ends = dag::ForecastApplication(application);
  // Sums of untrusted sizes and times may overflow.
  if (!ends.ok() || ends->end.upper >= placement::kForever) return forecast;
  if (has_finished) {
    durations::Draws seconds = ends->ends;
    if (auto by_bytes = durations::SecondsByBytesRead(state, now, *application.draws)) {
      seconds = durations::CombineIfVague(seconds, *by_bytes);
    }
    SetEnd(state, now, std::move(seconds), *application.draws, forecast);
    forecast.evidence = Evidence{.own_fit = 1};
    forecast.method = EstimateMethod::kKeyGroups;
  } else {
    // The times of whole past runs would repeat the evidence of their key groups.
    SetEnd(now, dag::RangeOf(durations::WithRunDeviation(ends->ends, *application.draws)),
           forecast);
    forecast.basis = Basis::kEarlierRuns;
    forecast.method = EstimateMethod::kPastRuns;
  }
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const std::size_t i = tasks[t].index;
    const durations::TaskLoad& load = remaining_.task(i);
    const double heaviest =
        load.heaviest.size_bytes > 0
            ? tasks[t].speed.factor * HeaviestSeconds(state, load.heaviest, costs, time_feature_)
            : 0;
    const absl::Duration left = absl::Seconds(ends->stages[0].task_ends[t]);
    forecast.tasks.push_back(
        {i, now + left, left,
         static_cast<std::uint64_t>(load.explicit_count) + (load.running ? 1 : 0), load.heaviest,
         absl::Seconds(heaviest)});
  }
  std::sort(forecast.tasks.begin(), forecast.tasks.end(),
            [](const auto& a, const auto& b) { return a.index < b.index; });
  forecast.left = LeftForOthers(std::move(application), ends->ends);
  return forecast;
}

}  // namespace tidemark::forecast
