#include "master/workflow/foretold_runs.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "master/cost/opinions.h"
#include "master/cost/time_distribution.h"
#include "master/gray_box/linear_model.h"
#include "master/gray_box/repeated_stages.h"
#include "master/gray_box/white_box.h"
#include "master/workflow/expected_job.h"
#include "master/workflow/match_stages.h"

namespace tidemark::workflow {
namespace {

using gray_box::Features;
using gray_box::Forecast;
using gray_box::LinearModel;
using gray_box::Parameters;

// Runs of the same work differ by about as much (kCommonDeviation): no parameter is to explain it.
constexpr double kAlike = 1.1;
// A line that falls below this part of the least that was seen is not believed. Taste.
constexpr double kLeastPart = 0.5;
// Nor one that rises above so many times the most. Taste.
constexpr double kMostTimes = 100;
// More are not expected of one stage.
constexpr double kTasksMax = 1e6;
// Of the log of a time, where a parameter changes whose influence no run shows. Taste.
constexpr double kUnknownInfluence = 0.5;
// Of all works together: limits memory and processor time, which grow with both.
constexpr std::size_t kFeaturesMax = 200'000;
// So many parameters are named, of each remark.
constexpr std::size_t kNamedMax = 8;

// Of all stages of one work in one run, their means.
struct WorkSeen {
  double stages = 0;
  double tasks = 0;
  double read_bytes = 0;
  double task_seconds = 0;
  double bytes_of_task() const { return tasks > 0 ? read_bytes / tasks : 0; }
};

using WorksSeen = std::map<std::string, WorkSeen>;

WorksSeen WorksOf(const RunProfile& run) {
  WorksSeen works;
  for (const StageProfile& stage : run.stages) {
    WorkSeen& seen = works[WorkKey(stage.work, stage.name)];
    seen.stages += 1;
    seen.tasks += static_cast<double>(stage.tasks);
    seen.read_bytes += stage.read_bytes;
    seen.task_seconds += MeanTaskSeconds(stage) * static_cast<double>(stage.tasks);
  }
  for (auto& [work, seen] : works) {
    seen.task_seconds /= std::max(seen.tasks, 1.0);
    seen.tasks /= seen.stages;
    seen.read_bytes /= seen.stages;
  }
  return works;
}

// Of all stages that read no other's output.
double InputBytes(const RunProfile& run) {
  double bytes = 0;
  for (const StageProfile& stage : run.stages) {
    if (stage.parents.empty() || !stage.fetches) bytes += stage.read_bytes;
  }
  return bytes;
}

// A line through what runs showed, which stays among positive numbers.
class PositiveLine {
 public:
  PositiveLine() = default;
  PositiveLine(const std::vector<std::string>& features,
               const std::vector<std::vector<double>>& rows, std::vector<double> labels) {
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
    auto model = LinearModel::Fit(features, rows, labels);
    if (!model.ok()) return;
    model_ = *std::move(model);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      counts_ &= std::abs(At(rows[i]).value - labels[i]) < 0.5;
    }
  }

  bool is_known() const { return model_.has_value(); }
  // Whether it goes through all whole numbers: these were told, not found out.
  bool counts() const { return counts_; }
  // What it may fall to, in place of half of the least.
  void FallTo(double floor) { floor_ = floor; }
  bool moves() const { return model_ && !model_->choices().empty(); }
  Forecast At(const std::vector<double>& row) const {
    Forecast forecast = model_->Predict(row);
    if (!(forecast.value > floor_)) forecast.value = floor_;
    forecast.value = std::min(forecast.value, ceiling_);
    return forecast;
  }
  // By what one is to be multiplied to become the other; 1: not known, or nothing moves it.
  double Factor(const std::vector<double>& then, const std::vector<double>& now) const {
    return moves() ? At(now).value / At(then).value : 1;
  }

