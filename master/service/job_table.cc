#include "master/service/job_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>
#include <variant>

#include "master/service/tick_round.h"
#include "master/store/checkpoint.h"
#include "master/store/log_record.h"
#include "master/store/recovery.h"
#include "master/store/restore.h"
#include "proto/wire/parse_event.h"
#include "tidemark/limit.h"

namespace tidemark::service {

using service::PublishedJob;

namespace {

// The ends of attempts and jobs may take so much of the limit of a job's bytes beyond it: 1/16.
constexpr std::size_t kDecisiveShare = 16;

// What may be taken beyond the share of a reporter, in sixteenths of it: ends of attempts as above,
// ends of jobs whatever is left, since they free more than they take.
constexpr unsigned kDecisiveSlack = 1;
constexpr unsigned kCloseSlack = 16;

// So many at once, that snapshots need not wait for them.
constexpr std::size_t kCheckpointsAtOnce = 32;

// What an event takes on the disk beside its own bytes and names, with its frame.
constexpr std::size_t kLoggedBytes = 64;

std::size_t BytesOf(const wire::ReceivedEvent& received) {
  return kLoggedBytes + received.body.size() + received.source_id.size() + received.run_uid.size();
}

// Of one folder the journal's files are the traces as well; a second hand in them would spoil them.
JobTableOptions WithOneWriter(JobTableOptions options) {
  std::error_code error;
  if (!options.data_dir.empty() &&
      std::filesystem::equivalent(options.event_log_dir, options.data_dir, error)) {
    options.event_log_dir.clear();
  }
  return options;
}

// Which run of its id, also where it was not named.
std::uint64_t RunAt(absl::Time opened_at) {
  return static_cast<std::uint64_t>(absl::ToUnixNanos(opened_at));
}

ShareOptions SharesOf(const JobTableOptions& options) {
  ShareOptions shares = options.shares;
  shares.jobs_max = options.jobs_max;
  return shares;
}

}  // namespace

JobTable::JobTable(JobTableOptions options, Metrics* metrics)
    : options_(WithOneWriter(std::move(options))),
      metrics_(metrics),
      disk_(options_.disk ? options_.disk : store::MakeFileDisk(/*sync=*/true)),
      shares_(SharesOf(options_)),
      journal_(disk_, options_.journal) {}

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

// Forgets a job and returns it, so that it is destroyed outside the lock. REQUIRES: mutex_ is held.
std::shared_ptr<JobTable::Job> JobTable::Forget(const KeptEnded::One& ended) {
  if (!options_.data_dir.empty()) {
    // Handed to the journal here, so that it comes before the log of a next run of that id.
    const std::string log = store::EventLogPath(options_.data_dir, ended.id);
    journal_.Remove(log);
    journal_.Remove(store::CheckpointPath(log));
  }
  kept_.Remove(ended.reporter, ended.number);
  kept_.Leave(ended.reporter);
  const auto job = jobs_.find(ended.id);
  std::shared_ptr<Job> forgotten = std::move(job->second);
  jobs_.erase(job);
  if (options_.hub != nullptr) options_.hub->Remove(ended.id);
  return forgotten;
}

// REQUIRES: mutex_ is held.
absl::Status JobTable::Entered(const Job& job) const {
  return options_.hub == nullptr ? absl::OkStatus()
                                 : options_.hub->Enter({job.newest.snapshot, job.run});
}

absl::Status JobTable::Forget(const std::string& job_id, const std::string& run_uid) {
  const std::shared_ptr<Job> job = Find(job_id);
  if (job == nullptr) return absl::OkStatus();
  const std::lock_guard job_lock(job->mutex);
  if (!run_uid.empty() && run_uid != job->newest.snapshot->run_uid) return absl::OkStatus();
  if (!job->newest.snapshot->is_final) {
    return absl::FailedPreconditionError(fmt::format("job {} runs", job_id));
  }
  const std::lock_guard lock(mutex_);
  const auto known = jobs_.find(job_id);
  if (known != jobs_.end() && known->second == job) Forget({job->reporter, job->number, job_id});
  return absl::OkStatus();
}

// Forgets the oldest job of the reporter that has ended; false if all run.
bool JobTable::MakeRoomOf(const std::string& reporter) {
  std::shared_ptr<Job> forgotten;  // destroyed last
  const std::lock_guard lock(mutex_);
  const std::optional<KeptEnded::One> oldest = kept_.OldestOf(reporter);
  if (oldest) forgotten = Forget(*oldest);
  return oldest.has_value();
}

// Room for the event logs is made among the reporter's own. REQUIRES: job.mutex is held, or no
// other thread else knows the job.
absl::Status JobTable::TakeDisk(std::size_t bytes, unsigned slack, Job& job) {
  absl::Status taken = job.holding.Take(Resource::kDiskBytes, bytes, slack);
  while (!taken.ok() && MakeRoomOf(job.reporter)) {
    taken = job.holding.Take(Resource::kDiskBytes, bytes, slack);
  }
  return taken;
}

void JobTable::CheckDisk() {
  for (const std::string& directory : {options_.data_dir, options_.event_log_dir}) {
    if (directory.empty()) continue;
    // Where there are two, what is written into both is counted on the first.
    if (const auto free = disk_->FreeBytes(directory); free.ok()) {
      return shares_.SetFree(Resource::kDiskBytes, *free);
    }
  }
}

// Gives `job_id` to `job`: null. Or the job that somebody else has given it to, if that is not
// `before`, which may be null.
absl::StatusOr<std::shared_ptr<JobTable::Job>> JobTable::Enter(const std::string& job_id,
                                                               const std::shared_ptr<Job>& job,
                                                               const std::shared_ptr<Job>& before) {
  std::shared_ptr<Job> forgotten;  // destroyed last
  const std::lock_guard lock(mutex_);
  const auto known = jobs_.find(job_id);
  if (known != jobs_.end() && known->second != before) return known->second;
  std::optional<KeptEnded::One> to_forget;
  if (known == jobs_.end() && jobs_.size() >= options_.jobs_max) {
    to_forget = kept_.ToForget(job->reporter);
    if (!to_forget) {
      return LimitExceeded("jobs", fmt::format("job {}: this master tracks at most {} jobs at once",
                                               job_id, options_.jobs_max));
    }
  }
  if (absl::Status taken = job->holding.Take(Resource::kJobs, 1); !taken.ok()) return taken;
  if (absl::Status refused = Entered(*job); !refused.ok()) return refused;
  if (to_forget) forgotten = Forget(*to_forget);
  if (known != jobs_.end()) {
    kept_.Remove(before->reporter, before->number);
    kept_.Leave(before->reporter);
  }
  kept_.Enter(job->reporter);
  job->number = ++opened_;
  jobs_[job_id] = job;
  return std::shared_ptr<Job>();
}

// Remembers a job whose monitor takes `event`, which opens it, in place of `before`, a run of that
// id that has ended, or null; one that is refused leaves no trace. Null when that is all; the job
// if somebody else has opened it meanwhile.
absl::StatusOr<std::shared_ptr<JobTable::Job>> JobTable::Open(const wire::ReceivedEvent& received,
                                                              const Event& event,
                                                              const Sender& sender,
                                                              const std::shared_ptr<Job>& before,
                                                              IngestResult& taken) {
  auto job = std::make_shared<Job>(JobMonitor(event.job_id, options_.job));
  if (absl::Status refused = job->monitor.Apply(event); !refused.ok()) return refused;
  job->opened_at = event.arrived_at;
  job->run = RunAt(job->opened_at);
  job->latest = event.arrived_at;
  job->name_space = sender.name_space;
  job->reporter = sender.reporter.empty() ? sender.name_space : sender.reporter;
  job->holding = shares_.Of(job->reporter);
  // It will be there twice.
  if (absl::Status full = TakeDisk(2 * BytesOf(received), 0, *job); !full.ok()) return full;
  if (absl::Status full = job->holding.Take(Resource::kStateBytes, job->monitor.state_bytes());
      !full.ok()) {
    return full;
  }
  job->newest.snapshot = job->ticked.snapshot = std::make_shared<const Snapshot>(
      store::Unticked(event.job_id, event.run_uid, event.arrived_at));
  // Who finds the job in the table waits here until its first record is kept.
  const std::lock_guard lock(job->mutex);
  auto known = Enter(event.job_id, job, before);
  if (!known.ok() || *known != nullptr) return known;
  OpenLogs(event.job_id, *job);
  // Twice, since without it the rest of the log is worth nothing.
  for (int copies = 0; copies < 2; ++copies) {
    AppendRecord(*job, [&](std::string& out) {
      store::EncodeReceived(received, event.arrived_at, job->key, out);
    });
  }
  taken = job->Answer(absl::OkStatus());
  return std::shared_ptr<Job>();
}

// Whether the event opens another run of the job, and may: this one has ended, and that was shown.
bool JobTable::IsFollowedBy(const Event& event, Job& job) {
  if (!std::holds_alternative<JobOpened>(event.body)) return false;
  const std::lock_guard lock(job.mutex);
  return job.newest.snapshot->is_final && !job.monitor.CheckRun(event).ok();
}

template <typename Encode>
void JobTable::AppendRecord(Job& job, Encode encode) {
  if (job.log == nullptr && job.journal == nullptr) {
    job.mark = journal_.Append(nullptr, "");
    return;
  }
  thread_local std::string record;
  record.clear();
  encode(record);
  if (job.log) Logged(job.log->AppendEncoded(record), job);
  job.mark = {journal_.Append(job.journal, record), job.journal};
}

void JobTable::Logged(const absl::Status& status, Job& job) {
  if (status.ok()) return;
  job.monitor.AddNote(fmt::format("no event log from here on: {}", std::string(status.message())));
  job.log.reset();
}

void JobTable::OpenLogs(const std::string& job_id, Job& job) const {
  std::string start;
  store::EncodeLogStart(job_id, options_.job, job.name_space, job.key, start);
  if (!options_.data_dir.empty()) {
    job.journal = Journal::MakeLog(store::EventLogPath(options_.data_dir, job_id), start);
  }
  if (options_.event_log_dir.empty()) return;
  auto log = store::EventLogWriter::Begin(store::EventLogPath(options_.event_log_dir, job_id),
                                          start, job.key);
  if (log.ok()) {
    job.log = *std::move(log);
  } else {
    Logged(log.status(), job);
  }
}

// REQUIRES: job.mutex is held.
bool JobTable::IsOfRun(const wire::ReceivedEvent& received, const Job& job) {
  return received.run_uid.empty() || received.run_uid == job.monitor.run_uid();
}

// An event that cannot be understood. A duplicate is told its reason once more and counts once.
IngestResult JobTable::Reject(const wire::ReceivedEvent& received, Job* job,
                              const absl::Status& reason) {
  if (job == nullptr) return {.status = reason};
  AcceptedSequence event;
  if (wire::CheckPlace(received).ok()) event = {received.source_id, received.sequence};
  const std::lock_guard lock(job->mutex);
  if (!IsOfRun(received, *job)) return {.status = reason};
  const bool is_duplicate =
      event.sequence > 0 && event.sequence <= job->monitor.accepted_sequence(event.source_id);
  if (is_duplicate) return job->Answer(reason);
  const absl::Status charged = Charge(BytesOf(received), nullptr, *job);
  if (charged.ok()) AppendRefusal(reason, event, *job);
  return job->Answer(charged.ok() ? reason : charged);
}

void JobTable::AppendRefusal(const absl::Status& reason, const AcceptedSequence& event, Job& job) {
  if (job.ticked.snapshot->is_final) return;
  job.monitor.CountRejected(event);
  AppendRecord(job, [&](std::string& out) {
    store::EncodeRefused(std::string(reason.message()), event, job.key, out);
  });
}

// Takes `bytes` of an event from what its job and its reporter may have; a null `event` is one that
// was refused. Only the first one beyond it is counted and logged, so that what is
// refused costs no memory and no disk. What decides how the job ends is taken a little longer than
// the rest.
absl::Status JobTable::Charge(std::size_t bytes, const Event* event, Job& job) {
  const bool closes = event != nullptr && std::holds_alternative<JobClosed>(event->body);
  const bool decides =
      closes || (event != nullptr && std::holds_alternative<AttemptChanged>(event->body));
  const std::size_t bytes_max =
      options_.job_bytes_max + (decides ? options_.job_bytes_max / kDecisiveShare : 0);
  const unsigned slack = closes ? kCloseSlack : decides ? kDecisiveSlack : 0;
  absl::Status refused;
  if (bytes > bytes_max || job.bytes > bytes_max - bytes) {
    refused = LimitExceeded("bytes_per_job",
                            fmt::format("this master allows at most {} bytes of events per job",
                                        options_.job_bytes_max));
  }
  // Of memory there must be some left; how much the event takes is known when it is folded in.
  if (refused.ok()) refused = job.holding.Take(Resource::kStateBytes, 0, slack);
  // Of a job that has ended, nothing is written any more.
  if (refused.ok() && !job.ticked.snapshot->is_final) refused = TakeDisk(bytes, slack, job);
  if (refused.ok()) {
    job.bytes += bytes;
    return refused;
  }
  if (!std::exchange(job.is_over_bytes, true)) AppendRefusal(refused, {}, job);
  return refused;
}

IngestResult JobTable::Ingest(const wire::ReceivedEvent& received, absl::Time now,
                              const Sender& sender) {
  std::shared_ptr<Job> job = Find(received.job_id);
  absl::StatusOr<Event> event = wire::ParseEvent(received, now);
  if (!event.ok()) return Reject(received, job.get(), event.status());
  IngestResult taken;
  if (job == nullptr && !std::holds_alternative<JobOpened>(event->body)) {
    taken.status = absl::FailedPreconditionError(
        fmt::format("job {} is not open; send JobOpened first", event->job_id));
    return taken;
  }
  while (job == nullptr || IsFollowedBy(*event, *job)) {
    auto known = Open(received, *event, sender, job, taken);
    taken.status = known.status();
    if (!known.ok() || *known == nullptr) return taken;
    job = *std::move(known);
  }
  const std::lock_guard lock(job->mutex);
  taken.status = job->monitor.CheckRun(*event);
  if (!taken.status.ok()) return taken;
  // A duplicate changes nothing; it is answered when the first one is safe.
  if (event->sequence <= job->monitor.accepted_sequence(event->source_id)) {
    return job->Answer(absl::OkStatus());
  }
  if (job->monitor.is_closed() && std::holds_alternative<JobOpened>(event->body)) {
    return job->Answer(absl::AlreadyExistsError(
        fmt::format("job {} has ended; open the new one under another id, or with a run_uid of its "
                    "own",
                    event->job_id)));
  }
  if (absl::Status charged = Charge(BytesOf(received), &*event, *job); !charged.ok()) {
    return job->Answer(std::move(charged));
  }
  event->arrived_at = job->NotBefore(now);
  // After the final snapshot there is nothing left to recover.
  if (!job->ticked.snapshot->is_final) {
    AppendRecord(*job, [&](std::string& out) {
      store::EncodeReceived(received, event->arrived_at, job->key, out);
    });
  }
  absl::Status applied = job->monitor.Apply(*event);
  job->holding.Hold(Resource::kStateBytes, job->monitor.state_bytes());
  return job->Answer(std::move(applied));
}

// REQUIRES: job.mutex is held.
void JobTable::TickLocked(Job& job, absl::Time now) {
  if (job.ticked.snapshot->sequence == 0) LoadPastRuns(job);
  job.ticked_at = now;
  const absl::Duration began = ThreadCpuTime();
  {
    const Stopwatch stopwatch(metrics_ == nullptr ? nullptr : &metrics_->estimate);
    Snapshot ticked = job.monitor.Tick(job.NotBefore(now));
    if (plan_of_ && ticked.info) ticked.info->workflow_id = plan_of_(ticked.job_id);
    job.ticked.stage = ticked.is_final ? nullptr : job.monitor.running_stage();
    job.ticked.snapshot = std::make_shared<const Snapshot>(std::move(ticked));
  }
  job.tick_cost = ThreadCpuTime() - began;
  job.unkept_cost += job.tick_cost;
  if (job.log) Logged(job.log->AppendTick(job.latest), job);
  if (job.journal) {
    std::string record;
    store::EncodeTick(job.latest, job.key, record);
    job.mark = {journal_.Append(job.journal, record), job.journal};
  }
  job.is_published = false;
  if (job.ticked.snapshot->is_final) End(job);
}

// Gives a job its earlier runs. REQUIRES: job.mutex is held.
void JobTable::LoadPastRuns(Job& job) {
  if (!options_.past_runs) return;
  const std::vector<PastRun> runs =
      options_.past_runs(job.monitor.Summary().name,
                         {.id = job.newest.snapshot->job_id, .name_space = job.name_space});
  if (runs.empty()) return;
  job.monitor.SetPastRuns(runs);
  AppendRecord(job, [&](std::string& out) { store::EncodePastRuns(runs, job.key, out); });
}

// Reports the ended job to on_end and keeps no more of it than its end. REQUIRES: job.mutex is
// held; the final snapshot is in job.ticked.
void JobTable::End(Job& job) {
  const Snapshot& final = *job.ticked.snapshot;
  if (options_.on_end) options_.on_end({final, job.monitor.Summary(), job.name_space});
  const std::vector<AcceptedSequence> sources = job.monitor.accepted_sequences();
  if (job.journal) {
    std::string record;
    store::EncodeEnd({final, sources, job.opened_at, job.name_space}, job.key, record);
    job.mark = {journal_.Append(job.journal, record), job.journal};
  }
  job.monitor = JobMonitor::OfEnded(final, sources);
  job.holding.Hold(Resource::kStateBytes, 0);
  job.log.reset();
  job.journal.reset();
  DropCheckpoint(final.job_id);
}

void JobTable::DropCheckpoint(const std::string& job_id) const {
  if (options_.data_dir.empty()) return;
  std::error_code error;
  const std::string log = store::EventLogPath(options_.data_dir, job_id);
  std::filesystem::remove(store::CheckpointPath(log), error);
}

// REQUIRES: job.mutex is held, here and below.
bool JobTable::WantsCheckpoint(const Job& job) const {
  return job.journal != nullptr &&
         job.unkept_cost >= std::max(options_.checkpoints.after,
                                     options_.checkpoints.ticks_over * job.checkpoint_cost);
}

// What cannot be written is not missed: a restart then takes longer. REQUIRES: the last tick is
// durable.
void JobTable::SaveCheckpoint(Job& job) const {
  const absl::Duration began = ThreadCpuTime();
  const std::string log = store::EventLogPath(options_.data_dir, job.newest.snapshot->job_id);
  store::WriteCheckpoint(store::CheckpointPath(log),
                         {*job.newest.snapshot, job.monitor.Checkpoint()})
      .IgnoreError();
  job.unkept_cost = absl::ZeroDuration();
  job.checkpoint_cost = ThreadCpuTime() - began;
}

// What cannot be kept is not made: a disk that is full must not fill the memory, too. REQUIRES:
// job.mutex is held.
bool JobTable::IsDue(const Job& job, absl::Time now) const {
  if (job.newest.snapshot->is_final || !job.monitor.is_open()) return false;
  if (!job.is_published || journal_.IsStuck(job.mark.log)) return false;
  return options_.pace.IsDue(now - job.ticked_at, job.monitor.has_news());
}

std::vector<PublishedJob> JobTable::TickDue(absl::Time now) {
  CheckDisk();
  std::vector<std::shared_ptr<Job>> jobs;
  std::vector<DueJob> due;
  for (std::shared_ptr<Job>& job : All()) {
    const std::lock_guard lock(job->mutex);
    if (!IsDue(*job, now)) continue;
    due.push_back({.cost = job->tick_cost, .ticked_at = job->ticked_at});
    jobs.push_back(std::move(job));
  }
  for (const std::size_t i : TickRound(due)) {
    const std::lock_guard lock(jobs[i]->mutex);
    TickLocked(*jobs[i], now);
    unpublished_.push_back(std::move(jobs[i]));
  }
  return Publish();
}

// Shows the snapshots whose ticks are safe.
std::vector<PublishedJob> JobTable::Publish() {
  std::vector<PublishedJob> published;
  std::vector<std::shared_ptr<Job>> ended;
  std::size_t checkpoints = 0;
  for (std::shared_ptr<Job>& job : std::exchange(unpublished_, {})) {
    if (!options_.data_dir.empty()) {
      const auto mark = [&] {
        const std::lock_guard lock(job->mutex);
        return job->mark;
      };
      if (!journal_.WaitUntilDurable(mark())) {
        unpublished_.push_back(std::move(job));
        continue;
      }
    }
    const std::lock_guard lock(job->mutex);
    job->newest = job->ticked;
    job->is_published = true;
    published.push_back({job->newest.snapshot, job->run});
    if (job->newest.snapshot->is_final) {
      job->holding.Hold(Resource::kJobs, 0);
      job->mark.log.reset();  // which closes the file
      ended.push_back(job);
      continue;
    }
    if (checkpoints == kCheckpointsAtOnce || !WantsCheckpoint(*job)) continue;
    SaveCheckpoint(*job);
    ++checkpoints;
  }
  if (options_.hub != nullptr) {
    for (const PublishedJob& job : published) options_.hub->Publish(job);
  }
  NoteEnded(ended);
  return published;
}

// These may be forgotten from now on, unless another run has taken the place of one already.
void JobTable::NoteEnded(const std::vector<std::shared_ptr<Job>>& jobs) {
  if (jobs.empty()) return;
  const std::lock_guard lock(mutex_);
  for (const std::shared_ptr<Job>& job : jobs) {
    const std::string& id = job->newest.snapshot->job_id;
    const auto known = jobs_.find(id);
    if (known != jobs_.end() && known->second == job) kept_.Add({job->reporter, job->number, id});
  }
}

// The trace for people goes on as a copy of the journal.
void JobTable::ContinueTrace(const store::RestoredJob& restored, Job& job) const {
  if (options_.event_log_dir.empty()) return;
  auto log = store::EventLogWriter::Continue(
      store::EventLogPath(options_.event_log_dir, restored.job_id),
      store::EventLogPath(options_.data_dir, restored.job_id), restored.log_bytes, restored.key);
  if (log.ok()) {
    job.log = *std::move(log);
  } else {
    Logged(log.status(), job);
  }
}

// REQUIRES: called in the order in which the jobs were opened, before anything else is done.
void JobTable::Restore(store::RestoredJob restored, absl::Time now) {
  auto job = std::make_shared<Job>(std::move(restored.monitor));
  job->opened_at = restored.opened_at;
  job->run = RunAt(job->opened_at);
  if (!restored.name_space.empty()) job->name_space = restored.name_space;
  job->reporter = job->name_space;
  job->holding = shares_.Of(job->reporter);
  job->holding.Hold(Resource::kDiskBytes, restored.log_bytes);
  job->holding.Hold(Resource::kStateBytes, job->monitor.state_bytes());
  job->holding.Hold(Resource::kJobs, restored.newest.is_final ? 0 : 1);
  job->latest = restored.latest;
  job->ticked_at = restored.newest.at;
  restored.newest.run_uid = job->monitor.run_uid();
  job->newest.snapshot = std::make_shared<const Snapshot>(std::move(restored.newest));
  job->ticked = job->newest;
  job->bytes = restored.log_bytes;
  job->key = restored.key;
  if (!restored.has_end) {
    ContinueTrace(restored, *job);
    job->journal = Journal::MakeLog(store::EventLogPath(options_.data_dir, restored.job_id),
                                    restored.log_bytes);
  }
  if (!restored.has_resumed) DropCheckpoint(restored.job_id);
  if (!job->newest.snapshot->is_final) {
    job->monitor.NoteRestart(job->NotBefore(now), options_.job.limits);
    AppendRecord(*job, [&](std::string& out) {
      store::EncodeRestart(job->latest, options_.job.limits, job->key, out);
    });
  } else if (!restored.has_end) {
    End(*job);                    // it was killed in the middle of this
    unpublished_.push_back(job);  // not to be forgotten before its last record is durable
  }
  // A number that a lost tick gave to a snapshot must not be gone back behind.
  if (!restored.damages.empty() && !job->newest.snapshot->is_final) {
    TickLocked(*job, job->latest);
    unpublished_.push_back(job);
  }
  const std::lock_guard lock(mutex_);
  job->number = ++opened_;
  kept_.Enter(job->reporter);
  if (restored.has_end) kept_.Add({job->reporter, job->number, restored.job_id});
  Entered(*job).IgnoreError();
  jobs_.emplace(restored.job_id, std::move(job));
}

absl::StatusOr<Recovery> JobTable::Recover(absl::Time now, std::size_t threads) {
  auto recovered = store::RecoverJobs(options_.data_dir, threads);
  if (!recovered.ok()) return recovered.status();
  Recovery recovery{.jobs = recovered->logs.size(),
                    .resumed = 0,
                    .records = 0,
                    .latest = absl::InfinitePast(),
                    .damages = std::move(recovered->damages)};
  for (auto& [path, job] : recovered->logs) {
    recovery.records += job.records;
    recovery.resumed += job.has_resumed ? 1 : 0;
    if (!job.newest.is_final) recovery.latest = std::max(recovery.latest, job.latest);
    Restore(std::move(job), now);
  }
  Publish();
  return recovery;
}

JobTable::Running JobTable::GetRunning(const std::string& job_id) const {
  const std::shared_ptr<Job> job = Find(job_id);
  if (job == nullptr) return {};
  const std::lock_guard lock(job->mutex);
  return job->newest;
}

std::vector<std::shared_ptr<const Snapshot>> JobTable::List() const {
  std::vector<std::shared_ptr<Job>> jobs = All();
  // The order of opening is that of the runs, but for jobs of one instant.
  std::vector<std::shared_ptr<const Snapshot>> snapshots;
  for (const std::shared_ptr<Job>& job : jobs) {
    const std::lock_guard lock(job->mutex);
    snapshots.push_back(job->newest.snapshot);
  }
  return snapshots;
}

}  // namespace tidemark::service
