#include "master/forecast/dag/foretold_runs.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "master/forecast/dag/expected_job.h"
#include "master/forecast/dag/match_stages.h"
#include "master/forecast/dag/positive_line.h"
#include "master/forecast/dag/work_model.h"
#include "master/forecast/durations/opinions.h"
#include "master/forecast/durations/repeated_stages.h"
#include "master/forecast/durations/time_distribution.h"
#include "master/forecast/durations/white_box.h"

namespace tidemark::workflow {
namespace {

using gray_box::Features;
using gray_box::Forecast;
using gray_box::Parameters;

// More are not expected of one stage.
constexpr double kTasksMax = 1e6;
// Of the log of a time, where a parameter changes whose influence no run shows. Taste.
constexpr double kUnknownInfluence = 0.5;
// Of all works together: limits memory and processor time, which grow with both.
constexpr std::size_t kFeaturesMax = 200'000;
// So many parameters are named, of each remark.
constexpr std::size_t kNamedMax = 8;

std::string Listed(const std::set<std::string>& names) {
  const auto end = std::next(names.begin(), std::min(names.size(), kNamedMax));
  std::string listed = absl::StrJoin(names.begin(), end, ", ");
  if (names.size() > kNamedMax)
    absl::StrAppend(&listed, " and ", names.size() - kNamedMax, " more");
  return listed;
}

// Differences as parts of what all runs and what is asked span, numbers as powers of two.
std::size_t NearestTo(const std::vector<double>& asked, const std::vector<SeenRun>& runs) {
  const auto level = [](double value) {
    return std::copysign(std::log2(1 + std::abs(value)), value);
  };
  std::vector<double> away(runs.size());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    double least = level(asked[i]);
    double most = least;
    for (const SeenRun& run : runs) {
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
      runs_.push_back(SeenIn(*profile, features_.ValuesOf(profile->parameters)));
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
    for (const SeenRun& run : runs_) {
      for (const auto& [work, seen] : run.works) works.insert(work);
    }
    if (works.size() * features_.names().size() > kFeaturesMax) return false;
    for (const std::string& work : works) {
      models_.try_emplace(work, work, features_.names(), runs_);
    }
    std::vector<std::vector<double>> rows;
    std::vector<double> inputs;
    for (const SeenRun& run : runs_) {
      rows.push_back(run.values);
      inputs.push_back(run.input_bytes);
    }
    input_ = PositiveLine(features_.names(), rows, std::move(inputs));
    return true;
  }

  double InputOf(const SeenRun& run) const { return input_.Factor(run.values, values_); }

  RunProfile Now(const SeenRun& run) const {
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
    for (const SeenRun& run : runs_) {
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
  std::vector<SeenRun> runs_;
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
