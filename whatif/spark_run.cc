#include "whatif/spark_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <system_error>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "master/store/record_reader.h"
#include "text/utf8.h"
#include "tidemark/job_monitor.h"
#include "tidemark/job_tasks.h"
#include "tidemark/limit.h"
#include "whatif/mapreduce_run.h"
#include "whatif/plan_estimate.h"
#include "whatif/spark_models.h"

namespace tidemark::whatif {
namespace {

// Number of a stage without a signature, such as a stage of an unknown job.
constexpr std::uint32_t kNoStage = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kNameBytesMax = 256;  // as of a plan

std::vector<absl::Duration> TimesOf(const std::vector<double>& seconds) {
  std::vector<absl::Duration> times;
  for (const double time : seconds) times.push_back(absl::Seconds(time));
  return times;
}

// Returns the task times of the first warmth that has any.
const std::vector<double>& AnyOf(const std::array<std::vector<double>, 4>& kinds) {
  for (const std::size_t kind : {2, 1, 3, 0}) {
    if (!kinds[kind].empty()) return kinds[kind];
  }
  return kinds[0];
}

PlannedStage StageOf(const PastStage& ran, const std::string& name) {
  return {.name = name,
          .task_count = ran.tasks,
          .lag = absl::Seconds(ran.lag),
          .task_times = TimesOf(AnyOf(ran.seconds)),
          .first_task_times = TimesOf(ran.seconds[1]),
          .fresh_task_times = TimesOf(ran.seconds[0]),
          .last_task_times = TimesOf(ran.seconds[3])};
}

// Returns a name for one of several stages that have the same name.
std::string NameByPlace(const std::string& name, std::size_t place) {
  const std::string number = fmt::format("stage {} of the log", place + 1);
  return name.empty() ? number : fmt::format("{} ({})", name, number);
}

// Returns the time from the start of the job to the end of its last stage, or nullopt if it did not
// succeed.
std::optional<absl::Duration> TimeToLastStage(const Snapshot& job) {
  if (job.state != JobState::kSucceeded || !job.started_at) return std::nullopt;
  absl::Duration longest;
  for (const StageProgress& stage : job.stages) {
    if (stage.ended_at) longest = std::max(longest, *stage.ended_at - *job.started_at);
  }
  return longest > absl::ZeroDuration() ? std::optional(longest) : std::nullopt;
}

// Stretches all task times so that the plan ends when the run did. The log contains the task times,
// but not the order in which slots ran the tasks. If a longer run needs a factor above kStretchMax,
// the rest of the time precedes the first stages. For a shorter run, all times are stretched.
void FitToDuration(absl::Duration took, Plan& plan) {
  constexpr double kStretchMax = 1.5;
  constexpr double kTrial = 1.05;
  const auto stretched = [&](double factor) {
    Plan other = plan;
    for (PlannedStage& stage : other.jobs[0].stages) StretchTasks(factor, stage);
    return other;
  };
  const auto end = EndOf(plan);
  const auto longer = EndOf(stretched(kTrial));
  if (!end || !longer || *longer <= *end) return;
  const double factor = 1 + absl::FDivDuration(took - *end, *longer - *end) * (kTrial - 1);
  if (factor > 1 / kStretchMax && factor < kStretchMax) {
    plan = stretched(factor);
    return;
  }
  if (took < *end) {
    Stretch(absl::FDivDuration(took, *end), plan);
    return;
  }
  for (PlannedStage& stage : plan.jobs[0].stages) {
    if (stage.after.empty()) stage.lag += took - *end;
  }
}

// A stage that a log announces.
struct StageName {
  std::uint32_t number = 0;
  std::string name;  // display name
  std::uint64_t work = 0;
};

// Collects the facts of a run that a monitor does not keep.
struct RunFacts {
  std::map<std::string, StageName> stages;  // by signature
  std::string name;
  std::string application_id;
  std::map<std::uint32_t, std::uint64_t> reduce_bytes;  // of a MapReduce job, by task
  std::uint64_t rejected = 0;
  absl::Time last = absl::InfinitePast();

