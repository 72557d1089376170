#include "master/service/job_hub.h"

#include <fmt/format.h>

#include <algorithm>

#include "tidemark/limit.h"

namespace tidemark::next::service {
namespace {

JobKind KindOf(const PublishedJob& job) {
  return job.newest->info ? job.newest->info->kind : JobKind::kUnknown;
}

}  // namespace

absl::Status JobHub::Enter(const PublishedJob& job) {
  const std::string& id = job.newest->job_id;
  const std::lock_guard lock(mutex_);
  if (const auto known = jobs_.find(id); known != jobs_.end()) {
    const bool was_workflow = KindOf(known->second) == JobKind::kWorkflow;
    if (was_workflow != (KindOf(job) == JobKind::kWorkflow)) {
      return absl::AlreadyExistsError(fmt::format("{} is the id of a {} already; use another", id,
                                                  was_workflow ? "workflow" : "job that reports"));
    }
    places_.erase({known->second.run, id});
  }
  jobs_[id] = job;
  places_.insert({job.run, id});
  list_.Publish(job.newest);
  return absl::OkStatus();
}

void JobHub::Publish(const PublishedJob& job) {
  const std::string& id = job.newest->job_id;
  {
    const std::lock_guard lock(mutex_);
    const auto known = jobs_.find(id);
    if (known != jobs_.end() && known->second.run == job.run) {
      known->second = job;
      list_.Publish(job.newest);
    }
  }
  for (const auto& watcher : WatchersOf(id)) watcher->Offer(job);
}

void JobHub::Remove(const std::string& job_id) {
  const std::lock_guard lock(mutex_);
  const auto known = jobs_.find(job_id);
  if (known == jobs_.end()) return;
  places_.erase({known->second.run, job_id});
  jobs_.erase(known);
  list_.Remove(job_id);
}

void JobHub::EndRound() {
  Watchers watchers;
  {
    const std::lock_guard lock(mutex_);
    watchers.assign(at_round_end_.begin(), at_round_end_.end());
  }
  for (const auto& watcher : watchers) watcher->OnRoundEnd();
}

absl::StatusOr<PublishedJob> JobHub::Find(const std::string& job_id) const {
  const std::lock_guard lock(mutex_);
  const auto job = jobs_.find(job_id);
  if (job == jobs_.end()) return absl::NotFoundError(fmt::format("no job {}", job_id));
  return job->second;
}

bool JobHub::Knows(const PublishedJob& job) const {
  const absl::StatusOr<PublishedJob> known = Find(job.newest->job_id);
  return known.ok() && known->run == job.run;
}

std::vector<PublishedJob> JobHub::List(const Place& before, const Shows& shows,
                                       std::size_t count) const {
  std::vector<PublishedJob> found;
  const std::lock_guard lock(mutex_);
  for (auto place = places_.lower_bound(before);
       place != places_.begin() && found.size() < count;) {
    const PublishedJob& job = jobs_.at((--place)->job_id);
    if (shows(*job.newest)) found.push_back(job);
  }
  return found;
}

absl::Status JobHub::Subscribe(const std::string& job_id, std::shared_ptr<JobWatcher> watcher,
                               bool wants_round_end) {
  const std::lock_guard lock(mutex_);
  if (closed_) return absl::UnavailableError("the master is shutting down; try again later");
  const bool is_of_all = job_id.empty();
  const auto of_all = watchers_.find("");
  const std::size_t count = !is_of_all                  ? count_
                            : of_all == watchers_.end() ? 0
                                                        : of_all->second.size();
  if (count >= watchers_max_) {
    return LimitExceeded("watchers",
                         fmt::format("this master allows at most {} watchers", watchers_max_));
  }
  if (!is_of_all) ++count_;
  if (is_of_all || wants_round_end) at_round_end_.insert(watcher);
  watchers_[job_id].push_back(std::move(watcher));
  return absl::OkStatus();
}

void JobHub::Unsubscribe(const std::string& job_id, const JobWatcher* watcher) {
  const std::lock_guard lock(mutex_);
  const auto entry = watchers_.find(job_id);
  if (entry == watchers_.end()) return;
  Watchers& watchers = entry->second;
  const auto found = std::find_if(watchers.begin(), watchers.end(),
                                  [&](const auto& w) { return w.get() == watcher; });
  if (found == watchers.end()) return;
  at_round_end_.erase(*found);
  watchers.erase(found);
  if (!job_id.empty()) --count_;
  if (watchers.empty()) watchers_.erase(entry);
}

JobHub::Watchers JobHub::WatchersOf(const std::string& job_id) const {
  const std::lock_guard lock(mutex_);
  const auto entry = watchers_.find(job_id);
  return entry == watchers_.end() ? Watchers() : entry->second;
}

void JobHub::CloseAll() {
  decltype(watchers_) watchers;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    watchers = watchers_;
  }
  for (const auto& [id, list] : watchers) {
    for (const auto& watcher : list) watcher->Close();
  }
}

std::size_t JobHub::watchers() const {
  const std::lock_guard lock(mutex_);
  const auto of_all = watchers_.find("");
  return count_ + (of_all == watchers_.end() ? 0 : of_all->second.size());
}

absl::StatusOr<JobListCursor> JobHub::Open(JobFilter filter, View view,
                                           const std::string& resume_token,
                                           JobListCursor::MayRead may_read) const {
  const std::lock_guard lock(mutex_);
  return JobListCursor::Open(list_, std::move(filter), view, resume_token, std::move(may_read));
}

std::optional<JobListCursor::Update> JobHub::Take(JobListCursor& cursor, std::size_t most,
                                                  std::uint64_t up_to) const {
  const std::lock_guard lock(mutex_);
  if (!cursor.has_next(list_, up_to)) return std::nullopt;
  return cursor.Take(list_, most, up_to);
}

}  // namespace tidemark::next::service
