#include "spark/translator.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "spark/connector_parity.h"

namespace tidemark::spark {
namespace {

using nlohmann::json;

// Number of SkipAvailable() steps that each event allows. It bounds their cost by the size of the
// log. The events of one stage with one task allow a job of up to 50 stages.
constexpr std::int64_t kStepsPerEvent = 20;
// Maximum number of distinct work hashes per group. Further stages get no signature.
constexpr std::size_t kNamesOfGroupMax = 1000;
constexpr std::size_t kMissingExecutorsMax = 1000;
// Longest plausible pause between two events, since applications may sleep over holidays. A later
// time counts as an error until a second event confirms it.
constexpr absl::Duration kLongestPause = absl::Hours(24 * 30);
// Largest step back between two times of one driver thread that does not indicate a clock change.
// Chosen by hand; a thread logs a time within moments.
constexpr absl::Duration kDisorderMax = absl::Seconds(10);
// Longest plausible duration of an application. Chosen by hand.
constexpr absl::Duration kLongestLife = absl::Hours(24 * 999);

// Returns the first line of a description that is not blank. A description may be a whole query or
// stack trace.
std::string FirstWrittenLine(std::string_view text) {
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

struct Counter {
  const json& object;
  const char* name;
};

// Returns the sum of the counters that the log contains. Returns nullopt if it contains none, or if
// one of the counters is not a count.
std::optional<std::uint64_t> Sum(std::initializer_list<Counter> parts) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
  std::optional<std::uint64_t> sum;
  for (const Counter& part : parts) {
    if (!part.object.is_object() || !part.object.contains(part.name)) continue;
    const auto count = Count(part.object, part.name);
    if (!count || *count >= kMost) return std::nullopt;
    sum = std::min(sum.value_or(0) + *count, kMost);
  }
  return sum;
}

// Returns true if the member is a plausible time. Spark writes 0 and -1 for unknown times.
bool IsInstant(const json& object, const char* name) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 45;
  const auto millis = Count(object, name);
  return millis && *millis > 0 && *millis <= kMost;
}

std::string DayOf(absl::Time at) { return absl::FormatTime("%Y-%m-%d", at, absl::UTCTimeZone()); }

std::string FailureIn(const json& reason) {
  std::string failure = Text(reason, "Reason");
  for (const char* part : {"Class Name", "Description", "Message", "Kill Reason", "Loss Reason"}) {
    const std::string text = Text(reason, part);
    if (!text.empty()) failure += (failure.empty() ? "" : ": ") + text;
  }
  return FailureCause(failure);
}

}  // namespace

void Translator::Translate(const SparkEvent& event, Sink sink) {
  using Handler = void (Translator::*)(const json&, Sink);
  static const auto* const kHandlers = new absl::flat_hash_map<EventKind, Handler>{
      {EventKind::kApplicationStart, &Translator::ApplicationStart},
      {EventKind::kApplicationEnd, &Translator::ApplicationEnd},
      {EventKind::kExecutorAdded, &Translator::ExecutorAdded},
      {EventKind::kExecutorRemoved, &Translator::ExecutorRemoved},
      {EventKind::kProfileAdded, &Translator::ProfileAdded},
      {EventKind::kEnvironmentUpdate, &Translator::EnvironmentUpdate},
      {EventKind::kExecutionStart, &Translator::ExecutionStart},
      {EventKind::kExecutionUpdate, &Translator::ExecutionUpdate},
      {EventKind::kExecutionEnd, &Translator::ExecutionEnd},
      {EventKind::kJobStart, &Translator::JobStart},
      {EventKind::kJobEnd, &Translator::JobEnd},
      {EventKind::kStageSubmitted, &Translator::StageSubmitted},
      {EventKind::kStageCompleted, &Translator::StageCompleted},
      {EventKind::kTaskStart, &Translator::TaskStart}};
  if (!fault_.empty()) return;
  if (event.kind() == EventKind::kTaskEnd) {
    steps_left_ += kStepsPerEvent;
    return TaskEnded(event.task_end(), event.fields(), sink);
  }
  const auto handler = kHandlers->find(event.kind());
  if (handler == kHandlers->end()) {
    ++unused_;
    return;
  }
  steps_left_ += kStepsPerEvent;
  (this->*handler->second)(event.fields(), sink);
}

