#include "cli/hadoop/application_poller.h"

#include <fmt/format.h>

#include <algorithm>

#include "absl/strings/match.h"

namespace tidemark::cli {
namespace {

constexpr std::string_view kJob = "job_";
constexpr std::string_view kApplication = "application_";
constexpr const char* kMapReduce = "MAPREDUCE";

std::string WithPrefix(std::string_view id, std::string_view prefix, std::string_view other) {
  if (id.starts_with(other)) id.remove_prefix(other.size());
  return id.starts_with(prefix) ? std::string(id) : fmt::format("{}{}", prefix, id);
}

// Returns the URL of the web service, given that URL or the URL of the resource manager's page.
std::string WithoutPage(std::string url) {
  for (const std::string_view end : {"/", "/cluster", "/"}) {
    while (url.ends_with(end)) url.resize(url.size() - end.size());
  }
  return url;
}

// Returns options without nearestfit, which requires key groups.
JobMonitorOptions Options(bool compare) {
  if (!compare) return {};
  return {.indicators = {"tidemark", "hadoop", "jobratio", "taskratio"}};
}

// Returns a string such as "state FINISHED, final status UNDEFINED".
std::string StatesText(const RestApplication& application) {
  const auto or_none = [](const std::string& word) { return word.empty() ? "none" : word; };
  return fmt::format("state {}, final status {}", or_none(application.state),
                     or_none(application.final_status));
}

// Returns why a running or waiting application has no job.
std::string WhyNoJob(const std::string& id, const RestApplication& application) {
  if (application.state == "RUNNING") {
    return fmt::format("{} is running; its application master reports no job yet", id);
  }
  std::string why = fmt::format("{} is waiting to start: YARN reports {}", id,
                                application.state.empty() ? "no state" : application.state);
  if (!application.queue.empty()) why += fmt::format(" in queue {}", application.queue);
  if (!application.diagnostics.empty()) {
    why += fmt::format(" ({})", FirstLine(application.diagnostics));
  }
  return why;
}

// Returns the error for an application of another type, which names the type and a command for it.
absl::Status OtherType(const std::string& id, const RestApplication& application) {
  const std::string what =
      application.name.empty() ? id : fmt::format("{} ({})", id, application.name);
  const std::string advice =
      absl::EqualsIgnoreCase(application.type, "SPARK")
          ? "start Spark applications with `tidemark run spark` to watch them, or replay this "
            "application's event log with `tidemark replay`"
          : fmt::format(
                "Tidemark does not follow {}; `yarn application -status {}` shows its state",
                application.type, id);
  return absl::FailedPreconditionError(
      fmt::format("{} is of type {}, but `tidemark hadoop poll` follows only MapReduce jobs; {}",
                  what, application.type, advice));
}

// Returns the error for a response that cannot be parsed, which counts as no response.
absl::Status Unreadable(const absl::Status& status, const std::string& url) {
  return absl::UnavailableError(fmt::format("{}: {}", url, std::string(status.message())));
}

absl::StatusOr<std::vector<RestTask>> TasksAt(const std::string& url,
                                              const ApplicationPoller::Get& get) {
  const absl::StatusOr<std::string> answer = get(url);
  if (!answer.ok()) return answer.status();
  absl::StatusOr<std::vector<RestTask>> tasks = ParseRestTasks(*answer);
  if (!tasks.ok()) return Unreadable(tasks.status(), url);
  return tasks;
}

bool HasCounts(const RestJob& job) { return job.map_tasks > 0 || job.reduce_tasks > 0; }

// Returns the job. Missing counts are replaced by counting the listed tasks.
RestJob WithCountsOf(const std::vector<RestTask>& tasks, RestJob job) {
  if (HasCounts(job)) return job;
  for (const RestTask& task : tasks) {
    std::uint32_t& count = task.stage == kMapStage ? job.map_tasks : job.reduce_tasks;
    count = std::max(count, task.index + 1);
  }
  return job;
}

}  // namespace

ApplicationPoller::ApplicationPoller(std::string resource_manager, const std::string& application,
                                     Get get, bool compare)
    : resource_manager_(WithoutPage(std::move(resource_manager))),
      application_id_(WithPrefix(application, kApplication, kJob)),
      job_id_(WithPrefix(application, kJob, kApplication)),
      get_(std::move(get)),
      monitor_(job_id_, Options(compare)) {
  monitor_.AddNote("no key groups: the forecast uses only the progress of tasks");
}

absl::StatusOr<Snapshot> ApplicationPoller::Poll(absl::Time now) {
  why_no_job_.clear();
  absl::Status status = PollMaster(now);
  // If the application master is missing, the job has not started, has ended, or is being
  // restarted.
  if (!status.ok()) status = PollResourceManager(now);
  if (!status.ok()) return status;
  Snapshot snapshot = monitor_.Tick(now);
  if (is_length_unknown_) snapshot.started_at.reset();
  return snapshot;
}

absl::Status ApplicationPoller::PollMaster(absl::Time now) {
  const std::string url =
      fmt::format("{}/proxy/{}/ws/v1/mapreduce/jobs", resource_manager_, application_id_);
  const absl::StatusOr<std::string> answer = get_(url);
  if (!answer.ok()) return answer.status();
  const auto jobs = ParseRestJobs(*answer);
  if (!jobs.ok()) return Unreadable(jobs.status(), url);
  // A history server also lists the jobs of other applications.
  const auto found = std::ranges::find(*jobs, job_id_, &RestJob::id);
  if (found == jobs->end()) return absl::UnavailableError("the application has no job yet");
  const RestJob& job = *found;
  const std::string tasks_url = fmt::format("{}/{}/tasks", url, job.id);
  const absl::StatusOr<std::vector<RestTask>> tasks = TasksAt(tasks_url, get_);
  if (!tasks.ok() && !job.outcome) return tasks.status();
  if (!monitor_.is_open()) {
    const RestJob known = WithCountsOf(tasks.ok() ? *tasks : std::vector<RestTask>(), job);
    // Counts are 0 until the job is initialized.
    if (!HasCounts(known) && !job.outcome) {
      why_no_job_ = fmt::format("{} has no tasks yet: its application master reports {}", job_id_,
                                job.state.empty() ? "no state" : job.state);
      return absl::OkStatus();
    }
    Open(known, now);
  }
  if (tasks.ok()) {
    if (absl::Status status = PollTasks(tasks_url, *tasks, now); !status.ok()) return status;
  }
  if (job.outcome) {
    std::string diagnostics = job.diagnostics;
    // The application master may not report why the application was killed.
    if (diagnostics.empty() && job.outcome != JobOutcome::kSucceeded) {
      diagnostics = ApplicationDiagnostics();
    }
    Close(TaskFacts::Closing(*job.outcome, diagnostics, job.finished_at), now);
  }
  return absl::OkStatus();
}

absl::Status ApplicationPoller::PollResourceManager(absl::Time now) {
  const std::string url =
      fmt::format("{}/ws/v1/cluster/apps/{}", resource_manager_, application_id_);
  const absl::StatusOr<std::string> answer = get_(url);
  if (absl::IsNotFound(answer.status())) {
    return absl::NotFoundError(
        fmt::format("the resource manager at {} has no {}; `yarn application -list -appStates ALL` "
                    "lists its applications ({})",
                    resource_manager_, application_id_, std::string(answer.status().message())));
  }
  if (!answer.ok()) return answer.status();
  const auto application = ParseRestApplication(*answer);
  if (!application.ok()) return Unreadable(application.status(), url);
  if (!application->type.empty() && !absl::EqualsIgnoreCase(application->type, kMapReduce)) {
    return OtherType(application_id_, *application);
  }
  if (application->is_over) return ApplyEnd(*application, now);
  if (!monitor_.is_open()) why_no_job_ = WhyNoJob(application_id_, *application);
  return absl::OkStatus();
}

std::string ApplicationPoller::ApplicationDiagnostics() const {
  const absl::StatusOr<std::string> answer =
      get_(fmt::format("{}/ws/v1/cluster/apps/{}", resource_manager_, application_id_));
  if (!answer.ok()) return "";
  const auto application = ParseRestApplication(*answer);
  return application.ok() ? application->diagnostics : "";
}

// Applies the outcome and, for a job without events, its times.
absl::Status ApplicationPoller::ApplyEnd(const RestApplication& application, absl::Time now) {
  const std::string message = application.outcome == JobOutcome::kUnknown
                                  ? "YARN reports no outcome: " + StatesText(application)
                                  : application.diagnostics;
  std::optional<absl::Time> started_at = application.started_at;
  std::optional<absl::Time> finished_at = application.finished_at;
  if (!monitor_.is_open()) {
    is_length_unknown_ = !started_at || !finished_at || *finished_at < *started_at;
    // The clock of the resource manager may be ahead of this host's.
    if (!is_length_unknown_ && *finished_at > now) {
      started_at = *started_at - (*finished_at - now);
      finished_at = now;
    }
    Open({.name = application.name.empty() ? job_id_ : application.name, .started_at = started_at},
         now);
  }
  Close(TaskFacts::Closing(application.outcome, message, finished_at), now);
  return absl::OkStatus();
}

absl::Status ApplicationPoller::PollTasks(const std::string& url,
                                          const std::vector<RestTask>& tasks, absl::Time now) {
  std::size_t queries = 0;
  for (std::size_t k = 0; k < tasks.size(); ++k) {
    const std::size_t at = (next_task_ + k) % tasks.size();
    const RestTask& task = tasks[at];
    const bool has_changed = task.state == RestState::kRunning ||
                             (task.state != RestState::kWaiting && !facts_.HasEnded(task));
    if (!has_changed) continue;
    if (queries++ == kQueriesMax) {
      next_task_ = at;
      break;
    }
    const absl::Status status = PollAttempts(fmt::format("{}/{}/attempts", url, task.id), now);
    // A missing page affects only this task.
    if (!status.ok() && !absl::IsNotFound(status)) return status;
    Apply(facts_.ObserveEnd(task), now);
  }
  return absl::OkStatus();
}

absl::Status ApplicationPoller::PollAttempts(const std::string& url, absl::Time now) {
  const absl::StatusOr<std::string> answer = get_(url);
  if (!answer.ok()) return answer.status();
  const auto attempts = ParseRestAttempts(*answer);
  if (!attempts.ok()) return Unreadable(attempts.status(), url);
  for (const RestAttempt& attempt : *attempts) Apply(facts_.Observe(attempt, now), now);
  return absl::OkStatus();
}

void ApplicationPoller::Open(const RestJob& job, absl::Time now) {
  Apply(TaskFacts::Opening(job), now);
}

void ApplicationPoller::Close(const JobClosed& closed, absl::Time now) { Apply({closed}, now); }

void ApplicationPoller::Apply(const std::vector<EventBody>& bodies, absl::Time now) {
  for (const EventBody& body : bodies) {
    Event event;
    event.source_id = "poller";
    event.sequence = ++sequence_;
    event.sent_at = now;
    event.arrived_at = now;
    event.body = body;
    // The monitor counts events that contradict the job.
    monitor_.Apply(event).IgnoreError();
  }
}

// --- TaskFacts ---

namespace {

// Hadoop's progress of a reduce attempt consists of one third each for fetching, sorting and
// reducing.
constexpr double kReduceFrom = 2.0 / 3;

AttemptState StateOf(const RestAttempt& attempt) {
  switch (attempt.state) {
    case RestState::kRunning:
      return attempt.sorted_at ? AttemptState::kShuffled : AttemptState::kStarted;
    case RestState::kSucceeded:
      return AttemptState::kFinished;
    case RestState::kFailed:
      return AttemptState::kFailed;
    case RestState::kKilled:
      return AttemptState::kKilled;
    case RestState::kWaiting:
      break;
  }
  return AttemptState::kQueued;
}

std::optional<absl::Time> InstantOf(const RestAttempt& attempt, AttemptState state) {
  switch (state) {
    case AttemptState::kQueued:
      return std::nullopt;
    case AttemptState::kStarted:
      return attempt.started_at;
    case AttemptState::kShuffled:
      return attempt.sorted_at;
    default:
      return attempt.finished_at;
  }
}

std::uint64_t Units(double fraction) {
  return static_cast<std::uint64_t>(std::clamp(fraction, 0.0, 1.0) *
                                    static_cast<double>(kTaskUnits));
}

// Returns the progress of the reduce function of an attempt, and its duration so far.
ReduceProfile ReduceWorkOf(const RestAttempt& attempt, absl::Time now) {
  const bool is_over = attempt.state == RestState::kSucceeded;
  const absl::Time until = is_over ? attempt.finished_at.value_or(now) : now;
  ReduceProfile profile;
  profile.attempt = attempt.id;
  profile.bytes_done =
      is_over ? kTaskUnits : Units((attempt.fraction_done - kReduceFrom) / (1 - kReduceFrom));
  profile.last_group_finished_at = until;
  profile.reduce_time = std::max(until - *attempt.sorted_at, absl::ZeroDuration());
  return profile;
}

bool IsGivenUp(const RestTask& task) {
  return task.state == RestState::kFailed || task.state == RestState::kKilled;
}

EventBody WorkOf(const RestAttempt& attempt, absl::Time now) {
  if (attempt.sorted_at) return ReduceWorkOf(attempt, now);
  const bool is_map = attempt.id.stage == kMapStage;
  TaskHeartbeat heartbeat;
  heartbeat.attempt = attempt.id;
  heartbeat.bytes_done = Units(attempt.fraction_done / (is_map ? 1 : kReduceFrom));
  return heartbeat;
}

}  // namespace

std::vector<EventBody> TaskFacts::Opening(const RestJob& job) {
  JobOpened opened;
  opened.name = job.name;
  opened.engine = "hadoop";
  opened.submitted_at = job.started_at;
  opened.stages = MapReduceStages(job.map_tasks, job.reduce_tasks);
  std::vector<EventBody> events = {opened};
  const auto announce = [&](std::uint32_t stage, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      AttemptChanged waits;
      waits.attempt = {.stage = stage, .index = i};
      waits.input_bytes = kTaskUnits;
      events.emplace_back(waits);
    }
  };
  announce(kMapStage, job.map_tasks);
  announce(kReduceStage, job.reduce_tasks);
  return events;
}

