#include "master/service/workflow_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "master/service/tick_round.h"
#include "master/store/recovery.h"
#include "master/store/workflow_log.h"
#include "master/workflow/check_workflow.h"
#include "tidemark/limit.h"

namespace tidemark::service {

namespace {

// One with more jobs counts as heavy until it has been ticked. Taste: so many take a few
// milliseconds.
constexpr std::size_t kLightJobs = 50;
// A restart estimates workflows for so long before the master listens; the rest follow one by one.
constexpr absl::Duration kRecoveryCpu = absl::Seconds(1);

absl::Status NoWorkflow(const std::string& id) {
  return absl::NotFoundError(fmt::format("no workflow {}", id));
}

}  // namespace

WorkflowTable::Entry::Entry(workflow::LiveWorkflow workflow, absl::Time at, std::string names)
    : id(workflow.plan().id),
      submitted_at(at),
      name_space(std::move(names)),
      live(std::move(workflow)),
      tick_cost(live.plan().jobs.size() > kLightJobs ? absl::InfiniteDuration()
                                                     : absl::ZeroDuration()) {}

WorkflowTable::WorkflowTable(WorkflowTableOptions options, JobTable& jobs, Metrics* metrics)
    : options_(std::move(options)), jobs_(jobs), metrics_(metrics) {
  jobs_.SayPlans([this](const std::string& job_id) { return WorkflowOf(job_id); });
}

WorkflowTable::~WorkflowTable() { jobs_.SayPlans(nullptr); }

// Of several, the first to follow the job.
std::string WorkflowTable::WorkflowOf(const std::string& job_id) const {
  const std::lock_guard lock(mutex_);
  const auto of_job = followers_.find(job_id);
  return of_job == followers_.end() ? "" : of_job->second.front()->id;
}

std::shared_ptr<WorkflowTable::Entry> WorkflowTable::Find(const std::string& workflow_id) const {
  const std::lock_guard lock(mutex_);
  const auto entry = workflows_.find(workflow_id);
  return entry == workflows_.end() ? nullptr : entry->second;
}

std::vector<std::shared_ptr<WorkflowTable::Entry>> WorkflowTable::All() const {
  std::vector<std::shared_ptr<Entry>> entries;
  const std::lock_guard lock(mutex_);
  entries.reserve(workflows_.size());
  for (const auto& [id, entry] : workflows_) entries.push_back(entry);
  return entries;
}

// REQUIRES: mutex_ is held.
void WorkflowTable::Forget(const KeptEnded::One& ended) {
  // A log that cannot be removed is restored after a restart, and forgotten again.
  if (!options_.data_dir.empty()) {
    journal().Remove(store::WorkflowLogPath(options_.data_dir, ended.id));
  }
  kept_.Remove(ended.reporter, ended.number);
  kept_.Leave(ended.reporter);
  workflows_.erase(ended.id);
  if (options_.hub != nullptr) options_.hub->Remove(ended.id);
}

// REQUIRES: mutex_ is held.
absl::Status WorkflowTable::EnterHub(const Entry& entry) const {
  return options_.hub == nullptr ? absl::OkStatus()
                                 : options_.hub->Enter({entry.newest, entry.run()});
}

// REQUIRES: entry.mutex is held.
void WorkflowTable::AppendRecord(Entry& entry, const std::string& record) {
  const Journal::Position position = journal().Append(entry.log, record);
  if (options_.data_dir.empty()) return;
  entry.mark = {position, entry.log};
  entry.holding.Hold(Resource::kDiskBytes,
                     entry.holding.held(Resource::kDiskBytes) + record.size());
}

void WorkflowTable::AppendNewFacts(Entry& entry) {
  if (entry.live.is_final()) return;
  const auto facts = entry.live.TakeNewFacts();
  if (facts.empty()) return;
  std::string record;
  store::EncodeWorkflowTick(*entry.live.newest(), facts, entry.key, record);
  AppendRecord(entry, record);
}

// Nothing is accepted that cannot be made durable.
absl::Status WorkflowTable::CheckJournal() const {
  const absl::Status status = journal().status();
  return status.ok() || options_.data_dir.empty() ? absl::OkStatus() : JournalFails(status);
}

absl::StatusOr<std::shared_ptr<WorkflowTable::Entry>> WorkflowTable::Open(const Plan& plan,
                                                                          const Sender& sender,
                                                                          absl::Time now) {
  auto entry = std::make_shared<Entry>(workflow::LiveWorkflow(plan, now, options_.live), now,
                                       sender.name_space);
  entry->reporter = sender.reporter.empty() ? sender.name_space : sender.reporter;
  entry->holding = jobs_.shares().Of(entry->reporter);
  entry->newest = entry->live.newest();
  std::string start;
  store::EncodeSubmission(plan, sender.name_space, now, entry->key, start);
  // No other thread has this one yet, so its lock is free; others wait for it until the log begins.
  const std::lock_guard entry_lock(entry->mutex);
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = workflows_.find(plan.id); known != workflows_.end()) {
      return known->second;
    }
    std::optional<KeptEnded::One> to_forget;
    if (workflows_.size() >= options_.workflows_max) {
      to_forget = kept_.ToForget(entry->reporter);
      if (!to_forget) {
        return LimitExceeded(
            "workflows", fmt::format("workflow {}: this master tracks at most {} workflows at once",
                                     plan.id, options_.workflows_max));
      }
    }
    absl::Status taken = entry->holding.Take(Resource::kWorkflows, 1);
    if (taken.ok()) taken = entry->holding.Take(Resource::kDiskBytes, 0);
    if (taken.ok()) taken = EnterHub(*entry);
    if (!taken.ok()) return taken;
    if (to_forget) Forget(*to_forget);
    kept_.Enter(entry->reporter);
    entry->number = ++submitted_;
    workflows_.emplace(plan.id, entry);
  }
  if (!options_.data_dir.empty()) {
    entry->log =
        Journal::MakeLog(store::WorkflowLogPath(options_.data_dir, plan.id), std::string());
  }
  AppendRecord(*entry, start);
  return entry;
}