// --- time and the application -----------------------------------------------------------------

// Returns the time of the event, which may advance the current time. Returns the current time if
// the event has no time. `reader` is the driver thread that read its clock for the event.
absl::Time Translator::Instant(Reader reader, const json& object, const char* name) {
  if (!IsInstant(object, name)) return Now();
  if (end_) return end_->at;  // Every part of an application ends with it.
  absl::Time at = absl::FromUnixMillis(static_cast<std::int64_t>(*Count(object, name))) + set_back_;
  if (now_ == absl::InfinitePast()) first_ = now_ = at;
  Clock& clock = clocks_[static_cast<std::size_t>(reader)];
  if (first_ - at <= kLongestPause && IsSetBack(clock, at)) return now_;
  if (at - now_ <= kLongestPause && first_ - at <= kLongestPause) {
    now_ = std::max(now_, at);
    clock.latest = std::max(clock.latest, at);
    // An end that is logged after a start does not precede it, except for disorder within
    // kDisorderMax.
    if (reader == Reader::kStarts) {
      Clock& ends = clocks_[static_cast<std::size_t>(Reader::kEnds)];
      ends.latest = std::max(ends.latest, at);
    }
    implausible_.reset();
    return at;
  }
  const bool agrees = implausible_ && absl::AbsDuration(at - *implausible_) <= kLongestPause;
  implausible_ = at;
  if (!agrees) return now_;
  if (at < first_ || at - first_ > kLongestLife) {
    fault_ = fmt::format("its clock jumps from {} to {}, so the times of its events are unknown",
                         DayOf(first_), DayOf(at));
  } else {
    now_ = at;
  }
  return now_;
}

// Returns true if `at` is far behind the previous time of the same thread and no other time
// confirms that the clock was set back. A single such time may be an error. If a second one
// confirms it, moves `at` forward, so that the first gets the time of the latest event before it.
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

// If a task ends this long before its start, the clock was set back. Chosen by hand; time servers
// correct smaller differences.
constexpr absl::Duration kStepBackMin = absl::Seconds(1);

// Detects, at the end of a task, a step back of at most kDisorderMax while the task ran.
// IsSetBack() detects longer steps. Later times are then moved forward.
void Translator::FindStepBack(const TaskEnd& end) {
  const auto running = end.id ? running_.find(*end.id) : running_.end();
  const auto ran = Milliseconds(Count(end.metrics, "Executor Run Time"));
  if (running == running_.end() || !ran || end_ || !IsInstant(end.info, "Finish Time")) return;
  const absl::Time start = running->second.start;
  const absl::Time finish =
      absl::FromUnixMillis(static_cast<std::int64_t>(*end.finished_ms)) + set_back_;
  const absl::Duration by = start + *ran - finish;
  if (start - finish < kStepBackMin || by > kDisorderMax) return;
  clock_set_back_ = {.times = clock_set_back_.times + 1, .by = by, .at = now_};
  set_back_ += by;
}

// Smallest detected step forward of the clock: time that passed by the driver's clock without any
// event and without work of an ended task. Chosen by hand; a driver may hang for several minutes.
constexpr absl::Duration kStepForwardMin = absl::Minutes(10);

// Detects, at the end of a task, that the clock was set forward while the task ran. Later times are
// then moved back.
void Translator::FindStepForward(const TaskEnd& end) {
  const auto running = end.id ? running_.find(*end.id) : running_.end();
  const auto ran = Milliseconds(Count(end.metrics, "Executor Run Time"));
  if (running == running_.end() || !ran || end_ || !IsInstant(end.info, "Finish Time")) return;
  const absl::Duration worked =
      *ran +
      Milliseconds(Count(end.metrics, "Executor Deserialize Time")).value_or(absl::Duration());
  const absl::Time finish =
      absl::FromUnixMillis(static_cast<std::int64_t>(*end.finished_ms)) + set_back_;
  const absl::Duration by = std::min(finish - running->second.start - worked, finish - now_);
  if (by < kStepForwardMin || by > kLongestPause) return;
  clock_set_forward_ = {.times = clock_set_forward_.times + 1, .by = by, .at = now_};
  set_back_ -= by;
}

