#include "master/service/job_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <variant>

#include "master/store/checkpoint.h"
#include "master/store/log_record.h"
#include "master/store/recovery.h"
#include "master/store/restore.h"
#include "proto/wire/encode_event.h"
#include "proto/wire/parse_event.h"
#include "tidemark/limit.h"

namespace tidemark::service {

namespace {

// The ends of attempts and jobs may take so much of the limit of a job's bytes beyond it: 1/16.
constexpr std::size_t kDecisiveShare = 16;

// What may be taken beyond the share of a reporter, in sixteenths of it: ends of attempts as above,
// ends of jobs whatever is left, since they free more than they take.
constexpr unsigned kDecisiveSlack = 1;
constexpr unsigned kCloseSlack = 16;

// As many as a screen has room for. About 70 bytes each, of every job that is remembered.
constexpr std::size_t kForecastsMax = 200;
// A job with more tasks is not worth the time that listing them would take of its last tick; of one
// with more attempts only what its hosts did is kept. Taste.
constexpr std::uint64_t kListedOnceEndedMax = 20'000;
constexpr std::size_t kKeptTasksMax = 2'000;

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

std::shared_ptr<TableContext> ContextOf(const JobTableOptions& options) {
  ShareOptions shares = options.shares;
  shares.jobs_max = options.jobs_max;
  const auto disk = options.disk ? options.disk : store::MakeFileDisk(/*sync=*/true);
  // Not make_shared: neither shares nor a journal can be moved.
  return std::shared_ptr<TableContext>(new TableContext{.data_dir = options.data_dir,
                                                        .hub = options.hub,
                                                        .pace = options.pace,
                                                        .disk = disk,
                                                        .shares = Shares(shares),
                                                        .journal = {disk, options.journal}});
}

absl::Status NotKept(const std::string& id, const TaskQuery& query) {
  if (query.host) {
    return absl::FailedPreconditionError(fmt::format(
        "job {} has ended, and of its tasks only what each host did is kept; ask without host",
        id));
  }
  return absl::FailedPreconditionError(fmt::format(
      "job {} has ended, and its tasks are not kept: it had more than {}, the master was started "
      "again, or others have ended since",
      id, kListedOnceEndedMax));
}

}  // namespace

JobTable::JobTable(JobTableOptions options, Metrics* metrics)
    : LiveTable({.noun = "job", .max = options.jobs_max, .place = Resource::kJobs},
                ContextOf(options)),
      options_(WithOneWriter(std::move(options))),
      metrics_(metrics) {}

std::vector<std::string> JobTable::FilesOf(const std::string& id) const {
  const std::string log = store::EventLogPath(data_dir(), id);
  return {log, store::CheckpointPath(log)};
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
  for (const std::string& directory : {data_dir(), options_.event_log_dir}) {
    if (directory.empty()) continue;
    // Where there are two, what is written into both is counted on the first.
    if (const auto free = context()->disk->FreeBytes(directory); free.ok()) {
      return shares().SetFree(Resource::kDiskBytes, *free);
    }
  }
}

// Remembers a job whose monitor takes `event`, which opens it, in place of `before`, a run of that
// id that has ended, or null; one that is refused leaves no trace. Null when that is all; the job
// if somebody else has opened it meanwhile.
absl::StatusOr<std::shared_ptr<JobTable::Job>> JobTable::Open(const wire::ReceivedEvent& received,
                                                              const Event& event,
                                                              const Sender& sender,
                                                              const std::shared_ptr<Job>& before,
                                                              IngestResult& taken) {
  auto job = std::make_shared<Job>(JobMonitor(event.job_id, options_.job),
                                   store::Unticked(event.job_id, event.run_uid, event.arrived_at),
                                   event.arrived_at, sender, shares());
  if (absl::Status refused = job->monitor.Apply(event); !refused.ok()) return refused;
  // It will be there twice.
  if (absl::Status full = TakeDisk(2 * BytesOf(received), 0, *job); !full.ok()) return full;
  if (absl::Status full = job->holding.Take(Resource::kStateBytes, job->monitor.state_bytes());
      !full.ok()) {
    return full;
  }
  // Who finds the job in the table waits here until its first record is kept.
  const std::lock_guard lock(job->mutex);
  const auto known = Enter(job, before);
  if (!known.ok()) return known.status();
  if (*known != nullptr) return std::static_pointer_cast<Job>(*known);
  OpenLogs(*job);
  // Twice, since without it the rest of the log is worth nothing.
  for (int copies = 0; copies < 2; ++copies) {
    AppendRecord(*job, [&](std::string& out) {
      store::EncodeReceived(received, event.arrived_at, job->key, out);
    });
  }
  if (options_.on_event) options_.on_event(event);
  taken = job->Answer(absl::OkStatus());
  return nullptr;
}

// Whether the event opens another run of the job, and may: this one has ended, and that was shown.
bool JobTable::IsFollowedBy(const Event& event, Job& job) {
  if (!std::holds_alternative<JobOpened>(event.body)) return false;
  const std::lock_guard lock(job.mutex);
  return job.newest.snapshot->is_final && !job.monitor.CheckRun(event).ok();
}

template <typename Encode>
void JobTable::AppendRecord(Job& job, Encode encode) const {
  if (job.trace == nullptr && job.log == nullptr) return Append(job, "");
  thread_local std::string record;
  record.clear();
  encode(record);
  if (job.trace) Logged(job.trace->AppendEncoded(record), job);
  Append(job, record);
}

void JobTable::Logged(const absl::Status& status, Job& job) {
  if (status.ok()) return;
  job.monitor.AddNote(fmt::format("no event log from here on: {}", std::string(status.message())));
  job.trace.reset();
}

void JobTable::OpenLogs(Job& job) const {
  std::string start;
  store::EncodeLogStart(job.id, options_.job, job.name_space, job.key, start);
  if (!data_dir().empty()) {
    job.log = Journal::MakeLog(store::EventLogPath(data_dir(), job.id), start);
  }
  if (options_.event_log_dir.empty()) return;
  auto log = store::EventLogWriter::Begin(store::EventLogPath(options_.event_log_dir, job.id),
                                          start, job.key);
  if (log.ok()) {
    job.trace = *std::move(log);
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
  auto job = std::static_pointer_cast<Job>(Find(received.job_id));
  absl::StatusOr<Event> event = wire::ParseEvent(received, now);
  if (!event.ok()) return Reject(received, job.get(), event.status());
  const bool opens = options_.deadline_of && std::holds_alternative<JobOpened>(event->body);
  IngestResult taken = Take(received, *event, now, sender, std::move(job));
  if (opens && taken.status.ok()) SayDeadline(*event, now, sender);
  return taken;
}

// What the settings say of a job that says nothing itself is an event of one more source, so that
// the log of the job has it.
void JobTable::SayDeadline(const Event& opening, absl::Time now, const Sender& sender) {
  const auto& opened = std::get<JobOpened>(opening.body);
  if (opened.deadline || opened.name.empty()) return;
  const std::optional<absl::Time> deadline = options_.deadline_of(opened.name, now);
  if (!deadline) return;
  Event said = {.job_id = opening.job_id,
                .run_uid = opening.run_uid,
                .source_id = "settings of the master",
                .sequence = 1};
  said.sent_at = said.arrived_at = now;
  said.body = JobOpened{.deadline = deadline};
  Take(wire::EncodeEvent(said), said, now, sender,
       std::static_pointer_cast<Job>(Find(opening.job_id)));
}

IngestResult JobTable::Take(const wire::ReceivedEvent& received, Event& event, absl::Time now,
                            const Sender& sender, std::shared_ptr<Job> job) {
  IngestResult taken;
  if (job == nullptr && !std::holds_alternative<JobOpened>(event.body)) {
    taken.status = absl::FailedPreconditionError(
        fmt::format("job {} is not open; send JobOpened first", event.job_id));
    return taken;
  }
  while (job == nullptr || IsFollowedBy(event, *job)) {
    auto known = Open(received, event, sender, job, taken);
    taken.status = known.status();
    if (!known.ok() || *known == nullptr) return taken;
    job = *std::move(known);
  }
  const std::lock_guard lock(job->mutex);
  taken.status = job->monitor.CheckRun(event);
  if (!taken.status.ok()) return taken;
  // A duplicate changes nothing; it is answered when the first one is safe.
  if (event.sequence <= job->monitor.accepted_sequence(event.source_id)) {
    return job->Answer(absl::OkStatus());
  }
  if (job->monitor.is_closed() && std::holds_alternative<JobOpened>(event.body)) {
    return job->Answer(absl::AlreadyExistsError(
        fmt::format("job {} has ended; open the new one under another id, or with a run_uid of its "
                    "own",
                    event.job_id)));
  }
  if (absl::Status charged = Charge(BytesOf(received), &event, *job); !charged.ok()) {
    return job->Answer(std::move(charged));
  }
  event.arrived_at = job->NotBefore(now);
  // After the final snapshot there is nothing left to recover.
  if (!job->ticked.snapshot->is_final) {
    AppendRecord(*job, [&](std::string& out) {
      store::EncodeReceived(received, event.arrived_at, job->key, out);
    });
  }
  absl::Status applied = job->monitor.Apply(event);
  if (applied.ok() && options_.on_event) options_.on_event(event);
  job->holding.Hold(Resource::kStateBytes, job->monitor.state_bytes());
  return job->Answer(std::move(applied));
}

absl::StatusOr<JobTable::ListedTasks> JobTable::ListTasks(const std::string& id,
                                                          const TaskQuery& query,
                                                          absl::Time now) const {
  const auto job = std::static_pointer_cast<Job>(Find(id));
  if (job == nullptr) return absl::NotFoundError(fmt::format("no job {}", id));
  const std::lock_guard lock(job->mutex);
  if (job->ticked.snapshot->is_final) {
    const std::shared_ptr<const JobTasks> kept = job->tasks.lock();
    if (kept == nullptr || (query.host && kept->tasks.empty())) return NotKept(id, query);
    return ListedTasks{Asked(*kept, query), job->mark};
  }
  return ListedTasks{job->monitor.ListTasks(query, std::max(job->latest, now)), job->mark};
}

absl::StatusOr<JobTable::ListedForecasts> JobTable::ListForecasts(const std::string& id) const {
  const auto job = std::static_pointer_cast<Job>(Find(id));
  if (job == nullptr) return absl::NotFoundError(fmt::format("no job {}", id));
  const std::lock_guard lock(job->mutex);
  if (job->ticked.snapshot->is_final) return ListedForecasts{job->forecasts, job->mark};
  return ListedForecasts{job->monitor.PastForecasts(kForecastsMax), job->mark};
}

void JobTable::Tick(const std::shared_ptr<LiveEntry>& entry, absl::Time now) {
  Job& job = AsJob(entry);
  const std::lock_guard lock(job.mutex);
  if (job.ticked.snapshot->sequence == 0) LoadPastRuns(job);
  job.ticked_at = now;
  const absl::Duration began = ThreadCpuTime();
  {
    const Stopwatch stopwatch(metrics_ == nullptr ? nullptr : &metrics_->estimate);
    Snapshot ticked = job.monitor.Tick(job.NotBefore(now));
    if (workflow_of_ && ticked.info) ticked.info->workflow_id = workflow_of_(ticked.job_id);
    job.ticked.left = ticked.is_final ? nullptr : job.monitor.stages_left();
    job.ticked.snapshot = std::make_shared<const Snapshot>(std::move(ticked));
  }
  job.tick_cost = ThreadCpuTime() - began;
  job.unkept_cost += job.tick_cost;
  AppendRecord(job, [&](std::string& out) { store::EncodeTick(job.latest, job.key, out); });
  if (job.trace) Logged(job.trace->Flush(), job);
  if (job.ticked.snapshot->is_final) End(job);
}

// Gives a job its earlier runs. REQUIRES: job.mutex is held.
void JobTable::LoadPastRuns(Job& job) {
  if (!options_.past_runs) return;
  const std::vector<PastRun> runs =
      options_.past_runs(job.monitor.Summary().name, {.id = job.id, .name_space = job.name_space});
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
  if (job.log) {
    std::string record;
    store::EncodeEnd({final, sources, job.began_at, job.name_space}, job.key, record);
    Append(job, record);
  }
  job.forecasts = job.monitor.PastForecasts(kForecastsMax);
  if (final.counts.tasks <= kListedOnceEndedMax) {
    const TaskQuery all = {.tasks_max = kKeptTasksMax};
    job.tasks = ended_tasks_.Keep(job.monitor.ListTasks(all, final.ended_at.value_or(final.at)));
  }
  job.monitor = JobMonitor::OfEnded(final, sources);
  job.holding.Hold(Resource::kStateBytes, 0);
  job.trace.reset();
  job.log.reset();
  DropCheckpoint(job.id);
}

void JobTable::DropCheckpoint(const std::string& job_id) const {
  if (data_dir().empty()) return;
  std::error_code error;
  const std::string log = store::EventLogPath(data_dir(), job_id);
  std::filesystem::remove(store::CheckpointPath(log), error);
}

// REQUIRES: job.mutex is held, here and below.
bool JobTable::WantsCheckpoint(const Job& job) const {
  return job.log != nullptr &&
         job.unkept_cost >= std::max(options_.checkpoints.after,
                                     options_.checkpoints.ticks_over * job.checkpoint_cost);
}

// What cannot be written is not missed: a restart then takes longer. REQUIRES: the last tick is
// durable.
void JobTable::SaveCheckpoint(Job& job) const {
  const absl::Duration began = ThreadCpuTime();
  const std::string log = store::EventLogPath(data_dir(), job.id);
  store::WriteCheckpoint(store::CheckpointPath(log),
                         {*job.newest.snapshot, job.monitor.Checkpoint()})
      .IgnoreError();
  job.unkept_cost = absl::ZeroDuration();
  job.checkpoint_cost = ThreadCpuTime() - began;
}

std::vector<PublishedJob> JobTable::TickDue(absl::Time now) {
  CheckDisk();
  checkpoints_ = 0;
  return LiveTable::TickDue(now);
}

void JobTable::OnPublished(const std::shared_ptr<LiveEntry>& entry) {
  Job& job = AsJob(entry);
  const std::lock_guard lock(job.mutex);
  if (checkpoints_ == kCheckpointsAtOnce || !WantsCheckpoint(job)) return;
  SaveCheckpoint(job);
  ++checkpoints_;
}

// The trace for people goes on as a copy of the journal.
void JobTable::ContinueTrace(const store::RestoredJob& restored, Job& job) const {
  if (options_.event_log_dir.empty()) return;
  auto log = store::EventLogWriter::Continue(
      store::EventLogPath(options_.event_log_dir, restored.job_id),
      store::EventLogPath(data_dir(), restored.job_id), restored.log_bytes, restored.key);
  if (log.ok()) {
    job.trace = *std::move(log);
  } else {
    Logged(log.status(), job);
  }
}

// REQUIRES: called in the order in which the jobs were opened, before anything else is done.
void JobTable::Restore(store::RestoredJob restored, absl::Time now) {
  restored.newest.run_uid = restored.monitor.run_uid();
  const Sender sender = {.name_space =
                             restored.name_space.empty() ? store::kAllIds : restored.name_space};
  auto job = std::make_shared<Job>(std::move(restored.monitor), restored.newest, restored.opened_at,
                                   sender, shares());
  Adopt(job, restored.log_bytes, restored.has_end);
  job->holding.Hold(Resource::kStateBytes, job->monitor.state_bytes());
  job->latest = restored.latest;
  job->ticked_at = restored.newest.at;
  job->bytes = restored.log_bytes;
  job->key = restored.key;
  if (!restored.has_end) {
    ContinueTrace(restored, *job);
    job->log =
        Journal::MakeLog(store::EventLogPath(data_dir(), restored.job_id), restored.log_bytes);
  }
  if (!restored.has_resumed) DropCheckpoint(restored.job_id);
  if (!restored.newest.is_final) {
    if (options_.on_resume) options_.on_resume(restored.job_id, restored.newest.run_uid, now);
    job->monitor.NoteRestart(job->NotBefore(now), options_.job.limits);
    AppendRecord(*job, [&](std::string& out) {
      store::EncodeRestart(job->latest, options_.job.limits, job->key, out);
    });
    if (restored.damages.empty()) return;
    // A number that a lost tick gave to a snapshot must not be gone back behind.
    Tick(job, job->latest);
    PublishLater(std::move(job));
  } else if (!restored.has_end) {
    End(*job);                     // it was killed in the middle of this
    PublishLater(std::move(job));  // not to be forgotten before its last record is durable
  }
}

absl::StatusOr<Recovery> JobTable::Recover(absl::Time now, std::size_t threads) {
  auto recovered = store::RecoverJobs(data_dir(), threads);
  if (!recovered.ok()) return recovered.status();
  Recovery recovery{.restored = recovered->logs.size(), .damages = std::move(recovered->damages)};
  for (auto& [path, job] : recovered->logs) {
    recovery.records += job.records;
    recovery.resumed += job.has_resumed ? 1 : 0;
    if (!job.newest.is_final) recovery.latest = std::max(recovery.latest, job.latest);
    Restore(std::move(job), now);
  }
  Publish();
  return recovery;
}

}  // namespace tidemark::service