  void Observe(const Event& event) {
    last = event.arrived_at;
    if (const auto* profile = std::get_if<ReduceProfile>(&event.body)) {
      std::uint64_t& bytes = reduce_bytes[profile->attempt.index];
      bytes = std::max(bytes, profile->bytes_done);
    }
    if (const auto* opened = std::get_if<JobOpened>(&event.body)) {
      name = text::Cut(opened->name, kNameBytesMax);
      application_id = opened->application_id;
    }
    const auto* stage = std::get_if<StageOpened>(&event.body);
    if (stage == nullptr || stage->signature.empty()) return;
    stages.try_emplace(
        stage->signature,
        StageName{stage->stage, fmt::format("{} {}", stage->stage, stage->name), stage->work});
  }
};

// Returns why there is no plan of the stages of a run.
absl::Status WhyNoPlan(const std::string& path, const RunFacts& facts, const Snapshot& job) {
  if (facts.stages.size() > PastRun::kStagesMax) {
    return absl::InvalidArgumentError(fmt::format("{}: it has {} stages; what-if takes at most {}",
                                                  path, facts.stages.size(), PastRun::kStagesMax));
  }
  const auto has_finished = [](const StageProgress& stage) { return stage.finished_tasks > 0; };
  if (std::ranges::any_of(job.stages, has_finished)) {
    return absl::FailedPreconditionError(
        fmt::format("{}: its stages form no plan: they have more than {} dependencies, or names "
                    "that are too long, or all stages failed",
                    path, PastRun::kEdgesMax));
  }
  return absl::FailedPreconditionError(
      fmt::format("{}: cannot estimate, because no task has ended", path));
}

// Adds the stages that ran to the plan.
void AddStages(const PastRun& profile, const RunFacts& facts, SparkRun& run) {
  PlannedJob job = {.name = facts.name};
  std::set<std::string> names;
  for (const PastStage& ran : profile.stages) {
    const auto known = facts.stages.find(ran.name);
    StageName named =
        known == facts.stages.end() ? StageName{kNoStage, ran.name, 0} : known->second;
    if (named.number == kNoStage || !names.insert(named.name).second) {
      named.name = NameByPlace(named.name, job.stages.size());
    }
    PlannedStage& stage = job.stages.emplace_back(StageOf(ran, named.name));
    if (const auto slots = run.measured.SlotsOf(named.number)) {
      const double share = static_cast<double>(*slots) / run.plan.cluster.slots;
      stage.slot_share = std::clamp(share, 1e-6, 1.0);
    }
    run.numbers.push_back(named.number);
    run.signatures.push_back(ran.name);
    run.works.push_back(named.work);
  }
  for (std::size_t i = 0; i < profile.stages.size(); ++i) {
    for (const std::size_t parent : profile.stages[i].parents) {
      job.stages[i].after.push_back(job.stages[parent].name);
    }
  }
  run.plan.jobs.push_back(std::move(job));
}

// Adds the stages of a MapReduce job to the run.
void AddStages(MapReduceRun stages, const RunFacts& facts, SparkRun& run) {
  run.plan = std::move(stages.plan);
  run.plan.name = run.plan.jobs.front().name = facts.name;
  run.reduce_fixed_share = stages.reduce_fixed_share;
  run.application_id = facts.application_id;
  const std::size_t count = run.plan.jobs.front().stages.size();
  run.numbers.assign(count, kNoStage);
  run.signatures.resize(count);
  run.works.resize(count);
}

}  // namespace

// --- logs -------------------------------------------------------------------------------------

absl::StatusOr<std::unique_ptr<JobLog>> JobLog::Open(const std::string& path,
                                                     spark::MeasuredStages* measured) {
  auto log = std::make_unique<JobLog>();
  log->path_ = path;
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) {
    auto of_master = store::EventLogReader::Open(path);
    if (of_master.ok()) {
      log->of_master_ = *std::move(of_master);
      return log;
    }
    if (!absl::IsInvalidArgument(of_master.status())) return of_master.status();
  }
  if (hadoop::IsHistoryFile(path)) {
    auto history = hadoop::HistoryLog::Open(path);
    if (!history.ok()) return history.status();
    log->history_ = *std::move(history);
    return log;
  }
  auto spark = spark::LogReader::Open(path, {.measured = measured});
  if (!spark.ok()) return spark.status();
  log->spark_ = *std::move(spark);
  return log;
}

