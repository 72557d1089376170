#include "whatif/spark_models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "whatif/phases/past_stage.h"
#include "whatif/plan_estimate.h"

namespace tidemark::whatif {
namespace {

// Maximum number of task times of a stage. More times would not describe their spread better.
constexpr std::size_t kTimesMax = 500;
// Standard deviation of ln(duration) if a parameter has a value that no run had. Chosen by hand.
constexpr double kUnknownDeviation = 0.3;
// The bounds of 100 answers from several runs contained 99 % of their durations
// (bench/results/what_if.json). With this share of their distance from the median, they contain
// 88 %.
constexpr double kUsualBoundsShare = 0.6;
// The share counts as much as the errors for this many left-out runs.
constexpr double kUsualShareRuns = 4;
// A single error counts up to this multiple of its deviation.
constexpr double kScaledErrorMax = 3;
// Number of times that each model is learnt without some of the runs.
constexpr std::size_t kFoldsMax = 8;
constexpr std::size_t kDifferentRunsMin = 3;
// The tasks of a probe take at most this multiple of the whole tasks, since times vary.
constexpr double kProbeShareMax = 1.1;
// The black box is used if its error for left-out runs is at most this multiple of the error of the
// phase models, and if there are enough such runs. Both are chosen by hand.
constexpr double kClearlyLess = 0.9;
constexpr double kLeftOutRunsMin = 4;
// The 95 % quantile of the normal distribution.
constexpr double kQuantile95 = 1.6449;

// Returns an error if a setting that no model covers is not a Spark setting, or has a value that
// Spark rejects.
absl::Status CheckUnmodelled(const std::string& name, const std::string& value) {
  constexpr std::string_view kPrefix = "spark.";
  if (!name.starts_with(kPrefix) || name.size() == kPrefix.size()) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: not a Spark setting; the names of Spark settings begin with {}", name, kPrefix));
  }
  // Spark's own switches are true or false. Other programs also have settings that begin with
  // spark.
  const bool is_switch =
      name == "spark.speculation" ||
      (name.ends_with(".enabled") &&
       (name.starts_with("spark.sql.adaptive.") || name.starts_with("spark.dynamicAllocation.") ||
        name.starts_with("spark.shuffle.service.")));
  const absl::string_view text = absl::StripAsciiWhitespace(value);
  if (is_switch && !absl::EqualsIgnoreCase(text, "true") &&
      !absl::EqualsIgnoreCase(text, "false")) {
    return absl::InvalidArgumentError(fmt::format("{}: \"{}\" is not true or false", name, value));
  }
  return absl::OkStatus();
}

std::string NotModelled(const std::string& name, const std::string& value) {
  return fmt::format("{}={}: the effect of this setting is not modelled; the interval is wider",
                     name, value);
}

// Returns true for an amount of a resource of tasks without an amount of executors, or vice versa.
bool LacksCounterpart(const std::string& name, const phases::Properties& properties,
                      const Settings& changes) {
  const auto resource = phases::ResourceIn(name);
  if (!resource) return false;
  const std::string other = fmt::format("spark.{}.resource.{}.amount",
                                        resource->is_of_task ? "executor" : "task", resource->name);
  return !properties.contains(other) && !changes.contains(other);
}

// Returns the slots of the run, or the slots of other executors if these are set.
std::uint32_t SlotsWith(const SparkRun& run, const SettingsPair& settings) {
  const double slots = settings.other.slots();
  if (slots == settings.ran.slots()) return run.plan.cluster.slots;
  return static_cast<std::uint32_t>(std::max(slots, 1.0));
}

// Adds the remarks on values that no model covers, and widens the interval.
void AddUnmodelled(const SettingsPair& settings, ModelledRun& other) {
  for (const auto* remarks : {&settings.of_changes, &settings.of_run}) {
    if (!remarks->empty()) other.deviation = std::hypot(other.deviation, kUnmodelledDeviation);
    other.remarks.insert(other.remarks.end(), remarks->begin(), remarks->end());
  }
}

// Returns true if the number of partitions changes.
bool ArePartitionsOthers(const SettingsPair& settings) {
  return settings.ran.sql_partitions != settings.other.sql_partitions ||
         settings.ran.default_partitions != settings.other.default_partitions;
}

// Returns a remark on assumed costs, or an empty string without any.
std::string RemarkOnAssumed(const std::vector<phases::Cost>& assumed) {
  if (assumed.empty()) return "";
  std::vector<std::string> names;
  for (const phases::Cost cost : assumed) names.emplace_back(phases::NameOf(cost));
  return fmt::format("typical costs are assumed where this run has no data: {}",
                     fmt::join(names, ", "));
}

// Returns the slot seconds of all tasks of the stage.
double WorkOf(const PlannedStage& stage) {
  double sum = 0;
  for (const absl::Duration time : stage.task_times) sum += absl::ToDoubleSeconds(time);
  if (stage.task_times.empty()) return 0;
  return sum / static_cast<double>(stage.task_times.size()) * static_cast<double>(stage.task_count);
}

// Returns an error that states what the log lacks for models, and the remedy. `why` is the error of
// the models.
absl::Status NothingToLearn(const SparkRun& run, const absl::Status& why) {
  const auto& measured = run.measured.stages();
  if (measured.empty()) {
    return absl::FailedPreconditionError(
        "the log has no metrics of tasks to learn from (Task Metrics in SparkListenerTaskEnd); use "
        "--slots, which needs no metrics");
  }
  const auto is_measured = [&](std::uint32_t number) { return measured.contains(number); };
  if (std::ranges::none_of(run.numbers, is_measured)) {
    return absl::FailedPreconditionError(
        "the log has task metrics, but no SparkListenerJobStart events, which describe the stages "
        "(missing, or too large to be read); pass the complete log, or use --slots, which does not "
        "need them");
  }
  return absl::FailedPreconditionError(fmt::format(
      "cannot learn from the metrics of tasks in the log: {}", std::string(why.message())));
}

// --- several runs -----------------------------------------------------------------------------

// Returns times with the mean `mean`, distributed like the counted tasks of the same freshness.
std::vector<absl::Duration> Shaped(double mean, const std::vector<phases::TaskCounters>& ran,
                                   bool is_fresh) {
  std::vector<double> shape;
  double sum = 0;
  for (const phases::TaskCounters& task : ran) {
    if (task.is_fresh != is_fresh || shape.size() >= kTimesMax) continue;
    shape.push_back(task.seconds);
    sum += task.seconds;
  }
  std::vector<absl::Duration> times;
  for (const double seconds : shape) {
    const double part = sum > 0 ? seconds * static_cast<double>(shape.size()) / sum : 1;
    times.push_back(absl::Seconds(mean * part));
  }
  if (times.empty()) times.push_back(absl::Seconds(mean));
  return times;
}

void SetTimes(const phases::StageEstimate& expected, const std::vector<phases::TaskCounters>& ran,
              PlannedStage& stage) {
  stage.task_count = static_cast<std::uint64_t>(std::max(std::round(expected.tasks), 1.0));
  if (expected.lag_seconds > 0) stage.lag = absl::Seconds(expected.lag_seconds);
  stage.task_times = Shaped(expected.task_seconds, ran, false);
  stage.first_task_times = Shaped(expected.fresh_task_seconds, ran, true);
  stage.fresh_task_times = stage.first_task_times;
  stage.last_task_times.clear();
}

// Returns the run in the form that the settings models use.
phases::PastApplication PastApplicationOf(const SparkRun& run, const phases::Settings& settings) {
  return {.settings = settings,
          .stages = CountedStages(run),
          .names = run.signatures,
          .seconds = absl::ToDoubleSeconds(run.took.value_or(absl::ZeroDuration()))};
}

phases::ScalingModel ScalingOf(const SparkRun& run, std::optional<absl::Duration> end) {
  const auto settings = SettingsOf(run.measured, {});
  if (!settings.ok()) return phases::ScalingModel::Learn({});
  phases::SlotLoad load = phases::LoadOf(PastApplicationOf(run, settings->ran));
  load.slots = run.plan.cluster.slots;
  load.seconds = absl::ToDoubleSeconds(end.value_or(absl::ZeroDuration()));
  return phases::ScalingModel::Learn({&load, 1});
}

// Returns the range whose bounds are the 90 % interval of a log-normal duration.
Range WithDeviation(absl::Duration median, double deviation) {
  const double factor = std::exp(kQuantile95 * deviation);
  return {.median = median, .lower = median / factor, .upper = median * factor};
}

// Moves both bounds to this share of their logarithmic distance from the median.
Range Narrowed(double share, Range range) {
  if (share == 1 || range.median <= absl::ZeroDuration()) return range;
  for (std::optional<absl::Duration>* const bound : {&range.lower, &range.upper}) {
    if (!*bound) continue;
    *bound = range.median * std::pow(absl::FDivDuration(**bound, range.median), share);
  }
  return range;
}

// Multiplies the predicted times of the job and its stages.
void ScaleTimes(double factor, Snapshot& snapshot) {
  const auto scale = [factor](std::optional<Range>& range) {
    if (!range) return;
    range->median *= factor;
    for (std::optional<absl::Duration>* const bound : {&range->lower, &range->upper}) {
      if (*bound) **bound *= factor;
    }
  };
  scale(snapshot.estimate.remaining);
  for (StageProgress& stage : snapshot.stages) {
    scale(stage.starts_in);
    scale(stage.ends_in);
  }
}

// Averages the end of the plan with the duration that whole runs suggest.
void Reconcile(const phases::WholeEstimate& whole, ModelledRun& other) {
  const auto end = EndOf(other.plan);
  if (!end) return;
  const auto averaged = phases::AverageOf(absl::ToDoubleSeconds(*end), other.deviation, whole);
  if (!averaged) return;
  Stretch(averaged->factor, other.plan);
  other.deviation = averaged->deviation;
}

// Returns pairs of the signatures of two stages, of which the second reads the shuffle of the
// first.
std::vector<std::pair<std::string, std::string>> ShufflesOf(const SparkRun& run) {
  const std::vector<PlannedStage>& stages = run.plan.jobs[0].stages;
  absl::flat_hash_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < stages.size(); ++i) places[stages[i].name] = i;
  std::vector<std::pair<std::string, std::string>> shuffles;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    for (const std::string& parent : stages[i].after) {
      const auto place = places.find(parent);
      if (place == places.end()) continue;
      shuffles.emplace_back(run.signatures[place->second], run.signatures[i]);
    }
  }
  return shuffles;
}

