#include "whatif/spark_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/time/time.h"
#include "spark/log_reader.h"
#include "spark/remarks.h"
#include "tidemark/job_monitor.h"
#include "whatif/job_log.h"
#include "whatif/phases/what_if.h"
#include "whatif/plan_estimate.h"

namespace tidemark::cli {
namespace {

// As --slots takes them.
constexpr std::uint32_t kSlotsMax = 1'000'000;

std::vector<absl::Duration> TimesOf(const std::vector<double>& seconds) {
  std::vector<absl::Duration> times;
  for (const double time : seconds) times.push_back(absl::Seconds(time));
  return times;
}

// The task times of the first kind that has any.
const std::vector<double>& AnyOf(const std::array<std::vector<double>, 4>& kinds) {
  for (const std::size_t kind : {2, 1, 3, 0}) {
    if (!kinds[kind].empty()) return kinds[kind];
  }
  return kinds[0];
}

PlannedStage StageOf(const StageProfile& ran, const std::string& name) {
  return {.name = name,
          .task_count = ran.tasks,
          .lag = absl::Seconds(ran.lag),
          .task_times = TimesOf(AnyOf(ran.seconds)),
          .first_task_times = TimesOf(ran.seconds[1]),
          .fresh_task_times = TimesOf(ran.seconds[0]),
          .last_task_times = TimesOf(ran.seconds[3])};
}

// Of a stage without a signature, such as one of which no job is known.
constexpr std::uint32_t kNoStage = std::numeric_limits<std::uint32_t>::max();
// Several of them may have one name.
std::string NameByPlace(const std::string& name, std::size_t place) {
  const std::string number = fmt::format("stage {} of the log", place + 1);
  return name.empty() ? number : fmt::format("{} ({})", name, number);
}

double WorkOf(const PlannedStage& stage) {
  double sum = 0;
  for (const absl::Duration time : stage.task_times) sum += absl::ToDoubleSeconds(time);
  if (stage.task_times.empty()) return 0;
  return sum / static_cast<double>(stage.task_times.size()) * static_cast<double>(stage.task_count);
}

void StretchStage(double factor, PlannedStage& stage) {
  if (factor == 1) return;
  for (auto* times : {&stage.task_times, &stage.first_task_times, &stage.fresh_task_times,
                      &stage.last_task_times}) {
    for (absl::Duration& time : *times) time *= factor;
  }
}

// Empty: not all of them did what they had to do.
std::optional<absl::Duration> TimeToLastStage(const Snapshot& job) {
  if (job.state != JobState::kSucceeded || !job.started_at) return std::nullopt;
  absl::Duration longest;
  for (const StageProgress& stage : job.stages) {
    if (stage.ended_at) longest = std::max(longest, *stage.ended_at - *job.started_at);
  }
  return longest > absl::ZeroDuration() ? std::optional(longest) : std::nullopt;
}

// What the tasks of a run took is known to it, but not in which order their slots took them. So
// that the plan as it is ends when the run did, all of them are stretched: what it ends with moves
// in proportion. A plan that would have to be stretched by more than kStretchMax is left as it is.
void TakeAsLongAs(absl::Duration took, Plan& plan) {
  constexpr double kStretchMax = 1.5;
  constexpr double kTrial = 1.05;
  const auto stretched = [&](double factor) {
    Plan other = plan;
    for (PlannedStage& stage : other.jobs[0].stages) StretchStage(factor, stage);
    return other;
  };
  const auto said = EndOf(plan);
  const auto longer = EndOf(stretched(kTrial));
  if (!said || !longer || *longer <= *said) return;
  const double factor = 1 + absl::FDivDuration(took - *said, *longer - *said) * (kTrial - 1);
  if (factor > 1 / kStretchMax && factor < kStretchMax) plan = stretched(factor);
}

// Returns an error if a setting that no model covers is none of Spark's, or has a value that Spark
// rejects.
absl::Status CheckUnmodelled(const std::string& name, const std::string& value) {
  constexpr std::string_view kPrefix = "spark.";
  if (!name.starts_with(kPrefix) || name.size() == kPrefix.size()) {
    return absl::InvalidArgumentError(
        fmt::format("{}: it is no setting of Spark; their names begin with {}", name, kPrefix));
  }
  // Spark's own switches are true or false; other programs have settings below spark., too.
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

}  // namespace

bool IsSameRun(const SparkRun& one, const SparkRun& other) {
  return one.application_id == other.application_id && one.took == other.took &&
         one.measured.properties() == other.measured.properties() &&
         one.measured.parameters() == other.measured.parameters() && one.plan == other.plan;
}

std::optional<absl::Duration> EndOf(const Plan& plan) {
  const auto outcome = EstimateStages(plan, {}, absl::UnixEpoch());
  if (!outcome.ok() || !outcome->snapshot.estimate.remaining) return std::nullopt;
  return outcome->snapshot.estimate.remaining->median;
}

void Stretch(double factor, Plan& plan) {
  for (PlannedJob& job : plan.jobs) {
    for (PlannedStage& stage : job.stages) {
      StretchStage(factor, stage);
      stage.lag *= factor;
    }
  }
}

absl::StatusOr<SettingsPair> SettingsOf(const spark::MeasuredStages& measured,
                                        const std::map<std::string, std::string>& changes) {
  const std::vector<const char*>& known = phases::PropertiesOfUse();
  phases::SeenExecutors seen = measured.executors();
  if (measured.version().empty()) {
    return absl::FailedPreconditionError("the log does not say which version of Spark wrote it");
  }
  const auto ran = phases::ParseRunSettings(measured.version(), measured.properties(), seen);
  if (!ran.ok()) return ran.status();
  SettingsPair pair = {.ran = ran->settings, .of_run = ran->remarks};
  phases::Properties properties = ran->modelled;
  for (const auto& [name, value] : changes) {
    const auto is_it = [&name = name](const char* other) { return name == other; };
    if (std::none_of(known.begin(), known.end(), is_it)) {
      if (absl::Status checked = CheckUnmodelled(name, value); !checked.ok()) return checked;
      pair.of_changes.push_back(fmt::format(
          "{}={}: the effect of this setting is not modelled; the interval is wider", name, value));
      continue;
    }
    if (const std::string why = phases::WhyNotModelled(name, value); !why.empty()) {
      pair.of_changes.push_back(fmt::format("{}={}: {}", name, value, why));
      continue;
    }
    if (measured.properties().contains(name) && !ran->modelled.contains(name)) {
      pair.of_changes.push_back(
          fmt::format("{}={}: how the value of the run differs is not known", name, value));
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
        "slots can be asked about; ask for at most {:.0f} executors",
        other->executors, other->tasks_at_once(), kSlotsMax,
        std::floor(kSlotsMax / other->tasks_at_once())));
  }
  pair.other = *other;
  return pair;
}

void AddUnmodelled(const SettingsPair& settings, OtherRun& other) {
  for (const auto* remarks : {&settings.of_changes, &settings.of_run}) {
    if (!remarks->empty()) other.deviation = std::hypot(other.deviation, kUnmodelledDeviation);
    other.remarks.insert(other.remarks.end(), remarks->begin(), remarks->end());
  }
}

bool ArePartitionsOthers(const SettingsPair& settings) {
  return settings.ran.sql_partitions != settings.other.sql_partitions ||
         settings.ran.default_partitions != settings.other.default_partitions;
}

double TasksForEachCounted(const SparkRun& run, std::size_t stage) {
  const auto measured = run.measured.stages().find(run.numbers[stage]);
  if (measured == run.measured.stages().end()) return 1;
  const std::size_t counted = measured->second.tasks.size();
  if (counted < spark::MeasuredStages::kTasksOfStageMax) return 1;
  const auto tasks = static_cast<double>(run.plan.jobs[0].stages[stage].task_count);
  return std::max(tasks / static_cast<double>(counted), 1.0);
}

std::vector<phases::RanStage> StagesOf(const SparkRun& run) {
  const std::vector<PlannedStage>& planned = run.plan.jobs[0].stages;
  std::map<std::string, std::uint64_t> readers;  // tasks that read what the stage wrote
  for (const PlannedStage& stage : planned) {
    for (const std::string& parent : stage.after) {
      readers[parent] = std::max(readers[parent], stage.task_count);
    }
  }
  const bool is_kryo = [&] {
    const auto set = run.measured.properties().find("spark.serializer");
    return set != run.measured.properties().end() && set->second.ends_with(".KryoSerializer");
  }();
  std::vector<phases::RanStage> stages;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    phases::RanStage& ran = stages.emplace_back();
    ran.next_tasks = static_cast<double>(readers[planned[i].name]);
    ran.lag_seconds = absl::ToDoubleSeconds(planned[i].lag);
    const auto measured = run.measured.stages().find(run.numbers[i]);
    if (measured == run.measured.stages().end()) continue;
    ran.tasks = measured->second.tasks;
    ran.tasks_for_each = TasksForEachCounted(run, i);
    ran.is_relocatable = measured->second.is_of_sql || is_kryo;
  }
  return stages;
}