// Returns the time of an earlier occurrence that an event repeats. Does not move a time from before
// a clock step, since after a step back it would lie in the future.
absl::Time Translator::PastInstant(const json& object, const char* name) const {
  if (!IsInstant(object, name)) return Now();
  const absl::Time read = absl::FromUnixMillis(static_cast<std::int64_t>(*Count(object, name)));
  const absl::Time before_step = read + set_back_ + clock_set_forward_.by;
  if (clock_set_forward_.times > 0 && before_step <= clock_set_forward_.at) {
    return first_ - before_step <= kLongestPause ? before_step : Now();
  }
  const absl::Duration ahead_max =
      set_back_ <= absl::ZeroDuration() ? kLongestPause : set_back_ / 2;
  for (const absl::Time at : {read + set_back_, read}) {
    if (at - Now() <= ahead_max && first_ - at <= kLongestPause) return at;
  }
  return Now();
}

// Reports the application unless it is already reported. Returns true if events can be reported:
// the application has started, and the current time is known.
bool Translator::OpenApplication(Sink sink) {
  if (is_open_) return true;
  if (!has_started_) {
    fault_ =
        "the log has no SparkListenerApplicationStart before the first job, so the elapsed time is "
        "unknown; pass the whole log, or the folder of a rolling log";
    return false;
  }
  if (now_ == absl::InfinitePast()) {
    ++contradictions_;
    return false;
  }
  is_open_ = true;
  application_.engine = kSparkEngine;
  sink(Now(), application_);
  for (ExecutorOpened& executor : waiting_executors_) sink(Now(), std::move(executor));
  waiting_executors_.clear();
  return true;
}

void Translator::EnvironmentUpdate(const json& event, Sink) {
  const json& properties = Member(event, "Spark Properties");
  application_.queue = Text(properties, "spark.yarn.queue");
  application_.parameters = ParametersIn(properties);
  task_slots_.OnEnvironment(properties);
}

void Translator::ApplicationStart(const json& event, Sink sink) {
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
  if (now_ != absl::InfinitePast()) OpenApplication(sink);
}

void Translator::ApplicationEnd(const json& event, Sink sink) {
  Instant(Reader::kOther, event, "Timestamp");
  if (!OpenApplication(sink)) return;
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
  CloseIfAllEnded(sink);
}

// Returns the queries, and the jobs outside queries, whose start Spark has reported but not their
// end. Jobs that adaptive execution has abandoned belong to ended queries.
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

// Returns the outcome of the application. Spark 4 reports the exit code of the driver, which is 0
// even if a signal stopped the driver. Before Spark 4, the last query or job determines the
// outcome.
JobClosed Translator::FinalState() const {
  JobClosed closed = {.at = end_->at};
  if (end_->exit_code != 0) {
    closed.outcome = JobOutcome::kFailed;
    closed.message = fmt::format("{}{}the driver exited with status {}", failure_,
                                 failure_.empty() ? "" : "; ", end_->exit_code);
    return closed;
  }
  const std::vector<std::string> open = OpenGroups();
  if (!stopped_.empty()) {
    closed.outcome = JobOutcome::kKilled;
    closed.message = fmt::format("the application was stopped while {} was running", stopped_);
  } else if (!open.empty()) {
    closed.outcome = JobOutcome::kUnknown;
    closed.message =
        fmt::format("the application ended, but Spark did not report the end of {}{}", open.front(),
                    open.size() == 1 ? "" : fmt::format(" and {} more", open.size() - 1));
  } else if (!end_->has_exit_code && !failure_.empty()) {
    closed.outcome = JobOutcome::kFailed;
    closed.message = failure_;
  }
  return closed;
}

void Translator::Finish(Sink sink) {
  if (!end_ || is_closed_) return;
  is_closed_ = true;
  sink(Now(), FinalState());
}

// Reports the end of the application if all queries and jobs have ended. A driver that stops
// cancels its jobs after logging its own end.
void Translator::CloseIfAllEnded(Sink sink) {
  if (end_ && jobs_.empty() && OpenGroups().empty()) Finish(sink);
}

