#include "master/workflow/workflow_estimate.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

#include "master/model/tidemark/normal.h"
#include "master/workflow/drawn_numbers.h"
#include "master/workflow/list_simulation.h"
#include "master/workflow/match_stages.h"

namespace tidemark::workflow {
namespace {

// A factor of ln f ~ N(-shift d^2, d^2) has a mean of one where the shift is a half, which is what
// adds up along stages that something is known of. Of unknown ones a mean of one says too little
// where few stages decide, a median of one too much where many add up.
constexpr double kKnownShift = 0.5;
constexpr double kUnknownShift = 0.3;
// Rows of drawn numbers that belong to no stage.
constexpr std::uint64_t kCommonRow = std::uint64_t{1} << 40;
constexpr std::uint64_t kGrowthRow = kCommonRow + 1;
constexpr std::uint64_t kFactorRows = std::uint64_t{1} << 32;

// The stages that there are and those that are to be expected, with what their tasks will take.
struct Outlooks {
  std::vector<StageNow> stages;
  std::vector<TaskOutlook> tasks;
  std::size_t seen = 0;  // the first of them are there already
};

class OutlookBuilder {
 public:
  OutlookBuilder(const WorkflowNow& now, std::span<const WorkflowProfile* const> history,
                 double slots, const OutlookConstants& constants)
      : now_(now), history_(history), slots_(slots), constants_(constants) {}

  Outlooks Build() {
    outlooks_.stages = now_.stages;
    outlooks_.seen = now_.stages.size();
    if (!history_.empty()) Expect(*history_.front());
    runs_.resize(outlooks_.stages.size());
    for (const WorkflowProfile* run : history_) Collect(*run);
    for (std::size_t i = 0; i < outlooks_.stages.size(); ++i) {
      const TaskOutlook before = OutlookFromRuns(runs_[i], slots_, constants_);
      outlooks_.tasks.push_back(OutlookNow(before, outlooks_.stages[i], constants_));
    }
    GuessUnknown();
    return std::move(outlooks_);
  }

 private:
  // Stages of the most recent run that are not there yet will come.
  void Expect(const WorkflowProfile& run) {
    const auto matches = MatchStages(now_.stages, run);
    std::vector<std::optional<std::size_t>> place(run.stages.size());
    for (std::size_t i = 0; i < matches.size(); ++i) {
      if (matches[i]) place[*matches[i]] = i;
    }
    for (std::size_t i = 0; i < run.stages.size(); ++i) {
      if (place[i]) continue;
      const StageProfile& stage = run.stages[i];
      place[i] = outlooks_.stages.size();
      StageNow expected = {.name = stage.name, .tasks = stage.tasks, .lag = stage.lag};
      if (!now_.stages.empty()) {
        expected.owner = now_.stages.front().owner;
        expected.container = now_.stages.front().container;
      }
      for (const std::size_t parent : stage.parents) {
        if (parent < i && place[parent]) expected.parents.push_back(*place[parent]);
      }
      outlooks_.stages.push_back(std::move(expected));
    }
  }

  void Collect(const WorkflowProfile& run) {
    const auto matches = MatchStages(outlooks_.stages, run);
    for (std::size_t i = 0; i < matches.size(); ++i) {
      if (matches[i]) runs_[i].push_back({run.slots, &run.stages[*matches[i]]});
    }
  }

  // A stage without runs or finished tasks: as the others of this workflow, and wide.
  void GuessUnknown() {
    double log_mean = 0;
    double known = 0;
    for (const TaskOutlook& outlook : outlooks_.tasks) {
      if (!outlook.is_known) continue;
      log_mean += std::log(std::max(outlook.Of(Warmth::kRest).mean(), 1e-3));
      known += 1;
    }
    const double rest = known > 0 ? std::exp(log_mean / known) : LongestRunning();
    for (TaskOutlook& outlook : outlooks_.tasks) {
      if (outlook.is_known) continue;
      for (std::size_t kind = 0; kind < kWarmths; ++kind) {
        outlook.times[kind] = TaskTimes::Empirical({rest * constants_.over_rest[kind]});
      }
    }
  }

  // Nothing has ended: what runs is taken to be half done.
  double LongestRunning() const {
    double longest = 0;
    for (const StageNow& stage : now_.stages) {
      for (const RunningTask& task : stage.running) longest = std::max(longest, task.elapsed);
    }
    return std::max(2 * longest, 1.0);
  }

