// Curve fits a + b x^c with a, b >= 0 beside GSL and cminpack: time, and how near each comes to the
// best curve there is.
//
// Problems: a in 0..1 s, b in 1e-9..1e-3 (log-uniform), c in 0.5..4, sizes in 10 B..10 MB
// (log-uniform), 10 % noise. All minimise the same sum of squares over the same points, scaled in
// the same way. The peers have no bounds: they search for a, b and c by Levenberg-Marquardt with
// exact derivatives, from the best of six exponents and the best a and b for it; where a comes out
// below zero, once more for b and c alone. As an extra, each is given our own reduction to one
// parameter (variable projection).
//
// The best curve: of 400 exponents, then by golden section around the best of them.
#include <cminpack.h>
#include <gsl/gsl_blas.h>
#include <gsl/gsl_multifit_nlinear.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "bench/accuracy/thread_clock.h"
#include "bench/json_report.h"
#include "bench/report.h"
#include "master/papers/power_law_fit.h"
#include "nlohmann/json.hpp"
#include "tidemark/event.h"

namespace tidemark::bench {
namespace {

using papers::PowerLawOptions;

struct Problem {
  std::vector<GroupPoint> points;
  std::vector<double> sizes;  // the same as plain numbers
  std::vector<double> seconds;
};

Problem RandomProblem(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  std::normal_distribution<double> noise(0, 0.1);
  const double a = unit(random);
  const double b = std::pow(10, -9 + 6 * unit(random));
  const double c = 0.5 + 3.5 * unit(random);
  Problem problem;
  for (std::size_t i = 0; i < count; ++i) {
    const auto size = static_cast<std::uint64_t>(std::pow(10, 1 + 6 * unit(random)));
    const double seconds = (a + b * std::pow(static_cast<double>(size), c)) * (1 + noise(random));
    // Beyond 2^63 s there is no absl::Duration.
    const absl::Duration time = absl::Seconds(std::clamp(seconds, 1e-9, 1e18));
    problem.points.push_back({size, 1, time});
  }
  std::sort(problem.points.begin(), problem.points.end(),
            [](const auto& p, const auto& q) { return p.size_bytes < q.size_bytes; });
  for (const GroupPoint& point : problem.points) {
    problem.sizes.push_back(static_cast<double>(point.size_bytes));
    problem.seconds.push_back(absl::ToDoubleSeconds(point.total_time));
  }
  return problem;
}

// --- the formula, for the peers and the reference -----------------------------------------------

struct Line {
  double a = 0;
  double b = 0;
  double squared_error = 0;
};

// Points scaled like ours, and the curve with the best a, b >= 0 for an exponent.
class ScaledPoints {
 public:
  explicit ScaledPoints(const Problem& problem)
      : log_x_(problem.sizes.size()), t_(problem.seconds), powers_(problem.sizes.size()) {
    double log_sum = 0, sum = 0;
    for (std::size_t i = 0; i < t_.size(); ++i) {
      log_sum += log_x_[i] = std::log(problem.sizes[i]);
      sum += t_[i];
    }
    const auto n = static_cast<double>(t_.size());
    for (double& log : log_x_) log -= log_sum / n;
    for (double& t : t_) t *= n / sum;
  }
  std::size_t size() const { return t_.size(); }
  double log_x(std::size_t i) const { return log_x_[i]; }
  double t(std::size_t i) const { return t_[i]; }
  double power(std::size_t i) const { return powers_[i]; }

  Line BestLine(double c) {
    double p_sum = 0, pp = 0, pt = 0, t_sum = 0;
    const auto n = static_cast<double>(size());
    for (std::size_t i = 0; i < size(); ++i) {
      const double p = powers_[i] = std::exp(c * log_x_[i]);
      p_sum += p;
      pp += p * p;
      pt += p * t_[i];
      t_sum += t_[i];
    }
    Line line;
    line.b = (pt - p_sum * t_sum / n) / (pp - p_sum * p_sum / n);
    line.a = (t_sum - line.b * p_sum) / n;
    if (!(line.b > 0)) {
      line = {t_sum / n, 0};
    } else if (line.a < 0) {
      line = {0, pt / pp};
    }
    for (std::size_t i = 0; i < size(); ++i) {
      const double residual = t_[i] - line.a - line.b * powers_[i];
      line.squared_error += residual * residual;
    }
    return line;
  }

