#include "master/forecast/dag/adjusted_runs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "master/forecast/dag/job_estimate.h"
#include "master/forecast/dag/workflow_state.h"
#include "master/forecast/durations/combined_estimates.h"
#include "master/forecast/durations/parameters.h"
#include "master/forecast/durations/task_times.h"

namespace tidemark::dag {
namespace {

// Lower bound of an estimate, as a fraction of the smallest label. Chosen by hand.
constexpr double kLeastPart = 0.5;
// Upper bound of an estimate, as a multiple of the largest label. Chosen by hand.
constexpr double kMostTimes = 100;

}  // namespace

PositiveLine::PositiveLine(const std::vector<std::string>& features,
                           const std::vector<std::vector<double>>& rows,
                           std::vector<double> labels) {
  if (labels.empty()) return;
  const auto [least, most] = std::minmax_element(labels.begin(), labels.end());
  if (!(*least > 0) || !std::isfinite(*most)) return;
  floor_ = kLeastPart * *least;
  ceiling_ = kMostTimes * *most;
  if (*most < kAlike * *least) {
    double sum = 0;
    for (const double label : labels) sum += label;
    labels.assign(labels.size(), sum / static_cast<double>(labels.size()));
  }
  auto model = regression::LinearModel::Fit(features, rows, labels);
  if (!model.ok()) return;
  model_ = *std::move(model);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    counts_ &= std::abs(At(rows[i]).value - labels[i]) < 0.5;
  }
}

regression::Forecast PositiveLine::At(const std::vector<double>& row) const {
  regression::Forecast forecast = model_->Predict(row);
  if (!(forecast.value > floor_)) forecast.value = floor_;
  forecast.value = std::min(forecast.value, ceiling_);
  return forecast;
}

namespace {

using regression::Forecast;

// A feature of task times, in addition to the parameters.
constexpr const char* kBytesOfTask = "bytes per task";
constexpr const char* kSlots = "slots of the run";

}  // namespace

AdjustableRun SummaryOf(const PastRun& run, std::vector<double> values) {
  AdjustableRun seen = {.profile = &run, .values = std::move(values)};
  for (const PastStage& stage : run.stages) {
    if (stage.parents.empty() || !stage.fetches) seen.input_bytes += stage.read_bytes;
    WorkSummary& work = seen.works[WorkKey(stage.work, stage.name)];
    work.stages += 1;
    work.tasks += static_cast<double>(stage.tasks);
    work.read_bytes += stage.read_bytes;
    work.task_seconds += MeanTaskSeconds(stage) * static_cast<double>(stage.tasks);
  }
  for (auto& [key, work] : seen.works) {
    work.task_seconds /= std::max(work.tasks, 1.0);
    work.tasks /= work.stages;
    work.read_bytes /= work.stages;
  }
  return seen;
}

WorkModel::WorkModel(const std::string& work, const std::vector<std::string>& names,
                     const std::vector<AdjustableRun>& runs)
    : work_(work) {
  std::vector<std::vector<double>> rows, rows_of_times;
  std::vector<double> tasks, shares, seconds;
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const AdjustableRun& run : runs) {
    const auto seen = run.works.find(work);
    if (seen == run.works.end()) continue;
    least = std::min(least, seen->second.bytes_of_task());
    most = std::max(most, seen->second.bytes_of_task());
  }
  has_bytes_ = least > 0 && most > kAlike * least;
  for (const AdjustableRun& run : runs) {
    const auto seen = run.works.find(work);
    if (seen == run.works.end()) continue;
    rows.push_back(run.values);
    tasks.push_back(seen->second.tasks);
    shares.push_back(run.input_bytes > 0 ? seen->second.read_bytes / run.input_bytes : 0);
    rows_of_times.push_back(ForTimes(run.values, seen->second.bytes_of_task(), run));
    seconds.push_back(seen->second.task_seconds);
  }
  tasks_ = PositiveLine(names, rows, std::move(tasks));
  if (tasks_.counts()) tasks_.FallTo(1);
  shares_ = PositiveLine(names, rows, std::move(shares));
  std::vector<std::string> of_times = names;
  of_times.insert(of_times.end(), {kBytesOfTask, kSlots});
  seconds_ = PositiveLine(of_times, rows_of_times, std::move(seconds));
}

WorkFactors WorkModel::Now(const AdjustableRun& run, const std::vector<double>& asked,
                           double input) const {
  const auto seen = run.works.find(work_);
  if (seen == run.works.end()) return {};
  WorkFactors by = {.tasks = tasks_.Factor(run.values, asked),
                    .read_bytes = input * shares_.Factor(run.values, asked)};
  by.task_seconds = seconds_.Factor(ForTimes(run.values, seen->second.bytes_of_task(), run),
                                    TimesAsked(run, seen->second, by, asked));
  return by;
}