// Returns the mean measured time of the counted tasks of a stage, or 0 without such tasks.
double MeanTaskSeconds(const SparkRun& run, std::size_t stage) {
  const auto measured = run.measured.stages().find(run.numbers[stage]);
  if (measured == run.measured.stages().end()) return 0;
  double sum = 0;
  for (const phases::TaskCounters& task : measured->second.tasks) sum += task.seconds;
  return sum / std::max(static_cast<double>(measured->second.tasks.size()), 1.0);
}

struct RelatedRuns {
  std::vector<SparkRun> runs;
  std::vector<std::string> paths;  // paths of these runs' logs
  // remarks about runs that were excluded or differ much from the first run
  std::vector<std::string> remarks;
};

// Removes repeated runs, and runs that have no stage in common with the first run. Otherwise one of
// them might provide the plan for the settings of a question.
RelatedRuns RelatedToFirst(std::vector<SparkRun> runs, const std::vector<std::string>& paths) {
  RelatedRuns related;
  std::vector<std::string> repeats;
  const char* how_often = "twice";
  std::vector<std::string> unrelated;
  std::vector<std::string> distant;
  const std::vector<std::string> stages = runs[0].signatures;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto is_same = [&](const SparkRun& other) { return IsSameRun(runs[i], other); };
    if (std::ranges::any_of(related.runs, is_same)) {
      const bool is_new = std::ranges::find(repeats, paths[i]) == repeats.end();
      if (is_new) repeats.push_back(paths[i]);
      if (!is_new) how_often = "more than once";
      continue;
    }
    if (i > 0 && phases::CommonStages(runs[i].signatures, stages) == 0) {
      unrelated.push_back(paths[i]);
      continue;
    }
    if (!phases::AreRunsOfOneProgram(runs[i].signatures, stages)) distant.push_back(paths[i]);
    related.runs.push_back(std::move(runs[i]));
    related.paths.push_back(paths[i]);
  }
  if (!repeats.empty()) {
    related.remarks.push_back(
        fmt::format("passed {} but used once: {}", how_often, fmt::join(repeats, ", ")));
  }
  if (!unrelated.empty()) {
    related.remarks.push_back(
        fmt::format("no stage of {} matches {}: assumed to be a different program and omitted",
                    fmt::join(unrelated, ", "), paths[0]));
  }
  if (!distant.empty()) {
    related.remarks.push_back(fmt::format(
        "fewer than half of the stages of {} match {}: only their task times are used, not their "
        "durations",
        fmt::join(distant, ", "), paths[0]));
  }
  return related;
}

}  // namespace