 private:
  std::optional<LinearModel> model_;
  bool counts_ = true;
  double floor_ = 0;
  double ceiling_ = 0;
};

std::string Listed(const std::set<std::string>& names) {
  const auto end = std::next(names.begin(), std::min(names.size(), kNamedMax));
  std::string listed = absl::StrJoin(names.begin(), end, ", ");
  if (names.size() > kNamedMax)
    absl::StrAppend(&listed, " and ", names.size() - kNamedMax, " more");
  return listed;
}

struct Run {
  const RunProfile* profile = nullptr;
  std::vector<double> values;  // of the parameters
  double input_bytes = 0;
  WorksSeen works;
};

struct Multiplied {
  double tasks = 1;
  double read_bytes = 1;
  double task_seconds = 1;
};

// What runs show of the stages of one work.
class WorkModel {
 public:
  WorkModel(const std::string& work, const std::vector<std::string>& names,
            const std::vector<Run>& runs)
      : work_(work) {
    std::vector<std::vector<double>> told, told_of_times;
    std::vector<double> tasks, shares, seconds;
    double least = std::numeric_limits<double>::infinity();
    double most = 0;
    for (const Run& run : runs) {
      const auto seen = run.works.find(work);
      if (seen == run.works.end()) continue;
      least = std::min(least, seen->second.bytes_of_task());
      most = std::max(most, seen->second.bytes_of_task());
    }
    has_bytes_ = least > 0 && most > kAlike * least;
    for (const Run& run : runs) {
      const auto seen = run.works.find(work);
      if (seen == run.works.end()) continue;
      told.push_back(run.values);
      tasks.push_back(seen->second.tasks);
      shares.push_back(run.input_bytes > 0 ? seen->second.read_bytes / run.input_bytes : 0);
      told_of_times.push_back(ForTimes(run.values, seen->second.bytes_of_task(), run));
      seconds.push_back(seen->second.task_seconds);
    }
    tasks_ = PositiveLine(names, told, std::move(tasks));
    if (tasks_.counts()) tasks_.FallTo(1);
    shares_ = PositiveLine(names, told, std::move(shares));
    std::vector<std::string> of_times = names;
    of_times.insert(of_times.end(), {kBytesOfTask, kSlots});
    seconds_ = PositiveLine(of_times, told_of_times, std::move(seconds));
  }

  // `input`: what the input of the run is multiplied by.
  Multiplied Now(const Run& run, const std::vector<double>& asked, double input) const {
    const auto seen = run.works.find(work_);
    if (seen == run.works.end()) return {};
    Multiplied by = {.tasks = tasks_.Factor(run.values, asked),
                     .read_bytes = input * shares_.Factor(run.values, asked)};
    by.task_seconds = seconds_.Factor(ForTimes(run.values, seen->second.bytes_of_task(), run),
                                      TimesAsked(run, seen->second, by, asked));
    return by;
  }

  // How many tasks a stage has, where a parameter moves that.
  std::optional<Forecast> Tasks(const std::vector<double>& asked) const {
    if (!tasks_.moves()) return std::nullopt;
    Forecast tasks = tasks_.At(asked);
    if (tasks_.counts()) tasks.deviation = 0;
    return tasks;
  }

  // Of what a task takes in a run like that; no value: nothing is known of it.
  std::optional<Forecast> Times(const Run& run, const std::vector<double>& asked,
                                double input) const {
    const auto seen = run.works.find(work_);
    if (seen == run.works.end() || !seconds_.is_known()) return std::nullopt;
    const Multiplied by = Now(run, asked, input);
    Forecast times = seconds_.At(TimesAsked(run, seen->second, by, asked));
    // Of these every run is taken at its own.
    for (std::vector<std::string>* named : {&times.beyond, &times.never_varied}) {
      std::erase(*named, kBytesOfTask);
      std::erase(*named, kSlots);
    }
    // Where the run is taken as it was, runs show how far it may be off.
    if (by.task_seconds == 1 && times.never_varied.empty()) times.deviation = 0;
    return times;
  }

 private:
  // Beside the parameters.
  static constexpr const char* kBytesOfTask = "bytes of a task";
  static constexpr const char* kSlots = "slots of the run";

  std::vector<double> ForTimes(std::vector<double> values, double bytes, const Run& run) const {
    values.insert(values.end(), {has_bytes_ ? bytes : 0, run.profile->slots});
    return values;
  }
  std::vector<double> TimesAsked(const Run& run, const WorkSeen& seen, const Multiplied& by,
                                 const std::vector<double>& asked) const {
    return ForTimes(asked, seen.bytes_of_task() * by.read_bytes / by.tasks, run);
  }

