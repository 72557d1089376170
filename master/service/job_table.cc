#include "master/service/job_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <system_error>
#include <variant>

#include "master/store/log_record.h"
#include "tidemark/limit.h"

namespace tidemark::service {

namespace {

std::size_t BytesOf(const JobTasks& tasks) {
  std::size_t bytes = sizeof(JobTasks);
  for (const TaskProgress& task : tasks.tasks) {
    bytes += sizeof(task) + task.host.capacity() + task.failure.capacity();
  }
  for (const HostTasks& host : tasks.hosts) {
    bytes += sizeof(host) + host.host.capacity() + sizeof(double) * host.busy.capacity();
  }
  return bytes;
}

}  // namespace

std::weak_ptr<const JobTasks> EndedTasks::Add(JobTasks tasks) {
  // An ended job has no predicted key groups.
  tasks.heavy_groups.clear();
  for (TaskProgress& task : tasks.tasks) task.remaining.reset();
  const std::size_t bytes = BytesOf(tasks);
  const auto kept = std::make_shared<const JobTasks>(std::move(tasks));
  const std::lock_guard lock(mutex_);
  bytes_ += bytes;
  kept_.emplace_back(bytes, kept);
  while (bytes_ > bytes_max_) {
    bytes_ -= kept_.front().first;
    kept_.pop_front();
  }
  return kept;
}

void KeepFirstTasks(std::size_t most, JobTasks& list) {
  const std::size_t kept = std::min(list.tasks.size(), most);
  list.tasks_left_out += list.tasks.size() - kept;
  list.tasks.resize(kept);
}

void SelectLongest(std::size_t most, JobTasks& list) {
  const auto took = [&](const TaskProgress& task) {
    return task.started_at ? task.ended_at.value_or(list.at) - *task.started_at
                           : -absl::InfiniteDuration();
  };
  std::ranges::stable_sort(list.tasks, std::greater<>(), took);
  KeepFirstTasks(most, list);
}

JobTasks SelectTasks(const JobTasks& kept, const TaskQuery& query) {
  JobTasks asked = kept;
  if (!query.host) {
    if (asked.tasks.size() + asked.tasks_left_out > query.tasks_max) KeepFirstTasks(0, asked);
    return asked;
  }
  std::erase_if(asked.tasks, [&](const TaskProgress& task) { return task.host != *query.host; });
  asked.tasks_left_out = asked.tasks.size() - std::min(asked.tasks.size(), query.tasks_max);
  // Keeps the host's most recently started attempts.
  asked.tasks.erase(asked.tasks.begin(),
                    asked.tasks.begin() + static_cast<std::ptrdiff_t>(asked.tasks_left_out));
  return asked;
}

namespace {

// Ends of attempts and jobs may exceed a job's byte limit by 1 / kDecisiveShare.
constexpr std::size_t kDecisiveShare = 16;

// Allowed excess of events over the share of a reporter, in sixteenths of the share. Ends of
// attempts may exceed the share by one sixteenth, and ends of jobs by any amount, since they free
// more than they take.
constexpr unsigned kDecisiveSlack = 1;
constexpr unsigned kCloseSlack = 16;

// Maximum number of past forecasts per job. Each takes about 70 bytes, for every tracked job.
constexpr std::size_t kForecastsMax = 200;
// The tasks of an ended job with more tasks are not kept, since its last tick would take too long.
// A list keeps the longest kKeptTasksMax attempts. Chosen by hand.
constexpr std::uint64_t kListedOnceEndedMax = 20'000;
constexpr std::size_t kKeptTasksMax = 2'000;
// A longer log of an ended job is not read for its tasks. Chosen by hand; reading this much takes
// about a second.
constexpr std::uintmax_t kReadAgainBytesMax = std::uintmax_t{256} << 20;

// Maximum number of checkpoints in one round. It is so small that snapshots need not wait for
// checkpoints.
constexpr std::size_t kCheckpointsAtOnce = 32;

// Estimated duration of the first tick of a job, per megabyte of state. For example, 10,000 tasks
// in 1,000 stages take 1.5 MB and 26 ms.
constexpr absl::Duration kTickOfMegabyte = absl::Milliseconds(20);
// A smaller job counts as this large, since the duration of its ticks does not shrink further.
constexpr std::size_t kTickedBytesMin = std::size_t{64} << 10;

// Size of an event on the disk in addition to its body and names, including its frame.
constexpr std::size_t kLoggedBytes = 64;

std::size_t BytesOf(const wire::ReceivedEvent& received) {
  return kLoggedBytes + received.body.size() + received.source_id.size() + received.run_uid.size();
}

// If both directories are the same, the journal's files serve as traces. A second writer would
// corrupt them.
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
  // make_shared would require movable shares and a movable journal.
  return std::shared_ptr<TableContext>(
      new TableContext{.data_dir = options.data_dir,
                       .hub = options.hub,
                       .pace = options.pace,
                       .disk = disk,
                       .shares = Shares(shares),
                       .journal = {disk, options.journal},
                       .heavy = options.has_heavy_thread
                                    ? std::make_unique<transport::TurnQueue>(1, transport::kNice)
                                    : nullptr});
}

// Returns all attempts of an ended job, or the longest of too many.
JobTasks TasksToKeep(const JobMonitor& monitor, const Snapshot& final) {
  const TaskQuery all = {.tasks_max = std::numeric_limits<std::size_t>::max()};
  JobTasks tasks = monitor.ListTasks(all, final.ended_at.value_or(final.at));
  if (tasks.tasks.size() > kKeptTasksMax) SelectLongest(kKeptTasksMax, tasks);
  return tasks;
}

absl::Status NotKept(const std::string& id, const TaskQuery& query) {
  if (query.host) {
    return absl::FailedPreconditionError(fmt::format(
        "job {} has ended, and only the totals of each host are stored; omit host", id));
  }
  return absl::FailedPreconditionError(
      fmt::format("job {} has ended, and its tasks are not stored: it had more than {}, its log is "
                  "large or damaged, or there is neither a data directory nor enough memory",
                  id, kListedOnceEndedMax));
}

}  // namespace

