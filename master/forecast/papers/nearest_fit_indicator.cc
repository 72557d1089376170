#include "master/forecast/papers/nearest_fit_indicator.h"

#include <algorithm>
#include <cmath>

#include "master/facts/phases.h"
#include "master/facts/saturating.h"
#include "master/forecast/papers/reduce_schedule.h"

namespace tidemark::papers {
namespace {

using model::JobRecord;
using model::ReducePhaseForecast;
using model::SaturatingAdd;
using model::SaturatingSubtract;
using model::Task;
using model::TaskAttempt;

constexpr double kDeviationsOf90Percent = 1.645;

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
  double model_spread = 0;     // seconds, of predictions that err together
  double scatter_squared = 0;  // seconds squared, of predictions that err apart
  double running_seconds = 0;  // predicted for the running explicit key group
  std::uint64_t explicit_groups = 0;
  std::uint64_t explicit_bytes = 0;
  ExplicitKey heaviest;
  double heaviest_seconds = 0;
  Evidence evidence;  // seconds by source

  // `count` key groups that are all predicted alike.
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
    tasks_[i] = MakeTaskModel(task.finished_groups().points.points());
    changed = true;
  }
  if (!changed) return;
  model_.emplace(tasks_);
  of_new_task_.clear();
}

// Tasks that have shown nothing are predicted alike, and there may be thousands that wait.
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
    // No implicit key group has finished yet; none is likely to outweigh the lightest explicit one.
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

// When the running explicit key group takes longer than predicted, the others are still to come
// after it.
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
  forecast.ends_at_lower = std::min(end_at(-kDeviationsOf90Percent), *forecast.ends_at);
  forecast.ends_at_upper = std::min(end_at(kDeviationsOf90Percent),
                                    now + model::kRemainingUpperMax * (*forecast.ends_at - now));
  forecast.ends_at_upper = std::max(*forecast.ends_at_upper, *forecast.ends_at);
}

ReducePhaseForecast NearestFitIndicator::Estimate(const JobRecord& state, absl::Time now) {
  RefreshModel(state);
  ReducePhaseForecast forecast;
  if (!model::ReduceSizesKnown(state) || !model_->Predict(0, 0)) return forecast;
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
    forecast.ends_at = model::ReducePhaseEnd(state);
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