std::uint32_t SlotsWith(const SparkRun& run, const SettingsPair& settings) {
  const double slots = settings.other.slots();
  if (slots == settings.ran.slots()) return run.plan.cluster.slots;
  return static_cast<std::uint32_t>(std::max(slots, 1.0));
}

std::string RemarkOnUntold(const std::vector<phases::Cost>& untold) {
  if (untold.empty()) return "";
  std::vector<std::string> names;
  for (const phases::Cost cost : untold) names.emplace_back(phases::NameOf(cost));
  return fmt::format("usual costs are taken for what this run does not tell: {}",
                     fmt::join(names, ", "));
}

bool IsEventLog(const std::string& path) {
  const auto log = JobLog::Open(path);
  if (!log.ok()) return false;
  if ((*log)->spark() == nullptr) return true;
  const absl::Status status = (*log)->Next().status();  // ReadSparkRun() reports it
  // No plan is compressed.
  const bool is_packed = absl::IsUnimplemented(status) || absl::IsDataLoss(status);
  return is_packed || (*log)->spark()->counts().events > 0;
}

absl::StatusOr<SparkRun> ReadSparkRun(const std::string& path) {
  SparkRun result;
  const auto log = JobLog::Open(path, &result.measured);
  if (!log.ok()) return log.status();
  JobMonitor monitor("log", {});
  Plan& plan = result.plan;
  struct Named {
    std::uint32_t number = 0;
    std::string name;  // for people
    std::uint64_t work = 0;
  };
  std::map<std::string, Named> stages;  // by signature
  std::uint64_t refused = 0;
  absl::Time last = absl::InfinitePast();
  for (;;) {
    auto event = (*log)->Next();
    if (!event.ok()) return event.status();
    if (!*event) break;
    if (!monitor.Apply(**event).ok()) ++refused;
    last = (*event)->arrived_at;
    if (const auto* opened = std::get_if<JobOpened>(&(*event)->body)) {
      plan.name = opened->name;
      result.application_id = opened->application_id;
    }
    if (const auto* stage = std::get_if<StageOpened>(&(*event)->body);
        stage != nullptr && !stage->signature.empty()) {
      stages.try_emplace(
          stage->signature,
          Named{stage->stage, fmt::format("{} {}", stage->stage, stage->name), stage->work});
    }
  }
  if (last != absl::InfinitePast()) result.took = TimeToLastStage(monitor.Tick(last));
  if (monitor.job().info && monitor.job().info->kind == JobKind::kMapReduce) {
    return absl::InvalidArgumentError(
        fmt::format("{}: it is of a MapReduce job; from a log, what-if answers for applications of "
                    "Spark; ask a master about the job",
                    path));
  }
  const RunProfile run = monitor.Summary().stages;
  if (run.stages.empty() && stages.size() > RunProfile::kStagesMax) {
    return absl::InvalidArgumentError(fmt::format("{}: it has {} stages, more than {}", path,
                                                  stages.size(), RunProfile::kStagesMax));
  }
  const auto has_finished = [](const StageProgress& stage) { return stage.finished_tasks > 0; };
  if (run.stages.empty() && std::ranges::any_of(monitor.job().stages, has_finished)) {
    return absl::FailedPreconditionError(fmt::format(
        "{}: no plan can be made of its stages: they have more than {} dependencies or too long "
        "names, or all of them failed",
        path, RunProfile::kEdgesMax));
  }
  if (run.stages.empty()) {
    return absl::FailedPreconditionError(
        fmt::format("{}: no task has ended; there is nothing to estimate from", path));
  }
  // Tasks overlap a little in a log, so the most that ran at once is more than there was room for.
  const spark::LogReader* const spark = (*log)->spark();
  const std::uint64_t slots = spark != nullptr ? spark->application().slots_max() : 0;
  const double used = slots > 0
                          ? std::min<double>(static_cast<double>(slots), kSlotsMax) * run.used_share
                          : run.slots;
  plan.cluster.slots = static_cast<std::uint32_t>(std::max(std::round(used), 1.0));
  if (run.used_share < 1) {
    const auto settings = SettingsOf(result.measured, {});
    if (settings.ok()) {
      result.measured.LimitTasksAtOnce(run.used_share * settings->ran.tasks_at_once());
    }
  }
  PlannedJob job = {.name = plan.name};
  std::set<std::string> names;
  for (const StageProfile& ran : run.stages) {
    const auto known = stages.find(ran.name);
    Named named = known == stages.end() ? Named{kNoStage, ran.name, 0} : known->second;
    if (named.number == kNoStage || !names.insert(named.name).second) {
      named.name = NameByPlace(named.name, job.stages.size());
    }
    job.stages.push_back(StageOf(ran, named.name));
    result.numbers.push_back(named.number);
    result.signatures.push_back(ran.name);
    result.works.push_back(named.work);
  }
  for (std::size_t i = 0; i < run.stages.size(); ++i) {
    for (const std::size_t parent : run.stages[i].parents) {
      job.stages[i].after.push_back(job.stages[parent].name);
    }
  }
  plan.jobs.push_back(std::move(job));
  if (absl::Status makes_sense = CheckPlan(plan); !makes_sense.ok()) return makes_sense;
  if (result.took) TakeAsLongAs(*result.took, plan);
  result.remarks = (*log)->Remarks(refused);
  for (std::string& remark : RemarksOn(result.measured.unbelievable())) {
    result.remarks.push_back(std::move(remark));
  }
  return result;
}