absl::StatusOr<Journal::Mark> WorkflowTable::Submit(const Plan& plan, const Sender& sender,
                                                    absl::Time now) {
  if (absl::Status ok = workflow::CheckWorkflow(plan, options_.jobs_per_workflow_max); !ok.ok())
    return ok;
  std::shared_ptr<Entry> entry = Find(plan.id);
  if (entry == nullptr) {
    if (absl::Status ok = CheckJournal(); !ok.ok()) return ok;
    absl::StatusOr<std::shared_ptr<Entry>> opened = Open(plan, sender, now);
    if (!opened.ok()) return opened.status();
    entry = *std::move(opened);
  }
  if (const std::lock_guard lock(entry->mutex); !entry->live.WasSubmittedAs(plan)) {
    return absl::AlreadyExistsError(fmt::format(
        "workflow {} was submitted before with other jobs or options{}; submit this one under "
        "another id",
        plan.id, entry->live.is_final() ? ", and has ended" : ""));
  }
  Follow(entry);
  const std::lock_guard lock(entry->mutex);
  return entry->mark;
}

void WorkflowTable::Follow(const std::shared_ptr<Entry>& entry) {
  const std::lock_guard following(entry->following);
  absl::flat_hash_set<std::string> wanted;
  {
    const std::lock_guard lock(entry->mutex);
    if (!entry->live.is_final()) {
      for (std::string& job_id : entry->live.wanted_jobs()) wanted.insert(std::move(job_id));
    }
  }
  std::vector<std::string> fresh;
  {
    const std::lock_guard lock(mutex_);
    for (const std::string& job_id : entry->followed) {
      const auto of_job = wanted.contains(job_id) ? followers_.end() : followers_.find(job_id);
      if (of_job == followers_.end()) continue;
      std::erase(of_job->second, entry);
      if (of_job->second.empty()) followers_.erase(of_job);
    }
    for (const std::string& job_id : wanted) {
      if (entry->followed.contains(job_id)) continue;
      followers_[job_id].push_back(entry);
      fresh.push_back(job_id);
    }
    entry->followed = std::move(wanted);
  }
  for (const std::string& job_id : fresh) ObserveNewest(*entry, job_id);
}

