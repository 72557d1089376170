#include "whatif/phases/many_runs.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "absl/status/status.h"
#include "whatif/phases/task.h"

namespace tidemark::phases {
namespace {

// Lower limit of a modelled time, since a task has to start.
constexpr double kTaskSecondsMin = 1e-3;
// Upper limit of an estimated time: three years.
constexpr double kTaskSecondsMax = 1e8;
// Upper limit of the deviation of ln(total). A larger deviation carries no information.
constexpr double kDeviationMax = 3;
// Deviation of a run without known stages. Chosen by hand.
constexpr double kUnknownRunDeviation = 0.5;
// Resolution of Spark's clock, for launch and end together.
constexpr double kTwoClockReadingsSeconds = 2e-3;
// Variation of a lag due to other work of the driver, with the same settings. Shorter lags are
// ignored.
constexpr double kLagNoiseSeconds = 0.2;
// The smallest share of the time for which an undetermined cost is reported.
constexpr double kReportedShareOfRun = 0.02;
// Deviation of ln(total) for each doubling of executors or cores beyond the range of all runs. It
// is a constant, since a deviation learnt from a narrow range is unbounded. On 48 answers of stage
// tables, 0.15 gives the same coverage with bounds that are 6 % wider.
constexpr double kHeldDeviation = 0.08;
// Equal amounts of data differ by less than this factor. They are rarely equal to the byte.
constexpr double kSameDataFactor = 1.02;

bool ReadsOnlyInput(const Stage& stage) {
  return stage.shape.reads_input && !stage.shape.reads_shuffle;
}

bool AreThoseOfSql(double tasks, const Settings& settings) {
  return tasks > 1 && tasks == settings.sql_partitions;
}

bool AreThoseOfOthers(double tasks, const Settings& settings) {
  return tasks > 1 && tasks == settings.default_partitions;
}

double Partitions(double tasks, const Settings& from, const Settings& to) {
  if (AreThoseOfSql(tasks, from)) return to.sql_partitions;
  if (AreThoseOfOthers(tasks, from) && to.default_partitions > 0) return to.default_partitions;
  return tasks;
}

// Multiplies the number of tasks without changing the tasks.
void Multiply(double factor, StageSize& size) {
  size.tasks = std::round(size.tasks * factor);
  size.intermediate.records *= factor;
  size.intermediate.bytes *= factor;
}

Binding BindingOf(Cost cost) {
  switch (cost) {
    case Cost::kInputRead:
    case Cost::kOutputWrite:
    case Cost::kLocalRead:
    case Cost::kLocalWrite:
      return Binding::kDisk;
    case Cost::kNetwork:
      return Binding::kNetwork;
    case Cost::kSetup:
    case Cost::kCleanup:
      return Binding::kTaskStarts;
    default:
      return Binding::kProcessor;
  }
}

// Returns the features of a task for the black box.
gray_box::TaskResources ResourcesOf(const Stage& stage, const Settings& settings) {
  const StageSize& size = stage.size;
  return {.partition_bytes = size.split_bytes + size.intermediate.bytes / std::max(size.tasks, 1.0),
          .executor_cores = settings.tasks_at_once(),
          .memory_bytes = SpillBufferBytes(settings, size.cached_bytes)};
}

}  // namespace

const char* NameOf(Binding binding) {
  switch (binding) {
    case Binding::kDisk:
      return "disk";
    case Binding::kNetwork:
      return "network";
    case Binding::kTaskStarts:
      return "task starts";
    case Binding::kProcessor:
      break;
  }
  return "processor";
}

ManyRuns::Times ManyRuns::TimesOf(const PastStage& ran) {
  Times times{};
  std::array<double, kTimes> counts{};
  for (const TaskCounters& task : ran.tasks) {
    const Time time = task.is_fresh ? kFresh : kWarm;
    times[time] += task.seconds;
    counts[time] += 1;
  }
  for (const Time time : {kFresh, kWarm}) times[time] /= std::max(counts[time], 1.0);
  times[kLag] = ran.lag_seconds;
  return times;
}

double& ManyRuns::SecondsOf(StageEstimate& stage, Time time) {
  switch (time) {
    case kFresh:
      return stage.fresh_task_seconds;
    case kWarm:
      return stage.task_seconds;
    case kLag:
      break;
  }
  return stage.lag_seconds;
}

void ManyRuns::FillDataBytes() {
  if (runs_[0].data_bytes > 0) return;
  for (Run& run : runs_) run.data_bytes = 1;
}

void ManyRuns::LearnLags() {
  mean_lags_.resize(has_time_.size());
  std::vector<double> counts(has_time_.size());
  std::vector<bool> waits_always(has_time_.size(), true);
  for (const Run& run : runs_) {
    for (const KnownStage& known : run.stages) {
      if (!known.is_known()) continue;
      if (!(known.times[kLag] > kLagNoiseSeconds)) waits_always[known.id] = false;
      counts[known.id] += 1;
      mean_lags_[known.id] += (known.times[kLag] - mean_lags_[known.id]) / counts[known.id];
    }
  }
  // A lag in only one run would be applied to all runs.
  for (std::size_t id = 0; id < mean_lags_.size(); ++id) {
    if (!waits_always[id]) mean_lags_[id] = 0;
  }
}

double ManyRuns::Modelled(std::size_t stage, Time time, double task_seconds) const {
  return time == kLag ? mean_lags_[stage] : task_seconds;
}

StageTime ManyRuns::KeyOf(std::size_t stage, Time time) {
  return {.stage = kTimes * stage + time, .kind = time == kLag ? 1u : 0u};
}

// If first tasks were never observed, the error of the stage's other tasks applies, and vice versa.
StageTime ManyRuns::ObservedKeyOf(std::size_t stage, Time time) const {
  if (time == kLag || has_time_[stage][time]) return KeyOf(stage, time);
  return KeyOf(stage, time == kFresh ? kWarm : kFresh);
}

absl::Status ManyRuns::LearnWholes() {
  const auto names_of = [](const Run& run) {
    std::vector<std::string> names;
    for (const KnownStage& known : run.stages) names.push_back(known.name);
    return names;
  };
  const std::vector<std::string> names = names_of(runs_[0]);
  std::vector<PastWhole> wholes;
  for (Run& run : runs_) {
    levels_.push_back(LevelsOfWhole(run.settings, run.data_bytes, run.others));
    if (!AreRunsOfOneProgram(names_of(run), names)) run.load.seconds = 0;
    if (run.load.seconds > 0) wholes.push_back({levels_.back(), run.load.seconds});
  }
  auto learnt = WholeRunModel::Learn(wholes, GroupsOf(runs_[0].others.size()));
  if (!learnt.ok()) return learnt.status();
  wholes_ = *std::move(learnt);
  return absl::OkStatus();
}

void ManyRuns::LearnBlackBoxes() {
  struct Seen {
    std::vector<gray_box::TaskResources> tasks;
    std::vector<double> seconds;
  };
  std::map<std::size_t, Seen> seen;
  for (const Run& run : runs_) {
    for (const KnownStage& known : run.stages) {
      if (!known.is_known()) continue;
      seen[known.id].tasks.push_back(ResourcesOf(known.stage, run.settings));
      seen[known.id].seconds.push_back(known.mean_seconds);
    }
  }
  for (const auto& [id, of] : seen) {
    if (of.tasks.size() < kBlackBoxRunsMin) continue;
    auto box = gray_box::BlackBox::Learn(of.tasks, of.seconds);
    if (box.ok()) boxes_.emplace(id, *std::move(box));
  }
}

std::optional<BlackBoxEstimate> ManyRuns::BlackBoxOn(const std::vector<ScenarioStage>& stages,
                                                     const RunScenario& scenario,
                                                     std::size_t count) const {
  BlackBoxEstimate estimate = {.task_seconds = std::vector<double>(count)};
  double sum = 0;
  double spread = 0;
  for (const ScenarioStage& other : stages) {
    const auto box = boxes_.find(other.id);
    if (box == boxes_.end()) return std::nullopt;
    const regression::Forecast task =
        box->second.Predict(ResourcesOf(other.stage, scenario.settings));
    // Far from all runs, the linear model may predict a time below zero.
    const bool is_possible = task.value > 0 && task.value <= kTaskSecondsMax;
    if (!is_possible || !std::isfinite(task.deviation)) return std::nullopt;
    const double seconds = other.slowed * std::max(task.value, kTaskSecondsMin);
    estimate.task_seconds[other.place] = seconds;
    sum += seconds * (1 + other.warm_waves);
    // The stages share the conditions of a run, so their errors add up.
    spread += other.slowed * task.deviation * (1 + other.warm_waves);
  }
  if (!(sum > 0)) return std::nullopt;
  estimate.deviation = std::min(spread / sum, kDeviationMax);
  return estimate;
}

std::optional<WholeEstimate> ManyRuns::Scaled(const RunScenario& scenario) const {
  const auto has_same_data = [bytes = DataBytes(scenario)](const Run& run) {
    return std::abs(std::log(run.data_bytes / bytes)) < std::log(kSameDataFactor);
  };
  const auto differs_in_executors_only = [&](const Run& run) {
    Settings settings = run.settings;
    settings.executors = scenario.settings.executors;
    settings.at_once_max = scenario.settings.at_once_max;
    return settings == scenario.settings && has_same_data(run) && run.others == scenario.others;
  };
  std::vector<SlotLoad> loads;
  std::set<std::uint32_t> executors;  // executor counts of all runs with a load
  std::set<std::uint32_t> executors_of_loads;
  for (const Run& run : runs_) {
    if (!(run.load.seconds > 0)) continue;
    executors.insert(run.settings.executors);
    if (!differs_in_executors_only(run)) continue;
    executors_of_loads.insert(run.settings.executors);
    loads.push_back(run.load);
  }
  // If there are runs with other settings on other executors, only the correction uses this
  // evidence.
  if (executors_of_loads.size() < executors.size()) return std::nullopt;
  const ScalingModel model = ScalingModel::Learn(loads);
  if (model.is_empty()) return std::nullopt;
  return model.At(scenario.settings.slots());
}

absl::StatusOr<ManyRuns> ManyRuns::Learn(std::vector<PastApplication> runs,
                                         const CostStatistics& prior) {
  if (runs.empty()) return absl::InvalidArgumentError("no run to learn from");
  const std::map<std::string, OtherRunsData> elsewhere = DataByStage(runs);
  ManyRuns learnt;
  std::map<std::string, std::size_t> ids;
  std::vector<MeasuredTask> measured;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    Run& run = learnt.runs_.emplace_back();
    run.settings = runs[r].settings;
    run.others = runs[r].others;
    run.load = LoadOf(runs[r]);
    run.data_bytes = InputBytes(runs[r]);
    for (std::size_t i = 0; i < runs[r].stages.size(); ++i) {
      const PastStage& ran = runs[r].stages[i];
      KnownStage& known = run.stages.emplace_back();
      known.id = ids.try_emplace(runs[r].names[i], ids.size()).first->second;
      known.name = runs[r].names[i];
      if (ran.tasks.empty()) continue;
      known.stage = StageOf(ran.tasks, ran.next_tasks, ran.is_relocatable, run.settings,
                            elsewhere.at(known.name));
      Multiply(ran.tasks_for_each, known.stage.size);
      known.times = TimesOf(ran);
      known.slot_share = ran.slot_share;
      for (const TaskCounters& task : ran.tasks) {
        known.mean_seconds += task.seconds / static_cast<double>(ran.tasks.size());
      }
      for (const TaskCounters& task : ran.tasks) {
        measured.push_back(Measured(task, known.id, r, WorkOf(task, known.stage, run.settings)));
      }
    }
  }
  auto costs = LearntCosts::Learn(measured, prior);
  if (!costs.ok()) return costs.status();
  learnt.has_time_.resize(ids.size());
  learnt.FillDataBytes();
  learnt.LearnLags();
  auto correction =
      Correction::Learn(learnt.ObserveErrors(*costs), GroupsOf(learnt.runs_[0].others.size()));
  if (!correction.ok()) return correction.status();
  learnt.costs_.push_back(*std::move(costs));
  learnt.correction_.push_back(*std::move(correction));
  learnt.LearnBlackBoxes();
  const absl::Status wholes = learnt.LearnWholes();
  if (!wholes.ok()) return wholes;
  return learnt;
}