  const WorkflowNow& now_;
  std::span<const WorkflowProfile* const> history_;
  double slots_;
  const OutlookConstants& constants_;
  std::vector<std::vector<EarlierStage>> runs_;
  Outlooks outlooks_;
};

std::vector<StageWork> WorkOf(const std::vector<StageNow>& stages) {
  std::vector<StageWork> work;
  for (const StageNow& stage : stages) {
    const std::uint64_t begun = stage.finished.size() + stage.running.size();
    StageWork left = {.parents = stage.parents,
                      .owner = stage.owner,
                      .container = stage.container,
                      .pending = stage.tasks > begun ? stage.tasks - begun : 0,
                      .lag = stage.lag};
    for (const RunningTask& task : stage.running) left.running.push_back(task.elapsed);
    work.push_back(std::move(left));
  }
  return work;
}

// Containers of the commonest shape that fit at once.
double SlotsOf(const std::vector<StageWork>& work, const Resourcing& on) {
  const schedule::Resources container =
      work.empty() ? schedule::Resources{.cores = 1} : work.front().container;
  const double share = schedule::DominantShare(container, on.cluster.capacity);
  return share > 0 ? std::max(std::floor(1 / share + 1e-9), 1.0) : 1;
}

class Drawing {
 public:
  Drawing(const Outlooks& outlooks, const std::vector<StageWork>& work, const WorkflowNow& now,
          const EstimateOptions& options)
      : outlooks_(outlooks), work_(work), now_(now), options_(options) {
    starts_.resize(work.size());
    ends_.resize(work.size());
    rows_.resize(work.size());
    factors_.resize(work.size());
  }

  void Draw(ListSimulation& simulation) {
    for (std::size_t draw = 0; draw < options_.draws; ++draw) {
      Prepare(draw);
      const Simulated& future = simulation.Run(
          [this](const TaskStart& start) {
            const double u = RowNumber(rows_[start.stage], start.left);
            return outlooks_.tasks[start.stage].Of(start.warmth).Quantile(u) *
                   factors_[start.stage];
          },
          [this](std::size_t stage, std::size_t nth) { return Remaining(stage, nth); });
      const double growth = Growth(draw);
      totals_.push_back(future.seconds + growth);
      stretched_.push_back(future.seconds * CommonFactor(draw) + growth);
      for (std::size_t i = 0; i < work_.size(); ++i) {
        starts_[i].push_back(future.stages[i].start);
        ends_[i].push_back(future.stages[i].end);
      }
    }
  }

  WorkflowEstimate Result() const {
    WorkflowEstimate estimate = {.remaining = QuantileOf(totals_, 0.5),
                                 .lower = QuantileOf(stretched_, 0.05),
                                 .upper = QuantileOf(stretched_, 0.95)};
    for (std::size_t i = 0; i < work_.size(); ++i) {
      estimate.stages.push_back({.start = QuantileOf(starts_[i], 0.5),
                                 .end = QuantileOf(ends_[i], 0.5),
                                 .is_expected_only = i >= outlooks_.seen});
    }
    return estimate;
  }

 private:
  void Prepare(std::size_t draw) {
    for (std::size_t i = 0; i < work_.size(); ++i) {
      rows_[i] = RowStart(draw, i);
      const TaskOutlook& outlook = outlooks_.tasks[i];
      const double u = SpreadOverDraws(draw, options_.draws, kFactorRows + i);
      const double own = outlook.deviation * model::NormalQuantile(u);
      const double shift = outlook.is_known ? kKnownShift : kUnknownShift;
      factors_[i] = std::exp(own - shift * outlook.deviation * outlook.deviation);
    }
  }

  // On the whole of what is left and not on each task: with few draws it would move the median,
  // too.
  double CommonFactor(std::size_t draw) const {
    return std::exp(options_.common_deviation *
                    model::NormalQuantile(SpreadOverDraws(draw, options_.draws, kCommonRow)));
  }

  double Remaining(std::size_t stage, std::size_t nth) const {
    const RunningTask& task = outlooks_.stages[stage].running[nth];
    const double u = RowNumber(rows_[stage], work_[stage].pending + nth);
    const double factor = factors_[stage];
    return outlooks_.tasks[stage].Of(task.warmth).Remaining(task.elapsed / factor, u) * factor;
  }