absl::StatusOr<std::optional<Event>> JobLog::Next() {
  if (spark_ != nullptr) return spark_->Next();
  if (history_ != nullptr) return history_->Next();
  for (;;) {
    auto record = NextRecord();
    if (!record.ok()) return record.status();
    if (!record->has_value()) return std::nullopt;
    if (auto* const event = std::get_if<Event>(&**record)) return std::move(*event);
  }
}

absl::StatusOr<std::optional<store::LogRecord>> JobLog::NextRecord() {
  auto record = of_master_->Next();
  if (!record.ok() || !record->has_value()) return record;
  if (const auto* const damage = std::get_if<store::Damage>(&**record)) {
    damages_.push_back(store::RecordReader::Describe(store::kEventLog, path_, *damage));
  }
  return record;
}

std::vector<std::string> JobLog::Remarks(std::uint64_t rejected) const {
  if (of_master_ != nullptr) return damages_;
  std::vector<std::string> remarks =
      history_ != nullptr ? history_->Remarks(rejected) : spark::RemarksOn(*spark_, rejected);
  for (std::string& remark : remarks) remark = fmt::format("{}: {}", path_, remark);
  return remarks;
}

bool IsEventLog(const std::string& path) {
  if (hadoop::IsHistoryFile(path)) return true;
  const auto log = JobLog::Open(path);
  if (!log.ok()) return absl::IsDataLoss(log.status());
  if ((*log)->spark() == nullptr) return true;
  const absl::Status status = (*log)->Next().status();  // ReadSparkRun() reports it.
  const bool is_packed = absl::IsUnimplemented(status) || absl::IsDataLoss(status);
  return is_packed || (*log)->spark()->counts().events > 0;
}

// --- runs -------------------------------------------------------------------------------------

absl::StatusOr<SparkRun> ReadSparkRun(const std::string& path) {
  SparkRun run;
  const auto log = JobLog::Open(path, &run.measured);
  if (!log.ok()) return log.status();
  JobMonitor monitor("log", {});
  RunFacts facts;
  for (;;) {
    auto event = (*log)->Next();
    if (!event.ok()) return event.status();
    if (!*event) break;
    const absl::Status applied = monitor.Apply(**event);
    if (!applied.ok()) ++facts.rejected;
    if (!ExceededLimit(applied).empty() && !monitor.is_open()) {
      return absl::Status(applied.code(),
                          fmt::format("{}: {}", path, std::string(applied.message())));
    }
    facts.Observe(**event);
  }
  if (facts.last != absl::InfinitePast()) {
    const Snapshot& job = monitor.Tick(facts.last);
    run.took = TimeToLastStage(job);
    if (run.took) run.ended_later = job.elapsed() - *run.took;
  }
  if (monitor.job().info && monitor.job().info->kind == JobKind::kMapReduce) {
    const JobTasks tasks =
        monitor.ListTasks({.tasks_max = std::numeric_limits<std::size_t>::max()}, facts.last);
    if (auto stages = MapReduceRunOf(tasks, monitor.job().started_at.value_or(facts.last),
                                     facts.reduce_bytes)) {
      AddStages(*std::move(stages), facts, run);
      if (absl::Status valid = CheckPlan(run.plan); !valid.ok()) return valid;
      if (run.took) FitToDuration(*run.took, run.plan);
      run.is_damaged = (*log)->has_damage();
      run.remarks = (*log)->Remarks(facts.rejected);
      return run;
    }
  }
  const PastRun profile = monitor.Summary().run;
  if (profile.stages.empty()) {
    const absl::Status why = WhyNoPlan(path, facts, monitor.job());
    std::vector<std::string> reasons = {std::string(why.message())};
    for (std::string& remark : (*log)->Remarks(facts.rejected)) {
      reasons.push_back(std::move(remark));
    }
    return absl::Status(why.code(), fmt::format("{}", fmt::join(reasons, "; ")));
  }
  run.plan.name = facts.name;
  run.application_id = facts.application_id;
  // Tasks overlap slightly in a log, so more tasks may appear to run at the same time than there
  // are slots.
  const spark::LogReader* const spark = (*log)->spark();
  const std::uint64_t slots = spark != nullptr ? spark->application().slots_max() : 0;
  const double used =
      slots > 0 ? std::min<double>(static_cast<double>(slots), kSlotsMax) * profile.used_share
                : profile.slots;
  run.plan.cluster.slots = static_cast<std::uint32_t>(std::max(std::round(used), 1.0));
  if (profile.used_share < 1) {
    const auto settings = SettingsOf(run.measured, {});
    if (settings.ok()) {
      run.measured.LimitTasksAtOnce(profile.used_share * settings->ran.tasks_at_once());
    }
  }
  AddStages(profile, facts, run);
  if (absl::Status valid = CheckPlan(run.plan); !valid.ok()) return valid;
  if (run.took) FitToDuration(*run.took, run.plan);
  run.is_damaged = (*log)->has_damage();
  run.remarks = (*log)->Remarks(facts.rejected);
  for (const std::string& remark : spark::RemarksOn(run.measured.impossible())) {
    run.remarks.push_back(fmt::format("{}: {}", path, remark));
  }
  return run;
}