JobTable::JobTable(JobTableOptions options, Metrics* metrics)
    : LiveTable({.noun = "job", .max = options.jobs_max, .place = Resource::kJobs},
                ContextOf(options)),
      options_(WithOneWriter(std::move(options))),
      metrics_(metrics) {}

// Scales the cost of the last tick with the memory of the job. Before the first tick, uses
// kTickOfMegabyte.
absl::Duration JobTable::Job::ExpectedCost() const {
  const auto state_bytes = static_cast<double>(monitor.state_bytes());
  if (tick_cost == absl::ZeroDuration()) return kTickOfMegabyte * (state_bytes / (1 << 20));
  return tick_cost *
         std::max(1.0, state_bytes / static_cast<double>(std::max(ticked_bytes, kTickedBytesMin)));
}

std::vector<std::string> JobTable::FilesOf(const std::string& id) const {
  const std::string log = store::EventLogPath(data_dir(), id);
  return {log, store::CheckpointPath(log)};
}

// Charges `bytes` on the disk to the job's reporter. If the reporter's share is used up, evicts its
// ended jobs first. REQUIRES: job.mutex is held, or no other thread has access to the job.
absl::Status JobTable::ChargeDisk(std::size_t bytes, unsigned slack, Job& job) {
  absl::Status taken = job.holding.Reserve(Resource::kDiskBytes, bytes, slack);
  while (!taken.ok() && MakeRoomOf(job.reporter)) {
    taken = job.holding.Reserve(Resource::kDiskBytes, bytes, slack);
  }
  return taken;
}

// Returns the size of the event on the disk, or an approximation if it is not logged.
std::size_t JobTable::SizeOf(const Incoming& incoming) const {
  const bool is_logged = !data_dir().empty() || !options_.event_log_dir.empty();
  if (is_logged || incoming.is_encoded()) return BytesOf(incoming.received());
  return kLoggedBytes + incoming.event.source_id.size() + incoming.event.run_uid.size();
}

