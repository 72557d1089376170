#include "regression/power_law_fit.h"

#include <ceres/ceres.h>
#include <glog/logging.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace tidemark::regression {
namespace {

constexpr std::size_t kPointsMax = 2000;
constexpr std::size_t kDistinctSizesMin = 4;
constexpr int kGridExponents = 12;
constexpr double kSecondsMax = 1e12;  // larger predictions say nothing any more

// Points scaled by geometric mean of size and mean of time, where the solver works best.
struct Scaled {
  std::vector<double> x;
  std::vector<double> t;
  double size_scale = 1;
  double time_scale = 1;
};

struct Curve {
  double a = 0;
  double b = 0;
  double c = 1;
  double squared_error = std::numeric_limits<double>::infinity();
};

bool IsUsable(const GroupPoint& point) {
  const double seconds = absl::ToDoubleSeconds(point.mean_time());
  return point.count > 0 && std::isfinite(seconds) && seconds >= 0;
}

std::vector<GroupPoint> Thinned(std::span<const GroupPoint> points) {
  std::vector<GroupPoint> usable;
  usable.reserve(points.size());
  std::copy_if(points.begin(), points.end(), std::back_inserter(usable), IsUsable);
  std::stable_sort(usable.begin(), usable.end(), [](const GroupPoint& p, const GroupPoint& q) {
    return p.size_bytes < q.size_bytes;
  });
  if (usable.size() <= kPointsMax) return usable;
  std::vector<GroupPoint> thinned;
  for (std::size_t i = 0; i < kPointsMax; ++i) {
    thinned.push_back(usable[i * (usable.size() - 1) / (kPointsMax - 1)]);
  }
  return thinned;
}

Scaled Scale(const std::vector<GroupPoint>& points) {
  Scaled scaled;
  double log_sum = 0;
  double time_sum = 0;
  for (const GroupPoint& point : points) {
    log_sum += std::log(std::max(1.0, static_cast<double>(point.size_bytes)));
    time_sum += absl::ToDoubleSeconds(point.mean_time());
  }
  scaled.size_scale = std::exp(log_sum / static_cast<double>(points.size()));
  scaled.time_scale = time_sum > 0 ? time_sum / static_cast<double>(points.size()) : 1;
  for (const GroupPoint& point : points) {
    scaled.x.push_back(std::max(1.0, static_cast<double>(point.size_bytes)) / scaled.size_scale);
    scaled.t.push_back(absl::ToDoubleSeconds(point.mean_time()) / scaled.time_scale);
  }
  return scaled;
}

double SquaredError(const Scaled& points, const Curve& curve) {
  double sum = 0;
  for (std::size_t i = 0; i < points.x.size(); ++i) {
    const double residual = points.t[i] - curve.a - curve.b * std::pow(points.x[i], curve.c);
    sum += residual * residual;
  }
  return std::isfinite(sum) ? sum : std::numeric_limits<double>::infinity();
}

// The best non-negative a and b for a given exponent, in closed form.
Curve BestFor(const Scaled& points, double exponent) {
  double n = 0, sum_p = 0, sum_pp = 0, sum_t = 0, sum_pt = 0;
  for (std::size_t i = 0; i < points.x.size(); ++i) {
    const double p = std::pow(points.x[i], exponent);
    n += 1;
    sum_p += p;
    sum_pp += p * p;
    sum_t += points.t[i];
    sum_pt += p * points.t[i];
  }
  Curve best{.a = sum_t / n, .b = 0, .c = exponent};
  best.squared_error = SquaredError(points, best);
  const auto consider = [&](double a, double b) {
    if (!(a >= 0) || !(b >= 0) || !std::isfinite(a) || !std::isfinite(b)) return;
    Curve curve{a, b, exponent};
    curve.squared_error = SquaredError(points, curve);
    if (curve.squared_error < best.squared_error) best = curve;
  };
  const double determinant = n * sum_pp - sum_p * sum_p;
  consider((sum_pp * sum_t - sum_p * sum_pt) / determinant,
           (n * sum_pt - sum_p * sum_t) / determinant);
  consider(0, sum_pt / sum_pp);
  return best;
}

Curve BestOnGrid(const Scaled& points, const PowerLawOptions& options) {
  Curve best;
  for (int i = 0; i < kGridExponents; ++i) {
    const double step = (options.exponent_max - options.exponent_min) / (kGridExponents - 1);
    const Curve curve = BestFor(points, options.exponent_min + i * step);
    if (curve.squared_error < best.squared_error) best = curve;
  }
  return best;
}

// t - (a + b x^c) for all points in one block, with its derivatives.
class CurveResiduals final : public ceres::CostFunction {
 public:
  explicit CurveResiduals(const Scaled& points) : points_(points) {
    set_num_residuals(static_cast<int>(points.x.size()));
    mutable_parameter_block_sizes()->push_back(3);
  }
  bool Evaluate(double const* const* parameters, double* residuals,
                double** jacobians) const override {
    const double a = parameters[0][0];
    const double b = parameters[0][1];
    const double c = parameters[0][2];
    for (std::size_t i = 0; i < points_.x.size(); ++i) {
      const double power = std::pow(points_.x[i], c);
      residuals[i] = points_.t[i] - a - b * power;
      if (!std::isfinite(residuals[i])) return false;
      if (jacobians == nullptr || jacobians[0] == nullptr) continue;
      jacobians[0][3 * i] = -1;
      jacobians[0][3 * i + 1] = -power;
      jacobians[0][3 * i + 2] = -b * power * std::log(points_.x[i]);
    }
    return true;
  }

