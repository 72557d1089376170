#include "master/forecast/papers/nearest_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "master/facts/job_record.h"
#include "master/facts/phases.h"
#include "master/forecast/durations/draws.h"
#include "master/forecast/papers/reduce_schedule.h"

namespace tidemark::papers {
namespace {

// Even many equal times leave some uncertainty about the next time. Chosen by hand.
constexpr double kNeighbourSpreadMin = 0.02;
constexpr double kSpreadMax = 10;
constexpr double kRatioSpread = 1;
// These constants limit step 4 to this many curves and points, so that its cost is linear in the
// tasks.
constexpr std::size_t kCandidateCurvesMax = 16;
constexpr std::size_t kJudgedPointsMax = 256;

// Returns the curves for step 4, which have the best R^2. A curve through few sizes can be steep by
// chance, so such curves count only if no task has a better curve.
std::vector<const regression::PowerLawFit*> CandidateCurves(
    const std::vector<std::shared_ptr<const TaskEvidence>>& tasks) {
  regression::FitQuality needed = regression::FitQuality::kFew;
  for (const auto& task : tasks) {
    if (task != nullptr) needed = std::max(needed, task->fit.quality);
  }
  std::vector<const regression::PowerLawFit*> candidates;
  for (const auto& task : tasks) {
    if (task != nullptr && task->fit.quality == needed) candidates.push_back(&task->fit);
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const regression::PowerLawFit* a, const regression::PowerLawFit* b) {
                     return a->r_squared > b->r_squared;
                   });
  candidates.resize(std::min(candidates.size(), kCandidateCurvesMax));
  return candidates;
}

double SquaredErrorOn(const std::vector<GroupPoint>& points, const regression::PowerLawFit& fit) {
  const std::size_t step = 1 + points.size() / kJudgedPointsMax;
  double sum = 0;
  for (std::size_t i = 0; i < points.size(); i += step) {
    const double residual = absl::ToDoubleSeconds(points[i].mean_time()) -
                            fit.Predict(static_cast<double>(points[i].size_bytes));
    sum += residual * residual;
  }
  return std::isfinite(sum) ? sum : std::numeric_limits<double>::max();
}

const regression::PowerLawFit* BestOn(
    const TaskEvidence& task, const std::vector<const regression::PowerLawFit*>& candidates) {
  const regression::PowerLawFit* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const regression::PowerLawFit* candidate : candidates) {
    const double error = SquaredErrorOn(task.points, *candidate);
    if (error >= least) continue;
    least = error;
    best = candidate;
  }
  return best;
}

GroupPrediction FromNeighbours(const regression::NeighbourhoodMean& mean, PredictionSource source) {
  const double spread = std::max(mean.relative_spread, kNeighbourSpreadMin);
  return {mean.seconds, std::min(spread, kSpreadMax), source};
}

GroupPrediction FromFit(const regression::PowerLawFit& fit, std::uint64_t size_bytes,
                        double spread_per_octave, PredictionSource source) {
  const double size = static_cast<double>(size_bytes);
  const double octaves = fit.size_bytes_max > 0 && size > fit.size_bytes_max
                             ? std::log2(size / fit.size_bytes_max)
                             : 0;
  const double spread = fit.relative_residual + spread_per_octave * octaves;
  return {fit.Predict(size), std::min(spread, kSpreadMax), source};
}

}  // namespace

std::shared_ptr<const TaskEvidence> MakeTaskEvidence(std::span<const GroupPoint> points,
                                                     const NearestFitOptions& options) {
  auto model = std::make_shared<TaskEvidence>();
  model->points.assign(points.begin(), points.end());
  if (!options.is_fit_only) {
    model->neighbours = regression::DeltaNeighbourhood(points, options.delta_bytes);
  }
  model->fit = regression::FitPowerLaw(points, options.fit);
  return model;
}