// --- settings ---------------------------------------------------------------------------------

absl::StatusOr<SettingsPair> SettingsOf(const spark::MeasuredStages& measured,
                                        const Settings& changes) {
  phases::ObservedExecutors seen = measured.executors();
  if (measured.version().empty()) {
    return absl::FailedPreconditionError("the log does not name the Spark version");
  }
  const phases::Properties of_run = measured.properties();
  const auto ran = phases::ParseRunSettings(measured.version(), of_run, seen);
  if (!ran.ok()) return ran.status();
  SettingsPair pair = {.ran = ran->settings, .of_run = ran->remarks};
  if (measured.has_mixed_profiles()) {
    pair.of_run.emplace_back(
        "the executors' resource profiles differ; other executors are assumed to have them in the "
        "same proportions");
  }
  phases::Properties properties = ran->modelled;
  for (const auto& [name, value] : changes) {
    const bool is_unchanged = measured.WasSetTo(name, value);
    if (!phases::IsModelled(name) || LacksCounterpart(name, properties, changes)) {
      if (absl::Status checked = CheckUnmodelled(name, value); !checked.ok()) return checked;
      if (is_unchanged) continue;
      pair.of_changes.push_back(NotModelled(name, value));
      continue;
    }
    if (const std::string why = phases::ReasonNotModelled(name, value); !why.empty()) {
      if (!is_unchanged) pair.of_changes.push_back(fmt::format("{}={}: {}", name, value, why));
      continue;
    }
    if (of_run.contains(name) && !ran->modelled.contains(name)) {
      pair.of_changes.push_back(
          fmt::format("{}={}: the effect of the difference from the run is unknown", name, value));
    }
    if (name == "spark.executor.instances") seen.count = 0;
    if (name == "spark.executor.cores") seen.cores = 0;
    properties[name] = value;
  }
  const auto other = phases::ParseSettings(measured.version(), properties, seen);
  if (!other.ok()) return other.status();
  const double slots = other->slots();
  if (slots > kSlotsMax && slots != pair.ran.slots()) {
    return absl::InvalidArgumentError(fmt::format(
        "spark.executor.instances: {} executors with {:.12g} slots each are too many: at most {} "
        "slots are supported; use at most {:.0f} executors",
        other->executors, other->tasks_at_once(), kSlotsMax,
        std::floor(kSlotsMax / other->tasks_at_once())));
  }
  pair.other = *other;
  const std::pair<const char*, bool> values[] = {
      {"spark.serializer", pair.other.serializer != pair.ran.serializer},
      {"spark.io.compression.codec", pair.other.codec != pair.ran.codec}};
  for (const auto& [name, is_other] : values) {
    if (is_other) pair.of_changes.push_back(NotModelled(name, properties[name]));
  }
  return pair;
}