void WorkflowTable::ObserveNewest(Entry& entry, const std::string& job_id) const {
  JobTable::Running job = jobs_.GetRunning(job_id);
  // When it began is known at its first tick.
  if (job.snapshot == nullptr || job.snapshot->sequence == 0) return;
  const std::lock_guard lock(entry.mutex);
  entry.live.Observe(std::move(job.snapshot), std::move(job.stage));
  entry.has_news = true;
}

absl::StatusOr<Journal::Mark> WorkflowTable::Attach(const std::string& workflow_id,
                                                    const std::string& job_name,
                                                    const std::string& job_id, absl::Time now) {
  if (absl::Status ok = CheckJournal(); !ok.ok()) return ok;
  const std::shared_ptr<Entry> entry = Find(workflow_id);
  if (entry == nullptr) return NoWorkflow(workflow_id);
  Journal::Mark mark;
  {
    const std::lock_guard lock(entry->mutex);
    AppendNewFacts(*entry);
    const absl::StatusOr<bool> is_news = entry->live.Attach(job_name, job_id);
    if (!is_news.ok()) return is_news.status();
    if (*is_news) {
      std::string record;
      store::EncodeAttachment(job_name, job_id, now, entry->key, record);
      AppendRecord(*entry, record);
      entry->has_news = true;
    }
    mark = entry->mark;
  }
  ObserveNewest(*entry, job_id);
  Follow(entry);
  return mark;
}

absl::StatusOr<Journal::Mark> WorkflowTable::Update(const std::string& workflow_id,
                                                    const PlanChange& change, absl::Time now) {
  if (absl::Status ok = CheckJournal(); !ok.ok()) return ok;
  const std::shared_ptr<Entry> entry = Find(workflow_id);
  if (entry == nullptr) return NoWorkflow(workflow_id);
  Journal::Mark mark;
  {
    const std::lock_guard lock(entry->mutex);
    AppendNewFacts(*entry);
    const absl::StatusOr<bool> is_news = entry->live.Update(change, options_.jobs_per_workflow_max);
    if (!is_news.ok()) return is_news.status();
    if (*is_news) {
      std::string record;
      store::EncodeChange(change, now, entry->key, record);
      AppendRecord(*entry, record);
      entry->has_news = true;
    }
    mark = entry->mark;
  }
  Follow(entry);
  return mark;
}

absl::Status WorkflowTable::Forget(const std::string& workflow_id, const std::string& run_uid) {
  const std::shared_ptr<Entry> entry = Find(workflow_id);
  if (entry == nullptr || !run_uid.empty()) return absl::OkStatus();
  const std::lock_guard entry_lock(entry->mutex);
  if (!entry->newest->is_final) {
    return absl::FailedPreconditionError(
        fmt::format("workflow {} runs; cancel it before it is forgotten", workflow_id));
  }
  const std::lock_guard lock(mutex_);
  const auto known = workflows_.find(workflow_id);
  if (known != workflows_.end() && known->second == entry) {
    Forget(KeptEnded::One{entry->reporter, entry->number, workflow_id});
  }
  return absl::OkStatus();
}

void WorkflowTable::Observe(const std::shared_ptr<const Snapshot>& job) {
  std::vector<std::shared_ptr<Entry>> followers;
  {
    const std::lock_guard lock(mutex_);
    const auto of_job = followers_.find(job->job_id);
    if (of_job == followers_.end()) return;
    followers = of_job->second;
  }
  const JobTable::Running running = jobs_.GetRunning(job->job_id);
  const auto stage = running.snapshot == job ? running.stage : nullptr;
  for (const std::shared_ptr<Entry>& entry : followers) {
    {
      const std::lock_guard lock(entry->mutex);
      entry->live.Observe(job, stage);
      entry->has_news = true;
    }
    if (job->is_final) Follow(entry);
  }
}

