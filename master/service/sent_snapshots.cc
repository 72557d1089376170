#include "master/service/sent_snapshots.h"

#include <algorithm>
#include <utility>

namespace tidemark::service {

std::size_t BytesOf(const Snapshot& snapshot) {
  std::size_t bytes = sizeof(Snapshot) + snapshot.stages.size() * sizeof(StageProgress) +
                      snapshot.named_tasks.size() * sizeof(NamedTask);
  for (const StageInfo& info : snapshot.stage_infos) {
    bytes += sizeof(StageInfo) + info.name.size() + info.parents.size() * sizeof(info.parents[0]);
  }
  for (const Child& child : snapshot.children) bytes += sizeof(Child) + child.name.size();
  for (const Group& group : snapshot.groups) {
    bytes += sizeof(Group) + group.group.size() + group.name.size();
  }
  return bytes;
}

void SentSnapshots::Drop(Order::iterator kept) {
  const auto of_job = of_jobs_.find(kept->snapshot->job_id);
  std::erase(of_job->second, kept);
  if (of_job->second.empty()) of_jobs_.erase(of_job);
  bytes_ -= kept->bytes;
  order_.erase(kept);
}

void SentSnapshots::Keep(const std::shared_ptr<const Snapshot>& snapshot) {
  const auto is_kept = [&] {
    const auto of_job = of_jobs_.find(snapshot->job_id);
    return of_job != of_jobs_.end() && std::ranges::any_of(of_job->second, [&](const auto& kept) {
             return kept->snapshot == snapshot;
           });
  };
  {
    const std::lock_guard lock(mutex_);
    if (is_kept()) return;
  }
  const std::size_t bytes = BytesOf(*snapshot);
  Order dropped;  // destroyed without the lock
  const std::lock_guard lock(mutex_);
  if (readers_ == 0 || is_kept()) return;
  bytes_ += bytes;
  auto& of_job = of_jobs_[snapshot->job_id];
  of_job.push_back(order_.insert(order_.end(), {snapshot, bytes}));
  const auto drop = [&](Order::iterator kept) {
    dropped.push_back(*kept);
    Drop(kept);
  };
  if (of_job.size() > kOfJobMax) drop(of_job.front());
  while (bytes_ > bytes_max_ && order_.size() > 1) drop(order_.begin());
}

void SentSnapshots::AddReader() {
  const std::lock_guard lock(mutex_);
  ++readers_;
}

void SentSnapshots::RemoveReader() {
  Order dropped;  // destroyed without the lock
  const std::lock_guard lock(mutex_);
  if (--readers_ > 0) return;
  dropped.swap(order_);
  of_jobs_.clear();
  bytes_ = 0;
}

std::size_t SentSnapshots::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace tidemark::service
