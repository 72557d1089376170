#include "master/service/encoded_snapshots.h"

#include <utility>
#include <vector>

#include "proto/wire/job_codec.h"
#include "proto/wire/snapshot_delta.h"
#include "tidemark/v1/job.pb.h"

namespace tidemark::service {
namespace {

// Chosen by hand: fewer are not worth the effort.
constexpr std::size_t kSweepMin = 64;
// Small ones take memory in addition to their bytes.
constexpr std::size_t kKeptMax = 10'000;

std::string Serialized(const Snapshot& snapshot, View view) {
  v1::Snapshot message;
  wire::EncodeSnapshot(snapshot, view, message);
  return message.SerializeAsString();
}

// Returns a slice that holds the bytes for as long as the transport holds the slice.
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
    Keep(encoded);
  });
  return encoded;
}

void EncodedSnapshots::Keep(const std::shared_ptr<const Encoded>& encoded) {
  std::vector<std::shared_ptr<const Encoded>> dropped;  // destroyed without the lock
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
        bytes = Serialized(delta, View::kFull);  // it is in the view
        return true;
      });
  if (encoded->is_none) return std::nullopt;
  return SliceOf(encoded);
}

}  // namespace tidemark::service