  // The best of six exponents: better for the peers than the slope of log t over log x.
  double StartExponent() {
    constexpr int kExponents = 6;
    double best = 0, least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kExponents; ++i) {
      const double c = 0.3 + 0.9 * i;
      const double error = BestLine(c).squared_error;
      if (error < least) least = error, best = c;
    }
    return best;
  }

 private:
  std::vector<double> log_x_;
  std::vector<double> t_;
  std::vector<double> powers_;  // of the last exponent
};

double BestSquaredError(ScaledPoints& points) {
  constexpr int kExponents = 400;
  const PowerLawOptions limits;
  const double step = (limits.exponent_max - limits.exponent_min) / (kExponents - 1);
  double best = limits.exponent_min;
  double least = points.BestLine(best).squared_error;
  for (int i = 1; i < kExponents; ++i) {
    const double c = limits.exponent_min + i * step;
    const double error = points.BestLine(c).squared_error;
    if (error < least) least = error, best = c;
  }
  double low = std::max(limits.exponent_min, best - step);
  double high = std::min(limits.exponent_max, best + step);
  for (int i = 0; i < 40; ++i) {
    const double left = low + 0.381966 * (high - low);
    const double right = low + 0.618034 * (high - low);
    const bool is_left = points.BestLine(left).squared_error < points.BestLine(right).squared_error;
    (is_left ? high : low) = is_left ? right : left;
  }
  return std::min(least, points.BestLine((low + high) / 2).squared_error);
}

// Residuals and derivatives by q = (a, b, c), or by (b, c) with a = 0; row-major with `stride`
// columns, or, in Fortran's order, column-major.
enum class Layout { kRows, kColumns };

// What a peer's callback gets.
struct Search {
  ScaledPoints points;
  int parameters = 3;
  double a(const double* q) const { return parameters == 3 ? q[0] : 0; }
  double b(const double* q) const { return q[parameters - 2]; }
  double c(const double* q) const { return q[parameters - 1]; }
};

void Residuals(const Search& search, const double* q, double* out) {
  const ScaledPoints& points = search.points;
  const double a = search.a(q), b = search.b(q), c = search.c(q);
  for (std::size_t i = 0; i < points.size(); ++i) {
    out[i] = a + b * std::exp(c * points.log_x(i)) - points.t(i);
  }
}

void Slopes(const Search& search, const double* q, Layout layout, std::size_t stride, double* out) {
  const ScaledPoints& points = search.points;
  const double b = search.b(q), c = search.c(q);
  const auto first = static_cast<std::size_t>(3 - search.parameters);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double power = std::exp(c * points.log_x(i));
    const std::array<double, 3> row = {1, power, b * power * points.log_x(i)};
    for (std::size_t k = first; k < 3; ++k) {
      out[layout == Layout::kRows ? i * stride + k - first : (k - first) * stride + i] = row[k];
    }
  }
}

using Parameters = std::array<double, 3>;

Parameters Start(Search& search) {
  const double c = search.points.StartExponent();
  const Line line = search.points.BestLine(c);
  if (search.parameters == 3) return {line.a, line.b, c};
  return {line.b, c, 0};
}

// The exponent that `run(search, start)` ends with, within the bounds.
template <typename Run>
double WithinBounds(const Problem& problem, const Run& run) {
  Search search{ScaledPoints(problem)};
  Parameters q = run(search, Start(search));
  if (q[0] < 0) {
    search.parameters = 2;
    q = run(search, Start(search));
  }
  return search.c(q.data());
}

// The same reduced to c, as in regression/power_law_fit.cc.
void ReducedResiduals(ScaledPoints& points, double c, double* out) {
  const Line line = points.BestLine(std::clamp(c, 0.05, 5.3));
  for (std::size_t i = 0; i < points.size(); ++i) {
    out[i] = line.a + line.b * points.power(i) - points.t(i);
  }
}

void ReducedSlopes(ScaledPoints& points, double c, double* out) {
  const Line line = points.BestLine(std::clamp(c, 0.05, 5.3));
  const auto n = static_cast<double>(points.size());
  double mean = 0, p_mean = 0, pp = 0, pv = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    out[i] = line.b * points.power(i) * points.log_x(i);
    mean += out[i] / n;
    p_mean += points.power(i) / n;
    pp += points.power(i) * points.power(i);
    pv += points.power(i) * out[i];
  }
  if (line.a > 0) {
    const double slope = (pv - n * mean * p_mean) / (pp - n * p_mean * p_mean);
    for (std::size_t i = 0; i < points.size(); ++i) {
      out[i] -= mean + slope * (points.power(i) - p_mean);
    }
  } else {
    for (std::size_t i = 0; i < points.size(); ++i) out[i] -= pv / pp * points.power(i);
  }
}

