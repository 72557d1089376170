#include "master/service/encoded_snapshots.h"

#include "proto/wire/job_codec.h"
#include "proto/wire/job_view.h"
#include "tidemark/v1/job.pb.h"

namespace tidemark::service {
namespace {

// Taste: fewer are not worth a look.
constexpr std::size_t kSweepMin = 64;

}  // namespace

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

grpc::Slice EncodedSnapshots::Of(const std::shared_ptr<const Snapshot>& snapshot, View view) {
  const std::shared_ptr<Encoded> encoded = Find({snapshot, view});
  std::call_once(encoded->once, [&] {
    v1::Snapshot message;
    if (view == View::kFull) {
      wire::EncodeSnapshot(*snapshot, message);
    } else {
      wire::EncodeSnapshot(wire::WithView(*snapshot, view), message);
    }
    encoded->bytes = message.SerializeAsString();
  });
  // Holds the bytes for as long as the transport holds the slice.
  auto* const holder = new std::shared_ptr<Encoded>(encoded);
  return grpc::Slice(
      encoded->bytes.data(), encoded->bytes.size(),
      [](void* held) { delete static_cast<std::shared_ptr<Encoded>*>(held); }, holder);
}

}  // namespace tidemark::service