absl::StatusOr<Outcome> EstimateRun(const ModelledRun& run, const Scenario& scenario,
                                    absl::Time at) {
  auto outcome = EstimateStages(run.plan, scenario, at, run.deviation);
  if (!outcome.ok()) return outcome;
  std::optional<Range>& remaining = outcome->snapshot.estimate.remaining;
  if (!remaining) return outcome;
  if (!run.whole) {
    *remaining = Narrowed(run.bounds_share, *remaining);
    return outcome;
  }
  std::optional<absl::Duration> from = run.whole_of;
  if (!from && (scenario.data_factor || scenario.policy)) from = EndOf(run.plan, scenario.slots);
  const double seconds = absl::ToDoubleSeconds(from.value_or(remaining->median));
  if (!(seconds > 0)) return outcome;
  ScaleTimes(run.whole->seconds / seconds, outcome->snapshot);
  *remaining = WithDeviation(remaining->median, std::hypot(run.deviation, run.whole->deviation));
  return outcome;
}

// --- one run ----------------------------------------------------------------------------------

SlotScaling::SlotScaling(const SparkRun& run)
    : run_(run), end_(run.took ? run.took : EndOf(run.plan)), model_(ScalingOf(run, end_)) {}

void SlotScaling::Apply(std::uint32_t slots, bool has_changes, ModelledRun& other) const {
  if (model_.is_empty()) return;
  other.whole = model_.At(slots);
  if (!has_changes) return;
  other.whole_of = slots == run_.plan.cluster.slots ? end_ : EndOf(run_.plan, slots);
}

absl::StatusOr<SparkRunModels> SparkRunModels::Learn(const SparkRun& run) {
  const auto settings = SettingsOf(run.measured, {});
  if (!settings.ok()) return settings.status();
  auto models = phases::WhatIf::Learn(CountedStages(run), settings->ran, phases::UsualCosts());
  if (!models.ok()) return NothingToLearn(run, models.status());
  return SparkRunModels(run, *std::move(models));
}

absl::StatusOr<ModelledRun> SparkRunModels::With(const Settings& changes) const {
  const auto settings = SettingsOf(run_.measured, changes);
  if (!settings.ok()) return settings.status();
  ModelledRun other = {.plan = run_.plan,
                       .slots = SlotsWith(run_, *settings),
                       .executors = settings->other.executors,
                       .cores = settings->other.cores()};
  double work = 0;
  double spread = 0;  // sum of work times its deviation
  std::set<phases::Cost> assumed;
  std::vector<PlannedStage>& stages = other.plan.jobs[0].stages;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const phases::StageChange changed = models_.On(i, settings->other);
    const double seconds = WorkOf(stages[i]);
    StretchTasks(changed.times, stages[i]);
    // Errors of stages add up, since the stages share the same costs.
    work += seconds * changed.times;
    spread += seconds * changed.times * changed.deviation;
    assumed.insert(changed.unknown_costs.begin(), changed.unknown_costs.end());
  }
  if (work > 0) other.deviation = spread / work;
  other.model = "phase models";
  phases::Settings other_executors = settings->ran;
  other_executors.executors = settings->other.executors;
  scaling_.Apply(other.slots, settings->other != other_executors, other);
  if (ArePartitionsOthers(*settings)) {
    other.remarks.emplace_back(
        "all stages keep their numbers of tasks; to change them, use --partitions instead of "
        "--conf");
  }
  const std::string remark = RemarkOnAssumed({assumed.begin(), assumed.end()});
  if (!remark.empty()) other.remarks.push_back(remark);
  AddUnmodelled(*settings, other);
  return other;
}