std::vector<ObservedError> ManyRuns::ObserveErrors(const LearntCosts& costs) {
  std::vector<ObservedError> errors;
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    const Run& run = runs_[r];
    for (const KnownStage& known : run.stages) {
      if (!known.is_known()) continue;
      const Work work = TaskOf(known.stage, run.settings).work();
      const double of_task = std::max(costs.Predict(known.id, work).seconds, kTaskSecondsMin);
      for (const Time time : {kFresh, kWarm, kLag}) {
        const double noise = time == kLag ? kLagNoiseSeconds : kTwoClockReadingsSeconds;
        const double seconds = known.times[time];
        const double modelled = Modelled(known.id, time, of_task);
        if (!(seconds > 0 && modelled > 0)) continue;
        has_time_[known.id][time] = true;
        errors.push_back(
            {.time = KeyOf(known.id, time),
             .run = r,
             .settings = LevelsOf(run.settings, run.data_bytes, known.stage, run.others),
             .log_error = std::log(seconds / modelled),
             .deviation = noise / seconds});
      }
    }
  }
  return errors;
}

std::size_t ManyRuns::MostLike(const RunScenario& scenario) const {
  const double bytes = DataBytes(scenario);
  const auto apart = [&](const Run& run) {
    const Settings& a = run.settings;
    const Settings& b = scenario.settings;
    double others = 0;
    for (std::size_t i = 0; i < scenario.others.size(); ++i) {
      others += std::abs(run.others[i] - scenario.others[i]);
    }
    const auto doublings = [](double one, double other) {
      return std::abs(Log2(one) - Log2(other));
    };
    return others + doublings(a.executors, b.executors) +
           doublings(a.tasks_at_once(), b.tasks_at_once()) + doublings(run.data_bytes, bytes) +
           doublings(a.sql_partitions, b.sql_partitions) +
           kOfManyDoublings * doublings(SpillBufferBytes(a, 0), SpillBufferBytes(b, 0)) +
           (a.compresses_shuffle == b.compresses_shuffle ? 0 : 0.5);
  };
  std::size_t best = 0;
  for (std::size_t r = 1; r < runs_.size(); ++r) {
    if (apart(runs_[r]) < apart(runs_[best])) best = r;
  }
  return best;
}