bool IsSameRun(const SparkRun& one, const SparkRun& other) {
  return one.application_id == other.application_id && one.took == other.took &&
         one.measured.properties() == other.measured.properties() &&
         one.measured.parameters() == other.measured.parameters() && one.plan == other.plan;
}

double TasksPerCounted(const SparkRun& run, std::size_t stage) {
  const auto measured = run.measured.stages().find(run.numbers[stage]);
  if (measured == run.measured.stages().end()) return 1;
  const std::size_t counted = measured->second.tasks.size();
  if (counted < spark::MeasuredStages::kTasksOfStageMax) return 1;
  const auto tasks = static_cast<double>(run.plan.jobs[0].stages[stage].task_count);
  return std::max(tasks / static_cast<double>(counted), 1.0);
}

std::vector<phases::PastStage> CountedStages(const SparkRun& run) {
  const std::vector<PlannedStage>& planned = run.plan.jobs[0].stages;
  // number of tasks that read the output of each stage
  std::map<std::string, std::uint64_t> readers;
  for (const PlannedStage& stage : planned) {
    for (const std::string& parent : stage.after) {
      readers[parent] = std::max(readers[parent], stage.task_count);
    }
  }
  const bool is_kryo = [&] {
    const phases::Properties properties = run.measured.properties();
    const auto set = properties.find("spark.serializer");
    return set != properties.end() && set->second.ends_with(".KryoSerializer");
  }();
  std::vector<phases::PastStage> stages;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    phases::PastStage& ran = stages.emplace_back();
    ran.next_tasks = static_cast<double>(readers[planned[i].name]);
    ran.lag_seconds = absl::ToDoubleSeconds(planned[i].lag);
    ran.slot_share = planned[i].slot_share;
    const auto measured = run.measured.stages().find(run.numbers[i]);
    if (measured == run.measured.stages().end()) continue;
    ran.tasks = measured->second.tasks;
    ran.tasks_for_each = TasksPerCounted(run, i);
    ran.is_relocatable = measured->second.is_of_sql || is_kryo;
  }
  return stages;
}

// --- plans ------------------------------------------------------------------------------------

std::optional<absl::Duration> EndOf(const Plan& plan, std::optional<std::uint32_t> slots) {
  const auto outcome = EstimateStages(plan, {.slots = slots}, absl::UnixEpoch());
  if (!outcome.ok() || !outcome->snapshot.estimate.remaining) return std::nullopt;
  return outcome->snapshot.estimate.remaining->median;
}

void StretchTasks(double factor, PlannedStage& stage) {
  if (factor == 1) return;
  for (auto* times : {&stage.task_times, &stage.first_task_times, &stage.fresh_task_times,
                      &stage.last_task_times}) {
    for (absl::Duration& time : *times) time *= factor;
  }
}

void Stretch(double factor, Plan& plan) {
  for (PlannedJob& job : plan.jobs) {
    for (PlannedStage& stage : job.stages) {
      StretchTasks(factor, stage);
      stage.lag *= factor;
    }
  }
}

}  // namespace tidemark::whatif