// --- several runs -----------------------------------------------------------------------------

absl::StatusOr<SparkRuns> SparkRuns::Learn(std::vector<SparkRun> all,
                                           const std::vector<std::string>& all_paths) {
  RelatedRuns related = RelatedToFirst(std::move(all), all_paths);
  const std::vector<std::string>& paths = related.paths;
  // A run with metrics gives a clearer error than a run without.
  std::size_t with_metrics = 0;
  for (std::size_t i = 0; i < related.runs.size(); ++i) {
    const SparkRun& run = related.runs[i];
    const auto settings = SettingsOf(run.measured, {});
    if (!settings.ok()) {
      return absl::Status(
          settings.status().code(),
          fmt::format("{}: {}", paths[i], std::string(settings.status().message())));
    }
    for (const std::string& remark : i > 0 ? settings->of_run : std::vector<std::string>()) {
      related.remarks.push_back(fmt::format("{}: {}", paths[i], remark));
    }
    if (related.runs[with_metrics].measured.stages().empty()) with_metrics = i;
  }
  if (related.runs[with_metrics].measured.stages().empty()) with_metrics = 0;
  auto learnt = LearnFrom(related.runs);
  if (!learnt.ok()) {
    const absl::Status nothing = NothingToLearn(related.runs[with_metrics], learnt.status());
    return absl::Status(nothing.code(),
                        fmt::format("{}: {}", paths[with_metrics], std::string(nothing.message())));
  }
  learnt->remarks_ = std::move(related.remarks);
  return learnt;
}

absl::StatusOr<SparkRuns> SparkRuns::LearnFrom(std::vector<SparkRun>& runs) {
  std::vector<phases::PastApplication> ran;
  std::vector<double> data_bytes;
  std::vector<Conditions> conditions;
  for (const SparkRun& run : runs) {
    const auto settings = SettingsOf(run.measured, {});
    if (!settings.ok()) return settings.status();
    ran.push_back(PastApplicationOf(run, settings->ran));
    data_bytes.push_back(phases::InputBytes(ran.back()));
    const double factor = data_bytes.back() / data_bytes.front();
    conditions.push_back({.settings = settings->ran,
                          .data_factor = factor > 0 && std::isfinite(factor) ? factor : 1,
                          .parameters = run.measured.parameters()});
  }
  auto parameters = SparkParameters::Learn(runs, data_bytes);
  if (!parameters.ok()) return parameters.status();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    ran[i].others = parameters->Levels(runs[i].measured.parameters());
  }
  auto models = phases::ManyRuns::Learn(std::move(ran), phases::UsualCosts());
  if (!models.ok()) return models.status();
  SparkRuns learnt(std::move(runs), *std::move(models), *std::move(parameters));
  learnt.conditions_ = std::move(conditions);
  return learnt;
}

void LeftOutErrors::Add(double measured_seconds, double predicted_seconds, double deviation) {
  // Without a lower bound, a prediction has no deviation to compare with.
  if (!std::isfinite(deviation) || !(deviation > 0)) return;
  const double log_error = std::log(measured_seconds / predicted_seconds);
  const double scaled = std::clamp(log_error / deviation, -kScaledErrorMax, kScaledErrorMax);
  if (!std::isfinite(log_error) || std::isnan(scaled)) return;
  runs += 1;
  error += (std::abs(predicted_seconds - measured_seconds) / measured_seconds - error) / runs;
  scaled_square += (scaled * scaled - scaled_square) / runs;
}

double BoundsShareOf(const LeftOutErrors& errors) {
  const double squares =
      kUsualShareRuns * kUsualBoundsShare * kUsualBoundsShare + errors.runs * errors.scaled_square;
  return std::sqrt(squares / (kUsualShareRuns + errors.runs));
}