// Returns the executor of a host. The web service reports nodes and not containers, so all attempts
// of a node share one executor.
std::uint32_t TaskFacts::ExecutorAt(const std::string& host, std::vector<EventBody>& events) {
  const auto number = static_cast<std::uint32_t>(executors_.size());
  const auto [known, is_new] = executors_.try_emplace(host, number);
  if (is_new) events.emplace_back(ExecutorOpened{.executor = number, .host = host});
  return known->second;
}

void TaskFacts::Enter(const RestAttempt& attempt, AttemptState state,
                      std::vector<EventBody>& events) {
  const auto before = reported_.find(attempt.id);
  for (const AttemptState passed :
       {AttemptState::kStarted, AttemptState::kShuffled, AttemptState::kFinished,
        AttemptState::kFailed, AttemptState::kKilled}) {
    const bool is_known = InstantOf(attempt, passed).has_value();
    const bool is_passed = passed < AttemptState::kFinished && passed < state && is_known;
    if (passed != state && !is_passed) continue;
    if (before != reported_.end() && passed <= before->second) continue;
    AttemptChanged changed;
    changed.attempt = attempt.id;
    changed.state = passed;
    changed.at = InstantOf(attempt, passed);
    if (!attempt.host.empty()) changed.executor = ExecutorAt(attempt.host, events);
    changed.input_bytes = kTaskUnits;
    if (passed == AttemptState::kFailed || passed == AttemptState::kKilled) {
      changed.failure = attempt.diagnostics;
    }
    events.emplace_back(changed);
  }
  AttemptState& reported = reported_.try_emplace(attempt.id, state).first->second;
  reported = std::max(reported, state);
}

