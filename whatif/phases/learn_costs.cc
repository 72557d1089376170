#include "whatif/phases/learn_costs.h"

#include <ceres/ceres.h>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tidemark::phases {
namespace {

using CostVector = Eigen::Matrix<double, kCosts, 1>;
using CostMatrix = Eigen::Matrix<double, kCosts, kCosts>;

Eigen::Map<CostVector> AsVector(double* values) { return Eigen::Map<CostVector>(values); }

// The weight of all tasks of a stage in one run, in tasks. Chosen by hand.
constexpr double kTasksThatCount = 4;
// The maximum number of these tasks that are used; more do not improve the result.
constexpr std::size_t kTasksOfGroupMax = 64;
// Assumed relative deviation of a stage's mean from its model. Chosen by hand; measured deviations
// replace it in estimates.
constexpr double kAssumedDeviation = 0.2;
// A larger relative error is that of a straggler.
constexpr double kLargeError = 0.5;
// Prior deviation of a cost relative to its prior: the range of disks, networks and processors in
// use. Chosen by hand.
constexpr double kPriorDeviation = 2;
// A cost is determined if the data reduce its deviation below this fraction of the prior's.
constexpr double kDeterminedShare = 0.25;
// Tolerances of a time as a share of the task, for a sum of several costs and for a separately
// measured cost.
constexpr double kShareOfTask = 0.1;
constexpr double kShareOfTaskAlone = 0.01;
constexpr double kClockSeconds = 1e-3;  // Spark's metrics are in milliseconds.
// If a task's processor time is below this share of its work, the task waits for something that no
// counter shows, such as a Python process or a processor. This task is not evidence of the costs.
constexpr double kOfProcessorMin = 0.5;

enum Kind { kRunning, kProcessor, kFetchWait, kShuffleWrite, kDeserialize, kRest };
constexpr Kind kFirstAlone = kFetchWait;  // first of the kinds with only one cost

struct Row {
  Kind kind = kRunning;
  std::size_t stage = 0;
  CostVector units = CostVector::Zero();  // units by cost
  double seconds = 0;                     // measured
  double scale = 1;                       // error / scale is the relative error
  double weight = 1;
  std::size_t group = 0;
};

bool IsTime(const std::optional<double>& seconds) {
  return seconds && *seconds >= 0 && std::isfinite(*seconds);
}

bool IsUsable(CostStatistics prior) {
  prior[Cost::kCompute] = 1;
  return std::all_of(prior.seconds.begin(), prior.seconds.end(),
                     [](double cost) { return cost > 0 && std::isfinite(cost); });
}

bool IsUsable(const Work& work) {
  return std::all_of(work.units.begin(), work.units.end(),
                     [](double units) { return units >= 0 && std::isfinite(units); });
}

// The error of one time of a task. It is linear, so its derivatives are its units.
class LinearError : public ceres::CostFunction {
 public:
  LinearError(const Row& row, const CostVector& unit, double own_unit)
      : row_(row), slope_(row.units.cwiseProduct(unit) / row.scale) {
    own_slope_ = row.units[Index(Cost::kCompute)] * own_unit / row.scale;
    slope_[Index(Cost::kCompute)] = 0;
    set_num_residuals(1);
    mutable_parameter_block_sizes()->push_back(kCosts);
    mutable_parameter_block_sizes()->push_back(1);
  }
  bool Evaluate(double const* const* at, double* error, double** slopes) const override {
    *error = slope_.dot(Eigen::Map<const CostVector>(at[0])) + own_slope_ * at[1][0] -
             row_.seconds / row_.scale;
    if (slopes == nullptr) return true;
    if (slopes[0] != nullptr) AsVector(slopes[0]) = slope_;
    if (slopes[1] != nullptr) slopes[1][0] = own_slope_;
    return true;
  }
  const CostVector& slope() const { return slope_; }
  double own_slope() const { return own_slope_; }

 private:
  const Row& row_;
  CostVector slope_;
  double own_slope_ = 0;
};

// The deviation of a parameter from its prior, which is 1.
class PriorError : public ceres::SizedCostFunction<1, kCosts> {
 public:
  explicit PriorError(std::size_t cost) : cost_(cost) {}
  bool Evaluate(double const* const* at, double* error, double** slopes) const override {
    *error = (at[0][cost_] - 1) / kPriorDeviation;
    if (slopes == nullptr || slopes[0] == nullptr) return true;
    AsVector(slopes[0]).setZero();
    slopes[0][cost_] = 1 / kPriorDeviation;
    return true;
  }