void SparkRuns::AddErrors(const std::vector<std::size_t>& left_out) {
  std::vector<SparkRun> others;
  double data_of_first = 1;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    if (std::ranges::find(left_out, i) != left_out.end()) continue;
    if (others.empty()) data_of_first = conditions_[i].data_factor;
    others.push_back(runs_[i]);
  }
  const auto learnt = LearnFrom(others);
  if (!learnt.ok()) return;
  for (const std::size_t i : left_out) {
    const SparkRun& run = runs_[i];
    if (!run.took) continue;
    Conditions asked = conditions_[i];
    asked.data_factor /= data_of_first;
    for (const TaskModelKind kind : {TaskModelKind::kPhases, TaskModelKind::kBlackBox}) {
      auto predicted = learnt->Predict(asked, {}, kind);
      // Curves over executors have separate bounds.
      if (!predicted.ok() || predicted->run.whole) continue;
      if (kind == TaskModelKind::kBlackBox && !predicted->expected.black_box) continue;
      predicted->run.bounds_share = 1;
      const auto outcome =
          EstimateRun(predicted->run, {.slots = predicted->run.slots}, absl::UnixEpoch());
      if (!outcome.ok()) continue;
      const auto& remaining = outcome->snapshot.estimate.remaining;
      if (!remaining || !remaining->lower || !remaining->upper) continue;
      const double ratio = absl::FDivDuration(*remaining->upper, *remaining->lower);
      ErrorsOf(kind).Add(absl::ToDoubleSeconds(*run.took), absl::ToDoubleSeconds(remaining->median),
                         std::log(ratio) / (2 * kQuantile95));
    }
  }
}

void SparkRuns::CompareModels() {
  std::size_t stages = 0;
  // Runs under equal conditions are left out together.
  std::vector<std::vector<std::size_t>> different;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    stages += runs_[i].signatures.size();
    const auto is_alike = [&](const std::vector<std::size_t>& some) {
      return AreEqual(conditions_[some[0]], conditions_[i]);
    };
    const auto alike = std::ranges::find_if(different, is_alike);
    if (alike == different.end()) {
      different.push_back({i});
    } else {
      alike->push_back(i);
    }
  }
  if (different.size() < kDifferentRunsMin || stages > kComparedStagesMax) return;
  std::vector<std::vector<std::size_t>> folds(std::min(kFoldsMax, different.size()));
  for (std::size_t i = 0; i < different.size(); ++i) {
    std::vector<std::size_t>& fold = folds[i % folds.size()];
    fold.insert(fold.end(), different[i].begin(), different[i].end());
  }
  for (const std::vector<std::size_t>& left_out : folds) AddErrors(left_out);
  const LeftOutErrors& of_phases = ErrorsOf(TaskModelKind::kPhases);
  const LeftOutErrors& of_box = ErrorsOf(TaskModelKind::kBlackBox);
  if (of_box.runs >= kLeftOutRunsMin && of_box.runs == of_phases.runs &&
      of_box.error < kClearlyLess * of_phases.error) {
    chosen_ = TaskModelKind::kBlackBox;
  }
}

bool SparkRuns::AreEqual(const Conditions& one, const Conditions& other) {
  constexpr double kSameData = 0.02;
  return one.settings == other.settings && one.parameters == other.parameters &&
         std::abs(one.data_factor - other.data_factor) <= kSameData * one.data_factor;
}

std::string SparkRuns::RemarkOnModel() const {
  const double of_phases = 100 * ErrorsOf(TaskModelKind::kPhases).error;
  const LeftOutErrors& of_box = ErrorsOf(TaskModelKind::kBlackBox);
  // Errors for different runs are not comparable.
  if (of_box.runs == 0 || of_box.runs != ErrorsOf(TaskModelKind::kPhases).runs) return "";
  if (chosen_ == TaskModelKind::kBlackBox) {
    return fmt::format(
        "the statistical model (black box) predicts the task times: its mean error is {:.0f} % for "
        "left-out runs "
        "(phase models: {:.0f} %)",
        100 * of_box.error, of_phases);
  }
  return fmt::format(
      "the phase models predict the task times: their mean error is {:.0f} % for left-out runs "
      "(black box: {:.0f} %)",
      of_phases, 100 * of_box.error);
}

namespace {

// Returns the index of the probe's stage with this signature, or else of its last stage with this
// number of tasks, since a probe run ends with the stage.
std::optional<std::size_t> ProbedStage(const SparkRun& probe, const std::string& signature,
                                       std::uint64_t task_count) {
  const std::vector<PlannedStage>& stages = probe.plan.jobs[0].stages;
  std::optional<std::size_t> last;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (stages[i].task_count != task_count) continue;
    if (probe.signatures[i] == signature) return i;
    last = i;
  }
  return last;
}

}  // namespace

