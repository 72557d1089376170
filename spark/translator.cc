#include "spark/translator.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "spark/failure_cause.h"
#include "spark/json_fields.h"
#include "spark/parameters.h"
#include "spark/planned_stages.h"
#include "spark/signature.h"

namespace tidemark::spark {
namespace {

using nlohmann::json;

// Beyond which stages have no signature.
constexpr std::size_t kNamesOfGroupMax = 1000;
// How far an event may be ahead of the one before it: applications sleep over holidays, and an
// instant beyond that is a mistake until a second event agrees.
constexpr absl::Duration kLongestPause = absl::Hours(24 * 30);
// Taste: no application runs for so long.
constexpr absl::Duration kLongestLife = absl::Hours(24 * 999);

// What a reader sees of a description, which may be a whole query or stack: its first line with
// words.
std::string FirstLine(std::string_view text) {
  constexpr char kBlank[] = " \t\v\f\r\n";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == text.npos) return "";
  const std::string_view line = text.substr(begin, text.find_first_of("\r\n", begin) - begin);
  return std::string(line.substr(0, line.find_last_not_of(kBlank) + 1));
}

template <typename Map>
void Bound(std::size_t most, Map& map) {
  while (map.size() > most) map.erase(map.begin());
}

std::optional<absl::Duration> Microseconds(std::optional<std::uint64_t> micros) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 53;
  if (!micros || *micros > kMost) return std::nullopt;
  return absl::Microseconds(static_cast<std::int64_t>(*micros));
}

std::optional<absl::Duration> Milliseconds(std::optional<std::uint64_t> millis) {
  if (millis && *millis <= (std::uint64_t{1} << 40)) return Microseconds(*millis * 1000);
  return std::nullopt;
}

std::optional<absl::Duration> Nanoseconds(std::optional<std::uint64_t> nanos) {
  return nanos ? Microseconds(*nanos / 1000) : std::nullopt;
}

struct Part {
  const json& object;
  const char* name;
};

// What a task has of these, added up: only those that it has are in the log. Empty: none, or one is
// no count.
std::optional<std::uint64_t> Sum(std::initializer_list<Part> parts) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
  std::optional<std::uint64_t> sum;
  for (const Part& part : parts) {
    if (!part.object.is_object() || !part.object.contains(part.name)) continue;
    const auto count = Count(part.object, part.name);
    if (!count || *count >= kMost) return std::nullopt;
    sum = std::min(sum.value_or(0) + *count, kMost);
  }
  return sum;
}

// Spark writes 0 and -1 for what has not happened.
bool IsInstant(const json& object, const char* name) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 45;
  const auto millis = Count(object, name);
  return millis && *millis > 0 && *millis <= kMost;
}

std::string DayOf(absl::Time at) { return absl::FormatTime("%Y-%m-%d", at, absl::UTCTimeZone()); }

AttemptState StateAfter(const std::string& reason, const json& task) {
  if (reason == "Success") return AttemptState::kFinished;
  if (reason == "Resubmitted") return AttemptState::kObsolete;
  const bool is_killed = reason == "TaskKilled" || reason == "TaskCommitDenied" ||
                         reason == "ExecutorLostFailure" || IsTrue(task, "Killed");
  if (reason.empty() && !is_killed && !IsTrue(task, "Failed")) return AttemptState::kFinished;
  return is_killed ? AttemptState::kKilled : AttemptState::kFailed;
}

std::string FailureIn(const json& reason) {
  std::string failure = Text(reason, "Reason");
  for (const char* part : {"Class Name", "Description", "Message", "Kill Reason", "Loss Reason"}) {
    const std::string text = Text(reason, part);
    if (!text.empty()) failure += (failure.empty() ? "" : ": ") + text;
  }
  return FailureCause(failure);
}

}  // namespace