Stage ManyRuns::Resized(const KnownStage& known, const Run& run, const RunScenario& scenario,
                        double data_factor) {
  Stage stage = known.stage;
  const Settings& to = scenario.settings;
  if (const auto written = scenario.written.find(known.name); written != scenario.written.end()) {
    stage.data.compute.records *= written->second;
    stage.data.compute.bytes *= written->second;
  }
  StageSize& size = stage.size;
  size.next_tasks = Partitions(size.next_tasks, run.settings, to);
  if (ReadsOnlyInput(stage)) {
    size.tasks = std::max(std::round(size.tasks * data_factor), 1.0);
    size.split_bytes *= data_factor * known.stage.size.tasks / size.tasks;
    return stage;
  }
  size.tasks = Partitions(size.tasks, run.settings, to);
  size.split_bytes *= data_factor * known.stage.size.tasks / size.tasks;
  const auto fetched = scenario.fetched.find(known.name);
  const double more = data_factor * (fetched == scenario.fetched.end() ? 1 : fetched->second);
  size.intermediate.records *= more;
  size.intermediate.bytes *=
      more * OfShuffle(to, stage.data).ratio / OfShuffle(run.settings, stage.data).ratio;
  return stage;
}

bool ManyRuns::FollowsPartitions() const {
  for (const Run& run : runs_) {
    for (const KnownStage& known : run.stages) {
      if (!known.is_known() || ReadsOnlyInput(known.stage)) continue;
      const double tasks = known.stage.size.tasks;
      if (AreThoseOfSql(tasks, run.settings) || AreThoseOfOthers(tasks, run.settings)) return true;
    }
  }
  return false;
}