// Updates the state of the application at the end of a query, or of a job outside queries.
void Translator::GroupEnded(const GroupClosed& closed, const std::string& failure) {
  const bool has_failed = closed.outcome == JobOutcome::kFailed;
  if (end_ && has_failed && stopped_.empty()) stopped_ = closed.group;
  if (!end_) failure_ = has_failed ? failure : "";
}

// --- executors --------------------------------------------------------------------------------

void Translator::ExecutorAdded(const json& event, Sink sink) {
  Instant(Reader::kOther, event, "Timestamp");
  const std::string id = Text(event, "Executor ID");
  const json& info = Member(event, "Executor Info");
  const std::uint32_t slots = task_slots_.Of(ExecutorSizeIn(info));
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
    sink(Now(), std::move(opened));
  } else {
    waiting_executors_.push_back(std::move(opened));
  }
}

void Translator::ExecutorRemoved(const json& event, Sink sink) {
  Instant(Reader::kOther, event, "Timestamp");
  const auto executor = executors_.find(Text(event, "Executor ID"));
  if (executor == executors_.end() || std::exchange(executor->second.is_gone, true)) {
    ++contradictions_;
    return;
  }
  slots_ -= executor->second.slots;
  const std::uint32_t number = executor->second.number;
  if (is_open_) return sink(Now(), ExecutorClosed{number});
  std::erase_if(waiting_executors_,
                [&](const ExecutorOpened& waiting) { return waiting.executor == number; });
}

// --- SQL executions and jobs ------------------------------------------------------------------

// Counts a query or job with this name and returns the count, or 1 if there were too many names.
std::uint32_t Translator::OccurrenceOf(const std::string& name) {
  if (occurrences_.size() >= kNamesMax && !occurrences_.contains(name)) return 1;
  return ++occurrences_[name];
}

void Translator::ExecutionStart(const json& event, Sink sink) {
  const absl::Time at = Instant(Reader::kOther, event, "time");
  if (!OpenApplication(sink)) return;
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
  group.identity = fmt::format("sql {} {}", plan, OccurrenceOf(plan));
  group.planned_task_counts = PlannedTaskCounts(Member(event, "sparkPlanInfo"));
  ++opened_groups_;
  sink(Now(), GroupOpened{group.name, FirstWrittenLine(Text(event, "description")), at,
                          group.planned_task_counts});
  Bound(kExecutionsMax, executions_);
}

void Translator::ExecutionUpdate(const json& event, Sink sink) {
  const auto id = Count(event, "executionId");
  const auto execution = id ? executions_.find(*id) : executions_.end();
  if (execution == executions_.end() || execution->second.name.empty()) return;
  std::vector<std::uint32_t> planned = PlannedTaskCounts(Member(event, "sparkPlanInfo"));
  if (planned == execution->second.planned_task_counts) return;
  execution->second.planned_task_counts = std::move(planned);
  sink(Now(), GroupOpened{.group = execution->second.name,
                          .planned_task_counts = execution->second.planned_task_counts});
}

void Translator::ExecutionEnd(const json& event, Sink sink) {
  const absl::Time at = Instant(Reader::kOther, event, "time");
  const auto id = Count(event, "executionId");
  const auto execution = id ? executions_.find(*id) : executions_.end();
  if (execution == executions_.end()) return;
  const Group ended = std::move(execution->second);
  executions_.erase(execution);
  ended_executions_.insert(*id);
  Bound(kExecutionsMax, ended_executions_);
  // Since Spark 3.4 the event has an error text, which is empty after success. In earlier versions,
  // an execution has failed if one of its jobs has failed.
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
  sink(Now(), std::move(closed));
  CloseIfAllEnded(sink);
}

