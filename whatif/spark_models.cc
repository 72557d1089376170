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
// (bench/results/what_if.json). With this share of their distance from the median, they contain 91
// %.
constexpr double kLearntBoundsShare = 0.65;

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
  constexpr double kQuantile95 = 1.6449;
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
        "the executors' resource profiles differ; each executor is predicted with the mean number "
        "of concurrent tasks");
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
  std::vector<SparkRun>& runs = related.runs;
  const std::vector<std::string>& paths = related.paths;
  std::vector<phases::PastApplication> ran;
  std::vector<double> data_bytes;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto settings = SettingsOf(runs[i].measured, {});
    if (!settings.ok()) {
      return absl::Status(
          settings.status().code(),
          fmt::format("{}: {}", paths[i], std::string(settings.status().message())));
    }
    for (const std::string& remark : i > 0 ? settings->of_run : std::vector<std::string>()) {
      related.remarks.push_back(fmt::format("{}: {}", paths[i], remark));
    }
    ran.push_back(PastApplicationOf(runs[i], settings->ran));
    data_bytes.push_back(phases::InputBytes(ran.back()));
  }
  auto parameters = SparkParameters::Learn(runs, data_bytes);
  if (!parameters.ok()) return parameters.status();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    ran[i].others = parameters->Levels(runs[i].measured.parameters());
  }
  auto models = phases::ManyRuns::Learn(std::move(ran), phases::UsualCosts());
  if (!models.ok()) {
    // A run with metrics gives a clearer error than a run without.
    const auto with_metrics = std::ranges::find_if(
        runs, [](const SparkRun& run) { return !run.measured.stages().empty(); });
    const auto at = with_metrics == runs.end() ? runs.begin() : with_metrics;
    const absl::Status nothing = NothingToLearn(*at, models.status());
    return absl::Status(nothing.code(),
                        fmt::format("{}: {}", paths[static_cast<std::size_t>(at - runs.begin())],
                                    std::string(nothing.message())));
  }
  SparkRuns learnt(std::move(runs), *std::move(models), *std::move(parameters));
  learnt.remarks_ = std::move(related.remarks);
  return learnt;
}

absl::StatusOr<ModelledRun> SparkRuns::With(const Settings& changes, double data_factor,
                                            const durations::Parameters& parameters,
                                            const StatedSizes& sizes) const {
  const auto settings = SettingsOf(runs_[0].measured, changes);
  if (!settings.ok()) return settings.status();
  if (absl::Status numbers = parameters_.Check(parameters); !numbers.ok()) return numbers;
  durations::Parameters all = runs_[0].measured.parameters();
  for (const auto& [name, value] : parameters) all[name] = value;
  phases::RunScenario asked = {
      .settings = settings->other, .data_factor = data_factor, .others = parameters_.Levels(all)};
  const std::size_t like = models_.MostLike(asked);
  const SparkRun& base = runs_[like];
  asked.fetched = parameters_.Fetched(base.measured.parameters(), all);
  const auto stated = StatedFactors(sizes, base, all);
  if (!stated.ok()) return stated.status();
  for (const auto& [signature, factor] : *stated) asked.fetched[signature] = factor;
  const phases::RunEstimate expected = models_.On(like, asked);
  const double slots = settings->other.slots();
  ModelledRun other = {.plan = base.plan,
                       .slots = static_cast<std::uint32_t>(std::clamp(slots, 1.0, 1e6)),
                       .executors = settings->other.executors,
                       .cores = settings->other.cores(),
                       .deviation = expected.deviation,
                       .bounds_share = kLearntBoundsShare,
                       .binding = phases::NameOf(expected.binding)};
  // The models predict task times at exactly these slots.
  other.plan.cluster.slots = other.slots;
  std::vector<PlannedStage>& stages = other.plan.jobs[0].stages;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (!expected.stages[i].is_known) continue;
    SetTimes(expected.stages[i], base.measured.stages().at(base.numbers[i]).tasks, stages[i]);
  }
  stages = Repeated(std::move(stages), base.works, parameters_.Counts(all));
  if (expected.whole) Reconcile(*expected.whole, other);
  if (expected.scaled) {
    other.whole = expected.scaled;
    other.deviation = 0;
    other.bounds_share = 1;
  }
  other.remarks = parameters_.Remarks(all);
  if (!other.remarks.empty()) other.deviation = std::max(2 * other.deviation, kUnknownDeviation);
  const auto is_known = [](const phases::StageEstimate& stage) { return stage.is_known; };
  if (std::ranges::none_of(expected.stages, is_known)) {
    other.binding.clear();
    other.remarks.emplace_back(
        base.measured.stages().empty()
            ? "the most similar run has no metrics of tasks: its task times are used unchanged"
            : "cannot learn from the most similar run: its task times are used unchanged");
  }
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
  return other;
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
