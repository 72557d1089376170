#include "regression/power_law_fit.h"

#include <ceres/tiny_solver.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tidemark::regression {
namespace {

using Eigen::ArrayXd;

constexpr std::size_t kPointsMax = 8192;
constexpr std::size_t kDistinctSizesMin = 4;
constexpr int kGridExponents = 12;
constexpr double kSecondsMax = 1e12;  // upper bound of predictions
constexpr double kNothing = 1e-24;    // smaller mean squares of scaled times are due to rounding

struct Sample {
  std::uint64_t size_bytes;
  double seconds;
};

// The samples, with sizes divided by their geometric mean and times by their mean, for numerical
// stability.
struct Scaled {
  ArrayXd log_x;
  ArrayXd t;
  ArrayXd t_centred;  // t minus its mean
  double t_mean = 0;
  double log_size_scale = 0;
  double time_scale = 1;
  double total_squares() const { return t_centred.square().sum(); }
};

struct Curve {
  double a = 0;
  double b = 0;
  double c = 1;
  double squared_error = std::numeric_limits<double>::infinity();
};

bool IsSmaller(const Sample& p, const Sample& q) { return p.size_bytes < q.size_bytes; }

std::vector<Sample> Thinned(std::span<const GroupPoint> points) {
  std::vector<Sample> usable;
  usable.reserve(points.size());
  for (const GroupPoint& point : points) {
    if (point.count == 0) continue;
    const double seconds =
        absl::ToDoubleSeconds(point.total_time) / static_cast<double>(point.count);
    if (std::isfinite(seconds) && seconds >= 0) usable.push_back({point.size_bytes, seconds});
  }
  if (!std::is_sorted(usable.begin(), usable.end(), IsSmaller)) {
    std::stable_sort(usable.begin(), usable.end(), IsSmaller);
  }
  if (usable.size() <= kPointsMax) return usable;
  std::vector<Sample> thinned;
  thinned.reserve(kPointsMax);
  for (std::size_t i = 0; i < kPointsMax; ++i) {
    thinned.push_back(usable[i * (usable.size() - 1) / (kPointsMax - 1)]);
  }
  return thinned;
}

Scaled Scale(const std::vector<Sample>& samples) {
  const auto n = static_cast<Eigen::Index>(samples.size());
  Scaled scaled{.log_x = ArrayXd(n), .t = ArrayXd(n)};
  for (Eigen::Index i = 0; i < n; ++i) {
    const Sample& sample = samples[static_cast<std::size_t>(i)];
    scaled.log_x[i] = std::max(1.0, static_cast<double>(sample.size_bytes));
    scaled.t[i] = sample.seconds;
  }
  scaled.log_x = scaled.log_x.log().eval();
  scaled.log_size_scale = scaled.log_x.mean();
  scaled.log_x -= scaled.log_size_scale;
  const double mean = scaled.t.mean();
  if (mean > 0) scaled.time_scale = mean;
  scaled.t /= scaled.time_scale;
  scaled.t_mean = scaled.t.mean();
  scaled.t_centred = scaled.t - scaled.t_mean;
  return scaled;
}

// The best a, b >= 0 for one exponent, in closed form (variable projection). If both coefficients
// of the regression line through (x^c, t) are positive, they are the best. Otherwise one
// coefficient is zero. At most one is negative, since times are not negative.
struct PowerLine {
  double a = 0;
  double b = 0;
  double explained = 0;  // reduction of the sum of squares, compared with a constant time
};

struct PowerSums {
  double mean = 0;
  double squares = 0;     // sum of (p - mean)^2
  double with_times = 0;  // sum of (p - mean) (t - mean of t)
};

PowerSums SumsOf(const ArrayXd& powers, const Scaled& points) {
  PowerSums sums;
  sums.mean = powers.mean();
  sums.squares = (powers - sums.mean).square().sum();
  sums.with_times = (powers * points.t_centred).sum();
  return sums;
}

PowerLine BestLine(const PowerSums& sums, const Scaled& points) {
  const double b = sums.with_times / sums.squares;
  if (!(b > 0) || !std::isfinite(b)) return {.a = points.t_mean};
  const double a = points.t_mean - b * sums.mean;
  if (a >= 0) return {a, b, b * sums.with_times};
  // The best line through the origin has b = sum p t / sum p^2.
  const auto n = static_cast<double>(points.t.size());
  const double products = sums.with_times + n * sums.mean * points.t_mean;
  const double squares = sums.squares + n * sums.mean * sums.mean;
  return {0, products / squares, products * products / squares - n * points.t_mean * points.t_mean};
}

// Returns the exponent of the grid that has the best curve. The powers for an exponent are computed
// from the powers for the previous exponent by constant factors.
double BestOnGrid(const Scaled& points, const PowerLawOptions& options) {
  const double step = (options.exponent_max - options.exponent_min) / (kGridExponents - 1);
  const ArrayXd factors = (step * points.log_x).exp();
  ArrayXd powers = (options.exponent_min * points.log_x).exp();
  double best = options.exponent_min;
  double most_explained = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < kGridExponents; ++i) {
    const PowerLine line = BestLine(SumsOf(powers, points), points);
    if (line.explained > most_explained) {
      most_explained = line.explained;
      best = options.exponent_min + i * step;
    }
    powers *= factors;
  }
  return best;
}

// The residuals of the best curve of an exponent, t - (a + b x^c). Ceres minimises them over the
// exponent, which is clamped to its limits.
class ReducedResiduals {
 public:
  using Scalar = double;
  enum { NUM_RESIDUALS = Eigen::Dynamic, NUM_PARAMETERS = 1 };