void JobTable::CheckDisk() {
  for (const std::string& directory : {data_dir(), options_.event_log_dir}) {
    if (directory.empty()) continue;
    // If both directories are set, all data counts as data on the disk of the first.
    if (const auto free = context()->disk->FreeBytes(directory); free.ok()) {
      return shares().SetFree(Resource::kDiskBytes, *free);
    }
  }
}

// Adds a job whose monitor accepts its opening `event`. Unless `before` is null, replaces `before`,
// an ended run of the same ID. A rejected job leaves no trace. Returns null on success, or the job
// that another thread opened first.
absl::StatusOr<std::shared_ptr<JobTable::Job>> JobTable::Open(const Incoming& incoming,
                                                              const Sender& sender,
                                                              const std::shared_ptr<Job>& before,
                                                              IngestResult& taken) {
  const Event& event = incoming.event;
  auto job = std::make_shared<Job>(JobMonitor(event.job_id, options_.job),
                                   store::Unticked(event.job_id, event.run_uid, event.arrived_at),
                                   event.arrived_at, sender, shares());
  if (absl::Status refused = job->monitor.Apply(event); !refused.ok()) return refused;
  // The log holds the opening event twice.
  if (absl::Status full = ChargeDisk(2 * SizeOf(incoming), 0, *job); !full.ok()) return full;
  if (absl::Status full = job->holding.Reserve(Resource::kStateBytes, job->monitor.state_bytes());
      !full.ok()) {
    return full;
  }
  // Other threads that find the job in the table wait here until its first record is appended.
  const std::lock_guard lock(job->mutex);
  const auto known = Enter(job, before);
  if (!known.ok()) return known.status();
  if (*known != nullptr) return std::static_pointer_cast<Job>(*known);
  OpenLogs(*job);
  // The log is useless without this event, so the event is written twice.
  for (int copies = 0; copies < 2; ++copies) {
    AppendRecord(*job, [&](std::string& out) {
      store::EncodeReceived(incoming.received(), event.arrived_at, job->key, out);
    });
  }
  if (options_.on_event) options_.on_event(event);
  taken = job->Answer(absl::OkStatus());
  ApplyDeadline(event, event.arrived_at, *job);
  return nullptr;
}

// Returns true if the event opens another run of a job whose current run has published its end.
bool JobTable::IsFollowedBy(const Event& event, const Job& job) {
  return std::holds_alternative<JobOpened>(event.body) && job.is_over() &&
         !job.monitor.CheckRun(event).ok();
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
  job.monitor.AddNote(fmt::format("the event log ends here: {}", std::string(status.message())));
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

// Rejects an invalid event. A duplicate gets the same reason but is not counted again.
IngestResult JobTable::Reject(const wire::ReceivedEvent& received, const absl::Status& reason,
                              Job& job) {
  AcceptedSequence event;
  if (wire::CheckPlace(received).ok()) event = {received.source_id, received.sequence};
  if (!IsOfRun(received, job)) return {.status = reason};
  const bool is_duplicate =
      event.sequence > 0 && event.sequence <= job.monitor.accepted_sequence(event.source_id);
  if (is_duplicate) return job.Answer(reason);
  const absl::Status charged = Charge(BytesOf(received), nullptr, job);
  if (charged.ok()) AppendRefusal(reason, event, job);
  return job.Answer(charged.ok() ? reason : charged);
}

void JobTable::AppendRefusal(const absl::Status& reason, const AcceptedSequence& event, Job& job) {
  if (job.ticked.snapshot->is_final) return;
  job.monitor.CountRejected(event);
  AppendRecord(job, [&](std::string& out) {
    store::EncodeRefused(std::string(reason.message()), event, job.key, out);
  });
}

// Charges `bytes` of an event to its job and its reporter. `event` is null for a rejected event.
// Only the first event beyond a limit is counted and logged, so that rejected events cost neither
// memory nor disk. Events that determine how the job ends have higher limits.
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
  // Checks that the reporter's share of memory is not exhausted. The memory that the event takes
  // is known only after it is applied.
  if (refused.ok()) refused = job.holding.Reserve(Resource::kStateBytes, 0, slack);
  // Events of an ended job are not written.
  if (refused.ok() && !job.ticked.snapshot->is_final) refused = ChargeDisk(bytes, slack, job);
  if (refused.ok()) {
    job.bytes += bytes;
    return refused;
  }
  if (!std::exchange(job.is_over_bytes, true)) AppendRefusal(refused, {}, job);
  return refused;
}

