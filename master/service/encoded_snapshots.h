// Snapshots, and deltas between two of them, as bytes on the wire. Each is encoded once for all
// readers that receive the same: a reader that does not read holds a reference, not a copy. The
// last ones are kept for future readers.
//
// Thread-safe.
#pragma once

#include <grpcpp/support/slice.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "tidemark/job.h"
#include "tidemark/job_query.h"

namespace tidemark::service {

class EncodedSnapshots {
 public:
  using Shared = std::shared_ptr<const Snapshot>;

  // Keeps about `bytes_max` that no reader holds, and always the last one.
  explicit EncodedSnapshots(std::size_t bytes_max = std::size_t{32} << 20)
      : bytes_max_(bytes_max) {}

  // Returns the v1::Snapshot of `snapshot` in `view`. While any slice of the two is alive, further
  // slices share its memory. O(size of the snapshot) for the first slice, else O(log snapshots).
  grpc::Slice Of(const Shared& snapshot, View view);
  // Returns the delta from `base` to `newer`, both in `view`, sharing memory in the same way. Empty
  // if there is no delta and the whole snapshot must be sent. REQUIRES: as for wire::DeltaInView().
  std::optional<grpc::Slice> DeltaOf(const Shared& base, const Shared& newer, View view);

  // Returns how many were encoded, of both kinds.
  std::uint64_t made() const { return made_.load(std::memory_order_relaxed); }

 private:
  struct Encoded {
    std::once_flag once;
    std::string bytes;
    bool is_none = false;
  };
  // By the identity of the snapshots, which a weak pointer keeps from being given to another one.
  struct Key {
    std::weak_ptr<const Snapshot> base;  // null: none
    std::weak_ptr<const Snapshot> snapshot;
    View view;
  };
  struct Less {
    bool operator()(const Key& a, const Key& b) const;
  };
  std::shared_ptr<Encoded> Find(const Key& key);
  // Calls `encode` to fill the string with the bytes of the key, unless they exist. It may return
  // false.
  std::shared_ptr<Encoded> Make(const Key& key,
                                const std::function<bool(std::string& bytes)>& encode);

  void Keep(const std::shared_ptr<const Encoded>& encoded);

  const std::size_t bytes_max_;
  std::atomic<std::uint64_t> made_ = 0;
  std::mutex mutex_;                                 // guards all below
  std::deque<std::shared_ptr<const Encoded>> kept_;  // the oldest first
  std::size_t kept_bytes_ = 0;
  std::map<Key, std::weak_ptr<Encoded>, Less> encoded_;
  std::size_t sweep_at_ = 0;  // so many entries are looked through for those that nobody holds
};

}  // namespace tidemark::service
