#include "cli/hadoop/application_poller.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

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

// The URL of the resource manager's page serves as well as that of its web service.
std::string WithoutPage(std::string url) {
  for (const std::string_view end : {"/", "/cluster", "/"}) {
    while (url.ends_with(end)) url.resize(url.size() - end.size());
  }
  return url;
}

// nearestfit needs key groups, of which nothing is known here.
JobMonitorOptions Options(bool compare) {
  if (!compare) return {};
  return {.indicators = {"tidemark", "hadoop", "jobratio", "taskratio"}};
}

// Returns text such as "state FINISHED, final status UNDEFINED".
std::string StatesText(const RestApplication& application) {
  const auto or_none = [](const std::string& word) { return word.empty() ? "none" : word; };
  return fmt::format("state {}, final status {}", or_none(application.state),
                     or_none(application.final_status));
}

// Returns why an application that has not ended shows no job.
std::string WhyNoJob(const std::string& id, const RestApplication& application) {
  if (application.state == "RUNNING") {
    return fmt::format("{} is running; its application master shows no job yet", id);
  }
  std::string why = fmt::format("{} waits to start: YARN reports {}", id,
                                application.state.empty() ? "no state" : application.state);
  if (!application.queue.empty()) why += fmt::format(" in queue {}", application.queue);
  if (!application.diagnostics.empty()) {
    why += fmt::format(" ({})", FirstLine(application.diagnostics));
  }
  return why;
}

// Returns the type of the application, and the command for it.
absl::Status OtherType(const std::string& id, const RestApplication& application) {
  const std::string what =
      application.name.empty() ? id : fmt::format("{} ({})", id, application.name);
  const std::string advice =
      absl::EqualsIgnoreCase(application.type, "SPARK")
          ? "start Spark applications with `tidemark run spark` to watch them, or read the event "
            "log of this one with `tidemark replay`"
          : fmt::format(
                "Tidemark does not follow {}; `yarn application -status {}` shows its state",
                application.type, id);
  return absl::FailedPreconditionError(
      fmt::format("{} is of type {}, and `tidemark hadoop poll` follows MapReduce only; {}", what,
                  application.type, advice));
}

// An answer that cannot be parsed counts as none.
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

// Returns the job. If its counts are missing, they are the counts of the listed tasks.
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
  monitor_.AddNote("no key groups known: estimates rest on the progress of tasks alone");
}

absl::StatusOr<Snapshot> ApplicationPoller::Look(absl::Time now) {
  why_no_job_.clear();
  absl::Status status = LookAtMaster(now);
  // The job has not begun, has ended, or restarts after its application master failed.
  if (!status.ok()) status = LookAtResourceManager(now);
  if (!status.ok()) return status;
  Snapshot snapshot = monitor_.Tick(now);
  if (is_length_unknown_) snapshot.started_at.reset();
  return snapshot;
}

absl::Status ApplicationPoller::LookAtMaster(absl::Time now) {
  const std::string url =
      fmt::format("{}/proxy/{}/ws/v1/mapreduce/jobs", resource_manager_, application_id_);
  const absl::StatusOr<std::string> answer = get_(url);
  if (!answer.ok()) return answer.status();
  const auto jobs = ParseRestJobs(*answer);
  if (!jobs.ok()) return Unreadable(jobs.status(), url);
  // A history server lists the jobs of other applications, too.
  const auto found = std::ranges::find(*jobs, job_id_, &RestJob::id);
  if (found == jobs->end()) return absl::UnavailableError("the application has no job yet");
  const RestJob& job = *found;
  const std::string tasks_url = fmt::format("{}/{}/tasks", url, job.id);
  const absl::StatusOr<std::vector<RestTask>> tasks = TasksAt(tasks_url, get_);
  if (!tasks.ok() && !job.outcome) return tasks.status();
  if (!monitor_.is_open()) {
    const RestJob known = WithCountsOf(tasks.ok() ? *tasks : std::vector<RestTask>(), job);
    // The counts of a job are 0 until it is initialized.
    if (!HasCounts(known) && !job.outcome) {
      why_no_job_ = fmt::format("{} has no tasks yet: its application master reports {}", job_id_,
                                job.state.empty() ? "no state" : job.state);
      return absl::OkStatus();
    }
    Open(known, now);
  }
  if (tasks.ok()) {
    if (absl::Status status = LookAtTasks(tasks_url, *tasks, now); !status.ok()) return status;
  }
  if (job.outcome) {
    Close(TaskFacts::Closing(*job.outcome, job.diagnostics, job.finished_at), now);
  }
  return absl::OkStatus();
}

absl::Status ApplicationPoller::LookAtResourceManager(absl::Time now) {
  const std::string url =
      fmt::format("{}/ws/v1/cluster/apps/{}", resource_manager_, application_id_);
  const absl::StatusOr<std::string> answer = get_(url);
  if (absl::IsNotFound(answer.status())) {
    return absl::NotFoundError(
        fmt::format("the resource manager at {} does not know {}; `yarn application -list "
                    "-appStates ALL` lists those that it knows ({})",
                    resource_manager_, application_id_, std::string(answer.status().message())));
  }
  if (!answer.ok()) return answer.status();
  const auto application = ParseRestApplication(*answer);
  if (!application.ok()) return Unreadable(application.status(), url);
  if (!application->type.empty() && !absl::EqualsIgnoreCase(application->type, kMapReduce)) {
    return OtherType(application_id_, *application);
  }
  if (application->is_over) return TakeEnd(*application, now);
  if (!monitor_.is_open()) why_no_job_ = WhyNoJob(application_id_, *application);
  return absl::OkStatus();
}

// Reads the outcome and, for a job that was never observed, its times.
absl::Status ApplicationPoller::TakeEnd(const RestApplication& application, absl::Time now) {
  const std::string message = application.outcome == JobOutcome::kUnknown
                                  ? "YARN reports no outcome: " + StatesText(application)
                                  : application.diagnostics;
  std::optional<absl::Time> started_at = application.started_at;
  std::optional<absl::Time> finished_at = application.finished_at;
  if (!monitor_.is_open()) {
    is_length_unknown_ = !started_at || !finished_at || *finished_at < *started_at;
    // The clock of the resource manager may be ahead of ours.
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

absl::Status ApplicationPoller::LookAtTasks(const std::string& url,
                                            const std::vector<RestTask>& tasks, absl::Time now) {
  std::size_t questions = 0;
  for (std::size_t k = 0; k < tasks.size(); ++k) {
    const std::size_t at = (next_task_ + k) % tasks.size();
    const RestTask& task = tasks[at];
    const bool has_news = task.state == RestState::kRunning ||
                          (task.state != RestState::kWaiting && !facts_.HasEnded(task));
    if (!has_news) continue;
    if (questions++ == kQuestionsMax) {
      next_task_ = at;
      break;
    }
    const absl::Status status = LookAtAttempts(fmt::format("{}/{}/attempts", url, task.id), now);
    // A missing page affects this task alone.
    if (!status.ok() && !absl::IsNotFound(status)) return status;
    Apply(facts_.ObserveEnd(task), now);
  }
  return absl::OkStatus();
}

absl::Status ApplicationPoller::LookAtAttempts(const std::string& url, absl::Time now) {
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
    // What contradicts the job is counted by the monitor.
    monitor_.Apply(event).IgnoreError();
  }
}

}  // namespace tidemark::cli