void Translator::Translate(const json& event, Tell tell) {
  if (!fault_.empty()) return;
  using Handler = void (Translator::*)(const json&, Tell);
  static const auto* const kHandlers = new absl::flat_hash_map<std::string_view, Handler>{
      {"SparkListenerApplicationStart", &Translator::ApplicationStart},
      {"SparkListenerApplicationEnd", &Translator::ApplicationEnd},
      {"SparkListenerExecutorAdded", &Translator::ExecutorAdded},
      {"SparkListenerExecutorRemoved", &Translator::ExecutorRemoved},
      {"SparkListenerEnvironmentUpdate", &Translator::EnvironmentUpdate},
      {"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart",
       &Translator::ExecutionStart},
      {"org.apache.spark.sql.execution.ui.SparkListenerSQLAdaptiveExecutionUpdate",
       &Translator::ExecutionUpdate},
      {"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd", &Translator::ExecutionEnd},
      {"SparkListenerJobStart", &Translator::JobStart},
      {"SparkListenerJobEnd", &Translator::JobEnd},
      {"SparkListenerStageSubmitted", &Translator::StageSubmitted},
      {"SparkListenerStageCompleted", &Translator::StageCompleted},
      {"SparkListenerTaskStart", &Translator::TaskStart},
      {"SparkListenerTaskEnd", &Translator::TaskEnd}};
  const auto handler = kHandlers->find(Text(event, "Event"));
  if (handler == kHandlers->end()) {
    ++unused_;
  } else {
    (this->*handler->second)(event, tell);
  }
}

// --- time and the application -----------------------------------------------------------------

// When something happened, and with it what time it is; now, if the event does not say.
absl::Time Translator::Instant(const json& object, const char* name) {
  if (!IsInstant(object, name)) return Now();
  const absl::Time at = absl::FromUnixMillis(static_cast<std::int64_t>(*Count(object, name)));
  if (now_ == absl::InfinitePast()) first_ = now_ = at;
  if (at - now_ <= kLongestPause && first_ - at <= kLongestPause) {
    now_ = std::max(now_, at);
    disbelieved_.reset();
    return at;
  }
  const bool agrees = disbelieved_ && absl::AbsDuration(at - *disbelieved_) <= kLongestPause;
  disbelieved_ = at;
  if (!agrees) return now_;
  if (at < first_ || at - first_ > kLongestLife) {
    fault_ = fmt::format("its clock goes from {} to {}, so nobody knows when its events happened",
                         DayOf(first_), DayOf(at));
  } else {
    now_ = at;
  }
  return now_;
}

// Whether anything can be told: the application has started, and what time it is, is known.
bool Translator::OpenApplication(Tell tell) {
  if (is_open_) return true;
  if (!has_started_) {
    fault_ =
        "the start of the application (SparkListenerApplicationStart) is not there before its "
        "jobs, "
        "so nobody knows how long it has run; pass the whole log, of a rolled one its folder";
    return false;
  }
  if (now_ == absl::InfinitePast()) {
    ++contradictions_;
    return false;
  }
  is_open_ = true;
  application_.engine = "spark";
  tell(Now(), application_);
  for (ExecutorOpened& executor : waiting_executors_) tell(Now(), std::move(executor));
  waiting_executors_.clear();
  return true;
}

void Translator::EnvironmentUpdate(const json& event, Tell) {
  const json& properties = Member(event, "Spark Properties");
  application_.queue = Text(properties, "spark.yarn.queue");
  application_.parameters = ParametersIn(properties);
  if (const auto cores = NumberIn(Text(properties, "spark.task.cpus")); cores && *cores > 0) {
    cores_of_task_ = *cores;
  }
}

void Translator::ApplicationStart(const json& event, Tell tell) {
  if (std::exchange(has_started_, true)) {
    ++contradictions_;
    return;
  }
  application_.name = Text(event, "App Name");
  application_.application_id = Text(event, "App ID");
  application_.user = Text(event, "User");
  if (IsInstant(event, "Timestamp")) application_.submitted_at = Instant(event, "Timestamp");
  const auto attempt = NumberIn(Text(event, "App Attempt ID"));
  if (attempt && *attempt < 1'000'000) {
    application_.application_master_attempt = static_cast<std::uint32_t>(*attempt);
  }
  if (now_ != absl::InfinitePast()) OpenApplication(tell);
}