 private:
  const std::size_t cost_;
};

class OwnPriorError : public ceres::SizedCostFunction<1, 1> {
 public:
  bool Evaluate(double const* const* at, double* error, double** slopes) const override {
    *error = (at[0][0] - 1) / kPriorDeviation;
    if (slopes != nullptr && slopes[0] != nullptr) slopes[0][0] = 1 / kPriorDeviation;
    return true;
  }
};

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

CostStatistics UsualCosts() {
  constexpr double kMb = 1e6;
  CostStatistics costs;
  costs[Cost::kInputRead] = 1 / (200 * kMb);
  costs[Cost::kOutputWrite] = 1 / (100 * kMb);
  costs[Cost::kLocalRead] = 1 / (200 * kMb);
  costs[Cost::kLocalWrite] = 1 / (200 * kMb);
  costs[Cost::kNetwork] = 1 / (125 * kMb);
  costs[Cost::kCompute] = 1e-6;
  costs[Cost::kCombine] = 2e-7;
  costs[Cost::kMergeCombine] = 2e-7;
  costs[Cost::kPartition] = 5e-8;
  costs[Cost::kSort] = 5e-8;
  costs[Cost::kCompress] = 1 / (400 * kMb);
  costs[Cost::kUncompress] = 1 / (1000 * kMb);
  costs[Cost::kSerialize] = 1 / (200 * kMb);
  costs[Cost::kSetup] = 0.01;
  costs[Cost::kCleanup] = 0.01;
  return costs;
}

// Solves for the costs. A parameter is a cost divided by its unit, which is the prior. The unit of
// a stage's own functions is half of the run time of its tasks over their records.
class Learning {
 public:
  Learning(std::span<const MeasuredTask> tasks, const CostStatistics& prior) {
    for (std::size_t i = 0; i < kCosts; ++i) unit_[i] = prior.seconds[i];
    unit_[Index(Cost::kCompute)] = 1;
    std::map<std::pair<std::size_t, std::size_t>, std::vector<const MeasuredTask*>> groups;
    for (const MeasuredTask& task : tasks) groups[{task.stage, task.run}].push_back(&task);
    for (const auto& [group, members] : groups) AddGroup(members);
    parameters_.setOnes();
    for (auto& [stage, own] : own_) {
      own.unit = own.records > 0 ? std::max(own.running / own.records / 2, 1e-12) : 1e-6;
    }
  }

  void Solve() {
    ceres::Problem problem;
    problem.AddParameterBlock(parameters_.data(), kCosts);
    for (int i = 0; i < static_cast<int>(kCosts); ++i) {
      problem.SetParameterLowerBound(parameters_.data(), i, 0);
    }
    for (auto& [stage, own] : own_) {
      problem.AddParameterBlock(&own.parameter, 1);
      problem.SetParameterLowerBound(&own.parameter, 0, 0);
      problem.AddResidualBlock(new OwnPriorError, PriorLoss(), &own.parameter);
    }
    for (std::size_t i = 0; i < kCosts; ++i) {
      problem.AddResidualBlock(new PriorError(i), PriorLoss(), parameters_.data());
    }
    for (const Row& row : rows_) {
      Own& own = own_.at(row.stage);
      const double weight = row.weight / (kAssumedDeviation * kAssumedDeviation);
      problem.AddResidualBlock(
          new LinearError(row, unit_, own.unit),
          new ceres::ScaledLoss(new ceres::HuberLoss(kLargeError), weight, ceres::TAKE_OWNERSHIP),
          parameters_.data(), &own.parameter);
    }
    ceres::Solver::Options options;
    options.linear_solver_type = ceres::DENSE_SCHUR;
    options.logging_type = ceres::SILENT;
    options.max_num_iterations = 100;
    options.function_tolerance = 1e-9;
    ceres::Solver::Summary summary;
    ceres::Solve(options, &problem,
                 &summary);  // The last step is the best one, even without convergence.
    parameters_ = parameters_.cwiseMax(0);
    for (auto& [stage, own] : own_) own.parameter = std::max(own.parameter, 0.0);
  }

  LearntCosts Result() const {
    LearntCosts learnt;
    // Units are the larger of the prior and the learnt cost, so that the prior's deviation is
    // relative.
    const CostVector unit = unit_.cwiseProduct(parameters_.cwiseMax(1));
    const double prior = 1 / (kPriorDeviation * kPriorDeviation);
    CostMatrix information = prior * CostMatrix::Identity();
    std::map<std::size_t, std::pair<double, CostVector>> of_own;
    for (const auto& [stage, own] : own_) of_own[stage] = {prior, CostVector::Zero()};
    for (const Row& row : rows_) {
      const Own& own = own_.at(row.stage);
      const LinearError error(row, unit, own.unit * std::max(own.parameter, 1.0));
      const double weight = row.weight / (kAssumedDeviation * kAssumedDeviation);
      information += weight * error.slope() * error.slope().transpose();
      of_own[row.stage].first += weight * error.own_slope() * error.own_slope();
      of_own[row.stage].second += weight * error.own_slope() * error.slope();
    }
    for (const auto& [stage, of] : of_own) {
      information -= of.second * of.second.transpose() / of.first;
    }
    const CostMatrix covariance = information.ldlt().solve(CostMatrix::Identity());
    for (std::size_t i = 0; i < kCosts; ++i) {
      learnt.costs_.seconds[i] = parameters_[i] * unit_[i];
      learnt.is_determined_[i] = std::sqrt(covariance(i, i)) <= kDeterminedShare * kPriorDeviation;
      for (std::size_t j = 0; j < kCosts; ++j) {
        learnt.covariance_[i][j] = covariance(i, j) * unit[i] * unit[j];
      }
    }
    SetOwn(of_own, unit, covariance, learnt);
    learnt.model_deviation_ = ModelDeviation();
    return learnt;
  }