  ReducedResiduals(const Scaled& points, const PowerLawOptions& options)
      : points_(points), options_(options) {}
  int NumResiduals() const { return static_cast<int>(points_.t.size()); }

  // The slope is b x^c log x minus its projection on a and b, since a and b depend on c.
  bool operator()(const double* exponent, double* residuals, double* slope) const {
    MoveTo(*exponent);
    Eigen::Map<ArrayXd>(residuals, points_.t.size()) = points_.t - line_.a - line_.b * powers_;
    if (slope == nullptr) return true;
    Eigen::Map<ArrayXd> out(slope, points_.t.size());
    if (line_.b == 0 || *exponent != exponent_) {
      out.setZero();
      return true;
    }
    out = -line_.b * powers_ * points_.log_x;
    if (line_.a > 0) {
      out -= out.mean();
      out -= (powers_ - sums_.mean) * ((powers_ - sums_.mean) * out).sum() / sums_.squares;
    } else {
      out -= powers_ * (powers_ * out).sum() / powers_.square().sum();
    }
    return true;
  }

  Curve CurveOf(double exponent) const {
    MoveTo(exponent);
    return {line_.a, line_.b, exponent_, (points_.t - line_.a - line_.b * powers_).square().sum()};
  }

 private:
  void MoveTo(double exponent) const {
    const double within = std::clamp(exponent, options_.exponent_min, options_.exponent_max);
    if (within == exponent_) return;
    exponent_ = within;
    powers_ = (within * points_.log_x).exp();
    sums_ = SumsOf(powers_, points_);
    line_ = BestLine(sums_, points_);
  }

  const Scaled& points_;
  const PowerLawOptions& options_;
  mutable double exponent_ = std::numeric_limits<double>::quiet_NaN();
  mutable ArrayXd powers_;
  mutable PowerSums sums_;
  mutable PowerLine line_;
};

// Returns the curve that Ceres finds, starting from the best exponent of the grid. If the curve of
// that exponent is better, returns the latter.
Curve BestCurve(const Scaled& points, const ReducedResiduals& reduced,
                const PowerLawOptions& options) {
  if (points.total_squares() <= kNothing * static_cast<double>(points.t.size())) {
    return {.a = points.t_mean, .squared_error = points.total_squares()};
  }
  const double start = BestOnGrid(points, options);
  const Curve unpolished = reduced.CurveOf(start);
  ceres::TinySolver<ReducedResiduals> solver;
  solver.options.max_num_iterations = 50;
  solver.options.parameter_tolerance = 1e-5;
  solver.options.function_tolerance = 1e-7 * unpolished.squared_error;
  solver.options.cost_threshold = 0;
  Eigen::Matrix<double, 1, 1> exponent(start);
  solver.Solve(reduced, &exponent);
  const Curve polished = reduced.CurveOf(exponent[0]);
  return polished.squared_error < unpolished.squared_error ? polished : unpolished;
}

// Returns 1 - residual / total squares. For constant times, returns 1 for an exact fit and
// otherwise 0.
double RSquared(double residual, double total, std::size_t points) {
  const double n = static_cast<double>(points);
  if (total <= kNothing * n) return residual <= kNothing * n ? 1 : 0;
  return 1 - residual / total;
}

// Returns the relative residual, weighted by fitted time. The errors of expensive key groups
// matter, whereas timer noise dominates the errors of cheap ones.
double RelativeResidual(const Scaled& points, const Curve& curve) {
  const ArrayXd fitted = curve.a + curve.b * (curve.c * points.log_x).exp();
  double squares = 0;
  double weights = 0;
  for (Eigen::Index i = 0; i < fitted.size(); ++i) {
    if (!(fitted[i] > 0)) continue;
    const double relative = (points.t[i] - fitted[i]) / fitted[i];
    squares += fitted[i] * std::min(relative * relative, 1e6);
    weights += fitted[i];
  }
  return weights > 0 ? std::sqrt(squares / weights) : 0;
}

std::size_t DistinctSizes(const std::vector<Sample>& points) {
  std::size_t distinct = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    distinct += i == 0 || points[i].size_bytes != points[i - 1].size_bytes ? 1 : 0;
  }
  return distinct;
}

}  // namespace

double PowerLawFit::Predict(double size_bytes) const {
  if (quality == FitQuality::kNone || std::isnan(size_bytes)) return 0;
  const double seconds = a_seconds + b * std::pow(std::max(1.0, size_bytes), c);
  return std::isfinite(seconds) ? std::clamp(seconds, 0.0, kSecondsMax) : kSecondsMax;
}

PowerLawFit FitPowerLaw(std::span<const GroupPoint> points, const PowerLawOptions& options) {
  PowerLawFit fit;
  const std::vector<Sample> thinned = Thinned(points);
  const std::size_t distinct = DistinctSizes(thinned);
  if (distinct < kDistinctSizesMin) return fit;
  const Scaled scaled = Scale(thinned);
  const Curve curve = BestCurve(scaled, ReducedResiduals(scaled, options), options);
  fit.quality = distinct < static_cast<std::size_t>(std::max(options.points_min, 0))
                    ? FitQuality::kFew
                    : FitQuality::kRegular;
  fit.a_seconds = curve.a * scaled.time_scale;
  fit.b = curve.b * scaled.time_scale * std::exp(-curve.c * scaled.log_size_scale);
  fit.c = curve.c;
  fit.r_squared = RSquared(curve.squared_error, scaled.total_squares(), thinned.size());
  fit.relative_residual = RelativeResidual(scaled, curve);
  fit.size_bytes_max = static_cast<double>(thinned.back().size_bytes);
  return fit;
}

}  // namespace tidemark::regression