JobTable::JobLock JobTable::Lock(Job& job, const WhenFree* when_free) {
  if (when_free == nullptr) return JobLock(job.mutex);
  if (!job.mutex.LockUnlessLong(*when_free)) return JobLock(job.mutex, std::defer_lock);
  return JobLock(job.mutex, std::adopt_lock);
}

IngestResult JobTable::Ingest(const wire::ReceivedEvent& received, absl::Time now,
                              const Sender& sender) {
  return *Ingest(received, now, sender, nullptr);
}

std::optional<IngestResult> JobTable::IngestUnlessBusy(const wire::ReceivedEvent& received,
                                                       absl::Time now, const Sender& sender,
                                                       const WhenFree& when_free) {
  return Ingest(received, now, sender, &when_free);
}

IngestResult JobTable::IngestLocal(const Event& event, absl::Time now, const Sender& sender) {
  absl::StatusOr<Event> checked = wire::CheckEvent(event, now);
  auto job = std::static_pointer_cast<Job>(Find(event.job_id));
  JobLock lock;
  if (job != nullptr) lock = Lock(*job, nullptr);
  if (!checked.ok()) {
    if (job == nullptr) return {.status = checked.status()};
    return Reject({.job_id = event.job_id,
                   .run_uid = event.run_uid,
                   .source_id = event.source_id,
                   .sequence = event.sequence},
                  checked.status(), *job);
  }
  return *Ingest(Incoming(*checked), std::move(job), std::move(lock), now, sender, nullptr);
}

std::optional<IngestResult> JobTable::Ingest(const wire::ReceivedEvent& received, absl::Time now,
                                             const Sender& sender, const WhenFree* when_free) {
  if (when_free != nullptr && options_.has_room &&
      !options_.has_room(received.job_id, *when_free)) {
    return std::nullopt;
  }
  auto job = std::static_pointer_cast<Job>(Find(received.job_id));
  absl::StatusOr<Event> event = wire::ParseEvent(received, now);
  JobLock lock;
  if (job != nullptr && !(lock = Lock(*job, when_free)).owns_lock()) return std::nullopt;
  if (event.ok()) {
    return Ingest(Incoming(received, *event), std::move(job), std::move(lock), now, sender,
                  when_free);
  }
  if (job != nullptr) return Reject(received, event.status(), *job);
  return IngestResult{.status = event.status()};
}

std::optional<IngestResult> JobTable::Ingest(const Incoming& incoming, std::shared_ptr<Job> job,
                                             JobLock lock, absl::Time now, const Sender& sender,
                                             const WhenFree* when_free) {
  const Event& event = incoming.event;
  IngestResult taken;
  if (job == nullptr && !std::holds_alternative<JobOpened>(event.body)) {
    taken.status = absl::FailedPreconditionError(
        fmt::format("job {} is not open; send JobOpened first", event.job_id));
    return taken;
  }
  while (job == nullptr || IsFollowedBy(event, *job)) {
    if (lock.owns_lock()) lock.unlock();
    auto known = Open(incoming, sender, job, taken);
    taken.status = known.status();
    if (!known.ok() || *known == nullptr) return taken;
    job = *std::move(known);
    if (!(lock = Lock(*job, when_free)).owns_lock()) return std::nullopt;
  }
  taken = Fold(incoming, now, *job);
  if (taken.status.ok()) ApplyDeadline(event, now, *job);
  return taken;
}

// If a job states no deadline, applies the deadline of the settings. The deadline becomes an event
// of an additional source, so that the job's log contains it.
void JobTable::ApplyDeadline(const Event& opening, absl::Time now, Job& job) {
  const auto* const opened = std::get_if<JobOpened>(&opening.body);
  if (opened == nullptr || !options_.deadline_of || opened->deadline || opened->name.empty())
    return;
  const std::optional<absl::Time> deadline = options_.deadline_of(opened->name, now);
  if (!deadline) return;
  Event stated = {.job_id = opening.job_id,
                  .run_uid = opening.run_uid,
                  .source_id = "settings of the master",
                  .sequence = 1};
  stated.sent_at = stated.arrived_at = now;
  stated.body = JobOpened{.deadline = deadline};
  Fold(Incoming(stated), now, job);
}