NearestFitModel::NearestFitModel(std::vector<std::shared_ptr<const TaskEvidence>> tasks,
                                 NearestFitOptions options)
    : tasks_(std::move(tasks)), options_(options), best_fit_(tasks_.size(), nullptr) {
  std::vector<GroupPoint> all;
  double seconds = 0;
  double bytes = 0;
  for (const auto& task : tasks_) {
    if (task != nullptr) all.insert(all.end(), task->points.begin(), task->points.end());
  }
  std::stable_sort(all.begin(), all.end(), [](const GroupPoint& a, const GroupPoint& b) {
    return a.size_bytes < b.size_bytes;
  });
  for (const GroupPoint& point : all) {
    seconds += std::max(0.0, absl::ToDoubleSeconds(point.total_time));
    bytes += static_cast<double>(point.size_bytes) * static_cast<double>(point.count);
  }
  has_points_ = !all.empty();
  seconds_per_byte_ = bytes > 0 && std::isfinite(seconds) ? seconds / bytes : 0;
  if (!options_.is_fit_only) {
    all_neighbours_ = regression::DeltaNeighbourhood(all, options_.delta_bytes);
  }
  const std::vector<const regression::PowerLawFit*> candidates = CandidateCurves(tasks_);
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const bool has_own = tasks_[i] != nullptr && !tasks_[i]->points.empty();
    best_fit_[i] = has_own ? BestOn(*tasks_[i], candidates)
                           : (candidates.empty() ? nullptr : candidates.front());
  }
}

std::optional<GroupPrediction> NearestFitModel::Predict(std::size_t task,
                                                        std::uint64_t size_bytes) const {
  if (!has_points_) return std::nullopt;
  const TaskEvidence* own = task < tasks_.size() ? tasks_[task].get() : nullptr;
  if (own != nullptr) {
    if (const auto mean = own->neighbours.Find(size_bytes)) {
      return FromNeighbours(*mean, PredictionSource::kOwnNeighbours);
    }
    if (own->fit.quality == regression::FitQuality::kRegular &&
        own->fit.r_squared >= options_.r_squared_min) {
      return FromFit(own->fit, size_bytes, options_.spread_per_octave, PredictionSource::kOwnFit);
    }
  }
  if (const auto mean = all_neighbours_.Find(size_bytes)) {
    return FromNeighbours(*mean, PredictionSource::kOtherNeighbours);
  }
  if (const regression::PowerLawFit* best = task < best_fit_.size() ? best_fit_[task] : nullptr) {
    return FromFit(*best, size_bytes, options_.spread_per_octave,
                   own != nullptr && best == &own->fit ? PredictionSource::kOwnFit
                                                       : PredictionSource::kOtherFit);
  }
  return GroupPrediction{seconds_per_byte_ * static_cast<double>(size_bytes), kRatioSpread,
                         PredictionSource::kRatio};
}

namespace {

using facts::JobRecord;
using facts::SaturatingAdd;
using facts::SaturatingSubtract;
using facts::Task;
using facts::TaskAttempt;
using forecast::ReducePhaseForecast;

double& ShareOf(PredictionSource source, Evidence& evidence) {
  switch (source) {
    case PredictionSource::kOwnNeighbours:
      return evidence.own_neighbours;
    case PredictionSource::kOwnFit:
      return evidence.own_fit;
    case PredictionSource::kOtherNeighbours:
      return evidence.other_neighbours;
    case PredictionSource::kOtherFit:
      return evidence.other_fit;
    case PredictionSource::kRatio:
      break;
  }
  return evidence.ratio;
}

bool IsNeighbour(PredictionSource source) {
  return source == PredictionSource::kOwnNeighbours || source == PredictionSource::kOtherNeighbours;
}

Evidence Normalised(Evidence evidence) {
  const double sum = evidence.own_neighbours + evidence.own_fit + evidence.other_neighbours +
                     evidence.other_fit + evidence.ratio;
  if (!(sum > 0) || !std::isfinite(sum)) return {};
  for (double* share : {&evidence.own_neighbours, &evidence.own_fit, &evidence.other_neighbours,
                        &evidence.other_fit, &evidence.ratio}) {
    *share /= sum;
  }
  return evidence;
}

}  // namespace