std::vector<std::string> ManyRuns::Beyond(const RunScenario& scenario) const {
  std::vector<std::string> beyond;
  const auto compare = [&](const char* name, const auto& value_of, double value) {
    ObservedRange range;
    for (const Run& run : runs_) range.Add(std::log2(value_of(run)));
    if (range.IsBeyond(std::log2(value), std::log2(kSameDataFactor))) beyond.emplace_back(name);
  };
  compare(
      "executors", [](const Run& r) { return double{1} * r.settings.executors; },
      scenario.settings.executors);
  compare(
      "cores", [](const Run& r) { return r.settings.tasks_at_once(); },
      scenario.settings.tasks_at_once());
  // memory of a whole executor, for any number of cores
  const auto memory = [](Settings settings) {
    settings.executor_cores = settings.task_cores = 1;
    settings.at_once_max = 0;
    return SpillBufferBytes(settings, 0);
  };
  compare(
      "memory", [&](const Run& r) { return memory(r.settings); }, memory(scenario.settings));
  compare(
      "compression", [](const Run& r) { return r.settings.compresses_shuffle ? 2.0 : 1.0; },
      scenario.settings.compresses_shuffle ? 2.0 : 1.0);
  compare(
      "partitions", [](const Run& r) { return double{1} * r.settings.sql_partitions; },
      scenario.settings.sql_partitions);
  compare(
      "data", [](const Run& r) { return r.data_bytes; }, DataBytes(scenario));
  return beyond;
}

