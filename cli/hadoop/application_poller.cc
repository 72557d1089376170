#include "cli/hadoop/application_poller.h"

#include <fmt/format.h>

#include <utility>

namespace tidemark::cli {
namespace {

constexpr std::string_view kJob = "job_";
constexpr std::string_view kApplication = "application_";

std::string WithPrefix(std::string_view id, std::string_view prefix, std::string_view other) {
  if (id.starts_with(other)) id.remove_prefix(other.size());
  return id.starts_with(prefix) ? std::string(id) : fmt::format("{}{}", prefix, id);
}

// nearestfit needs key groups, of which nothing is known here.
JobMonitorOptions Options(bool compare) {
  if (!compare) return {};
  return {.indicators = {"tidemark", "hadoop", "jobratio", "taskratio"}};
}

// An answer that cannot be parsed counts as none.
absl::Status Unreadable(const absl::Status& status, const std::string& url) {
  return absl::UnavailableError(fmt::format("{}: {}", url, std::string(status.message())));
}

}  // namespace

ApplicationPoller::ApplicationPoller(std::string resource_manager, const std::string& application,
                                     Get get, bool compare)
    : resource_manager_(std::move(resource_manager)),
      application_id_(WithPrefix(application, kApplication, kJob)),
      get_(std::move(get)),
      monitor_(WithPrefix(application, kJob, kApplication), Options(compare)) {
  monitor_.AddNote("no key groups known: estimates rest on the progress of tasks alone");
}

absl::StatusOr<Snapshot> ApplicationPoller::Look(absl::Time now) {
  absl::Status status = LookAtMaster(now);
  // It has not begun, has ended, or begins again after a failure of its own.
  if (!status.ok()) status = LookAtResourceManager(now);
  if (!status.ok()) return status;
  return monitor_.Tick(now);
}

absl::Status ApplicationPoller::LookAtMaster(absl::Time now) {
  const std::string url =
      fmt::format("{}/proxy/{}/ws/v1/mapreduce/jobs", resource_manager_, application_id_);
  const absl::StatusOr<std::string> answer = get_(url);
  if (!answer.ok()) return answer.status();
  const auto jobs = ParseRestJobs(*answer);
  if (!jobs.ok()) return Unreadable(jobs.status(), url);
  if (jobs->empty()) return absl::UnavailableError("the application has no job yet");
  const RestJob& job = jobs->front();
  if (!monitor_.is_open()) Open(job, now);
  if (const absl::Status status = LookAtTasks(fmt::format("{}/{}", url, job.id), now);
      !status.ok()) {
    return status;
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
  if (!answer.ok()) return answer.status();
  const auto application = ParseRestApplication(*answer);
  if (!application.ok()) return Unreadable(application.status(), url);
  if (!application->is_over) return absl::OkStatus();
  if (!monitor_.is_open()) Open({.name = application->name}, now);
  Close(
      TaskFacts::Closing(application->outcome, application->diagnostics, application->finished_at),
      now);
  return absl::OkStatus();
}

absl::Status ApplicationPoller::LookAtTasks(const std::string& job_url, absl::Time now) {
  const std::string url = job_url + "/tasks";
  const absl::StatusOr<std::string> answer = get_(url);
  if (!answer.ok()) return answer.status();
  const auto tasks = ParseRestTasks(*answer);
  if (!tasks.ok()) return Unreadable(tasks.status(), url);
  std::size_t questions = 0;
  for (std::size_t k = 0; k < tasks->size(); ++k) {
    const std::size_t at = (next_task_ + k) % tasks->size();
    const RestTask& task = (*tasks)[at];
    const bool has_news = task.state == RestState::kRunning ||
                          (task.state == RestState::kSucceeded && !facts_.HasEnded(task));
    if (!has_news) continue;
    if (questions++ == kQuestionsMax) {
      next_task_ = at;
      break;
    }
    const absl::Status status = LookAtAttempts(fmt::format("{}/{}/attempts", url, task.id), now);
    if (!status.ok()) return status;
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