std::vector<EventBody> TaskFacts::Observe(const RestAttempt& attempt, absl::Time now) {
  std::vector<EventBody> events;
  const AttemptState state = StateOf(attempt);
  if (state == AttemptState::kQueued) return events;
  // A restarted application master may run a failed task again.
  if (attempt.state == RestState::kRunning) given_up_.erase({attempt.id.stage, attempt.id.index});
  const auto before = reported_.find(attempt.id);
  if (before != reported_.end() && before->second >= AttemptState::kFinished) {
    if (before->second == AttemptState::kFinished && state != AttemptState::kFinished) {
      AttemptChanged lost{.attempt = attempt.id, .state = AttemptState::kObsolete};
      lost.failure = attempt.diagnostics;
      events.emplace_back(lost);
      before->second = AttemptState::kObsolete;
    }
    return events;
  }
  if (state > AttemptState::kFinished) {
    Enter(attempt, state, events);
  } else if (state < AttemptState::kFinished) {
    Enter(attempt, state, events);
    events.push_back(WorkOf(attempt, now));
  } else {
    // The event with the progress of a reduce task must precede its end.
    const bool reduces = attempt.id.stage == kReduceStage && attempt.sorted_at;
    if (reduces) {
      Enter(attempt, AttemptState::kShuffled, events);
      events.push_back(WorkOf(attempt, now));
    }
    Enter(attempt, state, events);
  }
  return events;
}

