#include "master/service/encoded_snapshots.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "proto/wire/job_codec.h"
#include "proto/wire/snapshot_delta.h"
#include "tidemark/v1/job.pb.h"

namespace tidemark::service {

namespace {

// Chosen by hand. A sweep of fewer entries saves little.
constexpr std::size_t kSweepMin = 64;
// Maximum number of kept entries, since small entries take memory in addition to their bytes.
constexpr std::size_t kKeptMax = 10'000;

std::string Serialized(const Snapshot& snapshot, View view) {
  v1::Snapshot message;
  wire::EncodeSnapshot(snapshot, view, message);
  return message.SerializeAsString();
}

// Returns a slice that keeps the bytes alive for as long as the transport holds the slice.
template <typename Encoded>
grpc::Slice SliceOf(const std::shared_ptr<Encoded>& encoded) {
  auto* const holder = new std::shared_ptr<Encoded>(encoded);
  return grpc::Slice(
      encoded->bytes.data(), encoded->bytes.size(),
      [](void* held) { delete static_cast<std::shared_ptr<Encoded>*>(held); }, holder);
}

}  // namespace

bool EncodedSnapshots::Less::operator()(const Key& a, const Key& b) const {
  if (a.snapshot.owner_before(b.snapshot)) return true;
  if (b.snapshot.owner_before(a.snapshot)) return false;
  if (a.base.owner_before(b.base)) return true;
  if (b.base.owner_before(a.base)) return false;
  return a.view < b.view;
}

std::shared_ptr<EncodedSnapshots::Encoded> EncodedSnapshots::Find(const Key& key) {
  const std::lock_guard lock(mutex_);
  if (encoded_.size() >= sweep_at_) {
    std::erase_if(encoded_, [](const auto& entry) { return entry.second.expired(); });
    sweep_at_ = 2 * encoded_.size() + kSweepMin;
  }
  std::weak_ptr<Encoded>& known = encoded_[key];
  std::shared_ptr<Encoded> found = known.lock();
  if (found == nullptr) known = found = std::make_shared<Encoded>();
  return found;
}

std::shared_ptr<EncodedSnapshots::Encoded> EncodedSnapshots::Make(
    const Key& key, const std::function<bool(std::string& bytes)>& encode) {
  std::shared_ptr<Encoded> encoded = Find(key);
  std::call_once(encoded->once, [&] {
    made_.fetch_add(1, std::memory_order_relaxed);
    encoded->is_none = !encode(encoded->bytes);
    Retain(encoded);
  });
  return encoded;
}

void EncodedSnapshots::Retain(const std::shared_ptr<const Encoded>& encoded) {
  std::vector<std::shared_ptr<const Encoded>> dropped;  // Destroyed after the lock is released.
  const std::lock_guard lock(mutex_);
  kept_.push_back(encoded);
  kept_bytes_ += encoded->bytes.size();
  while (kept_.size() > 1 && (kept_bytes_ > bytes_max_ || kept_.size() > kKeptMax)) {
    kept_bytes_ -= kept_.front()->bytes.size();
    dropped.push_back(std::move(kept_.front()));
    kept_.pop_front();
  }
}

grpc::Slice EncodedSnapshots::Of(const Shared& snapshot, View view) {
  return SliceOf(Make({.snapshot = snapshot, .view = view}, [&](std::string& bytes) {
    bytes = Serialized(*snapshot, view);
    return true;
  }));
}

std::optional<grpc::Slice> EncodedSnapshots::DeltaOf(const Shared& base, const Shared& newer,
                                                     View view) {
  const auto encoded =
      Make({.base = base, .snapshot = newer, .view = view}, [&](std::string& bytes) {
        const Snapshot delta = wire::DeltaInView(*base, *newer, view);
        if (delta.base_sequence == 0) return false;
        bytes = Serialized(delta, View::kFull);  // The delta is already in the view.
        return true;
      });
  if (encoded->is_none) return std::nullopt;
  return SliceOf(encoded);
}

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

void SentSnapshots::Add(const std::shared_ptr<const Snapshot>& snapshot) {
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
  Order dropped;  // Destroyed after the lock is released.
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
  Order dropped;  // Destroyed after the lock is released.
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
