#include "master/service/job_list.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "tidemark/field_error.h"

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
    return FieldError("resume_token",
                      "was not issued by this service; send that of the last response, or none");
  }
  cursor.restarted_ = resume_token.substr(0, dash) != list.instance_ ||
                      position < list.forgotten_ || position > list.newest_;
  if (cursor.restarted_) return cursor;
  cursor.position_ = position;
  for (const auto& [job_id, entry] : list.jobs_) {
    if (cursor.may_read_ && !cursor.may_read_(job_id)) continue;
    // What has changed since may have been anything before.
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

JobListCursor::Update JobListCursor::Take(const JobList& list, std::size_t most,
                                          std::uint64_t up_to) {
  Update update;
  update.newest = list.newest_;
  update.restarted = std::exchange(restarted_, false);
  if (position_ < list.forgotten_) {  // removals that this watcher would have been told
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

}  // namespace tidemark::service