void Translator::JobStart(const json& event, Sink sink) {
  const absl::Time at = Instant(Reader::kScheduler, event, "Submission Time");
  if (!OpenApplication(sink)) return;
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
  // Adaptive execution abandoned the job.
  if (execution && ended_executions_.contains(*execution)) {
    own.name = fmt::format("sql/{}", *execution);
    own.identity = "sql ";
  } else if (execution) {
    group = &executions_[*execution];
    if (group->name.empty()) {  // Its start is not in the log.
      group->name = fmt::format("sql/{}", *execution);
      group->identity = "sql ";
      ++opened_groups_;
      sink(Now(), GroupOpened{.group = group->name, .opened_at = at});
    }
  } else {
    own.name = fmt::format("job/{}", *id);
    std::string shown = FirstWrittenLine(Text(properties, "spark.job.description"));
    if (shown.empty() && !by_number.empty()) {
      shown = FirstWrittenLine(Text(*by_number.rbegin()->second, "Stage Name"));
    }
    ++opened_groups_;
    sink(Now(), GroupOpened{own.name, std::move(shown), at});
    // The stage that produces the result has the highest number.
    const std::string job =
        "job " + (by_number.empty() ? "" : Text(*by_number.rbegin()->second, "Stage Name"));
    own.identity = fmt::format("{} {}", job, OccurrenceOf(job));
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
            ? known->second  // An earlier job has listed it.
            : OpenStage(number, *info, *id, *group, Text(properties, "spark.scheduler.pool"), sink);
    ++stage.jobs;
    job.steps += 1 + static_cast<std::int64_t>(stage.opened.parents.size());
  }
  steps_left_ += job.steps;
  Bound(kExecutionsMax, executions_);
  Bound(kJobsMax, jobs_);
  Bound(kStagesMax, stages_);
}

void Translator::JobEnd(const json& event, Sink sink) {
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
  EndStages(ended, failure.empty(), sink);
  if (!ended.execution) {
    GroupClosed closed = {.group = fmt::format("job/{}", *id), .message = failure, .at = at};
    if (!failure.empty()) closed.outcome = JobOutcome::kFailed;
    GroupEnded(closed, failure);
    sink(Now(), std::move(closed));
  } else if (const auto execution = executions_.find(*ended.execution);
             execution != executions_.end() && !IsCancelledByItsQuery(why)) {
    Group& group = execution->second;
    if (!failure.empty()) group.failure = failure;
    // If the start of an execution is not in the log, its end may also be missing. Jobs that fail
    // after the application's end were cancelled by it.
    if (!group.has_start || (end_ && !failure.empty())) {
      const JobOutcome outcome = failure.empty() ? JobOutcome::kSucceeded : JobOutcome::kFailed;
      GroupEnded({.group = group.name, .outcome = outcome}, failure);
    }
  }
  CloseIfAllEnded(sink);
}

// Ends the stages of an ended job, unless another job also lists them. After a successful job, all
// its stages have ended or will not run.
void Translator::EndStages(const JobRecord& ended, bool has_succeeded, Sink sink) {
  std::vector<StageRecord*> planned;
  for (const std::uint32_t number : ended.stages) {
    const auto stage = stages_.find(number);
    if (stage == stages_.end() || --stage->second.jobs > 0) continue;
    if (stage->second.state == StageState::kPlanned) planned.push_back(&stage->second);
    if (stage->second.state != StageState::kRunning) continue;
    if (has_succeeded) {
      ++missing_events_;
      Close(stage->second, JobOutcome::kUnknown, "its end is missing from the log", sink);
    } else {
      Close(stage->second, JobOutcome::kKilled, "its job has ended", sink);
    }
  }
  const bool is_whole = ended.missing_before == missing_events_;
  for (StageRecord* stage : planned) {
    if (is_whole) {
      Skip(*stage, sink);
    } else {
      Close(*stage, JobOutcome::kUnknown, "events of its job are missing", sink);
    }
  }
}

// --- stages -----------------------------------------------------------------------------------

// Starts an attempt at a stage. A stage that was reported as skipped runs as a later attempt. The
// driver submits a stage once its parents have ended, so if a parent still runs, its end is missing
// from the log.
void Translator::Run(std::uint32_t attempt, StageRecord& stage, Sink sink) {
  StageOpened& opened = stage.opened;
  for (const std::uint32_t number : opened.parents) {
    const auto parent = stages_.find(number);
    if (parent == stages_.end() || parent->second.state != StageState::kRunning) continue;
    ++missing_events_;
    Close(parent->second, JobOutcome::kUnknown, "its end is missing from the log", sink);
  }
  const bool is_new_attempt =
      stage.state == StageState::kSkipped && attempt + stage.attempts_ahead <= opened.attempt;
  if (is_new_attempt) stage.attempts_ahead = opened.attempt + 1 - attempt;
  stage.state = StageState::kRunning;
  opened.attempt = std::max(opened.attempt, attempt + stage.attempts_ahead);
  opened.skipped = false;
}