std::vector<EventBody> TaskFacts::ObserveEnd(const RestTask& task) {
  std::vector<EventBody> events;
  if (task.state == RestState::kSucceeded) {
    if (!HasEnded(task)) {
      RestAttempt attempt;
      attempt.id = {task.stage, task.index, task.successful_attempt};
      attempt.state = RestState::kSucceeded;
      attempt.started_at = task.started_at;
      attempt.finished_at = task.finished_at;
      Enter(attempt, AttemptState::kFinished, events);
    }
    EndAttempts(task, AttemptState::kKilled, events);
  } else if (IsGivenUp(task) && !HasEnded(task)) {
    const AttemptState end =
        task.state == RestState::kFailed ? AttemptState::kFailed : AttemptState::kKilled;
    const std::optional<AttemptId> last = EndAttempts(task, end, events);
    AttemptChanged changed;
    changed.attempt = last.value_or(AttemptId{task.stage, task.index});
    changed.state = last ? reported_.at(*last) : end;
    changed.at = task.finished_at;
    changed.task_failed = true;
    events.emplace_back(changed);
    given_up_.emplace(task.stage, task.index);
  }
  return events;
}

std::optional<AttemptId> TaskFacts::EndAttempts(const RestTask& task, AttemptState state,
                                                std::vector<EventBody>& events) {
  std::optional<AttemptId> last;
  for (auto known = reported_.lower_bound({task.stage, task.index}); known != reported_.end();
       ++known) {
    if (known->first.stage != task.stage || known->first.index != task.index) break;
    last = known->first;
    if (known->second >= AttemptState::kFinished) continue;
    known->second = state;
    events.emplace_back(
        AttemptChanged{.attempt = known->first, .state = state, .at = task.finished_at});
  }
  return last;
}

bool TaskFacts::HasEnded(const RestTask& task) const {
  if (IsGivenUp(task)) return given_up_.contains({task.stage, task.index});
  const auto known = reported_.find({task.stage, task.index, task.successful_attempt});
  return known != reported_.end() && known->second == AttemptState::kFinished;
}

JobClosed TaskFacts::Closing(JobOutcome outcome, const std::string& diagnostics,
                             std::optional<absl::Time> at) {
  JobClosed closed;
  closed.outcome = outcome;
  if (outcome != JobOutcome::kSucceeded) closed.message = diagnostics;
  closed.at = at;
  return closed;
}

}  // namespace tidemark::cli