  std::string work_;
  bool has_bytes_ = false;  // in all runs, and not always the same
  PositiveLine tasks_;
  PositiveLine shares_;  // read of each byte of input
  PositiveLine seconds_;
};

// Differences as parts of what all runs and what is asked span, numbers as powers of two.
std::size_t NearestTo(const std::vector<double>& asked, const std::vector<Run>& runs) {
  const auto level = [](double value) {
    return std::copysign(std::log2(1 + std::abs(value)), value);
  };
  std::vector<double> away(runs.size());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    double least = level(asked[i]);
    double most = least;
    for (const Run& run : runs) {
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

class Foretelling {
 public:
  Foretelling(std::vector<const RunProfile*> history, const Parameters& asked)
      : told_(ParametersOf(history)), features_(FeaturesOf(told_)), asked_(asked) {
    for (const RunProfile* profile : history) {
      runs_.push_back({.profile = profile,
                       .values = features_.ValuesOf(profile->parameters),
                       .input_bytes = InputBytes(*profile),
                       .works = WorksOf(*profile)});
    }
    values_ = features_.ValuesOf(asked);
    unknown_ = features_.Unknown(asked);
    never_varied_.insert(unknown_.begin(), unknown_.end());
  }

  ForetoldRuns Foretell() {
    if (!Learn()) return {};
    const std::size_t nearest = NearestTo(values_, runs_);
    foretold_.runs.push_back(Repeated(Now(runs_[nearest])));
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      if (r != nearest) foretold_.runs.push_back(Now(runs_[r]));
    }
    FindDeviations(nearest);
    foretold_.remark = Remark();
    return std::move(foretold_);
  }

 private:
  static std::vector<Parameters> ParametersOf(const std::vector<const RunProfile*>& history) {
    std::vector<Parameters> told;
    for (const RunProfile* run : history) told.push_back(run->parameters);
    return told;
  }
  // What is not said counts as in the newest run, which is to be the last for that.
  static Features FeaturesOf(std::vector<Parameters> told) {
    std::reverse(told.begin(), told.end());
    return Features(told);
  }

  // False: there is too much for it.
  bool Learn() {
    std::set<std::string> works;
    for (const Run& run : runs_) {
      for (const auto& [work, seen] : run.works) works.insert(work);
    }
    if (works.size() * features_.names().size() > kFeaturesMax) return false;
    for (const std::string& work : works) {
      models_.try_emplace(work, work, features_.names(), runs_);
    }
    std::vector<std::vector<double>> rows;
    std::vector<double> inputs;
    for (const Run& run : runs_) {
      rows.push_back(run.values);
      inputs.push_back(run.input_bytes);
    }
    input_ = PositiveLine(features_.names(), rows, std::move(inputs));
    return true;
  }

  double InputOf(const Run& run) const { return input_.Factor(run.values, values_); }

  RunProfile Now(const Run& run) const {
    RunProfile now = *run.profile;
    now.parameters = asked_;
    std::map<std::string, Multiplied> of_work;
    for (const auto& [work, seen] : run.works) {
      of_work[work] = models_.at(work).Now(run, values_, InputOf(run));
    }
    for (StageProfile& stage : now.stages) {
      const Multiplied& by = of_work.at(WorkKey(stage.work, stage.name));
      const double tasks = std::round(static_cast<double>(stage.tasks) * by.tasks);
      const auto count = static_cast<std::uint64_t>(std::clamp(tasks, 1.0, kTasksMax));
      // Which task is the long one is known of as many tasks alone.
      if (count != stage.tasks) stage.long_tasks.clear();
      stage.tasks = count;
      stage.read_bytes *= by.read_bytes;
      for (auto& seconds : stage.seconds) {
        for (double& time : seconds) time *= by.task_seconds;
      }
      for (LongTask& task : stage.long_tasks) task.more_seconds *= by.task_seconds;
    }
    return now;
  }

  RunProfile Repeated(RunProfile run) {
    const std::vector<gray_box::RepeatedStage> repeated =
        gray_box::Repeated(StagesOf(run), Counts());
    // As many times of each as fit into a run that is kept.
    const std::size_t times_max =
        std::max<std::size_t>(RunProfile::kTaskTimesMax / (kWarmths * repeated.size()), 1);
    std::vector<StageProfile> stages;
    for (const gray_box::RepeatedStage& stage : repeated) {
      StageProfile& now = stages.emplace_back(run.stages[stage.like]);
      now.parents = stage.after;
      if (stage.turns_later == 0) continue;
      // Its signature is not known: it is recognised by its work (match_stages.h).
      if (now.title.empty()) now.title = now.name;
      now.name.clear();
      for (auto& seconds : now.seconds) {
        seconds = cost::EvenlyChosen(std::move(seconds), times_max);
      }
    }
    run.stages = std::move(stages);
    return run;
  }

  static std::vector<gray_box::RanStage> StagesOf(const RunProfile& run) {
    std::vector<gray_box::RanStage> stages;
    for (const StageProfile& stage : run.stages) stages.push_back({stage.work, stage.parents});
    return stages;
  }

  // How often stages of each work will run, of those that parameters are seen to change.
  std::map<std::uint64_t, std::uint32_t> Counts() {
    std::vector<gray_box::StageCounts> seen;
    for (const Run& run : runs_) {
      gray_box::StageCounts& counts = seen.emplace_back();
      for (const StageProfile& stage : run.profile->stages) {
        if (stage.work != 0) ++counts[stage.work];
      }
    }
    std::map<std::uint64_t, std::uint32_t> counts;
    const auto model = gray_box::RepetitionModel::Learn(told_, seen);
    if (!model.ok()) return counts;
    const auto forecasts = model->Predict(asked_);
    const std::set<std::uint64_t> inexact = Inexact(*model, seen);
    for (const auto& [work, choices] : model->workflow_controls()) {
      const Forecast& forecast = forecasts.at(work);
      if (!std::isfinite(forecast.value)) continue;
      counts[work] = static_cast<std::uint32_t>(
          std::clamp(forecast.value, 1.0, static_cast<double>(gray_box::kRepeatedStagesMax)));
      const bool is_told = unknown_.empty() && !inexact.contains(work);
      repeats_[WorkKey(work, "")] = is_told ? 0 : RelativeDeviation(forecast);
      Name(forecast);
    }
    return counts;
  }

  // Works whose number is found out rather than told, as that of iterations is.
  std::set<std::uint64_t> Inexact(const gray_box::RepetitionModel& model,
                                  const std::vector<gray_box::StageCounts>& seen) const {
    std::set<std::uint64_t> works;
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      for (const auto& [work, forecast] : model.Predict(told_[r])) {
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
    return deviation < cost::kUnknownDeviation ? deviation : cost::kUnknownDeviation;
  }

  void Name(const Forecast& forecast) {
    beyond_.insert(forecast.beyond.begin(), forecast.beyond.end());
    never_varied_.insert(forecast.never_varied.begin(), forecast.never_varied.end());
  }

  void FindDeviations(std::size_t nearest) {
    std::map<std::string, double> work_seconds;
    double all = 0;
    for (const StageProfile& stage : foretold_.runs.front().stages) {
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
        deviation =
            std::min(std::hypot(deviation, RelativeDeviation(*tasks)), cost::kUnknownDeviation);
      }
      if (deviation > 0) foretold_.deviations[work] = deviation;
    }
    for (const auto& [work, deviation] : repeats_) {
      if (all > 0) foretold_.repeats_deviation += deviation * work_seconds[work] / all;
    }
  }

  std::string Remark() const {
    std::vector<std::string> remarks;
    if (!beyond_.empty()) {
      remarks.push_back(absl::StrCat("parameters beyond those of earlier runs: ", Listed(beyond_)));
    }
    if (!never_varied_.empty()) {
      remarks.push_back(
          absl::StrCat("no earlier run shows what these parameters do: ", Listed(never_varied_)));
    }
    return absl::StrJoin(remarks, "; ");
  }

  std::vector<Parameters> told_;
  Features features_;
  const Parameters& asked_;
  std::vector<Run> runs_;
  PositiveLine input_;  // bytes of a run
  std::map<std::string, WorkModel> models_;
  std::vector<double> values_;  // of what is asked
  std::vector<std::string> unknown_;
  std::map<std::string, double> repeats_;  // relative deviations of counts
  std::set<std::string> beyond_;
  std::set<std::string> never_varied_;
  ForetoldRuns foretold_;
};

}  // namespace

ForetoldRuns Foretell(std::span<const RunProfile* const> history,
                      const gray_box::Parameters& asked) {
  std::vector<const RunProfile*> told;
  bool is_other = false;
  for (const RunProfile* run : history) {
    if (run->parameters.empty() || run->stages.empty()) continue;
    told.push_back(run);
    is_other |= run->parameters != asked;
  }
  if (asked.empty() || told.size() < kForetellFrom || !is_other) return {};
  return Foretelling(std::move(told), asked).Foretell();
}

void NoteDeviations(const ForetoldRuns& foretold, std::vector<StageNow>& stages) {
  for (StageNow& stage : stages) {
    const auto deviation = foretold.deviations.find(WorkKey(stage.work, stage.name));
    if (deviation != foretold.deviations.end()) stage.foretold_deviation = deviation->second;
  }
}

}  // namespace tidemark::workflow
