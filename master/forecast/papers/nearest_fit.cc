#include "master/forecast/papers/nearest_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tidemark::papers {
namespace {

// Even many equal times leave some doubt about the next one; taste.
constexpr double kNeighbourSpreadMin = 0.02;
constexpr double kSpreadMax = 10;
constexpr double kRatioSpread = 1;
// Step 4 compares so many curves on so many points at most, so that it stays linear in the tasks.
constexpr std::size_t kCandidateCurvesMax = 16;
constexpr std::size_t kJudgedPointsMax = 256;

// Curves of step 4: the best by R^2. A curve through a handful of sizes can be steep by chance, so
// such ones count only while no task has a better founded one.
std::vector<const PowerLawFit*> CandidateCurves(
    const std::vector<std::shared_ptr<const TaskModel>>& tasks) {
  FitQuality needed = FitQuality::kFew;
  for (const auto& task : tasks) {
    if (task != nullptr) needed = std::max(needed, task->fit.quality);
  }
  std::vector<const PowerLawFit*> candidates;
  for (const auto& task : tasks) {
    if (task != nullptr && task->fit.quality == needed) candidates.push_back(&task->fit);
  }
  std::stable_sort(
      candidates.begin(), candidates.end(),
      [](const PowerLawFit* a, const PowerLawFit* b) { return a->r_squared > b->r_squared; });
  candidates.resize(std::min(candidates.size(), kCandidateCurvesMax));
  return candidates;
}

double SquaredErrorOn(const std::vector<GroupPoint>& points, const PowerLawFit& fit) {
  const std::size_t step = 1 + points.size() / kJudgedPointsMax;
  double sum = 0;
  for (std::size_t i = 0; i < points.size(); i += step) {
    const double residual = absl::ToDoubleSeconds(points[i].mean_time()) -
                            fit.Predict(static_cast<double>(points[i].size_bytes));
    sum += residual * residual;
  }
  return std::isfinite(sum) ? sum : std::numeric_limits<double>::max();
}

const PowerLawFit* BestOn(const TaskModel& task,
                          const std::vector<const PowerLawFit*>& candidates) {
  const PowerLawFit* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const PowerLawFit* candidate : candidates) {
    const double error = SquaredErrorOn(task.points, *candidate);
    if (error >= least) continue;
    least = error;
    best = candidate;
  }
  return best;
}

GroupPrediction FromNeighbours(const NeighbourhoodMean& mean, PredictionSource source) {
  const double spread = std::max(mean.relative_spread, kNeighbourSpreadMin);
  return {mean.seconds, std::min(spread, kSpreadMax), source};
}

GroupPrediction FromFit(const PowerLawFit& fit, std::uint64_t size_bytes, double spread_per_octave,
                        PredictionSource source) {
  const double size = static_cast<double>(size_bytes);
  const double octaves = fit.size_bytes_max > 0 && size > fit.size_bytes_max
                             ? std::log2(size / fit.size_bytes_max)
                             : 0;
  const double spread = fit.relative_residual + spread_per_octave * octaves;
  return {fit.Predict(size), std::min(spread, kSpreadMax), source};
}

}  // namespace

std::shared_ptr<const TaskModel> MakeTaskModel(std::span<const GroupPoint> points,
                                               const NearestFitOptions& options) {
  auto model = std::make_shared<TaskModel>();
  model->points.assign(points.begin(), points.end());
  model->neighbours = DeltaNeighbourhood(points, options.delta_bytes);
  model->fit = FitPowerLaw(points, options.fit);
  return model;
}

NearestFitModel::NearestFitModel(std::vector<std::shared_ptr<const TaskModel>> tasks,
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
  all_neighbours_ = DeltaNeighbourhood(all, options_.delta_bytes);
  const std::vector<const PowerLawFit*> candidates = CandidateCurves(tasks_);
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const bool has_own = tasks_[i] != nullptr && !tasks_[i]->points.empty();
    best_fit_[i] = has_own ? BestOn(*tasks_[i], candidates)
                           : (candidates.empty() ? nullptr : candidates.front());
  }
}

std::optional<GroupPrediction> NearestFitModel::Predict(std::size_t task,
                                                        std::uint64_t size_bytes) const {
  if (!has_points_) return std::nullopt;
  const TaskModel* own = task < tasks_.size() ? tasks_[task].get() : nullptr;
  if (own != nullptr) {
    if (const auto mean = own->neighbours.Find(size_bytes)) {
      return FromNeighbours(*mean, PredictionSource::kOwnNeighbours);
    }
    if (own->fit.quality == FitQuality::kRegular && own->fit.r_squared >= options_.r_squared_min) {
      return FromFit(own->fit, size_bytes, options_.spread_per_octave, PredictionSource::kOwnFit);
    }
  }
  if (const auto mean = all_neighbours_.Find(size_bytes)) {
    return FromNeighbours(*mean, PredictionSource::kOtherNeighbours);
  }
  if (const PowerLawFit* best = task < best_fit_.size() ? best_fit_[task] : nullptr) {
    return FromFit(*best, size_bytes, options_.spread_per_octave,
                   own != nullptr && best == &own->fit ? PredictionSource::kOwnFit
                                                       : PredictionSource::kOtherFit);
  }
  return GroupPrediction{seconds_per_byte_ * static_cast<double>(size_bytes), kRatioSpread,
                         PredictionSource::kRatio};
}

}  // namespace tidemark::papers
