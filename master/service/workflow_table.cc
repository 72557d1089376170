#include "master/service/workflow_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "master/service/metrics.h"
#include "master/service/recovery.h"
#include "master/service/tick_round.h"
#include "master/store/workflow_log.h"
#include "tidemark/limit.h"

namespace tidemark::service {

WorkflowTable::WorkflowTable(WorkflowTableOptions options, JobTable& jobs)
    : options_(std::move(options)), jobs_(jobs) {}

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

// Forgets the oldest workflow that has ended; false if all run. REQUIRES: mutex_ is held.
bool WorkflowTable::MakeRoom() {
  auto oldest = workflows_.end();
  for (auto entry = workflows_.begin(); entry != workflows_.end(); ++entry) {
    const std::lock_guard lock(entry->second->mutex);
    if (!entry->second->newest.is_final()) continue;
    if (oldest == workflows_.end() || entry->second->number < oldest->second->number) {
      oldest = entry;
    }
  }
  if (oldest == workflows_.end()) return false;
  if (!options_.data_dir.empty()) {
    // Whatever cannot be removed is taken up again after a restart, and forgotten again.
    std::error_code error;
    std::filesystem::remove(store::WorkflowLogPath(options_.data_dir, oldest->first), error);
  }
  workflows_.erase(oldest);
  return true;
}

void WorkflowTable::Keep(Entry& entry, const std::string& record) {
  entry.position = jobs_.journal().Append(entry.log, record);
}

absl::Status WorkflowTable::WaitUntilDurable(Journal::Position position) {
  if (options_.data_dir.empty() || jobs_.journal().WaitUntilDurable(position)) {
    return absl::OkStatus();
  }
  return absl::UnavailableError(fmt::format("the journal cannot be written, try again later: {}",
                                            std::string(jobs_.journal().status().message())));
}

absl::Status WorkflowTable::Submit(const WorkflowSpec& workflow, absl::Time now) {
  if (absl::Status ok = CheckWorkflow(workflow, options_.limits); !ok.ok()) return ok;
  std::shared_ptr<Entry> entry;
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = workflows_.find(workflow.id); known != workflows_.end()) {
      entry = known->second;
      if (!(entry->live.spec() == workflow)) {
        return absl::AlreadyExistsError(fmt::format(
            "there is another workflow {}; submit this one under another id", workflow.id));
      }
    } else if (workflows_.size() >= options_.workflows_max && !MakeRoom()) {
      return LimitExceeded("workflows",
                           fmt::format("workflow {}: this master watches at most {} at once",
                                       workflow.id, options_.workflows_max));
    } else {
      entry = std::make_shared<Entry>(workflow::LiveWorkflow(workflow, now, options_.live), now,
                                      ++submitted_);
      entry->newest = entry->live.newest();
      std::string start;
      store::EncodeSubmission(workflow, now, start);
      if (!options_.data_dir.empty()) {
        entry->log =
            Journal::MakeLog(store::WorkflowLogPath(options_.data_dir, workflow.id), std::string());
      }
      Keep(*entry, start);
      workflows_.emplace(workflow.id, entry);
    }
  }
  for (const WorkflowJob& job : workflow.jobs) {
    if (!job.job_id.empty()) Follow(entry, job.job_id);
  }
  Journal::Position position = 0;
  {
    const std::lock_guard lock(entry->mutex);
    position = entry->position;
  }
  return WaitUntilDurable(position);
}

void WorkflowTable::Follow(const std::shared_ptr<Entry>& entry, const std::string& job_id) {
  {
    const std::lock_guard lock(mutex_);
    std::vector<std::weak_ptr<Entry>>& followers = followers_[job_id];
    std::erase_if(followers, [&](const auto& follower) {
      const auto known = follower.lock();
      return known == nullptr || known == entry;
    });
    followers.push_back(entry);
  }
  const absl::StatusOr<Snapshot> newest = jobs_.Get(job_id);
  if (!newest.ok()) return;
  const std::lock_guard lock(entry->mutex);
  entry->live.Observe(*newest);
  entry->has_news = true;
}

