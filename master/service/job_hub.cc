#include "master/service/job_hub.h"

#include <fmt/format.h>

#include <charconv>

#include "tidemark/field_error.h"
#include "tidemark/limit.h"

namespace tidemark::service {

namespace {

constexpr int kPositionBase = 16;

}  // namespace

JobList::JobList(std::string instance, std::size_t removed_max)
    : instance_(std::move(instance)), removed_max_(removed_max) {}

void JobList::Publish(std::shared_ptr<const Snapshot> snapshot) {
  const std::string job_id = snapshot->job_id;
  Note(job_id, std::move(snapshot));
}

void JobList::Remove(const std::string& job_id) {
  const auto known = jobs_.find(job_id);
  if (known == jobs_.end() || known->second.snapshot == nullptr) return;
  Note(job_id, nullptr);
  removed_.emplace(newest_, job_id);
  while (removed_.size() > removed_max_) {
    const auto oldest = removed_.begin();
    forgotten_ = oldest->first;
    changes_.erase(oldest->first);
    jobs_.erase(oldest->second);
    removed_.erase(oldest);
  }
}

void JobList::Note(const std::string& job_id, std::shared_ptr<const Snapshot> snapshot) {
  Entry& entry = jobs_[job_id];
  changes_.erase(entry.change);
  removed_.erase(entry.change);
  entry = {.change = ++newest_, .snapshot = std::move(snapshot)};
  changes_.emplace(entry.change, job_id);
}

absl::StatusOr<JobListCursor> JobListCursor::Open(const JobList& list, JobFilter filter, View view,
                                                  const std::string& resume_token,
                                                  MayRead may_read) {
  JobListCursor cursor(std::move(filter), view, std::move(may_read));
  cursor.begun_at_ = list.newest_;
  if (resume_token.empty()) return cursor;
  const std::size_t dash = resume_token.rfind('-');
  std::uint64_t position = 0;
  const char* const end = resume_token.data() + resume_token.size();
  const char* const number = dash == std::string::npos ? end : resume_token.data() + dash + 1;
  const auto [parsed, error] = std::from_chars(number, end, position, kPositionBase);
  if (error != std::errc() || parsed != end) {
    return FieldError(
        "resume_token",
        "was not issued by this service; send the token of the last response, or none");
  }
  cursor.restarted_ = resume_token.substr(0, dash) != list.instance_ ||
                      position < list.forgotten_ || position > list.newest_;
  if (cursor.restarted_) return cursor;
  cursor.position_ = position;
  for (const auto& [job_id, entry] : list.jobs_) {
    if (cursor.may_read_ && !cursor.may_read_(job_id)) continue;
    // A job that has changed since then may have matched the filter in an earlier state.
    if (entry.change > position || cursor.Shows(entry.snapshot.get())) {
      cursor.has_.insert(job_id);
    }
  }
  return cursor;
}

bool JobListCursor::Shows(const Snapshot* snapshot) const {
  return snapshot != nullptr && wire::Matches(filter_, *snapshot) &&
         (!may_read_ || may_read_(snapshot->job_id));
}

JobListCursor::Update JobListCursor::Next(const JobList& list, std::size_t most,
                                          std::uint64_t up_to) {
  Update update;
  update.newest = list.newest_;
  update.restarted = std::exchange(restarted_, false);
  if (position_ < list.forgotten_) {  // This watcher has missed removals.
    absl::erase_if(has_, [&](const std::string& job_id) {
      if (list.jobs_.contains(job_id)) return false;
      update.removed_job_ids.push_back(job_id);
      return true;
    });
  }
  auto change = list.changes_.upper_bound(position_);
  const auto end = list.changes_.upper_bound(up_to);
  for (; change != end && most > 0; ++change) {
    const auto& [number, job_id] = *change;
    position_ = number;
    const auto& snapshot = list.jobs_.at(job_id).snapshot;
    if (Shows(snapshot.get())) {
      update.snapshots.push_back(snapshot);
      has_.insert(job_id);
      --most;
    } else if (has_.erase(job_id) > 0) {
      update.removed_job_ids.push_back(job_id);
      --most;
    }
  }
  if (change == end) position_ = std::max(position_, std::min(list.newest_, up_to));
  is_new_ = false;
  update.synced = position_ >= begun_at_;
  update.resume_token = fmt::format("{}-{:x}", list.instance_, position_);
  return update;
}

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
      return absl::AlreadyExistsError(
          fmt::format("{} is already the id of a {}; use a different id", id,
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

bool JobHub::IsCurrent(const PublishedJob& job) const {
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

std::optional<JobListCursor::Update> JobHub::NextUpdate(JobListCursor& cursor, std::size_t most,
                                                        std::uint64_t up_to) const {
  const std::lock_guard lock(mutex_);
  if (!cursor.has_next(list_, up_to)) return std::nullopt;
  return cursor.Next(list_, most, up_to);
}

}  // namespace tidemark::service