// --- the contestants: each returns the exponent it found ----------------------------------------

constexpr double kTolerance = 1e-7;  // relative, of steps and of the sum of squares
constexpr int kIterationsMax = 100;

double OurFit(const Problem& problem) { return papers::FitPowerLaw(problem.points).c; }

Parameters RunCminpack(Search& search, Parameters q) {
  const int m = static_cast<int>(search.points.size());
  const std::size_t size = search.points.size();
  std::vector<double> residuals(size), slopes(3 * size), work(size);
  Parameters scale{}, qtf{}, w1{}, w2{}, w3{};
  std::array<int, 3> order{};
  int evaluations = 0, slope_evaluations = 0;
  const auto evaluate = [](void* data, int, int, const double* x, double* fvec, double* fjac,
                           int ldfjac, int flag) {
    const auto& at = *static_cast<const Search*>(data);
    if (flag == 1) Residuals(at, x, fvec);
    if (flag == 2) Slopes(at, x, Layout::kColumns, static_cast<std::size_t>(ldfjac), fjac);
    return 0;
  };
  lmder(evaluate, &search, m, search.parameters, q.data(), residuals.data(), slopes.data(), m,
        kTolerance, kTolerance, 0, kIterationsMax, scale.data(), 1, 100, 0, &evaluations,
        &slope_evaluations, order.data(), qtf.data(), w1.data(), w2.data(), w3.data(), work.data());
  return q;
}

double CminpackFit(const Problem& problem) { return WithinBounds(problem, RunCminpack); }

double CminpackReducedFit(const Problem& problem) {
  ScaledPoints points(problem);
  double c = points.StartExponent();
  const int m = static_cast<int>(points.size());
  std::vector<double> residuals(points.size()), slopes(points.size()), work(points.size());
  double scale = 0, qtf = 0, w1 = 0, w2 = 0, w3 = 0;
  int order = 0, evaluations = 0, slope_evaluations = 0;
  const auto evaluate = [](void* data, int, int, const double* x, double* fvec, double* fjac, int,
                           int flag) {
    auto& at = *static_cast<ScaledPoints*>(data);
    if (flag == 1) ReducedResiduals(at, *x, fvec);
    if (flag == 2) ReducedSlopes(at, *x, fjac);
    return 0;
  };
  lmder(evaluate, &points, m, 1, &c, residuals.data(), slopes.data(), m, kTolerance, kTolerance, 0,
        kIterationsMax, &scale, 1, 100, 0, &evaluations, &slope_evaluations, &order, &qtf, &w1, &w2,
        &w3, work.data());
  return c;
}

// GSL's trust-region Levenberg-Marquardt.
Parameters RunGslSystem(gsl_multifit_nlinear_fdf& system, Parameters q) {
  const gsl_multifit_nlinear_parameters parameters = gsl_multifit_nlinear_default_parameters();
  gsl_multifit_nlinear_workspace* work =
      gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &parameters, system.n, system.p);
  const gsl_vector_const_view start = gsl_vector_const_view_array(q.data(), system.p);
  gsl_multifit_nlinear_init(&start.vector, &system, work);
  int why = 0;
  gsl_multifit_nlinear_driver(kIterationsMax, kTolerance, kTolerance, kTolerance, nullptr, nullptr,
                              &why, work);
  for (std::size_t k = 0; k < system.p; ++k) {
    q[k] = gsl_vector_get(gsl_multifit_nlinear_position(work), k);
  }
  gsl_multifit_nlinear_free(work);
  return q;
}

Parameters RunGsl(Search& search, Parameters q) {
  gsl_multifit_nlinear_fdf system{};
  system.n = search.points.size();
  system.p = static_cast<std::size_t>(search.parameters);
  system.params = &search;
  system.f = [](const gsl_vector* x, void* data, gsl_vector* out) -> int {
    Residuals(*static_cast<const Search*>(data), x->data, out->data);
    return GSL_SUCCESS;
  };
  system.df = [](const gsl_vector* x, void* data, gsl_matrix* out) -> int {
    Slopes(*static_cast<const Search*>(data), x->data, Layout::kRows, out->tda, out->data);
    return GSL_SUCCESS;
  };
  return RunGslSystem(system, q);
}

double GslFit(const Problem& problem) { return WithinBounds(problem, RunGsl); }