absl::Status WorkflowTable::Attach(const std::string& workflow_id, const std::string& job_name,
                                   const std::string& job_id, absl::Time now) {
  const std::shared_ptr<Entry> entry = Find(workflow_id);
  if (entry == nullptr) return absl::NotFoundError(fmt::format("no workflow {}", workflow_id));
  Journal::Position position = 0;
  {
    const std::lock_guard lock(entry->mutex);
    const absl::StatusOr<bool> is_news = entry->live.Attach(job_name, job_id);
    if (!is_news.ok()) return is_news.status();
    if (*is_news) {
      std::string record;
      store::EncodeAttachment(job_name, job_id, now, record);
      Keep(*entry, record);
      entry->has_news = true;
    }
    position = entry->position;
  }
  Follow(entry, job_id);
  return WaitUntilDurable(position);
}

void WorkflowTable::Observe(const Snapshot& snapshot) {
  std::vector<std::shared_ptr<Entry>> followers;
  {
    const std::lock_guard lock(mutex_);
    const auto of_job = followers_.find(snapshot.job_id);
    if (of_job == followers_.end()) return;
    for (const std::weak_ptr<Entry>& follower : of_job->second) {
      if (auto entry = follower.lock()) followers.push_back(std::move(entry));
    }
    if (followers.empty() || snapshot.is_final()) followers_.erase(of_job);
  }
  for (const std::shared_ptr<Entry>& entry : followers) {
    const std::lock_guard lock(entry->mutex);
    entry->live.Observe(snapshot);
    entry->has_news = true;
  }
}

bool WorkflowTable::IsDue(const Entry& entry, absl::Time now) const {
  if (entry.live.is_final()) return false;
  return options_.pace.IsDue(now - entry.ticked_at, entry.has_news);
}

// Tells it of earlier runs of its jobs, and of the node with them, once for each.
void WorkflowTable::Remember(Entry& entry) const {
  if (!options_.runs) return;
  const std::vector<WorkflowJob>& jobs = entry.live.spec().jobs;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (entry.live.has_runs(i)) continue;
    if (const auto node = i == 0 && options_.node ? options_.node() : std::nullopt) {
      entry.live.SetNode(*node);
    }
    entry.live.SetRuns(
        i, options_.runs(jobs[i].history_name.empty() ? jobs[i].name : jobs[i].history_name));
  }
}

void WorkflowTable::TickLocked(Entry& entry, absl::Time now) {
  Remember(entry);
  const absl::Duration began = ThreadCpuTime();
  const WorkflowSnapshot snapshot = entry.live.Tick(now);
  entry.tick_cost = ThreadCpuTime() - began;
  entry.ticked_at = now;
  entry.has_news = false;
  std::string record;
  if (snapshot.is_final()) {
    store::EncodeWorkflowEnd(snapshot, record);
  } else {
    store::EncodeWorkflowTick(snapshot, entry.live.TakeNewFacts(), record);
  }
  Keep(entry, record);
  if (snapshot.is_final()) entry.log.reset();
}

std::vector<WorkflowSnapshot> WorkflowTable::TickDue(absl::Time now) {
  // What cannot be kept is not made.
  const bool may_tick = jobs_.journal().status().ok() && unpublished_.empty();
  std::vector<std::shared_ptr<Entry>> entries;
  std::vector<DueJob> due;
  for (std::shared_ptr<Entry>& entry : may_tick ? All() : std::vector<std::shared_ptr<Entry>>()) {
    const std::lock_guard lock(entry->mutex);
    if (!IsDue(*entry, now)) continue;
    due.push_back({.cost = entry->tick_cost, .ticked_at = entry->ticked_at});
    entries.push_back(std::move(entry));
  }
  for (const std::size_t i : TickRound(due)) {
    const std::lock_guard lock(entries[i]->mutex);
    TickLocked(*entries[i], now);
    unpublished_.push_back(std::move(entries[i]));
  }
  return Publish();
}