absl::Status SparkRuns::Split(const std::map<std::string, SparkRun>& probes) {
  const auto error = [](const std::string& stage, const std::string& what) {
    return absl::InvalidArgumentError(fmt::format("--probe {}: {}", stage, what));
  };
  const SparkRun& run = runs_[0];
  for (const auto& [words, probe] : probes) {
    for (const SparkRun& other : runs_) {
      if (other.measured.parameters() == run.measured.parameters()) continue;
      return error(words,
                   "the runs have different parameters and show their effect; omit --probe, or "
                   "pass only logs with the same parameters to --learn");
    }
    bool is_found = false;
    for (std::size_t i = 0; i < run.numbers.size(); ++i) {
      const PlannedStage& stage = run.plan.jobs[0].stages[i];
      if (stage.name.find(words) == std::string::npos) continue;
      is_found = true;
      const double whole = MeanTaskSeconds(run, i);
      const std::optional<std::size_t> part =
          ProbedStage(probe, run.signatures[i], stage.task_count);
      const double before = part ? MeanTaskSeconds(probe, *part) : 0;
      if (!(whole > 0 && before > 0)) {
        return error(words, fmt::format("the probe run has no stage with {} and metrics; run the "
                                        "program on the same input until the probe",
                                        text::Counted(stage.task_count, "task")));
      }
      if (before > kProbeShareMax * whole) {
        return error(words, fmt::format("the probe's tasks took {:.3g} s, but the tasks of {} took "
                                        "{:.3g} s; end the probe run earlier",
                                        before, stage.name, whole));
      }
      probed_[run.signatures[i]] = std::min(before / whole, 1.0);
    }
    if (!is_found) return error(words, "no stage of the run has a name that contains these words");
  }
  return absl::OkStatus();
}

absl::StatusOr<ModelledRun> SparkRuns::With(const Settings& changes, double data_factor,
                                            const durations::Parameters& parameters,
                                            const StatedSizes& sizes) const {
  const auto settings = SettingsOf(runs_[0].measured, changes);
  if (!settings.ok()) return settings.status();
  if (absl::Status numbers = parameters_.Check(parameters); !numbers.ok()) return numbers;
  durations::Parameters all = runs_[0].measured.parameters();
  for (const auto& [name, value] : parameters) all[name] = value;
  auto predicted = Predict({settings->other, data_factor, all}, sizes, chosen_);
  if (!predicted.ok()) return predicted.status();
  const phases::RunEstimate& expected = predicted->expected;
  const SparkRun& base = runs_[predicted->like];
  ModelledRun& other = predicted->run;
  if (!other.remarks.empty()) other.deviation = std::max(2 * other.deviation, kUnknownDeviation);
  if (!sizes.empty() && !parameters_.Remarks(all).empty()) {
    other.remarks.emplace_back(
        "assumes that the parameters affect only the sizes of --size, since no run has their "
        "values");
  }
  const auto is_known = [](const phases::StageEstimate& stage) { return stage.is_known; };
  if (std::ranges::none_of(expected.stages, is_known)) {
    other.binding.clear();
    other.model.clear();
    other.remarks.emplace_back(
        base.measured.stages().empty()
            ? "the most similar run has no metrics of tasks: its task times are used unchanged"
            : "cannot learn from the most similar run: its task times are used unchanged");
  }
  // A chosen black box may lack a model of a stage, so the phase models predict the times.
  const bool uses_chosen = chosen_ == TaskModelKind::kPhases || expected.black_box.has_value();
  if (const std::string of_model = RemarkOnModel();
      !of_model.empty() && !other.whole && !other.model.empty() && uses_chosen) {
    other.remarks.push_back(of_model);
  }
  AddUnusedProbes(base, sizes, all, other);
  if (!expected.beyond.empty()) {
    other.remarks.push_back(fmt::format(
        "{}: {}",
        runs_.size() == 1 ? "different from the past run" : "outside the range of past runs",
        fmt::join(expected.beyond, ", ")));
  }
  if (ArePartitionsOthers(*settings) && !models_.FollowsPartitions()) {
    other.remarks.emplace_back(
        "no stage is known to use spark.sql.shuffle.partitions or spark.default.parallelism, so "
        "all stages keep their numbers of tasks");
  }
  const std::string remark = RemarkOnAssumed(expected.unknown_costs);
  if (!remark.empty()) other.remarks.push_back(remark);
  AddUnmodelled(*settings, other);
  other.remarks.insert(other.remarks.end(), remarks_.begin(), remarks_.end());
  return std::move(other);
}