struct NearestFitIndicator::TaskLeft {
  double seconds = 0;
  double model_spread = 0;     // standard deviation of correlated errors, seconds
  double scatter_squared = 0;  // variance of independent errors, seconds^2
  double running_seconds = 0;  // estimate for the running explicit key group
  std::uint64_t explicit_groups = 0;
  std::uint64_t explicit_bytes = 0;
  ExplicitKey heaviest;
  double heaviest_seconds = 0;
  Evidence evidence;  // seconds by source

  // Adds `count` key groups with the same estimate.
  void Add(const GroupPrediction& prediction, double count) {
    const double predicted = prediction.seconds * count;
    seconds += predicted;
    ShareOf(prediction.source, evidence) += predicted;
    const double spread = prediction.seconds * prediction.relative_spread;
    if (IsNeighbour(prediction.source)) {
      scatter_squared += spread * spread * count;
    } else {
      model_spread += spread * count;
    }
  }
  double deviation() const { return std::sqrt(model_spread * model_spread + scatter_squared); }
};

void NearestFitIndicator::RefreshModel(const JobRecord& state) {
  bool changed = !model_ || tasks_.size() != state.reduce_tasks().size();
  tasks_.resize(state.reduce_tasks().size());
  versions_.resize(state.reduce_tasks().size());
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const Task& task = state.reduce_tasks()[i];
    if (versions_[i] == task.finished_groups().points_version) continue;
    versions_[i] = task.finished_groups().points_version;
    tasks_[i] = MakeTaskEvidence(task.finished_groups().points.points(), options_);
    changed = true;
  }
  if (!changed) return;
  model_.emplace(tasks_, options_);
  of_new_task_.clear();
}

// Caches the estimates for tasks without points, since thousands of tasks may be pending.
std::optional<GroupPrediction> NearestFitIndicator::Predict(std::size_t index,
                                                            std::uint64_t size_bytes) {
  if (tasks_[index] != nullptr) return model_->Predict(index, size_bytes);
  const auto [known, is_new] = of_new_task_.try_emplace(size_bytes);
  if (is_new) known->second = model_->Predict(index, size_bytes);
  return known->second;
}

void NearestFitIndicator::AddExplicit(const JobRecord& state, std::size_t index, TaskLeft& left) {
  const TaskAttempt* attempt = state.reduce_tasks()[index].leading_attempt();
  for (const ExplicitKey& key : state.keys.partition(index).explicit_keys) {
    if (attempt != nullptr && attempt->reduce->finished_explicit.contains(key.key)) continue;
    const auto prediction = Predict(index, key.size_bytes);
    if (!prediction) continue;
    left.Add(*prediction, 1);
    ++left.explicit_groups;
    left.explicit_bytes = SaturatingAdd(left.explicit_bytes, key.size_bytes);
    if (key.size_bytes > left.heaviest.size_bytes) {
      left.heaviest = key;
      left.heaviest_seconds = prediction->seconds;
    }
    if (attempt != nullptr && attempt->reduce->running_group &&
        attempt->reduce->running_group->key == key.key) {
      left.running_seconds = prediction->seconds;
    }
  }
}

void NearestFitIndicator::AddImplicit(const JobRecord& state,
                                      const std::vector<GroupBin>& composition, std::size_t index,
                                      TaskLeft& left) {
  const TaskAttempt* attempt = state.reduce_tasks()[index].leading_attempt();
  const std::uint64_t done = attempt == nullptr ? 0 : attempt->bytes_done;
  const std::uint64_t bytes = SaturatingSubtract(
      SaturatingSubtract(state.reduce_input_bytes(index), done), left.explicit_bytes);
  if (bytes == 0) return;
  double composition_bytes = 0;
  for (const GroupBin& bin : composition) composition_bytes += static_cast<double>(bin.size_bytes);
  if (composition_bytes <= 0) {
    // No implicit key group has finished. An implicit key group is unlikely to be larger than the
    // lightest explicit group.
    const std::uint64_t lightest = state.keys.smallest_explicit_bytes();
    const std::uint64_t size = lightest == 0 ? bytes : std::min(lightest, bytes);
    if (const auto prediction = Predict(index, size)) {
      left.Add(*prediction, static_cast<double>(bytes) / static_cast<double>(size));
    }
    return;
  }
  for (const GroupBin& bin : composition) {
    const double share = static_cast<double>(bytes) / composition_bytes;
    const double groups = share * static_cast<double>(bin.count);
    if (const auto prediction = Predict(index, bin.size_bytes / bin.count)) {
      left.Add(*prediction, groups);
    }
  }
}