std::optional<absl::StatusOr<Journal::Mark>> JobTable::SetDeadline(
    const std::string& id, absl::Time deadline, absl::Time now,
    const std::function<void()>& when_free) {
  const auto job = std::static_pointer_cast<Job>(Find(id));
  if (job == nullptr) return absl::NotFoundError(fmt::format("no job {}", id));
  const JobLock lock = Lock(*job, when_free ? &when_free : nullptr);
  if (!lock.owns_lock()) return std::nullopt;
  if (job->ticked.snapshot->is_final || job->monitor.is_closed()) {
    return absl::FailedPreconditionError(fmt::format("job {} has ended", id));
  }
  const JobOpened* const opened = job->monitor.opened();
  if (opened != nullptr && opened->deadline == deadline) return job->mark;
  Event set = {.job_id = id, .run_uid = job->monitor.run_uid(), .source_id = "users of the master"};
  set.sequence = job->monitor.accepted_sequence(set.source_id) + 1;
  if (set.sequence == 0) {
    return absl::FailedPreconditionError(
        fmt::format("job {} has an event with the last sequence number of {}", id, set.source_id));
  }
  set.sent_at = set.arrived_at = now;
  set.body = JobOpened{.deadline = deadline, .replaces_deadline = true};
  const IngestResult taken = Fold(Incoming(set), now, *job);
  if (!taken.status.ok()) return taken.status;
  return taken.mark;
}

IngestResult JobTable::Fold(const Incoming& incoming, absl::Time now, Job& job) {
  Event& event = incoming.event;
  if (absl::Status other_run = job.monitor.CheckRun(event); !other_run.ok()) {
    return {.status = std::move(other_run)};
  }
  // A duplicate changes nothing. It is answered when the first event is durable.
  if (event.sequence <= job.monitor.accepted_sequence(event.source_id)) {
    return job.Answer(absl::OkStatus());
  }
  if (job.monitor.is_closed() && std::holds_alternative<JobOpened>(event.body)) {
    return job.Answer(absl::AlreadyExistsError(
        fmt::format("job {} has ended; open the new run under another id, or with its own run_uid",
                    event.job_id)));
  }
  if (absl::Status charged = Charge(SizeOf(incoming), &event, job); !charged.ok()) {
    return job.Answer(std::move(charged));
  }
  event.arrived_at = job.NotBefore(now);
  // After the final snapshot, no state needs to be recovered.
  if (!job.ticked.snapshot->is_final) {
    AppendRecord(job, [&](std::string& out) {
      store::EncodeReceived(incoming.received(), event.arrived_at, job.key, out);
    });
  }
  absl::Status applied = job.monitor.Apply(event);
  if (applied.ok() && options_.on_event) options_.on_event(event);
  job.holding.Hold(Resource::kStateBytes, job.monitor.state_bytes());
  return job.Answer(std::move(applied));
}

std::optional<absl::StatusOr<JobTable::ListedTasks>> JobTable::ListTasks(
    const std::string& id, const TaskQuery& query, absl::Time now,
    const std::function<void()>& when_free) const {
  const auto job = std::static_pointer_cast<Job>(Find(id));
  if (job == nullptr) return absl::NotFoundError(fmt::format("no job {}", id));
  const auto ended = [&](const std::shared_ptr<const JobTasks>& kept,
                         const Journal::Mark& mark) -> absl::StatusOr<ListedTasks> {
    if (kept == nullptr || (query.host && kept->tasks_left_out > 0)) return NotKept(id, query);
    return ListedTasks{SelectTasks(*kept, query), mark};
  };
  if (job->is_over()) {
    const auto kept = [&] {
      const std::lock_guard lock(job->mutex);
      return std::pair(job->tasks.lock(), job->mark);
    }();
    return ended(kept.first, kept.second);
  }
  if (!when_free) {
    job->mutex.LockLong();
  } else if (!job->mutex.LockLongUnlessLong(when_free)) {
    return std::nullopt;
  }
  const std::lock_guard lock(job->mutex, std::adopt_lock);
  if (job->ticked.snapshot->is_final) return ended(job->tasks.lock(), job->mark);
  return ListedTasks{job->monitor.ListTasks(query, std::max(job->latest, now)), job->mark};
}