 private:
  const Scaled& points_;
};

// Ceres from `start`; `start` itself where Ceres does no better.
Curve Polished(const Scaled& points, const Curve& start, const PowerLawOptions& options) {
  std::array<double, 3> parameters = {start.a, start.b, start.c};
  ceres::Problem problem;
  problem.AddResidualBlock(new CurveResiduals(points), nullptr, parameters.data());
  problem.SetParameterLowerBound(parameters.data(), 0, 0);
  problem.SetParameterLowerBound(parameters.data(), 1, 0);
  problem.SetParameterLowerBound(parameters.data(), 2, options.exponent_min);
  problem.SetParameterUpperBound(parameters.data(), 2, options.exponent_max);
  ceres::Solver::Options solver;
  solver.linear_solver_type = ceres::DENSE_QR;
  solver.logging_type = ceres::SILENT;
  solver.num_threads = 1;
  solver.max_num_iterations = 50;
  solver.max_solver_time_in_seconds = 1e9;  // only iterations may end it: time is not reproducible
  ceres::Solver::Summary summary;
  ceres::Solve(solver, &problem, &summary);
  Curve polished{parameters[0], parameters[1], parameters[2]};
  polished.squared_error = SquaredError(points, polished);
  return polished.squared_error < start.squared_error ? polished : start;
}

double TotalSquares(const Scaled& points) {
  double mean = 0;
  for (const double t : points.t) mean += t / static_cast<double>(points.t.size());
  double sum = 0;
  for (const double t : points.t) sum += (t - mean) * (t - mean);
  return sum;
}

// 1 - residual / total squares; exact fits of constant times are perfect, others of them worthless.
double RSquared(double residual, double total, std::size_t points) {
  constexpr double kNothing = 1e-24;
  const double n = static_cast<double>(points);
  if (total <= kNothing * n) return residual <= kNothing * n ? 1 : 0;
  return 1 - residual / total;
}

// Weighted by fitted time: what matters is how far off the costly key groups are, and the timer's
// own noise makes the cheapest ones look unpredictable.
double RelativeResidual(const Scaled& points, const Curve& curve) {
  double squares = 0;
  double weights = 0;
  for (std::size_t i = 0; i < points.x.size(); ++i) {
    const double fitted = curve.a + curve.b * std::pow(points.x[i], curve.c);
    if (!(fitted > 0)) continue;
    const double relative = (points.t[i] - fitted) / fitted;
    squares += fitted * std::min(relative * relative, 1e6);
    weights += fitted;
  }
  return weights > 0 ? std::sqrt(squares / weights) : 0;
}

std::size_t DistinctSizes(const std::vector<GroupPoint>& points) {
  std::size_t distinct = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    distinct += i == 0 || points[i].size_bytes != points[i - 1].size_bytes ? 1 : 0;
  }
  return distinct;
}

void SilenceSolverLog() {
  static const bool silenced = [] {
    FLAGS_minloglevel = google::GLOG_FATAL;
    return true;
  }();
  (void)silenced;
}

}  // namespace

double PowerLawFit::Predict(double size_bytes) const {
  if (quality == FitQuality::kNone || std::isnan(size_bytes)) return 0;
  const double seconds = a_seconds + b * std::pow(std::max(1.0, size_bytes), c);
  return std::isfinite(seconds) ? std::clamp(seconds, 0.0, kSecondsMax) : kSecondsMax;
}

PowerLawFit FitPowerLaw(std::span<const GroupPoint> points, const PowerLawOptions& options) {
  SilenceSolverLog();
  PowerLawFit fit;
  const std::vector<GroupPoint> thinned = Thinned(points);
  const std::size_t distinct = DistinctSizes(thinned);
  if (distinct < kDistinctSizesMin) return fit;
  const Scaled scaled = Scale(thinned);
  const Curve curve = Polished(scaled, BestOnGrid(scaled, options), options);
  fit.quality = distinct < static_cast<std::size_t>(std::max(options.points_min, 0))
                    ? FitQuality::kFew
                    : FitQuality::kRegular;
  fit.a_seconds = curve.a * scaled.time_scale;
  fit.b = curve.b * scaled.time_scale / std::pow(scaled.size_scale, curve.c);
  fit.c = curve.c;
  fit.r_squared = RSquared(curve.squared_error, TotalSquares(scaled), scaled.x.size());
  fit.relative_residual = RelativeResidual(scaled, curve);
  fit.size_bytes_max = static_cast<double>(thinned.back().size_bytes);
  return fit;
}

}  // namespace tidemark::regression