NearestFitIndicator::TaskLeft NearestFitIndicator::LeftOf(const JobRecord& state,
                                                          const std::vector<GroupBin>& composition,
                                                          std::size_t index) {
  TaskLeft left;
  if (state.reduce_tasks()[index].is_over()) return left;
  AddExplicit(state, index, left);
  AddImplicit(state, composition, index, left);
  return left;
}

namespace {

// Returns the earliest possible end of a task. Even if the running explicit key group takes longer
// than estimated, the task's other groups follow it.
absl::Time EndsNoEarlier(const JobRecord& state, std::size_t index, double seconds,
                         double running_seconds) {
  const TaskAttempt* attempt = state.reduce_tasks()[index].leading_attempt();
  if (attempt == nullptr || running_seconds <= 0) return absl::InfinitePast();
  return attempt->reduce->running_group_seen_at +
         absl::Seconds(std::max(0.0, seconds - running_seconds));
}

}  // namespace

void NearestFitIndicator::AddInterval(const JobRecord& state, absl::Time now,
                                      const std::vector<TaskLeft>& lefts,
                                      ReducePhaseForecast& forecast) const {
  const auto end_at = [&](double deviations) {
    std::vector<ReduceTimeLeft> shifted(lefts.size());
    for (std::size_t i = 0; i < lefts.size(); ++i) {
      shifted[i].left =
          absl::Seconds(std::max(0.0, lefts[i].seconds + deviations * lefts[i].deviation()));
    }
    return LatestEnd(ReduceTaskEnds(state, now, shifted)).value_or(*forecast.ends_at);
  };
  forecast.ends_at_lower = std::min(end_at(-durations::kDeviationsOf90Percent), *forecast.ends_at);
  forecast.ends_at_upper =
      std::min(end_at(durations::kDeviationsOf90Percent),
               now + durations::kRemainingUpperMax * (*forecast.ends_at - now));
  forecast.ends_at_upper = std::max(*forecast.ends_at_upper, *forecast.ends_at);
}

ReducePhaseForecast NearestFitIndicator::Estimate(const JobRecord& state, absl::Time now) {
  RefreshModel(state);
  ReducePhaseForecast forecast;
  if (!facts::ReduceSizesKnown(state) || !model_->Predict(0, 0)) return forecast;
  const std::vector<GroupBin> composition = state.implicit_sizes.bins();
  std::vector<TaskLeft> lefts;
  std::vector<ReduceTimeLeft> times;
  Evidence evidence;
  for (std::size_t i = 0; i < state.reduce_tasks().size(); ++i) {
    lefts.push_back(LeftOf(state, composition, i));
    const TaskLeft& left = lefts.back();
    times.push_back(
        {absl::Seconds(left.seconds), EndsNoEarlier(state, i, left.seconds, left.running_seconds)});
    evidence.own_neighbours += left.evidence.own_neighbours;
    evidence.own_fit += left.evidence.own_fit;
    evidence.other_neighbours += left.evidence.other_neighbours;
    evidence.other_fit += left.evidence.other_fit;
    evidence.ratio += left.evidence.ratio;
  }
  const auto ends = ReduceTaskEnds(state, now, times);
  forecast.ends_at = LatestEnd(ends);
  if (!forecast.ends_at) {
    forecast.ends_at = facts::ReducePhaseEnd(state);
    return forecast;
  }
  forecast.evidence = Normalised(evidence);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (!ends[i]) continue;
    forecast.tasks.push_back({i, *ends[i], times[i].left, lefts[i].explicit_groups,
                              lefts[i].heaviest, absl::Seconds(lefts[i].heaviest_seconds)});
  }
  if (*forecast.ends_at == absl::InfiniteFuture()) return forecast;
  AddInterval(state, now, lefts, forecast);
  return forecast;
}

}  // namespace tidemark::papers