// Adds a stage and reports it.
Translator::StageRecord& Translator::OpenStage(std::uint32_t number, const json& info,
                                               std::uint32_t job, Group& group,
                                               const std::string& pool, Sink sink) {
  StageRecord& record = stages_[number];
  ++opened_stages_;
  record.job = job;
  StageOpened& opened = record.opened;
  opened.stage = number;
  opened.name = Text(info, "Stage Name");
  if (const std::uint64_t work = WorkOfStage(info, group.name.starts_with("sql/"));
      !group.name.empty() &&
      (group.stages.size() < kNamesOfGroupMax || group.stages.contains(work))) {
    opened.signature = SignatureOf(group.identity, work, ++group.stages[work]);
    opened.work = RepeatedWork(group.plan, work);
  }
  opened.group = group.name;
  opened.kind = StageKind::kGeneric;
  opened.task_count = Number(info, "Number of Tasks");
  opened.pool = pool;
  if (const json& parents = Member(info, "Parent IDs"); parents.is_array()) {
    record.are_parents_known = true;
    for (const json& parent : parents) {
      if (!parent.is_number_unsigned()) continue;
      const auto id = parent.get<std::uint64_t>();
      if (id < number) opened.parents.push_back(static_cast<std::uint32_t>(id));
    }
  }
  sink(Now(), opened);
  return record;
}

void Translator::StageSubmitted(const json& event, Sink sink) {
  const json& info = Member(event, "Stage Info");
  const absl::Time at = Instant(Reader::kScheduler, info, "Submission Time");
  if (!OpenApplication(sink)) return;
  const std::optional<std::uint32_t> number = Number(info, "Stage ID");
  if (!number) {
    ++contradictions_;
    return;
  }
  const auto known = stages_.find(*number);
  if (known == stages_.end() && !is_compacted_ && !std::exchange(is_job_missing_, true)) {
    ++missing_events_;
  }
  Group none;  // used if the log lacks the start of its job
  StageRecord& stage =
      known != stages_.end() ? known->second : OpenStage(*number, info, kNoJob, none, "", sink);
  const std::uint32_t attempt = std::min(Number(info, "Stage Attempt ID").value_or(0), kAttemptMax);
  Run(attempt, stage, sink);
  stage.finished = 0;
  StageOpened& opened = stage.opened;
  opened.opened_at.reset();
  if (Count(info, "Submission Time")) opened.opened_at = at;
  if (const auto tasks = Number(info, "Number of Tasks")) opened.task_count = tasks;
  // The tasks of a stage compute the partitions of its first RDD.
  opened.index_count.reset();
  const json& rdds = Member(info, "RDD Info");
  const auto partitions = rdds.is_array() && !rdds.empty()
                              ? Number(rdds.front(), "Number of Partitions")
                              : std::nullopt;
  if (partitions > opened.task_count) opened.index_count = partitions;
  stage.is_by_partition = partitions && partitions >= opened.task_count;
  if (const auto job = jobs_.find(stage.job); job != jobs_.end()) {
    job->second.has_reported_skips = false;
  }
  sink(Now(), opened);
  Bound(kStagesMax, stages_);
}

void Translator::StageCompleted(const json& event, Sink sink) {
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
    stage.opened.opened_at = submitted_at;  // Spark 1 logs it only here.
    sink(Now(), stage.opened);
  }
  const std::uint32_t attempt = std::min(Number(info, "Stage Attempt ID").value_or(0), kAttemptMax);
  if (attempt + stage.attempts_ahead < stage.opened.attempt) return;  // A later attempt is running.
  std::string why = FailureCause(Text(info, "Failure Reason"));
  const JobOutcome outcome = why.empty() ? JobOutcome::kSucceeded : JobOutcome::kFailed;
  const std::uint32_t tasks = stage.opened.task_count.value_or(0);
  if (why.empty() && !is_compacted_) missing_ends_ += tasks - std::min(tasks, stage.finished);
  Close(stage, outcome, std::move(why), sink);
}