 private:
  struct Own {
    double records = 0;
    double running = 0;
    double unit = 1e-6;
    double parameter = 1;
  };

  static ceres::LossFunction* PriorLoss() { return new ceres::CauchyLoss(1); }

  void AddGroup(const std::vector<const MeasuredTask*>& tasks) {
    const std::size_t step = (tasks.size() + kTasksOfGroupMax - 1) / kTasksOfGroupMax;
    std::vector<const MeasuredTask*> chosen;
    for (std::size_t i = 0; i < tasks.size(); i += step) chosen.push_back(tasks[i]);
    const double count = static_cast<double>(chosen.size());
    double mean = 0;
    for (const MeasuredTask* task : chosen) mean += task->seconds / count;
    const double weight = std::min(kTasksThatCount / count, 1.0);
    const std::size_t first = rows_.size();
    for (const MeasuredTask* task : chosen) AddRows(*task, weight);
    // Scales by the stage's mean. Scaling each task by its own time would favour tasks that were
    // fast by chance.
    std::map<Kind, std::pair<double, double>> sums;
    for (std::size_t i = first; i < rows_.size(); ++i) {
      sums[rows_[i].kind].first += rows_[i].seconds;
      sums[rows_[i].kind].second += 1;
    }
    for (std::size_t i = first; i < rows_.size(); ++i) {
      const auto& [sum, n] = sums[rows_[i].kind];
      const double share = rows_[i].kind < kFirstAlone ? kShareOfTask : kShareOfTaskAlone;
      rows_[i].scale = sum / n + share * mean + kClockSeconds;
      rows_[i].group = groups_;
    }
    ++groups_;
  }

  void AddRows(const MeasuredTask& task, double weight) {
    Own& own = own_[task.stage];
    own.records += task.work[Cost::kCompute];
    const bool is_run_known = IsTime(task.running);
    const double running = is_run_known ? *task.running : task.seconds;
    own.running += running;
    Work run = task.work;
    if (is_run_known) run[Cost::kSetup] = run[Cost::kCleanup] = 0;
    Add(task, kRunning, run, running, weight);
    if (IsTime(task.processor)) {
      const double waits = task.fetch_wait.value_or(0) + task.shuffle_write.value_or(0);
      Work processor;
      for (std::size_t i = 0; i < kCosts; ++i) {
        if (IsOfProcessor(static_cast<Cost>(i))) processor.units[i] = task.work.units[i];
      }
      if (*task.processor >= kOfProcessorMin * (running - waits)) {
        Add(task, kProcessor, processor, *task.processor, weight);
      }
    }
    AddSingle(task, kFetchWait, Cost::kNetwork, task.fetch_wait, weight);
    AddSingle(task, kShuffleWrite, Cost::kLocalWrite, task.shuffle_write, weight);
    AddSingle(task, kDeserialize, Cost::kSetup, task.deserialize, weight);
    if (is_run_known && IsTime(task.deserialize)) {
      AddSingle(task, kRest, Cost::kCleanup,
                std::max(task.seconds - *task.running - *task.deserialize, 0.0), weight);
    }
  }

  void AddSingle(const MeasuredTask& task, Kind kind, Cost cost,
                 const std::optional<double>& seconds, double weight) {
    if (!IsTime(seconds) || !(task.work[cost] > 0)) return;
    Work work;
    work[cost] = task.work[cost];
    Add(task, kind, work, *seconds, weight);
  }

  void Add(const MeasuredTask& task, Kind kind, const Work& work, double seconds, double weight) {
    Row row = {.kind = kind, .stage = task.stage, .seconds = seconds, .weight = weight};
    for (std::size_t i = 0; i < kCosts; ++i) row.units[i] = work.units[i];
    rows_.push_back(row);
  }