  // Work that nobody knows of yet. That the n-th submission was not the last has the odds 1 : n
  // (Laplace); if there is more, it is more than t with probability elapsed / (elapsed + t).
  double Growth(std::size_t draw) const {
    if (!options_.may_grow) return 0;
    const double more = 1 / (static_cast<double>(now_.jobs_seen) + 1);
    const double u = SpreadOverDraws(draw, options_.draws, kGrowthRow);
    return u < more ? now_.elapsed * (more / u - 1) : 0;
  }

  const Outlooks& outlooks_;
  const std::vector<StageWork>& work_;
  const WorkflowNow& now_;
  const EstimateOptions& options_;
  std::vector<double> rows_;
  std::vector<double> factors_;
  std::vector<double> totals_;
  std::vector<double> stretched_;  // by the common factor
  std::vector<std::vector<double>> starts_;
  std::vector<std::vector<double>> ends_;
};

// Back from the stage that ends last: each time to the parent that ended last.
void MarkCriticalPath(const std::vector<StageWork>& work, WorkflowEstimate& estimate) {
  const auto has_work = [&](std::size_t i) { return estimate.stages[i].end > 0; };
  std::optional<std::size_t> at;
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (has_work(i) && (!at || estimate.stages[i].end > estimate.stages[*at].end)) at = i;
  }
  while (at) {
    estimate.stages[*at].is_critical = true;
    estimate.critical_path.push_back(*at);
    std::optional<std::size_t> before;
    for (const std::size_t parent : work[*at].parents) {
      if (!has_work(parent) || estimate.stages[parent].is_critical) continue;
      if (!before || estimate.stages[parent].end > estimate.stages[*before].end) before = parent;
    }
    at = before;
  }
  std::reverse(estimate.critical_path.begin(), estimate.critical_path.end());
}

double KnownShare(const Outlooks& outlooks, const std::vector<StageWork>& work) {
  double known = 0;
  double all = 0;
  for (std::size_t i = 0; i < work.size(); ++i) {
    const double tasks = static_cast<double>(work[i].pending + work[i].running.size());
    const double seconds = tasks * outlooks.tasks[i].Of(Warmth::kRest).mean();
    all += seconds;
    known += outlooks.tasks[i].is_known ? seconds : 0;
  }
  return all > 0 ? known / all : 1;
}

}  // namespace

namespace {

bool KnowsAll(const Outlooks& outlooks, const std::vector<StageWork>& work) {
  for (std::size_t i = 0; i < work.size(); ++i) {
    const bool has_work = work[i].pending > 0 || !work[i].running.empty();
    if (has_work && !outlooks.tasks[i].is_known) return false;
  }
  return true;
}

// Moves the bounds, not the median, to where they would be if nothing at all were known of how the
// tasks of unknown stages compare with those of others.
void WidenForUnknown(Outlooks outlooks, const std::vector<StageWork>& work, const WorkflowNow& now,
                     const EstimateOptions& options, ListSimulation& simulation,
                     WorkflowEstimate& estimate) {
  for (TaskOutlook& outlook : outlooks.tasks) {
    if (!outlook.is_known) outlook.deviation = options.outlook.unknown_interval_deviation;
  }
  Drawing drawing(outlooks, work, now, options);
  drawing.Draw(simulation);
  const WorkflowEstimate wide = drawing.Result();
  estimate.lower = std::min(estimate.lower, wide.lower);
  estimate.upper = std::max(estimate.upper, wide.upper);
}

}  // namespace

absl::StatusOr<WorkflowEstimate> EstimateWorkflow(const WorkflowNow& now,
                                                  std::span<const WorkflowProfile* const> history,
                                                  const Resourcing& on,
                                                  const EstimateOptions& options) {
  if (options.draws == 0) return absl::InvalidArgumentError("an estimate needs a draw");
  const double slots = SlotsOf(WorkOf(now.stages), on);
  const Outlooks outlooks = OutlookBuilder(now, history, slots, options.outlook).Build();
  const std::vector<StageWork> work = WorkOf(outlooks.stages);
  absl::StatusOr<ListSimulation> simulation = ListSimulation::Create(work, on, now.warm_slots);
  if (!simulation.ok()) return simulation.status();
  Drawing drawing(outlooks, work, now, options);
  drawing.Draw(*simulation);
  WorkflowEstimate estimate = drawing.Result();
  estimate.known_share = KnownShare(outlooks, work);
  if (!KnowsAll(outlooks, work)) {
    WidenForUnknown(outlooks, work, now, options, *simulation, estimate);
  }
  MarkCriticalPath(work, estimate);
  return estimate;
}

}  // namespace tidemark::workflow