std::vector<ManyRuns::ScenarioStage> ManyRuns::ScenarioStages(const Run& run,
                                                              const RunScenario& scenario) const {
  const double data_factor =
      run.data_bytes > 0 ? DataBytes(scenario) / run.data_bytes : scenario.data_factor;
  const double slots = scenario.settings.slots();
  std::vector<ScenarioStage> stages;
  for (std::size_t i = 0; i < run.stages.size(); ++i) {
    const KnownStage& known = run.stages[i];
    if (!known.is_known()) continue;
    ScenarioStage& other = stages.emplace_back();
    other.place = i;
    other.id = known.id;
    other.stage = Resized(known, run, scenario, data_factor);
    other.work = TaskOf(other.stage, scenario.settings).work();
    other.more_work = other.work + -1 * TaskOf(known.stage, run.settings).work();
    if (const auto slowed = scenario.slowed.find(known.name); slowed != scenario.slowed.end()) {
      other.slowed = slowed->second;
    }
    other.task_seconds =
        other.slowed * std::max(costs_[0].Predict(known.id, other.work).seconds, kTaskSecondsMin);
    const double tasks = other.stage.size.tasks;
    const double of_stage = std::max(known.slot_share * slots, 1.0);
    other.warm_waves = (tasks - std::min(tasks, of_stage)) / of_stage;
  }
  return stages;
}

Binding ManyRuns::BindingIn(const std::vector<ScenarioStage>& stages) const {
  std::array<double, 4> bound{};  // seconds of all tasks
  for (const ScenarioStage& other : stages) {
    const CostStatistics each = costs_[0].Of(other.id);
    for (std::size_t c = 0; c < kCosts; ++c) {
      const Cost cost = static_cast<Cost>(c);
      bound[static_cast<std::size_t>(BindingOf(cost))] +=
          other.work[cost] * each[cost] * other.stage.size.tasks;
    }
  }
  return static_cast<Binding>(std::max_element(bound.begin(), bound.end()) - bound.begin());
}

double ManyRuns::AddUnknownCosts(const std::vector<ScenarioStage>& stages,
                                 RunEstimate& estimate) const {
  double seconds = 0;
  std::set<Cost> unknown;
  for (const ScenarioStage& other : stages) {
    const CostStatistics each = costs_[0].Of(other.id);
    for (std::size_t c = 0; c < kCosts; ++c) {
      const Cost cost = static_cast<Cost>(c);
      const double of_task = std::abs(other.more_work[cost]) * each[cost];
      if (!(of_task > kReportedShareOfRun * other.task_seconds) || costs_[0].IsDetermined(cost))
        continue;
      unknown.insert(cost);
      seconds += of_task * (1 + other.warm_waves);
    }
  }
  estimate.unknown_costs.assign(unknown.begin(), unknown.end());
  return seconds;
}

std::vector<ManyRuns::Part> ManyRuns::PartsOf(const std::vector<ScenarioStage>& stages,
                                              const RunScenario& scenario) const {
  std::vector<Part> parts;
  for (const ScenarioStage& other : stages) {
    for (const Time time : {kFresh, kWarm, kLag}) {
      parts.push_back(
          {.place = other.place,
           .time = time,
           .modelled_seconds = Modelled(other.id, time, other.task_seconds),
           .waves = time == kWarm ? other.warm_waves : 1,
           .at = {ObservedKeyOf(other.id, time),
                  LevelsOf(scenario.settings, DataBytes(scenario), other.stage, scenario.others)}});
    }
  }
  return parts;
}

std::vector<double> ManyRuns::SetTimes(const std::vector<Part>& parts,
                                       const std::vector<double>& log_errors,
                                       RunEstimate& estimate) {
  std::vector<double> all_waves;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    StageEstimate& stage = estimate.stages[parts[i].place];
    double seconds = parts[i].modelled_seconds * std::exp(log_errors[i]);
    if (!(seconds <= kTaskSecondsMax)) {  // Counters have impossible values.
      stage.is_known = false;
      seconds = 0;
    }
    SecondsOf(stage, parts[i].time) = seconds;
    all_waves.push_back(seconds * parts[i].waves);
  }
  return all_waves;
}