void Translator::ApplicationEnd(const json& event, Tell tell) {
  const absl::Time at = Instant(event, "Timestamp");
  if (!OpenApplication(tell)) return;
  if (is_closed_) {
    ++contradictions_;
    return;
  }
  JobClosed closed = {.outcome = JobOutcome::kSucceeded, .message = failure_, .at = at};
  // Spark 4 says how the driver exited; before, an application failed if its last job did.
  const json& exit_code = Member(event, "ExitCode");
  if (exit_code.is_number_integer()) {
    const auto code = exit_code.get<std::int64_t>();
    const std::string why = closed.message.empty() ? "" : closed.message + "; ";
    closed.message = code == 0 ? "" : fmt::format("{}the driver exited with {}", why, code);
  }
  if (!closed.message.empty()) closed.outcome = JobOutcome::kFailed;
  // Nobody else stops an application whose jobs run.
  if (closed.outcome == JobOutcome::kSucceeded && !jobs_.empty()) {
    closed.outcome = JobOutcome::kKilled;
    closed.message =
        fmt::format("the application was stopped while {} of its jobs ran", jobs_.size());
  }
  is_closed_ = true;
  tell(Now(), std::move(closed));
}

// --- executors --------------------------------------------------------------------------------

void Translator::ExecutorAdded(const json& event, Tell tell) {
  Instant(event, "Timestamp");
  const std::string id = Text(event, "Executor ID");
  const json& info = Member(event, "Executor Info");
  const std::uint64_t cores =
      std::min<std::uint64_t>(Count(info, "Total Cores").value_or(0), 65'536);
  const auto slots = static_cast<std::uint32_t>(cores / cores_of_task_);
  const auto number = static_cast<std::uint32_t>(executors_.size());
  if (id.empty() || number == kExecutorsMax ||
      !executors_.try_emplace(id, ExecutorRecord{number, slots}).second) {
    ++contradictions_;
    return;
  }
  slots_ += slots;
  slots_max_ = std::max(slots_max_, slots_);
  ExecutorOpened opened = {
      .executor = number, .host = Text(info, "Host"), .container = id, .slots = slots};
  if (is_open_) {
    tell(Now(), std::move(opened));
  } else {
    waiting_executors_.push_back(std::move(opened));
  }
}

void Translator::ExecutorRemoved(const json& event, Tell tell) {
  Instant(event, "Timestamp");
  const auto executor = executors_.find(Text(event, "Executor ID"));
  if (executor == executors_.end() || std::exchange(executor->second.is_gone, true)) {
    ++contradictions_;
    return;
  }
  slots_ -= executor->second.slots;
  const std::uint32_t number = executor->second.number;
  if (is_open_) return tell(Now(), ExecutorClosed{number});
  std::erase_if(waiting_executors_,
                [&](const ExecutorOpened& waiting) { return waiting.executor == number; });
}

// --- SQL executions and jobs ------------------------------------------------------------------

// How many of that name there have been, with this one.
std::uint32_t Translator::OccurrenceOf(const std::string& name) {
  if (occurrences_.size() >= kNamesMax && !occurrences_.contains(name)) return 1;
  return ++occurrences_[name];
}

void Translator::ExecutionStart(const json& event, Tell tell) {
  const absl::Time at = Instant(event, "time");
  if (!OpenApplication(tell)) return;
  const std::optional<std::uint64_t> id = Count(event, "executionId");
  if (!id) {
    ++contradictions_;
    return;
  }
  Group& group = executions_[*id];
  if (!group.name.empty()) return;
  group.name = fmt::format("sql/{}", *id);
  const std::string plan = NameOfPlan(Member(event, "sparkPlanInfo"));
  group.plan = plan;
  group.recognised_by = fmt::format("sql {} {}", plan, OccurrenceOf(plan));
  group.planned_task_counts = PlannedTaskCounts(Member(event, "sparkPlanInfo"));
  tell(Now(), GroupOpened{group.name, FirstLine(Text(event, "description")), at,
                          group.planned_task_counts});
  Bound(kExecutionsMax, executions_);
}

void Translator::ExecutionUpdate(const json& event, Tell tell) {
  const auto id = Count(event, "executionId");
  const auto execution = id ? executions_.find(*id) : executions_.end();
  if (execution == executions_.end() || execution->second.name.empty()) return;
  std::vector<std::uint32_t> planned = PlannedTaskCounts(Member(event, "sparkPlanInfo"));
  if (planned == execution->second.planned_task_counts) return;
  execution->second.planned_task_counts = std::move(planned);
  tell(Now(), GroupOpened{.group = execution->second.name,
                          .planned_task_counts = execution->second.planned_task_counts});
}

void Translator::ExecutionEnd(const json& event, Tell tell) {
  const absl::Time at = Instant(event, "time");
  const auto id = Count(event, "executionId");
  const auto execution = id ? executions_.find(*id) : executions_.end();
  if (execution == executions_.end()) return;
  // Spark 3.4 says why it failed; before, it failed if one of its jobs did.
  GroupClosed closed = {.group = execution->second.name, .at = at};
  closed.message = event.contains("errorMessage") ? FailureCause(Text(event, "errorMessage"))
                                                  : execution->second.failure;
  if (!closed.message.empty()) closed.outcome = JobOutcome::kFailed;
  executions_.erase(execution);
  tell(Now(), std::move(closed));
}

void Translator::JobStart(const json& event, Tell tell) {
  const absl::Time at = Instant(event, "Submission Time");
  if (!OpenApplication(tell)) return;
  const std::optional<std::uint32_t> id = Number(event, "Job ID");
  const json& infos = Member(event, "Stage Infos");
  if (!id || !infos.is_array() || jobs_.contains(*id)) {
    ++contradictions_;
    return;
  }
  std::map<std::uint32_t, const json*> by_number;
  for (const json& info : infos) {
    if (by_number.size() == kStagesOfJobMax) break;
    if (const auto number = Number(info, "Stage ID")) by_number.emplace(*number, &info);
  }
  const json& properties = Member(event, "Properties");
  Group own;
  Group* group = &own;
  const auto execution = NumberIn(Text(properties, "spark.sql.execution.id"));
  if (execution) {
    group = &executions_[*execution];
    if (group->name.empty()) {  // its start is not in the log
      group->name = fmt::format("sql/{}", *execution);
      group->recognised_by = "sql ";
      tell(Now(), GroupOpened{.group = group->name, .opened_at = at});
    }
  } else {
    own.name = fmt::format("job/{}", *id);
    std::string shown = FirstLine(Text(properties, "spark.job.description"));
    if (shown.empty() && !by_number.empty()) {
      shown = FirstLine(Text(*by_number.rbegin()->second, "Stage Name"));
    }
    tell(Now(), GroupOpened{own.name, std::move(shown), at});
    // The stage that gives the result has the highest number.
    const std::string job =
        "job " + (by_number.empty() ? "" : Text(*by_number.rbegin()->second, "Stage Name"));
    own.recognised_by = fmt::format("{} {}", job, OccurrenceOf(job));
  }
  JobRecord& job = jobs_[*id];
  job.execution = execution;
  for (const auto& [number, info] : by_number) {
    job.stages.push_back(number);
    const auto known = stages_.find(number);
    StageRecord& stage =
        known != stages_.end()
            ? known->second  // an earlier job has brought it
            : OpenStage(number, *info, *id, *group, Text(properties, "spark.scheduler.pool"), tell);
    ++stage.jobs;
  }
  Bound(kExecutionsMax, executions_);
  Bound(kJobsMax, jobs_);
  Bound(kStagesMax, stages_);
}

void Translator::JobEnd(const json& event, Tell tell) {
  const absl::Time at = Instant(event, "Completion Time");
  const json& result = Member(event, "Job Result");
  const std::optional<std::uint32_t> id = Number(event, "Job ID");
  const auto job = id ? jobs_.find(*id) : jobs_.end();
  if (job == jobs_.end()) {
    ++contradictions_;
    return;
  }
  failure_.clear();
  if (Text(result, "Result") == "JobFailed") {
    const std::string why = FailureCause(Text(Member(result, "Exception"), "Message"));
    failure_ = fmt::format("job {} failed{}{}", *id, why.empty() ? "" : ": ", why);
  }
  const JobRecord ended = std::move(job->second);
  jobs_.erase(job);
  // What has not run by now does not run, unless another job wants it.
  for (const std::uint32_t number : ended.stages) {
    const auto stage = stages_.find(number);
    if (stage == stages_.end() || --stage->second.jobs > 0) continue;
    if (stage->second.state == StageState::kPlanned) Skip(stage->second, tell);
    if (stage->second.state == StageState::kRunning) {
      Close(stage->second, JobOutcome::kKilled, "its job has ended", tell);
    }
  }
  if (!ended.execution) {
    GroupClosed closed = {.group = fmt::format("job/{}", *id), .message = failure_, .at = at};
    if (!failure_.empty()) closed.outcome = JobOutcome::kFailed;
    tell(Now(), std::move(closed));
  } else if (const auto execution = executions_.find(*ended.execution);
             execution != executions_.end() && !failure_.empty()) {
    execution->second.failure = failure_;
  }
}

// --- stages -----------------------------------------------------------------------------------

// A stage that is new.
Translator::StageRecord& Translator::OpenStage(std::uint32_t number, const json& info,
                                               std::uint32_t job, Group& group,
                                               const std::string& pool, Tell tell) {
  StageRecord& record = stages_[number];
  record.job = job;
  StageOpened& opened = record.opened;
  opened.stage = number;
  opened.name = Text(info, "Stage Name");
  if (const std::uint64_t work = WorkOfStage(info, group.name.starts_with("sql/"));
      !group.name.empty() &&
      (group.stages.size() < kNamesOfGroupMax || group.stages.contains(work))) {
    opened.signature = SignatureOf(group.recognised_by, work, ++group.stages[work]);
    opened.work = RepeatedWork(group.plan, work);
  }
  opened.group = group.name;
  opened.kind = StageKind::kGeneric;
  opened.task_count = Number(info, "Number of Tasks");
  opened.pool = pool;
  if (const json& parents = Member(info, "Parent IDs"); parents.is_array()) {
    for (const json& parent : parents) {
      if (!parent.is_number_unsigned()) continue;
      const auto id = parent.get<std::uint64_t>();
      if (id < number) opened.parents.push_back(static_cast<std::uint32_t>(id));
    }
  }
  tell(Now(), opened);
  return record;
}

void Translator::StageSubmitted(const json& event, Tell tell) {
  const json& info = Member(event, "Stage Info");
  const absl::Time at = Instant(info, "Submission Time");
  if (!OpenApplication(tell)) return;
  const std::optional<std::uint32_t> number = Number(info, "Stage ID");
  if (!number) {
    ++contradictions_;
    return;
  }
  const auto known = stages_.find(*number);
  Group none;  // the start of its job is not in the log
  StageRecord& stage =
      known != stages_.end() ? known->second : OpenStage(*number, info, kNoJob, none, "", tell);
  const std::uint32_t attempt = std::min(Number(info, "Stage Attempt ID").value_or(0), kAttemptMax);
  // One that was given up runs after all: the attempt that was told of does not.
  const bool is_new_attempt =
      stage.state == StageState::kSkipped && attempt + stage.attempts_ahead <= stage.opened.attempt;
  if (is_new_attempt) stage.attempts_ahead = stage.opened.attempt + 1 - attempt;
  stage.state = StageState::kRunning;
  StageOpened& opened = stage.opened;
  opened.opened_at.reset();
  if (Count(info, "Submission Time")) opened.opened_at = at;
  opened.attempt = std::max(opened.attempt, attempt + stage.attempts_ahead);
  opened.skipped = false;
  if (const auto tasks = Number(info, "Number of Tasks")) opened.task_count = tasks;
  // The first RDD is the one whose partitions its tasks make.
  opened.index_count.reset();
  const json& rdds = Member(info, "RDD Info");
  const auto partitions = rdds.is_array() && !rdds.empty()
                              ? Number(rdds.front(), "Number of Partitions")
                              : std::nullopt;
  if (partitions > opened.task_count) opened.index_count = partitions;
  stage.is_by_partition = partitions && partitions >= opened.task_count;
  if (const auto job = jobs_.find(stage.job); job != jobs_.end()) {
    job->second.is_told_of_skips = false;
  }
  tell(Now(), opened);
  Bound(kStagesMax, stages_);
}

void Translator::StageCompleted(const json& event, Tell tell) {
  const json& info = Member(event, "Stage Info");
  const std::optional<std::uint32_t> number = Number(info, "Stage ID");
  const auto found = number ? stages_.find(*number) : stages_.end();
  if (found == stages_.end()) {
    ++contradictions_;
    return;
  }
  StageRecord& stage = found->second;
  const absl::Time submitted_at = Instant(info, "Submission Time");
  Instant(info, "Completion Time");
  if (!stage.opened.opened_at && Count(info, "Submission Time")) {
    stage.opened.opened_at = submitted_at;  // Spark 1 says it only now
    tell(Now(), stage.opened);
  }
  const std::uint32_t attempt = std::min(Number(info, "Stage Attempt ID").value_or(0), kAttemptMax);
  if (attempt + stage.attempts_ahead < stage.opened.attempt) return;  // it runs again already
  std::string why = FailureCause(Text(info, "Failure Reason"));
  const JobOutcome outcome = why.empty() ? JobOutcome::kSucceeded : JobOutcome::kFailed;
  Close(stage, outcome, std::move(why), tell);
}

// The attempt that was told last has ended.
void Translator::Close(StageRecord& stage, JobOutcome outcome, std::string why, Tell tell) {
  stage.state = outcome == JobOutcome::kSucceeded ? StageState::kDone : StageState::kBroken;
  tell(Now(), StageClosed{.stage = stage.opened.stage,
                          .attempt = stage.opened.attempt,
                          .outcome = outcome,
                          .message = std::move(why),
                          .at = Now()});
}

// The driver submits all stages that can run before it starts a task. So one that neither runs nor
// waits for one that does has its output already, from an earlier job or a cache.
void Translator::SkipAvailable(JobRecord& job, Tell tell) {
  absl::flat_hash_set<std::uint32_t> unfinished;  // parents have lower numbers
  for (const std::uint32_t number : job.stages) {
    const auto found = stages_.find(number);
    if (found == stages_.end()) continue;
    StageRecord& stage = found->second;
    const bool waits =
        std::any_of(stage.opened.parents.begin(), stage.opened.parents.end(),
                    [&](std::uint32_t parent) { return unfinished.contains(parent); });
    const bool runs = stage.state == StageState::kRunning || stage.state == StageState::kBroken;
    if (runs || (waits && stage.state == StageState::kPlanned)) {
      unfinished.insert(number);
    } else if (stage.state == StageState::kPlanned) {
      Skip(stage, tell);
    }
  }
  job.is_told_of_skips = true;
}

// None of its tasks runs. REQUIRES: it is planned.
void Translator::Skip(StageRecord& stage, Tell tell) {
  stage.state = StageState::kSkipped;
  stage.opened.skipped = true;
  tell(Now(), stage.opened);
}

// --- tasks ------------------------------------------------------------------------------------

Translator::StageRecord* Translator::FindStage(const json& event) {
  const std::optional<std::uint32_t> number = Number(event, "Stage ID");
  const auto found = number ? stages_.find(*number) : stages_.end();
  return found == stages_.end() ? nullptr : &found->second;
}

std::optional<AttemptChanged> Translator::AttemptIn(const json& event) {
  const json& task = Member(event, "Task Info");
  StageRecord* const stage = FindStage(event);
  std::optional<std::uint32_t> index = Number(task, "Index");
  // Executors know no other number than the partition. Spark writes -1 where it does not know it.
  if (stage != nullptr && stage->is_by_partition) {
    const StageOpened& opened = stage->opened;
    const auto most = opened.index_count ? opened.index_count : opened.task_count;
    const auto partition = Number(task, "Partition ID");
    if (partition && (!most || *partition < *most)) index = partition;
  }
  if (stage == nullptr || !index) {
    ++contradictions_;
    return std::nullopt;
  }
  const std::uint32_t attempt =
      std::min(Number(event, "Stage Attempt ID").value_or(0), kAttemptMax);
  AttemptChanged changed = {.attempt = {.stage = stage->opened.stage,
                                        .index = *index,
                                        .attempt = Number(task, "Attempt").value_or(0),
                                        .stage_attempt = attempt + stage->attempts_ahead},
                            .speculative = IsTrue(task, "Speculative")};
  const auto executor = executors_.find(Text(task, "Executor ID"));
  if (executor != executors_.end()) changed.executor = executor->second.number;
  return changed;
}

void Translator::TellStart(const json& event, AttemptChanged changed, Tell tell) {
  changed.state = AttemptState::kStarted;
  changed.at = Instant(Member(event, "Task Info"), "Launch Time");
  tell(Now(), std::move(changed));
}

void Translator::TaskStart(const json& event, Tell tell) {
  std::optional<AttemptChanged> changed = AttemptIn(event);
  if (!changed) return;
  if (const auto id = Count(Member(event, "Task Info"), "Task ID")) {
    if (running_.size() < kRunningTasksMax) running_.insert(*id);
  }
  const StageRecord& stage = stages_[changed->attempt.stage];
  if (const auto job = jobs_.find(stage.job); job != jobs_.end()) {
    if (!job->second.is_told_of_skips) SkipAvailable(job->second, tell);
  }
  TellStart(event, *std::move(changed), tell);
}

void Translator::TaskEnd(const json& event, Tell tell) {
  std::optional<AttemptChanged> changed = AttemptIn(event);
  if (!changed) return;
  const json& task = Member(event, "Task Info");
  const json& reason = Member(event, "Task End Reason");
  const auto id = Count(task, "Task ID");
  changed->state = StateAfter(Text(reason, "Reason"), task);
  if (changed->state == AttemptState::kObsolete) {
    changed->at = Now();  // the event repeats when it finished
    return tell(Now(), *std::move(changed));
  }
  if (!id || running_.erase(*id) == 0) TellStart(event, *changed, tell);
  changed->at = Instant(task, "Finish Time");
  if (changed->state != AttemptState::kFinished) changed->failure = FailureIn(reason);
  if (const json& metrics = Member(event, "Task Metrics"); metrics.is_object()) {
    const json& input = Member(metrics, "Input Metrics");
    const json& shuffle = Member(metrics, "Shuffle Read Metrics");
    const json& output = Member(metrics, "Output Metrics");
    const json& written = Member(metrics, "Shuffle Write Metrics");
    changed->input_bytes =
        Sum({{input, "Bytes Read"}, {shuffle, "Remote Bytes Read"}, {shuffle, "Local Bytes Read"}});
    changed->input_records = Sum({{input, "Records Read"}, {shuffle, "Total Records Read"}});
    TaskHeartbeat totals = {.attempt = changed->attempt,
                            .bytes_done = changed->input_bytes.value_or(0),
                            .records_done = changed->input_records.value_or(0)};
    totals.bytes_emitted =
        Sum({{output, "Bytes Written"}, {written, "Shuffle Bytes Written"}}).value_or(0);
    totals.time.cpu = Nanoseconds(Count(metrics, "Executor CPU Time"));
    totals.time.memory_wait = Milliseconds(Count(metrics, "JVM GC Time"));
    totals.time.network_wait = Milliseconds(Count(shuffle, "Fetch Wait Time"));
    totals.time.io_wait = Nanoseconds(Count(written, "Shuffle Write Time"));
    totals.time.network_bytes = Count(shuffle, "Remote Bytes Read");
    totals.time.io_bytes = Count(written, "Shuffle Bytes Written");
    const auto& submitted_at = stages_[changed->attempt.stage].opened.opened_at;
    if (submitted_at && IsInstant(task, "Launch Time")) {
      totals.time.scheduler_wait =
          std::max(Instant(task, "Launch Time") - *submitted_at, absl::ZeroDuration());
    }
    tell(Now(), std::move(totals));
  }
  tell(Now(), *std::move(changed));
}

}  // namespace tidemark::spark