bool WorkflowTable::IsDue(const Entry& entry, absl::Time now) const {
  if (entry.live.is_final() || !entry.is_published || jobs_.journal().IsStuck(entry.mark.log)) {
    return false;  // what cannot be kept is not made
  }
  return options_.pace.IsDue(now - entry.ticked_at, entry.has_news);
}

// Loads the earlier runs of its jobs, once for each, and with them the measured node.
void WorkflowTable::LoadHistory(Entry& entry) const {
  if (!options_.runs) return;
  std::vector<std::size_t> unknown;
  std::vector<PlannedJob> jobs;
  {
    const std::lock_guard lock(entry.mutex);
    for (std::size_t i = 0; i < entry.live.plan().jobs.size(); ++i) {
      if (entry.live.has_runs(i)) continue;
      unknown.push_back(i);
      jobs.push_back(entry.live.plan().jobs[i]);
    }
  }
  if (unknown.empty()) return;
  const auto node = options_.node ? options_.node() : std::nullopt;
  std::vector<std::vector<JobProfile>> runs;
  runs.reserve(unknown.size());
  for (const PlannedJob& job : jobs) {
    runs.push_back(options_.runs(
        job.history_name.empty() ? job.name : job.history_name,
        {.id = job.job_id.empty() ? entry.id : job.job_id, .name_space = entry.name_space}));
  }
  const std::lock_guard lock(entry.mutex);
  if (node) entry.live.SetNode(*node);
  for (std::size_t i = 0; i < unknown.size(); ++i) {
    entry.live.SetRuns(unknown[i], std::move(runs[i]));
  }
}

void WorkflowTable::Tick(Entry& entry, absl::Time now, bool estimates) {
  const absl::Duration began = ThreadCpuTime();
  absl::StatusOr<estimate::Estimate> estimate =
      absl::UnavailableError("no estimate yet: the master has just been restarted");
  if (estimates) {
    const auto question = [&] {
      const std::lock_guard lock(entry.mutex);
      entry.has_news = false;
      return entry.live.QuestionAt(now);
    };
    const Stopwatch stopwatch(metrics_ == nullptr ? nullptr : &metrics_->workflow_estimate);
    estimate = options_.estimate(question());
  }
  const std::lock_guard lock(entry.mutex);
  const Snapshot& snapshot = entry.live.Tick(now, std::move(estimate));
  if (estimates) entry.tick_cost = ThreadCpuTime() - began;
  entry.ticked_at = now;
  entry.has_news = entry.has_news || !estimates;
  std::string record;
  if (snapshot.is_final) {
    store::EncodeWorkflowEnd(snapshot, entry.key, record);
  } else {
    store::EncodeWorkflowTick(snapshot, entry.live.TakeNewFacts(), entry.key, record);
  }
  AppendRecord(entry, record);
  entry.is_published = false;
  if (snapshot.is_final) entry.log.reset();
}

std::vector<std::shared_ptr<const Snapshot>> WorkflowTable::TickDue(absl::Time now) {
  std::vector<std::shared_ptr<Entry>> entries;
  std::vector<DueJob> due;
  for (std::shared_ptr<Entry>& entry : All()) {
    const std::lock_guard lock(entry->mutex);
    if (!IsDue(*entry, now)) continue;
    due.push_back({.cost = entry->tick_cost, .ticked_at = entry->ticked_at});
    entries.push_back(std::move(entry));
  }
  for (const std::size_t i : TickRound(due)) {
    LoadHistory(*entries[i]);
    Tick(*entries[i], now);
    unpublished_.push_back(std::move(entries[i]));
  }
  return Publish();
}

// Publishes the snapshots whose ticks are durable.
std::vector<std::shared_ptr<const Snapshot>> WorkflowTable::Publish() {
  std::vector<std::shared_ptr<const Snapshot>> published;
  for (std::shared_ptr<Entry>& entry : std::exchange(unpublished_, {})) {
    const auto mark = [&] {
      const std::lock_guard lock(entry->mutex);
      return entry->mark;
    };
    if (!journal().WaitUntilDurable(mark())) {
      unpublished_.push_back(std::move(entry));
      continue;
    }
    {
      const std::lock_guard lock(entry->mutex);
      entry->newest = entry->live.newest();
      entry->is_published = true;
      if (entry->newest->is_final) entry->mark.log.reset();  // which closes the file
      published.push_back(entry->newest);
    }
    if (options_.hub != nullptr) options_.hub->Publish({published.back(), entry->run()});
    if (published.back()->is_final) End(entry);
  }
  return published;
}