  void SetOwn(const std::map<std::size_t, std::pair<double, CostVector>>& of_own,
              const CostVector& unit, const CostMatrix& covariance, LearntCosts& learnt) const {
    bool are_determined = true;
    std::vector<double> all;
    for (const auto& [stage, own] : own_) {
      const auto& [information, mixed] = of_own.at(stage);
      const double own_unit = own.unit * std::max(own.parameter, 1.0);
      LearntCosts::Own result = {.seconds = own.parameter * own.unit,
                                 .information = information / (own_unit * own_unit)};
      const CostVector over = mixed / information;
      for (std::size_t i = 0; i < kCosts; ++i) {
        result.with_shared[i] = over[i] * own_unit / unit[i];
      }
      const double variance = 1 / information + over.dot(covariance * over);
      result.is_determined = std::sqrt(variance) <= kDeterminedShare * kPriorDeviation;
      are_determined = are_determined && result.is_determined;
      if (own.records > 0) all.push_back(result.seconds);
      learnt.own_[stage] = result;
    }
    learnt.is_determined_[Index(Cost::kCompute)] = are_determined;
    const double median = all.empty() ? UsualCosts()[Cost::kCompute] : Median(std::move(all));
    learnt.costs_[Cost::kCompute] = median;
    const double deviation = kPriorDeviation * std::max(median, 1e-12);
    learnt.unknown_ = {.seconds = median, .information = 1 / (deviation * deviation)};
  }

  // Returns the deviation of the means of stages in single runs from their models.
  double ModelDeviation() const {
    // (sum of relative errors, number of errors)
    std::vector<std::pair<double, double>> sums(groups_);
    for (const Row& row : rows_) {
      if (row.kind != kRunning) continue;
      const Own& own = own_.at(row.stage);
      double predicted = row.units[Index(Cost::kCompute)] * own.parameter * own.unit;
      for (std::size_t i = 0; i < kCosts; ++i) {
        if (i != Index(Cost::kCompute)) predicted += row.units[i] * parameters_[i] * unit_[i];
      }
      sums[row.group].first += (predicted - row.seconds) / row.scale;
      sums[row.group].second += 1;
    }
    // The assumed deviation counts as one observation.
    double squares = kAssumedDeviation * kAssumedDeviation;
    double count = 1;
    for (const auto& [sum, n] : sums) {
      if (n == 0) continue;
      squares += (sum / n) * (sum / n);
      count += 1;
    }
    return std::sqrt(squares / count);
  }

  CostVector unit_ = CostVector::Ones();
  CostVector parameters_;
  std::map<std::size_t, Own> own_;
  std::vector<Row> rows_;
  std::size_t groups_ = 0;
};

absl::StatusOr<LearntCosts> LearntCosts::Learn(std::span<const MeasuredTask> tasks,
                                               const CostStatistics& prior) {
  if (!IsUsable(prior)) {
    return absl::InvalidArgumentError("a prior cost must be a positive number");
  }
  std::vector<MeasuredTask> usable;
  for (const MeasuredTask& task : tasks) {
    if (!IsUsable(task.work)) {
      return absl::InvalidArgumentError(
          absl::StrCat("a task of stage ", task.stage, ": its work must be 0 or more"));
    }
    if (task.seconds >= 0 && std::isfinite(task.seconds)) usable.push_back(task);
  }
  if (usable.empty()) {
    return absl::InvalidArgumentError("cannot learn the costs: no task has a time");
  }
  Learning learning(usable, prior);
  learning.Solve();
  return learning.Result();
}

CostStatistics LearntCosts::Of(std::size_t stage) const {
  CostStatistics costs = costs_;
  const auto own = own_.find(stage);
  if (own != own_.end()) costs[Cost::kCompute] = own->second.seconds;
  return costs;
}

bool LearntCosts::IsDetermined(Cost cost) const { return is_determined_[Index(cost)]; }

// Let h be the mixed information, k the own information, and C the covariance of the shared
// parameters s after eliminating y. The variance of s'x + o y is then o^2/k + (s - o h/k)'C(s - o
// h/k).
TaskEstimate LearntCosts::Predict(std::size_t stage, const Work& work) const {
  const auto found = own_.find(stage);
  const Own& own = found == own_.end() ? unknown_ : found->second;
  const double records = work[Cost::kCompute];
  TaskEstimate prediction = {.seconds = Seconds(work, Of(stage))};
  Shared left{};
  for (std::size_t i = 0; i < kCosts; ++i) {
    if (i != Index(Cost::kCompute)) left[i] = work.units[i] - records * own.with_shared[i];
  }
  double variance = own.information > 0 ? records * records / own.information : 0;
  for (std::size_t i = 0; i < kCosts; ++i) {
    for (std::size_t j = 0; j < kCosts; ++j) variance += left[i] * covariance_[i][j] * left[j];
  }
  const double model = model_deviation_ * prediction.seconds;
  prediction.deviation = std::sqrt(std::max(variance, 0.0) + model * model);
  return prediction;
}

}  // namespace tidemark::phases