std::optional<Forecast> WorkModel::Tasks(const std::vector<double>& asked) const {
  if (!tasks_.moves()) return std::nullopt;
  Forecast tasks = tasks_.At(asked);
  if (tasks_.counts()) tasks.deviation = 0;
  return tasks;
}

std::optional<Forecast> WorkModel::Times(const AdjustableRun& run, const std::vector<double>& asked,
                                         double input) const {
  const auto seen = run.works.find(work_);
  if (seen == run.works.end() || !seconds_.is_known()) return std::nullopt;
  const WorkFactors by = Now(run, asked, input);
  Forecast times = seconds_.At(TimesAsked(run, seen->second, by, asked));
  // Each run keeps its own bytes and slots, so these features need no remark.
  for (std::vector<std::string>* named : {&times.beyond, &times.never_varied}) {
    std::erase(*named, kBytesOfTask);
    std::erase(*named, kSlots);
  }
  // If no parameter changes the times, the error is the scatter of the runs.
  if (by.task_seconds == 1 && times.never_varied.empty()) times.deviation = 0;
  return times;
}

std::vector<double> WorkModel::ForTimes(std::vector<double> values, double bytes,
                                        const AdjustableRun& run) const {
  values.insert(values.end(), {has_bytes_ ? bytes : 0, run.profile->slots});
  return values;
}

std::vector<double> WorkModel::TimesAsked(const AdjustableRun& run, const WorkSummary& seen,
                                          const WorkFactors& by,
                                          const std::vector<double>& asked) const {
  return ForTimes(asked, seen.bytes_of_task() * by.read_bytes / by.tasks, run);
}

namespace {

using durations::Features;
using durations::Parameters;
using regression::Forecast;

// Limits the predicted number of tasks of one stage.
constexpr double kTasksMax = 1e6;
// Deviation of ln(time) if the influence of a changed parameter is unknown. Chosen by hand.
constexpr double kUnknownInfluence = 0.5;
// Limits memory and processor time, which grow with the number of features of all kinds of work.
constexpr std::size_t kFeaturesMax = 200'000;
// Maximum number of parameters that a remark names.
constexpr std::size_t kNamedMax = 8;

std::string Listed(const std::set<std::string>& names) {
  const auto end = std::next(names.begin(), std::min(names.size(), kNamedMax));
  std::string listed = absl::StrJoin(names.begin(), end, ", ");
  if (names.size() > kNamedMax)
    absl::StrAppend(&listed, " and ", names.size() - kNamedMax, " more");
  return listed;
}

// Returns the index of the run with the nearest parameters. Differences are relative to the range
// of all runs and `asked`, on a logarithmic scale.
std::size_t NearestTo(const std::vector<double>& asked, const std::vector<AdjustableRun>& runs) {
  const auto level = [](double value) {
    return std::copysign(std::log2(1 + std::abs(value)), value);
  };
  std::vector<double> away(runs.size());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    double least = level(asked[i]);
    double most = least;
    for (const AdjustableRun& run : runs) {
      least = std::min(least, level(run.values[i]));
      most = std::max(most, level(run.values[i]));
    }
    if (!(most > least)) continue;
    for (std::size_t r = 0; r < runs.size(); ++r) {
      const double part = (level(runs[r].values[i]) - level(asked[i])) / (most - least);
      away[r] += part * part;
    }
  }
  return static_cast<std::size_t>(std::min_element(away.begin(), away.end()) - away.begin());
}

class RunAdjuster {
 public:
  RunAdjuster(std::vector<const PastRun*> history, const Parameters& asked)
      : parameters_(ParametersOf(history)), features_(FeaturesOf(parameters_)), asked_(asked) {
    for (const PastRun* profile : history) {
      runs_.push_back(SummaryOf(*profile, features_.ValuesOf(profile->parameters)));
    }
    values_ = features_.ValuesOf(asked);
    unknown_ = features_.Unknown(asked);
    never_varied_.insert(unknown_.begin(), unknown_.end());
  }