std::shared_ptr<const Snapshot> JobTable::Loadable(Job& job) const {
  std::shared_ptr<const Snapshot> newest = job.newest().snapshot;
  if (!newest->is_final || data_dir().empty() || newest->counts.tasks > kListedOnceEndedMax) {
    return nullptr;
  }
  const std::lock_guard lock(job.mutex);  // The wait is short, since the job has ended.
  return job.tasks.expired() ? newest : nullptr;
}

bool JobTable::MustLoadTasks(const std::string& id) const {
  const auto job = std::static_pointer_cast<Job>(Find(id));
  return job != nullptr && Loadable(*job) != nullptr;
}

void JobTable::LoadTasks(const std::string& id) {
  const auto job = std::static_pointer_cast<Job>(Find(id));
  const std::shared_ptr<const Snapshot> final = job == nullptr ? nullptr : Loadable(*job);
  if (final == nullptr) return;
  const std::string path = store::EventLogPath(data_dir(), id);
  std::error_code error;
  if (std::filesystem::file_size(path, error) > kReadAgainBytesMax || error) return;
  const absl::StatusOr<JobMonitor> monitor = store::FoldEvents(path);
  // The next run of the ID enters the table before it replaces the log.
  if (!monitor.ok() || Find(id) != job) return;
  auto tasks = ended_tasks_.Add(TasksToKeep(*monitor, *final));
  const std::lock_guard lock(job->mutex);
  job->tasks = std::move(tasks);
}

std::optional<LogsOfRun> JobTable::LogsOfEnded(const std::string& id) const {
  const std::shared_ptr<LiveEntry> job = Find(id);
  if (job == nullptr || data_dir().empty()) return std::nullopt;
  const auto end_of = [](LiveEntry& entry) {
    const std::shared_ptr<const Snapshot> newest = entry.newest().snapshot;
    return newest->is_final ? newest->ended_at.value_or(newest->at) : absl::InfiniteFuture();
  };
  LogsOfRun logs = {.own = store::EventLogPath(data_dir(), id), .ended_at = end_of(*job)};
  if (logs.ended_at == absl::InfiniteFuture()) return std::nullopt;
  for (const std::shared_ptr<LiveEntry>& other : All()) {
    if (other == job || other->began_at > logs.ended_at || end_of(*other) < job->began_at) continue;
    logs.others.push_back(store::EventLogPath(data_dir(), other->id));
  }
  return logs;
}

std::optional<absl::StatusOr<JobTable::ListedForecasts>> JobTable::ListForecasts(
    const std::string& id, const std::function<void()>& when_free) const {
  const auto job = std::static_pointer_cast<Job>(Find(id));
  if (job == nullptr) return absl::NotFoundError(fmt::format("no job {}", id));
  const JobLock lock = Lock(*job, when_free ? &when_free : nullptr);
  if (!lock.owns_lock()) return std::nullopt;
  if (job->ticked.snapshot->is_final) return ListedForecasts{job->forecasts, job->mark};
  return ListedForecasts{job->monitor.PastForecasts(kForecastsMax), job->mark};
}