RunEstimate ManyRuns::On(std::size_t like, const RunScenario& scenario) const {
  const Run& run = runs_[like];
  const std::vector<ScenarioStage> stages = ScenarioStages(run, scenario);
  const auto levels = LevelsOfWhole(scenario.settings, DataBytes(scenario), scenario.others);
  RunEstimate estimate = {.stages = std::vector<StageEstimate>(run.stages.size()),
                          .deviation = kUnknownRunDeviation,
                          .whole = wholes_.At(levels),
                          .scaled = Scaled(scenario),
                          .binding = BindingIn(stages),
                          .beyond = Beyond(scenario)};
  if (stages.empty()) return estimate;
  for (const ScenarioStage& other : stages) {
    estimate.stages[other.place] = {.is_known = true, .tasks = other.stage.size.tasks};
  }
  const double unknown_seconds = AddUnknownCosts(stages, estimate);
  const std::vector<Part> parts = PartsOf(stages, scenario);
  std::vector<TimeAt> times;
  for (const Part& part : parts) times.push_back(part.at);
  // Outside the range of all runs, the correction of the nearest slots applies.
  double doublings = 0;
  for (TimeAt& time : times) doublings = HoldSlots(levels_, time.settings);
  const std::vector<double> seconds = SetTimes(parts, correction_[0].Predict(times), estimate);
  const double whole = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  if (!(whole > 0)) return estimate;
  const double share = std::sqrt(correction_[0].Variance(times, seconds)) / whole;
  const double deviation =
      std::hypot(share, 0.5 * unknown_seconds / whole, kHeldDeviation * doublings);
  estimate.deviation = deviation <= kDeviationMax ? deviation : kDeviationMax;
  estimate.black_box = BlackBoxOn(stages, scenario, run.stages.size());
  return estimate;
}

namespace {

// Deviation of a stage without a model. Chosen by hand.
constexpr double kUnknownStageDeviation = 0.5;
// Lower limit of the factor on a task's time, since the models are not more precise. Chosen by
// hand.
constexpr double kTimesMin = 0.05;
// The smallest share of a task's time for which an undetermined cost is reported.
constexpr double kReportedShare = 0.02;

// Returns the ratio of the shuffle sizes that the stage reads, which were written with the same
// settings.
double IntermediateFactor(const Stage& stage, const Settings& from, const Settings& to) {
  return OfShuffle(to, stage.data).ratio / OfShuffle(from, stage.data).ratio;
}

}  // namespace

absl::StatusOr<WhatIf> WhatIf::Learn(std::vector<PastStage> stages, const Settings& settings,
                                     const CostStatistics& prior) {
  std::vector<Known> known;
  std::vector<MeasuredTask> measured;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const PastStage& ran = stages[i];
    Known& stage = known.emplace_back();
    if (ran.tasks.empty()) continue;
    stage.stage = StageOf(ran.tasks, ran.next_tasks, ran.is_relocatable, settings);
    for (const TaskCounters& task : ran.tasks) {
      stage.mean_seconds += task.seconds / static_cast<double>(ran.tasks.size());
      measured.push_back(Measured(task, i, 0, WorkOf(task, stage.stage, settings)));
    }
  }
  auto costs = LearntCosts::Learn(measured, prior);
  if (!costs.ok()) return costs.status();
  return WhatIf(std::move(known), settings, *std::move(costs));
}

StageChange WhatIf::On(std::size_t stage, const Settings& settings) const {
  StageChange result;
  if (settings == settings_) return result;
  const auto& [base, mean_seconds] = stages_[stage];
  if (!(mean_seconds > 0)) {
    result.deviation = kUnknownStageDeviation;
    return result;
  }
  Stage other = base;
  other.size.intermediate.bytes *= IntermediateFactor(base, settings_, settings);
  const Work before = TaskOf(base, settings_).work();
  const Work difference = TaskOf(other, settings).work() + -1 * before;
  // Time that the models do not explain is constant.
  const double seconds = std::max(costs_.Predict(stage, before).seconds, mean_seconds);
  const TaskEstimate change = costs_.Predict(stage, difference);
  result.times = std::max(1 + change.seconds / seconds, kTimesMin);
  const double share = change.deviation / seconds / result.times;
  result.deviation = std::sqrt(std::log1p(share * share));  // sigma of a log-normal distribution
  const CostStatistics costs = costs_.Of(stage);
  for (std::size_t i = 0; i < kCosts; ++i) {
    const Cost cost = static_cast<Cost>(i);
    const double part = std::abs(difference[cost]) * costs[cost] / seconds;
    if (part > kReportedShare && !costs_.IsDetermined(cost)) result.unknown_costs.push_back(cost);
  }
  return result;
}

}  // namespace tidemark::phases
