#include "master/service/workflow_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "master/store/recovery.h"
#include "master/store/workflow_log.h"
#include "text/utf8.h"

namespace tidemark::service {

namespace {

// A workflow with more jobs counts as heavy until its first tick. Chosen by hand; a tick of 50 jobs
// takes a few milliseconds.
constexpr std::size_t kLightJobs = 50;
// Processor time for estimates of workflows before a restarted master listens. The remaining
// estimates follow one at a time.
constexpr absl::Duration kRecoveryCpu = absl::Seconds(1);
// Maximum number of jobs that wait for a second job of their workflow.
constexpr std::size_t kLoneMax = 1'000;
// Maximum number of names (of at most 256 bytes) in the workflow that a waiting job reports. A job
// with more stays alone.
constexpr std::size_t kLoneNamesMax = 250;
constexpr std::size_t kIdBytesMax = 256;

// Returns the id of a later run of the workflow. Cuts the end of a long id.
std::string IdOfRun(const std::string& id, int run) {
  const std::string number = fmt::format(".{}", run);
  return text::Cut(id, kIdBytesMax - number.size()) + number;
}

absl::Status NoWorkflow(const std::string& id) {
  return absl::NotFoundError(fmt::format("no workflow {}", id));
}

}  // namespace

WorkflowTable::Entry::Entry(dag::LiveWorkflow workflow, absl::Time submitted_at,
                            const Sender& sender, Shares& shares)
    : LiveEntry(workflow.newest(), submitted_at, sender, shares), live(std::move(workflow)) {
  if (live.plan().jobs.size() > kLightJobs) tick_cost = absl::InfiniteDuration();
}

WorkflowTable::WorkflowTable(WorkflowTableOptions options, JobTable& jobs, Metrics* metrics)
    : LiveTable({.noun = "workflow",
                 .max = options.workflows_max,
                 .place = Resource::kWorkflows,
                 .advice = "; cancel it first, and try again a second later"},
                jobs.context()),
      options_(std::move(options)),
      jobs_(jobs),
      metrics_(metrics),
      is_recovered_(data_dir().empty()) {
  jobs_.SetWorkflows(
      {.workflow_of = [this](const std::string& job_id) { return WorkflowOf(job_id); },
       .history_name_of = [this](const std::string& job_id) { return HistoryNameOf(job_id); },
       .join = [this](const JobTable::Joining& job, absl::Time now) { return Join(job, now); }});
}

WorkflowTable::~WorkflowTable() {
  AwaitHeavy();
  jobs_.SetWorkflows({});
}

std::vector<std::string> WorkflowTable::FilesOf(const std::string& id) const {
  return {store::WorkflowLogPath(data_dir(), id)};
}

// Returns the workflow that contains the job, or the first if there are several. Returns null
// without one.
std::shared_ptr<WorkflowTable::Entry> WorkflowTable::FollowerOf(const std::string& job_id) const {
  const std::lock_guard lock(followers_mutex_);
  const auto of_job = followers_.find(job_id);
  return of_job == followers_.end() ? nullptr : of_job->second.front();
}

std::string WorkflowTable::WorkflowOf(const std::string& job_id) const {
  const std::shared_ptr<Entry> entry = FollowerOf(job_id);
  return entry == nullptr ? "" : entry->id;
}

std::string WorkflowTable::HistoryNameOf(const std::string& job_id) const {
  const std::shared_ptr<Entry> entry = FollowerOf(job_id);
  if (entry == nullptr) return "";
  const std::lock_guard lock(entry->mutex);
  return entry->live.HistoryNameOf(job_id);
}

void WorkflowTable::AppendRecord(Entry& entry, const std::string& record) const {
  if (data_dir().empty()) return;
  if (entry.live.is_final()) {
    AppendEnd(entry, record);
  } else {
    Append(entry, record);
  }
  entry.holding.Hold(Resource::kDiskBytes,
                     entry.holding.held(Resource::kDiskBytes) + record.size());
}

void WorkflowTable::AppendNewFacts(Entry& entry) const {
  if (entry.live.is_final()) return;
  const auto facts = entry.live.TakeNewFacts();
  if (facts.empty()) return;
  std::string record;
  store::EncodeWorkflowTick(*entry.live.newest(), facts, entry.key, record);
  AppendRecord(entry, record);
}

// Returns an error while the journal cannot write, since later records would not become durable.
absl::Status WorkflowTable::CheckJournal() const {
  const absl::Status status = journal().status();
  return status.ok() || data_dir().empty() ? absl::OkStatus() : JournalFails(status);
}

std::optional<absl::Time> WorkflowTable::DeadlineOf(const Plan& plan, absl::Time now) const {
  if (!options_.deadline_of) return std::nullopt;
  return options_.deadline_of(plan.name.empty() ? plan.id : plan.name, now);
}

absl::StatusOr<std::shared_ptr<WorkflowTable::Entry>> WorkflowTable::Open(
    Plan plan, const std::string& reported_id, const Sender& sender, absl::Time now) {
  if (!plan.deadline) plan.deadline = DeadlineOf(plan, now);
  auto entry =
      std::make_shared<Entry>(dag::LiveWorkflow(plan, now, options_.live), now, sender, shares());
  entry->reported_id = reported_id;
  if (absl::Status taken = entry->holding.Reserve(Resource::kDiskBytes, 0); !taken.ok()) {
    // Another thread may have submitted the same plan in the meantime, which is not an error.
    if (auto known = FindWorkflow(plan.id)) return known;
    return taken;
  }
  std::string start;
  store::EncodeSubmission(plan, sender.name_space, reported_id, now, entry->key, start);
  // No other thread has this entry yet, so its lock is free. Other threads wait for the lock until
  // the log begins.
  const std::lock_guard entry_lock(entry->mutex);
  const auto known = Enter(entry);
  if (!known.ok()) return known.status();
  if (*known != nullptr) return std::static_pointer_cast<Entry>(*known);
  if (!data_dir().empty()) {
    entry->log = Journal::MakeLog(store::WorkflowLogPath(data_dir(), plan.id), std::string());
  }
  AppendRecord(*entry, start);
  return entry;
}

absl::StatusOr<Journal::Mark> WorkflowTable::Submit(const Plan& plan, const Sender& sender,
                                                    absl::Time now) {
  if (absl::Status ok = dag::CheckWorkflow(plan, options_.jobs_per_workflow_max); !ok.ok())
    return ok;
  std::shared_ptr<Entry> entry = FindWorkflow(plan.id);
  if (entry == nullptr) {
    if (absl::Status ok = CheckJournal(); !ok.ok()) return ok;
    absl::StatusOr<std::shared_ptr<Entry>> opened = Open(plan, plan.id, sender, now);
    if (!opened.ok()) return opened.status();
    entry = *std::move(opened);
  }
  {
    const std::lock_guard lock(entry->mutex);
    if (entry->live.is_final()) {
      return absl::AlreadyExistsError(fmt::format(
          "workflow {} has ended, so nothing would run; submit the plan under another id, or "
          "remove the ended workflow first with `tidemark forget {}`",
          plan.id, plan.id));
    }
    if (entry->live.is_cancelled()) {  // Its next tick ends it.
      return absl::AlreadyExistsError(fmt::format(
          "workflow {} was cancelled, so nothing would run; submit the plan under another id, or "
          "remove the workflow with `tidemark forget {}` once it has ended",
          plan.id, plan.id));
    }
    if (!entry->live.WasSubmittedAs(plan)) {
      return absl::AlreadyExistsError(
          fmt::format("workflow {} was submitted before with different jobs or options; submit "
                      "this plan under another id",
                      plan.id));
    }
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
    const std::lock_guard lock(followers_mutex_);
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
  LiveEntry::Running job = jobs_.GetRunning(job_id);
  // The start of a job is known at its first tick.
  if (job.snapshot == nullptr || job.snapshot->sequence == 0) return;
  const std::lock_guard lock(entry.mutex);
  entry.live.Observe(std::move(job.snapshot), std::move(job.left), std::move(job.profile));
  entry.is_changed = true;
}

absl::StatusOr<Journal::Mark> WorkflowTable::Change(
    const std::string& workflow_id, const std::string& observed_job,
    absl::FunctionRef<absl::StatusOr<bool>(dag::LiveWorkflow&)> change,
    absl::FunctionRef<void(store::LogKey, std::string&)> encode) {
  if (absl::Status ok = CheckJournal(); !ok.ok()) return ok;
  const std::shared_ptr<Entry> entry = FindWorkflow(workflow_id);
  if (entry == nullptr) return NoWorkflow(workflow_id);
  Journal::Mark mark;
  {
    const std::lock_guard lock(entry->mutex);
    AppendNewFacts(*entry);
    const absl::StatusOr<bool> is_news = change(entry->live);
    if (!is_news.ok()) return is_news.status();
    if (*is_news) {
      std::string record;
      encode(entry->key, record);
      AppendRecord(*entry, record);
      entry->is_changed = true;
    }
    mark = entry->mark;
  }
  if (!observed_job.empty()) ObserveNewest(*entry, observed_job);
  Follow(entry);
  return mark;
}

absl::StatusOr<Journal::Mark> WorkflowTable::Attach(const std::string& workflow_id,
                                                    const std::string& job_name,
                                                    const std::string& job_id, absl::Time now) {
  return Change(
      workflow_id, job_id, [&](dag::LiveWorkflow& live) { return live.Attach(job_name, job_id); },
      [&](store::LogKey key, std::string& out) {
        store::EncodeAttachment(job_name, job_id, now, key, out);
      });
}

absl::StatusOr<Journal::Mark> WorkflowTable::Update(const std::string& workflow_id,
                                                    const PlanChange& change, absl::Time now) {
  return Change(
      workflow_id, /*observed_job=*/"",
      [&](dag::LiveWorkflow& live) { return live.Update(change, options_.jobs_per_workflow_max); },
      [&](store::LogKey key, std::string& out) { store::EncodeChange(change, now, key, out); });
}

absl::Status WorkflowTable::Join(const JobTable::Joining& job, absl::Time now) {
  if (job.workflow.id.empty() || job.workflow.node.empty()) {
    return absl::UnavailableError("the job has not reported its place in a workflow");
  }
  const std::lock_guard lock(joins_mutex_);
  if (!is_recovered_) return absl::UnavailableError("the workflows are being restored");
  if (!WorkflowOf(job.job_id).empty()) return absl::OkStatus();
  absl::Status joined = TryJoin(job, now);
  if (!joined.ok()) Refuse(job.job_id, joined);
  return joined;
}

void WorkflowTable::Refuse(const std::string& job_id, const absl::Status& reason) const {
  if (!absl::IsUnavailable(reason) && options_.on_refused) options_.on_refused(job_id, reason);
}

absl::Status WorkflowTable::TryJoin(const JobTable::Joining& job, absl::Time now) {
  if (absl::Status ok = CheckJournal(); !ok.ok()) return ok;
  const JobWorkflow& reported = job.workflow;
  const Reported workflow = {job.sender.name_space, reported.id};
  std::string id = reported.id;
  std::shared_ptr<Entry> entry = FindWorkflow(id);
  if (const auto runs = runs_.find(workflow); runs != runs_.end()) {
    for (const std::string& run : runs->second) {
      std::shared_ptr<Entry> known = FindWorkflow(run);
      if (known == nullptr) continue;
      const std::lock_guard lock(known->mutex);
      if (known->live.HasJob(job.job_id)) return absl::OkStatus();
      id = run;
      entry = std::move(known);
    }
  }
  const auto has_ended = [&] {
    const std::lock_guard lock(entry->mutex);
    return entry->live.is_final() || entry->live.is_cancelled();
  };
  for (int run = 2; entry != nullptr && has_ended(); ++run) {
    id = IdOfRun(reported.id, run);
    entry = FindWorkflow(id);
  }
  std::vector<Lone> joining = {{job.job_id, reported, job.deadline, now}};
  if (entry == nullptr) {
    const store::Reported reporter = {.id = id, .name_space = job.sender.name_space};
    std::optional<Lone> peer = TakePeer(workflow, now);
    const bool has_peer = peer.has_value();
    if (has_peer) joining.insert(joining.begin(), *std::move(peer));
    const JobWorkflow& first = joining.front().workflow;
    const dag::StageRuns runs = options_.stage_runs
                                    ? options_.stage_runs(dag::OpenHistoryName(first), reporter)
                                    : dag::StageRuns();
    const PastRun* const past_run = dag::FindPastRun(first, runs);
    Plan plan = dag::OpenPlan(first, past_run);
    plan.id = id;
    if (plan.jobs.size() < 2 && !has_peer) {
      AwaitPeer(workflow, std::move(joining.front()));
      return absl::OkStatus();
    }
    // The deadline of a job may come from the rule for the job's name.
    plan.deadline = DeadlineOf(plan, now);
    for (const Lone& one : joining) {
      if (!plan.deadline) plan.deadline = one.deadline;
    }
    if (!store::IsWithin(id, job.sender.name_space)) {
      return absl::PermissionDeniedError(fmt::format(
          "its reporter may not report workflow {}; allow this id in the tokens' file", id));
    }
    if (absl::Status ok = dag::CheckWorkflow(plan, options_.jobs_per_workflow_max); !ok.ok()) {
      return ok;
    }
    for (auto& [of, ids] : runs_) {
      std::erase_if(ids, [&](const std::string& run) { return FindWorkflow(run) == nullptr; });
    }
    std::erase_if(runs_, [](const auto& known) { return known.second.empty(); });
    auto opened = Open(std::move(plan), reported.id, job.sender, now);
    if (!opened.ok()) return opened.status();
    entry = *std::move(opened);
    runs_[workflow].push_back(id);
  }
  if (entry->name_space != job.sender.name_space) {
    return absl::PermissionDeniedError(
        fmt::format("another reporter has opened workflow {}; use another id", id));
  }
  absl::Status status;
  for (Lone& one : joining) {
    status = JoinEntry(*entry, std::move(one.workflow), one.job_id, now);
    if (absl::IsUnavailable(status)) return status;
    if (status.ok()) continue;
    const bool is_peer = one.job_id != job.job_id;
    if (is_peer) Refuse(one.job_id, status);
    const std::lock_guard lock(entry->mutex);
    if (!entry->live.plan().is_open) continue;
    entry->live.NoteJobOutside(one.job_id, status);
    entry->is_changed = true;
  }
  return status;
}

void WorkflowTable::AwaitPeer(const Reported& workflow, Lone job) {
  std::size_t names = job.workflow.nodes.size() + job.workflow.parent_job_ids.size();
  for (const WorkflowNode& node : job.workflow.nodes) names += node.after.size();
  if (names > kLoneNamesMax) return;
  if (alone_.size() >= kLoneMax) {
    alone_.erase(std::min_element(alone_.begin(), alone_.end(), [](const auto& a, const auto& b) {
      return a.second.reported_at < b.second.reported_at;
    }));
  }
  alone_.insert_or_assign(workflow, std::move(job));
}

std::optional<WorkflowTable::Lone> WorkflowTable::TakePeer(const Reported& workflow,
                                                           absl::Time now) {
  auto found = alone_.extract(workflow);
  if (found.empty()) return std::nullopt;
  Lone& peer = found.mapped();
  const std::shared_ptr<const Snapshot> newest = jobs_.Newest(peer.job_id);
  if (newest == nullptr) return std::nullopt;
  const bool is_of_an_earlier_run =
      newest->is_final && now - newest->ended_at.value_or(newest->at) >
                              std::max(options_.live.quiet_after, peer.workflow.quiet);
  if (is_of_an_earlier_run) return std::nullopt;
  return std::move(peer);
}

absl::Status WorkflowTable::JoinEntry(Entry& entry, JobWorkflow reported, const std::string& job_id,
                                      absl::Time now) {
  const auto plan_join = [&]() -> absl::StatusOr<dag::JoinPlan> {
    const std::lock_guard lock(entry.mutex);
    if (entry.live.plan().is_open) return entry.live.PlanJoin(reported, job_id);
    return absl::FailedPreconditionError(fmt::format(
        "workflow {} was submitted as a plan; attach the job with `tidemark attach`", entry.id));
  };
  absl::StatusOr<dag::JoinPlan> join = plan_join();
  if (!join.ok()) return join.status();
  absl::Status changed = Update(entry.id, join->change, now).status();
  if (absl::IsInvalidArgument(changed) && !reported.nodes.empty()) {
    // The graph contradicts the workflow's other graphs.
    reported.nodes.clear();
    join = plan_join();
    changed = Update(entry.id, join->change, now).status();
  }
  if (!changed.ok()) return changed;
  return Attach(entry.id, join->child, job_id, now).status();
}

void WorkflowTable::Observe(const std::shared_ptr<const Snapshot>& job) {
  std::vector<std::shared_ptr<Entry>> followers;
  {
    const std::lock_guard lock(followers_mutex_);
    const auto of_job = followers_.find(job->job_id);
    if (of_job == followers_.end()) return;
    followers = of_job->second;
  }
  const LiveEntry::Running running = jobs_.GetRunning(job->job_id);
  const bool is_newest = running.snapshot == job;
  const auto left = is_newest ? running.left : nullptr;
  const auto profile = is_newest ? running.profile : nullptr;
  for (const std::shared_ptr<Entry>& entry : followers) {
    {
      const std::lock_guard lock(entry->mutex);
      entry->live.Observe(job, left, profile);
      entry->is_changed = true;
    }
    if (job->is_final) Follow(entry);
  }
}

// Sets the usual pauses of an open workflow, once.
void WorkflowTable::LoadPauses(Entry& entry) const {
  std::string name;
  JobWorkflow first;
  {
    const std::lock_guard lock(entry.mutex);
    if (!options_.stage_runs || !entry.live.plan().is_open || entry.has_pauses) return;
    entry.has_pauses = true;
    name = entry.live.history_name();
    first.node = entry.live.plan().jobs.front().name;
  }
  const dag::StageRuns runs =
      options_.stage_runs(name, {.id = entry.id, .name_space = entry.name_space});
  const PastRun* const past_run = dag::FindPastRun(first, runs);
  const std::lock_guard lock(entry.mutex);
  if (past_run != nullptr) entry.live.SetPastRun(*past_run);
}

// Loads the past runs of the workflow, once, and of its jobs, once per job, and the measured node.
void WorkflowTable::LoadHistory(Entry& entry) const {
  LoadPauses(entry);
  if (!options_.runs) return;
  struct Unknown {
    std::size_t index = 0;
    std::vector<std::string> names;  // The first name with runs counts.
    store::Reported reported;
  };
  std::vector<Unknown> unknown;
  {
    const std::lock_guard lock(entry.mutex);
    const Plan& plan = entry.live.plan();
    for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
      if (entry.live.has_runs(i)) continue;
      const PlannedJob& job = plan.jobs[i];
      Unknown& one = unknown.emplace_back();
      one.index = i;
      one.names = dag::HistoryNamesOf(plan, job);
      one.reported = {.id = job.job_id.empty() ? entry.id : job.job_id,
                      .name_space = entry.name_space};
    }
  }
  if (unknown.empty()) return;
  const auto node = options_.node ? options_.node() : std::nullopt;
  for (const Unknown& one : unknown) {
    std::vector<JobProfile> runs;
    dag::StageRuns stage_runs;
    for (std::size_t i = 0; i < one.names.size() && runs.empty() && stage_runs.empty(); ++i) {
      runs = options_.runs(one.names[i], one.reported);
      if (runs.empty() && options_.stage_runs) {
        stage_runs = options_.stage_runs(one.names[i], one.reported);
      }
    }
    const std::lock_guard lock(entry.mutex);
    entry.live.SetRuns(one.index, std::move(runs), std::move(stage_runs));
  }
  const std::lock_guard lock(entry.mutex);
  if (node) entry.live.SetNode(*node);
}

LiveTable::Ticked WorkflowTable::MakeSnapshot(const std::shared_ptr<Entry>& made, absl::Time now,
                                              bool estimates) {
  Entry& entry = *made;
  const absl::Duration began = ThreadCpuTime();
  absl::StatusOr<dag::ApplicationForecast> estimate =
      absl::UnavailableError("no estimate yet: the master has just been restarted");
  const auto is_cancelled = [&] {
    const std::lock_guard lock(entry.mutex);
    return entry.live.is_cancelled();
  };
  estimates = estimates && !is_cancelled();
  if (estimates) {
    const auto question = [&] {
      const std::lock_guard lock(entry.mutex);
      entry.is_changed = false;
      return entry.live.QuestionAt(now);
    };
    const Stopwatch stopwatch(metrics_ == nullptr ? nullptr : &metrics_->workflow_estimate);
    estimate = options_.estimate(question());
  }
  const std::lock_guard lock(entry.mutex);
  const Snapshot& snapshot = entry.live.Tick(now, std::move(estimate));
  if (estimates) entry.tick_cost = ThreadCpuTime() - began;
  entry.ticked_at = now;
  entry.ticked.snapshot = entry.live.newest();
  entry.is_changed = entry.is_changed || !estimates;
  std::string record;
  if (snapshot.is_final) {
    store::EncodeWorkflowEnd(snapshot, entry.live.past_forecasts(), entry.key, record);
  } else {
    store::EncodeWorkflowTick(snapshot, entry.live.TakeNewFacts(), entry.key, record);
  }
  AppendRecord(entry, record);
  const bool is_past_run = snapshot.is_final && snapshot.state == JobState::kSucceeded &&
                           entry.live.plan().is_open && options_.on_end;
  if (is_past_run) {
    options_.on_end({.final = {.job_id = entry.id,
                               .at = snapshot.at,
                               .state = snapshot.state,
                               .started_at = snapshot.started_at,
                               .ended_at = snapshot.ended_at},
                     .summary = {.name = entry.live.history_name(), .run = entry.live.AsPastRun()},
                     .name_space = entry.name_space});
  }
  return TickedOf(made);
}

LiveTable::Ticked WorkflowTable::Tick(const std::shared_ptr<LiveEntry>& entry, absl::Time now) {
  LoadHistory(static_cast<Entry&>(*entry));
  return MakeSnapshot(std::static_pointer_cast<Entry>(entry), now, /*estimates=*/true);
}

// An ended workflow follows no jobs.
void WorkflowTable::OnPublished(const std::shared_ptr<LiveEntry>& entry) {
  if (entry->is_over()) Follow(std::static_pointer_cast<Entry>(entry));
}

absl::StatusOr<Recovery> WorkflowTable::Recover(absl::Time now) {
  auto recovered = store::RecoverWorkflows(data_dir(), options_.live);
  if (!recovered.ok()) return recovered.status();
  Recovery recovery{.restored = recovered->logs.size(), .damages = std::move(recovered->damages)};
  const absl::Duration began = ThreadCpuTime();
  std::map<Reported, std::vector<std::string>> runs;
  absl::flat_hash_set<std::string> attached;
  for (auto& [path, workflow] : recovered->logs) {
    const Sender sender = {.name_space =
                               workflow.name_space.empty() ? store::kAllIds : workflow.name_space};
    auto entry =
        std::make_shared<Entry>(std::move(workflow.live), workflow.submitted_at, sender, shares());
    entry->key = workflow.key;
    entry->reported_id = std::move(workflow.reported_id);
    const std::shared_ptr<const Snapshot> newest = entry->newest().snapshot;
    Adopt(entry, workflow.log_bytes, /*may_forget=*/newest->is_final);
    if (entry->live.plan().is_open) {
      runs[{entry->name_space, entry->reported_id}].push_back(entry->id);
    }
    for (std::string& job_id : entry->live.attached_jobs()) attached.insert(std::move(job_id));
    if (newest->is_final) continue;
    recovery.latest = std::max(recovery.latest, newest->at);
    entry->live.NoteRestart(now);
    entry->log = Journal::MakeLog(path, workflow.log_bytes);
    Follow(entry);
    // Ended jobs show their stages.
    for (const std::string& job_id : entry->live.attached_jobs()) ObserveNewest(*entry, job_id);
    const bool estimates = ThreadCpuTime() - began < kRecoveryCpu;
    if (estimates) LoadHistory(*entry);
    // Makes the snapshot of the last tick again. Later changes of the jobs become known at their
    // ticks, when the workflow is due again.
    PublishLater(MakeSnapshot(entry, newest->at, estimates));
  }
  Publish();
  const std::lock_guard lock(joins_mutex_);
  runs_ = std::move(runs);
  for (JobTable::RestoredLone& lone : jobs_.TakeRestoredLones()) {
    const std::shared_ptr<const Snapshot> newest = jobs_.Newest(lone.job_id);
    if (newest == nullptr || attached.contains(lone.job_id) || lone.workflow.node.empty()) continue;
    const absl::Duration quiet = std::max(options_.live.quiet_after, lone.workflow.quiet);
    if (now - newest->at > quiet) continue;
    const Reported workflow = {lone.name_space, lone.workflow.id};
    AwaitPeer(workflow, {.job_id = lone.job_id,
                         .workflow = std::move(lone.workflow),
                         .deadline = newest->deadline,
                         .reported_at = newest->at});
  }
  is_recovered_ = true;
  return recovery;
}

std::optional<JobTable::ListedForecasts> WorkflowTable::ListForecasts(const std::string& id) const {
  const std::shared_ptr<Entry> entry = FindWorkflow(id);
  if (entry == nullptr) return std::nullopt;
  const std::lock_guard lock(entry->mutex);
  return JobTable::ListedForecasts{entry->live.past_forecasts(), entry->mark};
}

std::size_t WorkflowTable::followed_jobs() const {
  const std::lock_guard lock(followers_mutex_);
  return followers_.size();
}

absl::StatusOr<dag::LiveWorkflow> WorkflowTable::Copy(const std::string& workflow_id) const {
  const std::shared_ptr<Entry> entry = FindWorkflow(workflow_id);
  if (entry == nullptr) return NoWorkflow(workflow_id);
  const auto copy = [&] {
    const std::lock_guard lock(entry->mutex);
    return entry->live;
  };
  Entry asked(copy(), entry->began_at, {.name_space = entry->name_space}, shares());
  LoadHistory(asked);
  return std::move(asked.live);
}

absl::StatusOr<dag::LiveWorkflow> WorkflowTable::MakeHypothetical(const Plan& plan,
                                                                  const std::string& name_space,
                                                                  absl::Time now) const {
  if (absl::Status ok = dag::CheckWorkflow(plan, options_.jobs_per_workflow_max); !ok.ok())
    return ok;
  // No job of a hypothetical workflow has begun, even if a job with the same ID runs.
  Entry asked(dag::LiveWorkflow(plan, now, options_.live), now, {.name_space = name_space},
              shares());
  LoadHistory(asked);
  return std::move(asked.live);
}

}  // namespace tidemark::service