// Ends the latest reported attempt at the stage.
void Translator::Close(StageRecord& stage, JobOutcome outcome, std::string why, Sink sink) {
  stage.state = outcome == JobOutcome::kSucceeded ? StageState::kDone : StageState::kBroken;
  sink(Now(), StageClosed{.stage = stage.opened.stage,
                          .attempt = stage.opened.attempt,
                          .outcome = outcome,
                          .message = std::move(why),
                          .at = Now()});
}

// Reports the planned stages of the job that will not run. The driver submits all stages that can
// run before it starts a task. Any other stage that waits for no running stage already has its
// output, from an earlier job or a cache. A stage with unknown parents may wait.
void Translator::SkipAvailable(JobRecord& job, Sink sink) {
  steps_left_ -= job.steps;
  steps_ += static_cast<std::uint64_t>(job.steps);
  absl::flat_hash_set<std::uint32_t> unfinished;  // Parents have lower numbers.
  for (const std::uint32_t number : job.stages) {
    const auto found = stages_.find(number);
    if (found == stages_.end()) continue;
    StageRecord& stage = found->second;
    const bool waits =
        !stage.are_parents_known ||
        std::any_of(stage.opened.parents.begin(), stage.opened.parents.end(),
                    [&](std::uint32_t parent) { return unfinished.contains(parent); });
    const bool runs = stage.state == StageState::kRunning || stage.state == StageState::kBroken;
    if (runs || (waits && stage.state == StageState::kPlanned)) {
      unfinished.insert(number);
    } else if (stage.state == StageState::kPlanned) {
      Skip(stage, sink);
    }
  }
  job.has_reported_skips = true;
}

// Reports that no task of the stage runs. REQUIRES: the stage is planned.
void Translator::Skip(StageRecord& stage, Sink sink) {
  stage.state = StageState::kSkipped;
  stage.opened.skipped = true;
  sink(Now(), stage.opened);
}

// --- tasks ------------------------------------------------------------------------------------

Translator::StageRecord* Translator::FindStage(const json& event) {
  const std::optional<std::uint32_t> number = Number(event, "Stage ID");
  const auto found = number ? stages_.find(*number) : stages_.end();
  return found == stages_.end() ? nullptr : &found->second;
}

// Counts the starts that are missing between the latest start in the log and that of `task`.
void Translator::NoteStart(std::uint64_t task) {
  constexpr std::uint64_t kGapMax = 100'000'000;  // A larger number is an error in the log.
  if (is_compacted_) return;
  if (!first_task_) {
    first_task_ = task;
    next_task_ = task;
  }
  if (task < next_task_ || task - next_task_ > kGapMax) return;
  missing_events_ += task - next_task_;
  next_task_ = task + 1;
}

// Counts the missing start of `task`, unless a later start has already shown that it is missing.
void Translator::NoteEndWithoutStart(std::uint64_t task) {
  if (is_compacted_ || !first_task_ || running_.size() == kRunningTasksMax) return;
  if (task >= *first_task_ && task < next_task_) return;
  NoteStart(task);
  ++missing_events_;
}

// Restarts the numbering of tasks after a compacted part, in which tasks are missing.
void Translator::SetCompacted(bool is_compacted) {
  is_compacted_ = is_compacted;
  if (is_compacted) first_task_.reset();
}

// Records that tasks of a stage run, although its submission is not in the log.
void Translator::NoteRunning(StageRecord& stage, std::uint32_t attempt, Sink sink) {
  const bool was_skipped = stage.state == StageState::kSkipped;
  if (!was_skipped && stage.state != StageState::kPlanned) return;
  if (!is_compacted_) ++missing_events_;
  Run(attempt, stage, sink);
  if (was_skipped) sink(Now(), stage.opened);
}

void Translator::Gap(Sink sink) {
  ++missing_events_;
  if (!is_open_ || is_closed_) return;
  std::map<std::uint64_t, AttemptId> in_order;
  for (const auto& [id, running] : running_) in_order.emplace(id, running.attempt);
  for (const auto& [id, attempt] : in_order) {
    sink(Now(), AttemptChanged{.attempt = attempt, .state = AttemptState::kLost, .at = Now()});
  }
}