void SparkRuns::AddUnusedProbes(const SparkRun& base, const StatedSizes& sizes,
                                const durations::Parameters& parameters, ModelledRun& other) const {
  const auto stated = StatedFactors(sizes, base, parameters);
  if (probed_.empty() || !stated.ok()) return;
  std::set<std::string> used;
  for (const auto& [writer, reader] : ShufflesOf(base)) {
    if (stated->contains(reader)) used.insert(writer);
  }
  for (std::size_t i = 0; i < base.signatures.size(); ++i) {
    const std::string& signature = base.signatures[i];
    if (!probed_.contains(signature) || used.contains(signature)) continue;
    other.remarks.push_back(
        fmt::format("--probe {}: --size describes no shuffle of this stage, so the probe run has "
                    "no effect",
                    base.plan.jobs[0].stages[i].name));
  }
}

absl::StatusOr<SparkRuns::Prediction> SparkRuns::Predict(const Conditions& asked,
                                                         const StatedSizes& sizes,
                                                         TaskModelKind kind) const {
  phases::RunScenario scenario = {.settings = asked.settings,
                                  .data_factor = asked.data_factor,
                                  .others = parameters_.Levels(asked.parameters)};
  const std::size_t like = models_.MostLike(scenario);
  const SparkRun& base = runs_[like];
  scenario.fetched = parameters_.Fetched(base.measured.parameters(), asked.parameters);
  const auto stated = StatedFactors(sizes, base, asked.parameters);
  if (!stated.ok()) return stated.status();
  for (const auto& [signature, factor] : *stated) scenario.fetched[signature] = factor;
  for (const auto& [writer, reader] : ShufflesOf(base)) {
    const auto factor = scenario.fetched.find(reader);
    if (factor == scenario.fetched.end()) continue;
    const auto probed = probed_.find(writer);
    if (probed != probed_.end()) {
      scenario.slowed[writer] = probed->second + (1 - probed->second) * factor->second;
    } else if (stated->contains(reader)) {
      scenario.written[writer] = factor->second;
    }
  }
  phases::RunEstimate expected = models_.On(like, scenario);
  const bool is_of_box = kind == TaskModelKind::kBlackBox && expected.black_box;
  const double slots = asked.settings.slots();
  ModelledRun other = {.plan = base.plan,
                       .slots = static_cast<std::uint32_t>(std::clamp(slots, 1.0, 1e6)),
                       .executors = asked.settings.executors,
                       .cores = asked.settings.cores(),
                       .deviation = is_of_box ? expected.black_box->deviation : expected.deviation,
                       .bounds_share = BoundsShareOf(
                           ErrorsOf(is_of_box ? TaskModelKind::kBlackBox : TaskModelKind::kPhases)),
                       .binding = phases::NameOf(expected.binding),
                       .model = is_of_box ? "black box" : "phase models"};
  // The models predict task times at exactly these slots.
  other.plan.cluster.slots = other.slots;
  std::vector<PlannedStage>& stages = other.plan.jobs[0].stages;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    phases::StageEstimate& stage = expected.stages[i];
    if (!stage.is_known) continue;
    if (is_of_box) {
      stage.task_seconds = stage.fresh_task_seconds = expected.black_box->task_seconds[i];
    }
    SetTimes(stage, base.measured.stages().at(base.numbers[i]).tasks, stages[i]);
  }
  stages = Repeated(std::move(stages), base.works, parameters_.Counts(asked.parameters));
  if (expected.whole && !is_of_box) {
    Reconcile(*expected.whole, other);
    other.model = "phase models and whole runs";
  }
  if (expected.scaled) {
    other.whole = expected.scaled;
    other.deviation = 0;
    other.bounds_share = 1;
    other.model = "curves over executors";
  }
  if (sizes.empty()) other.remarks = parameters_.Remarks(asked.parameters);
  return Prediction{std::move(other), like, std::move(expected)};
}

std::vector<PlannedStage> Repeated(std::vector<PlannedStage> stages,
                                   const std::vector<std::uint64_t>& works,
                                   const std::map<std::uint64_t, std::uint32_t>& counts) {
  absl::flat_hash_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < stages.size(); ++i) places[stages[i].name] = i;
  std::vector<durations::RepeatableStage> ran;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    durations::RepeatableStage& stage =
        ran.emplace_back(durations::RepeatableStage{.work = works[i]});
    for (const std::string& parent : stages[i].after) {
      const auto place = places.find(parent);
      if (place != places.end()) stage.after.push_back(place->second);
    }
  }
  std::vector<PlannedStage> repeated;
  const std::vector<durations::RepeatedStage> all = durations::Repeated(ran, counts);
  for (const durations::RepeatedStage& stage : all) {
    PlannedStage& added = repeated.emplace_back(stages[stage.like]);
    if (stage.turns_later > 0) added.name = fmt::format("{} (+{})", added.name, stage.turns_later);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    repeated[i].after.clear();
    for (const std::size_t parent : all[i].after) {
      repeated[i].after.push_back(repeated[parent].name);
    }
  }
  return repeated;
}

}  // namespace tidemark::whatif