LiveTable::Ticked JobTable::Tick(const std::shared_ptr<LiveEntry>& entry, absl::Time now) {
  Job& job = AsJob(entry);
  const LongLock lock(job.mutex);
  // Tasks may open a job before its application master reports the name.
  const bool is_first = job.ticked.snapshot->sequence == 0;
  // Joining precedes past runs, since these depend on the place of the job in its workflow.
  const JobOpened* const opened = job.monitor.opened();
  if (opened != nullptr && opened->workflow && workflows_.join && !job.has_joined) {
    const absl::Status joined = workflows_.join(
        {job.id, *opened->workflow, opened->deadline, {job.name_space, job.reporter}}, now);
    job.has_joined = !absl::IsUnavailable(joined);
    if (job.has_joined && !joined.ok()) {
      job.outside_note = fmt::format("the job is not part of workflow {}: {}", opened->workflow->id,
                                     std::string(joined.message()));
    }
  }
  if (!job.has_past_runs && (is_first || !job.monitor.name().empty())) LoadPastRuns(job);
  job.ticked_at = now;
  const absl::Duration began = ThreadCpuTime();
  {
    const Stopwatch stopwatch(metrics_ == nullptr ? nullptr : &metrics_->estimate);
    Snapshot ticked = job.monitor.Tick(job.NotBefore(now));
    if (workflows_.workflow_of && ticked.info) {
      ticked.info->workflow_id = workflows_.workflow_of(ticked.job_id);
    }
    if (!job.outside_note.empty()) ticked.notes.push_back(job.outside_note);
    job.ticked.left = ticked.is_final ? nullptr : job.monitor.stages_left();
    job.ticked.snapshot = std::make_shared<const Snapshot>(std::move(ticked));
  }
  job.tick_cost = ThreadCpuTime() - began;
  job.ticked_bytes = job.monitor.state_bytes();
  job.unkept_cost += job.tick_cost;
  AppendRecord(job, [&](std::string& out) { store::EncodeTick(job.latest, job.key, out); });
  if (job.trace) Logged(job.trace->Flush(), job);
  if (job.ticked.snapshot->is_final) End(job);
  return TickedOf(entry);
}

std::string JobTable::HistoryNameOf(const Job& job) const {
  std::string name = workflows_.history_name_of ? workflows_.history_name_of(job.id) : "";
  return name.empty() ? job.monitor.history_name() : name;
}

// Loads the past runs of a job. If the node of a workflow without a graph has none, loads the runs
// of the job of that name, which ran outside of the workflow or before its second job. REQUIRES:
// job.mutex is held.
void JobTable::LoadPastRuns(Job& job) {
  const std::string name = HistoryNameOf(job);
  job.has_past_runs = !name.empty();
  if (!options_.past_runs) return;
  const store::Reported reported = {.id = job.id, .name_space = job.name_space};
  std::vector<PastRun> runs = options_.past_runs(name, reported);
  const JobOpened* const opened = job.monitor.opened();
  const bool is_node = opened != nullptr && opened->workflow && opened->workflow->nodes.empty() &&
                       name != opened->workflow->node;
  if (is_node && (runs.empty() || runs.front().is_of_other_job)) {
    runs = options_.past_runs(opened->workflow->node, reported);
  }
  if (runs.empty()) return;
  job.monitor.SetPastRuns(runs);
  AppendRecord(job, [&](std::string& out) { store::EncodePastRuns(runs, job.key, out); });
}

// Reports the ended job to on_end, logs the end, and frees all state that an ended job does not
// need. REQUIRES: job.mutex is held, and job.ticked contains the final snapshot.
void JobTable::End(Job& job) {
  const Snapshot& final = *job.ticked.snapshot;
  if (options_.on_end) {
    JobSummary summary = job.monitor.Summary();
    if (summary.profile) {
      job.ticked.profile = std::make_shared<const JobProfile>(*summary.profile);
    }
    summary.name = HistoryNameOf(job);
    options_.on_end({final, std::move(summary), job.name_space});
  }
  const std::vector<AcceptedSequence> sources = job.monitor.accepted_sequences();
  job.forecasts = job.monitor.PastForecasts(kForecastsMax);
  if (job.log) {
    std::string record;
    const JobOpened* const opened = job.monitor.opened();
    const bool is_alone = opened != nullptr && job.outside_note.empty() && workflows_.workflow_of &&
                          workflows_.workflow_of(job.id).empty();
    store::EncodeEnd({final, sources, job.began_at, job.name_space, job.forecasts,
                      is_alone ? opened->workflow : std::nullopt},
                     job.key, record);
    AppendEnd(job, record);
  }
  if (final.counts.tasks <= kListedOnceEndedMax) {
    job.tasks = ended_tasks_.Add(TasksToKeep(job.monitor, final));
  }
  job.monitor = JobMonitor::OfEnded(final, sources);
  job.holding.Hold(Resource::kStateBytes, 0);
  job.trace.reset();
  DropCheckpoint(job.id);
}