  AdjustedRuns AdjustRuns() {
    if (!Learn()) return {};
    const std::size_t nearest = NearestTo(values_, runs_);
    adjusted_.runs.push_back(Repeated(Now(runs_[nearest])));
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      if (r != nearest) adjusted_.runs.push_back(Now(runs_[r]));
    }
    FindDeviations(nearest);
    adjusted_.remark = Remark();
    return std::move(adjusted_);
  }

 private:
  static std::vector<Parameters> ParametersOf(const std::vector<const PastRun*>& history) {
    std::vector<Parameters> parameters;
    for (const PastRun* run : history) parameters.push_back(run->parameters);
    return parameters;
  }
  // A missing parameter has the value of the last run, so the newest run must come last.
  static Features FeaturesOf(std::vector<Parameters> parameters) {
    std::reverse(parameters.begin(), parameters.end());
    return Features(parameters);
  }

  // Fits the models. Returns false if there are too many kinds of work and features.
  bool Learn() {
    std::set<std::string> works;
    for (const AdjustableRun& run : runs_) {
      for (const auto& [work, seen] : run.works) works.insert(work);
    }
    if (works.size() * features_.names().size() > kFeaturesMax) return false;
    for (const std::string& work : works) {
      models_.try_emplace(work, work, features_.names(), runs_);
    }
    std::vector<std::vector<double>> rows;
    std::vector<double> inputs;
    for (const AdjustableRun& run : runs_) {
      rows.push_back(run.values);
      inputs.push_back(run.input_bytes);
    }
    input_ = PositiveLine(features_.names(), rows, std::move(inputs));
    return true;
  }

  double InputOf(const AdjustableRun& run) const { return input_.Factor(run.values, values_); }

  PastRun Now(const AdjustableRun& run) const {
    PastRun now = *run.profile;
    now.parameters = asked_;
    std::map<std::string, WorkFactors> of_work;
    for (const auto& [work, seen] : run.works) {
      of_work[work] = models_.at(work).Now(run, values_, InputOf(run));
    }
    for (PastStage& stage : now.stages) {
      const WorkFactors& by = of_work.at(WorkKey(stage.work, stage.name));
      const double tasks = std::round(static_cast<double>(stage.tasks) * by.tasks);
      const auto count = static_cast<std::uint64_t>(std::clamp(tasks, 1.0, kTasksMax));
      // The indexes of long tasks are valid only for the same number of tasks.
      if (count != stage.tasks) stage.long_tasks.clear();
      stage.tasks = count;
      stage.read_bytes *= by.read_bytes;
      for (auto& seconds : stage.seconds) {
        for (double& time : seconds) time *= by.task_seconds;
      }
      for (LongTask& task : stage.long_tasks) task.more_seconds *= by.task_seconds;
      stage.fetch_seconds *= by.task_seconds;
    }
    return now;
  }

  PastRun Repeated(PastRun run) {
    const std::vector<durations::RepeatedStage> repeated =
        durations::Repeated(StagesOf(run), Counts());
    // Limits the number of task times, so that the run passes CanBeKept().
    const std::size_t times_max =
        std::max<std::size_t>(PastRun::kTaskTimesMax / (kWarmths * repeated.size()), 1);
    std::vector<PastStage> stages;
    for (const durations::RepeatedStage& stage : repeated) {
      PastStage& now = stages.emplace_back(run.stages[stage.like]);
      now.parents = stage.after;
      if (stage.turns_later == 0) continue;
      // The stage's signature is unknown, so it is recognised by its work (MatchStages()).
      if (now.title.empty()) now.title = now.name;
      now.name.clear();
      for (auto& seconds : now.seconds) {
        seconds = durations::EvenlyChosen(std::move(seconds), times_max);
      }
    }
    run.stages = std::move(stages);
    return run;
  }

  static std::vector<durations::RepeatableStage> StagesOf(const PastRun& run) {
    std::vector<durations::RepeatableStage> stages;
    for (const PastStage& stage : run.stages) stages.push_back({stage.work, stage.parents});
    return stages;
  }

  // Returns the number of stages of each kind of work whose number the parameters change.
  std::map<std::uint64_t, std::uint32_t> Counts() {
    std::vector<durations::StageCounts> seen;
    for (const AdjustableRun& run : runs_) {
      durations::StageCounts& counts = seen.emplace_back();
      for (const PastStage& stage : run.profile->stages) {
        if (stage.work != 0) ++counts[stage.work];
      }
    }
    std::map<std::uint64_t, std::uint32_t> counts;
    const auto model = durations::RepetitionModel::Learn(parameters_, seen);
    if (!model.ok()) return counts;
    const auto forecasts = model->Predict(asked_);
    const std::set<std::uint64_t> inexact = Inexact(*model, seen);
    for (const auto& [work, choices] : model->workflow_controls()) {
      const Forecast& forecast = forecasts.at(work);
      if (!std::isfinite(forecast.value)) continue;
      counts[work] = static_cast<std::uint32_t>(
          std::clamp(forecast.value, 1.0, static_cast<double>(durations::kRepeatedStagesMax)));
      const bool is_determined = unknown_.empty() && !inexact.contains(work);
      repeats_[WorkKey(work, "")] = is_determined ? 0 : RelativeDeviation(forecast);
      Name(forecast);
    }
    return counts;
  }

  // Returns the kinds of work whose number of stages the parameters do not determine, such as
  // iterations until convergence.
  std::set<std::uint64_t> Inexact(const durations::RepetitionModel& model,
                                  const std::vector<durations::StageCounts>& seen) const {
    std::set<std::uint64_t> works;
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      for (const auto& [work, forecast] : model.Predict(parameters_[r])) {
        const auto count = seen[r].find(work);
        const double ran = count == seen[r].end() ? 0 : count->second;
        if (forecast.value != ran) works.insert(work);
      }
    }
    return works;
  }

  double RelativeDeviation(const Forecast& forecast) const {
    double deviation = forecast.value > 0 ? forecast.deviation / forecast.value : 1;
    if (!unknown_.empty()) deviation = std::max(2 * deviation, kUnknownInfluence);
    return deviation < durations::kUnknownDeviation ? deviation : durations::kUnknownDeviation;
  }

  void Name(const Forecast& forecast) {
    beyond_.insert(forecast.beyond.begin(), forecast.beyond.end());
    never_varied_.insert(forecast.never_varied.begin(), forecast.never_varied.end());
  }

  void FindDeviations(std::size_t nearest) {
    std::map<std::string, double> work_seconds;
    double all = 0;
    for (const PastStage& stage : adjusted_.runs.front().stages) {
      const double seconds = MeanTaskSeconds(stage) * static_cast<double>(stage.tasks);
      work_seconds[WorkKey(stage.work, stage.name)] += seconds;
      all += seconds;
    }
    for (const auto& [work, model] : models_) {
      const auto times = model.Times(runs_[nearest], values_, InputOf(runs_[nearest]));
      if (!times) continue;
      Name(*times);
      double deviation = RelativeDeviation(*times);
      if (const auto tasks = model.Tasks(values_)) {
        Name(*tasks);
        deviation = std::min(std::hypot(deviation, RelativeDeviation(*tasks)),
                             durations::kUnknownDeviation);
      }
      if (deviation > 0) adjusted_.deviations[work] = deviation;
    }
    for (const auto& [work, deviation] : repeats_) {
      if (all > 0) adjusted_.repeats_deviation += deviation * work_seconds[work] / all;
    }
  }

  std::string Remark() const {
    std::vector<std::string> remarks;
    if (!beyond_.empty()) {
      remarks.push_back(
          absl::StrCat("parameters outside the range of past runs: ", Listed(beyond_)));
    }
    if (!never_varied_.empty()) {
      remarks.push_back(absl::StrCat("no past run shows the effect of these parameters: ",
                                     Listed(never_varied_)));
    }
    return absl::StrJoin(remarks, "; ");
  }

  std::vector<Parameters> parameters_;
  Features features_;
  const Parameters& asked_;
  std::vector<AdjustableRun> runs_;
  PositiveLine input_;  // input bytes of a run
  std::map<std::string, WorkModel> models_;
  std::vector<double> values_;  // the new values of the parameters
  std::vector<std::string> unknown_;
  std::map<std::string, double> repeats_;  // relative deviation of each count
  std::set<std::string> beyond_;
  std::set<std::string> never_varied_;
  AdjustedRuns adjusted_;
};

}  // namespace

AdjustedRuns AdjustRuns(std::span<const PastRun* const> history,
                        const durations::Parameters& asked) {
  std::vector<const PastRun*> usable;
  bool is_other = false;
  for (const PastRun* run : history) {
    if (run->parameters.empty() || run->stages.empty()) continue;
    usable.push_back(run);
    is_other |= run->parameters != asked;
  }
  if (asked.empty() || usable.size() < kAdjustRunsMin || !is_other) return {};
  return RunAdjuster(std::move(usable), asked).AdjustRuns();
}

void SetDeviations(const AdjustedRuns& adjusted, std::vector<StageNow>& stages) {
  for (StageNow& stage : stages) {
    const auto deviation = adjusted.deviations.find(WorkKey(stage.work, stage.name));
    if (deviation != adjusted.deviations.end()) stage.adjusted_deviation = deviation->second;
  }
}

}  // namespace tidemark::dag