absl::Status NothingToLearn(const SparkRun& run, const absl::Status& why) {
  const auto& measured = run.measured.stages();
  if (measured.empty()) {
    return absl::FailedPreconditionError(
        "the log has no metrics of tasks to learn from (Task Metrics in SparkListenerTaskEnd); ask "
        "about --slots, which works without them");
  }
  const auto is_measured = [&](std::uint32_t number) { return measured.contains(number); };
  if (std::ranges::none_of(run.numbers, is_measured)) {
    return absl::FailedPreconditionError(
        "the log has metrics of tasks, but not the starts of their jobs (SparkListenerJobStart), "
        "which say what their stages do: the events were left out, or are too large to be read; "
        "pass the log as Spark wrote it, or ask about --slots, which works without them");
  }
  return absl::FailedPreconditionError(
      fmt::format("nothing can be learnt from the metrics of tasks in the log: {}",
                  std::string(why.message())));
}

absl::StatusOr<SparkRunModels> SparkRunModels::Learn(const SparkRun& run) {
  const auto settings = SettingsOf(run.measured, {});
  if (!settings.ok()) return settings.status();
  auto models = phases::WhatIf::Learn(StagesOf(run), settings->ran, phases::UsualCosts());
  if (!models.ok()) return NothingToLearn(run, models.status());
  return SparkRunModels(run, *std::move(models));
}