// It follows no job any more, and may be forgotten to make room.
void WorkflowTable::End(const std::shared_ptr<Entry>& entry) {
  Follow(entry);
  {
    const std::lock_guard lock(entry->mutex);
    entry->holding.Hold(Resource::kWorkflows, 0);
  }
  const std::lock_guard lock(mutex_);
  const auto known = workflows_.find(entry->id);  // or it was forgotten since
  if (known != workflows_.end() && known->second == entry) {
    kept_.Add({entry->reporter, entry->number, entry->id});
  }
}

absl::StatusOr<WorkflowRecovery> WorkflowTable::Recover() {
  auto recovered = store::RecoverWorkflows(options_.data_dir, options_.live);
  if (!recovered.ok()) return recovered.status();
  WorkflowRecovery recovery{.damages = std::move(recovered->damages)};
  const absl::Duration began = ThreadCpuTime();
  for (auto& [path, workflow] : recovered->logs) {
    auto entry = std::make_shared<Entry>(
        std::move(workflow.live), workflow.submitted_at,
        workflow.name_space.empty() ? store::kAllIds : std::move(workflow.name_space));
    entry->newest = entry->live.newest();
    entry->key = workflow.key;
    entry->reporter = entry->name_space;
    entry->holding = jobs_.shares().Of(entry->reporter);
    entry->holding.Hold(Resource::kDiskBytes, workflow.log_bytes);
    entry->holding.Hold(Resource::kWorkflows, 1);
    {
      const std::lock_guard lock(mutex_);
      entry->number = ++submitted_;
      kept_.Enter(entry->reporter);
      workflows_[entry->id] = entry;
      // A log of an id that is taken by now stays as it is.
      EnterHub(*entry).IgnoreError();
    }
    ++recovery.workflows;
    if (entry->newest->is_final) {
      End(entry);
      continue;
    }
    recovery.latest = std::max(recovery.latest, entry->newest->at);
    entry->log = Journal::MakeLog(path, workflow.log_bytes);
    Follow(entry);
    // Those that have ended by now show their stages.
    for (const std::string& job_id : entry->live.attached_jobs()) ObserveNewest(*entry, job_id);
    const bool estimates = ThreadCpuTime() - began < kRecoveryCpu;
    if (estimates) LoadHistory(*entry);
    // As it was: what has become of its jobs since is not known before they are ticked, and then it
    // is due.
    Tick(*entry, entry->newest->at, estimates);
    unpublished_.push_back(entry);
  }
  Publish();
  return recovery;
}

std::size_t WorkflowTable::followed_jobs() const {
  const std::lock_guard lock(mutex_);
  return followers_.size();
}

absl::StatusOr<workflow::LiveWorkflow> WorkflowTable::Copy(const std::string& workflow_id) const {
  const std::shared_ptr<Entry> entry = Find(workflow_id);
  if (entry == nullptr) return NoWorkflow(workflow_id);
  const auto copy = [&] {
    const std::lock_guard lock(entry->mutex);
    return entry->live;
  };
  Entry asked(copy(), entry->submitted_at, entry->name_space);
  LoadHistory(asked);
  return std::move(asked.live);
}

absl::StatusOr<workflow::LiveWorkflow> WorkflowTable::Imagine(const Plan& plan,
                                                              const std::string& name_space,
                                                              absl::Time now) const {
  if (absl::Status ok = workflow::CheckWorkflow(plan, options_.jobs_per_workflow_max); !ok.ok())
    return ok;
  // Nothing has begun, whatever its jobs are doing elsewhere.
  Entry asked(workflow::LiveWorkflow(plan, now, options_.live), now, name_space);
  LoadHistory(asked);
  return std::move(asked.live);
}

}  // namespace tidemark::service