void JobTable::DropCheckpoint(const std::string& job_id) const {
  if (data_dir().empty()) return;
  std::error_code error;
  const std::string log = store::EventLogPath(data_dir(), job_id);
  std::filesystem::remove(store::CheckpointPath(log), error);
}

// REQUIRES: job.mutex is held.
bool JobTable::WantsCheckpoint(const Job& job) const {
  return job.log != nullptr &&
         job.unkept_cost >= std::max(options_.checkpoints.after,
                                     options_.checkpoints.ticks_over * job.checkpoint_cost);
}

// Writes a checkpoint if one is still due. The job is not locked during the write, which a busy
// disk may delay. Ignores errors, since a restart without a checkpoint only takes longer. REQUIRES:
// only one caller at a time for each ID.
void JobTable::SaveCheckpoint(Job& job) const {
  const absl::Duration began = ThreadCpuTime();
  const auto checkpoint = [&]() -> std::optional<store::Checkpoint> {
    const LongLock lock(job.mutex);
    // Another tick, which is not durable yet, may have occurred in the meantime.
    if (!WantsCheckpoint(job) || job.ticked.snapshot != job.newest().snapshot) return std::nullopt;
    job.unkept_cost = absl::ZeroDuration();
    return store::Checkpoint{*job.ticked.snapshot, job.monitor.Checkpoint()};
  }();
  if (!checkpoint) return;
  const std::string log = store::EventLogPath(data_dir(), job.id);
  store::WriteCheckpoint(store::CheckpointPath(log), *checkpoint).IgnoreError();
  const std::lock_guard lock(job.mutex);
  job.checkpoint_cost = ThreadCpuTime() - began;
  if (job.ticked.snapshot->is_final) DropCheckpoint(job.id);
}

std::vector<PublishedJob> JobTable::TickDue(absl::Time now) {
  CheckDisk();
  checkpoints_ = 0;
  return LiveTable::TickDue(now);
}

void JobTable::OnPublished(const std::shared_ptr<LiveEntry>& entry) {
  Job& job = AsJob(entry);
  if (checkpoints_ == kCheckpointsAtOnce || !job.mutex.LockUnlessLong()) return;
  {
    const std::lock_guard lock(job.mutex, std::adopt_lock);
    if (!WantsCheckpoint(job)) return;
  }
  ++checkpoints_;
  const auto save = [this, entry] { SaveCheckpoint(AsJob(entry)); };
  if (context()->heavy == nullptr) return save();
  AddHeavy(save);
}

// Continues the trace as a copy of the journal.
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

// Adds a restored job. REQUIRES: called in the order in which the jobs were opened, before any
// other call.
void JobTable::Restore(store::RestoredJob restored, absl::Time now) {
  restored.newest.run_uid = restored.monitor.run_uid();
  const Sender sender = {.name_space =
                             restored.name_space.empty() ? store::kAllIds : restored.name_space};
  auto job = std::make_shared<Job>(std::move(restored.monitor), restored.newest, restored.opened_at,
                                   sender, shares());
  Adopt(job, restored.log_bytes, restored.has_end);
  if (restored.workflow) {
    restored_lones_.push_back({job->id, *std::move(restored.workflow), job->name_space});
  }
  job->holding.Hold(Resource::kStateBytes, job->monitor.state_bytes());
  job->latest = restored.latest;
  job->forecasts = std::move(restored.forecasts);
  job->ticked_at = restored.newest.at;
  job->bytes = restored.log_bytes;
  job->key = restored.key;
  job->has_past_runs = restored.has_ticked_named;
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
    // The next snapshot must not reuse the sequence number of a lost tick.
    PublishLater(Tick(job, job->latest));
  } else if (!restored.has_end) {
    End(*job);  // The master was killed before End() was complete.
    // The entry must not be evicted before its last record is durable.
    PublishLater(TickedOf(job));
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