absl::StatusOr<OtherRun> SparkRunModels::With(
    const std::map<std::string, std::string>& changes) const {
  const auto settings = SettingsOf(run_.measured, changes);
  if (!settings.ok()) return settings.status();
  OtherRun other = {.plan = run_.plan,
                    .slots = SlotsWith(run_, *settings),
                    .executors = settings->other.executors,
                    .cores = settings->other.cores()};
  double work = 0;
  double spread = 0;  // work times its deviation
  std::set<phases::Cost> untold;
  std::vector<PlannedStage>& stages = other.plan.jobs[0].stages;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const phases::Changed changed = models_.On(i, settings->other);
    const double seconds = WorkOf(stages[i]);
    StretchStage(changed.times, stages[i]);
    // Stages err alike, by the costs that they share.
    work += seconds * changed.times;
    spread += seconds * changed.times * changed.deviation;
    untold.insert(changed.untold.begin(), changed.untold.end());
  }
  if (work > 0) other.deviation = spread / work;
  if (ArePartitionsOthers(*settings)) {
    other.remarks.emplace_back(
        "all stages keep their numbers of tasks; --partitions, in place of --conf, changes them");
  }
  const std::string remark = RemarkOnUntold({untold.begin(), untold.end()});
  if (!remark.empty()) other.remarks.push_back(remark);
  AddUnmodelled(*settings, other);
  return other;
}

}  // namespace tidemark::cli