// Shows the snapshots whose ticks are safe.
std::vector<WorkflowSnapshot> WorkflowTable::Publish() {
  Journal::Position safe_at = 0;
  for (const std::shared_ptr<Entry>& entry : unpublished_) {
    const std::lock_guard lock(entry->mutex);
    safe_at = std::max(safe_at, entry->position);
  }
  if (unpublished_.empty() || !WaitUntilDurable(safe_at).ok()) return {};
  std::vector<WorkflowSnapshot> published;
  for (const std::shared_ptr<Entry>& entry : std::exchange(unpublished_, {})) {
    const std::lock_guard lock(entry->mutex);
    entry->newest = entry->live.newest();
    published.push_back(entry->newest);
  }
  return published;
}

absl::StatusOr<WorkflowRecovery> WorkflowTable::Recover(absl::Time now) {
  auto paths = FilesWith(options_.data_dir, store::kWorkflowLogExtension);
  if (!paths.ok()) return paths.status();
  WorkflowRecovery recovery;
  std::vector<std::pair<std::string, store::RestoredWorkflow>> restored;
  for (const std::string& path : *paths) {
    auto workflow = store::RestoreWorkflow(path, options_.live);
    if (!workflow.ok()) {
      recovery.damages.push_back(fmt::format("{}; it was renamed to {}.damaged",
                                             std::string(workflow.status().message()), path));
      if (absl::Status aside = SetAside(path); !aside.ok()) return aside;
      continue;
    }
    if (!workflow->damage.ok()) {
      recovery.damages.push_back(fmt::format("{}; the rest was moved to {}.cut",
                                             std::string(workflow->damage.message()), path));
      if (absl::Status cut = CutTail(path, workflow->log_bytes); !cut.ok()) return cut;
    }
    restored.emplace_back(path, *std::move(workflow));
  }
  std::stable_sort(restored.begin(), restored.end(), [](const auto& a, const auto& b) {
    return a.second.submitted_at < b.second.submitted_at;
  });
  for (auto& [path, workflow] : restored) {
    const std::string id = workflow.live.spec().id;
    const std::vector<std::string> wanted = workflow.live.wanted_jobs();
    auto entry =
        std::make_shared<Entry>(std::move(workflow.live), workflow.submitted_at, ++submitted_);
    entry->newest = entry->live.newest();
    if (!entry->newest.is_final()) entry->log = Journal::MakeLog(path, workflow.log_bytes);
    workflows_[id] = entry;
    ++recovery.workflows;
    if (entry->newest.is_final()) continue;
    for (const std::string& job_id : wanted) Follow(entry, job_id);
    const std::lock_guard lock(entry->mutex);
    TickLocked(*entry, now);
    unpublished_.push_back(entry);
  }
  Publish();
  return recovery;
}

absl::StatusOr<WorkflowView> WorkflowTable::Look(const std::string& workflow_id) const {
  const std::shared_ptr<Entry> entry = Find(workflow_id);
  if (entry == nullptr) return absl::NotFoundError(fmt::format("no workflow {}", workflow_id));
  const std::lock_guard lock(entry->mutex);
  return WorkflowView{.newest = entry->newest,
                      .run = static_cast<std::uint64_t>(absl::ToUnixNanos(entry->submitted_at))};
}

absl::StatusOr<WorkflowSnapshot> WorkflowTable::Estimate(const std::string& workflow_id,
                                                         const workflow::WhatIf& what_if,
                                                         absl::Time now) {
  const std::shared_ptr<Entry> entry = Find(workflow_id);
  if (entry == nullptr) return absl::NotFoundError(fmt::format("no workflow {}", workflow_id));
  const std::lock_guard lock(entry->mutex);
  Remember(*entry);
  return entry->live.Estimate(now, what_if);
}

absl::StatusOr<WorkflowSnapshot> WorkflowTable::Estimate(const WorkflowSpec& workflow,
                                                         const workflow::WhatIf& what_if,
                                                         absl::Time now) const {
  if (absl::Status ok = CheckWorkflow(workflow, options_.limits); !ok.ok()) return ok;
  // Nothing has begun, whatever its jobs are doing elsewhere.
  Entry entry(workflow::LiveWorkflow(workflow, now, options_.live), now, 0);
  Remember(entry);
  return entry.live.Estimate(now, what_if);
}

}  // namespace tidemark::service
