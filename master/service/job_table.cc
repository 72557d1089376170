#include "master/service/job_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "proto/wire/parse_event.h"
#include "tidemark/v1/event.pb.h"

namespace tidemark::service {

std::shared_ptr<JobTable::Job> JobTable::Find(const std::string& job_id) const {
  const std::lock_guard lock(mutex_);
  const auto job = jobs_.find(job_id);
  return job == jobs_.end() ? nullptr : job->second;
}

std::vector<std::shared_ptr<JobTable::Job>> JobTable::All() const {
  std::vector<std::shared_ptr<Job>> jobs;
  {
    const std::lock_guard lock(mutex_);
    jobs.reserve(jobs_.size());
    for (const auto& [id, job] : jobs_) jobs.push_back(job);
  }
  std::sort(jobs.begin(), jobs.end(),
            [](const auto& a, const auto& b) { return a->number > b->number; });
  return jobs;
}

// Forgets the oldest job that has ended; false if all are running. REQUIRES: mutex_ is held.
bool JobTable::MakeRoom() {
  auto oldest = jobs_.end();
  for (auto job = jobs_.begin(); job != jobs_.end(); ++job) {
    const std::lock_guard lock(job->second->mutex);
    if (!job->second->newest.is_final()) continue;
    if (oldest == jobs_.end() || job->second->number < oldest->second->number) oldest = job;
  }
  if (oldest == jobs_.end()) return false;
  jobs_.erase(oldest);
  return true;
}

// Remembers a job whose monitor takes `event`, which opens it; one that is refused leaves no trace.
// Null when that is all; the job if somebody else has opened it meanwhile.
absl::StatusOr<std::shared_ptr<JobTable::Job>> JobTable::Open(const v1::Envelope& untrusted,
                                                              const Event& event) {
  const std::lock_guard lock(mutex_);
  if (const auto known = jobs_.find(event.job_id); known != jobs_.end()) return known->second;
  auto job = std::make_shared<Job>(event.job_id, options_.job, opened_ + 1);
  if (absl::Status taken = job->monitor.Apply(event); !taken.ok()) return taken;
  if (jobs_.size() >= options_.jobs_max && !MakeRoom()) {
    return absl::ResourceExhaustedError(fmt::format(
        "job {}: this master watches at most {} jobs at once", event.job_id, options_.jobs_max));
  }
  ++opened_;
  job->latest = event.arrived_at;
  job->newest =
      Snapshot{.job_id = event.job_id, .at = event.arrived_at, .started_at = event.arrived_at};
  OpenLog(event.job_id, *job);
  if (job->log) Logged(job->log->Append(untrusted, event.arrived_at), *job);
  jobs_.emplace(event.job_id, std::move(job));
  return std::shared_ptr<Job>();
}

void JobTable::Logged(const absl::Status& status, Job& job) {
  if (status.ok()) return;
  job.monitor.AddNote(fmt::format("no event log from here on: {}", std::string(status.message())));
  job.log.reset();
}

void JobTable::OpenLog(const std::string& job_id, Job& job) const {
  if (options_.event_log_dir.empty()) return;
  auto log = store::EventLogWriter::Create(store::EventLogPath(options_.event_log_dir, job_id),
                                           job_id, options_.job);
  if (log.ok()) {
    job.log = *std::move(log);
  } else {
    Logged(log.status(), job);
  }
}

absl::Status JobTable::Reject(Job* job, const absl::Status& reason) const {
  if (job == nullptr) return reason;
  const std::lock_guard lock(job->mutex);
  job->monitor.CountRejected();
  if (job->log) Logged(job->log->AppendMalformed(std::string(reason.message())), *job);
  return reason;
}

absl::Status JobTable::Ingest(const v1::Envelope& untrusted, absl::Time now) {
  std::shared_ptr<Job> job = Find(untrusted.job_id());
  absl::StatusOr<Event> event = wire::ParseEvent(untrusted, now);
  if (!event.ok()) return Reject(job.get(), event.status());
  if (job == nullptr) {
    if (!std::holds_alternative<JobOpened>(event->body)) {
      return absl::FailedPreconditionError(
          fmt::format("job {} is not open; send JobOpened first", event->job_id));
    }
    auto known = Open(untrusted, *event);
    if (!known.ok() || *known == nullptr) return known.status();
    job = *std::move(known);
  }
  const std::lock_guard lock(job->mutex);
  const bool is_new = event->sequence > job->monitor.accepted_sequence(event->source_id);
  if (is_new && job->monitor.is_closed() && std::holds_alternative<JobOpened>(event->body)) {
    return absl::AlreadyExistsError(
        fmt::format("job {} has ended; open the new one under another id", event->job_id));
  }
  event->arrived_at = job->NotBefore(now);
  if (job->log) Logged(job->log->Append(untrusted, event->arrived_at), *job);
  return job->monitor.Apply(*event);
}

// REQUIRES: job.mutex is held.
Snapshot JobTable::TickLocked(Job& job, absl::Time now) const {
  job.ticked_at = now;
  job.newest = job.monitor.Tick(job.NotBefore(now));
  if (job.log) Logged(job.log->AppendTick(job.latest), job);
  if (job.newest.is_final()) job.log.reset();
  return job.newest;
}

std::vector<Snapshot> JobTable::TickDue(absl::Time now) {
  std::vector<Snapshot> published;
  for (const std::shared_ptr<Job>& job : All()) {
    const std::lock_guard lock(job->mutex);
    if (job->newest.is_final() || !job->monitor.is_open()) continue;
    const absl::Duration since = now - job->ticked_at;
    const bool due = since < absl::ZeroDuration() ||  // the wall clock was set back
                     since >= options_.tick_interval ||
                     (job->monitor.has_news() && since >= options_.tick_interval_min);
    if (due) published.push_back(TickLocked(*job, now));
  }
  return published;
}

absl::StatusOr<Snapshot> JobTable::Get(const std::string& job_id) const {
  const std::shared_ptr<Job> job = Find(job_id);
  if (job == nullptr) return absl::NotFoundError(fmt::format("no job {}", job_id));
  const std::lock_guard lock(job->mutex);
  return job->newest;
}

std::vector<Snapshot> JobTable::List() const {
  std::vector<Snapshot> snapshots;
  for (const std::shared_ptr<Job>& job : All()) {
    const std::lock_guard lock(job->mutex);
    snapshots.push_back(job->newest);
  }
  return snapshots;
}

std::uint64_t JobTable::SmallestExplicitBytes(const std::string& job_id) const {
  const std::shared_ptr<Job> job = Find(job_id);
  if (job == nullptr) return 0;
  const std::lock_guard lock(job->mutex);
  return job->monitor.smallest_explicit_bytes();
}

}  // namespace tidemark::service