std::optional<AttemptChanged> Translator::AttemptIn(const json& event, Sink sink) {
  const json& task = Member(event, "Task Info");
  StageRecord* const stage = FindStage(event);
  std::optional<std::uint32_t> index = Number(task, "Index");
  // Executors report the partition as the index. Spark writes -1 if it is unknown.
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
  NoteRunning(*stage, attempt, sink);
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

void Translator::ReportStart(AttemptChanged changed, absl::Time at, Sink sink) {
  changed.state = AttemptState::kStarted;
  changed.at = at;
  sink(Now(), std::move(changed));
}

void Translator::TaskStart(const json& event, Sink sink) {
  const auto id = Count(Member(event, "Task Info"), "Task ID");
  if (id) NoteStart(*id);
  std::optional<AttemptChanged> changed = AttemptIn(event, sink);
  if (!changed) return;
  const absl::Time start = Instant(Reader::kStarts, Member(event, "Task Info"), "Launch Time");
  if (id && running_.size() < kRunningTasksMax) {
    running_.emplace(*id, Running{changed->attempt, start});
  }
  const StageRecord& stage = stages_[changed->attempt.stage];
  if (const auto job = jobs_.find(stage.job); job != jobs_.end()) {
    const bool is_whole = job->second.missing_before == missing_events_;
    const bool is_due = !job->second.has_reported_skips && steps_left_ >= 0;
    if (is_due && is_whole) SkipAvailable(job->second, sink);
  }
  ReportStart(*std::move(changed), start, sink);
}

void Translator::TaskEnded(const TaskEnd& end, const json& event, Sink sink) {
  const json& task = end.info;
  const auto id = end.id;
  if (id && !running_.contains(*id)) NoteEndWithoutStart(*id);
  std::optional<AttemptChanged> changed = AttemptIn(event, sink);
  if (!changed) return;
  changed->state = end.state;
  if (end.state == AttemptState::kFinished) ++stages_[changed->attempt.stage].finished;
  if (changed->state == AttemptState::kObsolete) {
    changed->at = Now();  // The event repeats the earlier finish time.
    return sink(Now(), *std::move(changed));
  }
  FindStepBack(end);
  FindStepForward(end);
  absl::Time finish = Instant(Reader::kEnds, task, "Finish Time");
  const auto running = id ? running_.find(*id) : running_.end();
  const bool has_started = running != running_.end();
  const absl::Time start = has_started ? running->second.start : PastInstant(task, "Launch Time");
  if (has_started) {
    running_.erase(running);
  } else {
    ReportStart(*changed, start, sink);
  }
  // If the clock was set back while the task ran, only its executor measured the duration. Without
  // that duration, the task ended no earlier than the latest known time.
  if (IsInstant(task, "Finish Time") && IsInstant(task, "Launch Time") &&
      *end.finished_ms < *end.launched_ms) {
    const auto ran = Milliseconds(Count(end.metrics, "Executor Run Time"));
    finish = std::max(finish, ran ? start + *ran : now_);
    if (finish - now_ <= kLongestPause) now_ = std::max(now_, finish);
  }
  changed->at = std::max(finish, start);
  if (changed->state != AttemptState::kFinished) changed->failure = FailureIn(end.reason);
  if (const json& metrics = end.metrics; metrics.is_object()) {
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
    totals.time.waits = {
        {WaitReason::kMemory, Milliseconds(Count(metrics, "JVM GC Time"))},
        {WaitReason::kNetwork, Milliseconds(Count(shuffle, "Fetch Wait Time"))},
        {WaitReason::kIo, Nanoseconds(Count(written, "Shuffle Write Time"))},
    };
    totals.time.moved_bytes = {
        {WaitReason::kNetwork, Count(shuffle, "Remote Bytes Read")},
        {WaitReason::kIo, Count(written, "Shuffle Bytes Written")},
    };
    const auto& submitted_at = stages_[changed->attempt.stage].opened.opened_at;
    if (submitted_at && IsInstant(task, "Launch Time")) {
      totals.time.waits[WaitReason::kSlots] = std::max(start - *submitted_at, absl::ZeroDuration());
    }
    sink(Now(), std::move(totals));
  }
  sink(Now(), *std::move(changed));
}

}  // namespace tidemark::spark