double GslReducedFit(const Problem& problem) {
  ScaledPoints points(problem);
  gsl_multifit_nlinear_fdf system{};
  system.n = points.size();
  system.p = 1;
  system.params = &points;
  system.f = [](const gsl_vector* q, void* data, gsl_vector* out) -> int {
    ReducedResiduals(*static_cast<ScaledPoints*>(data), q->data[0], out->data);
    return GSL_SUCCESS;
  };
  system.df = [](const gsl_vector* q, void* data, gsl_matrix* out) -> int {
    ReducedSlopes(*static_cast<ScaledPoints*>(data), q->data[0], out->data);  // tda is 1
    return GSL_SUCCESS;
  };
  return RunGslSystem(system, {points.StartExponent(), 0, 0})[0];
}

// --- the contest --------------------------------------------------------------------------------

struct Contestant {
  const char* name;
  double (*fit)(const Problem&);
};
constexpr Contestant kContestants[] = {{"ours", OurFit},
                                       {"gsl", GslFit},
                                       {"cminpack", CminpackFit},
                                       {"gsl_one_parameter", GslReducedFit},
                                       {"cminpack_one_parameter", CminpackReducedFit}};
constexpr std::size_t kContestantCount = std::size(kContestants);

// Sums of squares over the least possible, each for the exponent found and the best a, b >= 0 for
// it: the peers are not charged for what they leave at the bounds.
std::vector<double> ResidualRatios(const Contestant& contestant,
                                   const std::vector<Problem>& problems,
                                   const std::vector<double>& least) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    ScaledPoints points(problems[i]);
    const double c = std::clamp(contestant.fit(problems[i]), 0.05, 5.3);
    ratios.push_back(points.BestLine(c).squared_error / least[i]);
  }
  std::sort(ratios.begin(), ratios.end());
  return ratios;
}

nlohmann::json Measure(std::size_t points, std::size_t count, const Options& options) {
  std::vector<Problem> problems;
  std::vector<double> least;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    problems.push_back(RandomProblem(points, seed));
    ScaledPoints scaled(problems.back());
    least.push_back(BestSquaredError(scaled));
  }
  std::array<Series, kContestantCount> rates, ratios;
  double sink = 0;
  for (int run = 0; run < options.repetitions; ++run) {
    std::array<double, kContestantCount> nanos{};
    for (std::size_t k = 0; k < kContestantCount; ++k) {
      const double start = 1e9 * ThreadSeconds();
      for (const Problem& problem : problems) sink += kContestants[k].fit(problem);
      nanos[k] = 1e9 * ThreadSeconds() - start;
      rates[k].Add(static_cast<double>(count) / nanos[k] * 1e9);
      ratios[k].Add(nanos[k] / nanos[0]);
    }
  }
  nlohmann::json measured = {{"points", points}, {"problems", count}, {"checksum", sink}};
  for (std::size_t k = 0; k < kContestantCount; ++k) {
    const std::vector<double> residuals = ResidualRatios(kContestants[k], problems, least);
    const auto within =
        std::upper_bound(residuals.begin(), residuals.end(), 1.001) - residuals.begin();
    measured[kContestants[k].name] = {
        {"fits_per_second", rates[k].ToJson()},
        {"time_over_ours", ratios[k].ToJson()},
        {"within_0_1_percent",
         100 * static_cast<double>(within) / static_cast<double>(residuals.size())},
        {"residual_ratio_median", Median(residuals)},
        {"residual_ratio_max", residuals.back()}};
  }
  return measured;
}

int Main(int argc, char** argv) {
  const Options options = ParseOptions(argc, argv);
  gsl_set_error_handler_off();  // a fit that does not converge is a result, not an abort
  nlohmann::json report = {{"benchmark", "fit"}, {"context", Context(options)}};
  struct Size {
    const char* suffix;
    std::size_t points;
    double problems;
  };
  for (const Size& size :
       {Size{"n50", 50, 1000}, Size{"n500", 500, 200}, Size{"n5000", 5000, 40}}) {
    const auto count = static_cast<std::size_t>(std::ceil(size.problems * options.scale));
    const nlohmann::json measured = Measure(size.points, count, options);
    const std::string suffix = size.suffix;
    report["ratio_vs_gsl_" + suffix] = measured["gsl"]["time_over_ours"]["median"];
    report["ratio_vs_cminpack_" + suffix] = measured["cminpack"]["time_over_ours"]["median"];
    report[suffix] = measured;
  }
  report["within_0_1_percent"] = report["n50"]["ours"]["within_0_1_percent"];
  return WriteJson(report, options.json_path) ? 0 : 1;
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) { return tidemark::bench::Main(argc, argv); }
