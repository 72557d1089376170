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

// Bounds the cost of finding skipped stages, for jobs of thousands of stages, by the size of the
// log. The events of a single stage of one task pay for a job of up to 50 stages.
constexpr std::int64_t kStepsPerEvent = 20;
// A group with more names than this gives its stages no signature.
constexpr std::size_t kNamesOfGroupMax = 1000;
constexpr std::size_t kMissingExecutorsMax = 1000;
// How far an event may be ahead of the one before it: applications sleep over holidays, and an
// instant beyond that is a mistake until a second event agrees.
constexpr absl::Duration kLongestPause = absl::Hours(24 * 30);
// Largest step back between two instants of one thread of the driver that does not mean that the
// clock was set back. Chosen by hand: a thread writes what it has read within moments.
constexpr absl::Duration kDisorderMax = absl::Seconds(10);
// Chosen by hand: no application runs that long.
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
    steps_left_ += kStepsPerEvent;
    (this->*handler->second)(event, tell);
  }
}

// --- time and the application -----------------------------------------------------------------

// Returns the time of the event, which may advance the current time; the current time if the event
// has no instant. `reader`: the thread of the driver that read its clock for the event.
absl::Time Translator::Instant(Reader reader, const json& object, const char* name) {
  if (!IsInstant(object, name)) return Now();
  if (end_) return end_->at;  // no part of an application ends after it
  absl::Time at = absl::FromUnixMillis(static_cast<std::int64_t>(*Count(object, name))) + set_back_;
  if (now_ == absl::InfinitePast()) first_ = now_ = at;
  Clock& clock = clocks_[static_cast<std::size_t>(reader)];
  if (first_ - at <= kLongestPause && IsSetBack(clock, at)) return now_;
  if (at - now_ <= kLongestPause && first_ - at <= kLongestPause) {
    now_ = std::max(now_, at);
    clock.latest = std::max(clock.latest, at);
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

// Returns true if `at` is far behind what the same thread read before, and nothing else shows that
// the clock was set back: one such instant may be a mistake. If a second one agrees, the clock was,
// and `at` is moved forward so that the first of both happened when the latest before it did.
bool Translator::IsSetBack(Clock& clock, absl::Time& at) {
  if (clock.latest - at <= kDisorderMax) {
    clock.behind.reset();
    return false;
  }
  if (!clock.behind || *clock.behind - at > kDisorderMax) {
    clock.behind = at;
    return true;
  }
  const absl::Duration by = now_ - *clock.behind;
  clock_set_back_ = {.times = clock_set_back_.times + 1, .by = by, .at = now_};
  clock.behind.reset();
  set_back_ += by;
  at += by;
  return false;
}

// Returns the time of an earlier occurrence that an event repeats. Times before the clock was set
// back must not be moved forward: they would be in the future.
absl::Time Translator::PastInstant(const json& object, const char* name) const {
  if (!IsInstant(object, name)) return Now();
  const absl::Time read = absl::FromUnixMillis(static_cast<std::int64_t>(*Count(object, name)));
  const absl::Duration ahead_max =
      set_back_ == absl::ZeroDuration() ? kLongestPause : set_back_ / 2;
  for (const absl::Time at : {read + set_back_, read}) {
    if (at - Now() <= ahead_max && first_ - at <= kLongestPause) return at;
  }
  return Now();
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
  if (IsInstant(event, "Timestamp")) {
    application_.submitted_at = Instant(Reader::kOther, event, "Timestamp");
  }
  const auto attempt = NumberIn(Text(event, "App Attempt ID"));
  if (attempt && *attempt < 1'000'000) {
    application_.application_master_attempt = static_cast<std::uint32_t>(*attempt);
  }
  if (now_ != absl::InfinitePast()) OpenApplication(tell);
}

void Translator::ApplicationEnd(const json& event, Tell tell) {
  Instant(Reader::kOther, event, "Timestamp");
  if (!OpenApplication(tell)) return;
  if (end_) {
    ++contradictions_;
    return;
  }
  end_ = {.at = Now()};
  const json& exit_code = Member(event, "ExitCode");
  if (exit_code.is_number_integer()) {
    end_->exit_code = exit_code.get<std::int64_t>();
    end_->has_exit_code = true;
  }
  CloseIfAllEnded(tell);
}

// Returns the queries, and the jobs outside of queries, whose start Spark has reported without an
// end. Jobs that adaptive execution has left behind belong to queries that have ended.
std::vector<std::string> Translator::OpenGroups() const {
  std::set<std::string> open;
  for (const auto& [id, execution] : executions_) {
    if (execution.has_start) open.insert(execution.name);
  }
  for (const auto& [id, job] : jobs_) {
    if (!job.execution) {
      open.insert(fmt::format("job/{}", id));
    } else if (!ended_executions_.contains(*job.execution)) {
      open.insert(fmt::format("sql/{}", *job.execution));
    }
  }
  return {open.begin(), open.end()};
}

// Spark 4 reports the exit code of the driver: it is 0 even if a signal stopped the driver. Earlier
// versions report none, and an application ends as its last query or job did.
JobClosed Translator::HowItEnded() const {
  JobClosed closed = {.at = end_->at};
  if (end_->exit_code != 0) {
    closed.outcome = JobOutcome::kFailed;
    closed.message = fmt::format("{}{}the driver exited with {}", failure_,
                                 failure_.empty() ? "" : "; ", end_->exit_code);
    return closed;
  }
  const std::vector<std::string> open = OpenGroups();
  if (!stopped_.empty()) {
    closed.outcome = JobOutcome::kKilled;
    closed.message = fmt::format("the application was stopped while {} ran", stopped_);
  } else if (!open.empty()) {
    closed.outcome = JobOutcome::kUnknown;
    closed.message =
        fmt::format("the application ended, and Spark reported no end of {}{}", open.front(),
                    open.size() == 1 ? "" : fmt::format(" and {} more", open.size() - 1));
  } else if (!end_->has_exit_code && !failure_.empty()) {
    closed.outcome = JobOutcome::kFailed;
    closed.message = failure_;
  }
  return closed;
}

void Translator::Finish(Tell tell) {
  if (!end_ || is_closed_) return;
  is_closed_ = true;
  tell(Now(), HowItEnded());
}

// A driver that stops cancels its jobs after it has written its own end.
void Translator::CloseIfAllEnded(Tell tell) {
  if (end_ && jobs_.empty() && OpenGroups().empty()) Finish(tell);
}

// Records what the end of a query, or of a job outside of queries, shows about the application.
void Translator::GroupEnded(const GroupClosed& closed, const std::string& failure) {
  const bool has_failed = closed.outcome == JobOutcome::kFailed;
  if (end_ && has_failed && stopped_.empty()) stopped_ = closed.group;
  if (!end_) failure_ = has_failed ? failure : "";
}

// --- executors --------------------------------------------------------------------------------

void Translator::ExecutorAdded(const json& event, Tell tell) {
  Instant(Reader::kOther, event, "Timestamp");
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
  Instant(Reader::kOther, event, "Timestamp");
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
  const absl::Time at = Instant(Reader::kOther, event, "time");
  if (!OpenApplication(tell)) return;
  const std::optional<std::uint64_t> id = Count(event, "executionId");
  if (!id) {
    ++contradictions_;
    return;
  }
  if (ended_executions_.contains(*id)) return;
  Group& group = executions_[*id];
  if (!group.name.empty()) return;
  group.has_start = true;
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
  const absl::Time at = Instant(Reader::kOther, event, "time");
  const auto id = Count(event, "executionId");
  const auto execution = id ? executions_.find(*id) : executions_.end();
  if (execution == executions_.end()) return;
  const Group ended = std::move(execution->second);
  executions_.erase(execution);
  ended_executions_.insert(*id);
  Bound(kExecutionsMax, ended_executions_);
  // From Spark 3.4 on the event reports an error, empty if there is none. Before, an execution has
  // failed if one of its jobs did.
  GroupClosed closed = {.group = ended.name, .at = at};
  std::string failure = ended.failure;
  if (const json& error = Member(event, "errorMessage"); error.is_string()) {
    const std::string why = Text(event, "errorMessage");
    if (!why.empty()) closed.outcome = JobOutcome::kFailed;
    closed.message = FailureCause(why);
    failure = fmt::format("{} failed: {}", ended.name, closed.message);
  } else if (!failure.empty()) {
    closed.outcome = JobOutcome::kFailed;
    closed.message = failure;
  }
  GroupEnded(closed, failure);
  tell(Now(), std::move(closed));
  CloseIfAllEnded(tell);
}

void Translator::JobStart(const json& event, Tell tell) {
  const absl::Time at = Instant(Reader::kScheduler, event, "Submission Time");
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
  if (execution && ended_executions_.contains(*execution)) {  // it left this job behind
    own.name = fmt::format("sql/{}", *execution);
    own.recognised_by = "sql ";
  } else if (execution) {
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
  job.missing_before = missing_events_;
  is_job_missing_ = false;
  for (const auto& [number, info] : by_number) {
    job.stages.push_back(number);
    const auto known = stages_.find(number);
    StageRecord& stage =
        known != stages_.end()
            ? known->second  // an earlier job has brought it
            : OpenStage(number, *info, *id, *group, Text(properties, "spark.scheduler.pool"), tell);
    ++stage.jobs;
    job.steps += 1 + static_cast<std::int64_t>(stage.opened.parents.size());
  }
  steps_left_ += job.steps;
  Bound(kExecutionsMax, executions_);
  Bound(kJobsMax, jobs_);
  Bound(kStagesMax, stages_);
}

void Translator::JobEnd(const json& event, Tell tell) {
  const absl::Time at = Instant(Reader::kScheduler, event, "Completion Time");
  const json& result = Member(event, "Job Result");
  const std::optional<std::uint32_t> id = Number(event, "Job ID");
  const auto job = id ? jobs_.find(*id) : jobs_.end();
  if (job == jobs_.end()) {
    ++contradictions_;
    return;
  }
  std::string failure;
  std::string why;
  if (Text(result, "Result") == "JobFailed") {
    why = Text(Member(result, "Exception"), "Message");
    const std::string cause = FailureCause(why);
    failure = fmt::format("job {} failed{}{}", *id, cause.empty() ? "" : ": ", cause);
  }
  const JobRecord ended = std::move(job->second);
  jobs_.erase(job);
  EndStages(ended, failure.empty(), tell);
  if (!ended.execution) {
    GroupClosed closed = {.group = fmt::format("job/{}", *id), .message = failure, .at = at};
    if (!failure.empty()) closed.outcome = JobOutcome::kFailed;
    GroupEnded(closed, failure);
    tell(Now(), std::move(closed));
  } else if (const auto execution = executions_.find(*ended.execution);
             execution != executions_.end() && !IsCancelledByItsQuery(why)) {
    Group& group = execution->second;
    if (!failure.empty()) group.failure = failure;
    // If the start of an execution is not in the log, its end may be missing, too. Jobs that fail
    // after the application's end were cancelled by it.
    if (!group.has_start || (end_ && !failure.empty())) {
      const JobOutcome outcome = failure.empty() ? JobOutcome::kSucceeded : JobOutcome::kFailed;
      GroupEnded({.group = group.name, .outcome = outcome}, failure);
    }
  }
  CloseIfAllEnded(tell);
}

// Ends the stages of a job that has ended, unless another job lists them, too. All stages of a job
// that succeeded have ended by then or do not run.
void Translator::EndStages(const JobRecord& ended, bool has_succeeded, Tell tell) {
  std::vector<StageRecord*> planned;
  for (const std::uint32_t number : ended.stages) {
    const auto stage = stages_.find(number);
    if (stage == stages_.end() || --stage->second.jobs > 0) continue;
    if (stage->second.state == StageState::kPlanned) planned.push_back(&stage->second);
    if (stage->second.state != StageState::kRunning) continue;
    if (has_succeeded) {
      ++missing_events_;
      Close(stage->second, JobOutcome::kUnknown, "the log does not have its end", tell);
    } else {
      Close(stage->second, JobOutcome::kKilled, "its job has ended", tell);
    }
  }
  const bool is_whole = ended.missing_before == missing_events_;
  for (StageRecord* stage : planned) {
    if (is_whole) {
      Skip(*stage, tell);
    } else {
      Close(*stage, JobOutcome::kUnknown, "events of its job are missing", tell);
    }
  }
}

// --- stages -----------------------------------------------------------------------------------

// Starts an attempt at a stage. A stage that was reported as skipped runs as a later attempt. The
// driver submits a stage once all stages before it have ended, so ends of these are missing if any
// of them still runs.
void Translator::Run(std::uint32_t attempt, StageRecord& stage, Tell tell) {
  StageOpened& opened = stage.opened;
  for (const std::uint32_t number : opened.parents) {
    const auto parent = stages_.find(number);
    if (parent == stages_.end() || parent->second.state != StageState::kRunning) continue;
    ++missing_events_;
    Close(parent->second, JobOutcome::kUnknown, "the log does not have its end", tell);
  }
  const bool is_new_attempt =
      stage.state == StageState::kSkipped && attempt + stage.attempts_ahead <= opened.attempt;
  if (is_new_attempt) stage.attempts_ahead = opened.attempt + 1 - attempt;
  stage.state = StageState::kRunning;
  opened.attempt = std::max(opened.attempt, attempt + stage.attempts_ahead);
  opened.skipped = false;
}

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
  const absl::Time at = Instant(Reader::kScheduler, info, "Submission Time");
  if (!OpenApplication(tell)) return;
  const std::optional<std::uint32_t> number = Number(info, "Stage ID");
  if (!number) {
    ++contradictions_;
    return;
  }
  const auto known = stages_.find(*number);
  if (known == stages_.end() && !is_compacted_ && !std::exchange(is_job_missing_, true)) {
    ++missing_events_;
  }
  Group none;  // the start of its job is not in the log
  StageRecord& stage =
      known != stages_.end() ? known->second : OpenStage(*number, info, kNoJob, none, "", tell);
  const std::uint32_t attempt = std::min(Number(info, "Stage Attempt ID").value_or(0), kAttemptMax);
  Run(attempt, stage, tell);
  StageOpened& opened = stage.opened;
  opened.opened_at.reset();
  if (Count(info, "Submission Time")) opened.opened_at = at;
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
  Instant(Reader::kScheduler, info, "Completion Time");
  const absl::Time submitted_at = PastInstant(info, "Submission Time");
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
  steps_left_ -= job.steps;
  steps_ += static_cast<std::uint64_t>(job.steps);
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

// Counts the starts that are missing between the latest one in the log and that of `task`.
void Translator::NoteStart(std::uint64_t task) {
  constexpr std::uint64_t kGapMax = 100'000'000;  // a larger number is a mistake
  if (is_compacted_) return;
  if (!first_task_) {
    first_task_ = task;
    next_task_ = task;
  }
  if (task < next_task_ || task - next_task_ > kGapMax) return;
  missing_events_ += task - next_task_;
  next_task_ = task + 1;
}

// Counts the start of `task`, unless a later start has shown it missing and it is already counted.
void Translator::NoteEndWithoutStart(std::uint64_t task) {
  if (is_compacted_ || !first_task_ || running_.size() == kRunningTasksMax) return;
  if (task >= *first_task_ && task < next_task_) return;
  NoteStart(task);
  ++missing_events_;
}

// Ends the numbering before the compacted part: it leaves tasks out.
void Translator::SetCompacted(bool is_compacted) {
  is_compacted_ = is_compacted;
  if (is_compacted) first_task_.reset();
}

// Notes that tasks of a stage run whose submission is not in the log.
void Translator::NoteRunning(StageRecord& stage, std::uint32_t attempt, Tell tell) {
  const bool was_skipped = stage.state == StageState::kSkipped;
  if (!was_skipped && stage.state != StageState::kPlanned) return;
  if (!is_compacted_) ++missing_events_;
  Run(attempt, stage, tell);
  if (was_skipped) tell(Now(), stage.opened);
}

void Translator::Gap(Tell tell) {
  ++missing_events_;
  if (!is_open_ || is_closed_) return;
  std::map<std::uint64_t, AttemptId> in_order;
  for (const auto& [id, running] : running_) in_order.emplace(id, running.attempt);
  for (const auto& [id, attempt] : in_order) {
    tell(Now(), AttemptChanged{.attempt = attempt, .state = AttemptState::kLost, .at = Now()});
  }
}

std::optional<AttemptChanged> Translator::AttemptIn(const json& event, Tell tell) {
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
  NoteRunning(*stage, attempt, tell);
  AttemptChanged changed = {.attempt = {.stage = stage->opened.stage,
                                        .index = *index,
                                        .attempt = Number(task, "Attempt").value_or(0),
                                        .stage_attempt = attempt + stage->attempts_ahead},
                            .speculative = IsTrue(task, "Speculative")};
  const std::string name = Text(task, "Executor ID");
  if (const auto executor = executors_.find(name); executor != executors_.end()) {
    changed.executor = executor->second.number;
  } else if (!executors_.empty() && !name.empty() && !is_compacted_ &&
             missing_executors_.size() < kMissingExecutorsMax) {
    missing_events_ += missing_executors_.insert(name).second ? 1 : 0;
  }
  return changed;
}

void Translator::TellStart(AttemptChanged changed, absl::Time at, Tell tell) {
  changed.state = AttemptState::kStarted;
  changed.at = at;
  tell(Now(), std::move(changed));
}

void Translator::TaskStart(const json& event, Tell tell) {
  const auto id = Count(Member(event, "Task Info"), "Task ID");
  if (id) NoteStart(*id);
  std::optional<AttemptChanged> changed = AttemptIn(event, tell);
  if (!changed) return;
  const absl::Time start = Instant(Reader::kTasks, Member(event, "Task Info"), "Launch Time");
  if (id && running_.size() < kRunningTasksMax) {
    running_.emplace(*id, Running{changed->attempt, start});
  }
  const StageRecord& stage = stages_[changed->attempt.stage];
  if (const auto job = jobs_.find(stage.job); job != jobs_.end()) {
    const bool is_whole = job->second.missing_before == missing_events_;
    const bool is_due = !job->second.is_told_of_skips && steps_left_ >= 0;
    if (is_due && is_whole) SkipAvailable(job->second, tell);
  }
  TellStart(*std::move(changed), start, tell);
}

void Translator::TaskEnd(const json& event, Tell tell) {
  const json& task = Member(event, "Task Info");
  const json& reason = Member(event, "Task End Reason");
  const auto id = Count(task, "Task ID");
  if (id && !running_.contains(*id)) NoteEndWithoutStart(*id);
  std::optional<AttemptChanged> changed = AttemptIn(event, tell);
  if (!changed) return;
  changed->state = StateAfter(Text(reason, "Reason"), task);
  if (changed->state == AttemptState::kObsolete) {
    changed->at = Now();  // the event repeats when it finished
    return tell(Now(), *std::move(changed));
  }
  absl::Time finish = Instant(Reader::kTasks, task, "Finish Time");
  const auto running = id ? running_.find(*id) : running_.end();
  const bool has_started = running != running_.end();
  const absl::Time start = has_started ? running->second.start : PastInstant(task, "Launch Time");
  if (has_started) {
    running_.erase(running);
  } else {
    TellStart(*changed, start, tell);
  }
  // If the clock was set back while the task ran, only its executor has its duration. Without it,
  // the task ended no earlier than the latest instant that is known.
  if (IsInstant(task, "Finish Time") && IsInstant(task, "Launch Time") &&
      *Count(task, "Finish Time") < *Count(task, "Launch Time")) {
    const auto ran = Milliseconds(Count(Member(event, "Task Metrics"), "Executor Run Time"));
    finish = std::max(finish, ran ? start + *ran : now_);
    if (finish - now_ <= kLongestPause) now_ = std::max(now_, finish);
  }
  changed->at = std::max(finish, start);
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
      totals.time.scheduler_wait = std::max(start - *submitted_at, absl::ZeroDuration());
    }
    tell(Now(), std::move(totals));
  }
  tell(Now(), *std::move(changed));
}

}  // namespace tidemark::spark
